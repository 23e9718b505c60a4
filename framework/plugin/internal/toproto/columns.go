package toproto

import (
	"encoding/binary"
	"slices"

	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
)

// Column appends a column to dst as it crosses the seam.
func Column(dst []byte, c *space.Column) []byte {
	if c.Type == space.Int64 {
		return appendInts(dst, c.Int64)
	}
	return c.AppendBytes(dst)
}

// appendInts appends a byte with the number of bytes of an integer: 1, 2, 4 or 8, as
// few as hold every one of xs. Then it appends xs as packed little-endian two's
// complement. So columns of states and arms mostly take one byte each, an eighth of
// the bytes that are encrypted and copied four times (go test -bench Integers
// ./framework/plugin/internal/fromproto).
func appendInts(dst []byte, xs []int64) []byte {
	n := len(dst) + 1
	dst = slices.Grow(append(dst, 1), len(xs))
	bytes := dst[n : n+len(xs)]
	var bits int64 // those that differ from the sign
	for i, x := range xs {
		bytes[i] = byte(x)
		bits |= x ^ x>>63
	}
	switch {
	case bits < 1<<7:
		return dst[:n+len(xs)]
	case bits < 1<<15:
		dst[n-1] = 2
		for _, x := range xs {
			dst = binary.LittleEndian.AppendUint16(dst, uint16(x))
		}
	case bits < 1<<31:
		dst[n-1] = 4
		for _, x := range xs {
			dst = binary.LittleEndian.AppendUint32(dst, uint32(x))
		}
	default:
		dst[n-1] = 8
		dst = space.AppendNumbers(dst, xs)
	}
	return dst
}

// Signals appends one byte per lane to dst, or nothing where every lane continues.
func Signals(dst []byte, signals []vector.Signal) []byte {
	if !slices.ContainsFunc(signals, func(s vector.Signal) bool { return s != vector.Continue }) {
		return dst
	}
	for _, s := range signals {
		dst = append(dst, byte(s))
	}
	return dst
}

// Seeds appends a seed per lane to dst, or nothing where no lane's signal is from
// first to NewRun.
func Seeds(dst []byte, seeds []uint64, signals []vector.Signal, first vector.Signal) []byte {
	if !slices.ContainsFunc(signals, func(s vector.Signal) bool { return s >= first && s <= vector.NewRun }) {
		return dst
	}
	return space.AppendNumbers(dst, seeds)
}

// Flags appends one byte per lane to dst, or nothing where no flag is set.
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
