package fromproto

import (
	"errors"
	"fmt"
	"slices"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
)

// Signals fills dst from one byte a lane, none above last; no data means that
// every lane continues.
func Signals(dst []framework.Signal, data []byte, last framework.Signal) error {
	if len(data) == 0 {
		for i := range dst {
			dst[i] = framework.Continue
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
		dst[i] = framework.Signal(b)
	}
	return nil
}

// Seeds fills dst, one seed a lane. No data is right where no lane's signal is
// from first to NewRun.
func Seeds(dst []uint64, data []byte, signals []framework.Signal, first framework.Signal) error {
	if len(data) == 0 {
		if slices.ContainsFunc(signals, func(s framework.Signal) bool { return s >= first && s <= framework.NewRun }) {
			return errors.New("a lane starts, but there are no seeds")
		}
		return nil
	}
	if err := length("seeds", data, 8*len(dst)); err != nil {
		return err
	}
	space.SetNumbers(dst, data)
	return nil
}

// Rewards fills dst, one reward a lane.
func Rewards(dst []float64, data []byte) error {
	if err := length("rewards", data, 8*len(dst)); err != nil {
		return err
	}
	space.SetNumbers(dst, data)
	return nil
}

// Flags fills dst from one byte a lane; no data means that no flag is set.
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
			return &framework.LaneError{Lane: i, Err: fmt.Errorf("%s is %d, must be 0 or 1", name, b)}
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
