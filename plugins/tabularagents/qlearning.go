package tabularagents

import (
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/plugins/internal/argmax"
	"github.com/rlrun/rlrun/plugins/internal/finite"
)

// qLearningParams are the parameters of Q-learning.
type qLearningParams struct {
	Values
	Behaviour
}

// QLearning returns tabular Q-learning (Watkins 1989; Watkins & Dayan 1992) as a
// plugin: Q(s,a) += α (r + γ max_b Q(s',b) − Q(s,a)). It assumes that observations
// are Markov states.
func QLearning() vector.Plugin {
	return finite.Plugin("rlrun/q-learning@1",
		"Tabular Q-learning (Watkins & Dayan 1992) with ε-greedy, εz-greedy (Dabney et al. 2021) or softmax exploration, and optionally an optimistic start.",
		qLearningParams{defaultValues(0.6), defaultBehaviour()},
		func(p qLearningParams, t finite.Task) (func() finite.Learner, error) {
			if err := p.Values.check(t); err != nil {
				return nil, err
			}
			return func() finite.Learner {
				x := &qLearner{table: newTable(&p.Values, t)}
				x.selector.init(&p.Behaviour, t.Actions)
				return x
			}, nil
		})
}

type qLearner struct {
	table    table
	selector selector
	last     int // index of the pair of the last action
}

func (x *qLearner) Start(seed uint64) {
	x.table.start()
	x.selector.start(seed)
}

// Allow implements lanes.Masked.
func (x *qLearner) Allow(s int, mask []bool) { x.table.allow(s, mask) }

func (x *qLearner) Begin(s int) int {
	x.selector.interrupt()
	return x.Act(s)
}

func (x *qLearner) Act(s int) int {
	a := x.selector.action(x.table.row(s))
	x.last = s*x.table.actions + a
	return a
}

func (x *qLearner) Step(r float64, next int) int {
	x.learn(r + x.table.Gamma*argmax.Max(x.table.row(next)))
	return x.Act(next)
}

func (x *qLearner) End(r float64, next int, terminated bool) {
	if !terminated {
		r += x.table.Gamma * argmax.Max(x.table.row(next))
	}
	x.learn(r)
}

func (x *qLearner) learn(target float64) {
	q := &x.table.q[x.last]
	*q += x.table.size(x.last) * (target - *q)
}

// GreedyAction implements lanes.Greedy.
func (x *qLearner) GreedyAction(s int) int { return argmax.Any(x.table.row(s), x.selector.rng) }
