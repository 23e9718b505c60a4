package main

import (
	"math"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
)

// Eight steps lead to a goal in the opposite corner, and none of twelve to a cell that pays nothing.
func TestPits(t *testing.T) {
	var g pits
	for goal, want := range map[float64]float64{1: 1 - 8*0.005, 0: -12 * 0.005, -1: -12 * 0.005} {
		g[pitsSize-1][pitsSize-1] = goal
		s := must.Get(episodeScale(must.Get(g.model())(t)))(t)
		if math.Abs(s.one-want) > 1e-12 || s.zero > s.one {
			t.Errorf("goal %v: %+v, want %v", goal, s, want)
		}
	}
	for seed := range uint64(100) {
		small, large := 0, 0
		g := drawPits(seed, 0.5)
		for _, row := range g {
			for _, pay := range row {
				small += one(pay == pitsNear)
				large += one(pay == pitsFar)
			}
		}
		if small != 1 || large != 1-int(seed%2) || g[0][0] != 0 || g != drawPits(seed, 0.5) {
			t.Errorf("seed %d: %v", seed, g)
		}
	}
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// In each cell of the studies of networks an optimal agent earns more than random actions do.
func TestDeepCells(t *testing.T) {
	for name, x := range deepStudies {
		drawn := false
		for _, c := range must.Get(x.cells())(t) {
			if !(c.scale.one > c.scale.zero) {
				t.Errorf("%s, %s: %+v", name, c.name, c.scale)
			}
			for _, task := range c.tasks {
				if task.environment["params"].(map[string]any) == nil { // which rlrun run refuses
					t.Errorf("%s, %s has no parameters", name, task.name)
				}
			}
			drawn = drawn || c.name == x.figure
		}
		if !drawn && x.figure != "" {
			t.Errorf("%s has no cell %q", name, x.figure)
		}
	}
}

func TestEnough(t *testing.T) {
	for _, x := range []struct {
		value, better float64
		want          bool
	}{{0.9, 1, true}, {0.89, 1, false}, {-0.1, -0.1, true}, {-0.105, -0.1, false}, {2, 1, true}} {
		if got := enough(x.value, x.better); got != x.want {
			t.Errorf("%v of %v: %v", x.value, x.better, got)
		}
	}
}
