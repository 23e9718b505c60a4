// Package snapshot stores the state of an agent. Another agent of the same kind can
// continue from it, bit for bit. The state may include tables, beliefs and solvers
// of other packages, random streams, and pending decisions. It goes through memory,
// so that nothing can be forgotten, and compares the agent with a fresh one.
//
//   - Values that both point to, such as parameters, are shared by all and are
//     not stored.
//   - Functions are those of the fresh one, nil where it has none.
//   - Fields with the tag snapshot:"-" are scratch, and stay the fresh one's.
//   - Pointers and slices that were the same are the same afterwards.
//
// An agent must therefore be as if made by the same code with the same parameters,
// which Of guards. Channels are not known, and maps by strings alone.
package snapshot

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
)

// Of is what a state is of, part by part: states fit what says the same of itself.
type Of []Part

// Part is a part of a description.
type Part struct{ Name, Value string }

// errDamaged is for states that were not made here, or are not whole.
var errDamaged = errors.New("this is not the state of an agent, or a damaged one")

// Save returns the state of what agent points to; fresh points to another. An interface may hold
// a type of held where that of the fresh one holds nothing.
func (of Of) Save(agent, fresh any, held ...reflect.Type) ([]byte, error) {
	state := make([]byte, sha256.Size)
	for _, p := range of {
		state = appendString(state, p.Value)
	}
	state, err := take(state, agent, fresh, held)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(state[sha256.Size:])
	copy(state, sum[:])
	return state, nil
}

// Load gives what fresh points to a state, which it does not keep. After an error
// fresh is of no use. held is that of Save.
func (of Of) Load(fresh any, state []byte, held ...reflect.Type) error {
	if len(state) < sha256.Size {
		return errDamaged
	}
	rest := state[sha256.Size:]
	if sum := sha256.Sum256(rest); !bytes.Equal(sum[:], state[:sha256.Size]) {
		return errDamaged
	}
	for _, p := range of {
		var value string
		var err error
		if value, rest, err = cutString(rest); err != nil {
			return err
		}
		if value != p.Value {
			return fmt.Errorf("the state is of another %s: %s, where this is %s", p.Name, value, p.Value)
		}
	}
	return restore(fresh, rest, held)
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func cutString(b []byte) (s string, rest []byte, err error) {
	n, k := binary.Uvarint(b)
	if k <= 0 || n > uint64(len(b)-k) {
		return "", nil, errDamaged
	}
	b = b[k:]
	return string(b[:n]), b[n:], nil
}

// Lane checks the number of a lane of n.
func Lane(i, n int) error {
	if i < 0 || i >= n {
		return fmt.Errorf("no lane %d of %d", i, n)
	}
	return nil
}
