package explore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/internal/optiontest"
	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/options"
)

// river is a chain of states 2, 3, …. Action 5 goes down, and action 6 goes up
// most of the time. Reaching the upper end pays. An episode ends there at times,
// by termination, or anywhere, by truncation.
type river struct {
	length int64
	rng    *rand.Rand
	at     int64
}

func (r *river) Spec() framework.Spec {
	return framework.Spec{
		ID: "test/river@1", Observation: space.Discrete{N: r.length, Start: 2}, Action: space.Discrete{N: 2, Start: 5}, RewardHigh: 1,
	}
}

func (r *river) Reset(_ context.Context, s uint64) (space.Value, error) {
	r.rng, r.at = seed.Stream(s, seed.Environment), 0
	return space.Value{Int: 2}, nil
}

func (r *river) Step(_ context.Context, a space.Value) (framework.TimeStep, error) {
	u := r.rng.Float64()
	if a.Int == 6 && u < 0.7 {
		r.at = min(r.at+1, r.length-1)
	} else {
		r.at = max(r.at-1, 0)
	}
	ts := framework.TimeStep{Observation: space.Value{Int: 2 + r.at}, Reward: 0.05 * u}
	if r.at == r.length-1 {
		ts.Reward, ts.Terminated = 1, u < 0.3
	} else if u > 0.98 {
		ts.Truncated = true
	}
	return ts, nil
}

// paired are options that explore by RuleCommonModel.
func paired(change func(*Config)) Config {
	o := Config{Decider: options.DeciderConfig{Rule: options.RuleCommonModel, Horizon: bandit.Discounted(0.99)}, Log: 50}
	if change != nil {
		change(&o)
	}
	return o
}

func batch(t testing.TB, runs []int, steps int, o Config) loop.Batch {
	t.Helper()
	env := must.Get(vector.Vectorize(func() (framework.Environment, error) { return &river{length: 6}, nil }, len(runs)))(t)
	tables := must.Get(optiontest.New(env.Spec(), len(runs)))(t)
	agent := must.Get(New(t.Context(), tables, env.Spec(), len(runs), o))(t)
	return loop.Batch{
		Environment: env, Agent: agent, Runs: runs, Seeds: seed.NewSource(3, env.Spec().ID), Steps: steps,
		Grid: loop.LogGrid(20, steps), Discount: 0.9, Metrics: []result.Metric{result.Reward, result.ExplorationShare, result.MixingTime},
	}
}

func run(t testing.TB, b loop.Batch) []loop.Outcome {
	t.Helper()
	return must.Get(loop.Run(t.Context(), b))(t)
}

func TestOutcomesDoNotDependOnLanes(t *testing.T) {
	for name, o := range map[string]Config{
		"paired":     paired(nil),
		"stochastic": paired(func(o *Config) { o.Decider.Rule = options.RuleOptimisticStochastic }),
		"index":      paired(func(o *Config) { o.Decider.Rule, o.Decider.Bound = options.RuleIndex, bandit.V }),
		"reward":     paired(func(o *Config) { o.Estimator = Autocorrelation }),
		"posterior":  paired(func(o *Config) { o.Estimator = Posterior }),
		"finite":     paired(func(o *Config) { o.Decider.Horizon = bandit.Finite(400); o.Commitment.Fixed = 3 }),
		"return":     paired(func(o *Config) { o.Commitment.Return, o.Commitment.Scale = true, 0.5 }),
	} {
		t.Run(name, func(t *testing.T) {
			const runs, steps = 9, 500
			var want []string
			explored := 0.0
			for i := range runs {
				out := run(t, batch(t, []int{i}, steps, o))[0]
				want = append(want, fmt.Sprint(out))
				for _, x := range out.Curves[result.ExplorationShare] {
					explored += x
				}
			}
			if explored == 0 {
				t.Error("nothing was ever explored")
			}
			for _, group := range [][]int{{8, 0, 3, 4}, {1, 2, 5, 6, 7}} {
				b := batch(t, group, steps, o)
				for range 2 { // lanes serve one batch after the other
					for _, got := range run(t, b) {
						if fmt.Sprint(got) != want[got.Run] {
							t.Fatalf("run %d in batch %v: got %v, want %v", got.Run, group, got, want[got.Run])
						}
					}
				}
			}
		})
	}
}

// The log of all decisions accounts for every step: windows follow each other,
// unless an episode ends or T is estimated anew, and the exploratory ones make up
// the share.
func TestDecisionsAccountForSteps(t *testing.T) {
	const steps = 3000
	b := batch(t, []int{0, 1, 2}, steps, paired(func(o *Config) { o.Log = steps }))
	b.Grid = loop.EveryGrid(1, steps)
	shortened := 0
	for _, o := range run(t, b) {
		hold, share := o.Curves[result.MixingTime], o.Curves[result.ExplorationShare]
		at, episode := 0, 0
		for k, d := range o.Decisions {
			end := steps
			if k+1 < len(o.Decisions) {
				end = o.Decisions[k+1].Step
			}
			if d.Step != at || end <= at || end > at+d.Hold || d.Hold < 1 || int(hold[at]) != d.Hold {
				t.Fatalf("decision %d is %+v at T = %v, the next at step %d, want it at step %d", k, d, hold[at], end, at)
			}
			next := episode // of the next decision
			if k+1 < len(o.Decisions) {
				next = o.Decisions[k+1].Episode
			}
			// An exploratory window that is cut short within an episode is so because
			// T has been estimated anew, and no longer is.
			if d.Explore && end < at+d.Hold && k+1 < len(o.Decisions) && next == d.Episode {
				if shortened++; int(hold[end-1]) == d.Hold || end > at+max(int(hold[end-1]), 1) && int(hold[end-2]) != d.Hold {
					t.Fatalf("the window of %+v ended at step %d with T = %v", d, end, hold[end-1])
				}
			}
			if d.State < 0 || d.State > 5 {
				t.Fatalf("state %d", d.State)
			}
			if want := -math.Expm1(float64(d.Hold) * math.Log(0.99)); d.Share != want {
				t.Fatalf("share %v of %d steps, want %v", d.Share, d.Hold, want)
			}
			if d.Explore != (d.Option != "greedy") || d.Explore != (d.Advantage > 1e-12) {
				t.Fatalf("decision %+v", d)
			}
			for s := at; s < end; s++ {
				if explores := share[s] == 1; explores != d.Explore || share[s] != 0 && share[s] != 1 {
					t.Fatalf("step %d: share %v in the window of %+v", s+1, share[s], d)
				}
			}
			at, episode = end, next
		}
		if episode != o.Episodes && episode != o.Episodes-1 {
			t.Errorf("%d episodes ended, the last decision is in number %d", o.Episodes, episode)
		}
	}
	t.Logf("%d windows were shortened", shortened)
}

// With Return, T = ⌈scale·T_ε⌉ steps are charged as T + T_ε; while nothing is known, and
// beyond the cap, T_ε is the floor and the cap.
func TestReturnIsCharged(t *testing.T) {
	const steps, floor, most = 3000, 2, 30
	b := batch(t, []int{0, 1, 2}, steps, paired(func(o *Config) {
		o.Log, o.Commitment.Return, o.Commitment.Scale, o.Commitment.Floor, o.Commitment.Cap = steps, true, 3, floor, most
	}))
	held := map[int]bool{}
	for _, o := range run(t, b) {
		for _, d := range o.Decisions {
			back := int(math.Round(math.Log1p(-d.Share)/math.Log(0.99))) - d.Hold
			if want := max(d.Hold/3, floor); back != want && (d.Hold < most || back < want || back > most) {
				t.Fatalf("%d steps and the way back are charged as %d and %d", d.Hold, d.Hold, back)
			}
			held[d.Hold] = true
		}
	}
	if len(held) < 3 {
		t.Errorf("windows of %v steps only", held)
	}
}

// The log keeps every decision up to its length and then evenly spaced ones.
func TestLogThins(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		most, n := rapid.IntRange(0, 40).Draw(rt, "most"), rapid.IntRange(0, 500).Draw(rt, "decisions")
		l := decisions{most: most}
		l.clear()
		for k := range n {
			if l.next() {
				l.add(options.Decision{Step: k, Other: -1}, &options.Problem{Arms: []options.Arm{{}}}, 0, 0, nil)
			}
		}
		if len(l.kept) > most || 2*len(l.kept) < min(most, n) {
			rt.Fatalf("%d of %d decisions are kept, at most %d", len(l.kept), n, most)
		}
		for k, d := range l.kept {
			if d.Step != k*l.stride || n <= most && l.stride != 1 {
				rt.Fatalf("number %d kept is decision %d at a stride of %d", k, d.Step, l.stride)
			}
		}
	})
}

// watcher passes everything on and looks at it.
type watcher struct {
	vector.OptionAgent
	face   func([]options.Problem)
	policy []int
	calls  int
}

func (w *watcher) StepOptions(ctx context.Context, in *vector.Feedback, epochs []bool, actions *space.Column, problems []options.Problem) error {
	err := w.OptionAgent.StepOptions(ctx, in, epochs, actions, problems)
	if w.face != nil {
		w.face(problems)
	}
	w.calls++
	return err
}

func (w *watcher) GreedyPolicy(ctx context.Context, lane int, dst []int) ([]int, error) {
	if w.policy != nil {
		return w.policy, nil
	}
	return w.OptionAgent.GreedyPolicy(ctx, lane, dst)
}

func TestInvalidAnswersNameTheLane(t *testing.T) {
	for _, tt := range []struct {
		want string
		w    watcher
	}{
		{"lane 1: invalid answer: options: the value of option greedy in model 2 is NaN",
			watcher{face: func(p []options.Problem) { p[1].Values[2] = math.NaN() }}},
		{"lane 1: invalid answer: options: 19 values for 7 options are not as many for each",
			watcher{face: func(p []options.Problem) { p[1].Values = p[1].Values[:19] }}},
		{"lane 0: invalid answer: greedy policy: 1 actions for 6 observations", watcher{policy: []int{0}}},
		{"lane 0: invalid answer: greedy policy: action 2 in observation 5 is not in 0..1", watcher{policy: []int{0, 0, 0, 0, 0, 2}}},
	} {
		b := batch(t, []int{0, 1}, 100, paired(nil))
		a := b.Agent.(*explorer)
		tt.w.OptionAgent = a.agent
		a.agent = &tt.w
		_, err := loop.Run(t.Context(), b)
		var lane *vector.LaneError
		if !errors.Is(err, framework.ErrInvalidAnswer) || !errors.As(err, &lane) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want %s", err, tt.want)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	spec := (&river{length: 6}).Spec()
	for _, tt := range []struct {
		want   string
		is     error
		change func(*Config, *framework.Spec)
	}{
		{"the bound U needs a lower bound of rewards", framework.ErrUnsupported, func(_ *Config, s *framework.Spec) { s.RewardLow = math.Inf(-1) }},
		{"", nil, func(o *Config, s *framework.Spec) { s.RewardLow = math.Inf(-1); o.Decider.Bound = bandit.V }},
		{"", nil, func(o *Config, s *framework.Spec) { s.RewardLow = math.Inf(-1); o.LowerBound = new(float64) }},
		{"lower_bound is 1.5, and no option of test/river@1 is worth more than 1 per step", framework.ErrInvalidParams, func(o *Config, _ *framework.Spec) { o.LowerBound = new(1.5) }},
		{"", nil, func(o *Config, s *framework.Spec) {
			s.RewardLow, s.RewardHigh, s.Continuing = -2, -1, false
			o.LowerBound = new(float64)
		}},
		{"", nil, func(o *Config, s *framework.Spec) { s.RewardHigh = math.Inf(1); o.LowerBound = new(1.5) }},
		{"tables make no options of kind count-bonus", framework.ErrUnsupported, func(o *Config, _ *framework.Spec) { o.Kinds = []options.Kind{options.CountBonus} }},
		{"the quantile of mixing times is 2", framework.ErrInvalidParams, func(o *Config, _ *framework.Spec) { o.Quantile = 2 }},
		{"the quantile of mixing times is -1", framework.ErrInvalidParams, func(o *Config, _ *framework.Spec) { o.Quantile = -1 }},
		{"are of the estimator counts; test/river@1 uses autocorrelation", framework.ErrUnsupported, func(o *Config, s *framework.Spec) {
			o.Quantile, s.Observation = 0.5, space.Discrete{N: 1 << 40}
		}},
		{"there is none of a fixed commitment", framework.ErrInvalidParams, func(o *Config, _ *framework.Spec) { o.Commitment.Return, o.Commitment.Fixed = true, 3 }},
		{"has no bound V", framework.ErrInvalidParams, func(o *Config, _ *framework.Spec) {
			o.Decider.Rule, o.Decider.Bound = options.RuleOptimisticStochastic, bandit.V
		}},
		{"up to 16777216 pairs", framework.ErrUnsupported, func(o *Config, s *framework.Spec) {
			o.Estimator, s.Observation = Counts, space.Discrete{N: 1 << 40}
		}},
		{"", nil, func(_ *Config, s *framework.Spec) { s.Observation = space.Discrete{N: 1 << 40} }},
		{"those of test/river@1 are not", framework.ErrUnsupported, func(o *Config, s *framework.Spec) {
			o.Estimator, s.Observation = Counts, space.Box{Shape: []int{2}, Low: []float64{0}, High: []float64{1}}
		}},
	} {
		o, s := paired(nil), spec
		tables, err := optiontest.New(s, 1)
		if err != nil {
			t.Fatal(err)
		}
		tt.change(&o, &s)
		_, err = New(t.Context(), tables, s, 1, o)
		if (err == nil) != (tt.want == "") || !errors.Is(err, tt.is) || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want %q", err, tt.want)
		}
	}
}

// Never is the agent that is only ever stepped: greedy throughout.
func TestNeverActsGreedily(t *testing.T) {
	never := run(t, batch(t, []int{0, 1}, 400, paired(func(o *Config) { o.Decider.Rule = options.RuleNever })))
	plain := batch(t, []int{0, 1}, 400, paired(nil))
	plain.Agent = plain.Agent.(*explorer).agent
	for i, o := range run(t, plain) {
		if got := never[i].Curves[result.Reward]; !slices.Equal(got, o.Curves[result.Reward]) {
			t.Errorf("run %d: rewards %v, the agent alone %v", i, got, o.Curves[result.Reward])
		}
		if o.Curves[result.ExplorationShare] != nil || o.Decisions != nil {
			t.Error("an agent that decides for itself has a share of exploration")
		}
		if share := never[i].Curves[result.ExplorationShare]; slices.Max(share) != 0 {
			t.Errorf("the rule never explores a share of %v", share)
		}
	}
}

// Steps in evaluation are no part of the run: the run continues as if they had
// not been made, except for the agent's place.
func TestEvaluationDecidesNothing(t *testing.T) {
	spec := (&river{length: 6}).Spec()
	var logs []string
	for _, evaluate := range []int{0, 9} {
		a := batch(t, []int{0}, 1, paired(func(o *Config) { o.Log = 1000; o.Commitment.Fixed = 3 })).Agent.(*explorer)
		in, actions := vector.NewFeedback(spec, 1), space.NewColumn(spec.Action, 1)
		step := func(s vector.Signal, observation int64, reward float64) {
			in.Signals[0], in.Observations.Int64[0], in.Rewards[0], in.Terminated[0] = s, observation, reward, false
			must.Do(t, a.Step(t.Context(), in, &actions))
		}
		step(vector.NewRun, 2, 0)
		for k := range 50 {
			if k == 20 {
				for e := range evaluate {
					step(vector.Evaluate, int64(2+e%3), 1)
				}
				step(vector.Evaluate, 4, 1) // both are in the same place
			}
			step(vector.Continue, int64(2+k%5), 0.1*float64(k%3))
		}
		explored, _ := a.Exploration(0)
		var steps []int
		for _, d := range a.Decisions(0) {
			steps = append(steps, d.Step)
		}
		logs = append(logs, fmt.Sprint(explored > 0, steps))
	}
	if logs[0] != logs[1] {
		t.Errorf("without evaluation %s, with it %s", logs[0], logs[1])
	}
}

// A step allocates nothing unless data have doubled or the log grows.
func TestStepAllocatesNothing(t *testing.T) {
	b := batch(t, []int{0, 1}, 1, paired(func(o *Config) { o.Log = 0 }))
	a := b.Agent.(*explorer)
	a.agent = quiet{}
	in := vector.NewFeedback(b.Environment.Spec(), 2)
	actions := space.NewColumn(b.Environment.Spec().Action, 2)
	step := func() {
		for i := range in.Signals {
			in.Observations.Int64[i] = 2 + (in.Observations.Int64[i]+1)%6
			actions.Int64[i] = 5
		}
		must.Do(t, a.Step(t.Context(), in, &actions))
	}
	in.Signals[0], in.Signals[1] = vector.NewRun, vector.NewRun
	step()
	in.Signals[0], in.Signals[1] = vector.Continue, vector.Continue
	for range 1 << 12 {
		step()
	}
	if n := testing.AllocsPerRun(1000, step); n != 0 {
		t.Errorf("%v allocations per step", n)
	}
	if got := a.lanes[0].commitment.Steps; got < 1 || reflect.DeepEqual(a.lanes[0].commitment, a.initial) {
		t.Errorf("the window %+v was never estimated", a.lanes[0].commitment)
	}
}

// keen is quiet with an option that is always better than the greedy one.
type keen struct{ quiet }

func (keen) StepOptions(_ context.Context, _ *vector.Feedback, epochs []bool, _ *space.Column, problems []options.Problem) error {
	if epochs[0] {
		problems[0] = options.Problem{Arms: quietArms, Values: []float64{0.5, 0.5, 0.7, 0.7}}
	}
	return nil
}

// A window of an exploratory option ends early when new data say that it need not
// be as long. After four transitions the greedy action 0 stays in 0 and in 1, so
// that having gone there is never forgotten. After eight it leaves 1 half of the
// time: T = 4, for 1, ½, ¼ are not below ¼.
func TestWindowsFollowTheData(t *testing.T) {
	b := batch(t, []int{0}, 1, paired(nil))
	a, spec := b.Agent.(*explorer), b.Environment.Spec()
	a.agent = keen{}
	in, actions := vector.NewFeedback(spec, 1), space.NewColumn(spec.Action, 1)
	in.Signals[0] = vector.NewRun
	for _, x := range [][2]int64{{0, 0}, {0, 1}, {1, 0}, {1, 0}, {1, 0}, {0, 1}, {1, 0}, {0, 1}, {1, 0}, {0, 0}, {0, 0}} {
		in.Observations.Int64[0], actions.Int64[0] = 2+x[0], 5+x[1]
		must.Do(t, a.Step(t.Context(), in, &actions))
		in.Signals[0] = vector.Continue
	}
	var got [][2]int
	for _, d := range a.Decisions(0) {
		got = append(got, [2]int{d.Step, d.Hold})
	}
	if want := [][2]int{{0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1000}, {9, 4}}; !slices.Equal(got, want) {
		t.Errorf("steps and T of decisions %v, want %v", got, want)
	}
}

// Who always explores learns from that how long to: rewards in blocks of 20 are
// correlated for several steps.
func TestAlwaysExploringEstimatesTheWindow(t *testing.T) {
	b := batch(t, []int{0}, 1, paired(func(o *Config) { o.Estimator = Autocorrelation }))
	a, spec := b.Agent.(*explorer), b.Environment.Spec()
	a.agent = keen{}
	in, actions := vector.NewFeedback(spec, 1), space.NewColumn(spec.Action, 1)
	in.Signals[0] = vector.NewRun
	for k := range 2 * patience {
		in.Rewards[0] = float64(k / 20 % 2)
		must.Do(t, a.Step(t.Context(), in, &actions))
		in.Signals[0] = vector.Continue
	}
	if got := a.lanes[0].commitment.Steps; got < 3 || got > 40 {
		t.Errorf("T = %d, want several steps", got)
	}
}

// If episodes end, nothing is earned afterwards, so a least reward above 0 is no
// bound; if none ends, it is.
func TestLowerBoundWhereEpisodesEnd(t *testing.T) {
	spec := framework.Spec{ID: "test/pays@1", Observation: space.Discrete{N: 2}, Action: space.Discrete{N: 2}, RewardLow: 1, RewardHigh: 2}
	for continuing, want := range map[bool]float64{false: 0, true: 1} {
		spec.Continuing = continuing
		o := paired(nil)
		must.Do(t, o.complete(spec))
		if o.Decider.LowerBound != want {
			t.Errorf("continuing %v: b = %v, want %v", continuing, o.Decider.LowerBound, want)
		}
	}
}

// An agent that offers fewer kinds than the default names serves exploration: {} as well; kinds that are
// given, and an agent that offers none of the defaults, are errors with the kinds.
func TestDefaultKindsOfAnAgentThatOffersFew(t *testing.T) {
	spec := framework.Spec{ID: "test/few@1", Observation: space.Discrete{N: 2}, Action: space.Discrete{N: 2}, RewardHigh: 1}
	for _, offers := range []options.Kind{options.DrawnMember, options.Members} {
		agent := few{offers: offers}
		_, err := New(t.Context(), &agent, spec, 1, Config{})
		if must.Do(t, err); !slices.Equal(agent.asked, []options.Kind{offers}) {
			t.Errorf("an agent of %s was asked for %s", offers, agent.asked)
		}
	}
	for kinds, o := range map[string]Config{"members": {}, "drawn-member": {Kinds: []options.Kind{options.DrawnMember}}} {
		if _, err := New(t.Context(), &few{offers: options.Uniform}, spec, 1, o); !errors.Is(err, framework.ErrUnsupported) || !strings.HasPrefix(err.Error(), "options ["+kinds+"]: ") {
			t.Errorf("kinds that are not offered: %v", err)
		}
	}
}

// few is an agent that offers one kind of options.
type few struct {
	quiet
	offers options.Kind
	asked  []options.Kind
}

func (a *few) SetOptionKinds(_ context.Context, kinds []options.Kind) error {
	a.asked = kinds
	if !slices.Equal(kinds, []options.Kind{a.offers}) {
		return framework.ErrUnsupported
	}
	return nil
}

// quiet is an agent of a few options whose values stay the same.
type quiet struct{}

func (quiet) Step(context.Context, *vector.Feedback, *space.Column) error { return nil }
func (quiet) Abilities() vector.AgentAbilities                            { return vector.AgentAbilities{} }
func (quiet) Close() error                                                { return nil }
func (quiet) SetOptionKinds(context.Context, []options.Kind) error        { return nil }
func (quiet) Choose(context.Context, []int, *space.Column) error          { return nil }

func (quiet) StepOptions(_ context.Context, _ *vector.Feedback, epochs []bool, _ *space.Column, problems []options.Problem) error {
	for i, epoch := range epochs {
		if epoch {
			problems[i] = options.Problem{Arms: quietArms, Values: quietValues}
		}
	}
	return nil
}

var (
	quietArms   = []options.Arm{{Name: "greedy"}, {Name: "other"}}
	quietValues = []float64{0.5, 0.5, 0.2, 0.7}
)

func (quiet) GreedyPolicy(_ context.Context, _ int, dst []int) ([]int, error) {
	return append(dst[:0], 0, 0, 0, 0, 0, 0), nil
}

// BenchmarkStep is what the host's part costs a step of a lane, beside the agent's:
// with a decision every 1000 steps, and with one (of two options and members) each.
func BenchmarkStep(b *testing.B) {
	for _, tt := range []struct {
		name string
		o    Config
	}{
		{"counts", paired(func(o *Config) { o.Commitment.Floor = 1000 })},
		{"fixed", paired(func(o *Config) { o.Commitment.Fixed = 1000 })},
		{"autocorrelation", paired(func(o *Config) { o.Estimator, o.Commitment.Floor = Autocorrelation, 1000 })},
		{"decision", paired(func(o *Config) { o.Commitment.Fixed = 1 })},
	} {
		b.Run(tt.name, func(b *testing.B) {
			const lanes = 4
			runs := make([]int, lanes)
			a := batch(b, runs, 1, tt.o).Agent.(*explorer)
			a.agent = quiet{}
			spec := (&river{length: 6}).Spec()
			in, actions := vector.NewFeedback(spec, lanes), space.NewColumn(spec.Action, lanes)
			rng := rand.New(rand.NewPCG(1, 2))
			walk := make([]int64, 1<<12)
			for i := range walk {
				walk[i] = 2 + rng.Int64N(6)
			}
			for i := range in.Signals {
				in.Signals[i] = vector.NewRun
			}
			k := 0
			b.ReportAllocs()
			for b.Loop() {
				for i := range in.Signals {
					in.Observations.Int64[i], in.Rewards[i] = walk[(k+i)%len(walk)], float64(k%7)
					actions.Int64[i] = 5
				}
				must.Do(b, a.Step(b.Context(), in, &actions))
				if k == 0 {
					for i := range in.Signals {
						in.Signals[i] = vector.Continue
					}
				}
				k++
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(k*lanes), "ns/step")
		})
	}
}
