package fromproto

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
)

// Column fills dst. The length of dst must be the number of values in the data.
func Column(dst *space.Column, data []byte) error {
	if dst.Type == space.Int64 {
		return setInts(dst.Int64, data)
	}
	return dst.SetBytes(data)
}

// setInts fills dst from data as toproto.Column writes integers.
func setInts(dst []int64, data []byte) error {
	if len(data) == 0 {
		return errors.New("column of integers without bytes, want their size, then the integers")
	}
	size := int(data[0])
	if size != 1 && size != 2 && size != 4 && size != 8 {
		return fmt.Errorf("column of integers of %d bytes each, want 1, 2, 4 or 8", size)
	}
	if data = data[1:]; len(data) != size*len(dst) {
		return fmt.Errorf("column of %d bytes after the size, want %d (%d integers of %d bytes)", len(data), size*len(dst), len(dst), size)
	}
	switch size {
	case 1:
		for i, b := range data {
			dst[i] = int64(int8(b))
		}
	case 2:
		for i := range dst {
			dst[i] = int64(int16(binary.LittleEndian.Uint16(data[2*i:])))
		}
	case 4:
		for i := range dst {
			dst[i] = int64(int32(binary.LittleEndian.Uint32(data[4*i:])))
		}
	default:
		space.SetNumbers(dst, data)
	}
	return nil
}

// Signals fills dst from one byte per lane, none above last; no data means that
// every lane continues.
func Signals(dst []vector.Signal, data []byte, last vector.Signal) error {
	if len(data) == 0 {
		for i := range dst {
			dst[i] = vector.Continue
		}
		return nil
	}
	if err := length("signals", data, len(dst)); err != nil {
		return err
	}
	for i, b := range data {
		if b > byte(last) {
			return fmt.Errorf("lane %d: unknown signal %d", i, b)
		}
		dst[i] = vector.Signal(b)
	}
	return nil
}

// Seeds fills dst, one seed per lane. No data is right where no lane's signal is
// from first to NewRun.
func Seeds(dst []uint64, data []byte, signals []vector.Signal, first vector.Signal) error {
	if len(data) == 0 {
		if slices.ContainsFunc(signals, func(s vector.Signal) bool { return s >= first && s <= vector.NewRun }) {
			return errors.New("a lane starts, but there are no seeds")
		}
		return nil
	}
	return Numbers(dst, "seeds", data)
}

// TimeSteps fills dst from the columns of a message.
func TimeSteps(dst *vector.TimeSteps, m interface {
	GetObservations() []byte
	GetRewards() []byte
	GetTerminated() []byte
	GetTruncated() []byte
}) error {
	if err := Column(&dst.Observations, m.GetObservations()); err != nil {
		return fmt.Errorf("observations: %w", err)
	}
	if err := Numbers(dst.Rewards, "rewards", m.GetRewards()); err != nil {
		return err
	}
	if err := Flags(dst.Terminated, "terminated", m.GetTerminated()); err != nil {
		return err
	}
	return Flags(dst.Truncated, "truncated", m.GetTruncated())
}

// Masks fills the masks of dst. No data means that nothing is allowed.
func Masks(dst *vector.TimeSteps, data []byte) error {
	err := Flags(dst.Masks, "action mask", data)
	var lane *vector.LaneError
	if errors.As(err, &lane) {
		lane.Lane /= len(dst.Masks) / len(dst.Rewards)
	}
	return err
}

// Numbers fills dst.
func Numbers[T space.Number](dst []T, name string, data []byte) (err error) {
	read(&err, dst, name, data, len(dst))
	return err
}

// read returns a column of n numbers in the memory of dst, as far as that has room. It leaves
// the first error in err.
func read[T space.Number](err *error, dst []T, name string, data []byte, n int) []T {
	if bad := length(name, data, n*int(unsafe.Sizeof(*new(T)))); bad != nil {
		*err = cmp.Or(*err, bad)
		return nil
	}
	dst = slices.Grow(dst[:0], n)[:n]
	space.SetNumbers(dst, data)
	return dst
}

// given is n where a column is there.
func given(data []byte, n int) int {
	if len(data) == 0 {
		return 0
	}
	return n
}

// Flags fills dst from one byte per lane; no data means that no flag is set.
func Flags(dst []bool, name string, data []byte) error {
	if len(data) == 0 {
		clear(dst)
		return nil
	}
	if err := length(name, data, len(dst)); err != nil {
		return err
	}
	for i, b := range data {
		if b > 1 {
			return &vector.LaneError{Lane: i, Err: fmt.Errorf("%s is %d, must be 0 or 1", name, b)}
		}
		dst[i] = b == 1
	}
	return nil
}

func length(name string, data []byte, want int) error {
	if len(data) != want {
		return fmt.Errorf("%s: column of %d bytes, want %d", name, len(data), want)
	}
	return nil
}
