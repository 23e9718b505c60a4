//go:build unix && !linux

package subprocess

import "syscall"

// endWithHost does nothing: only Linux kills a process when its parent dies.
func endWithHost(*syscall.SysProcAttr) {}
