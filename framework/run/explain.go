package run

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rlrun/rlrun/framework/explore"
	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/store"
)

// Explain plays a run again up to the last decision that its host made within step steps, and returns
// this decision and all of its options. kept are the recorded decisions of the run. The error says so if the
// run takes another course than these; it is also one of the plugins, or of agents that cannot be opened again.
// It writes nothing. With trust, programs and pickles may be read as in Runner.Trust.
func Explain(ctx context.Context, p *plan.Plan, plugins Plugins, trust bool, key result.Key, step int, kept []result.Decision) (result.Decision, []explore.Offered, error) {
	steps := min(step, p.Config.Steps-1) + 1
	if steps == 0 {
		return result.Decision{}, nil, errors.New("its agents were evaluated, and a run has no steps")
	}
	x := New(only(p, key, steps), plugins)
	x.Trust = trust
	defer func() { _ = x.Close() }() // what ends changes nothing
	if err := x.Check(ctx, nil); err != nil {
		return result.Decision{}, nil, err
	}
	w := &worker{execution: &execution{plan: x.Plan, warm: x.warm, open: x.pool.open, session: &store.Session{}}}
	w.at(x.Plan.Cells[0])
	defer w.close()
	lanes, err := w.instances(ctx, 1)
	if err != nil {
		return result.Decision{}, nil, err
	}
	explorer, ok := lanes.agent.(explore.Explorer)
	if !ok {
		return result.Decision{}, nil, fmt.Errorf("the host does not decide for %s, which has no key exploration", key.Agent)
	}
	c := &x.Plan.Config
	b := loop.Batch{
		Environment: lanes.env, Agent: lanes.agent, Runs: []int{key.Run}, Seeds: seed.NewSource(*c.Seed, lanes.env.Spec().ID),
		Steps: steps, Episodes: c.Episodes, Discount: 1,
	}
	if err := w.saving(ctx, &b); err != nil {
		return result.Decision{}, nil, err
	}
	outcomes, err := loop.Run(ctx, b)
	if err != nil {
		return result.Decision{}, nil, err
	}
	made := outcomes[0].Decisions
	for i := range kept {
		at := func(d result.Decision) bool { return d.Step == kept[i].Step && d.Episode == kept[i].Episode }
		if j := slices.IndexFunc(made, at); kept[i].Step <= step && (j < 0 || !kept[i].Same(&made[j])) {
			return result.Decision{}, nil, fmt.Errorf("its decision after %d steps is another one than was recorded: a program or a file has changed since, or a program is not deterministic", kept[i].Step)
		}
	}
	return made[len(made)-1], explorer.Offered(0), nil
}

// only returns the plan of one pair, in which all decisions are kept, up to a number, and nothing else is asked for.
func only(p *plan.Plan, key result.Key, decisions int) *plan.Plan {
	one := *p
	pick := func(list []plan.Component, name string) []plan.Component {
		i := slices.IndexFunc(list, func(c plan.Component) bool { return c.Name == name })
		return list[i : i+1]
	}
	one.Environments, one.Agents, one.Cells = pick(p.Environments, key.Environment), pick(p.Agents, key.Agent), []plan.Cell{{}}
	one.EnvironmentEntries, one.AgentEntries = []int{0}, []int{0}
	c := &one.Config
	c.Environments, c.Agents = one.Environments, one.Agents
	c.Matrix, c.Compare, c.Save, c.Evaluate, c.Checkpoint = nil, nil, nil, nil, nil
	c.Record, c.Report.Metrics = plan.Recording{Decisions: &decisions}, nil
	return &one
}
