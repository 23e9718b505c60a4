//go:build !race

package modelagents

const raced = false
