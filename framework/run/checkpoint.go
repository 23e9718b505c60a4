package run

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/store"
)

// interval returns the units of loop.Checkpoints or the time between checkpoints; c may be nil.
func interval(c *plan.Checkpoint) (units int, every time.Duration, err error) {
	if c == nil {
		return 0, 0, nil
	}
	units, text := c.Every.Steps()
	if text != "" {
		every, err = time.ParseDuration(strings.Replace(text, "min", "m", 1))
	}
	if err != nil || units <= 0 && every <= 0 {
		return 0, 0, plan.At(fmt.Errorf("%q is neither a time above 0, such as 10m, nor a number of steps or episodes", string(c.Every)), "checkpoint", "every")
	}
	return units, every, nil
}

// checkpoints fills in what a batch needs to keep runs under way, and to go on with them. It says whether
// one goes on. Without trust, one that an earlier command pickled ends the experiment: its steps are not to be lost.
func (w *worker) checkpoints(b *loop.Batch) (goesOn bool, err error) {
	c := w.plan.Config.Checkpoint
	if w.writer == nil || c == nil && w.agents.UnderWay() == 0 {
		return false, nil
	}
	files := w.agents.Checkpoints(w.plan, w.session, w.cell, w.identities[w.plan.Key(w.cell)])
	agent := w.plan.Agents[w.cell.Agent].Name
	in := fmt.Sprintf(" of %s in %s", agent, w.plan.Environments[w.cell.Environment].Name)
	if c == nil {
		if n := len(slices.DeleteFunc(slices.Clone(b.Runs), func(run int) bool { return !files.Has(run) })); n > 0 {
			w.notice(fmt.Sprintf("%d of %d runs%s begin again, though they have checkpoints: the config has no checkpoint, which would let them go on", n, len(b.Runs), in))
		}
		return false, nil
	}
	if w.kept == nil {
		w.kept = map[int]bool{}
	}
	from, least := map[int]*loop.Checkpoint{}, 0
	for _, run := range b.Runs {
		if w.afresh[run] {
			continue
		}
		found, err := files.Read(run)
		if err != nil {
			w.notice(fmt.Sprintf("run %d%s goes on from an earlier checkpoint, or begins again: %v", run, in, err))
		}
		if found != nil {
			// With exploration a state begins with the host's part, and the agent's state follows.
			if !w.trust && !w.kept[run] && (store.Pickled(found.Agent) || slices.Contains(w.pickled, agent)) {
				err := fmt.Errorf("the agent in the checkpoint of run %d%s is a pickle, and reading it runs code that is in it: if you trust who wrote it, add --trust", run, in)
				w.stop(err)
				return false, err
			}
			if from[run] = found; least == 0 || found.Step < least {
				least = found.Step
			}
		}
	}
	if len(from) > 0 {
		w.notice(fmt.Sprintf("%d of %d runs%s go on from their checkpoints, the first after step %d", len(from), len(b.Runs), in, least))
	}
	b.Checkpoints = &loop.Checkpoints{
		From: func(run int) *loop.Checkpoint { return from[run] },
		Keep: func(run int, c *loop.Checkpoint) {
			if err := files.Write(run, c); err != nil {
				w.notice(fmt.Sprintf("there is no checkpoint of run %d%s after step %d, and the run goes on: %v", run, in, c.Step, err))
			}
			w.kept[run] = true
		},
	}
	b.Checkpoints.Units, b.Checkpoints.Every, _ = interval(c) // Check has read it
	return len(from) > 0, nil
}

// beginAgain lets those of the runs begin again that cannot go on from their checkpoints.
func (w *worker) beginAgain(runs []int, err error) {
	begin := runs
	if i := w.blamed(err, runs); i >= 0 {
		begin = runs[i : i+1]
	}
	if w.afresh == nil {
		w.afresh = map[int]bool{}
	}
	for _, run := range begin {
		w.afresh[run] = true
	}
	w.notice(fmt.Sprintf("%d of %d runs of %s in %s begin again: %v", len(begin), len(runs), w.plan.Agents[w.cell.Agent].Name, w.plan.Environments[w.cell.Environment].Name, err))
}
