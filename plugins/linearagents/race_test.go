//go:build race

package linearagents

// racing says that the race detector is on, which makes learning ten times slower
// and finds nothing in what one goroutine does.
const racing = true
