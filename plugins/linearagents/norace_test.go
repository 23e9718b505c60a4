//go:build !race

package linearagents

const racing = false
