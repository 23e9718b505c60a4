package space

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/rlrun/rlrun/internal/must"
)

func anySpace(t *rapid.T) Space {
	switch rapid.IntRange(0, 2).Draw(t, "kind") {
	case 0:
		return Discrete{N: rapid.Int64Range(1, 1000).Draw(t, "n"), Start: rapid.Int64Range(-5, 5).Draw(t, "start")}
	case 1:
		return MultiDiscrete{NVec: rapid.SliceOfN(rapid.Int64Range(1, 9), 1, 4).Draw(t, "nvec")}
	}
	b := Box{Type: rapid.SampledFrom([]DType{Float64, Float32, Uint8, Int64}).Draw(t, "dtype")}
	if rapid.Bool().Draw(t, "shaped") {
		b.Shape = rapid.SliceOfN(rapid.IntRange(1, 3), 1, 3).Draw(t, "shape")
	}
	bound := rapid.OneOf(rapid.Just(math.Inf(1)), rapid.Float64Range(0, 255))
	b.Low = []float64{-bound.Draw(t, "low")}
	for range b.Width() {
		b.High = append(b.High, bound.Draw(t, "high"))
	}
	return b
}

func TestMarshal(t *testing.T) {
	for text, s := range map[string]Space{
		`{"kind":"discrete","n":4,"start":-1}`:                                       Discrete{N: 4, Start: -1},
		`{"kind":"multi_discrete","nvec":[2,3]}`:                                     MultiDiscrete{NVec: []int64{2, 3}},
		`{"kind":"box","low":[0],"high":["+Inf",0.5],"shape":[2],"dtype":"float32"}`: Box{Low: []float64{0}, High: []float64{math.Inf(1), 0.5}, Shape: []int{2}, Type: Float32},
		`{"kind":"box","low":["-Inf"],"high":[1],"dtype":"float64"}`:                 Box{Low: []float64{math.Inf(-1)}, High: []float64{1}},
	} {
		if got, err := Marshal(s); err != nil || string(got) != text {
			t.Errorf("%+v: %s, %v, want %s", s, got, err, text)
		}
	}
}

func TestBytesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, lanes := anySpace(t), rapid.IntRange(1, 5).Draw(t, "lanes")
		c, d := NewColumn(s, lanes), NewColumn(s, lanes)
		for i := range lanes * c.Width {
			x := rapid.Float64Range(-100, 300).Draw(t, "x")
			switch c.Type {
			case Int64:
				c.Int64[i] = int64(x)
			case Float64:
				c.Float64[i] = x
			case Float32:
				c.Float32[i] = float32(x)
			case Uint8:
				c.Uint8[i] = uint8(int(x) & 255)
			}
		}
		data := c.AppendBytes(nil)
		if err := d.SetBytes(data); err != nil || !reflect.DeepEqual(c, d) {
			t.Fatalf("got %v (%v), want %v", d, err, c)
		}
		if err := d.SetBytes(data[1:]); err == nil {
			t.Fatal("a column that is one byte short was accepted")
		}
		if c.Lanes() != lanes {
			t.Fatalf("got %d lanes, want %d", c.Lanes(), lanes)
		}
		v := Value{}
		v.CopyFrom(c.Get(s, lanes-1))
		must.Do(t, d.Set(s, 0, v))
		if got := d.Get(s, 0); !reflect.DeepEqual(c.Get(s, lanes-1), got) {
			t.Fatalf("got %v, want %v", got, c.Get(s, lanes-1))
		}
	})
}

func TestCheck(t *testing.T) {
	box := Box{Low: []float64{-1, 0}, High: []float64{1}, Shape: []int{2}}
	for _, tt := range []struct {
		name  string
		space Space
		col   Column
		ok    bool
	}{
		{"discrete first", Discrete{N: 3, Start: 2}, Column{Int64: []int64{2}}, true},
		{"discrete last", Discrete{N: 3, Start: 2}, Column{Int64: []int64{4}}, true},
		{"discrete below", Discrete{N: 3, Start: 2}, Column{Int64: []int64{1}}, false},
		{"discrete above", Discrete{N: 3, Start: 2}, Column{Int64: []int64{5}}, false},
		{"multi inside", MultiDiscrete{NVec: []int64{2, 3}}, Column{Int64: []int64{1, 2}}, true},
		{"multi outside", MultiDiscrete{NVec: []int64{2, 3}}, Column{Int64: []int64{1, 3}}, false},
		{"box inside", box, Column{Float64: []float64{-1, 1}}, true},
		{"box below its own bound", box, Column{Float64: []float64{-1, -0.1}}, false},
		{"box NaN", box, Column{Float64: []float64{0, math.NaN()}}, false},
		{"an infinity without bounds", Box{Low: []float64{math.Inf(-1)}, High: []float64{math.Inf(1)}}, Column{Float64: []float64{math.Inf(1)}}, false},
		{"integers inside", Box{Low: []float64{-1.5}, High: []float64{math.Inf(1)}, Type: Int64}, Column{Int64: []int64{-1}}, true},
		{"integers outside", Box{Low: []float64{-1.5}, High: []float64{math.Inf(1)}, Type: Int64}, Column{Int64: []int64{-2}}, false},
		{"an integer that float64 rounds to the bound", Box{Low: []float64{0}, High: []float64{1 << 53}, Type: Int64}, Column{Int64: []int64{1<<53 + 1}}, false},
		{"an integer at the bound", Box{Low: []float64{-1 << 53}, High: []float64{0}, Type: Int64}, Column{Int64: []int64{-1 << 53}}, true},
		{"an integer below the bound", Box{Low: []float64{-1 << 53}, High: []float64{0}, Type: Int64}, Column{Int64: []int64{-1<<53 - 1}}, false},
		{"large integers without bounds", Box{Low: []float64{math.Inf(-1)}, High: []float64{math.Inf(1)}, Type: Int64}, Column{Int64: []int64{1<<53 + 1}}, true},
		{"box float32 at a bound that float32 rounds", Box{Low: []float64{0}, High: []float64{0.1}, Type: Float32}, Column{Float32: []float32{0.1}}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.space.Check(&tt.col, 0)
			if (err == nil) != tt.ok || (err != nil && !errors.Is(err, ErrOutside)) {
				t.Errorf("got %v, want ok = %v", err, tt.ok)
			}
		})
	}
}

// A value has the field of its space alone: no other form is taken for it.
func TestValuesOfAnotherForm(t *testing.T) {
	forms := map[string]Value{"Int": {Int: 2}, "Ints": {Ints: []int64{2}}, "Float64": {Float64: []float64{2}}, "Float32": {Float32: []float32{2}}, "Uint8": {Uint8: []uint8{2}}}
	box := func(dtype DType) Space {
		return Box{Low: []float64{0}, High: []float64{9}, Shape: []int{1}, Type: dtype}
	}
	for own, s := range map[string]Space{"Int": Discrete{N: 3}, "Ints": MultiDiscrete{NVec: []int64{3}}, "Float64": box(Float64), "Float32": box(Float32), "Uint8": box(Uint8)} {
		for form, v := range forms {
			c := NewColumn(s, 1)
			if err := c.Set(s, 0, v); (err == nil) != (form == own) || err != nil && !errors.Is(err, ErrOutside) {
				t.Errorf("%v takes %s: %v", s, form, err)
			}
		}
		c, two := NewColumn(s, 1), Value{Int: 1, Ints: []int64{1}, Float64: []float64{1}, Float32: []float32{1}, Uint8: []uint8{1}}
		if c.Set(s, 0, two) == nil {
			t.Errorf("%v takes a value of all forms", s)
		}
	}
}

func TestBoxesThatAreRefused(t *testing.T) {
	inf := math.Inf(1)
	for _, b := range []Box{
		{Low: []float64{0.2}, High: []float64{0.8}, Type: Int64},
		{Low: []float64{0.2}, High: []float64{0.8}, Type: Uint8},
		{Low: []float64{-9}, High: []float64{-1}, Type: Uint8},
		{Low: []float64{256}, High: []float64{inf}, Type: Uint8},
		{Low: []float64{0}, High: []float64{1 << 54}, Type: Int64},
		{Low: []float64{inf}, High: []float64{inf}, Type: Int64},
	} {
		if b.Validate() == nil {
			t.Errorf("%+v was accepted", b)
		}
	}
	for _, b := range []Box{{Low: []float64{-inf}, High: []float64{inf}, Type: Int64}, {Low: []float64{-inf}, High: []float64{inf}, Type: Uint8}} {
		must.Do(t, b.Validate())
	}
}
