package vector

import "context"

// NoteLanes returns a context for the calls of an Environment or Agent. Lanes that
// are stepped one after the other note the current one in *at. It is the number of
// a lane plus 1 while that lane's code runs, 0 otherwise. If *at is memory shared
// with another process, that process knows which lane ended or stopped this one.
// Vectorize and VectorizeAgent do it. If at is nil, nothing is noted.
func NoteLanes(ctx context.Context, at *uint32) context.Context {
	if at == nil {
		return ctx
	}
	return context.WithValue(ctx, noteKey{}, at)
}

type noteKey struct{}

// eachLane calls f for one lane after the other, and notes where it is as NoteLanes
// says. The error names the lane; a panic is one.
func eachLane(ctx context.Context, lanes int, f func(lane int) error) error {
	at, ok := ctx.Value(noteKey{}).(*uint32)
	if !ok {
		at = new(uint32)
	}
	defer func() { *at = 0 }()
	for i := range lanes {
		*at = uint32(i) + 1
		if err := Guard(func() error { return f(i) }); err != nil {
			return &LaneError{Lane: i, Err: err}
		}
	}
	return nil
}
