package main

import (
	"os"
	"strconv"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

// canMount says whether this process may mount file systems.
func canMount() bool {
	dir, err := os.MkdirTemp("", "rlrun")
	if err != nil {
		return false
	}
	defer os.Remove(dir)
	if syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=16k") != nil {
		return false
	}
	return syscall.Unmount(dir, 0) == nil
}

func smallDisk(ts *testscript.TestScript, _ bool, args []string) {
	kib, err := strconv.Atoi(args[1])
	ts.Check(err)
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o777))
	ts.Check(syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+strconv.Itoa(kib)+"k"))
	ts.Defer(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
}
