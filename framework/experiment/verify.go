package experiment

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/space"
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
func (x *Experiment) Verify(ctx context.Context, runs int) ([]Difference, error) {
	x.pool.retain() // fresh plugins
	var found []Difference
	for _, c := range x.Plan.Cells() {
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

func (x *Experiment) verifyCell(ctx context.Context, c Cell, runs int) (*Difference, error) {
	w := &worker{execution: &execution{plan: x.Plan, Options: Options{Open: x.plugins.Open}}}
	w.at(c)
	defer w.close()
	witness := witnesses{hash: maphash.MakeSeed(), runs: make([][]answer, runs)}
	for run := range runs {
		if err := w.observe(ctx, &witness, run); err != nil {
			return nil, err
		}
	}
	w.close()
	witness.compare = true
	for run := runs - 1; run >= 0; run-- {
		err := w.observe(ctx, &witness, run)
		var d *differs
		if errors.As(err, &d) {
			comp := map[string]Component{"environment": x.Plan.Environments[c.Environment], "agent": x.Plan.Agents[c.Agent]}[d.part]
			return &Difference{Environment: x.Plan.Environments[c.Environment].Name, Agent: x.Plan.Agents[c.Agent].Name,
				Part: d.part, Plugin: comp.commandLine(), Run: run, Call: d.call, What: d.what}, nil
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// observe plays a run in one lane and lets witness see all answers.
func (w *worker) observe(ctx context.Context, witness *witnesses, run int) error {
	lanes, err := w.instances(ctx, 1)
	if err != nil {
		return err
	}
	witness.run, witness.calls = run, 0
	_, err = loop.Run(ctx, loop.Batch{
		Environment: &witnessEnvironment{lanes.env, witness},
		Agent:       &witnessAgent{lanes.agent, witness},
		Runs:        []int{run},
		Seeds:       seed.NewSource(*w.plan.Config.Seed, lanes.env.Spec().ID),
		Steps:       w.plan.Config.Steps,
		Discount:    1,
	})
	return err
}

// witnesses keep what environments and agents answered, and compare it with what they
// answer later.
type witnesses struct {
	hash    maphash.Seed
	runs    [][]answer
	compare bool
	run     int // present run and calls in it
	calls   int
	buf     []byte
}

// answer is what an environment answered in a call and the agent in the next.
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
func (w *witnesses) sum(c *space.Column) uint64 {
	w.buf = w.buf[:0]
	for _, part := range []any{c.Int64, c.Float64, c.Float32} {
		w.buf, _ = binary.Append(w.buf, binary.LittleEndian, part) // slices of numbers have an encoding
	}
	w.buf = append(w.buf, c.Uint8...)
	return maphash.Bytes(w.hash, w.buf)
}

// environment records an answer of the environment or, the second time, compares it.
func (w *witnesses) environment(out *vector.TimeSteps) error {
	now := answer{reward: out.Rewards[0], observation: w.sum(&out.Observations), ended: [2]bool{out.Terminated[0], out.Truncated[0]}}
	w.calls++
	if !w.compare {
		w.runs[w.run] = append(w.runs[w.run], now)
		return nil
	}
	before := w.runs[w.run][w.calls-1]
	switch {
	case now.reward != before.reward:
		return &differs{"environment", fmt.Sprintf("the reward is %v and was %v", now.reward, before.reward), w.calls}
	case now.ended != before.ended:
		return &differs{"environment", fmt.Sprintf("terminated and truncated are %v and were %v", now.ended, before.ended), w.calls}
	case now.observation != before.observation:
		return &differs{"environment", "the observation differs", w.calls}
	}
	return nil
}

// agent does the same with the agent's actions.
func (w *witnesses) agent(actions *space.Column) error {
	last := &w.runs[w.run][w.calls-1]
	if last.ended != [2]bool{} {
		return nil // the action is not used
	}
	now := w.sum(actions)
	if w.compare && now != last.action {
		return &differs{"agent", "the action differs", w.calls + 1}
	}
	last.action = now
	return nil
}

// witnessEnvironment and witnessAgent show every answer to a witness. They have no
// other way to be stepped.
type witnessEnvironment struct {
	vector.Environment
	*witnesses
}

func (w *witnessEnvironment) Step(ctx context.Context, in *vector.Actions, out *vector.TimeSteps) error {
	if err := w.Environment.Step(ctx, in, out); err != nil {
		return err
	}
	return w.environment(out)
}

func (w *witnessEnvironment) Abilities() vector.EnvironmentAbilities {
	return vector.EnvironmentAbilities{}
}

type witnessAgent struct {
	vector.Agent
	*witnesses
}

func (w *witnessAgent) Step(ctx context.Context, in *vector.Feedback, actions *space.Column) error {
	if err := w.Agent.Step(ctx, in, actions); err != nil {
		return err
	}
	if !slices.Contains(in.Signals, vector.Idle) {
		return w.agent(actions)
	}
	return nil
}

func (w *witnessAgent) Abilities() vector.AgentAbilities { return vector.AgentAbilities{} }
