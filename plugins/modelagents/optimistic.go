package modelagents

import (
	"math"

	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/plugins/internal/finite"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
)

// optimisticParams are the parameters of the optimistic model.
type optimisticParams struct {
	Gamma     float64  `json:"gamma" jsonschema:"minimum=0,exclusiveMaximum=1" jsonschema_description:"Discount; a choice of ours, like the other defaults, which were found by trial."`
	Unseen    *float64 `json:"unseen,omitempty" jsonschema:"minimum=0" jsonschema_description:"By what factor the chance is overrated that a step finds the best state there can be, while there are states that were never visited. 1 is what the derivation gives; runs much longer than 1/(1-gamma) steps reap for longer than the discount counts, which speaks for more, where there are few pairs of states and actions to search. 0 leaves such states out. Default 20/(1-gamma) divided by the number of pairs, but at least 1 and at most 50: choices of ours."`
	Retry     *float64 `json:"retry,omitempty" jsonschema:"minimum=0" jsonschema_description:"Bonus of a pair seen once, falling as 1/n, in units of what a step has earned on average above the smallest reward. Default 0.5, or 0.5/(1-gamma) divided by the number of pairs of states and actions if that is more: to try few pairs again costs little of the horizon. Both are choices of ours."`
	Beta      *float64 `json:"beta,omitempty" jsonschema:"minimum=0" jsonschema_description:"Bonus of a pair seen once, falling as 1/√n like that of MBIE-EB, in units of the range of rewards. Default 0.03; where the next episode counts 0.16/√(1-gamma) divided by the root of the number of pairs, if that is more: what follows an end is worth more than one episode can be. Both are choices of ours."`
	Criterion string   `json:"criterion,omitempty" jsonschema:"enum=episode,enum=run" jsonschema_description:"Of tasks that end. episode: the discounted return of the episode, to which time hardly counts. run: that of the rest of the run, in which the next episode follows: a careful way to the end that takes long is no longer worth as much as a quick one. Episodes that can only cost are not looked forward to. The default is a choice of ours."`
	Bounds
}

// OptimisticModel returns an agent that plans with what it has seen of the task and
// is optimistic about the rest, as a plugin; docs/theory.md §3.7 derives it. It acts
// greedily by the solution of
//
//	Q(s,a) = (n q̂ + w E)/(n + w) + ν (β R/√n + ρ ḡ/n),   q̂ = r̂(s,a) + γ Σ_u p̂(u|s,a) max_b Q(u,b),
//
// n being the tries of (s,a) and R the range of rewards. A pair never tried has the
// value E, the best there can be: the largest reward for ever in tasks that go on;
// in tasks that end the largest reward once, or the best return of an episode so
// far if that is more, and what follows.
//
//   - w is a number of made up steps that led to a state never visited, as good as
//     E: the Garden of Eden of Szita & Lőrincz (2008). Its size is learned from how
//     often such states have been found, less for an action that has found fewer than
//     its share, and 0 when all have been visited.
//   - β R/√n is the bonus of MBIE-EB (Strehl & Littman 2008). ρ ḡ/n, where ḡ is the
//     mean reward so far as a distance from the nearer bound, makes up for a first
//     try that misled.
//   - ν is the share of pairs with more than one outcome among those tried twice:
//     where nothing is random, one try tells all.
//
// It assumes what MBIE-EB assumes, and keeps its solution up to date in the same way.
func OptimisticModel() vector.Plugin {
	return finite.Plugin("rlrun/optimistic-model@1",
		"The best policy of the model seen, with optimism about pairs not tried, states not visited (after Szita & Lőrincz 2008) and what is random (MBIE-EB's bonus). Ours, experimental: its constants were tuned on the tasks of the old leaderboard.",
		optimisticParams{Gamma: 0.99, Criterion: "run"},
		func(p optimisticParams, t finite.Task) (func() finite.Learner, error) {
			if err := checkDiscount(p.Gamma); err != nil {
				return nil, err
			}
			follows := p.Criterion == "run" && !t.Spec.Continuing
			// What trying again may cost: the steps that count, shared by the pairs.
			share := 1 / (1 - p.Gamma) / float64(t.States*t.Actions)
			unseen, retry, beta := min(max(1, 20*share), 50), 0.5*max(1, share), 0.03
			if follows {
				beta = max(beta, 0.16*math.Sqrt(share))
			}
			for _, w := range []struct {
				name         string
				value, given *float64
			}{{"unseen", &unseen, p.Unseen}, {"retry", &retry, p.Retry}, {"beta", &beta, p.Beta}} {
				if w.given == nil {
					continue
				}
				if *w.value = *w.given; !(*w.value >= 0) || math.IsInf(*w.value, 0) {
					return nil, lanes.Invalid("%s is %v, must be finite and not negative", w.name, *w.value)
				}
			}
			if p.Criterion != "episode" && p.Criterion != "run" {
				return nil, lanes.Invalid("criterion is %q, must be episode or run", p.Criterion)
			}
			low, high, err := p.Bounds.of(t)
			if err != nil {
				return nil, err
			}
			return func() finite.Learner {
				x := &optimisticModel{bonus: beta * (high - low)}
				x.init(t, x, p.Gamma, low, high)
				if follows {
					x.starts = make([]float64, t.States)
				}
				x.unknown = unknown{unseen: unseen, retry: retry, low: low, high: high, top: x.top, ends: !t.Spec.Continuing, states: t.States, by: make([]finds, t.Actions)}
				return x
			}, nil
		})
}

type optimisticModel struct {
	sweeping
	bonus    float64 // of a pair tried once, where all is random
	unknown  unknown
	starts   []float64 // how often episodes began in each state; nil if the next one does not count
	episodes float64   // begun in this run
}

func (x *optimisticModel) Start(s uint64) {
	x.unknown.start()
	clear(x.starts)
	x.episodes = 0
	if x.starts != nil {
		x.end = max(0, x.top)
	}
	x.sweeping.Start(s)
}

func (x *optimisticModel) Begin(s int) int {
	if x.starts != nil {
		x.starts[s]++
		x.episodes++
		x.stale += math.Abs(x.ended() - x.end)
	}
	return x.Act(s)
}

func (x *optimisticModel) Step(r float64, next int) int {
	x.learn(r, next)
	return x.Act(next)
}

func (x *optimisticModel) End(r float64, next int, terminated bool) {
	if terminated && x.mark(next) {
		x.update(next)
	}
	x.learn(r, next)
	if x.unknown.end() {
		x.stale = math.Inf(1)
	}
}

// learn takes the last step into the model and what is believed of the rest. If all
// states have now been visited, this concerns every pair.
func (x *optimisticModel) learn(r float64, next int) {
	all := x.unknown.visit(x.state)
	before, noisy := x.counts.N(x.state, x.action), x.noisy()
	x.counts.Update(x.state, x.action, r, next)
	x.unknown.step(x.action, before, noisy, x.noisy(), r, next)
	if x.unknown.visit(next) || all {
		x.stale = math.Inf(1)
	}
	x.update(x.state)
}

// noisy tells whether the last pair has had more than one outcome.
func (x *optimisticModel) noisy() bool {
	next, _ := x.counts.Row(x.state, x.action)
	return len(next) > 1 || x.counts.Rewards(x.state, x.action).M2 > 0
}

// untried implements optimism.
func (x *optimisticModel) untried() float64 { return min(x.top, x.unknown.best+x.gamma*x.end) }

// tried implements optimism.
func (x *optimisticModel) tried(action int, n, reward, after float64) float64 {
	return x.unknown.value(action, x.untried(), n, reward+after, x.bonus/math.Sqrt(n))
}

// ended implements optimism: with the value of the state in which the next episode
// begins, the mean over those in which they have begun, if that is above 0.
func (x *optimisticModel) ended() float64 {
	if x.starts == nil {
		return 0
	}
	sum := 0.0
	for s, n := range x.starts {
		if n > 0 {
			sum += n * x.value[s]
		}
	}
	return max(0, sum/x.episodes)
}

// rarity is one over how often, before anything is known, a pair tried once is believed
// to lead to a state never visited if tried again. kinship is for how many states found
// the belief counts that actions find alike. Choices of ours.
const (
	rarity  = 60
	kinship = 3
)

// unknown is what an optimistic model believes of what it has not seen.
type unknown struct {
	unseen    float64 // κ of docs/theory.md §3.7
	retry     float64 // ρ
	low, high float64 // bounds of rewards
	top       float64 // the largest return there can be
	ends      bool    // the task has episodes that end
	states    int

	best            float64 // E, but for what follows the end of an episode
	episode         float64 // reward of the present episode
	visited         []bool  // states
	left            int     // states not visited
	all             finds   // of all actions
	by              []finds // of each
	repeated, noisy float64 // pairs tried twice or more; those of them with more than one outcome
	steps, earned   float64 // in the run
}

// finds are, of steps that were not the first of their pair, how many found a state
// never visited, and the sum of 1/n, n being the tries before.
type finds struct{ found, exposed float64 }

func (u *unknown) start() {
	*u = unknown{unseen: u.unseen, retry: u.retry, low: u.low, high: u.high, top: u.top, ends: u.ends, states: u.states,
		best: u.top, visited: make([]bool, u.states), left: u.states, by: make([]finds, len(u.by))}
	if u.ends {
		u.best = min(u.top, u.high)
	}
}

// value returns Q of a pair of an action with n tries, given E, its q̂ and β R/√n.
func (u *unknown) value(action int, best, n, q, bonus float64) float64 {
	w := 0.0
	if u.left > 0 {
		w = u.unseen * (1 + u.all.found) / (rarity + u.all.exposed) * u.share(action) / float64(1+u.states-u.left)
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
func (u *unknown) share(action int) float64 {
	if u.all.found == 0 {
		return 1
	}
	own := &u.by[action]
	return min(1, (kinship+own.found)/(kinship+u.all.found*own.exposed/u.all.exposed))
}

// visit takes in that a state was visited. It tells whether that was the last.
func (u *unknown) visit(s int) bool {
	if u.visited[s] {
		return false
	}
	u.visited[s] = true
	u.left--
	return u.left == 0
}

// step takes in a step of a pair of an action that was tried before times, of which it
// had one outcome only or not, before and after.
func (u *unknown) step(action int, before float64, wasNoisy, isNoisy bool, r float64, next int) {
	u.steps++
	u.earned += r
	u.episode += r
	if before > 0 {
		for _, f := range []*finds{&u.all, &u.by[action]} {
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

// end takes in that an episode ended. It tells whether E has grown.
func (u *unknown) end() bool {
	best := u.best
	if u.ends {
		u.best = max(u.best, min(u.top, u.episode))
	}
	u.episode = 0
	return u.best > best
}
