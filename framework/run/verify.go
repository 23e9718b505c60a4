package run

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"

	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/store"
	"github.com/rlrun/rlrun/framework/vector"
)

// Difference is the first call in which a plugin answered otherwise when a run was
// played for the second time, though it was asked the same.
type Difference struct {
	Environment, Agent string // labels of the pair
	// Part is the component that differs, of the list "environment" or "agent".
	Part   string
	Plugin string // of the component, as the config names it
	Run    int    // number, from 0
	Call   int    // of the run, from 1; the first begins it
	What   string // such as "the reward is 0.3 and was 0.7"
}

// String tells the difference in a sentence.
func (d *Difference) String() string {
	return fmt.Sprintf("%s %s (plugin %s) is not deterministic: run %d of %s in %s was played twice, and %s in call %d, though all calls before were the same",
		d.Part, map[string]string{"environment": d.Environment, "agent": d.Agent}[d.Part], d.Plugin, d.Run, d.Agent, d.Environment, d.What, d.Call)
}

// Verify plays the first runs of every pair of a checked experiment twice and compares all
// answers of environment and agent. The second time everything is opened anew, and the
// runs are played in the opposite order. So it also finds a run that affects the next one.
// It writes nothing. It returns at most one difference per pair. An error is of a plugin
// that failed, or the context's cause.
func (x *Runner) Verify(ctx context.Context, runs int) ([]Difference, error) {
	x.pool.retain() // fresh plugins
	var found []Difference
	for _, c := range x.Plan.Cells {
		d, err := x.verifyCell(ctx, c, min(runs, x.Plan.Config.Runs))
		if err != nil {
			return found, fmt.Errorf("%s in %s cannot be verified: %w", x.Plan.Agents[c.Agent].Name, x.Plan.Environments[c.Environment].Name, err)
		}
		if d != nil {
			found = append(found, *d)
		}
	}
	return found, nil
}

func (x *Runner) verifyCell(ctx context.Context, c plan.Cell, runs int) (*Difference, error) {
	w := &worker{execution: &execution{plan: x.Plan, warm: x.warm, open: x.plugins.Open, session: &store.Session{}}}
	w.at(c)
	defer w.close()
	witness := witness{hash: maphash.MakeSeed(), runs: make([][]answer, runs)}
	for run := range runs {
		if err := w.observe(ctx, &witness, run, x.Plan.Config.Steps); err != nil {
			return nil, err
		}
	}
	w.close()
	witness.compare = true
	for run := runs - 1; run >= 0; run-- {
		err := w.observe(ctx, &witness, run, x.Plan.Config.Steps)
		var d *differs
		if errors.As(err, &d) {
			comp := map[string]plan.Component{"environment": x.Plan.Environments[c.Environment], "agent": x.Plan.Agents[c.Agent]}[d.part]
			return &Difference{Environment: x.Plan.Environments[c.Environment].Name, Agent: x.Plan.Agents[c.Agent].Name,
				Part: d.part, Plugin: comp.CommandLine(), Run: run, Call: d.call, What: d.what}, nil
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// loadSteps is how many steps Load plays.
const loadSteps = 100

// Load opens every environment and agent of a checked experiment and plays some steps with it, so
// that plugins load what they load then. It writes nothing.
func (x *Runner) Load(ctx context.Context) error {
	x.pool.retain()
	loaded := map[string]bool{}
	for _, c := range x.Plan.Cells {
		e, a := x.Plan.Environments[c.Environment], x.Plan.Agents[c.Agent]
		names := []string{plan.EnvironmentsKey + e.Name, plan.AgentsKey + a.Name}
		if loaded[names[0]] && loaded[names[1]] {
			continue
		}
		loaded[names[0]], loaded[names[1]] = true, true
		if err := x.load(ctx, c); err != nil {
			return fmt.Errorf("%s in %s: %w", a.Name, e.Name, err)
		}
	}
	return nil
}

func (x *Runner) load(ctx context.Context, c plan.Cell) error {
	w := &worker{execution: &execution{plan: x.Plan, warm: x.warm, open: x.plugins.Open, session: &store.Session{}}}
	w.at(c)
	defer w.close()
	err := w.observe(ctx, &witness{hash: maphash.MakeSeed(), runs: make([][]answer, 1)}, 0, min(loadSteps, x.Plan.Config.Steps))
	if err != nil {
		return err
	}
	plugins := []vector.Plugin{w.env.plugin, w.agent.plugin}
	for _, part := range w.parts.opened {
		plugins = append(plugins, part.plugin)
	}
	for _, p := range plugins {
		if process, ok := p.(store.Process); ok {
			if _, err := process.Sources(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// observe plays steps of a run in one lane and lets w see all answers.
func (x *worker) observe(ctx context.Context, w *witness, run, steps int) error {
	lanes, err := x.instances(ctx, 1)
	if err != nil {
		return err
	}
	w.Environment, w.run, w.calls = lanes.env, run, 0
	_, err = loop.Run(ctx, loop.Batch{
		Environment: w,
		Agent:       lanes.agent,
		Runs:        []int{run},
		Seeds:       seed.NewSource(*x.plan.Config.Seed, lanes.env.Spec().ID),
		Steps:       steps,
		Discount:    1,
	})
	return err
}

// witness is one lane of an environment. It keeps what the agent selected and what the
// environment answered in every call of a run or, the second time, compares them.
type witness struct {
	vector.Environment
	hash    maphash.Seed
	runs    [][]answer
	compare bool
	run     int // present run and calls in it
	calls   int
	buf     []byte
}

// answer is the agent's action in a call, and what the environment answered.
type answer struct {
	reward              float64
	observation, action uint64 // hashes
	ended               [2]bool
}

// differs says that an answer is another one than before.
type differs struct {
	part, what string
	call       int
}

func (d *differs) Error() string { return d.what }

// sum hashes a column.
func (w *witness) sum(c *space.Column) uint64 {
	w.buf = c.AppendBytes(w.buf[:0])
	return maphash.Bytes(w.hash, w.buf)
}

// Step implements vector.Environment.
func (w *witness) Step(ctx context.Context, in *vector.Actions, out *vector.TimeSteps) error {
	var now, before answer
	if w.compare {
		before = w.runs[w.run][w.calls]
	}
	w.calls++
	differ := func(part, format string, args ...any) error {
		return &differs{part, fmt.Sprintf(format, args...), w.calls}
	}
	if in.Signals[0] == vector.Continue {
		now.action = w.sum(&in.Actions)
	}
	if w.compare && now.action != before.action {
		return differ("agent", "the action differs")
	}
	if err := w.Environment.Step(ctx, in, out); err != nil {
		return err
	}
	now.reward, now.observation, now.ended = out.Rewards[0], w.sum(&out.Observations), [2]bool{out.Terminated[0], out.Truncated[0]}
	switch {
	case !w.compare:
		w.runs[w.run] = append(w.runs[w.run], now)
	case now.reward != before.reward:
		return differ("environment", "the reward is %v and was %v", now.reward, before.reward)
	case now.ended != before.ended:
		return differ("environment", "terminated and truncated are %v and were %v", now.ended, before.ended)
	case now.observation != before.observation:
		return differ("environment", "the observation differs")
	}
	return nil
}

// Abilities implements vector.Environment: there is no other way to be stepped.
func (*witness) Abilities() vector.EnvironmentAbilities { return vector.EnvironmentAbilities{} }
