//go:build !linux

package subprocess

// CanLimitMemory says whether LimitMemory works on this system.
const CanLimitMemory = false

func residentBytes(int) int64 { return 0 }

// raiseOOMScore does nothing: only Linux lets a process say which one to end first.
func raiseOOMScore(int) {}
