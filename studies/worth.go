package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/framework/output/plots"
	"github.com/rlrun/rlrun/framework/stat"
)

// The study "when is it worth it" compares rules with the Bayes-adaptive optimum (Duff
// 2002) of small tasks. In these some transitions succeed with a probability that is
// drawn from a known beta prior. Only Thompson sampling is simulated. The optimum and the
// values of rules are computed by dynamic programming over the steps left, the state and
// the counts of successes and failures.

// effect is where an action leads and what it pays.
type effect struct {
	next   int
	reward float64
}

// pair is a state and an action: yes happens with the probability of the unknown
// numbered so, otherwise no. A pair that is known, unknown < 0, always has yes.
type pairEffects struct {
	unknown int
	yes, no effect
}

// maxUnknown is how many unknown probabilities a task may have.
const maxUnknown = 3

// counts are the successes and failures of each unknown.
type counts [maxUnknown][2]uint8

// bayesTask is a task with two actions and a prior.
type bayesTask struct {
	pairs [][2]pairEffects // by state
	prior [][2]float64     // parameters of the beta prior of each unknown
}

// mean returns the posterior mean of each unknown.
func (t *bayesTask) mean(c counts) (p [maxUnknown]float64) {
	for i, ab := range t.prior {
		a, b := ab[0]+float64(c[i][0]), ab[1]+float64(c[i][1])
		p[i] = a / (a + b)
	}
	return p
}

// backup is the value of a pair with h−1 steps left after it, given those values.
func (e *pairEffects) backup(p *[maxUnknown]float64, next []float64) float64 {
	yes := e.yes.reward + next[e.yes.next]
	if e.unknown < 0 {
		return yes
	}
	q := p[e.unknown]
	return q*yes + (1-q)*(e.no.reward+next[e.no.next])
}

// policy says what to do with h steps left in a state: policy[h][s].
type policy [][]uint8

// rows returns n rows of m zeros in one piece of memory.
func rows[T any](n, m int) [][]T {
	all, out := make([]T, n*m), make([][]T, n)
	for i := range out {
		out[i] = all[i*m : (i+1)*m : (i+1)*m]
	}
	return out
}

// plan returns the optimal values v[h][s] and actions for known probabilities.
func (t *bayesTask) plan(p [maxUnknown]float64, horizon int) (v [][]float64, act policy) {
	v, act = rows[float64](horizon+1, len(t.pairs)), rows[uint8](horizon+1, len(t.pairs))
	for h := 1; h <= horizon; h++ {
		now, best := v[h], act[h]
		for s := range now {
			now[s] = t.pairs[s][0].backup(&p, v[h-1])
			if q := t.pairs[s][1].backup(&p, v[h-1]); q > now[s]+1e-12 {
				now[s], best[s] = q, 1
			}
		}
	}
	return v, act
}

// follow returns the values of a policy for known probabilities.
func (t *bayesTask) follow(p [maxUnknown]float64, act policy) [][]float64 {
	v := rows[float64](len(act), len(t.pairs))
	for h := 1; h < len(act); h++ {
		for s := range v[h] {
			v[h][s] = t.pairs[s][act[h][s]].backup(&p, v[h-1])
		}
	}
	return v
}

// bayesRule returns what a rule does with what has been counted, for every number of
// steps left and state.
type bayesRule func(t *bayesTask, c counts, horizon int) policy

// never explores: it acts as if the means were true.
func never(t *bayesTask, c counts, horizon int) policy {
	_, act := t.plan(t.mean(c), horizon)
	return act
}

// threshold is the rule (T) of docs/theory.md for single pairs: go to a pair by the
// way of the smallest gaps, try it k times, be greedy again. With D the improvement
// that the tries may show, the gain of trying is sup δP(D ≥ δ), or E D⁺ for
// expected. k is 1, n, 4n or 16n, n being the pseudo-count of the pair.
func threshold(expected bool) bayesRule {
	return func(t *bayesTask, c counts, horizon int) policy {
		p := t.mean(c)
		v, act := t.plan(p, horizon)
		gap := func(h, s, a int) float64 { return v[h][s] - t.pairs[s][a].backup(&p, v[h-1]) }
		prize := t.prizes(c, p, v, act, gap, expected)
		out := policy{act[0]}
		ahead := make([]float64, len(t.pairs)) // the advantage with h−1 steps left
		for h := 1; h <= horizon; h++ {
			now, do := make([]float64, len(t.pairs)), make([]uint8, len(t.pairs))
			for s := range now {
				do[s] = act[h][s]
				for a := range 2 {
					e := &t.pairs[s][a]
					way := *e // its rewards are in the gap
					way.yes.reward, way.no.reward = 0, 0
					x := max(prize[h][s][a], way.backup(&p, ahead)-gap(h, s, a))
					if x > now[s]+1e-12 {
						now[s], do[s] = x, uint8(a)
					}
				}
			}
			out, ahead = append(out, do), now
		}
		return out
	}
}

// prizes returns the largest gain of trying a pair some number of times, less the
// gaps of the tries, by steps left, state and action.
func (t *bayesTask) prizes(c counts, p [maxUnknown]float64, v [][]float64, act policy, gap func(h, s, a int) float64, expected bool) [][][2]float64 {
	horizon := len(v) - 1
	prize := make([][][2]float64, horizon+1)
	for h := range prize {
		prize[h] = make([][2]float64, len(t.pairs))
	}
	for s := range t.pairs {
		for a := range 2 {
			e := &t.pairs[s][a]
			if e.unknown < 0 {
				continue
			}
			ab := t.prior[e.unknown]
			x, y := ab[0]+float64(c[e.unknown][0]), ab[1]+float64(c[e.unknown][1])
			before := 0
			for _, factor := range []float64{0, 1, 4, 16} {
				k := min(max(1, int(math.Round(factor*(x+y)))), horizon)
				if k == before {
					continue
				}
				before = k
				better := t.improvements(e, p, act, k, x, y, horizon)
				weight := betaBinomial(k, x, y)
				for h := k; h <= horizon; h++ {
					gain := rectangle(weight, better[h-k], expected)
					prize[h][s][a] = max(prize[h][s][a], gain-float64(k)*gap(h, s, a))
				}
			}
		}
	}
	return prize
}

// improvements returns, by steps left and number of successes among k tries, how much
// a plan that knows them is better than the present one.
func (t *bayesTask) improvements(e *pairEffects, p [maxUnknown]float64, act policy, k int, x, y float64, horizon int) [][]float64 {
	out := make([][]float64, horizon+1)
	for h := range out {
		out[h] = make([]float64, k+1)
	}
	for j := range k + 1 {
		q := p
		q[e.unknown] = (x + float64(j)) / (x + y + float64(k))
		best, _ := t.plan(q, horizon)
		stay := t.follow(q, act)
		for h := range out {
			more := func(s int) float64 { return best[h][s] - stay[h][s] }
			out[h][j] = q[e.unknown]*more(e.yes.next) + (1-q[e.unknown])*more(e.no.next)
		}
	}
	return out
}

// rectangle returns sup δP(D ≥ δ), or E D⁺, of a distribution.
func rectangle(weight, d []float64, expected bool) (gain float64) {
	for i, x := range d {
		if expected {
			gain += weight[i] * max(x, 0)
			continue
		}
		p := 0.0
		for j, y := range d {
			if y >= x {
				p += weight[j]
			}
		}
		gain = max(gain, x*p)
	}
	return gain
}

// betaBinomial returns the probabilities of 0…k successes in k tries.
func betaBinomial(k int, a, b float64) []float64 {
	lgamma := func(x float64) float64 { y, _ := math.Lgamma(x); return y }
	w := make([]float64, k+1)
	for j := range w {
		n, m := float64(k), float64(j)
		w[j] = math.Exp(lgamma(n+1) - lgamma(m+1) - lgamma(n-m+1) +
			lgamma(a+m) + lgamma(b+n-m) - lgamma(a+b+n) + lgamma(a+b) - lgamma(a) - lgamma(b))
	}
	return w
}

// paper is Algorithm 1 on the walk: the unknown arm is explored if the paper's
// threshold says so. T is the number of steps of the way and the pull, and b = 0.
func paper(t *bayesTask, c counts, horizon int) policy {
	act := never(t, c, horizon)
	last := len(t.pairs) - 1
	belief := bandit.Beta{A: t.prior[0][0] + float64(c[0][0]), B: t.prior[0][1] + float64(c[0][1])}
	for h := 1; h <= horizon; h++ {
		for s := range act[h] {
			hold := last - s + 1
			if hold <= h && bandit.Threshold(belief, bandit.Comparison{Known: known, Hold: hold}).Explore(bandit.Finite(h-1).Share(hold)) {
				act[h][s] = 1
			}
		}
	}
	return act
}

// situation is what a decision depends on.
type situation struct {
	left, state uint8
	counts      counts
}

// evaluator finds values over situations. Without a rule it is the optimum.
type evaluator struct {
	task     *bayesTask
	rule     bayesRule
	horizon  int
	values   map[situation]float64
	policies map[counts]policy
}

func (t *bayesTask) evaluator(rule bayesRule, horizon int) *evaluator {
	return &evaluator{t, rule, horizon, map[situation]float64{}, map[counts]policy{}}
}

func (e *evaluator) value(x situation) float64 {
	if x.left == 0 {
		return 0
	}
	v, known := e.values[x]
	if !known {
		if e.rule == nil {
			v = max(e.act(x, 0), e.act(x, 1))
		} else {
			v = e.act(x, e.choose(x))
		}
		e.values[x] = v
	}
	return v
}

// choose returns the action of the rule or, without one, the best one.
func (e *evaluator) choose(x situation) int {
	if e.rule == nil {
		if e.act(x, 1) > e.act(x, 0)+1e-12 {
			return 1
		}
		return 0
	}
	p, known := e.policies[x.counts]
	if !known {
		p = e.rule(e.task, x.counts, e.horizon)
		e.policies[x.counts] = p
	}
	return int(p[x.left][x.state])
}

// act returns the value of an action.
func (e *evaluator) act(x situation, a int) float64 {
	pair := &e.task.pairs[x.state][a]
	then := func(f effect, c counts) float64 {
		return f.reward + e.value(situation{x.left - 1, uint8(f.next), c})
	}
	if pair.unknown < 0 {
		return then(pair.yes, x.counts)
	}
	p := e.task.mean(x.counts)[pair.unknown]
	yes, no := x.counts, x.counts
	yes[pair.unknown][0]++
	no[pair.unknown][1]++
	return p*then(pair.yes, yes) + (1-p)*then(pair.no, no)
}

// thompson estimates the value of Thompson sampling, which draws the unknowns every
// hold steps and takes the best actions for them and the steps left.
func (t *bayesTask) thompson(start, horizon, hold, runs int, rng *rand.Rand) stat.TTest {
	returns := make([]float64, runs)
	for r := range returns {
		var truth [maxUnknown]float64
		for i, ab := range t.prior {
			truth[i] = bandit.Beta{A: ab[0], B: ab[1]}.Sample(rng)
		}
		s, c := start, counts{}
		var act policy
		for h := horizon; h > 0; h-- {
			if (horizon-h)%hold == 0 {
				var drawn [maxUnknown]float64
				for i, ab := range t.prior {
					drawn[i] = bandit.Beta{A: ab[0] + float64(c[i][0]), B: ab[1] + float64(c[i][1])}.Sample(rng)
				}
				_, act = t.plan(drawn, h)
			}
			e := &t.pairs[s][act[h][s]]
			f := e.yes
			if e.unknown >= 0 {
				k := 0
				if rng.Float64() >= truth[e.unknown] {
					f, k = e.no, 1
				}
				c[e.unknown][k]++
			}
			returns[r] += f.reward
			s = f.next
		}
	}
	return stat.PairedT(returns, 0.95)
}

// known is what the known arm of the walk pays.
const known = 0.5

// walkTask is a bandit with two arms and a way of so many steps between them. The arm at the
// start pays 0.5. The other pays 1 or 0, with a mean from a beta prior.
func walkTask(way int, a, b float64) *bayesTask {
	t := &bayesTask{prior: [][2]float64{{a, b}}}
	for s := range way + 1 {
		left := pairEffects{-1, effect{s - 1, 0}, effect{}}
		if s == 0 {
			left.yes = effect{0, known}
		}
		right := pairEffects{-1, effect{s + 1, 0}, effect{}}
		if s == way {
			right = pairEffects{0, effect{s, 1}, effect{s, 0}}
		}
		t.pairs = append(t.pairs, [2]pairEffects{left, right})
	}
	return t
}

// riverTask is RiverSwim with three states. Left leads back, and pays a little
// in the first state. Right leads to the next state with an unknown
// probability, with prior Beta(1,2), and otherwise stays. In the last state
// right pays 1 and stays with such a probability, or leads back.
func riverTask(little float64) *bayesTask {
	t := &bayesTask{prior: [][2]float64{{1, 2}, {1, 2}, {1, 2}}}
	for s := range 3 {
		left := pairEffects{-1, effect{max(s-1, 0), 0}, effect{}}
		if s == 0 {
			left.yes.reward = little
		}
		right := pairEffects{s, effect{min(s+1, 2), 0}, effect{s, 0}}
		if s == 2 {
			right.yes, right.no = effect{2, 1}, effect{1, 1}
		}
		t.pairs = append(t.pairs, [2]pairEffects{left, right})
	}
	return t
}

// namedRule is a rule with its name in tables and figures.
type namedRule struct {
	name string
	rule bayesRule
}

// worth prints the tables of the study and draws its figures.
func worth() error {
	s := &study{name: "worth", w: os.Stdout}
	if err := worthBoundary(s); err != nil {
		return err
	}
	rules := []namedRule{{"never exploring", never}, {"threshold, sup", threshold(false)}, {"threshold, mean", threshold(true)}}
	walks := append(slices.Clone(rules), namedRule{"Algorithm 1", paper})
	if err := worthValues(s, "walk", "a walk of 4 steps, prior Beta(0.45, 0.55)", walkTask(4, 0.45, 0.55), walks, []int{20, 25, 30, 35, 40, 45, 50, 60}); err != nil {
		return err
	}
	return worthValues(s, "river", "RiverSwim-3, 0.25 for drifting, priors Beta(1, 2)", riverTask(0.25), rules, []int{6, 8, 10, 12, 14, 16})
}

// worthBoundary prints from how many steps on going to the unknown arm is worth it.
func worthBoundary(s *study) error {
	const longest = 100
	rules := []namedRule{{"optimal", nil}, {"threshold, sup", threshold(false)}, {"threshold, mean", threshold(true)}, {"Algorithm 1", paper}}
	ways, sizes := []int{1, 2, 4, 8}, []float64{1, 4, 16}
	fmt.Fprintf(s.w, "The fewest steps left with which each rule goes to the unknown arm, whose prior has the mean 0.45 and the pseudo-count n; – is never, up to %d:\n\n", longest)
	head := []string{"rule"}
	for _, n := range sizes {
		for _, way := range ways {
			head = append(head, fmt.Sprintf("n = %.0f, way %d", n, way))
		}
	}
	var rows [][]string
	figure := &plots.Figure{Title: "From how many steps on it is worth going, n = 1", XLabel: "steps of the way", YLabel: "steps left"}
	for _, r := range rules {
		row, line := []string{r.name}, plots.Line{Label: r.name, Reference: r.rule == nil}
		for _, n := range sizes {
			for _, way := range ways {
				from := firstWorth(walkTask(way, 0.45*n, 0.55*n), r.rule, longest)
				cell := "–"
				if from > 0 {
					cell = fmt.Sprint(from)
					if n == sizes[0] {
						line.X, line.Y = append(line.X, float64(way)), append(line.Y, float64(from))
					}
				}
				row = append(row, cell)
			}
		}
		rows = append(rows, row)
		figure.Lines = append(figure.Lines, line)
	}
	s.table(head, rows)
	return s.figure("", figure)
}

// firstWorth returns the fewest steps left with which a rule goes right in state 0
// before anything is known; 0 if there are none.
func firstWorth(t *bayesTask, rule bayesRule, longest int) int {
	e := t.evaluator(rule, longest)
	for h := 1; h <= longest; h++ {
		if e.choose(situation{left: uint8(h)}) == 1 {
			return h
		}
	}
	return 0
}

// worthValues prints what rules lose against the optimum.
func worthValues(s *study, part, title string, t *bayesTask, rules []namedRule, horizons []int) error {
	const runs, hold = 4000, 5
	fmt.Fprintf(s.w, "What each rule loses against the Bayes-adaptive optimum, %s, in expected reward. Thompson sampling draws every %d steps and is simulated, %d runs, ± half of the 95 %% interval; the rest is exact:\n\n", title, hold, runs)
	head := []string{"steps", "optimum"}
	figure := &plots.Figure{Title: "Loss against the optimum: " + title, XLabel: "steps", YLabel: "expected reward lost"}
	// It is first, so that it looks alike in all figures.
	figure.Lines = append(figure.Lines, plots.Line{Label: "Thompson sampling"})
	longest := slices.Max(horizons)
	best := t.evaluator(nil, longest)
	var evaluators []*evaluator
	for _, r := range rules {
		head = append(head, r.name)
		figure.Lines = append(figure.Lines, plots.Line{Label: r.name})
		evaluators = append(evaluators, t.evaluator(r.rule, longest))
	}
	head = append(head, "Thompson sampling")
	rng := rand.New(rand.NewPCG(1, 1))
	var rows [][]string
	for _, h := range horizons {
		start := situation{left: uint8(h)}
		one := best.value(start)
		row := []string{fmt.Sprint(h), fmt.Sprintf("%.3f", one)}
		add := func(k int, loss float64) {
			l := &figure.Lines[k]
			l.X, l.Y = append(l.X, float64(h)), append(l.Y, loss)
		}
		for k, e := range evaluators {
			loss := one - e.value(start)
			row = append(row, fmt.Sprintf("%.3f", math.Abs(loss))) // what rounding leaves has either sign
			add(1+k, loss)
		}
		ts := t.thompson(0, h, hold, runs, rng)
		row = append(row, fmt.Sprintf("%.3f ± %.3f", one-ts.Value, (ts.High-ts.Low)/2))
		add(0, one-ts.Value)
		rows = append(rows, row)
	}
	s.table(head, rows)
	return s.figure(part, figure)
}
