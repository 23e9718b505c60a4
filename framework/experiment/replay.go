package experiment

import (
	"context"
	"fmt"
	"math"

	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
)

// trail sums up what the lanes of a batch have done, call by call: actions, rewards,
// ends of episodes, and the first number of every observation. Equal courses have
// equal sums.
type trail struct {
	vector.Environment
	calls int
	sums  []uint64
	// before is what attempts that failed have summed up, by run; runs are those of the
	// lanes. strays is told of a run that is on another course than before.
	before map[int]mark
	runs   []int
	strays func(run int)
}

// mark is the sum of a run up to a call.
type mark struct {
	calls int
	sum   uint64
}

// Step implements vector.Environment.
func (t *trail) Step(ctx context.Context, in *vector.Actions, out *vector.TimeSteps) error {
	if err := t.Environment.Step(ctx, in, out); err != nil {
		return err
	}
	t.calls++
	for i, s := range in.Signals {
		if s == vector.Idle {
			continue
		}
		h := t.sums[i]
		if s == vector.Continue {
			h = mix(h, first(&in.Actions, i))
		}
		h = mix(mix(h, math.Float64bits(out.Rewards[i])), first(&out.Observations, i))
		if out.Terminated[i] {
			h = mix(h, 1)
		}
		if out.Truncated[i] {
			h = mix(h, 2)
		}
		t.sums[i] = h
	}
	if len(t.before) == 0 {
		return nil
	}
	for i, run := range t.runs {
		if m, ok := t.before[run]; ok && m.calls == t.calls && in.Signals[i] != vector.Idle {
			delete(t.before, run)
			if m.sum != t.sums[i] {
				t.strays(run)
			}
		}
	}
	return nil
}

// keep remembers what the runs have done, for a replay.
func (t *trail) keep() {
	for i, run := range t.runs {
		if t.calls > 0 {
			t.before[run] = mark{t.calls, t.sums[i]}
		}
	}
}

// mix adds x to a sum (the multiplication of Fowler, Noll and Vo, and a shift).
func mix(h, x uint64) uint64 {
	h = (h ^ x) * 0x100000001b3
	return h ^ h>>29
}

// first is the first number of a column's entry, as bits.
func first(c *space.Column, lane int) uint64 {
	k := lane * c.Width
	switch {
	case k < len(c.Int64):
		return uint64(c.Int64[k])
	case k < len(c.Float64):
		return math.Float64bits(c.Float64[k])
	case k < len(c.Float32):
		return uint64(math.Float32bits(c.Float32[k]))
	case k < len(c.Uint8):
		return uint64(c.Uint8[k])
	}
	return 0
}

// trail follows the lanes of an attempt, where a plugin is a process and may fail.
func (w *worker) trail(env vector.Environment, runs []int) *trail {
	if w.before == nil {
		w.before = map[int]mark{}
	}
	return &trail{Environment: env, sums: make([]uint64, len(runs)), before: w.before, runs: runs, strays: func(run int) {
		if w.strayed {
			return
		}
		w.strayed = true
		e, a := w.plan.Environments[w.cell.Environment].Name, w.plan.Agents[w.cell.Agent].Name
		w.notice(fmt.Sprintf("run %d of %s in %s was replayed after a failure and took another course: environment or agent is not deterministic; verify the experiment to learn which", run, a, e))
	}}
}
