package mdp_test

import (
	"math"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
)

// Sampled pairs have the times of the exact computation, and their mean its mean:
// two and a half times the interval of 400 pairs misses it once in a million seeds,
// about.
func TestSampleMixing(t *testing.T) {
	task := must.Get(catalog.FourRooms(true))(t)
	sol := must.Get(mdp.SolveAverage(task.Model, mdp.SolverConfig{}))(t)
	exact := must.Get(mdp.MixingTime(task.Model, sol.Policy, mdp.MixingConfig{}))(t)
	o := mdp.SampleConfig{Pairs: 400, BurnIn: 400, Seed: 7}
	got := must.Get(mdp.SampleMixing(task.Model, sol.Policy, o))(t)
	for i, p := range got.Pairs {
		if got.T[i] != exact.T[p.S][p.A] || got.Extrapolated[i] {
			t.Errorf("T%v = %d, want %d", p, got.T[i], exact.T[p.S][p.A])
		}
	}
	if math.Abs(exact.MeanNonGreedy-got.Mean) > 2.5*(got.High-got.Low)/2 {
		t.Errorf("mean %v outside [%v, %v]", exact.MeanNonGreedy, got.Low, got.High)
	}
	// A tail is continued at its rate: off by a few per cent at most.
	o.MaxSteps, o.Eta = 100, 1e-4
	exact = must.Get(mdp.MixingTime(task.Model, sol.Policy, o.MixingConfig))(t)
	got = must.Get(mdp.SampleMixing(task.Model, sol.Policy, o))(t)
	extrapolated := 0
	for i, p := range got.Pairs {
		want := float64(exact.T[p.S][p.A])
		if !near(float64(got.T[i]), want, 0.1*want+1) {
			t.Errorf("T%v = %d, want about %v", p, got.T[i], want)
		}
		if got.Extrapolated[i] {
			extrapolated++
		}
	}
	if extrapolated == 0 {
		t.Error("nothing was extrapolated")
	}
}

func TestSampleMixingReasons(t *testing.T) {
	task := must.Get(catalog.DoubleLoop())(t)
	got := must.Get(mdp.SampleMixing(task.Model, mdp.Constant(9, 1), mdp.SampleConfig{Pairs: 50, BurnIn: 10}))(t)
	if got.Why == nil || got.Mean < 1e300 {
		t.Errorf("mean %v, reason %v", got.Mean, got.Why)
	}
}
