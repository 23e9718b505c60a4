package space

import (
	"encoding/binary"
	"errors"
	"math"
)

// AppendBinary appends a value, for ReadValue. Equal values have equal bytes.
func (v Value) AppendBinary(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(v.Int))
	for _, n := range []int{len(v.Ints), len(v.Float64), len(v.Float32), len(v.Uint8)} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	for _, x := range v.Ints {
		b = binary.LittleEndian.AppendUint64(b, uint64(x))
	}
	for _, x := range v.Float64 {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	for _, x := range v.Float32 {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return append(b, v.Uint8...)
}

// ReadValue reads what AppendBinary appended, and returns what follows.
func ReadValue(b []byte) (v Value, rest []byte, err error) {
	short := errors.New("a value that is cut off")
	if len(b) < 8 {
		return v, nil, short
	}
	v.Int, b = int64(binary.LittleEndian.Uint64(b)), b[8:]
	var counts [4]int
	for i, size := range []uint64{8, 8, 4, 1} {
		n, k := binary.Uvarint(b)
		if k <= 0 || n > uint64(len(b))/size {
			return v, nil, short
		}
		counts[i], b = int(n), b[k:]
	}
	if 8*(counts[0]+counts[1])+4*counts[2]+counts[3] > len(b) {
		return v, nil, short
	}
	for range counts[0] {
		v.Ints, b = append(v.Ints, int64(binary.LittleEndian.Uint64(b))), b[8:]
	}
	for range counts[1] {
		v.Float64, b = append(v.Float64, math.Float64frombits(binary.LittleEndian.Uint64(b))), b[8:]
	}
	for range counts[2] {
		v.Float32, b = append(v.Float32, math.Float32frombits(binary.LittleEndian.Uint32(b))), b[4:]
	}
	if n := counts[3]; n > 0 {
		v.Uint8 = append(v.Uint8, b[:n]...)
	}
	return v, b[counts[3]:], nil
}
