package modelagents

import (
	"math"

	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/plugins/internal/argmax"
	"github.com/rlrun/rlrun/plugins/internal/finite"
	"github.com/rlrun/rlrun/plugins/internal/modelbased"
)

// bamcpParams are the parameters of BAMCP.
type bamcpParams struct {
	Simulations int     `json:"simulations" jsonschema:"minimum=1" jsonschema_description:"K, the number of simulated futures before each action; the default is a choice of ours. The paper has up to 10,000 and more, which are better and take as much longer."`
	Depth       int     `json:"depth" jsonschema:"minimum=1" jsonschema_description:"Length of a simulated future in steps; the default is a choice of ours. The paper ends it where gamma^depth times the largest reward is small."`
	Gamma       float64 `json:"gamma" jsonschema:"minimum=0,maximum=1" jsonschema_description:"Discount; default of Guez et al. (2012)."`
	Exploration float64 `json:"exploration" jsonschema:"exclusiveMinimum=0" jsonschema_description:"c of the upper confidence bounds in the tree, in units of the range of rewards; the default is a choice of ours, made on Chain, DoubleLoop and RiverSwim."`
	Rollout     float64 `json:"rollout" jsonschema:"minimum=0,maximum=1" jsonschema_description:"Probability of a random action beyond the tree, where else the actions of Q-learning are taken (Guez et al. 2012, §3.3); the default is a choice of ours."`
	Alpha       float64 `json:"alpha" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Prior Dirichlet parameter of each successor; the default is a choice of ours. 1 over the number of states is better in tasks with many states and few successors."`
	Weight      float64 `json:"weight" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Number of rewards, half of them the largest and half the smallest, that the prior counts for; the default is a choice of ours, made on Chain, DoubleLoop and RiverSwim."`
	finite.Bounds
}

// BAMCP returns Bayes-adaptive Monte Carlo planning (Guez, Silver & Dayan 2012) as a plugin.
// Before each action it searches a tree of histories: each of K simulations draws a model from
// the posterior at the root, and descends by upper confidence bounds
//
//	Q(h,a) + c √(ln N(h)/N(h,a)).
//
// From the first history that is not in the tree it goes on with the actions of Q-learning. With
// many simulations the action is Bayes optimal for the depth. Models are not written out: the
// successors of a pair within a simulation are drawn from a Pólya urn, whose draws are those of
// one row drawn from its Dirichlet posterior (Blackwell & MacQueen 1973). The paper assumes that
// rewards are known. Here a reward is the largest or the smallest one, with an unknown
// probability for each pair, and a part of the history; a reward between counts as a share.
func BAMCP() vector.Plugin {
	return modelbased.Plugin("rlrun/bamcp@1",
		"BAMCP (Guez, Silver & Dayan 2012): Bayes-adaptive planning by a search among simulated futures before each action.",
		bamcpParams{Simulations: 100, Depth: 30, Gamma: 0.95, Exploration: 1, Rollout: 0.5, Alpha: 0.1, Weight: 0.1},
		func(p bamcpParams, t finite.Task) (func() modelbased.Design, error) {
			low, high, err := p.Bounds.Of(t)
			return func() modelbased.Design {
				x := &bamcp{p: &p, low: low, span: high - low, learned: make([]float64, t.States*t.Actions)}
				return modelbased.Design{Construction: x, Planner: x, Criterion: modelbased.Criterion{Gamma: min(p.Gamma, 0.999)}}
			}, err
		})
}

// bamcp searches. The tree and the simulation are made anew before each action, in the same memory.
type bamcp struct {
	modelbased.Data
	p         *bamcpParams
	low, span float64
	learned   []float64 // by Q-learning, of each pair

	nodes []bamcpNode `snapshot:"-"`
	edges []bamcpEdge `snapshot:"-"` // of node i and action a at i·A+a
	path  []bamcpDraw `snapshot:"-"` // what the simulation has drawn
}

// bamcpNode is a history that follows another one, as one of a list.
type bamcpNode struct {
	state  int
	high   bool // the last reward was the largest
	visits float64
	next   int32 // in the list of those that follow the same action; 0 at its end
}

// bamcpEdge is an action after a history: its mean return, and the histories that follow.
type bamcpEdge struct {
	q, n  float64
	first int32 // 0: none
}

// bamcpDraw is a step of a simulation.
type bamcpDraw struct {
	pair, next int
	high       bool
	edge       int // -1 beyond the tree
}

// Start implements modelbased.Construction and Planner.
func (x *bamcp) Start(e *modelbased.Experience) {
	x.Data.Start(e)
	for i := range x.learned {
		x.learned[i] = x.low / (1 - min(x.p.Gamma, 0.999))
	}
}

// Observe implements modelbased.Observer: Q-learning with the step size n^-0.77.
func (x *bamcp) Observe(r float64, next int) bool {
	if !x.Terminals.Is[next] {
		r += float64(min(x.p.Gamma, 0.999) * argmax.Max(x.row(next)))
	}
	i := x.Pair()
	x.learned[i] += float64(math.Pow(x.Counts.N(x.State, x.Experience.Action), -0.77) * (r - x.learned[i]))
	return false
}

func (x *bamcp) row(s int) []float64 {
	return x.learned[s*x.Task.Actions : (s+1)*x.Task.Actions]
}

// Plan implements modelbased.Planner. There is nothing to keep.
func (x *bamcp) Plan(int) {}

// Action implements modelbased.Planner.
func (x *bamcp) Action(s, _ int) int {
	x.nodes, x.edges = x.nodes[:0], x.edges[:0]
	x.add(bamcpNode{state: s})
	for range x.p.Simulations {
		x.simulate()
	}
	return x.best(0, 0)
}

func (x *bamcp) add(n bamcpNode) int {
	x.nodes = append(x.nodes, n)
	for range x.Task.Actions {
		x.edges = append(x.edges, bamcpEdge{})
	}
	return len(x.nodes) - 1
}

// best returns the action of the largest bound at a node, one that was never tried before all
// others. Ties have equal chances.
func (x *bamcp) best(node int, exploration float64) int {
	best, most, ties := 0, math.Inf(-1), 0
	log := math.Log(max(1, x.nodes[node].visits))
	for a, e := range x.edges[node*x.Task.Actions:][:x.Task.Actions] {
		v := math.Inf(1)
		if e.n > 0 {
			v = e.q + float64(exploration*math.Sqrt(log/e.n))
		} else if exploration == 0 {
			v = math.Inf(-1)
		}
		if v > most {
			best, most, ties = a, v, 1
		} else if v == most {
			if ties++; x.Rand.IntN(ties) == 0 {
				best = a
			}
		}
	}
	return best
}

// simulate draws a future and adds its first new history to the tree.
func (x *bamcp) simulate() {
	x.path = x.path[:0]
	node, s := 0, x.nodes[0].state
	for len(x.path) < x.p.Depth && (len(x.path) == 0 || !x.Terminals.Is[s]) {
		d := bamcpDraw{edge: -1}
		var a int
		switch {
		case node >= 0 && x.nodes[node].visits > 0:
			a = x.best(node, x.p.Exploration*x.span)
		case x.Rand.Float64() < x.p.Rollout:
			a = x.Rand.IntN(x.Task.Actions)
		default:
			a = argmax.Any(x.row(s), x.Rand)
		}
		d.pair = s*x.Task.Actions + a
		d.next, d.high = x.draw(s, a)
		if node >= 0 {
			d.edge = node*x.Task.Actions + a
			if x.nodes[node].visits == 0 {
				node = -1
			} else {
				node = x.follow(d)
			}
		}
		x.path = append(x.path, d)
		s = d.next
	}
	g := 0.0
	for i := len(x.path) - 1; i >= 0; i-- {
		d := &x.path[i]
		g = x.low + float64(x.p.Gamma*g)
		if d.high {
			g += x.span
		}
		if d.edge >= 0 {
			e := &x.edges[d.edge]
			e.n++
			e.q += (g - e.q) / e.n
			x.nodes[d.edge/x.Task.Actions].visits++
		}
	}
}

// follow returns the node after a draw, which it may have to add.
func (x *bamcp) follow(d bamcpDraw) int {
	first := x.edges[d.edge].first
	for i := first; i > 0; i = x.nodes[i].next {
		if n := &x.nodes[i]; n.state == d.next && n.high == d.high {
			return int(i)
		}
	}
	i := x.add(bamcpNode{state: d.next, high: d.high, next: first})
	x.edges[d.edge].first = int32(i)
	return i
}

// draw returns a successor and a reward from the urns of a pair: what the prior says, what was
// seen, and what the simulation has drawn from them.
func (x *bamcp) draw(s, a int) (next int, high bool) {
	pair, n, states := s*x.Task.Actions+a, x.Counts.N(s, a), x.Task.States
	drawn, highs := 0.0, 0.0
	for i := range x.path {
		if d := &x.path[i]; d.pair == pair {
			drawn++
			if d.high {
				highs++
			}
		}
	}
	if n > 0 && x.span > 0 {
		highs += n * (x.Counts.Rewards(s, a).Mean - x.low) / x.span
	}
	high = x.Rand.Float64()*(x.p.Weight+n+drawn) < x.p.Weight/2+highs
	prior := x.p.Alpha * float64(states)
	u := x.Rand.Float64() * (prior + n + drawn)
	if u -= prior; u < 0 {
		return x.Rand.IntN(states), high
	}
	successors, count := x.Counts.Row(s, a)
	for k, v := range successors {
		next = int(v)
		if u -= count[k]; u < 0 {
			return next, high
		}
	}
	for i := range x.path {
		if d := &x.path[i]; d.pair == pair {
			next = d.next
			if u--; u < 0 {
				break
			}
		}
	}
	return next, high
}
