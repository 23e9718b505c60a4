package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
)

// Each worker has processes of its own. So dividing a cell among workers costs the start of
// further processes and further messages. These costs are measured. The first worker
// begins with as many runs as one batch can hold. After its first steps it knows how long a step
// takes, a + b × lanes, and with lanes that are left alone, how long the messages take: a. Then
// the runs are divided into as many parts as cost at most a tenth more of processor time. Its batch goes on
// if that is one part; else it begins anew, as a part. Records do not depend on it.

// mostExtra is by how much of its time a cell may become more expensive to be done sooner.
const mostExtra = 0.1

// cost is what a cell was found to cost.
type cost struct {
	exchange time.Duration // of a step, whatever the number of lanes: a
	lane     time.Duration // of a step of a lane: b
	start    time.Duration // of the processes of both plugins
}

// parts returns in how many parts to divide so many runs of so many steps, in batches of at most
// lanes, among workers.
func (c cost) parts(runs, steps, lanes, workers int) int {
	batches := func(parts int) int { return parts * ceil(ceil(runs, parts), lanes) }
	time := func(parts int) float64 {
		return float64(batches(parts)*steps)*c.exchange.Seconds() + float64(runs)*float64(steps)*c.lane.Seconds()
	}
	for parts := min(workers, runs); parts > 1; parts-- {
		if time(parts)-time(1)+float64(parts-1)*c.start.Seconds() <= mostExtra*time(1) {
			return parts
		}
	}
	return 1
}

func ceil(a, b int) int { return (a + b - 1) / b }

// errDivided ends the first batch of a cell whose runs are handed out anew.
var errDivided = errors.New("the runs are divided among workers")

// division measures the first batch of a cell.
type division struct {
	job     job
	queue   *batches
	workers int
}

// paced is an environment whose steps are timed until enough is known, and then decide is called.
type paced struct {
	vector.Environment
	decide func(ctx context.Context, step time.Duration) error // nil once it was called
	calls  int
	began  time.Time
}

const (
	// pacedTime is how long steps are timed, if there are pacedCalls of them by then.
	pacedTime, pacedCalls = 20 * time.Millisecond, 8
	// longestPaced is how long they are timed if there are fewer.
	longestPaced = 500 * time.Millisecond
)

// Step implements vector.Environment. The first steps, in which runs begin, do not count.
func (p *paced) Step(ctx context.Context, in *vector.Actions, out *vector.TimeSteps) error {
	if p.decide != nil {
		p.calls++
		if p.calls == 2 {
			p.began = time.Now()
		} else if timed := p.calls - 2; timed > 0 {
			took := time.Since(p.began)
			if took >= pacedTime && timed >= pacedCalls || took >= longestPaced {
				decide := p.decide
				p.decide = nil
				if err := decide(ctx, took/time.Duration(timed)); err != nil {
					return err
				}
			}
		}
	}
	return p.Environment.Step(ctx, in, out)
}

// exchange returns how long a step takes in which every lane is left alone.
func (l *instances) exchange(ctx context.Context) (time.Duration, error) {
	spec := l.env.Spec()
	n := l.count * l.actors
	in, feedback, actions := vector.NewActions(spec, n), vector.NewFeedback(spec, n), space.NewColumn(spec.Action, n)
	var least time.Duration
	for k := range 4 {
		began := time.Now()
		if err := l.env.Step(ctx, in, &feedback.TimeSteps); err != nil {
			return 0, err
		}
		if err := l.agent.Step(ctx, feedback, &actions); err != nil {
			return 0, err
		}
		if took := time.Since(began); k == 0 || took < least {
			least = took
		}
	}
	return least, nil
}

// pace returns the environment of the first batch of a cell, which decides how the cell is divided.
func (w *worker) pace(env vector.Environment, lanes *instances, d *division) vector.Environment {
	return &paced{Environment: env, decide: func(ctx context.Context, step time.Duration) error {
		exchange, err := lanes.exchange(ctx)
		if err != nil {
			return err
		}
		if w.together && exchange > step { // most steps need no message
			exchange = 0
		}
		e, a := w.plan.Environments[w.cell.Environment], w.plan.Agents[w.cell.Agent]
		c := cost{exchange: min(exchange, step), lane: max(step-exchange, 0) / time.Duration(lanes.count)}
		if w.starts != nil {
			c.start = w.starts(e) + w.starts(a)
		}
		runs := len(d.job.runs) + d.queue.left(w.cell)
		parts := c.parts(runs, w.plan.Config.Steps/lanes.actors, lanes.count, d.workers)
		w.event(Event{Cell: w.cell, Choice: fmt.Sprintf("%s in %s: %d runs in %d of %d workers, %d at a time: a step takes %v and %v a run, further processes %v to start",
			a.Name, e.Name, runs, parts, d.workers, min(lanes.count, ceil(runs, parts)), c.exchange.Round(time.Microsecond), c.lane.Round(10*time.Nanosecond), c.start.Round(10*time.Millisecond))})
		if d.queue.divide(d.job, parts) {
			return errDivided
		}
		return nil
	}}
}
