package space

import "fmt"

// Column holds one field of n lanes, lane after lane: lane i owns the elements
// [i·Width, (i+1)·Width) of the slice that Type names; the other slices are nil.
type Column struct {
	Type    DType     // of the elements
	Width   int       // elements per lane, at least 1
	Int64   []int64   // if Type is Int64
	Float64 []float64 // if Type is Float64
	Float32 []float32 // if Type is Float32
	Uint8   []uint8   // if Type is Uint8
}

// NewColumn returns a zeroed column of the space s for the given lanes.
func NewColumn(s Space, lanes int) Column {
	c := Column{Type: s.DType(), Width: s.Width()}
	n := lanes * c.Width
	switch c.Type {
	case Int64:
		c.Int64 = make([]int64, n)
	case Float64:
		c.Float64 = make([]float64, n)
	case Float32:
		c.Float32 = make([]float32, n)
	case Uint8:
		c.Uint8 = make([]uint8, n)
	}
	return c
}

// Lanes returns the number of values the column holds.
func (c *Column) Lanes() int {
	if c.Width == 0 {
		return 0
	}
	return (len(c.Int64) + len(c.Float64) + len(c.Float32) + len(c.Uint8)) / c.Width
}

// Lane returns a column of one lane, which shares its memory.
func (c *Column) Lane(lane int) Column {
	one, i, j := Column{Type: c.Type, Width: c.Width}, lane*c.Width, (lane+1)*c.Width
	switch c.Type {
	case Int64:
		one.Int64 = c.Int64[i:j:j]
	case Float64:
		one.Float64 = c.Float64[i:j:j]
	case Float32:
		one.Float32 = c.Float32[i:j:j]
	case Uint8:
		one.Uint8 = c.Uint8[i:j:j]
	}
	return one
}

// AppendBytes appends the column to dst as packed little-endian bytes.
func (c *Column) AppendBytes(dst []byte) []byte {
	switch c.Type {
	case Int64:
		return AppendNumbers(dst, c.Int64)
	case Float64:
		return AppendNumbers(dst, c.Float64)
	case Float32:
		return AppendNumbers(dst, c.Float32)
	default:
		return append(dst, c.Uint8...)
	}
}

// SetBytes fills the column from data as written by AppendBytes. The data must
// have exactly the length of the column.
func (c *Column) SetBytes(data []byte) error {
	if want := c.Lanes() * c.Width * c.Type.Size(); len(data) != want {
		return fmt.Errorf("column of %d bytes, want %d (%d lanes of %d %v)", len(data), want, c.Lanes(), c.Width, c.Type)
	}
	switch c.Type {
	case Int64:
		SetNumbers(c.Int64, data)
	case Float64:
		SetNumbers(c.Float64, data)
	case Float32:
		SetNumbers(c.Float32, data)
	default:
		copy(c.Uint8, data)
	}
	return nil
}

// Value is one element of a space: the form in which the author of a single
// environment or agent meets observations and actions.
type Value struct {
	Int     int64     // Discrete
	Ints    []int64   // MultiDiscrete, Box of int64
	Float64 []float64 // Box of float64
	Float32 []float32 // Box of float32
	Uint8   []uint8   // Box of uint8
}

// Get returns lane's value of a column of the space s. Its slices are views
// into the column: they belong to the column's owner and change with it.
func (c *Column) Get(s Space, lane int) Value {
	if _, ok := s.(Discrete); ok {
		return Value{Int: c.Int64[lane]}
	}
	i, j := lane*c.Width, (lane+1)*c.Width
	switch c.Type {
	case Int64:
		return Value{Ints: c.Int64[i:j:j]}
	case Float64:
		return Value{Float64: c.Float64[i:j:j]}
	case Float32:
		return Value{Float32: c.Float32[i:j:j]}
	default:
		return Value{Uint8: c.Uint8[i:j:j]}
	}
}

// only requires that a value has no field but own.
func (v *Value) only(own string) error {
	for _, f := range [...]struct {
		name string
		used bool
	}{{"Int", v.Int != 0}, {"Ints", len(v.Ints) > 0}, {"Float64", len(v.Float64) > 0}, {"Float32", len(v.Float32) > 0}, {"Uint8", len(v.Uint8) > 0}} {
		if f.used && f.name != own {
			return fmt.Errorf("the value has the field %s, and values of its space have the field %s alone: %w", f.name, own, ErrOutside)
		}
	}
	return nil
}

// Element returns the number that a value is. A value of another form, or outside, is an error wrapping ErrOutside.
func (d Discrete) Element(v Value) (int64, error) {
	err := v.only("Int")
	if err == nil && !d.Contains(v.Int) {
		err = d.outside(v.Int)
	}
	return v.Int, err
}

// Set copies v into lane of a column of the space s. A value of the wrong kind
// or length is an error wrapping ErrOutside and leaves the column as it was.
func (c *Column) Set(s Space, lane int, v Value) error {
	own := [...]string{Int64: "Ints", Float64: "Float64", Float32: "Float32", Uint8: "Uint8"}[c.Type]
	_, discrete := s.(Discrete)
	if discrete {
		own = "Int"
	}
	if err := v.only(own); err != nil {
		return err
	}
	if discrete {
		c.Int64[lane] = v.Int
		return nil
	}
	i := lane * c.Width
	var n int
	switch c.Type {
	case Int64:
		if n = len(v.Ints); n == c.Width {
			copy(c.Int64[i:], v.Ints)
		}
	case Float64:
		if n = len(v.Float64); n == c.Width {
			copy(c.Float64[i:], v.Float64)
		}
	case Float32:
		if n = len(v.Float32); n == c.Width {
			copy(c.Float32[i:], v.Float32)
		}
	case Uint8:
		if n = len(v.Uint8); n == c.Width {
			copy(c.Uint8[i:], v.Uint8)
		}
	}
	if n != c.Width {
		return fmt.Errorf("%d elements of %v, want %d: %w", n, c.Type, c.Width, ErrOutside)
	}
	return nil
}

// CopyFrom makes v a copy of w that shares no memory with it, reusing v's slices.
func (v *Value) CopyFrom(w Value) {
	v.Int = w.Int
	v.Ints = append(v.Ints[:0], w.Ints...)
	v.Float64 = append(v.Float64[:0], w.Float64...)
	v.Float32 = append(v.Float32[:0], w.Float32...)
	v.Uint8 = append(v.Uint8[:0], w.Uint8...)
}
