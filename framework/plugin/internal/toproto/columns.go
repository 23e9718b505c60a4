package toproto

import (
	"slices"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
)

// Signals appends one byte a lane to dst, or nothing where every lane continues.
func Signals(dst []byte, signals []framework.Signal) []byte {
	if !slices.ContainsFunc(signals, func(s framework.Signal) bool { return s != framework.Continue }) {
		return dst
	}
	for _, s := range signals {
		dst = append(dst, byte(s))
	}
	return dst
}

// Seeds appends a seed a lane to dst, or nothing where no lane's signal is from
// first to NewRun.
func Seeds(dst []byte, seeds []uint64, signals []framework.Signal, first framework.Signal) []byte {
	if !slices.ContainsFunc(signals, func(s framework.Signal) bool { return s >= first && s <= framework.NewRun }) {
		return dst
	}
	return space.AppendNumbers(dst, seeds)
}

// Flags appends one byte a lane to dst, or nothing where no flag is set.
func Flags(dst []byte, flags []bool) []byte {
	if !slices.Contains(flags, true) {
		return dst
	}
	for _, f := range flags {
		b := byte(0)
		if f {
			b = 1
		}
		dst = append(dst, b)
	}
	return dst
}
