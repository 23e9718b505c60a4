//go:build unix

package main

import (
	"os"
	"syscall"
)

// stopSignals are what schedulers send to end a job, besides an interrupt.
var stopSignals = []os.Signal{syscall.SIGTERM, syscall.SIGUSR1}
