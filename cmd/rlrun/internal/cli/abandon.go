package cli

import (
	"context"
	"time"
)

// grace is how long work that the user interrupted may take to end by itself.
const grace = time.Second

// Abandon does work whose results are not needed any more once the user interrupts
// it. It returns the work's error or, a second after the context ends, the context's
// cause: the work is left behind then, and the process is to end.
func Abandon(ctx context.Context, work func() error) error {
	done := make(chan error, 1)
	go func() { done <- work() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		if err == nil {
			return nil
		}
	case <-time.After(grace):
	}
	return context.Cause(ctx)
}
