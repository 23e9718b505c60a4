//go:build !unix

package wire

import (
	"os"
	"time"
)

// Socketpair returns none: processes inherit no sockets here. Steps go over gRPC.
func Socketpair() (*Socket, *os.File, error) { return nil, nil, nil }

// Inherited returns none.
func Inherited() *Socket { return nil }

// Greeted returns false.
func (s *Socket) Greeted() bool { return false }

func setTimeouts(int, time.Duration) error { return nil }

func shutdown(int) {}
