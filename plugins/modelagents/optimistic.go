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
	Criterion string   `json:"criterion,omitempty" when:"gamma!=0" jsonschema:"enum=episode,enum=run" jsonschema_description:"What the agent maximises in episodic tasks. episode: the discounted return of the episode, in which time hardly matters. run: the discounted reward of the rest of the run, so the next episode follows an end, and a quick way to the end is worth more than a careful long one. If later episodes have a negative value, 0 is used. The default is a choice of ours."`
	finite.Bounds
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
			m := optimism{gamma: p.Gamma, ends: !t.Spec.Continuing, follows: p.Criterion == "run" && !t.Spec.Continuing}
			// The affordable cost of trying again: the steps that count, shared by
			// the pairs.
			share := 1 / (1 - p.Gamma) / float64(t.States*t.Actions)
			m.unseen, m.retry, m.beta = min(max(1, 20*share), 50), 0.5*max(1, share), 0.03
			if m.follows {
				m.beta = max(m.beta, 0.16*math.Sqrt(share))
			}
			for _, w := range []struct{ value, given *float64 }{{&m.unseen, p.Unseen}, {&m.retry, p.Retry}, {&m.beta, p.Beta}} {
				if w.given != nil {
					*w.value = *w.given
				}
			}
			var err error
			m.low, m.high, err = p.Bounds.Of(t)
			m.top = t.LargestReturn(m.high, p.Gamma)
			return func() modelbased.Design {
				return modelbased.Stepwise(&optimisticModel{optimism: m}, m.gamma, m.high-m.low)
			}, err
		})
}

// Two priors of the discovery rate; both are choices of ours.
const (
	// priorRate: the prior mean of the discovery rate is 1/priorRate. It is the
	// probability that the second try of a pair leads to a state never visited.
	priorRate = 60
	// priorShape is the weight, in discoveries, of the prior that all actions discover
	// at the same rate.
	priorShape = 3
)

// optimism has what is decided before a run.
type optimism struct {
	gamma, unseen, retry, beta float64 // γ, κ, ρ and β of docs/theory.md §3.7
	low, high                  float64 // bounds of rewards
	top                        float64 // the largest return there can be
	ends                       bool    // the task has episodes that end
	follows                    bool    // and the next one counts
}

// discovered has what a run has shown, besides counts.
type discovered struct {
	best          float64           // E, but for what follows the end of an episode
	episode       float64           // reward of the present episode
	earned        float64           // reward of the run
	visited       []bool            // states
	left          int               // states not visited
	all           discoveryCounts   // of all actions
	by            []discoveryCounts // of each
	noisy         []bool            // pairs with more than one outcome
	random, tried float64           // how many those are, and how many pairs were tried twice or more
}

// discoveryCounts are of steps that were not the first of their pair: how many led to a
// state never visited, and the sum of 1/n, n being the earlier tries.
type discoveryCounts struct{ found, exposed float64 }

// optimisticModel is the empirical model with a belief about what has not been seen.
type optimisticModel struct {
	modelbased.Data
	optimism
	discovered
}

// Start implements modelbased.Construction.
func (m *optimisticModel) Start(x *modelbased.Experience) {
	m.Data.Start(x)
	t := x.Task
	m.discovered = discovered{best: m.top, visited: make([]bool, t.States), left: t.States,
		by: make([]discoveryCounts, t.Actions), noisy: make([]bool, t.States*t.Actions)}
	if m.ends {
		m.best = min(m.top, m.high)
	}
}

// Observe implements modelbased.Observer. It reports whether all states have now been
// visited, which changes the values of every pair.
func (m *optimisticModel) Observe(r float64, next int) bool {
	s, a, pair, left := m.State, m.Action, m.Pair(), m.left
	m.visit(s)
	before := m.Counts.N(s, a) - 1
	if before > 0 {
		for _, c := range []*discoveryCounts{&m.all, &m.by[a]} {
			c.exposed += 1 / before
			if !m.visited[next] {
				c.found++
			}
		}
	}
	if before == 1 {
		m.tried++
	}
	if !m.noisy[pair] && m.Noisy(s, a) {
		m.noisy[pair] = true
		m.random++
	}
	m.earned += r
	m.episode += r
	m.visit(next)
	return left > 0 && m.left == 0
}

// visit records that a state was visited.
func (m *optimisticModel) visit(s int) {
	if !m.visited[s] {
		m.visited[s] = true
		m.left--
	}
}

// EndEpisode implements modelbased.Ender. It reports whether E has grown.
func (m *optimisticModel) EndEpisode() bool {
	best := m.best
	if m.ends {
		m.best = max(m.best, min(m.top, m.episode))
	}
	m.episode = 0
	return m.best > best
}

// Backup implements modelbased.Optimism.
func (m *optimisticModel) Backup(q []float64, s int, value []float64, end float64) {
	best := min(m.top, m.discovered.best+m.gamma*end)
	mean := 0.0
	if total := m.Counts.Total(); total > 0 {
		mean = m.earned / total
	}
	bonus := m.beta * (m.high - m.low)
	retry := m.retry * max(0, min(mean-m.low, m.high-mean))
	random := (1 + m.random) / (1 + m.tried)
	for a := range q {
		q[a] = best
		if n := m.Counts.N(s, a); n > 0 {
			w := 0.0
			if m.left > 0 {
				w = m.unvisited(a)
			}
			mean := m.Counts.Rewards(s, a).Mean + m.gamma*m.Sum(0, s, a, value)/n
			q[a] = min(m.top, (n*mean+w*best)/(n+w)+random*(bonus/math.Sqrt(n)+retry/n))
		}
	}
}

// unvisited returns w of an action, where states are left: θ̂ is by what factor, at most
// 1, it finds fewer of them than others.
func (m *optimisticModel) unvisited(action int) float64 {
	share, own := 1.0, m.by[action]
	if m.all.found > 0 {
		share = min(1, (priorShape+own.found)/(priorShape+m.all.found*own.exposed/m.all.exposed))
	}
	return m.unseen * (1 + m.all.found) / (priorRate + m.all.exposed) * share / float64(1+m.Task.States-m.left)
}

// EndValue implements modelbased.Optimism: the mean value of the states in which episodes
// began, if that is above 0; the largest return before the first one.
func (m *optimisticModel) EndValue(value []float64) float64 {
	switch {
	case !m.follows:
		return 0
	case m.Episodes == 0:
		return max(0, m.top)
	}
	sum := 0.0
	for s, n := range m.Starts {
		if n > 0 {
			sum += n * value[s]
		}
	}
	return max(0, sum/m.Episodes)
}
