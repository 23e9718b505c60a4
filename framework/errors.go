package framework

import "errors"

// Errors that environments and agents wrap. Each crosses a process boundary with a
// code of its own.
var (
	// ErrNeedsReset: Step before the first Reset or after an episode's end.
	ErrNeedsReset = errors.New("the environment needs a reset")
	// ErrInvalidAction: the action is not in the action space.
	ErrInvalidAction = errors.New("invalid action")
	// ErrInvalidParams: the parameters do not fit the plugin's schema or each other.
	ErrInvalidParams = errors.New("invalid parameters")
	// ErrUnsupported: the environment or agent cannot do what was asked. Example:
	// an agent for discrete actions is opened on a continuous space.
	ErrUnsupported = errors.New("unsupported")
	// ErrInvalidAnswer: a reward that is not finite, an observation or action
	// outside its space, a column of the wrong length.
	ErrInvalidAnswer = errors.New("invalid answer")
)
