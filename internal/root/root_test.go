package root_test

import (
	"math"
	"testing"

	"github.com/rlrun/rlrun/internal/root"
	"github.com/rlrun/rlrun/internal/vectors"
)

func TestFindsSignChanges(t *testing.T) {
	for _, c := range []struct {
		name         string
		f            func(float64) float64
		lo, hi, want float64
	}{
		{"line", func(x float64) float64 { return 1 - x }, 0, 8, 1},
		{"steep", func(x float64) float64 { return math.Exp(-x) - 1e-9 }, 0, 100, 9 * math.Ln10},
		{"flat", func(x float64) float64 { return -math.Pow(x-0.3, 9) }, 0, 1, 0.3},
		{"tiny", func(x float64) float64 { return 1e-200 - x }, 0, 1, 1e-200},
		{"jump", func(x float64) float64 { return math.Copysign(1, 0.7-x) }, 0, 1, 0.7},
	} {
		rel := 1e-14
		if c.name == "flat" {
			rel = 1e-2 // |f| is below 1e-18 from 0.29 on
		}
		vectors.Close(t, c.name, root.Find(c.f, c.lo, c.hi), c.want, rel, 0)
	}
	if got := root.Find(func(x float64) float64 { return -1 - x }, 0, 1); got != 0 {
		t.Errorf("without a change of sign the nearer end is 0, not %v", got)
	}
}
