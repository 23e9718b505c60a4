package policy

import (
	"math"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/internal/vectors"
)

// The index by hand: rewards 0, 10, 10 and 8 have mean 7 and variance 17.
func TestUCBVByHand(t *testing.T) {
	u := newUCBV(2, 10, 1.5)
	for _, r := range []float64{0, 10, 10, 8} {
		u.Update(0, r, nil)
	}
	u.Update(1, 7, nil)
	for arm, want := range []float64{7 + math.Sqrt(2*17*1.5*math.Log(5)/4) + 30*1.5*math.Log(5)/4, 7 + 30*1.5*math.Log(5)} {
		vectors.Close(t, "index", u.index(arm, u.level(5)), want, 1e-12, 0)
	}
	if got := u.SelectArm(nil); got != 1 {
		t.Errorf("it selects arm %d, want 1", got)
	}
}

// Of arms with the same mean that without variance is known sooner: it is pulled less.
func TestUCBVGoesByTheVariance(t *testing.T) {
	u, rng := newUCBV(2, 1, 1), newRNG(4)
	for range 20_000 {
		arm := u.SelectArm(rng)
		u.Update(arm, []float64{0.5, float64(rng.IntN(2))}[arm], rng)
	}
	if 2*u.pulls[0] > u.pulls[1] {
		t.Errorf("pulls %v", u.pulls)
	}
}

// The probabilities by hand, after rewards in [−1,3] of three arms.
func TestExp3Distribution(t *testing.T) {
	horizon := 50
	for _, p := range []Exp3{{}, {Horizon: &horizon}} {
		e := must.Get(New(p, nil, Task{Arms: 3, Low: -1, High: 3}, nil))(t)
		losses, probs := [3]float64{}, []float64{1. / 3, 1. / 3, 1. / 3}
		for step, pull := range []struct {
			arm    int
			reward float64
		}{{0, 3}, {1, -1}, {1, 1}, {2, 0}} {
			agree(t, "exp3", e, uint64(step), 20_000, probs)
			e.Update(pull.arm, pull.reward, nil)
			losses[pull.arm] += (3 - pull.reward) / 4 / probs[pull.arm]
			rate, sum := math.Sqrt(math.Log(3)/3/float64(step+2)), 0.0
			if p.Horizon != nil {
				rate = math.Sqrt(2 * math.Log(3) / 3 / 50)
			}
			for i := range probs {
				probs[i] = math.Exp(-rate * losses[i])
				sum += probs[i]
			}
			for i := range probs {
				probs[i] /= sum
			}
		}
		agree(t, "exp3", e, 9, 20_000, probs)
	}
}

// Its regret is bounded where an adversary moves the best arm: 2√(T·K·ln K), against the best arm in hindsight.
func TestExp3AgainstAnAdversary(t *testing.T) {
	const steps, arms = 20_000, 4
	e, rng := must.Get(New(Exp3{}, nil, Task{Arms: arms, High: 1}, nil))(t), newRNG(5)
	sums, had := [arms]float64{}, 0.0
	for step := range steps {
		arm := e.SelectArm(rng)
		for i := range arms { // the best arm rests for the first half
			pays := float64((step/7+i)%3) / 2
			if i == 2 {
				pays = float64(step / (steps / 2))
			}
			sums[i] += pays
			if i == arm {
				had += pays
				e.Update(i, pays, rng)
			}
		}
	}
	if regret := max(sums[0], sums[1], sums[2], sums[3]) - had; regret > 2*math.Sqrt(steps*arms*math.Log(arms)) {
		t.Errorf("regret %v", regret)
	}
}

// By hand. Of the rewards 1, 0, 0 and 0 two have the mean ½ in half of the draws and 0 in the others. Of 1, 1, 0, 0 and 0
// three have the mean 0 with probability 1/10, ⅓ with 6/10 and ⅔ with 3/10.
func TestBESADistribution(t *testing.T) {
	b := must.Get(New(BESA{}, nil, Task{Arms: 2, Low: math.Inf(-1), High: math.Inf(1)}, nil))(t)
	learn := func(arm int, rewards ...float64) {
		for _, r := range rewards {
			b.Update(arm, r, nil)
		}
	}
	learn(0, 1, 0, 0, 0)
	learn(1, 0, 0.4) // the mean is 0.2
	agree(t, "besa", b, 1, 20_000, []float64{0.5, 0.5})
	learn(0, 1)
	learn(1, 0.5) // the mean is 0.3
	agree(t, "besa", b, 2, 20_000, []float64{0.9, 0.1})
	learn(1, 0.1) // the mean is ¼; of four rewards one is 1 with probability 2/5, two are with 3/5
	agree(t, "besa", b, 3, 20_000, []float64{0.6, 0.4})
}

// With all arms alike every one is tried as often.
func TestBESAIsFair(t *testing.T) {
	b, rng := must.Get(New(BESA{}, nil, Task{Arms: 5, High: 1}, nil))(t), newRNG(6)
	pulls := [5]int{}
	for range 5_000 {
		arm := b.SelectArm(rng)
		pulls[arm]++
		b.Update(arm, 1, rng)
	}
	for i, n := range pulls {
		if n != 1000 {
			t.Errorf("arm %d: %v", i, pulls)
		}
	}
}
