package tabularagents

import (
	"math"
	"math/rand/v2"

	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/plugins/internal/argmax"
	"github.com/rlrun/rlrun/plugins/internal/finite"
)

// dynaParams are the parameters of Dyna-Q and Dyna-Q+.
type dynaParams struct {
	Values
	Behaviour
	Planning int     `json:"planning" jsonschema:"minimum=0" jsonschema_description:"Backups from the model after every step; 0 is Q-learning. The default is a choice of ours, made on development tasks (docs/studies/families.md, Defaults of learners); Sutton & Barto (2018, Example 8.1) have 0, 5 and 50."`
	Model    string  `json:"model,omitempty" when:"planning!=0" jsonschema:"enum=empirical,enum=last" jsonschema_description:"empirical: successors by their frequencies, with mean rewards, for random tasks. last: the last outcome, as in Sutton & Barto (2018, §8.2), for deterministic tasks. The default is a choice of ours: it also works in deterministic tasks, unless they change."`
	Kappa    float64 `json:"kappa" when:"planning!=0" jsonschema:"minimum=0" jsonschema_description:"Dyna-Q+: when above 0, planning adds kappa times the square root of the steps since a pair was last tried to its reward. It also considers actions that were never tried, and assumes that they lead back with reward 0 (Sutton & Barto 2018, §8.3). 0, the default, is Dyna-Q (Sutton 1990)."`
}

// DynaQ returns Dyna-Q and Dyna-Q+ (Sutton 1990; Sutton & Barto 2018, §8.2-8.3) as
// a plugin: Q-learning that after every step also learns from simulated steps of a
// model. These begin in pairs of state and action drawn from the pairs seen so
// far. It assumes that observations are Markov states. Harmonic step sizes also
// count the made-up visits.
func DynaQ() vector.Plugin {
	return finite.Plugin("rlrun/dyna-q@1",
		"Dyna-Q (Sutton 1990), Q-learning that plans with a learned model, and Dyna-Q+, which tries actions again that it has not tried for a long time.",
		dynaParams{defaultValues(0.4), defaultBehaviour(), 50, "empirical", 0},
		func(p dynaParams, t finite.Task) (func() finite.Learner, error) {
			if err := p.Values.check(t); err != nil {
				return nil, err
			}
			return func() finite.Learner {
				x := &dyna{qLearner: qLearner{table: newTable(&p.Values, t)}, p: &p, t: t}
				x.selector.init(&p.Behaviour, t.Actions)
				x.rng = rand.New(&x.pcg)
				x.seen = make([]bool, t.States)
				x.actions, x.numActions = make([]int32, t.States*t.Actions), make([]int32, t.States)
				x.tried = make([]float64, t.States*t.Actions)
				return x
			}, nil
		})
}

type dyna struct {
	qLearner
	p   *dynaParams
	t   finite.Task
	pcg rand.PCG // of planning
	rng *rand.Rand
	// outcomes has a state more than the task: t.States stands for termination.
	outcomes   outcomes
	now        float64   // steps made
	tried      []float64 // when each pair was tried last; 0 for never
	seen       []bool    // states that an action was taken in
	states     []int32   // the same, listed
	actions    []int32   // of state s: its actions tried, from s*t.Actions on
	numActions []int32   // how many those are
}

// outcomes is a model: what pairs of state and action led to.
type outcomes interface {
	update(s, a int, r float64, next int)
	// sample requires a pair that has been tried.
	sample(s, a int, rng *rand.Rand) (r float64, next int)
}

func (x *dyna) Start(s uint64) {
	x.qLearner.Start(s)
	x.pcg.Seed(s, uint64(seed.Bootstrap))
	if x.p.Model == "last" {
		x.outcomes = newLastOutcomes(x.t)
	} else {
		x.outcomes = newFrequencies(x.t)
	}
	x.now = 0
	clear(x.tried)
	clear(x.seen)
	clear(x.actions)
	clear(x.numActions)
	x.states = x.states[:0]
}

func (x *dyna) Step(r float64, next int) int {
	x.learn(r + x.table.Gamma*argmax.Max(x.table.row(next)))
	x.remember(r, next)
	x.plan()
	return x.Act(next)
}

func (x *dyna) End(r float64, next int, terminated bool) {
	x.qLearner.End(r, next, terminated)
	if terminated {
		next = x.t.States
	}
	x.remember(r, next)
	x.plan()
}

// remember takes the last step into the model.
func (x *dyna) remember(r float64, next int) {
	s, a := x.last/x.t.Actions, x.last%x.t.Actions
	x.outcomes.update(s, a, r, next)
	x.now++
	if x.tried[x.last] == 0 {
		x.actions[s*x.t.Actions+int(x.numActions[s])] = int32(a)
		x.numActions[s]++
	}
	x.tried[x.last] = x.now
	if !x.seen[s] {
		x.seen[s] = true
		x.states = append(x.states, int32(s))
	}
}

// plan makes backups from the model: of a state drawn from those seen and an
// action drawn from those tried there, or, in Dyna-Q+, from all.
func (x *dyna) plan() {
	n := x.t.Actions
	for range x.p.Planning {
		s := int(x.states[x.rng.IntN(len(x.states))])
		var a int
		if x.p.Kappa > 0 {
			a = x.rng.IntN(n)
		} else {
			a = int(x.actions[s*n+x.rng.IntN(int(x.numActions[s]))])
		}
		i := s*n + a
		r, next := 0.0, s
		if x.tried[i] > 0 {
			r, next = x.outcomes.sample(s, a, x.rng)
		}
		if x.p.Kappa > 0 {
			r += x.p.Kappa * math.Sqrt(x.now-x.tried[i])
		}
		if next < x.t.States {
			r += x.table.Gamma * argmax.Max(x.table.row(next))
		}
		q := &x.table.q[i]
		*q += x.table.size(i) * (r - *q)
	}
}

// lastOutcomes remembers what happened last.
type lastOutcomes struct {
	actions int
	reward  []float64
	next    []int32
}

func newLastOutcomes(t finite.Task) *lastOutcomes {
	return &lastOutcomes{t.Actions, make([]float64, t.States*t.Actions), make([]int32, t.States*t.Actions)}
}

func (o *lastOutcomes) update(s, a int, r float64, next int) {
	o.reward[s*o.actions+a], o.next[s*o.actions+a] = r, int32(next)
}

func (o *lastOutcomes) sample(s, a int, _ *rand.Rand) (float64, int) {
	return o.reward[s*o.actions+a], int(o.next[s*o.actions+a])
}

// frequencies draws successors as often as they were seen.
type frequencies struct{ counts *mdp.Counts }

func newFrequencies(t finite.Task) frequencies {
	counts, err := mdp.NewCounts(t.States+1, t.Actions)
	if err != nil {
		panic("tabularagents: a task without states or actions") // which spaces exclude
	}
	return frequencies{counts}
}

func (f frequencies) update(s, a int, r float64, next int) { f.counts.Update(s, a, r, next) }

func (f frequencies) sample(s, a int, rng *rand.Rand) (float64, int) {
	next, count := f.counts.Row(s, a)
	k := 0
	if len(next) > 1 {
		for u := rng.Float64() * f.counts.N(s, a); k < len(next)-1 && u >= count[k]; k++ {
			u -= count[k]
		}
	}
	return f.counts.Rewards(s, a).Mean, int(next[k])
}
