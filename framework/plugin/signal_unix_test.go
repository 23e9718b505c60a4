//go:build unix

package plugin_test

import "syscall"

const sigstop = syscall.SIGSTOP

func kill(pid int, signal syscall.Signal) error { return syscall.Kill(pid, signal) }
