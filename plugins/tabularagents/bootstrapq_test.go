package tabularagents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/options"
	"github.com/rlrun/rlrun/plugins/internal/agenttest"
	"github.com/rlrun/rlrun/plugins/internal/finite"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
)

// With one member that learns from everything it is Q-learning, draw for draw and
// to the bit.
func TestOneMemberIsQLearning(t *testing.T) {
	for _, tt := range []struct{ env, ensemble, values string }{
		{`{"limit":0}`, ``, `,"step":0.1`},
		{`{"limit":20}`, `,"schedule":"harmonic","prior_weight":0`, `,"schedule":"harmonic"`},
		{`{"limit":20}`, `,"schedule":"harmonic","prior_weight":0,"power":0.7`, `,"schedule":"harmonic","power":0.7`},
	} {
		metrics := []result.Metric{result.Reward, result.Regret}
		grid := loop.LogGrid(50, 3000)
		one := play(t, "riverswim", tt.env, "bootstrap-q", `{"replays":0,"members":1,"update":"all","low":2,"high":2,"behaviour":"mean","epsilon":0.3`+tt.ensemble+`}`, 0, 3, 3000, grid, metrics...)
		want := play(t, "riverswim", tt.env, "q-learning", `{"initial":2,"epsilon":0.3`+tt.values+`}`, 0, 3, 3000, grid, metrics...)
		for i := range want {
			if !slices.Equal(one[i].Curves[result.Reward], want[i].Curves[result.Reward]) {
				t.Errorf("%s: run %d differs", tt.values, i)
			}
		}
		a, _ := trained(t, "riverswim", tt.env, "bootstrap-q", `{"replays":0,"members":1,"update":"all","low":2,"high":2,"behaviour":"mean","epsilon":0.3`+tt.ensemble+`}`, 3000)
		b, _ := trained(t, "riverswim", tt.env, "q-learning", `{"initial":2,"epsilon":0.3`+tt.values+`}`, 3000)
		if x, y := a.(*bootstrapQ), b.(*qLearner).table.q; !slices.Equal(x.q, y) || !slices.Equal(x.mean, y) {
			t.Errorf("%s: values %v, want %v", tt.values, x.q, y)
		}
	}
}

// newEnsemble returns an ensemble that has been started.
func newEnsemble(t testing.TB, params string, spec framework.Spec, states, actions int) *ensemble {
	t.Helper()
	p := defaultEnsemble()
	p.Replays = 0
	must.Do(t, json.Unmarshal([]byte(params), &p))
	task := finite.Task{States: states, Actions: actions, Spec: spec}
	must.Do(t, p.check(task))
	x := &ensemble{}
	x.init(&p, task)
	x.start(7)
	return x
}

// Everything that is kept up to date beside the values follows from them; each member
// moves by its own step towards its own target.
func TestEnsembleSteps(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		update := rapid.SampledFrom([]string{"all", "drawn", "bernoulli", "exponential", "poisson"}).Draw(rt, "update")
		schedule := rapid.SampledFrom([]string{"constant", "harmonic"}).Draw(rt, "schedule")
		states, actions, k := rapid.IntRange(1, 3).Draw(rt, "states"), rapid.SampledFrom([]int{1, 2, 3, fewActions + 1}).Draw(rt, "actions"), rapid.IntRange(1, 5).Draw(rt, "members")
		x := newEnsemble(t, fmt.Sprintf(`{"members":%d,"update":%q,"schedule":%q,"gamma":0.5,"power":0.9}`, k, update, schedule), agenttest.Finite, states, actions)
		for range rapid.IntRange(1, 20).Draw(rt, "steps") {
			i, next := rapid.IntRange(0, states*actions-1).Draw(rt, "pair"), rapid.IntRange(0, states-1).Draw(rt, "next")
			r, gamma := rapid.Float64Range(-1, 1).Draw(rt, "reward"), rapid.SampledFrom([]float64{0, 0.5}).Draw(rt, "gamma")
			before := slices.Clone(x.q)
			x.learn(i, r, gamma, next, -1)
			for m := range k {
				after := math.Inf(-1)
				for a := range actions {
					after = max(after, before[(next*actions+a)*k+m])
				}
				old := before[i*k+m]
				if want := old + x.size[m]*(r+gamma*after-old); math.Abs(x.q[i*k+m]-want) > 1e-12 {
					rt.Fatalf("member %d: %v, want %v", m, x.q[i*k+m], want)
				}
				if x.size[m] < 0 || x.size[m] > 1 {
					rt.Fatalf("step size %v", x.size[m])
				}
				before[i*k+m] = x.q[i*k+m]
			}
			if !slices.Equal(before, x.q) {
				rt.Fatal("another pair has changed")
			}
			for s := range states {
				for a := range actions {
					sum := 0.0
					for m := range k {
						sum += x.q[(s*actions+a)*k+m]
					}
					if math.Abs(x.means(s)[a]-sum/float64(k)) > 1e-12 {
						rt.Fatalf("mean %v, want %v", x.means(s)[a], sum/float64(k))
					}
				}
				for m := range k {
					if top := x.best(s*actions, m); x.top[s*k+m] != top || x.values(s)[x.prefers(m, s)*k+m] != top {
						rt.Fatalf("member %d's best is %v, not %v", m, top, x.top[s*k+m])
					}
				}
			}
		}
	})
}

// The weights of steps have the mean and variance of their distributions, and those of
// different members are independent. 10,000 steps of 70 members. Each of the 18 bounds is
// 5 standard errors wide: a false alarm in about 100,000 seeds.
func TestWeights(t *testing.T) {
	for _, tt := range []struct {
		params         string
		mean, variance float64
		fourth         float64 // E(w-mean)⁴
	}{
		{`"update":"all"`, 1, 0, 0},
		{`"update":"bernoulli"`, 0.5, 0.25, 1. / 16},
		{`"update":"bernoulli","mask":0.1`, 0.1, 0.09, 0.1*math.Pow(0.9, 4) + 0.9*1e-4},
		{`"update":"exponential"`, 1, 1, 9},
		{`"update":"poisson"`, 1, 1, 4},
		{`"update":"drawn"`, 1. / 70, 69. / 4900, 1. / 70},
	} {
		x := newEnsemble(t, `{"members":70,"schedule":"harmonic",`+tt.params+`}`, agenttest.Finite, 1, 1)
		const steps = 10_000
		sum, squares, products := 0.0, 0.0, 0.0
		last := make([]float64, 70)
		for range steps {
			copy(last, x.n)
			x.sizes(0, -1)
			for k := range last {
				last[k] = x.n[k] - last[k]
			}
			for k, w := range last {
				sum += w
				squares += (w - tt.mean) * (w - tt.mean)
				products += (w - tt.mean) * (last[(k+1)%70] - tt.mean)
			}
		}
		n := 70.0 * steps
		if got := sum / n; math.Abs(got-tt.mean) > 5*math.Sqrt(tt.variance/n)+1e-12 {
			t.Errorf("%s: mean %v, want %v", tt.params, got, tt.mean)
		}
		if got := squares / n; math.Abs(got-tt.variance) > 5*math.Sqrt(tt.fourth/n)+1e-12 {
			t.Errorf("%s: variance %v, want %v", tt.params, got, tt.variance)
		}
		covariance := 0.0
		if strings.Contains(tt.params, "drawn") {
			covariance = -1. / 4900
		}
		if got := products / n; math.Abs(got-covariance) > 5*tt.variance/math.Sqrt(n)+1e-12 {
			t.Errorf("%s: neighbours' covariance %v, want %v", tt.params, got, covariance)
		}
	}
}

// With harmonic steps and γ = 0 a member is the weighted mean of the rewards it has
// seen and of its first value.
func TestHarmonicIsTheWeightedMean(t *testing.T) {
	for _, update := range []string{"all", "drawn", "bernoulli", "exponential", "poisson"} {
		x := newEnsemble(t, fmt.Sprintf(`{"members":5,"update":%q,"schedule":"harmonic","prior_weight":2,"gamma":0}`, update), agenttest.Finite, 1, 1)
		sum, weight := make([]float64, 5), make([]float64, 5)
		for k := range sum {
			sum[k], weight[k] = 2*x.q[k], 2
		}
		rng := rand.New(rand.NewPCG(1, 1))
		for range 200 {
			r := rng.NormFloat64()
			before := slices.Clone(x.n)
			x.learn(0, r, 0, 0, -1)
			for k := range sum {
				w := x.n[k] - before[k]
				sum[k] += w * r
				weight[k] += w
			}
		}
		for k := range sum {
			if want := sum[k] / weight[k]; math.Abs(x.q[k]-want) > 1e-12 {
				t.Errorf("%s, member %d: %v, want %v", update, k, x.q[k], want)
			}
		}
	}
}

// Members start from the prior: 16 × 6,000 draws, within 5 standard errors.
func TestPriors(t *testing.T) {
	half := agenttest.Finite
	half.RewardLow, half.RewardHigh = -1, 3
	for _, tt := range []struct {
		params   string
		mean, sd float64
	}{
		{`{"gamma":0.5}`, 2, 8 / math.Sqrt(12)},
		{`{"low":1,"high":3}`, 2, 2 / math.Sqrt(12)},
		{`{"prior":"normal","mean":-1,"sd":2}`, -1, 2},
		{`{"gamma":1}`, 0.5, 1 / math.Sqrt(12)},
	} {
		x := newEnsemble(t, tt.params, half, 2000, 3)
		sum, squares := 0.0, 0.0
		for _, v := range x.q {
			sum += v
			squares += (v - tt.mean) * (v - tt.mean)
		}
		n := float64(len(x.q))
		if got := sum / n; math.Abs(got-tt.mean) > 5*tt.sd/math.Sqrt(n) {
			t.Errorf("%s: mean %v, want %v", tt.params, got, tt.mean)
		}
		if got := math.Sqrt(squares / n); math.Abs(got-tt.sd) > 5*tt.sd/math.Sqrt(n) {
			t.Errorf("%s: deviation %v, want %v", tt.params, got, tt.sd)
		}
	}
}

// One state at γ = 0: the problem is the same as with the bandit's populations after the
// same rewards, and so is every decision.
func TestOneStateIsTheBandit(t *testing.T) {
	spec := agenttest.Finite
	x := newBootstrapQ(t, `{"members":9,"update":"all","gamma":0,"step":0.2,"behaviour":"mean","epsilon":1}`, spec, 1, 4, nil)
	x.Start(3)
	arms := make([]*bandit.Population, 4)
	for a := range arms {
		var err error
		if arms[a], err = bandit.NewPopulation(x.values(0)[a*9:(a+1)*9], bandit.PopulationConfig{Step: 0.2}); err != nil {
			t.Fatal(err)
		}
	}
	rng := rand.New(rand.NewPCG(4, 4))
	rule := options.DeciderConfig{Rule: options.RuleIndex, Bound: bandit.V, Horizon: bandit.Discounted(0.9), LowerBound: -1}
	explored := 0
	a := x.Begin(0)
	for step := range 60 {
		r := math.Tanh(rng.NormFloat64() + float64(a)/4)
		arms[a].Update(r, nil)
		x.Learn(r, 0)
		var p options.Problem
		x.SetObservation(0)
		must.Do(t, x.DescribeDecision(&p))
		p.Hold = 1
		greedy := 0
		for b := range arms {
			if arms[b].Mean() > arms[greedy].Mean() {
				greedy = b
			}
			for k := range 9 {
				if got, want := x.values(0)[b*9+k], arms[b].Identified(k); math.Abs(got-want) > 1e-12 {
					t.Fatalf("step %d: arm %d, member %d: %v, want %v", step, b, k, got, want)
				}
			}
		}
		if x.greedy(0) != greedy {
			t.Fatalf("step %d: action %d is greedy, not %d", step, x.greedy(0), greedy)
		}
		d := must.Get(options.Decide(rule, &p, nil))(t)
		table := bandit.NewIndexTable(bandit.V, 0.1, 9)
		want := greedy
		for b := range arms {
			if table.Index(arms[b], -1) > table.Index(arms[want], -1)+1e-12 {
				want = b
			}
		}
		if a = x.Choose(d.Choice); a != want {
			t.Fatalf("step %d: action %d, the bandit's is %d (%+v)", step, a, want, d)
		}
		if d.Explore {
			explored++
		}
	}
	if explored == 0 || explored == 60 {
		t.Errorf("explored %d times", explored)
	}
}

// plain returns parameters of bootstrap-q without replays.
func plain(params string) string {
	if params == "" || params == "{}" {
		return `{"replays":0}`
	}
	return strings.Replace(params, "{", `{"replays":0,`, 1)
}

// newBootstrapQ returns a learner without replays to which the kinds of options have been
// offered.
func newBootstrapQ(t testing.TB, params string, spec framework.Spec, states, actions int, kinds []options.Kind) *bootstrapQ {
	t.Helper()
	spec.Observation, spec.Action = space.Discrete{N: int64(states)}, space.Discrete{N: int64(actions)}
	a := must.Get(BootstrapQ().OpenAgent(context.Background(), json.RawMessage(plain(params)), spec, 1))(t)
	must.Do(t, a.Abilities().Options.SetOptionKinds(context.Background(), kinds))
	return lanes.Learners[int](a)[0].(*bootstrapQ)
}

// Following an option takes its actions, in every state, until another is chosen.
func TestFollowedOptions(t *testing.T) {
	kinds := []options.Kind{options.Members, options.Constants, options.Deviations, options.RecencyBonus, options.CountBonus, options.Uniform, options.Repeats}
	x := newBootstrapQ(t, `{"kappa":1e9,"gamma":0.5,"update":"all"}`, agenttest.Finite, 5, 3, kinds)
	x.Start(1)
	s := 0
	x.Begin(s)
	x.Learn(0, 2)
	const state = 2
	for _, kind := range kinds {
		for of := range 3 {
			x.executor.ExecuteOption(options.TableOption{Kind: kind, Of: of})
			seen := [3]int{}
			longest, run, last := 0, 0, -1
			for n := range 300 {
				s := (state + n) % 5
				preferred, rarest, oldest := x.prefers(of, s), 0, 0
				for a := range 3 {
					if x.visits.Age(s, a) > x.visits.Age(s, oldest) {
						oldest = a
					}
					if x.visits.Count(s, a) < x.visits.Count(s, rarest) {
						rarest = a
					}
				}
				a := x.Act(s)
				if run++; a != last {
					run, last = 1, a
				}
				longest = max(longest, run)
				seen[a]++
				want := map[options.Kind]int{
					options.Members: preferred, options.Constants: of, options.Deviations: x.greedy(s),
					options.RecencyBonus: oldest, options.CountBonus: rarest, options.Uniform: a, options.Repeats: a,
				}[kind]
				if kind == options.Deviations && n == 0 {
					want = of
				}
				if a != want {
					t.Fatalf("%v %d, step %d: action %d, want %d", kind, of, n, a, want)
				}
			}
			// A false alarm of either bound has a probability below 1e-4.
			if kind == options.Uniform && (slices.Min(seen[:]) < 60 || longest > 15) {
				t.Errorf("uniform actions came %v times, one %d times in a row", seen, longest)
			}
			if kind == options.Repeats && longest < 4 {
				t.Errorf("of 300 repeated actions none came more than %d times in a row", longest)
			}
		}
	}
}

// Thompson sampling follows one member for an episode, and members take turns.
func TestThompsonFollowsAMember(t *testing.T) {
	x := newBootstrapQ(t, `{}`, agenttest.Finite, 5, 3, nil)
	x.Start(1)
	followed := map[int]bool{}
	for range 100 {
		a := x.Begin(0)
		k := x.executor.Member()
		for s := range 5 {
			if want := x.prefers(k, s%5); s > 0 && a != want || x.executor.Member() != k {
				t.Fatalf("action %d of member %d, now %d", a, k, x.executor.Member())
			}
			a = x.Step(0.1, (s+1)%5)
			if want := x.prefers(k, (s+1)%5); a != want {
				t.Fatalf("action %d, member %d takes %d", a, k, want)
			}
			a = x.prefers(k, (s+1)%5)
		}
		x.End(0, 0, true)
		followed[k] = true
	}
	if len(followed) < 12 { // of 16; P < 1e-4 by 100 draws missing five
		t.Errorf("only %d members were followed", len(followed))
	}
	endless := agenttest.Finite
	endless.Continuing = true
	x = newBootstrapQ(t, `{"gamma":0.5}`, endless, 5, 3, nil)
	x.Start(1)
	x.Begin(0)
	changes := 0
	for range 1000 {
		k := x.executor.Member()
		if x.Step(0, 0); x.executor.Member() != k {
			changes++
		}
	}
	if changes < 400 || changes > 540 { // 1000·½·15/16 = 469, sd 15.8
		t.Errorf("%d changes of member in 1000 steps", changes)
	}
}

func TestBootstrapQRefusals(t *testing.T) {
	for _, tt := range []struct{ params, want string }{
		{`{"members":0}`, "members"}, {`{"gamma":2}`, "gamma"}, {`{"prior":"x"}`, "prior"}, {`{"low":2,"high":1}`, "low"},
		{`{"sd":-1}`, "sd"}, {`{"update":"x"}`, "update"}, {`{"mask":0}`, "mask"}, {`{"step":0}`, "step"},
		{`{"schedule":"x"}`, "schedule"}, {`{"power":0}`, "power"}, {`{"prior_weight":-1}`, "prior_weight"},
		{`{"behaviour":"x"}`, "behaviour"}, {`{"redraw":"x"}`, "redraw"}, {`{"epsilon":2}`, "epsilon"},
		{`{"reveal":0}`, "reveal"}, {`{"kappa":-1}`, "kappa"}, {`{"values":"x"}`, "values"}, {`{"evaluated":17}`, "evaluated"},
	} {
		_, err := BootstrapQ().OpenAgent(t.Context(), json.RawMessage(tt.params), agenttest.Finite, 1)
		if !errors.Is(err, framework.ErrInvalidParams) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.params, err)
		}
	}
	a := must.Get(BootstrapQ().OpenAgent(t.Context(), json.RawMessage(`{"gamma":1}`), agenttest.Finite, 1))(t)
	if err := a.Abilities().Options.SetOptionKinds(t.Context(), nil); !errors.Is(err, framework.ErrUnsupported) {
		t.Errorf("options without a discount: %v", err)
	}
	wide := agenttest.Finite
	wide.Observation = space.Discrete{N: 1 << 20}
	if _, err := BootstrapQ().OpenAgent(t.Context(), nil, wide, 1); !errors.Is(err, framework.ErrUnsupported) {
		t.Errorf("tables that are too large: %v", err)
	}
}

// Left alone it finds the far end of RiverSwim, which ε-greedy misses (see
// TestOptimismExplores): 10 runs, the last half of 20,000 steps.
func TestBootstrapQExplores(t *testing.T) {
	if got := plugins.Earns(t, "riverswim", `{"limit":0}`, "bootstrap-q", plain(``), 10, 10_000, 20_000, result.Reward); got < 0.15 {
		t.Errorf("reward per step in RiverSwim is %.3f, where 0.429 can be had", got)
	}
}
