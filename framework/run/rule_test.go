package run_test

import (
	"context"
	"testing"

	"github.com/rlrun/rlrun/framework/output"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/run"
	"github.com/rlrun/rlrun/framework/store"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/options"
)

// torn offers an option for each action of a lever, and holds nothing to be better.
type torn struct{ alternating }

func (*torn) Options(context.Context, plugin.Value, []options.Kind) (plugin.Candidates, error) {
	var c plugin.Candidates
	c.Arms, c.Values = []options.Arm{{Name: "greedy"}, {Name: "action 1"}}, []float64{0.5, 0.5}
	for a := range int64(2) {
		c.Policies = append(c.Policies, func(context.Context, plugin.Value) (plugin.Value, error) { return plugin.Value{Int: a}, nil })
	}
	return c, nil
}

// A rule that is a function of the program decides, without a process.
func TestRuleOfTheProgram(t *testing.T) {
	type none struct{}
	plugins := here{
		"lever": plugin.NewEnvironment("me/lever@1", "Two actions.", none{}, func(none) (lever, error) { return lever{}, nil }),
		"torn":  plugin.NewAgent("me/torn@1", "Has options.", none{}, func(none, plugin.Spec, uint64) (*torn, error) { return &torn{}, nil }),
		"./last": plugin.NewRule("me/last@1", "Takes the last option.", none{}, func(none, plugin.Spec) (options.Chooser, error) {
			return func(q *options.Question) (options.Answer, error) { return options.Answer{Option: len(q.Arms) - 1}, nil }, nil
		}),
	}
	p := must.Get(plan.Compile(plan.Config{Runs: 2, Steps: 50, Output: t.TempDir(), Environments: []plan.Component{{Plugin: "lever"}},
		Agents: []plan.Component{{Name: "torn", Plugin: "torn", Exploration: &plan.Exploration{Rule: "./last"}}}}))(t)
	x := run.New(p, plugins)
	defer x.Close()
	must.Do(t, x.Check(t.Context(), nil))
	must.Do(t, x.Run(t.Context(), store.Overwrite, run.Settings{}))
	row := must.Get(output.Write(x.Experiment))(t).Summary.Row("lever", "torn", result.Reward)
	if row == nil || len(row.Values) != 2 || row.Mean != 1 {
		t.Errorf("%+v: action 1 is always taken, and pays 1", row)
	}
}
