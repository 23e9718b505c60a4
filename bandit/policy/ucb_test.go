package policy

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/internal/vectors"
)

// TestUCB1Index checks one index by hand: means 3/4 and 1/2 after 4 and 2 pulls.
func TestUCB1Index(t *testing.T) {
	u := newUCB1(2, 1, 2)
	for _, r := range []float64{1, 1, 0, 1} {
		u.Update(0, r, nil)
	}
	u.Update(1, 1, nil)
	u.Update(1, 0, nil)
	level := u.level(6)
	vectors.Close(t, "index", u.index(0, level), 0.75+math.Sqrt(2*math.Log(6)/4), 1e-15, 0)
	vectors.Close(t, "index", u.index(1, level), 0.5+math.Sqrt(2*math.Log(6)/2), 1e-15, 0)
	if got := u.SelectArm(nil); got != 1 {
		t.Errorf("selected arm %d, want 1", got)
	}
}

// TestUCBsOfScaledRewards: they are equivariant to the range of rewards.
func TestUCBsOfScaledRewards(t *testing.T) {
	for name, pair := range map[string][2]*upperConfidence{
		"ucb1":   {newUCB1(6, 1, 2), newUCB1(6, 10, 2)},
		"kl-ucb": {newKLUCB(6, 0, 1, 3), newKLUCB(6, -3, 10, 3)},
	} {
		rng := newRNG(1)
		for step := range 1000 {
			arm := pair[0].SelectArm(nil)
			r := rng.Float64()
			pair[0].Update(arm, r, nil)
			pair[1].Update(arm, 10*r-3, nil)
			if step < 6 {
				continue
			}
			for i := range 6 {
				a, b := pair[0].index(i, pair[0].level(float64(step))), pair[1].index(i, pair[1].level(float64(step)))
				vectors.Close(t, name, b, 10*a-3, 1e-9, 1e-9)
			}
		}
	}
}

// TestBernoulliBound: it is the root of d(p,q) = x, and grows with p and x.
func TestBernoulliBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.OneOf(rapid.Float64Range(0, 1), rapid.SampledFrom([]float64{0, 1, 1e-12, 1 - 1e-12, 0.5})).Draw(t, "p")
		x := math.Exp(rapid.Float64Range(-30, 4).Draw(t, "ln x"))
		q := bernoulliBound(p, x)
		if !(q >= p && q <= 1) {
			t.Fatalf("bound %v of %v", q, p)
		}
		if p == 1 {
			return
		}
		d := func(q float64) float64 {
			d := (1 - p) * (math.Log1p(-p) - math.Log1p(-q))
			if p > 0 {
				d += p * math.Log(p/q)
			}
			return d
		}
		// d as a function of q is known to about an ulp of q.
		slope := (q - p) / (q * max(1-q, 1e-300))
		if got := d(q); q < 1 && math.Abs(got-x) > 1e-9*x+1e-14+1e-15*slope {
			t.Fatalf("d(%v, %v) = %v, want %v", p, q, got, x)
		}
		if bernoulliBound(p, 1.5*x) < q*(1-1e-12) || bernoulliBound(min(1, p+0.01), x) < q*(1-1e-12) {
			t.Fatal("the bound falls")
		}
	})
	// 1−q = (1−p)exp(−(x−p ln p)/(1−p)) = exp(−731), subnormal.
	if got := bernoulliBound(0.943359375, 1.5*math.Exp(3.3125)); got != 1 {
		t.Errorf("bound %v, want 1", got)
	}
	if got := bernoulliBound(0.3, 0); got != 0.3 {
		t.Errorf("bound %v with nothing to spare, want the mean", got)
	}
}

// TestUpperQuantile: a belief exceeds it with the probability asked for.
func TestUpperQuantile(t *testing.T) {
	for _, tail := range []float64{0.5, 0.1, 1e-3, 1e-6} {
		for name, b := range map[string]bandit.Learner{
			"beta":         &bandit.Beta{A: 3, B: 7},
			"sharp beta":   &bandit.Beta{A: 900, B: 50},
			"gaussian":     &bandit.Gaussian{Mu: -2, Sigma: 3, Noise: 1},
			"normal-gamma": &bandit.NormalGamma{Mu: 1, Lambda: 2, Alpha: 3, Beta: 4},
		} {
			x := upperQuantile(b, tail)
			vectors.Close(t, name, b.Exceed(x), tail, 1e-6, 0)
			vectors.Close(t, name+", searched", b.Exceed(bandit.UpperQuantile(b, tail)), tail, 1e-6, 0)
		}
	}
	// Members 0.9, 0.7, 0.4, 0.2: the smallest x with P(q ≤ x) ≥ 1 − tail.
	b := populations(t, []float64{0.2, 0.9, 0.4, 0.7})
	for tail, want := range map[float64]float64{0: 0.9, 0.2: 0.9, 0.25: 0.7, 0.5: 0.4, 0.9: 0.2, 1: 0.2} {
		if got := upperQuantile(b.learners[0], tail); got != want {
			t.Errorf("upper quantile %v of a population is %v, want %v", tail, got, want)
		}
	}
}

// TestBayesUCBLevel: in step t the index is exceeded with probability
// 1/(t·(ln N)^c).
func TestBayesUCBLevel(t *testing.T) {
	for _, c := range []struct {
		spec Spec
		want float64
	}{
		{BayesUCB{}, 1. / 10},
		{BayesUCB{Confidence: new(2.0), Horizon: new(1000)}, 1 / (10 * math.Log(1000) * math.Log(1000))},
	} {
		p := must.Get(New(c.spec, nil, unit, nil))(t)
		u := p.(*bayesUCB)
		for range 9 {
			u.Update(2, 1, nil)
		}
		x := u.index(2, u.level(float64(u.now)))
		vectors.Close(t, "probability of more", u.learners[2].Exceed(x), c.want, 1e-6, 0)
	}
}

// regret plays Bernoulli arms for some steps and returns the sum of expected
// regrets and of its square, over runs with their own arms and streams.
func regret(t *testing.T, s Spec, b BeliefSpec, arms, steps, runs int) (mean, stderr float64) {
	t.Helper()
	m := must.Get(NewMaker(s, b, Task{Arms: arms, High: 1}))(t)
	sum, square := 0.0, 0.0
	for run := range runs {
		world, rng := newRNG(uint64(1000+run)), newRNG(uint64(run))
		q := make([]float64, arms)
		best := 0.0
		for i := range q {
			q[i] = world.Float64()
			best = max(best, q[i])
		}
		p := m.New(rng)
		total := 0.0
		for range steps {
			arm := p.SelectArm(rng)
			reward := 0.0
			if world.Float64() < q[arm] {
				reward = 1
			}
			p.Update(arm, reward, rng)
			total += best - q[arm]
		}
		sum += total
		square += total * total
	}
	n := float64(runs)
	mean = sum / n
	return mean, math.Sqrt((square/n - mean*mean) / (n - 1))
}

// TestRegretLaws: policies that must learn do, and in the order that theory
// gives, each by more than five standard errors.
func TestRegretLaws(t *testing.T) {
	const arms, steps, runs = 8, 1000, 16
	type result struct{ mean, stderr float64 }
	of := func(s Spec, b BeliefSpec) result {
		mean, stderr := regret(t, s, b, arms, steps, runs)
		t.Logf("%-24T %-20T %8.1f ± %.1f", s, b, mean, stderr)
		return result{mean, stderr}
	}
	below := func(a, b result, what string) {
		t.Helper()
		if a.mean+5*math.Hypot(a.stderr, b.stderr) > b.mean {
			t.Errorf("%s: %v is not well below %v", what, a, b)
		}
	}
	random := of(Uniform{}, nil)
	ucb := of(UCB1{}, nil)
	kl := of(KLUCB{}, nil)
	bayes := of(BayesUCB{}, nil)
	thompson := of(Thompson{}, BetaBelief{})
	information := of(IDS{Samples: new(20)}, BetaBelief{})
	below(of(BoltzmannGumbel{Scale: new(0.25)}, nil), random, "Boltzmann-Gumbel exploration against uniform")
	below(ucb, random, "UCB1 against uniform")
	below(kl, ucb, "KL-UCB against UCB1")
	below(bayes, ucb, "Bayes-UCB against UCB1")
	below(thompson, ucb, "Thompson sampling against UCB1")
	below(information, ucb, "information-directed sampling against UCB1")
	e3 := of(E3{}, nil)
	below(ucb, e3, "UCB1 against E³, which never ends its exploration")
}
