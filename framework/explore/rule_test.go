package explore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/internal/optiontest"
	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/options"
)

// ruled explores by a rule of anybody.
func ruled(t testing.TB, choose options.Chooser) Config {
	o := paired(nil)
	o.RuleName = "./mine.py"
	rule := must.Get((&vector.RulePlugin{Rule: func(json.RawMessage, framework.Spec) (options.Chooser, error) { return choose, nil }}).OpenRule(t.Context(), nil, framework.Spec{}))(t)
	o.Rule = rule
	return o
}

// sampled draws a member, and chooses what is best in it unless that was chosen often.
func sampled(q *options.Question) (options.Answer, error) {
	rng := rand.New(rand.NewPCG(q.Seed, 0))
	k := len(q.Values) / len(q.Arms)
	m, best, most := rng.IntN(k), 0, math.Inf(-1)
	for x := range q.Arms {
		if v := q.Values[x*k+m] - 1e-3*float64(q.Trials[x].Count); v > most {
			best, most = x, v
		}
	}
	return options.Answer{Option: best, Numbers: []options.Number{{Name: "member", Value: float64(m)}}}, nil
}

// A rule of anybody decides, its numbers are logged, and no run depends on the lanes.
func TestRuleOfAnybody(t *testing.T) {
	const steps = 400
	var want []string
	numbers := 0
	for i := range 6 {
		out := run(t, batch(t, []int{i}, steps, ruled(t, sampled)))[0]
		want = append(want, fmt.Sprint(out))
		for _, d := range out.Decisions {
			if strings.HasPrefix(d.Numbers, "member=") {
				numbers++
			}
		}
		if last := out.Curves[result.ExplorationShare]; last[len(last)-1] == 0 {
			t.Errorf("run %d never explored", i)
		}
	}
	if numbers == 0 {
		t.Error("no numbers are logged")
	}
	for _, got := range run(t, batch(t, []int{5, 0, 3, 1, 2, 4}, steps, ruled(t, sampled))) {
		if fmt.Sprint(got) != want[got.Run] {
			t.Errorf("run %d depends on the other lanes", got.Run)
		}
	}
}

// together is a rule of many lanes.
type together func(questions []options.Question) int

func (r together) Choose(_ context.Context, questions []options.Question, answers []options.Answer) error {
	x := r(questions)
	for i := range questions {
		answers[i] = options.Answer{Option: x % len(questions[i].Arms)}
	}
	return nil
}

func (together) Close() error { return nil }

// A rule of many lanes that counts its calls, or looks at how many lanes ask, is found as well.
func TestQuestionsAreAskedAgainInOtherCompany(t *testing.T) {
	calls := 0
	for name, rule := range map[string]together{
		"calls": func([]options.Question) int { calls++; return calls },
		"lanes": func(q []options.Question) int { return len(q) },
	} {
		_, err := loop.Run(t.Context(), batch(t, []int{3, 4}, 50, paired(func(c *Config) { c.Rule, c.RuleName = rule, "./mine.py" })))
		if err == nil || !strings.Contains(err.Error(), "asked twice") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A rule that breaks the contract is refused with the lane, the step and the file.
func TestBadRules(t *testing.T) {
	calls := 0
	for name, tt := range map[string]struct {
		choose options.Chooser
		want   string
	}{
		"not offered": {func(q *options.Question) (options.Answer, error) { return options.Answer{Option: len(q.Arms)}, nil }, "the answer is option"},
		"NaN": {func(*options.Question) (options.Answer, error) {
			return options.Answer{Numbers: []options.Number{{Name: "ucb", Value: math.NaN()}}}, nil
		}, "the number ucb for the log is NaN"},
		"other answers": {func(*options.Question) (options.Answer, error) {
			calls++
			return options.Answer{Option: calls % 2}, nil
		}, "asked twice, and the answers are option"},
		"other numbers": {func(*options.Question) (options.Answer, error) {
			calls++
			return options.Answer{Numbers: []options.Number{{Name: "n", Value: float64(calls)}}}, nil
		}, "asked twice"},
		"one name": {func(*options.Question) (options.Answer, error) {
			return options.Answer{Numbers: []options.Number{{Name: "n", Value: 1}, {Name: "n", Value: 2}}}, nil
		}, "two numbers for the log have the name n"},
		"panic": {func(q *options.Question) (options.Answer, error) { panic("lost") }, "panic: lost"},
	} {
		_, err := loop.Run(t.Context(), batch(t, []int{3, 4, 5}, 200, ruled(t, func(q *options.Question) (options.Answer, error) {
			if q.Step < 20 {
				return options.Answer{Option: q.Greedy}, nil
			}
			return tt.choose(q)
		})))
		var lane *vector.LaneError
		if err == nil || !errors.As(err, &lane) || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "rule ./mine.py, decision after step ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// late is a rule that does not answer from a step on.
type late struct{ together }

func (r late) Choose(ctx context.Context, questions []options.Question, answers []options.Answer) error {
	if questions[0].Step >= 20 {
		return errors.New("no answer")
	}
	return r.together.Choose(ctx, questions, answers)
}

// An error that blames no question names the steps and the lanes that were asked.
func TestLateRule(t *testing.T) {
	for lanes, want := range map[int]string{
		1: `rule ./mine\.py, decision after step 2\d \(lane 0\): no answer`,
		3: `rule ./mine\.py, decision after steps \d+ to 2\d \([23] lanes, the first [01]\): no answer`,
	} {
		_, err := loop.Run(t.Context(), batch(t, []int{3, 4, 5}[:lanes], 50, paired(func(c *Config) {
			c.Rule, c.RuleName = late{func([]options.Question) int { return 0 }}, "./mine.py"
		})))
		if err == nil || !regexp.MustCompile(want).MatchString(err.Error()) {
			t.Errorf("%d lanes: %v, want %s", lanes, err, want)
		}
	}
}

// An error names the lane that asked, not the number of its question.
func TestBlamedLane(t *testing.T) {
	n := 0
	_, err := loop.Run(t.Context(), batch(t, []int{0, 1, 2, 3}, 300, ruled(t, func(q *options.Question) (options.Answer, error) {
		if n++; n > 50 && q.Features[0] == 4 {
			return options.Answer{}, errors.New("not here")
		}
		return options.Answer{Option: q.Greedy}, nil
	})))
	var lane *vector.LaneError
	if !errors.As(err, &lane) || lane.Lane < 0 || lane.Lane > 3 || strings.Count(err.Error(), "lane") != 1 {
		t.Errorf("%v", err)
	}
}

// declaring takes declared options and offers none of them.
type declaring struct{ *optiontest.Tables }

func (declaring) Declare(context.Context, int, []options.DeclaredOption) error { return nil }

func (d declaring) SetOptionKinds(ctx context.Context, kinds []options.Kind) error {
	return d.Tables.SetOptionKinds(ctx, kinds[:len(kinds)-1])
}

// A source of options that breaks the contract is refused with the lane, the step and the file.
func TestBadOptions(t *testing.T) {
	good := func(x *options.Experience) options.DeclaredOption {
		o := options.DeclaredOption{Name: "up", Initiation: make([]bool, x.States), Actions: make([]int, x.States), End: make([]float64, x.States)}
		for s := range x.States {
			o.Actions[s], o.Initiation[s] = 1, s < 3
			if s >= 3 {
				o.End[s] = 1
			}
		}
		return o
	}
	calls := 0
	for want, change := range map[string]func(o *options.DeclaredOption){
		"action 2 in state 3 is not in 0..1": func(o *options.DeclaredOption) { o.Actions[3] = 2 },
		"it never ends":                      func(o *options.DeclaredOption) { clear(o.End) },
		"the task has 6":                     func(o *options.DeclaredOption) { o.End = o.End[1:] },
		"is NaN":                             func(o *options.DeclaredOption) { o.End[0] = math.NaN() },
		"6, 12 and 6 states":                 func(o *options.DeclaredOption) { o.Rows = make(mdp.Randomised, 6) },
		"the source was asked twice":         func(o *options.DeclaredOption) { calls++; o.End[0] = 1 / float64(calls) },
		"as options of rlrun's own kinds":    func(o *options.DeclaredOption) { o.Name = "member 1" },
		"panic":                              func(o *options.DeclaredOption) { panic("lost") },
	} {
		env := must.Get(vector.Vectorize(func() (framework.Environment, error) { return &river{length: 6}, nil }, 3))(t)
		source := must.Get((&vector.RulePlugin{Options: func(json.RawMessage, framework.Spec) (options.OptionSource, error) {
			return func(x *options.Experience) ([]options.DeclaredOption, error) {
				o := good(x)
				if x.Steps > 30 {
					change(&o)
				}
				return []options.DeclaredOption{o}, nil
			}, nil
		}}).OpenOptions(t.Context(), nil, env.Spec()))(t)
		o := paired(func(o *Config) {
			o.Kinds, o.Sources = []options.Kind{options.Members}, []Source{{File: "./mine.py", Source: source}}
		})
		agent := must.Get(New(t.Context(), declaring{must.Get(optiontest.New(env.Spec(), 3))(t)}, env.Spec(), 3, o))(t)
		_, err := loop.Run(t.Context(), loop.Batch{Environment: env, Agent: agent, Runs: []int{0, 1, 2}, Seeds: seed.NewSource(3, env.Spec().ID), Steps: 300,
			Grid: loop.LogGrid(20, 300), Discount: 0.9, Metrics: []result.Metric{result.Reward}})
		var lane *vector.LaneError
		if err == nil || !errors.As(err, &lane) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "options of ./mine.py, after step ") {
			t.Errorf("want %s, got %v", want, err)
		}
	}
}

// unchecked is a source whose options were not looked at before.
type unchecked options.OptionSource

func (s unchecked) Options(_ context.Context, seen []options.Experience, made [][]options.DeclaredOption) (err error) {
	for i := range seen {
		made[i], err = s(&seen[i])
	}
	return err
}

func (unchecked) Close() error { return nil }

// A probability that is NaN is not equal to itself, but this is not what is wrong with it.
func TestNaNInOptions(t *testing.T) {
	env := must.Get(vector.Vectorize(func() (framework.Environment, error) { return &river{length: 6}, nil }, 1))(t)
	agent := must.Get(New(t.Context(), declaring{must.Get(optiontest.New(env.Spec(), 1))(t)}, env.Spec(), 1, paired(func(o *Config) {
		o.Kinds = []options.Kind{options.Members}
		o.Sources = []Source{{File: "./mine.py", Source: unchecked(func(x *options.Experience) ([]options.DeclaredOption, error) {
			return []options.DeclaredOption{{Name: "up", Initiation: []bool{true, true, true, true, true, true}, Actions: make([]int, 6), End: []float64{1, math.NaN(), 1, 1, 1, 1}}}, nil
		})}}
	})))(t)
	_, err := loop.Run(t.Context(), loop.Batch{Environment: env, Agent: agent, Runs: []int{0}, Seeds: seed.NewSource(3, env.Spec().ID), Steps: 9,
		Grid: loop.LogGrid(3, 9), Discount: 0.9, Metrics: []result.Metric{result.Reward}})
	if err == nil || !strings.Contains(err.Error(), "the probability of ending in state 1 is NaN") {
		t.Errorf("%v", err)
	}
}
