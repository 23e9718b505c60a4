package vector

import (
	"fmt"
	"runtime"
	"strings"
)

// LaneError says which lane of a batch failed.
type LaneError struct {
	Lane int   // from 0
	Err  error // what went wrong in it
}

// Error names the lane.
func (e *LaneError) Error() string { return fmt.Sprintf("lane %d: %v", e.Lane, e.Err) }

// Unwrap returns the cause.
func (e *LaneError) Unwrap() error { return e.Err }

// AgentError marks an error of the agent that an environment plays with; see
// LaneEnvironment.
type AgentError struct {
	Err error // the agent's error
}

// Error returns the error of the agent.
func (e *AgentError) Error() string { return fmt.Sprintf("agent: %v", e.Err) }

// Unwrap returns the agent's error.
func (e *AgentError) Unwrap() error { return e.Err }

// Guard calls f and turns a panic into a *PanicError, so that one lane's bug names
// its lane instead of ending the process.
func Guard(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &PanicError{Value: r, Stack: callers()}
		}
	}()
	return f()
}

// PanicError is a panic of an environment or agent, caught.
type PanicError struct {
	Value any    // argument of the panic
	Stack string // the calls that led to it, the innermost first
}

// Error says what the panic said, without the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// callers describes the calls between a panic and the Guard that catches it.
func callers() string {
	const guard = "github.com/rlrun/rlrun/framework/vector.Guard"
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)]) // from below the deferred function
	var b strings.Builder
	for {
		f, more := frames.Next()
		if f.Function != guard && !strings.HasPrefix(f.Function, "runtime.") {
			fmt.Fprintf(&b, "%s\n\t%s:%d\n", f.Function, f.File, f.Line)
		}
		if !more || f.Function == guard {
			return b.String()
		}
	}
}
