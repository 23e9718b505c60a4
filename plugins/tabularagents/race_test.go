//go:build race

package tabularagents

// raced says that the race detector watches, under which everything takes twenty
// times as long.
const raced = true
