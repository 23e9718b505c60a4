package plugin

import (
	"errors"
	"fmt"
	"strings"
)

// What can happen to a plugin's process.
var (
	// ErrDied: the process ended, or closed its connection.
	ErrDied = errors.New("the process died")
	// ErrTimeout: no answer before the deadline. The process has been killed.
	ErrTimeout = errors.New("no answer")
	// ErrProtocol: the process does not speak the protocol as plugin.proto says.
	ErrProtocol = errors.New("protocol error")
	// ErrClosed: a call after Close.
	ErrClosed = errors.New("the plugin is closed")
)

// Error is a failed call of a plugin in a process of its own. It wraps ErrDied,
// ErrTimeout or ErrProtocol, or the error that the environment or agent itself
// reported. That is a *vector.LaneError if a lane caused it, and a
// sentinel of framework where one fits.
type Error struct {
	Plugin string   // as LaunchConfig.Name
	Step   int      // number of the instance's step call that failed, from 1; 0 in any other call
	Err    error    // what went wrong
	Stderr []string // what the process last wrote to its standard error
}

// Error says what went wrong in one line; what the process wrote follows,
// indented, a line each. Step is left out: callers also count calls, and know what a call
// was for.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "plugin %s: ", e.Plugin)
	fmt.Fprint(&b, e.Err)
	if len(e.Stderr) > 0 {
		b.WriteString("; its standard error ended:")
		for _, line := range e.Stderr {
			b.WriteString("\n\t" + line)
		}
	}
	return b.String()
}

// Unwrap returns what went wrong.
func (e *Error) Unwrap() error { return e.Err }
