package linearagents

import (
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/options"
	"github.com/rlrun/rlrun/plugins/internal/argmax"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
	"github.com/rlrun/rlrun/plugins/internal/members"
)

// bootstrapParams are the parameters of bootstrapped linear Q-learning.
type bootstrapParams struct {
	Ensemble
	members.Params
}

// Bootstrap returns Q-learning with K functions that are linear in tile-coded
// observations and bootstrap their data online (Dimitrakakis 2006; Osband et al. 2016) as
// a plugin. Each begins with its own draw of a prior. It learns from steps with random
// weights by the semi-gradient (Sutton & Barto 2018, §10.1, with the maximum of §6.5 in
// the target). Every weight of the n features active in s and of action a moves by
//
//	(α/n) w_k (r + γ max_b Q_k(s',b) − Q_k(s,a)),
//
// each member with the maximum of its own. Off-policy with function approximation, it has no
// guarantee to converge (§11.3), and in the tasks at hand does. It is a vector.OptionAgent with
// options of every kind but those with a bonus, which need counts of states; a host's problems are
// those of options.Tables. With one member, update all, sd 0 and behaviour mean it is linear
// Q-learning.
func Bootstrap() vector.Plugin {
	return lanes.OptionPlugin("rlrun/bootstrap-linear@1",
		"Q-learning with K linear functions of tile-coded observations that bootstrap their data online, each from its own prior; follows one for an episode (Osband et al. 2016), or lets the host decide which options to explore with.",
		bootstrapParams{defaultEnsemble(), members.Defaults()},
		kind(func(p bootstrapParams, t task) (func() learner, error) {
			c, err := p.Features.coder(t)
			if err != nil {
				return nil, err
			}
			if err := p.Ensemble.check(t, c); err != nil {
				return nil, err
			}
			return func() learner {
				x := &bootstrap{p: &p, scratch: make([]float64, t.actions)}
				x.init(&p.Ensemble, c, t.actions)
				x.selector.init()
				x.executor = members.NewExecutor(&p.Params, p.Members, p.Gamma, t.spec.Continuing, x.selector.rng)
				return x
			}, nil
		}))
}

type bootstrap struct {
	ensemble
	p        *bootstrapParams
	selector selector
	executor members.Executor
	last     int // the last action
	scratch  []float64
}

func (x *bootstrap) Start(seed uint64) {
	x.ensemble.start(seed)
	x.selector.start(seed)
	x.executor.BeginRun()
}

func (x *bootstrap) Begin(o []float64) int {
	x.executor.BeginEpisode()
	return x.Act(o)
}

func (x *bootstrap) Act(o []float64) int {
	x.SetObservation(o)
	return x.act()
}

func (x *bootstrap) Step(r float64, o []float64) int {
	x.Learn(r, o)
	x.executor.Step()
	return x.act()
}

func (x *bootstrap) SetObservation(o []float64) { x.ensemble.look(o) }

func (x *bootstrap) Learn(r float64, o []float64) {
	x.learn(x.last, r, x.Gamma, o, x.executor.Member())
}

func (x *bootstrap) End(r float64, o []float64, terminated bool) {
	gamma := x.Gamma
	if terminated {
		gamma = 0
	}
	x.learn(x.last, r, gamma, o, x.executor.Member())
}

// act selects an action where it is.
func (x *bootstrap) act() int {
	if x.executor.Hosted() {
		x.last = x.standIn(x.executor.Action(x))
		return x.last
	}
	if k := x.executor.Member(); k >= 0 {
		x.member(x.scratch, k)
	} else {
		x.means(x.scratch)
	}
	x.hide(x.scratch)
	x.last = x.selector.epsilonGreedy(x.scratch, x.p.Epsilon)
	return x.last
}

// Greedy implements options.TableAgent.
func (x *bootstrap) Greedy() int {
	x.means(x.scratch)
	return argmax.First(x.scratch)
}

// Prefers implements options.TableAgent.
func (x *bootstrap) Prefers(k int) int {
	x.member(x.scratch, k)
	return argmax.First(x.scratch)
}

// Means implements options.TableAgent.
func (x *bootstrap) Means() []float64 {
	x.means(x.scratch)
	return x.scratch
}

// Visits implements options.TableAgent. There are no visits, and options that need
// them are refused.
func (x *bootstrap) Visits() (*options.Visits, int) { return nil, 0 }

func (x *bootstrap) SetOptionKinds(kinds []options.Kind) error {
	return x.executor.SetOptionKinds(x.actions, options.TableConfig{Kinds: kinds, RevealProbability: x.p.Reveal, NoVisits: true})
}

func (x *bootstrap) DescribeDecision(p *options.Problem) error {
	x.executor.DrawMember()
	if err := x.executor.Describe(p, x.q, nil, x); err != nil {
		return err
	}
	x.executor.HoldForGood(p)
	return nil
}

func (x *bootstrap) Choose(option int) int {
	x.executor.Execute(option)
	return x.act()
}

func (x *bootstrap) GreedyPolicy(dst []int) ([]int, error) {
	return dst, lanes.Unsupported("a policy for observations that are numbers is not in a table")
}

// GreedyAction implements lanes.Greedy.
func (x *bootstrap) GreedyAction(o []float64) int {
	x.look(o)
	return x.standIn(x.Greedy())
}
