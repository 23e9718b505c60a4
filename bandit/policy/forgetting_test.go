package policy

import (
	"math"
	"testing"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/internal/vectors"
)

// Where no arm is pulled for long, the beliefs of all but the one that is are the prior, and that one has the weight of 1/hazard
// rewards.
func TestForgetting(t *testing.T) {
	const hazard = 0.02
	for _, belief := range []BeliefSpec{
		ForgettingBelief{Hazard: new(hazard), A: new(2.), B: new(3.)},
		ForgettingBelief{Hazard: new(hazard), Family: "gaussian", Mean: new(0.4), SD: new(2.), Noise: new(0.5)},
	} {
		x := must.Get(New(Thompson{}, belief, Task{Arms: 2, High: 1}, newRNG(1)))(t).(*thompson)
		for range 50 {
			x.Update(0, 0, nil)
		}
		for range 2000 {
			x.Update(1, 1, nil)
		}
		// After each pull the weight w becomes (1 − hazard)(w + 1).
		const weight = (1 - hazard) / hazard
		switch d := x.learners[1].(type) {
		case *bandit.Beta:
			vectors.Close(t, "successes", d.A, 2+weight, 1e-9, 0)
			vectors.Close(t, "failures", d.B, 3, 1e-9, 0)
		case *bandit.Gaussian:
			vectors.Close(t, "precision", 1/(d.Sigma*d.Sigma), 0.25+4*weight, 1e-9, 0)
			vectors.Close(t, "mean", d.Mu, (0.25*0.4+4*weight)/(0.25+4*weight), 1e-9, 0)
		}
		vectors.Close(t, "mean of the other", x.learners[0].Mean(), 0.4, 1e-9, 0)
	}
}

// Choices depend on ratios of deviations alone, also where variances and precisions are beyond the floats. All rewards, means and deviations are
// multiplied by a power of 2, so that a policy chooses the same arms. Then the deviation of the prior alone is so large
// or so small that the rest counts for nothing: a wide prior is forgotten after a reward, and a narrow one stays.
func TestGaussianBeliefsBeyondTheFloats(t *testing.T) {
	play := func(s Spec, sd, noise, unit float64) (arms string) {
		rng := newRNG(4)
		var belief BeliefSpec = ForgettingBelief{Hazard: new(0.05), Family: "gaussian", Mean: new(0.), SD: new(sd), Noise: new(noise)}
		if _, keeps := s.(KnowledgeGradient); keeps { // it has no look-ahead for beliefs that forget
			belief = GaussianBelief{Mean: new(0.), SD: new(sd), Noise: new(noise)}
		}
		p := must.Get(New(s, belief, Task{Arms: 4, Low: math.Inf(-1), High: math.Inf(1)}, newRNG(1)))(t)
		for range 200 {
			arm := p.SelectArm(rng)
			p.Update(arm, unit*(float64(arm)+rng.NormFloat64()), nil)
			arms += string(rune('0' + arm))
		}
		return arms
	}
	for name, s := range map[string]Spec{"thompson": Thompson{}, "knowledge-gradient": KnowledgeGradient{}, "vpi": VPI{}, "greedy": Greedy{}} {
		plain := play(s, 2, 1, 1)
		for _, unit := range []float64{0x1p600, 0x1p-600} {
			if got := play(s, 2*unit, unit, unit); got != plain {
				t.Errorf("%s, unit %g: %s\n%s", name, unit, got, plain)
			}
		}
		if wide, wider := play(s, 1e100, 1, 1), play(s, 1e200, 1, 1); wide != wider {
			t.Errorf("%s: %s\n%s", name, wide, wider)
		}
	}
	for _, c := range [][2]float64{{1e-200, 1}, {1e-200, 1e200}, {1, 1e-200}, {1e200, 1e-200}, {5e-324, 1}} {
		d := bandit.Gaussian{Mu: 0.5, Sigma: c[0], Noise: c[1]}
		for range 100 {
			d.Update(0.75, nil)
			d.Forget(0.01, bandit.Gaussian{Mu: 0.5, Sigma: c[0], Noise: c[1]})
		}
		if want := 0.5; c[0] > c[1] {
			vectors.Close(t, "mean", d.Mu, 0.75, 1e-9, 0)
		} else if d.Mu != want || math.Abs(d.Sigma/c[0]-1) > 1e-9 {
			t.Errorf("%v: %+v", c, d)
		}
	}
}

// A policy on beliefs that forget selects as one that is made anew on the same beliefs: nothing that it keeps of arms is out of date.
func TestPoliciesOnBeliefsThatForget(t *testing.T) {
	task := Task{Arms: 7, High: 1}
	for name, s := range map[string]Spec{
		"greedy": Greedy{}, "optimistic": Optimistic{}, "optimistic V": Optimistic{Bound: "V"}, "vpi": VPI{}, "index": Index{},
	} {
		rng := newRNG(2)
		p := must.Get(New(s, ForgettingBelief{Hazard: new(0.1)}, task, rng))(t)
		var learners []bandit.Learner
		switch x := p.(type) {
		case *greedy:
			learners = x.learners
		case *optimistic:
			learners = x.learners
		case *vpi:
			learners = x.learners
		case *index:
			learners = x.learners
		}
		for step := range 300 {
			got, want := p.SelectArm(rng), must.Get(NewOn(s, learners, task))(t).SelectArm(rng)
			if got != want {
				t.Fatalf("%s, step %d: arm %d, made anew %d", name, step, got, want)
			}
			arm := got
			if rng.IntN(3) == 0 {
				arm = rng.IntN(task.Arms)
			}
			p.Update(arm, float64(rng.IntN(2)), rng)
		}
	}
}

// The index by hand: after rewards 1 and 0 of arm 0 and then 1 of arm 1, γ = 1/2.
func TestDiscountedUCBIndex(t *testing.T) {
	u := must.Get(New(DiscountedUCB{Discount: new(0.5), Confidence: new(0.6)}, nil, Task{Arms: 3, Low: -1, High: 1}, newRNG(1)))(t).(*discountedUCB)
	u.Update(0, 1, nil)
	u.Update(0, 0, nil)
	u.Update(1, 1, nil)
	n0, n1 := 0.25+0.5, 1.
	size := func(n float64) float64 { return 2 * 2 * math.Sqrt(0.6*math.Log(n0+n1)/n) }
	vectors.Close(t, "index", u.index(0), 0.25/n0+size(n0), 1e-15, 0)
	vectors.Close(t, "index", u.index(1), 1+size(n1), 1e-15, 0)
	if got := u.SelectArm(nil); got != 2 {
		t.Errorf("selected arm %d, which is not the one that was never pulled", got)
	}
}
