//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// stopSignals are, besides an interrupt, what schedulers send before they end a job, and
// what a terminal sends when it closes. nohup ignores SIGHUP, and so does rlrun then.
var stopSignals = func() []os.Signal {
	signals := []os.Signal{syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGXCPU}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}()
