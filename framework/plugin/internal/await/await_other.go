//go:build !linux

package await

import "net"

// Conn returns c.
func Conn(c net.Conn) net.Conn { return c }

// Waiter never looks.
type Waiter struct{}

// Accepted returns nil.
func Accepted(string) *Waiter { return nil }

// Wait returns at once.
func (*Waiter) Wait() {}
