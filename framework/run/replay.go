package run

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
)

// early is how many calls of a run are summed up with all numbers of actions and
// observations; of later ones it is the first. The answers in early calls of the first
// earlyRuns runs are compared between agents.
const (
	early     = 4
	earlyRuns = 64
)

// trail sums up what the lanes of a batch have done, call by call: actions, rewards,
// ends of episodes, and numbers of every observation. Equal courses have equal sums.
type trail struct {
	vector.Environment
	calls []int // that were not idle
	sums  []uint64
	// before is what attempts that failed have summed up; of says whose the
	// lanes are. strays is called with a run that is on another course than before.
	before map[actor]mark
	of     []actor
	strays func(run int)
	// detailed is how many calls are summed up with all numbers. answered, if not nil, gets
	// the answers in these calls. Its error is that of the step.
	detailed int
	answered func(of actor, call int, a answer) error
}

// actor is one of the actors of a run.
type actor struct{ run, number int }

// actorsOf lists the actors of runs, that have so many each.
func actorsOf(runs []int, actors int) (of []actor) {
	for _, run := range runs {
		for k := range actors {
			of = append(of, actor{run, k})
		}
	}
	return of
}

// answer is what an environment answered in a call of a run. asked sums up the calls before and the
// action, sum these and the answer.
type answer struct {
	asked, sum uint64
	reward     float64
	ended      [2]bool
}

// mark is the sum of a run up to a call.
type mark struct {
	calls int
	sum   uint64
}

// Abilities implements vector.Environment. Lanes do not play by themselves, so every step is seen: an
// environment of this process does where only a rule or a source of options has a process of its own.
func (t *trail) Abilities() vector.EnvironmentAbilities {
	a := t.Environment.Abilities()
	a.PlayLane = nil
	return a
}

// Step implements vector.Environment.
func (t *trail) Step(ctx context.Context, in *vector.Actions, out *vector.TimeSteps) error {
	if err := t.Environment.Step(ctx, in, out); err != nil {
		return err
	}
	for i, s := range in.Signals {
		if s == vector.Idle {
			continue
		}
		t.calls[i]++
		h := t.sums[i]
		numbers := 1
		if t.calls[i] <= t.detailed {
			numbers = max(in.Actions.Width, out.Observations.Width)
		}
		if s == vector.Continue {
			h = add(h, &in.Actions, i, numbers)
		}
		asked := h
		h = add(loop.Mix(h, math.Float64bits(out.Rewards[i])), &out.Observations, i, numbers)
		if out.Terminated[i] {
			h = loop.Mix(h, 1)
		}
		if out.Truncated[i] {
			h = loop.Mix(h, 2)
		}
		for a, allowed := range out.Mask(i) {
			if allowed {
				h = loop.Mix(h, uint64(3+a))
			}
		}
		t.sums[i] = h
		if t.calls[i] <= t.detailed && t.answered != nil {
			err := t.answered(t.of[i], t.calls[i], answer{asked, h, out.Rewards[i], [2]bool{out.Terminated[i], out.Truncated[i]}})
			if err != nil {
				return err
			}
		}
	}
	if len(t.before) == 0 {
		return nil
	}
	for i, of := range t.of {
		if m, ok := t.before[of]; ok && m.calls == t.calls[i] && in.Signals[i] != vector.Idle {
			delete(t.before, of)
			if m.sum != t.sums[i] {
				t.strays(of.run)
			}
		}
	}
	return nil
}

// keep remembers what the runs have done, for a replay.
func (t *trail) keep() {
	for i, of := range t.of {
		if t.calls[i] > 0 {
			t.before[of] = mark{t.calls[i], t.sums[i]}
		}
	}
}

// add adds the first numbers of a column's entry to a sum, as bits.
func add(h uint64, c *space.Column, lane, numbers int) uint64 {
	for k := lane * c.Width; k < lane*c.Width+min(numbers, c.Width); k++ {
		switch {
		case k < len(c.Int64):
			h = loop.Mix(h, uint64(c.Int64[k]))
		case k < len(c.Float64):
			h = loop.Mix(h, math.Float64bits(c.Float64[k]))
		case k < len(c.Float32):
			h = loop.Mix(h, uint64(math.Float32bits(c.Float32[k])))
		case k < len(c.Uint8):
			h = loop.Mix(h, uint64(c.Uint8[k]))
		}
	}
	return h
}

// answers are those that environments gave in early calls. All agents meet the same
// random numbers in run k, so the same calls get the same answer.
type answers struct {
	mu   sync.Mutex
	of   map[question]uint64
	told map[int]bool // environments of which a difference was told
}

// question is a call of a run: the sum of the calls before it, and its action.
type question struct {
	environment int
	of          actor
	call        int
	asked       uint64
}

// differs says whether an environment answered otherwise than before. It does so once for
// every environment.
func (a *answers) differs(q question, answer uint64) bool {
	if a == nil || q.of.run >= earlyRuns {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.of == nil {
		a.of, a.told = map[question]uint64{}, map[int]bool{}
	}
	before, asked := a.of[q]
	a.of[q] = answer
	if !asked || before == answer || a.told[q.environment] {
		return false
	}
	a.told[q.environment] = true
	return true
}

// trail follows the lanes of an attempt, where a plugin is a process and may fail.
func (w *worker) trail(lanes *instances, runs []int) *trail {
	if w.before == nil {
		w.before = map[actor]mark{}
	}
	e, a := w.plan.Environments[w.cell.Environment].Name, w.plan.Agents[w.cell.Agent].Name
	answered := func(of actor, call int, x answer) error {
		if w.answers.differs(question{w.cell.Environment, of, call, x.asked}, x.sum) {
			w.notice(fmt.Sprintf("environment %s does not follow its seeds: run %d of %s got another answer in call %d than before, though all calls before were the same. Results cannot be repeated, and agents do not meet the same draws; rlrun plugin check and rlrun run --verify say more", e, of.run, a, call))
		}
		return nil
	}
	of := actorsOf(runs, lanes.actors)
	return &trail{Environment: lanes.env, calls: make([]int, len(of)), sums: make([]uint64, len(of)), before: w.before, of: of, detailed: early, answered: answered, strays: func(run int) {
		if w.strayed {
			return
		}
		w.strayed = true
		w.notice(fmt.Sprintf("run %d of %s in %s was played again and took another course: environment or agent is not deterministic; verify the experiment to learn which", run, a, e))
	}}
}
