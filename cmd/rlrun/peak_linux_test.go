package main

import (
	"os"
	"syscall"
)

// peak is the largest memory that an ended process had, in bytes.
func peak(p *os.ProcessState) int64 { return p.SysUsage().(*syscall.Rusage).Maxrss << 10 }
