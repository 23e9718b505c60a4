package modelagents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/explore"
	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/options"
	"github.com/rlrun/rlrun/plugins/internal/agenttest"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
	"github.com/rlrun/rlrun/plugins/internal/modelbased"
)

// newBootstrapModel returns a learner of one run to which kinds of options have
// been offered.
func newBootstrapModel(t testing.TB, params string, states, actions int, kinds []options.Kind) *modelbased.OptionLearner {
	t.Helper()
	spec := agenttest.Finite
	spec.Observation, spec.Action = space.Discrete{N: int64(states)}, space.Discrete{N: int64(actions)}
	a := must.Get(BootstrapModel().OpenAgent(t.Context(), json.RawMessage(params), spec, 1))(t)
	must.Do(t, a.Abilities().Options.SetOptionKinds(t.Context(), kinds))
	x := lanes.Learners[int](a)[0].(*modelbased.OptionLearner)
	x.Start(1)
	return x
}

// greedyPolicy returns the policy that is greedy for the mean model.
func greedyPolicy(x *modelbased.OptionLearner) mdp.Deterministic {
	return x.Planner.(*modelbased.Solver).Policy[0]
}

// One state: the options are the actions, worth their mean rewards in the members,
// whatever the criterion; decisions are the bandit's on populations of those.
func TestOneStateModelsAreTheBandit(t *testing.T) {
	for _, params := range []string{`{}`, `{"criterion":"average"}`, `{"gamma":0}`} {
		x := newBootstrapModel(t, params, 1, 3, []options.Kind{options.Constants})
		x.Begin(0)
		for n := range 30 {
			x.Action = n % 3
			x.Learn(math.Sin(float64(n)), 0)
		}
		var p options.Problem
		x.SetObservation(0)
		must.Do(t, x.DescribeDecision(&p))
		p.Hold = 1
		arms := make([]*bandit.Population, 3)
		greedy := 0
		for a := range arms {
			members := make([]float64, 10)
			for k := range members {
				members[k] = x.Construction.(*ensemble).bootstrap.Member(k).Reward(0, a)
			}
			var err error
			if arms[a], err = bandit.NewPopulation(members, bandit.PopulationConfig{}); err != nil {
				t.Fatal(err)
			}
			if arms[a].Mean() > arms[greedy].Mean() {
				greedy = a
			}
			for o, c := range x.Reduction.Candidates {
				if int(c.Policy.(mdp.Deterministic)[0]) != a {
					continue
				}
				for k, want := range members {
					if got := p.Values[o*10+k]; math.Abs(got-want) > 1e-9 {
						t.Errorf("%s: action %d in member %d is worth %v, want %v", params, a, k, got, want)
					}
				}
			}
		}
		if greedyPolicy(x)[0] != greedy || len(p.Arms) != 3 {
			t.Errorf("%s: greedy action %d, want %d; options %v", params, greedyPolicy(x)[0], greedy, p.Arms)
		}
		for _, gamma := range []float64{0.3, 0.9, 0.999} {
			d := must.Get(options.Decide(options.DeciderConfig{Rule: options.RuleIndex, Bound: bandit.V, Horizon: bandit.Discounted(gamma)}, &p, nil))(t)
			table, want := bandit.NewIndexTable(bandit.V, 1-gamma, 10), greedy
			for a := range arms {
				if table.Index(arms[a], 0) > table.Index(arms[want], 0)+1e-9 {
					want = a
				}
			}
			if got := x.Choose(d.Choice); got != want {
				t.Errorf("%s, γ = %v: action %d, the bandit's is %d", params, gamma, got, want)
			}
		}
	}
}

// Models are solved when a pair has been tried enough, and not otherwise.
func TestModelsAreSolvedWhenDataGrow(t *testing.T) {
	for _, tt := range []struct {
		growth float64
		want   []int // numbers of tries of the pair at which they are solved
	}{
		{1, []int{0, 1, 2, 4, 8, 16}},
		{0.5, []int{0, 1, 2, 3, 5, 8, 12, 18}},
		{0, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19}},
	} {
		x := newBootstrapModel(t, fmt.Sprintf(`{"growth":%v,"members":2}`, tt.growth), 2, 2, nil)
		var got []int
		var last *options.Reduction
		var p options.Problem
		for n := range 20 {
			for range 3 { // facing a decision again changes nothing
				x.SetObservation(0)
				must.Do(t, x.DescribeDecision(&p))
				if x.Reduction != last {
					got = append(got, n)
					last = x.Reduction
				}
			}
			x.State, x.Action = 0, 1
			x.Learn(1, 0)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("growth %v: solved after %v tries, want %v", tt.growth, got, tt.want)
		}
	}
}

// The greedy option is greedy for what is known by now, however long it is held; every
// other option stays what it was when it was chosen.
func TestGreedyOptionKeepsUp(t *testing.T) {
	x := newBootstrapModel(t, `{"weight":0.01}`, 2, 2, []options.Kind{options.Constants})
	act := func(s int, greedily bool) int { // what is followed, and what a host is told is greedy
		a := x.Act(s)
		policy := must.Get(x.GreedyPolicy(nil))(t)
		if greedily && policy[s] != a {
			t.Errorf("action %d, but the greedy policy is said to be %v", a, policy)
		}
		return a
	}
	var p options.Problem
	x.SetObservation(0)
	must.Do(t, x.DescribeDecision(&p))
	first := x.Choose(0)
	for a := range 2 { // with the prior gone, the other action pays
		for range 30 {
			x.State, x.Action = 0, a
			x.Learn(map[bool]float64{true: -1, false: 1}[a == first], 0)
		}
	}
	if a := act(0, true); a == first {
		t.Errorf("action %d is held on to", a)
	}
	held := x.Choose(1)
	for range 500 {
		x.State, x.Action = 0, held
		x.Learn(-1, 0)
	}
	if a := act(0, false); a != held {
		t.Errorf("option %q takes action %d, not %d any more", p.Arms[1].Name, a, held)
	}
}

// After much uniform exploration the greedy policy is optimal: on a task that continues,
// on one that truncates, and on one that terminates. There the average criterion takes
// episodes one after the other.
func TestModelsFindTheOptimum(t *testing.T) {
	for _, tt := range []struct{ env, params string }{
		{"chain", `{"limit":0}`}, {"chain", `{"limit":20}`}, {"gridworld", `{"rows":3,"cols":3,"slip":0.2}`},
	} {
		for _, agent := range []string{`{"gamma":0.8}`, `{"gamma":0.8,"belief":"posterior","tau":100}`, `{"criterion":"average"}`} {
			t.Run(tt.env+tt.params+agent, func(t *testing.T) {
				x, m := trainedHosted(t, tt.env, tt.params, agent)
				policy := make(mdp.Deterministic, m.NumStates())
				x.Outdate()
				average := strings.Contains(agent, "average")
				worth := make([]float64, m.NumStates()) // of the best policy, in the mean over members
				var p options.Problem
				for s := range policy {
					if !m.Terminal(s) {
						x.SetObservation(s)
						must.Do(t, x.DescribeDecision(&p))
						policy[s] = greedyPolicy(x)[s]
						for _, v := range p.Optimal {
							worth[s] += v / float64(len(p.Optimal))
						}
					}
				}
				var best *mdp.Solution
				var got []float64
				var err error
				if average {
					m = must.Get(m.Restarting())(t)
					best, err = mdp.SolveAverage(m, mdp.SolverConfig{})
					if err == nil {
						got, _, err = must.Get(mdp.Induce(m, policy))(t).EvaluateAverage()
					}
					best.Value = best.Gain
				} else {
					best, err = mdp.SolveDiscounted(m, 0.8, mdp.SolverConfig{})
					if err == nil {
						got, err = must.Get(mdp.Induce(m, policy))(t).EvaluateDiscounted(0.8)
					}
				}
				if err != nil {
					t.Fatal(err)
				}
				for s, v := range best.Value {
					scale := 1.0
					if !average {
						scale = 0.2
					}
					if worth[s] != 0 && math.Abs(worth[s]-scale*v) > 0.1*math.Abs(scale*v) {
						t.Errorf("state %d: the best policy is believed to be worth %v, and is %v", s, worth[s], scale*v)
					}
					if !m.Terminal(s) && !(got[s] >= v-0.02*math.Abs(v)) {
						t.Errorf("state %d: the policy is worth %v, the best %v", s, got[s], v)
					}
				}
			})
		}
	}
}

// trainedHosted returns a lane of bootstrap-model after 60,000 uniform actions,
// and the task's model.
func trainedHosted(t *testing.T, env, envParams, params string) (*modelbased.OptionLearner, *mdp.Tabular) {
	t.Helper()
	e := must.Get(find(t, env).OpenEnvironment(t.Context(), json.RawMessage(envParams), 1))(t)
	a := must.Get(BootstrapModel().OpenAgent(t.Context(), json.RawMessage(params), e.Spec(), 1))(t)
	x := lanes.Learners[int](a)[0].(*modelbased.OptionLearner)
	uniform := uniformAgent{a.Abilities().Options}
	host := must.Get(explore.New(t.Context(), uniform, e.Spec(), 1, explore.Config{
		Decider: options.DeciderConfig{Rule: options.RuleNever}, Kinds: []options.Kind{options.Uniform}, Commitment: options.CommitmentConfig{Fixed: 20},
	}))(t)
	must.Get(loop.Run(t.Context(), loop.Batch{
		Environment: e, Agent: host, Runs: []int{0}, Seeds: seed.NewSource(1, e.Spec().ID), Steps: 60_000, Discount: 1,
	}))(t)
	models := must.Get(vector.Models(t.Context(), e))(t)
	return x, models[0]
}

// uniformAgent takes uniform actions whatever the host chooses.
type uniformAgent struct{ vector.OptionAgent }

func (u uniformAgent) Choose(ctx context.Context, choices []int, actions *space.Column) error {
	for i, c := range choices {
		if c >= 0 {
			choices[i] = 1
		}
	}
	return u.OptionAgent.Choose(ctx, choices, actions)
}

// What is unknown attracts under an optimistic prior of rewards, and repels under a
// pessimistic one.
func TestRewardPriors(t *testing.T) {
	for params, untried := range map[string]bool{
		`{"rewards":"optimistic","tau0":100,"behaviour":"mean","belief":"posterior"}`:  true,
		`{"rewards":"pessimistic","tau0":100,"behaviour":"mean","belief":"posterior"}`: false,
		`{"mu0":1,"tau0":100,"behaviour":"mean"}`:                                      true,
		`{"mu0":-1,"tau0":100,"behaviour":"mean"}`:                                     false,
	} {
		x := newBootstrapModel(t, params, 1, 2, nil)
		x.Begin(0)
		for range 500 {
			x.Action = 0
			x.Learn(0.2, 0)
		}
		if got := x.Begin(0) == 1; got != untried {
			t.Errorf("%s: takes the action that was never tried: %v", params, got)
		}
	}
}

// The options that are no plain policies are followed as they are defined.
func TestFollowedCandidates(t *testing.T) {
	kinds := []options.Kind{options.Uniform, options.Deviations, options.Repeats, options.CountBonus, options.RecencyBonus}
	x := newBootstrapModel(t, `{"members":2,"kappa":100}`, 4, 3, kinds)
	var p options.Problem
	x.Begin(1)
	x.Learn(0.5, 2)
	x.SetObservation(2)
	must.Do(t, x.DescribeDecision(&p))
	seen := map[string]bool{}
	for o, arm := range p.Arms {
		name, _, _ := strings.Cut(arm.Name, " ")
		seen[name] = true
		if uninformed := name == "uniform" || name == "repeats" || name == "count-bonus"; uninformed != (arm.Class == options.Uninformed) {
			t.Errorf("option %+v", arm)
		}
		counts := [3]int{}
		longest, run, last := 0, 0, -1
		c := x.Reduction.Candidates[o]
		for n := range 300 {
			s := (2 + n) % 4
			var a int
			if n == 0 {
				x.SetObservation(s)
				a = x.Choose(o)
			} else {
				a = x.Act(s)
			}
			if o > 0 {
				x.Learn(0, (s+1)%4)
			}
			counts[a]++
			if run++; a != last {
				run, last = 1, a
			}
			longest = max(longest, run)
			want := a
			switch pi, _ := c.Policy.(mdp.Deterministic); {
			case name == "deviation" && n > 0:
				want = greedyPolicy(x)[s]
			case pi != nil:
				want = pi[s]
			}
			if a != want {
				t.Fatalf("%s, step %d: action %d, want %d", arm.Name, n, a, want)
			}
		}
		// A false alarm of either bound has a probability below 1e-4.
		if name == "uniform" && (slices.Min(counts[:]) < 60 || longest > 15) {
			t.Errorf("uniform actions came %v times, one %d times in a row", counts, longest)
		}
		if name == "repeats" && longest < 4 {
			t.Errorf("of 300 repeated actions none came more than %d times in a row", longest)
		}
	}
	for _, name := range []string{"greedy", "uniform", "deviation", "repeats", "count-bonus", "recency-bonus"} {
		if !seen[name] {
			t.Errorf("no option %s among %v", name, p.Arms)
		}
	}
	// Deviations are those of the state that the lane is in.
	x.SetObservation(3)
	x.DescribeDecision(&p)
	for o, arm := range p.Arms {
		if a := x.Reduction.Candidates[o]; strings.HasPrefix(arm.Name, "deviation") && a.Policy.(mdp.Deterministic)[3] == greedyPolicy(x)[3] {
			t.Errorf("option %s is none in state 3", arm.Name)
		}
	}
}

// It finds the far end of RiverSwim, left alone and with the host's decisions: 5
// runs, the last half of 10,000 steps; 0.429 can be had.
func TestModelsExplore(t *testing.T) {
	for _, tt := range []struct {
		params string
		rule   *options.DeciderConfig
	}{
		{`{}`, nil},
		{`{"belief":"posterior"}`, nil},
		{`{"criterion":"average"}`, &options.DeciderConfig{Rule: options.RuleOptimisticStochastic}},
		{`{}`, &options.DeciderConfig{Rule: options.RuleIndex, Bound: bandit.V}},
	} {
		var host *explore.Config
		if tt.rule != nil {
			tt.rule.Horizon = bandit.Discounted(0.99)
			host = &explore.Config{Decider: *tt.rule}
		}
		sum := 0.0
		for _, o := range playHosted(t, "riverswim", `{"limit":0}`, "bootstrap-model", tt.params, host, 0, 5, 10_000, []int{5_000, 10_000}, result.Reward) {
			sum += o.Curves[result.Reward][1] / 5
		}
		if sum < 0.4 {
			t.Errorf("%s, %+v: reward per step %.3f", tt.params, tt.rule, sum)
		}
	}
}

func TestBootstrapModelRefusals(t *testing.T) {
	for _, tt := range []struct{ params, want string }{
		{`{"members":0}`, "members"}, {`{"belief":"x"}`, "belief"}, {`{"update":"all"}`, "update"}, {`{"weight":0}`, "weight"},
		{`{"seen_only":true}`, "seen_only"}, {`{"rewards":"x"}`, "rewards"}, {`{"criterion":"x"}`, "criterion"}, {`{"gamma":1}`, "gamma"},
		{`{"growth":-1}`, "growth"}, {`{"residual":0}`, "residual"}, {`{"behaviour":"x"}`, "behaviour"}, {`{"reveal":0}`, "reveal"}, {`{"kappa":-1}`, "kappa"},
		{`{"alpha":0}`, "alpha"}, {`{"tau0":0}`, "tau0"}, {`{"tau":0}`, "tau"},
	} {
		_, err := BootstrapModel().OpenAgent(t.Context(), json.RawMessage(tt.params), agenttest.Finite, 1)
		if !errors.Is(err, framework.ErrInvalidParams) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.params, err)
		}
	}
	unbounded, large := agenttest.Finite, agenttest.Finite
	unbounded.RewardHigh = math.Inf(1)
	large.Observation = space.Discrete{N: 3000}
	for _, tt := range []struct {
		params string
		spec   framework.Spec
	}{{`{"rewards":"optimistic"}`, unbounded}, {`{"criterion":"average"}`, large}, {``, large}} {
		if _, err := BootstrapModel().OpenAgent(t.Context(), json.RawMessage(tt.params), tt.spec, 1); !errors.Is(err, framework.ErrUnsupported) {
			t.Errorf("%s: %v", tt.params, err)
		}
	}
}
