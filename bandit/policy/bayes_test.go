package policy

import (
	"math"
	"testing"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/internal/vectors"
)

// TestClock: with n pulls in all and k made, an exploration of T takes the share
// T/(n−k) of those left, and all of them from the end on.
func TestClock(t *testing.T) {
	c := newClock(bandit.Finite(9), 3)
	for _, want := range []float64{0.3, 3. / 9, 3. / 8, 3. / 7, 0.5, 0.6, 0.75, 1, 1, 1, 1, 1, 1} {
		vectors.Close(t, "share", c.share, want, 1e-15, 0)
		c.tick()
	}
	c = newClock(bandit.Discounted(0.9), 2)
	for range 3 {
		vectors.Close(t, "share", c.share, 1-0.9*0.9, 1e-15, 0)
		c.tick()
	}
	c = newClock(bandit.DiscountedFinite(0.5, 2), 1) // weights 1, 1/2, 1/4
	for _, want := range []float64{4. / 7, 2. / 3, 1, 1} {
		vectors.Close(t, "share", c.share, want, 1e-15, 0)
		c.tick()
	}
}

// exactly returns the expected weighted sum of rewards of a policy that does not
// draw, by dynamic programming over all its decisions. It is made afresh in
// every state, for what is then left of the horizon.
func exactly(t *testing.T, priors []bandit.Beta, h bandit.Horizon, pulls int, policy func(b beliefs, betas []bandit.Beta, c clock) Policy) float64 {
	t.Helper()
	return must.Get(bandit.PolicyValue(priors, h, pulls, func(counts []int, _ []float64) int {
		ds := make([]bandit.Beta, len(priors))
		made := 0
		for i := range ds {
			won, lost := counts[2*i], counts[2*i+1]
			ds[i] = bandit.Beta{A: priors[i].A + float64(won), B: priors[i].B + float64(lost)}
			made += won + lost
		}
		b, betas := betaBeliefs(ds...)
		return policy(b, betas, newClock(h.After(made), 1)).SelectArm(nil)
	}))(t)
}

// TestExactBayesValues checks the table of docs/theory.md §1.9: two Beta(1,1)
// arms, 20 pulls. Pairwise V meets two knife-edges, of advantage zero, where it
// exploits; in exact rational arithmetic its value is 11.7661495.
func TestExactBayesValues(t *testing.T) {
	pair := func(kind bandit.IndexKind) func(b beliefs, _ []bandit.Beta, c clock) Policy {
		return func(b beliefs, _ []bandit.Beta, c clock) Policy { return newOptimistic(b, c, kind, 0, false) }
	}
	index := func(kind bandit.IndexKind) func(b beliefs, _ []bandit.Beta, c clock) Policy {
		return func(b beliefs, _ []bandit.Beta, c clock) Policy { return newIndex(b, c, kind, 0) }
	}
	for _, c := range []struct {
		name   string
		policy func(b beliefs, betas []bandit.Beta, c clock) Policy
		want   float64
	}{
		{"greedy", func(b beliefs, _ []bandit.Beta, _ clock) Policy { return &greedy{newRanked(b)} }, 12.3311},
		{"pairwise U", pair(bandit.U), 12.3895},
		{"pairwise U+", pair(bandit.UPlus), 12.0645},
		{"pairwise V", pair(bandit.V), 11.7661495},
		{"index U", index(bandit.U), 12.4258},
		{"index U+", index(bandit.UPlus), 12.4208},
		{"index V", index(bandit.V), 12.4299},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			priors := []bandit.Beta{{A: 1, B: 1}, {A: 1, B: 1}}
			if got := exactly(t, priors, bandit.Finite(19), 20, c.policy); math.Abs(got-c.want) > 5e-5 {
				t.Errorf("expected reward %.6f, want %.4f", got, c.want)
			}
		})
	}
}

// TestPlannedIsOptimal enumerates all ways to play on a tiny horizon.
func TestPlannedIsOptimal(t *testing.T) {
	const pulls = 4
	var best func(ds []bandit.Beta, left int) float64
	best = func(ds []bandit.Beta, left int) float64 {
		if left == 0 {
			return 0
		}
		top := 0.0
		for i, d := range ds {
			won, lost := append([]bandit.Beta{}, ds...), append([]bandit.Beta{}, ds...)
			won[i].A++
			lost[i].B++
			q := d.Mean()
			top = max(top, q*(1+best(won, left-1))+(1-q)*best(lost, left-1))
		}
		return top
	}
	prior := bandit.Beta{A: 1, B: 2}
	want := best([]bandit.Beta{prior, prior, prior}, pulls)
	m := must.Get(NewMaker(BackwardInduction{Horizon: Horizon{Pulls: new(pulls)}}, BetaBelief{A: new(1.0), B: new(2.0)}, Task{Arms: 3, High: 1}))(t)
	// The policy itself, run through every sequence of rewards.
	var value func(rewards []float64, probability float64) float64
	value = func(rewards []float64, probability float64) float64 {
		p := m.New(nil).(*planned)
		sum := 0.0
		for _, r := range rewards {
			p.Update(p.SelectArm(nil), r, nil)
			sum += r
		}
		if len(rewards) == pulls {
			return probability * sum
		}
		q := p.mean(p.SelectArm(nil))
		rewards = rewards[:len(rewards):len(rewards)]
		return value(append(rewards, 1), probability*q) + value(append(rewards, 0), probability*(1-q))
	}
	vectors.Close(t, "value of the plan followed", value(nil, 1), want, 1e-12, 0)
}

// TestPlannedAfterItsPlan is greedy, and counts fractions as chances.
func TestPlannedAfterItsPlan(t *testing.T) {
	p := must.Get(New(BackwardInduction{Horizon: Horizon{Pulls: new(3)}}, nil, Task{Arms: 2, High: 1}, nil))(t)
	rng := newRNG(1)
	for range 50 {
		arm := p.SelectArm(rng)
		p.Update(arm, 0.7, rng)
	}
	d := p.(*planned)
	if p.SelectArm(rng) != d.Greedy() {
		t.Error("the plan is over, but the greedy arm is not selected")
	}
	if n := d.counts[0] + d.counts[1] + d.counts[2] + d.counts[3]; n != 50 {
		t.Errorf("counted %d rewards of 50", n)
	}
}

// TestGittinsIsOptimal compares exact discounted values of policies on two arms.
// After the pulls that are followed all commit to the larger mean, which costs
// the optimal one at most what ErrorBound says.
func TestGittinsIsOptimal(t *testing.T) {
	const gamma, pulls = 0.8, 24
	h := bandit.Discounted(gamma)
	priors := []bandit.Beta{{A: 4, B: 3}, {A: 0.5, B: 0.5}}
	plan := must.Get(bandit.NewPlan(priors, h, pulls, 0))(t)
	table := newGittinsTable(gamma)
	best := exactly(t, priors, h, pulls, func(_ beliefs, betas []bandit.Beta, _ clock) Policy { return newGittins(betas, table) })
	slack := plan.ErrorBound() + 1e-5 // indices are within 1e-6
	if best > plan.Value()+1e-12 || best < plan.Value()-slack {
		t.Errorf("Gittins earns %v, the optimum is %v + at most %v", best, plan.Value(), plan.ErrorBound())
	}
	for name, policy := range map[string]func(b beliefs, betas []bandit.Beta, c clock) Policy{
		"greedy":  func(b beliefs, _ []bandit.Beta, _ clock) Policy { return &greedy{newRanked(b)} },
		"vpi":     func(b beliefs, _ []bandit.Beta, _ clock) Policy { return newVPI(b) },
		"index V": func(b beliefs, _ []bandit.Beta, c clock) Policy { return newIndex(b, c, bandit.V, 0) },
		"knowledge gradient": func(b beliefs, _ []bandit.Beta, c clock) Policy {
			return &knowledgeGradient{timed{newRanked(b), c}}
		},
	} {
		value := exactly(t, priors, h, pulls, policy)
		t.Logf("%-18s %.6f of %.6f", name, value, best)
		if value > best+slack {
			t.Errorf("%s earns %v, more than Gittins' %v", name, value, best)
		}
	}
	if worst := exactly(t, priors, h, pulls, func(b beliefs, _ []bandit.Beta, _ clock) Policy { return &greedy{newRanked(b)} }); worst > best-slack {
		t.Errorf("greedy earns %v: the comparison with Gittins' %v shows nothing", worst, best)
	}
}

// TestGittinsStays follows the lazy evaluation through play: the arm selected
// always has the largest index.
func TestGittinsStays(t *testing.T) {
	table := newGittinsTable(0.7)
	_, betas := betaBeliefs(make([]bandit.Beta, 5)...)
	for i := range betas {
		betas[i] = bandit.Beta{A: 1, B: 1 + float64(i%2)}
	}
	g := newGittins(betas, table)
	rng := newRNG(2)
	for step := range 400 {
		arm := g.SelectArm(nil)
		top := table.index(betas[argmax(5, func(i int) float64 { return table.index(betas[i]) })])
		if got := table.index(betas[arm]); got < top-2e-6 {
			t.Fatalf("step %d: selected an arm of index %v, not %v", step, got, top)
		}
		if rng.IntN(5) == 0 {
			arm = rng.IntN(5)
		}
		g.Update(arm, float64(rng.IntN(2)), nil)
	}
}

// TestGittinsOfOldArm pulls another arm while the best one's index is old.
func TestGittinsOfOldArm(t *testing.T) {
	_, betas := betaBeliefs(bandit.Beta{A: 1, B: 1}, bandit.Beta{A: 1, B: 1})
	g := newGittins(betas, newGittinsTable(0.7))
	for _, arm := range []int{0, 0, 1} {
		g.Update(arm, 1, nil)
	}
	if got := g.SelectArm(nil); got != 0 {
		t.Errorf("selected arm %d with one success, not the one with two", got)
	}
}

// TestKnowledgeGradientOfOnePull: with two pulls left it is optimal.
func TestKnowledgeGradientOfOnePull(t *testing.T) {
	for _, priors := range [][]bandit.Beta{
		{{A: 1, B: 1}, {A: 1, B: 1}},
		{{A: 3, B: 2}, {A: 1, B: 1}, {A: 0.5, B: 0.5}},
		{{A: 10, B: 8}, {A: 1, B: 1.2}, {A: 2, B: 2}},
	} {
		plan := must.Get(bandit.NewPlan(priors, bandit.Finite(1), 2, 0))(t)
		got := exactly(t, priors, bandit.Finite(1), 2, func(b beliefs, _ []bandit.Beta, c clock) Policy {
			return &knowledgeGradient{timed{newRanked(b), c}}
		})
		vectors.Close(t, "value of the knowledge gradient", got, plan.Value(), 1e-12, 0)
	}
}

// TestGainAfterOneMore compares with the mean after a simulated reward, within
// six standard errors.
func TestGainAfterOneMore(t *testing.T) {
	rng := newRNG(4)
	for name, b := range map[string]bandit.Learner{
		"beta":         &bandit.Beta{A: 2, B: 3},
		"gaussian":     &bandit.Gaussian{Mu: 1, Sigma: 2, Noise: 3},
		"normal-gamma": &bandit.NormalGamma{Mu: -1, Lambda: 2, Alpha: 6, Beta: 4},
	} {
		const n = 200_000
		var gain, square float64
		x := b.Mean() + 0.1
		for range n {
			var mean float64
			switch d := b.(type) {
			case *bandit.Beta:
				e := *d
				r := 0.0
				if rng.Float64() < d.Sample(rng) {
					r = 1
				}
				e.Update(r, rng)
				mean = e.Mean()
			case *bandit.Gaussian:
				e := *d
				e.Update(d.Sample(rng)+d.Noise*rng.NormFloat64(), rng)
				mean = e.Mean()
			case *bandit.NormalGamma:
				// The precision and the mean given it, then a reward.
				e := *d
				g := 0.0
				for range int(d.Alpha) {
					g += rng.ExpFloat64()
				}
				tau := g / d.Beta
				q := d.Mu + rng.NormFloat64()/math.Sqrt(d.Lambda*tau)
				e.Update(q+rng.NormFloat64()/math.Sqrt(tau), rng)
				mean = e.Mean()
			}
			y := max(0, mean-x)
			gain += y / n
			square += y * y / n
		}
		se := math.Sqrt((square - gain*gain) / n)
		if want := gainAfterOneMore(b, x); math.Abs(gain-want) > 6*se {
			t.Errorf("%s: E(mean − x)⁺ = %v ± %v, want %v", name, gain, se, want)
		}
	}
}

func TestReference(t *testing.T) {
	f := must.Get(vectors.Read())(t)
	vectors.Run(t, f, "alg2", checkAlg2)
	vectors.Run(t, f, "gittins", checkGittins)
	vectors.Run(t, f, "bayes_two_armed", checkBayesTwoArmed)
}

func checkAlg2(t *testing.T, in struct {
	Populations [][]float64
	DrawIndex   []int `json:"draw_index"`
	Gamma, B    float64
}, want struct{ J, Action int }) {
	b := populations(t, in.Populations...)
	ranks := make([]int, b.len())
	for i := range ranks {
		if in.DrawIndex[i] >= 0 {
			ranks[i] = place(&b.populations[i], in.DrawIndex[i])
		}
	}
	c := newClock(bandit.Discounted(in.Gamma), 1)
	p := newStochasticPopulation(b, c, in.B, false)
	if got := p.Greedy(); got != want.J {
		t.Errorf("greedy arm %d, want %d", got, want.J)
	}
	if got := p.SelectArm(scripted(&p.members, p.bounds.entries, want.J, ranks)); got != want.Action {
		t.Errorf("selected arm %d, want %d", got, want.Action)
	}
	pairs := newStochasticPairs(b, c, in.B, false, withMean, false)
	order := make([]entry, b.len())
	for i := range order {
		order[i].arm = int32(i)
	}
	if got := pairs.SelectArm(scripted(&pairs.members, order, want.J, ranks)); got != want.Action {
		t.Errorf("arm by arm: selected arm %d, want %d", got, want.Action)
	}
}

func checkGittins(t *testing.T, in struct{ A, B, Gamma float64 }, want struct{ Gittins float64 }) {
	got := newGittinsTable(in.Gamma).index(bandit.Beta{A: in.A, B: in.B})
	vectors.Close(t, "index that the policy goes by", got, want.Gittins, 0, 1e-6)
}

func checkBayesTwoArmed(t *testing.T, in struct {
	A1, B1, A2, B2 float64
	Pulls          int
}, want struct {
	Value       float64
	GreedyValue *float64 `json:"greedy_value"`
	BestAction  *int     `json:"best_action"`
}) {
	priors := []bandit.Beta{{A: in.A1, B: in.B1}, {A: in.A2, B: in.B2}}
	h := bandit.Finite(in.Pulls - 1)
	got := exactly(t, priors, h, in.Pulls, func(b beliefs, _ []bandit.Beta, _ clock) Policy { return &greedy{newRanked(b)} })
	if want.GreedyValue != nil {
		vectors.Close(t, "value of greedy", got, *want.GreedyValue, 0, 1e-10)
	}

	plan := must.Get(bandit.NewPlan(priors, h, in.Pulls, 0))(t)
	got = must.Get(bandit.PolicyValue(priors, h, in.Pulls, func(counts []int, _ []float64) int {
		b, _ := betaBeliefs(priors...)
		made := counts[0] + counts[1] + counts[2] + counts[3]
		p := &planned{ranked: newRanked(b), plan: plan, left: in.Pulls - made, counts: counts}
		arm := p.SelectArm(nil)
		if made == 0 && want.BestAction != nil && arm != *want.BestAction {
			t.Errorf("first arm %d, want %d", arm, *want.BestAction)
		}
		return arm
	}))(t)
	vectors.Close(t, "value of the plan", got, want.Value, 0, 1e-10)
}
