// Package await waits for the next message of a connection without going to sleep
// at once. A call is answered within some ten microseconds and a tenth of one a lane,
// and waking a sleeping processor takes as long: looking for the answer for a while
// before blocking, on both sides, makes calls of few lanes twice as fast, and those of
// many no slower. docs/performance.md has the figures.
//
// Looking costs no one else his processor: after every look it is offered to
// whoever waits for it. If that is another program, which takes it for milliseconds, or
// if answers take longer, looking is worth nothing: then the next waits block at once,
// more of them each time. Linux only; elsewhere nothing looks.
package await
