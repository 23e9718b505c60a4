//go:build !linux

package subprocess

// raiseOOMScore does nothing: only Linux lets a process say which one to end first.
func raiseOOMScore(int) {}
