//go:build !unix

package plugin_test

import (
	"errors"
	"syscall"
)

const sigstop = syscall.Signal(-1)

func kill(int, syscall.Signal) error { return errors.ErrUnsupported }

func serveWithChildren(string) {}
