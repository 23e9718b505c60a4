// Package space describes what observations and actions may be, and holds
// columns of them. The kinds and their names follow Gymnasium
// (gymnasium.spaces): Discrete, MultiDiscrete and Box, of real numbers or of integers.
//
// The package imports the standard library only.
package space

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// DType is the element type of a column.
type DType uint8

// Element types. Discrete and MultiDiscrete spaces use Int64, a Box any of them.
const (
	Float64 DType = iota
	Float32
	Uint8
	Int64
)

var dtypeNames = [...]string{"float64", "float32", "uint8", "int64"}

// String returns the name numpy gives the type.
func (d DType) String() string {
	if int(d) < len(dtypeNames) {
		return dtypeNames[d]
	}
	return fmt.Sprintf("dtype(%d)", uint8(d))
}

// Size returns the number of bytes of one element on the wire.
func (d DType) Size() int {
	switch d {
	case Float32:
		return 4
	case Uint8:
		return 1
	default:
		return 8
	}
}

// ErrOutside marks a value that does not belong to its space.
var ErrOutside = errors.New("value outside its space")

// Space is a set of values: Discrete, MultiDiscrete or Box.
type Space interface {
	// DType returns the element type of a column of this space.
	DType() DType
	// Width returns the number of elements of one value.
	Width() int
	// Check returns an error wrapping ErrOutside if lane's value in c is not in
	// the space. It requires c to have this space's DType and Width.
	Check(c *Column, lane int) error
	// Validate reports what is wrong with the space itself.
	Validate() error
}

// Discrete is the set {Start, …, Start+N−1}.
type Discrete struct {
	N     int64 // number of elements, at least 1
	Start int64 // smallest element; 0 unless told otherwise
}

// DType returns Int64.
func (Discrete) DType() DType { return Int64 }

// Width returns 1.
func (Discrete) Width() int { return 1 }

// Validate requires N ≥ 1.
func (d Discrete) Validate() error {
	if d.N < 1 {
		return fmt.Errorf("space: discrete with n = %d; n must be at least 1", d.N)
	}
	if d.Start > math.MaxInt64-d.N {
		return fmt.Errorf("space: discrete with n = %d from %d exceeds 64 bits", d.N, d.Start)
	}
	return nil
}

// Contains reports whether x is an element. It requires a valid space, where one
// comparison modulo 2^64 is enough.
func (d Discrete) Contains(x int64) bool { return uint64(x)-uint64(d.Start) < uint64(d.N) }

// Check implements Space.
func (d Discrete) Check(c *Column, lane int) error {
	if x := c.Int64[lane]; !d.Contains(x) {
		return d.outside(x)
	}
	return nil
}

func (d Discrete) outside(x int64) error {
	return fmt.Errorf("%d is not in discrete {%d..%d}: %w", x, d.Start, d.Start+d.N-1, ErrOutside)
}

// MultiDiscrete is the product of the sets {0, …, NVec[i]−1}.
type MultiDiscrete struct {
	NVec []int64 // number of values of each element, each at least 1
}

// DType returns Int64.
func (MultiDiscrete) DType() DType { return Int64 }

// Width returns the number of factors.
func (m MultiDiscrete) Width() int { return len(m.NVec) }

// Validate requires at least one factor, each with at least one element.
func (m MultiDiscrete) Validate() error {
	if len(m.NVec) == 0 {
		return errors.New("space: multi-discrete without factors")
	}
	for i, n := range m.NVec {
		if n < 1 {
			return fmt.Errorf("space: multi-discrete with nvec[%d] = %d; must be at least 1", i, n)
		}
	}
	return nil
}

// Check implements Space.
func (m MultiDiscrete) Check(c *Column, lane int) error {
	for i, x := range c.Int64[lane*len(m.NVec) : (lane+1)*len(m.NVec)] {
		if x < 0 || x >= m.NVec[i] {
			return fmt.Errorf("element %d is %d, not in {0..%d}: %w", i, x, m.NVec[i]-1, ErrOutside)
		}
	}
	return nil
}

// Box is the set of arrays of the given shape with Low ≤ x ≤ High elementwise.
type Box struct {
	// Low and High have one entry per element in row-major order, or a single
	// entry that bounds them all. They may be infinite; their order must be
	// Low ≤ High.
	Low, High []float64
	// Shape is the array's shape; empty means a single number.
	Shape []int
	// Type is the element type. A box of Uint8 or Int64 holds the integers between its bounds.
	Type DType
}

// DType returns the element type.
func (b Box) DType() DType { return b.Type }

// Width returns the number of elements, the product of the shape.
func (b Box) Width() int {
	w := 1
	for _, n := range b.Shape {
		w *= n
	}
	return w
}

func (b Box) bounds(i int) (low, high float64) {
	low, high = b.Low[0], b.High[0]
	if len(b.Low) > 1 {
		low = b.Low[i]
	}
	if len(b.High) > 1 {
		high = b.High[i]
	}
	return low, high
}

// integers returns the least and greatest integer of an element of a box of Uint8 or
// Int64, infinite where an Int64 has no bound.
func (b Box) integers(i int) (low, high float64) {
	low, high = b.bounds(i)
	if b.Type == Uint8 {
		low, high = max(low, 0), min(high, math.MaxUint8)
	}
	return math.Ceil(low), math.Floor(high)
}

// maxWidth is the largest number of elements of a box: a guard against nonsense.
const maxWidth = 1 << 28

// maxInteger bounds the finite bounds of a box of Int64: a float64 has every integer up to it.
const maxInteger = 1 << 53

// Validate checks shape, bounds and their order.
func (b Box) Validate() error {
	w := 1
	for i, n := range b.Shape {
		if n < 1 {
			return fmt.Errorf("space: box with shape[%d] = %d; must be at least 1", i, n)
		}
		if n > maxWidth/w {
			return fmt.Errorf("space: box of shape %v has more than %d elements", b.Shape, maxWidth)
		}
		w *= n
	}
	for _, v := range [...]struct {
		name string
		n    int
	}{{"low", len(b.Low)}, {"high", len(b.High)}} {
		if v.n != 1 && v.n != w {
			return fmt.Errorf("space: box with %d entries in %s; must be 1 or %d", v.n, v.name, w)
		}
	}
	for i := range w {
		low, high := b.bounds(i)
		if math.IsNaN(low) || math.IsNaN(high) || low > high {
			return fmt.Errorf("space: box with bounds [%v, %v] at element %d", low, high, i)
		}
		for _, x := range []float64{low, high} {
			wide := b.Type == Uint8 && (x < 0 || x >= 256) || b.Type == Float32 && math.IsInf(float64(float32(x)), 0)
			if wide && !math.IsInf(x, 0) {
				return fmt.Errorf("space: box of %v with bounds [%v, %v] at element %d; %[1]v does not have %[5]v", b.Type, low, high, i, x)
			}
		}
		if b.Type == Float64 || b.Type == Float32 {
			continue
		}
		first, last := b.integers(i)
		if !(first <= last) || first > maxInteger || last < -maxInteger || !math.IsInf(first, 0) && first < -maxInteger || !math.IsInf(last, 0) && last > maxInteger {
			return fmt.Errorf("space: box of %v with bounds [%v, %v] at element %d; there must be an integer between them, and finite ones are at most 2^53", b.Type, low, high, i)
		}
	}
	return nil
}

// Check implements Space. NaN and infinities are outside every box.
func (b Box) Check(c *Column, lane int) error {
	w := b.Width()
	for i := range w {
		low, high := b.bounds(i)
		var x float64
		switch b.DType() {
		case Float64:
			x = c.Float64[lane*w+i]
		case Float32:
			x = float64(c.Float32[lane*w+i])
			low, high = float64(float32(low)), float64(float32(high))
		case Uint8:
			x = float64(c.Uint8[lane*w+i])
		case Int64:
			n := c.Int64[lane*w+i]
			x = float64(n) // rounded above 2^53, where a bound may be
			if n > maxInteger && high <= maxInteger || n < -maxInteger && low >= -maxInteger {
				return fmt.Errorf("element %d is %d, not in [%v, %v]: %w", i, n, low, high, ErrOutside)
			}
		}
		if !(x >= low && x <= high) || x-x != 0 {
			return fmt.Errorf("element %d is %v, not in [%v, %v]: %w", i, x, low, high, ErrOutside)
		}
	}
	return nil
}

// wire is the JSON form of a space. Bounds are strings where they are infinite,
// which JSON numbers cannot be.
type wire struct {
	Kind  string  `json:"kind"`
	N     int64   `json:"n,omitempty"`
	Start int64   `json:"start,omitempty"`
	NVec  []int64 `json:"nvec,omitempty"`
	Low   []bound `json:"low,omitempty"`
	High  []bound `json:"high,omitempty"`
	Shape []int   `json:"shape,omitempty"`
	DType string  `json:"dtype,omitempty"`
}

type bound float64

func (b bound) MarshalJSON() ([]byte, error) {
	if math.IsInf(float64(b), 0) {
		return json.Marshal(fmt.Sprint(float64(b)))
	}
	return json.Marshal(float64(b))
}

// Marshal returns the space's JSON form: {"kind":"discrete","n":4},
// {"kind":"multi_discrete","nvec":[2,3]} or
// {"kind":"box","low":[…],"high":[…],"shape":[…],"dtype":"float64"}.
func Marshal(s Space) ([]byte, error) {
	switch s := s.(type) {
	case Discrete:
		return json.Marshal(wire{Kind: "discrete", N: s.N, Start: s.Start})
	case MultiDiscrete:
		return json.Marshal(wire{Kind: "multi_discrete", NVec: s.NVec})
	case Box:
		w := wire{Kind: "box", Shape: s.Shape, DType: s.DType().String()}
		for _, x := range s.Low {
			w.Low = append(w.Low, bound(x))
		}
		for _, x := range s.High {
			w.High = append(w.High, bound(x))
		}
		return json.Marshal(w)
	}
	return nil, fmt.Errorf("space: cannot encode %T", s)
}
