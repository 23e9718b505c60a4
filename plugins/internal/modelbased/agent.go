// Package modelbased builds agents that learn a model of a finite task. An
// agent consists of three values:
//
//   - a Construction: the model that it plans with, made from what it has seen;
//   - a Planner: what it does with the model;
//   - a Trigger: when it plans anew.
//
// Observations are taken for Markov states. A state in which an episode terminated is
// worth nothing until an action is taken in it, if not said otherwise. A truncated step
// teaches like any other.
package modelbased

import (
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/plugins/internal/finite"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
)

// Construction is the model that an agent plans with. Planners say which methods they
// need besides.
type Construction interface {
	// Start begins a run. The experience is empty, and kept by the agent.
	Start(x *Experience)
}

// Observer is a Construction that needs more than counts.
type Observer interface {
	// Observe is called after every step, which has been counted. It reports whether a
	// plan is due.
	Observe(r float64, next int) bool
}

// Ender is a Construction that needs to know when episodes end.
type Ender interface {
	// EndEpisode is called after the last step of an episode. It reports whether a plan
	// is due.
	EndEpisode() bool
}

// Planner makes plans and follows them.
type Planner interface {
	// Start begins a run, after the construction's. The experience is kept by the agent.
	Start(x *Experience)
	// Plan makes a plan in state s.
	Plan(s int)
	// Action returns what to do in s. left is the number of steps of the trigger's
	// horizon to go, this one's among them; 0 if there is no horizon.
	Action(s, left int) int
}

// Design has the parts of an agent. Every lane has values of its own.
type Design struct {
	Construction Construction // the model
	Planner      Planner      // how to plan with it
	Trigger      Trigger      // when to plan
	// Criterion is what the greedy actions of evaluations are best for.
	Criterion Criterion
	// Wander returns an action that needs no plan, where ok. It ends the trigger's
	// horizon. It may be nil.
	Wander func(s int) (action int, ok bool)
	// MaxVisits is after how many visits a pair is no longer learned about; 0 for no
	// bound.
	MaxVisits float64
	// IgnoreLast leaves out where the last step of a truncated episode led.
	IgnoreLast bool
	// Restart takes the end of an episode for a step to where the next one begins.
	Restart bool
	// Epsilon is the probability of a uniformly random action.
	Epsilon float64
}

// Plugin makes a plugin of an agent whose parameters are a P. build checks them for a
// task and returns what makes the design of a lane.
func Plugin[P any](id, doc string, defaults P, build func(p P, t finite.Task) (func() Design, error)) vector.Plugin {
	return lanes.GreedyPlugins(finite.Plugin(id, doc, defaults, func(p P, t finite.Task) (func() finite.Learner, error) {
		design, err := build(p, t)
		if err != nil {
			return nil, err
		}
		return func() finite.Learner { return New(t, design()) }, nil
	}))[0]
}

// Learner is one lane of an agent with a model.
type Learner struct {
	Experience
	Design

	plainLearn  bool        // no learning besides counts, visits and growth
	plainAct    bool        // an action between plans is the planner's
	observer    Observer    // the construction, or nil
	ender       Ender       // likewise
	incremental *Greedy     // the planner, if its plan is brought up to date step by step, or nil
	restarting  bool        // an episode terminated: where it leads is yet to be seen
	reward      float64     // of that step
	evaluation  *greedyPlan `snapshot:"-"` // of the evaluation that goes on, or nil
}

// New returns an agent for a task.
func New(t finite.Task, d Design) *Learner {
	x := &Learner{Design: d}
	x.Experience.init(t)
	x.observer, _ = d.Construction.(Observer)
	x.ender, _ = d.Construction.(Ender)
	if d.Trigger.Changes {
		x.incremental = d.Planner.(*Greedy)
	}
	x.plainLearn = x.observer == nil && x.incremental == nil && !d.Trigger.Geometric
	x.plainAct = x.incremental == nil && d.Wander == nil && d.Epsilon == 0 && d.Trigger.Horizon == 0
	return x
}

// Start implements finite.Learner.
func (x *Learner) Start(seed uint64) {
	x.Experience.start(seed)
	x.Construction.Start(&x.Experience)
	x.Planner.Start(&x.Experience)
	x.Trigger.start(x.Task.States * x.Task.Actions)
	x.restarting, x.evaluation = false, nil
	if x.incremental != nil { // whose start is a plan
		x.Trigger.planned()
	}
}

// Begin implements finite.Learner.
func (x *Learner) Begin(s int) int {
	x.evaluation = nil
	if x.restarting {
		x.restarting = false
		x.Learn(x.reward, s)
	}
	x.Trigger.begin()
	x.begin(s)
	if x.incremental != nil {
		x.incremental.Begin()
	}
	return x.Act(s)
}

// Step implements finite.Learner.
func (x *Learner) Step(r float64, next int) int {
	x.Learn(r, next)
	return x.Act(next)
}

// End implements finite.Learner.
func (x *Learner) End(r float64, next int, terminated bool) {
	if terminated && x.Restart {
		x.restarting, x.reward = true, r
		return
	}
	if terminated && x.Terminals.Add(next) {
		x.changed(next)
	}
	if terminated || !x.IgnoreLast {
		x.Learn(r, next)
	} else {
		x.Counts.UpdateReward(x.State, x.Action, r)
		if x.observer != nil && x.observer.Observe(r, next) {
			x.Outdate()
		}
	}
	if x.ender != nil && x.ender.EndEpisode() {
		x.Outdate()
	}
}

// Learn learns from the last step, within an episode.
func (x *Learner) Learn(r float64, next int) {
	if x.MaxVisits > 0 && x.Counts.N(x.State, x.Action) >= x.MaxVisits {
		return
	}
	x.Counts.Update(x.State, x.Action, r, next)
	if x.plainLearn {
		if x.Trigger.Ahead {
			x.Trigger.since[x.Pair()]++
			return
		}
		x.Trigger.visited(x.State, x.Pair(), x.Counts.N(x.State, x.Action))
		return
	}
	if x.observer != nil && x.observer.Observe(r, next) {
		x.Outdate()
	}
	t := &x.Trigger
	switch {
	case x.incremental != nil:
		x.incremental.Learn(x.State, x.Action, next)
	case t.Geometric:
		t.due = t.due || x.Rand.Float64() >= t.Discount
	default:
		t.visited(x.State, x.Pair(), x.Counts.N(x.State, x.Action))
	}
}

// changed records that a state has become terminal, or is no longer.
func (x *Learner) changed(s int) {
	x.Trigger.due = x.Trigger.due || x.Trigger.Terminals
	if x.incremental != nil {
		x.incremental.Update(s)
	}
}

// Outdate makes a plan due.
func (x *Learner) Outdate() {
	x.Trigger.due = true
	if x.incremental != nil {
		x.Trigger.due = false
		x.incremental.Refresh()
	}
}

// Act implements finite.Learner.
func (x *Learner) Act(s int) int {
	if x.Terminals.Remove(s) {
		x.changed(s)
	}
	x.State = s
	t := &x.Trigger
	if x.plainAct {
		if t.due {
			x.plan(s)
		}
		x.Action = x.Planner.Action(s, 0)
		if t.Ahead && t.outdated(x.Pair(), x.Counts.N(s, x.Action)) {
			x.plan(s)
			x.Action = x.Planner.Action(s, 0)
		}
		return x.Action
	}
	return x.actMore(s)
}

// actMore is Act for agents with a horizon or more.
func (x *Learner) actMore(s int) int {
	t := &x.Trigger
	if x.Wander != nil {
		if a, ok := x.Wander(s); ok {
			t.left, x.Action = 0, a
			return a
		}
	}
	if x.incremental != nil && x.incremental.Outdated() || t.now() {
		x.plan(s)
	}
	left := 0
	if t.Horizon > 0 {
		if t.left == 0 {
			t.left = t.Horizon
		}
		left = t.left
		t.left--
	}
	if x.Epsilon > 0 && x.Rand.Float64() < x.Epsilon {
		x.Action = x.Rand.IntN(x.Task.Actions)
		return x.Action
	}
	x.Action = x.Planner.Action(s, left)
	return x.Action
}

// Left returns the number of steps of the trigger's horizon to go.
func (x *Learner) Left() int { return x.Trigger.left }

func (x *Learner) plan(s int) {
	x.Plans++
	x.Trigger.planned()
	x.Planner.Plan(s)
}
