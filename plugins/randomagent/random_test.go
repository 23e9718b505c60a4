package randomagent

import (
	"math"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/rltest"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/internal/must"
)

// The agent keeps the laws of agents: it is a distribution over actions, whatever their order.
func TestLaws(t *testing.T) {
	if err := rltest.CheckLaws(t.Context(), Plugin(), nil); err != nil {
		t.Error(err)
	}
}

func TestUnknownParametersAreRefused(t *testing.T) {
	if _, err := Plugin().OpenAgent(t.Context(), []byte(`{"epsilon":1}`), framework.Spec{Action: space.Discrete{N: 2}}, 1); err == nil {
		t.Error("epsilon was taken")
	}
}

// Actions are in the space, and have the mean of the distribution that the documentation
// names, within five standard errors.
func TestDraws(t *testing.T) {
	inf, n := math.Inf(1), 20_000
	box := func(low, high float64, d space.DType) space.Box {
		return space.Box{Low: []float64{low}, High: []float64{high}, Shape: []int{2}, Type: d}
	}
	for _, tt := range []struct {
		name     string
		actions  space.Space
		mean, sd float64 // of the last element
	}{
		{"discrete", space.Discrete{N: 5, Start: -3}, -1, math.Sqrt2},
		{"one action", space.Discrete{N: 1, Start: 7}, 7, 0},
		{"multi-discrete", space.MultiDiscrete{NVec: []int64{9, 5}}, 2, math.Sqrt2},
		{"bounded", box(-2, 4, space.Float64), 1, math.Sqrt(3)},
		{"a bound for every element", space.Box{Low: []float64{0, -2}, High: []float64{0, 4}, Shape: []int{2}}, 1, math.Sqrt(3)},
		{"bounded, 32 bits", box(-2, 4, space.Float32), 1, math.Sqrt(3)},
		{"one value, 32 bits", box(0.1, 0.1, space.Float32), float64(float32(0.1)), 1e-9},
		{"bytes", box(0, 255, space.Uint8), 127.5, math.Sqrt((256*256 - 1) / 12.0)},
		{"from a bound on", box(3, inf, space.Float64), 4, 1},
		{"up to a bound", box(-inf, 3, space.Float64), 2, 1},
		{"unbounded", box(-inf, inf, space.Float32), 0, 1},
		{"wider than a float64", box(-1.7e308, 1.7e308, space.Float64), 0, 1e308},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := newAgent(tt.actions, 1)
			column, sum := space.NewColumn(tt.actions, 1), 0.0
			for range n {
				v := must.Get(a.SelectAction(t.Context(), space.Value{}))(t)
				must.Do(t, column.Set(tt.actions, 0, v))
				must.Do(t, tt.actions.Check(&column, 0))
				sum += last(tt.actions, v) / float64(n)
			}
			if got := sum; math.Abs(got-tt.mean) > 5*tt.sd/math.Sqrt(float64(n))+1e-9 {
				t.Errorf("mean %v, want %v", got, tt.mean)
			}
		})
	}
}

func last(s space.Space, v space.Value) float64 {
	i := s.Width() - 1
	switch s.DType() {
	case space.Float64:
		return v.Float64[i]
	case space.Float32:
		return float64(v.Float32[i])
	case space.Uint8:
		return float64(v.Uint8[i])
	}
	if _, ok := s.(space.Discrete); ok {
		return float64(v.Int)
	}
	return float64(v.Ints[i])
}
