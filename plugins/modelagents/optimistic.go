package modelagents

import (
	"math"

	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/plugins/internal/finite"
	"github.com/rlrun/rlrun/plugins/internal/modelbased"
)

// optimisticParams are the parameters of the optimistic model.
type optimisticParams struct {
	Gamma     float64  `json:"gamma" jsonschema:"minimum=0,exclusiveMaximum=1" jsonschema_description:"Discount; a choice of ours, like the other defaults, which were found by trial."`
	Unseen    *float64 `json:"unseen,omitempty" jsonschema:"minimum=0" jsonschema_description:"Factor on the probability that a step finds the best possible state, while there are unvisited states. The derivation gives 1. In runs much longer than 1/(1-gamma) steps a find pays for longer than the discount counts. This is a reason for a larger value if there are few pairs of states and actions to search. 0 ignores unvisited states. Default 20/(1-gamma) divided by the number of pairs, but at least 1 and at most 50: choices of ours."`
	Retry     *float64 `json:"retry,omitempty" jsonschema:"minimum=0" jsonschema_description:"Bonus of a pair after one try, which falls as 1/n. Its unit is the distance of the mean reward per step from the nearer of the smallest and the largest reward. It is multiplied by (1 + pairs seen with more than one outcome)/(1 + pairs tried twice or more). Default 0.5, or 0.5/(1-gamma) divided by the number of pairs of states and actions if that is more, since trying few pairs again costs a small part of the horizon. Both are choices of ours."`
	Beta      *float64 `json:"beta,omitempty" jsonschema:"minimum=0" jsonschema_description:"Bonus of a pair after one try, which falls as 1/√n like that of MBIE-EB, in units of the range of rewards. Default 0.03. With criterion run it is 0.16/√(1-gamma) divided by the square root of the number of pairs, if that is more, since later episodes are worth more than one episode. Both are choices of ours."`
	Criterion string   `json:"criterion,omitempty" jsonschema:"enum=episode,enum=run" jsonschema_description:"What the agent maximises in episodic tasks. episode: the discounted return of the episode, in which time hardly matters. run: the discounted reward of the rest of the run, so the next episode follows an end, and a quick way to the end is worth more than a careful long one. If later episodes have a negative value, 0 is used. The default is a choice of ours."`
	Bounds
}

// OptimisticModel returns an agent that plans with what it has seen of the task and
// is optimistic about the rest, as a plugin; docs/theory.md §3.7 derives it. It acts
// greedily by the solution of
//
//	Q(s,a) = (n q̂ + w E)/(n + w) + ν (β R/√n + ρ ḡ/n),   q̂ = r̂(s,a) + γ Σ_u p̂(u|s,a) max_b Q(u,b),
//
// Here n is the number of tries of (s,a), and R the range of rewards. A pair never
// tried has the largest possible value E. In continuing tasks this is the largest
// reward for ever. In episodic tasks it is the largest reward once, or the best
// return of an episode so far if that is more, plus the value of the following
// episodes.
//
//   - w is a number of made up steps that led to a state never visited, as good as
//     E: the Garden of Eden of Szita & Lőrincz (2008). Its size is learned from how
//     often such states have been found, less for an action that has found fewer than
//     its share, and 0 when all have been visited.
//   - β R/√n is the bonus of MBIE-EB (Strehl & Littman 2008). ρ ḡ/n corrects a
//     first try that misled; ḡ is the mean reward so far, as a distance from the
//     nearer bound.
//   - ν is the share of pairs with more than one outcome among those tried twice:
//     if nothing is random, one try is enough.
//
// It assumes what MBIE-EB assumes, and keeps its solution up to date in the same way.
func OptimisticModel() vector.Plugin {
	return modelbased.Plugin("rlrun/optimistic-model@1",
		"The best policy of the empirical model, with optimism about untried pairs, unvisited states (after Szita & Lőrincz 2008) and random outcomes (the bonus of MBIE-EB). Ours, experimental: its constants were tuned on the tasks of the old leaderboard.",
		optimisticParams{Gamma: 0.99, Criterion: "run"},
		func(p optimisticParams, t finite.Task) (func() modelbased.Design, error) {
			follows := p.Criterion == "run" && !t.Spec.Continuing
			// The affordable cost of trying again: the steps that count, shared by
			// the pairs.
			share := 1 / (1 - p.Gamma) / float64(t.States*t.Actions)
			unseen, retry, beta := min(max(1, 20*share), 50), 0.5*max(1, share), 0.03
			if follows {
				beta = max(beta, 0.16*math.Sqrt(share))
			}
			for _, w := range []struct{ value, given *float64 }{{&unseen, p.Unseen}, {&retry, p.Retry}, {&beta, p.Beta}} {
				if w.given != nil {
					*w.value = *w.given
				}
			}
			low, high, err := p.Bounds.of(t)
			if err != nil {
				return nil, err
			}
			return func() modelbased.Design {
				m := &optimisticModel{gamma: p.Gamma, bonus: beta * (high - low), noisy: make([]bool, t.States*t.Actions)}
				if follows {
					m.starts = make([]float64, t.States)
				}
				m.unknown = discoveryModel{unseen: unseen, retry: retry, low: low, high: high, top: t.LargestReturn(high, p.Gamma),
					ends: !t.Spec.Continuing, states: t.States, by: make([]discoveryCounts, t.Actions)}
				return greedy(m, p.Gamma, high-low)
			}, nil
		})
}

type optimisticModel struct {
	x        *modelbased.Experience `snapshot:"-"`
	gamma    float64
	bonus    float64 // of a pair tried once, where all is random
	unknown  discoveryModel
	noisy    []bool    // pairs with more than one outcome
	starts   []float64 // how often episodes began in each state; nil if the next one does not count
	episodes float64   // begun in this run
}

// Start implements modelbased.Construction.
func (m *optimisticModel) Start(x *modelbased.Experience) {
	m.x = x
	m.unknown.start()
	clear(m.noisy)
	clear(m.starts)
	m.episodes = 0
}

// BeginEpisode implements modelbased.Observer.
func (m *optimisticModel) BeginEpisode(s int) {
	if m.starts != nil {
		m.starts[s]++
		m.episodes++
	}
}

// Observe implements modelbased.Observer. It reports whether all states have now been
// visited, which changes the values of every pair.
func (m *optimisticModel) Observe(r float64, next int) bool {
	s, a, pair := m.x.State, m.x.Action, m.x.Pair()
	all := m.unknown.visit(s)
	was := m.noisy[pair]
	m.noisy[pair] = was || m.x.Noisy(s, a)
	m.unknown.step(a, m.x.Counts.N(s, a)-1, was, m.noisy[pair], r, next)
	return m.unknown.visit(next) || all
}

// EndEpisode implements modelbased.Observer. It reports whether E has grown.
func (m *optimisticModel) EndEpisode() bool { return m.unknown.end() }

// Backup implements modelbased.Optimism.
func (m *optimisticModel) Backup(q []float64, s int, value []float64, end float64) {
	best := min(m.unknown.top, m.unknown.best+m.gamma*end)
	for a := range q {
		q[a] = best
		if n := m.x.Counts.N(s, a); n > 0 {
			mean := m.x.Counts.Rewards(s, a).Mean + m.gamma*m.x.Sum(0, s, a, value)/n
			q[a] = min(m.unknown.top, m.unknown.value(a, best, n, mean, m.bonus/math.Sqrt(n)))
		}
	}
}

// EndValue implements modelbased.Optimism: the mean value of the states in which episodes
// began, if that is above 0; the largest return before the first one.
func (m *optimisticModel) EndValue(value []float64) float64 {
	switch {
	case m.starts == nil:
		return 0
	case m.episodes == 0:
		return max(0, m.unknown.top)
	}
	sum := 0.0
	for s, n := range m.starts {
		if n > 0 {
			sum += n * value[s]
		}
	}
	return max(0, sum/m.episodes)
}

// Two priors of the discovery model; both are choices of ours.
const (
	// priorRate: the prior mean of the discovery rate is 1/priorRate. It is the
	// probability that the second try of a pair leads to a state never visited.
	priorRate = 60
	// priorShape is the weight, in discoveries, of the prior that all actions discover
	// at the same rate.
	priorShape = 3
)

// discoveryModel is the belief about what has not been seen: states never visited, and
// whether pairs are random.
type discoveryModel struct {
	unseen    float64 // κ of docs/theory.md §3.7
	retry     float64 // ρ
	low, high float64 // bounds of rewards
	top       float64 // the largest return there can be
	ends      bool    // the task has episodes that end
	states    int

	best            float64           // E, but for what follows the end of an episode
	episode         float64           // reward of the present episode
	visited         []bool            // states
	left            int               // states not visited
	all             discoveryCounts   // of all actions
	by              []discoveryCounts // of each
	repeated, noisy float64           // pairs tried twice or more; those of them with more than one outcome
	steps, earned   float64           // in the run
}

// discoveryCounts are of steps that were not the first of their pair: how many led to a
// state never visited, and the sum of 1/n, n being the earlier tries.
type discoveryCounts struct{ found, exposed float64 }

func (u *discoveryModel) start() {
	*u = discoveryModel{unseen: u.unseen, retry: u.retry, low: u.low, high: u.high, top: u.top, ends: u.ends, states: u.states,
		best: u.top, visited: make([]bool, u.states), left: u.states, by: make([]discoveryCounts, len(u.by))}
	if u.ends {
		u.best = min(u.top, u.high)
	}
}

// value returns Q of a pair of an action with n tries, given E, its q̂ and β R/√n.
func (u *discoveryModel) value(action int, best, n, q, bonus float64) float64 {
	w := 0.0
	if u.left > 0 {
		w = u.unseen * (1 + u.all.found) / (priorRate + u.all.exposed) * u.share(action) / float64(1+u.states-u.left)
	}
	mean := 0.0
	if u.steps > 0 {
		mean = u.earned / u.steps
	}
	random := (1 + u.noisy) / (1 + u.repeated)
	return (n*q+w*best)/(n+w) + random*(bonus+u.retry*max(0, min(mean-u.low, u.high-mean))/n)
}

// share returns by what factor, at most 1, an action finds fewer states than others: θ̂
// of docs/theory.md §3.7.
func (u *discoveryModel) share(action int) float64 {
	if u.all.found == 0 {
		return 1
	}
	own := &u.by[action]
	return min(1, (priorShape+own.found)/(priorShape+u.all.found*own.exposed/u.all.exposed))
}

// visit records that a state was visited. It reports whether that was the last
// one.
func (u *discoveryModel) visit(s int) bool {
	if u.visited[s] {
		return false
	}
	u.visited[s] = true
	u.left--
	return u.left == 0
}

// step records a step of a pair. Its action was tried before times. The flags say
// whether the pair had only one outcome, before and after the step.
func (u *discoveryModel) step(action int, before float64, wasNoisy, isNoisy bool, r float64, next int) {
	u.steps++
	u.earned += r
	u.episode += r
	if before > 0 {
		for _, f := range []*discoveryCounts{&u.all, &u.by[action]} {
			f.exposed += 1 / before
			if !u.visited[next] {
				f.found++
			}
		}
	}
	if before == 1 {
		u.repeated++
	}
	if isNoisy && !wasNoisy {
		u.noisy++
	}
}

// end records that an episode ended. It reports whether E has grown.
func (u *discoveryModel) end() bool {
	best := u.best
	if u.ends {
		u.best = max(u.best, min(u.top, u.episode))
	}
	u.episode = 0
	return u.best > best
}
