package policy

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/internal/must"
)

// TestE3Wanders: as often as it has pulled one arm it has pulled any, but once.
func TestE3Wanders(t *testing.T) {
	m := must.Get(NewMaker(E3{}, nil, unit))(t)
	p := m.New(nil).(*e3)
	if want := math.Pow(100*5/0.1, 4); math.Abs(p.known-want) > 1e-9*want {
		t.Errorf("an arm is known after %v pulls, want %v", p.known, want)
	}
	for step := range 1000 {
		arm := p.SelectArm(nil)
		if arm != step%5 {
			t.Fatalf("step %d: arm %d", step, arm)
		}
		p.Update(arm, float64(arm%2), nil)
	}
	// Once all are known it is greedy.
	q := newE3(3, 2, 0)
	pulls := make([]int, 3)
	for range 50 {
		arm := q.SelectArm(nil)
		pulls[arm]++
		q.Update(arm, []float64{0.1, 0.9, 0.5}[arm], nil)
	}
	if !slices.Equal(pulls, []int{2, 46, 2}) {
		t.Errorf("pulls %v, want 2, 46, 2", pulls)
	}
}

// TestE3OverflowIsGreedy: it leaves an arm when its mean falls below the
// optimistic 1 of the next, and returns to the best only when all have.
func TestE3OverflowIsGreedy(t *testing.T) {
	p := must.Get(New(E3Overflow{}, nil, Task{Arms: 3, High: 1}, nil))(t)
	var arms []int
	for _, r := range []float64{1, 0, 1, 1, 0, 0, 1, 1} {
		arm := p.SelectArm(nil)
		arms = append(arms, arm)
		p.Update(arm, r, nil)
	}
	if !slices.Equal(arms, []int{0, 0, 1, 1, 1, 2, 1, 1}) {
		t.Errorf("arms %v", arms)
	}
}

// TestEliminationsArePAC counts runs whose last arm is further from the best than the
// accuracy allows. With failure probability δ, more than the 1−10⁻⁶ quantile of
// Binomial(runs, δ) happens once in a million.
func TestEliminationsArePAC(t *testing.T) {
	const arms, runs, failure, accuracy = 6, 60, 0.1, 0.25
	for _, s := range []Spec{SuccessiveElimination{new(accuracy), new(failure)}, MedianElimination{new(accuracy), new(failure)}} {
		m := must.Get(NewMaker(s, nil, Task{Arms: arms, Low: -1, High: 3}))(t)
		failed, steps := 0, 0
		for run := range uint64(runs) {
			rng := newRNG(run)
			q := make([]float64, arms)
			for i := range q {
				q[i] = rng.Float64()
			}
			p := m.New(nil)
			for !done(p) {
				arm := p.SelectArm(nil)
				reward := -1.0
				if rng.Float64() < q[arm] {
					reward = 3
				}
				p.Update(arm, reward, nil)
				steps++
			}
			last := p.SelectArm(nil)
			if q[last] < slices.Max(q)-accuracy {
				failed++
			}
			p.Update(last, -1, nil)
			if p.SelectArm(nil) != last {
				t.Fatalf("%T: done, but another arm is selected", s)
			}
		}
		limit := 0
		for b := (distuv.Binomial{N: runs, P: failure}); b.CDF(float64(limit)) < 1-1e-6; limit++ {
		}
		t.Logf("%T: %d of %d runs failed, %d pulls a run", s, failed, runs, steps/runs)
		if failed > limit {
			t.Errorf("%T failed in %d of %d runs, more than %d", s, failed, runs, limit)
		}
	}
}

// TestMedianEliminationHalves even when all arms are alike.
func TestMedianEliminationHalves(t *testing.T) {
	m := newMedianElimination(9, 0, 1, 0.1, 1)
	// ⌈(4/ε²)·ln(3/δ)⌉ with ε = 1/4, δ = 1/20.
	if want := int(math.Ceil(64 * math.Log(60))); m.quota != want {
		t.Errorf("first round of %d pulls an arm, want %d", m.quota, want)
	}
	var sizes []int
	for !m.Done() {
		if n := len(m.left); len(sizes) == 0 || sizes[len(sizes)-1] != n {
			sizes = append(sizes, n)
		}
		m.Update(m.SelectArm(nil), 0.5, nil)
	}
	// ε and δ of the fifth round, which is not played.
	if want := 0.75 * 0.75 * 0.75 * 0.75 / 4; math.Abs(m.accuracy-want) > 1e-15 || math.Abs(m.failure-0.05/16) > 1e-15 {
		t.Errorf("fifth round with accuracy %v, failure %v", m.accuracy, m.failure)
	}
	if !slices.Equal(sizes, []int{9, 5, 3, 2}) || m.left[0] != 0 {
		t.Errorf("rounds of %v arms, then arm %d", sizes, m.left[0])
	}
}

// TestSuccessiveEliminationKeepsClose: arms are dropped when the radius says so.
func TestSuccessiveEliminationKeepsClose(t *testing.T) {
	s := newSuccessiveElimination(2, 0, 1, 0.1, 0)
	rounds := 0
	for ; !s.Done(); rounds++ {
		for range len(s.left) {
			arm := s.SelectArm(nil)
			s.Update(arm, float64(arm), nil)
		}
	}
	t1 := float64(rounds)
	radius := func(t float64) float64 { return math.Sqrt(math.Log(5*2*t*t/0.1) / t) }
	if 2*radius(t1) > 1 || 2*radius(t1-1) <= 1 {
		t.Errorf("done after %d rounds, radius %v before %v", rounds, radius(t1), radius(t1-1))
	}
}

// TestBudgetedExactly compares allocations by the exact mean of the arm that
// they commit to, three Beta arms and eight pulls, with each other and with the
// best there is.
func TestBudgetedExactly(t *testing.T) {
	const pulls = 8
	priors := []bandit.Beta{{A: 1, B: 1}, {A: 3, B: 2}, {A: 1, B: 4}}
	weights := make([]float64, pulls+1)
	weights[pulls] = 1
	h := bandit.Weights(weights)
	plan := must.Get(bandit.NewPlan(priors, h, pulls, 0))(t)
	value := func(a string) float64 {
		return must.Get(bandit.PolicyValue(priors, h, pulls, func(counts []int, _ []float64) int {
			ds := slices.Clone(priors)
			made := 0
			for i := range ds {
				ds[i].A += float64(counts[2*i])
				ds[i].B += float64(counts[2*i+1])
				made += counts[2*i] + counts[2*i+1]
			}
			b, _ := betaBeliefs(ds...)
			p := &budgeted{ranked: newRanked(b), budget: pulls - made, allocation: a, turn: made % len(ds)}
			return p.SelectArm(nil)
		}))(t)
	}
	turns, ahead, vpi := value("round-robin"), value(lookahead), value(byVPI)
	t.Logf("round robin %.5f, lookahead %.5f, vpi %.5f, optimum %.5f", turns, ahead, vpi, plan.Value())
	if !(ahead > turns) || ahead > plan.Value()+1e-12 || vpi > plan.Value()+1e-12 || turns > plan.Value()+1e-12 {
		t.Errorf("round robin %v, lookahead %v, vpi %v, optimum %v", turns, ahead, vpi, plan.Value())
	}
}

// By hand: an arm Beta(1,1) beside one that is known to pay ½ is worth E(q−½)⁺ = 1/8 of perfect information, and one pull
// E(q̄′−½)⁺ = 1/12. Pulls that cost more are not made, and those that cost less are, until they are not worth it.
func TestBudgetedPullsCost(t *testing.T) {
	for _, c := range []struct {
		allocation string
		budget     int
		cost       float64
		pulls      bool
	}{{"vpi", 50, 0.126, false}, {"vpi", 50, 0.124, true}, {"lookahead", 1, 0.084, false}, {"lookahead", 1, 0.083, true}} {
		b, _ := betaBeliefs(bandit.Beta{A: 1e9, B: 1e9}, bandit.Beta{A: 1, B: 1})
		p := costly{&budgeted{ranked: newRanked(b), budget: c.budget, allocation: c.allocation, cost: c.cost}}
		if arm := p.SelectArm(nil); c.pulls != (arm == 1) {
			t.Errorf("%+v: it selects arm %d", c, arm)
		}
		if made, stopped := p.Stopped(); made != 0 || stopped == c.pulls {
			t.Errorf("%+v: stopped %v after %d", c, stopped, made)
		}
	}
	for _, allocation := range []string{"vpi", "lookahead"} {
		before := 1000
		for _, cost := range []float64{1e-6, 1e-4, 1e-3, 1e-2, 0.5} { // the more they cost, the fewer pulls
			p := must.Get(New(Budgeted{Budget: new(400), Allocation: allocation, Cost: &cost}, BetaBelief{}, Task{Arms: 3, High: 1}, nil))(t)
			rng := newRNG(3)
			for range 500 {
				arm := p.SelectArm(nil)
				p.Update(arm, float64(rng.IntN(10)/(9-arm)), nil)
			}
			made, stopped := p.(Stopper).Stopped()
			if !stopped || made > before || cost == 0.5 && made > 0 || cost == 1e-2 && made == 0 {
				t.Errorf("%s, cost %g: %v after %d pulls, and with a smaller cost after %d", allocation, cost, stopped, made, before)
			}
			before = made
		}
	}
}

// TestBudgetedCommits: it stops learning, and biased-robin stays on a winner.
func TestBudgetedCommits(t *testing.T) {
	p := must.Get(New(Budgeted{Budget: new(6), Allocation: "biased-robin"}, BetaBelief{}, Task{Arms: 3, High: 1}, nil))(t)
	var arms []int
	for _, r := range []float64{1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 0} {
		arm := p.SelectArm(nil)
		arms = append(arms, arm)
		p.Update(arm, r, nil)
	}
	// Means after six pulls: 3/5, 1/3, 3/4.
	if !slices.Equal(arms, []int{0, 0, 0, 1, 2, 2, 2, 2, 2, 2, 2}) || !done(p) {
		t.Errorf("arms %v", arms)
	}
}

// TestGainAfter compares with the sum over the sequences of rewards.
func TestGainAfter(t *testing.T) {
	var plain func(d bandit.Beta, pulls int, x float64) float64
	plain = func(d bandit.Beta, pulls int, x float64) float64 {
		if pulls == 0 {
			return max(0, d.Mean()-x)
		}
		q := d.Mean()
		return q*plain(bandit.Beta{A: d.A + 1, B: d.B}, pulls-1, x) + (1-q)*plain(bandit.Beta{A: d.A, B: d.B + 1}, pulls-1, x)
	}
	for _, d := range []bandit.Beta{{A: 1, B: 1}, {A: 0.3, B: 2}, {A: 7, B: 5}} {
		for pulls := range 9 {
			for _, x := range []float64{0.1, 0.5, 0.62} {
				if got, want := gainAfter(d, pulls, x), plain(d, pulls, x); math.Abs(got-want) > 1e-13 {
					t.Errorf("gain of %v after %d pulls over %v is %v, want %v", d, pulls, x, got, want)
				}
			}
		}
	}
}

// done reports whether a policy will select one arm for ever.
func done(p Policy) bool {
	switch p := p.(type) {
	case *budgeted:
		return p.budget == 0
	case interface{ Done() bool }:
		return p.Done()
	}
	return false
}
