package options

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/bandit/policy"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
)

// oneState returns one-state models in which action a is worth values[a][k].
func oneState(t testing.TB, values [][]float64) []*mdp.Tabular {
	members := make([]*mdp.Tabular, len(values[0]))
	for k := range members {
		m := must.Get(mdp.Generate(mdp.Definition{States: 1, Actions: len(values)}, func(_, a int, row *mdp.Row) {
			row.Add(0, 1)
			row.Reward(values[a][k])
		}))(t)
		members[k] = m
	}
	return members
}

// arms is a bandit whose arms have populations, drawn like a policy of package
// policy draws them.
type arms struct {
	n, k        int
	populations []bandit.Population
}

func (b *arms) values() [][]float64 {
	v := make([][]float64, b.n)
	for a := range v {
		for k := range b.k {
			v[a] = append(v[a], b.populations[a].Identified(k))
		}
	}
	return v
}

// action says which arm a decision takes.
func action(red *Reduction, d Decision) int {
	return red.Candidates[d.Choice].Policy.(mdp.Deterministic)[0]
}

// ruleCase is a policy of package policy and the rule that is to decide alike.
type ruleCase struct {
	spec policy.Spec
	rule DeciderConfig
	// own hides from the policy that its beliefs are populations. It then samples every
	// one in turn, a member by its number. On populations as such it leaves out what
	// cannot win and draws by rank, and so uses the random numbers in another way
	// (policy.TestStochasticDistribution).
	own bool
}

// numbered is a population that is sampled by the numbers of members.
type numbered struct{ *bandit.Population }

func (p numbered) Sample(rng *rand.Rand) float64 { return p.Identified(rng.IntN(p.Len())) }

func cases(gamma, low float64) []ruleCase {
	h := bandit.Discounted(gamma)
	weights := policy.Horizon{Gamma: &gamma}
	algorithm1 := func(bound, compare string) policy.Spec {
		s := policy.Optimistic{Horizon: weights, Bound: bound, Compare: compare}
		if bound == "U" {
			s.LowerBound = &low
		}
		return s
	}
	algorithm2 := policy.OptimisticStochastic{Horizon: weights, LowerBound: &low}
	common := algorithm2
	common.Draw = "common"
	rule := func(r *Rule, bound bandit.IndexKind) DeciderConfig {
		return DeciderConfig{Horizon: h, Rule: r, Bound: bound, LowerBound: low}
	}
	stochastic := rule(RuleOptimisticStochastic, bandit.U)
	commonly := stochastic
	commonly.Common = true
	return []ruleCase{
		{spec: policy.Greedy{}, rule: rule(RuleNever, bandit.U)},
		{spec: algorithm1("U", "mean"), rule: rule(RuleOptimistic, bandit.U)},
		{spec: algorithm1("U+", "mean"), rule: rule(RuleOptimistic, bandit.UPlus)},
		{spec: algorithm1("V", "mean"), rule: rule(RuleOptimistic, bandit.V)},
		{spec: algorithm1("U+", "pairs"), rule: rule(RuleCommonModel, bandit.UPlus)},
		{spec: algorithm1("V", "pairs"), rule: rule(RuleCommonModel, bandit.V)},
		{spec: policy.Index{Horizon: weights, Bound: "U", LowerBound: &low}, rule: rule(RuleIndex, bandit.U)},
		{spec: policy.Index{Horizon: weights, Bound: "U+"}, rule: rule(RuleIndex, bandit.UPlus)},
		{spec: policy.Index{Horizon: weights}, rule: rule(RuleIndex, bandit.V)},
		{spec: common, rule: commonly},
		{algorithm2, stochastic, true},
	}
}

// With one state the reduction decides as the policies of bandits do, reward after
// reward, for any discount, lower bound, and number of members and arms.
func TestOneStateDecidesAsTheBandit(t *testing.T) {
	for i, c := range cases(0, 0) {
		t.Run(fmt.Sprintf("%v %v common=%v", c.rule.Rule.String(), c.rule.Bound, c.rule.Common), func(t *testing.T) {
			explored := 0
			for attempt := 0; attempt == 0 || explored == 0 && c.rule.Rule != RuleNever && attempt < 5; attempt++ { // few draws may explore nowhere
				rapid.Check(t, func(rt *rapid.T) { explored += oneStateRun(t, rt, i) })
			}
			if t.Logf("%d decisions explored", explored); explored == 0 && c.rule.Rule != RuleNever {
				t.Error("nothing was ever explored")
			}
		})
	}
}

// oneStateRun lets the i-th rule and policy decide and learn side by side.
func oneStateRun(t *testing.T, rt *rapid.T, i int) (explored int) {
	b := arms{n: rapid.IntRange(1, 6).Draw(rt, "arms"), k: rapid.IntRange(2, 20).Draw(rt, "members")}
	least := 0.0 // a discount of 0 is refused with other bounds than U
	if cases(0, 0)[i].rule.Bound != bandit.U {
		least = 0.01
	}
	gamma := 1 - math.Pow(10, -rapid.Float64Range(least, 4).Draw(rt, "-log10(1-gamma)"))
	low := rapid.Float64Range(-2, 0).Draw(rt, "b")
	c := cases(gamma, low)[i]
	seed := rapid.Uint64().Draw(rt, "seed")
	step := rapid.SampledFrom([]float64{0.01, 0.3}).Draw(rt, "step")

	spec := policy.PopulationBelief{Members: &b.k, Update: "bernoulli", Steps: policy.Steps{Step: &step}}
	task := policy.Task{Arms: b.n, Low: low, High: 1}
	draw := func() []bandit.Population {
		return must.Get(bandit.NewPopulations(b.n, b.k, bandit.Uniform{Lo: low, Hi: 1},
			bandit.PopulationConfig{Mode: bandit.BernoulliMask, Step: step}, newRNG(seed)))(rt)
	}
	b.populations = draw()
	pol, err := policy.New(c.spec, spec, task, newRNG(seed))
	if c.own {
		var learners []bandit.Learner
		for _, p := range draw() {
			learners = append(learners, numbered{&p})
		}
		pol, err = policy.NewOn(c.spec, learners, task)
	}
	if err != nil {
		rt.Fatal(err)
	}
	decider := must.Get(NewDecider(c.rule))(rt)
	rewards := newRNG(seed + 1)
	for i := range 15 {
		red := must.Get(reduce(oneState(t, b.values()), ReduceConfig{Kinds: []Kind{Constants}}))(rt)
		var p Problem
		red.At(&p, 0)
		p.Step = i
		d := must.Get(decider.Decide(&p, newRNG(uint64(i))))(rt)
		want := pol.SelectArm(newRNG(uint64(i)))
		if got := action(red, d); got != want {
			rt.Fatalf("decision %d takes arm %d, the policy arm %d: %+v\nvalues %v", i, got, want, d, b.values())
		}
		if d.Explore {
			explored++
		}
		reward := low + (1-low)*rewards.Float64()
		arm := rewards.IntN(b.n)
		pol.Update(arm, reward, newRNG(uint64(i)))
		b.populations[arm].Update(reward, newRNG(uint64(i)))
	}
	return explored
}

// Values from a coarse grid make ties: between means, between advantages, between
// indices. They go to the first arm, and to greedy before all others.
func TestOneStateTies(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n, k := rapid.IntRange(2, 5).Draw(rt, "arms"), rapid.SampledFrom([]int{1, 2, 4, 8}).Draw(rt, "members")
		gamma := rapid.SampledFrom([]float64{0.5, 0.75, 0.9375}).Draw(rt, "gamma")
		seed := rapid.Uint64().Draw(rt, "seed")
		coarse := coarse{}
		populations := must.Get(bandit.NewPopulations(n, k, coarse, bandit.PopulationConfig{}, newRNG(seed)))(rt)
		b := arms{n, k, populations}
		red := must.Get(reduce(oneState(t, b.values()), ReduceConfig{Kinds: []Kind{Constants}}))(rt)
		greedy := 0
		for a := range populations {
			if populations[a].Mean() > populations[greedy].Mean() {
				greedy = a
			}
		}
		if got := red.Candidates[0].Policy.(mdp.Deterministic)[0]; got != greedy {
			rt.Fatalf("greedy arm %d, want %d", got, greedy)
		}
		var p Problem
		red.At(&p, 0)
		h := bandit.Discounted(gamma)
		c := bandit.Comparison{Known: populations[greedy].Mean()}

		d := must.Get(Decide(DeciderConfig{Horizon: h, Rule: RuleOptimistic}, &p, nil))(rt)
		want, best := greedy, 0.0
		for a := range populations {
			if a == greedy {
				continue
			}
			if _, adv := bandit.BestDelta(&populations[a], c, h.Share(1)); bandit.Explore(h, &populations[a], c) && adv > best+1e-12 {
				want, best = a, adv
			}
		}
		if got := action(red, d); got != want {
			rt.Fatalf("Algorithm 1 takes arm %d, want %d: %v", got, want, b.values())
		}
		table := bandit.NewIndexTable(bandit.V, h.Share(1), k)
		d = must.Get(Decide(DeciderConfig{Horizon: h, Rule: RuleIndex, Bound: bandit.V}, &p, nil))(rt)
		want = greedy
		for a := range populations {
			if table.Index(&populations[a], 0) > table.Index(&populations[want], 0) {
				want = a
			}
		}
		if got := action(red, d); got != want {
			rt.Fatalf("index takes arm %d, want %d: %v", got, want, b.values())
		}
	})
}

// coarse has few values, so that ties are common.
type coarse struct{ bandit.Uniform }

func (coarse) Sample(rng *rand.Rand) float64 { return float64(rng.IntN(5)) / 4 }

// Algorithm 2 draws a member for each option. Its choices have the distribution that all
// combinations of draws give, and so have those of the policy of bandits. Each makes
// 20,000 draws, and both stay within 5 standard errors (false alarm below 1e-4).
func TestStochasticDistribution(t *testing.T) {
	const n, k, draws = 3, 4, 20_000
	gamma, low := 0.9, 0.0
	members := k
	spec := policy.OptimisticStochastic{Horizon: policy.Horizon{Gamma: &gamma}, LowerBound: &low}
	for seed := range uint64(5) {
		pol := must.Get(policy.New(spec, policy.PopulationBelief{Members: &members}, policy.Task{Arms: n, High: 1}, newRNG(seed)))(t)
		populations := must.Get(bandit.NewPopulations(n, k, bandit.Uniform{Lo: 0, Hi: 1}, bandit.PopulationConfig{}, newRNG(seed)))(t)
		b := arms{n, k, populations}
		red := must.Get(reduce(oneState(t, b.values()), ReduceConfig{Kinds: []Kind{Constants}}))(t)
		greedy := red.Candidates[0].Policy.(mdp.Deterministic)[0]
		q := populations[greedy].Mean()
		var exact [n]float64
		for combination := range k * k * k {
			best, chosen := 0.0, greedy
			for a, rest := 0, combination; a < n; a, rest = a+1, rest/k {
				if a == greedy {
					continue
				}
				x := populations[a].Member(rest % k)
				p := populations[a].Exceed(x)
				if adv := (x-q)*p - (1-p)*(1-gamma)*(q-low); adv > best+1e-15 {
					best, chosen = adv, a
				}
			}
			exact[chosen] += 1 / float64(k*k*k)
		}
		d := must.Get(NewDecider(DeciderConfig{Horizon: bandit.Discounted(gamma), Rule: RuleOptimisticStochastic}))(t)
		var p Problem
		red.At(&p, 0)
		var ours, theirs [n]int
		r1, r2 := newRNG(seed+100), newRNG(seed+200)
		for range draws {
			dec := must.Get(d.Decide(&p, r1))(t)
			ours[action(red, dec)]++
			theirs[pol.SelectArm(r2)]++
		}
		for a := range n {
			se := math.Sqrt(exact[a] * (1 - exact[a]) / draws)
			for who, count := range map[string]int{"Decide": ours[a], "the policy": theirs[a]} {
				if math.Abs(float64(count)/draws-exact[a]) > 5*se {
					t.Errorf("seed %d: %s takes arm %d in %d of %d, expected %v", seed, who, a, count, draws, exact[a])
				}
			}
		}
	}
}

// Refilled populations are new ones, to the bit.
func TestFill(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		k := rapid.IntRange(1, 40).Draw(rt, "k")
		p := newPopulation(k)
		value := rapid.OneOf(rapid.Float64Range(-3, 3), rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1, -1, 1e300, -1e-300, 5e-324}))
		for range 3 {
			v := rapid.SliceOfN(value, k, k).Draw(rt, "values")
			fill(p, v)
			want := must.Get(bandit.NewPopulation(v, bandit.PopulationConfig{}))(rt)
			for m := range k {
				if p.Member(m) != want.Member(m) {
					rt.Fatalf("member %d of %v is %v, want %v", m, v, p.Member(m), want.Member(m))
				}
			}
			if p.Mean() != want.Mean() {
				rt.Fatalf("mean of %v is %v, want %v", v, p.Mean(), want.Mean())
			}
		}
	})
}

// With one state, the values of options are those of the arms, and the commitment is
// one step.
func TestOneStateValues(t *testing.T) {
	values := [][]float64{{0.3, 0.6}, {0.5, 0.1}}
	red := must.Get(reduce(oneState(t, values), ReduceConfig{Kinds: []Kind{Members, Constants, Uniform}}))(t)
	names := []string{}
	for _, c := range red.Candidates {
		names = append(names, c.Name)
	}
	if want := []string{"greedy", "member 0", "uniform"}; !slices.Equal(names, want) {
		t.Errorf("candidates %v, want %v", names, want)
	}
	for x, want := range [][]float64{{0.3, 0.6}, {0.5, 0.1}, {0.4, 0.35}} {
		for k, v := range red.Values(x, 0) {
			if math.Abs(v-want[k]) > 1e-15 {
				t.Errorf("values of %s: %v, want %v", names[x], red.Values(x, 0), want)
			}
		}
	}
}
