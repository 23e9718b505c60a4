package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Path leads to a value in a config: keys (strings) and indices in lists (ints,
// from 0).
type Path []any

// String writes a path as agents[1].params.gamma.
func (p Path) String() string {
	var b strings.Builder
	for _, step := range p {
		switch step := step.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", step)
		default:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			fmt.Fprint(&b, step)
		}
	}
	return b.String()
}

// FieldError says what is wrong with the value at a path of a config.
type FieldError struct {
	Path Path  // of the key in the config
	Err  error // what is wrong with its value
}

// Error returns "path: what is wrong".
func (e *FieldError) Error() string { return e.Path.String() + ": " + e.Err.Error() }

// Unwrap returns what is wrong.
func (e *FieldError) Unwrap() error { return e.Err }

// At returns an error about the value at a path. If err is a *FieldError, its path
// is inside that value. At of nil is nil.
func At(err error, path ...any) error {
	if err == nil {
		return nil
	}
	if inner, ok := err.(*FieldError); ok { // not one that something wraps: its text would get lost
		return &FieldError{slices.Concat(path, inner.Path), inner.Err}
	}
	return &FieldError{path, err}
}

// fieldErrorf is At of fmt.Errorf for one key.
func FieldErrorf(key, format string, args ...any) error {
	return At(fmt.Errorf(format, args...), key)
}

// FieldErrors returns the *FieldErrors that err joins (errors.Join) or is, and
// whether it holds nothing else.
func FieldErrors(err error) (list []*FieldError, all bool) {
	if err == nil {
		return nil, true
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		all = true
		for _, e := range joined.Unwrap() {
			inner, only := FieldErrors(e)
			list, all = append(list, inner...), all && only
		}
		return list, all
	}
	var e *FieldError
	if errors.As(err, &e) && error(e) == err {
		return []*FieldError{e}, true
	}
	return nil, false
}
