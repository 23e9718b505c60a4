package space

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/rlrun/rlrun/internal/must"
)

// Every number has a value of the space, from which it is read back. The order is that of
// loops over the elements, the last one innermost.
func TestEnumerate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom([]Space{
			Discrete{N: 9, Start: 3},
			MultiDiscrete{NVec: []int64{2, 5, 1}},
			Box{Low: []float64{-1.5, 0}, High: []float64{1, 4}, Shape: []int{2}, Type: Int64},
			Box{Low: []float64{250}, High: []float64{math.Inf(1)}, Shape: []int{2, 1}, Type: Uint8},
		}).Draw(t, "space")
		m, ok := Enumerate(s, 1000)
		if !ok || m.N > 1000 {
			t.Fatalf("%v: %v, %v", s, m, ok)
		}
		if _, ok := Enumerate(s, m.N-1); ok {
			t.Fatalf("%v has more than %d elements", s, m.N-1)
		}
		c, lane := NewColumn(s, 2), rapid.IntRange(0, 1).Draw(t, "lane")
		before := c.Get(s, 0)
		for number := range m.N {
			m.Set(&c, lane, number)
			must.Do(t, s.Check(&c, lane))
			if got, err := m.Get(&c, lane); got != number || err != nil {
				t.Fatalf("%v: number %d is %v, %v", s, number, got, err)
			}
			if v := c.Get(s, lane); number > 0 && len(v.Ints) > 0 && !less(before.Ints, v.Ints) {
				t.Fatalf("%v after %v", v, before)
			}
			before = Value{}
			before.CopyFrom(c.Get(s, lane))
		}
		must.Do(t, c.Set(s, lane, Sample(s, rand.New(rand.NewPCG(1, 1)))))
		if c.Type == Int64 {
			c.Int64[lane*c.Width] = math.MaxInt64
			if _, err := m.Get(&c, lane); !errors.Is(err, ErrOutside) {
				t.Fatalf("a value outside %v: %v", s, err)
			}
		}
	})
}

func less(a, b []int64) bool {
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}

func TestSpacesThatAreNotEnumerated(t *testing.T) {
	inf := math.Inf(1)
	for _, s := range []Space{
		Box{Low: []float64{0}, High: []float64{1}},
		Box{Low: []float64{0}, High: []float64{1}, Type: Float32},
		Box{Low: []float64{0}, High: []float64{inf}, Type: Int64},
		Box{Low: []float64{-inf}, High: []float64{0}, Type: Int64},
		Box{Low: []float64{0}, High: []float64{255}, Shape: []int{84, 84}, Type: Uint8},
		MultiDiscrete{NVec: []int64{1 << 40, 1 << 40}},
	} {
		if m, ok := Enumerate(s, math.MaxInt64); ok {
			t.Errorf("%v: %v", s, m)
		}
	}
}
