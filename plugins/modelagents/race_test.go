//go:build race

package modelagents

// raced says that the race detector watches, under which everything takes twenty
// times as long.
const raced = true
