package voi

import (
	"cmp"
	"math"
	"slices"
)

// gainEvaluator computes what trying the pairs of a state may gain: g(x) of (T), "The gain of trying".
type gainEvaluator struct {
	model     *meanModel
	prospects *prospects
	rule      GainKind

	finder       routeFinder
	best, greedy routes         // to the state under evaluation
	stored       []storedRoutes // by state
	outcomes     outcomes       // for the routes that are best
	own          outcomes       // for the greedy routes
	scaled       []outcome
	scenarios    []scenario
	population   []improvement
	moves        []float64 // of the row of a pair, in standard deviations
	repeatValues []float64 // by action: what its mean row is worth
	succeeds     []float64 // by pair: probability that a try improves the rest of the run, as its prize counts it
	byPrize      []int     // actions whose prizes are positive, the smallest first
	horizon      float64
	share        float64    // of the horizon that is left when all promising pairs have been tried
	promising    int        // pairs of the state that would be worth a try, if no other pair were tried
	kept         float64    // share of the gain that the law of gains counts
	firstTries   []firstTry // of the state, that differ
	work         int
	promised     []float64 // by pair: what a try gains by that law
}

// row is a pair's mean reward, and the means after it of the values, of f and of c.
type row struct{ r, v, f, c float64 }

// scenario is a row that trying a pair may show, with its probability.
type scenario struct {
	p float64
	row
	record float64 // see outcome
}

// pairCase is a pair under evaluation.
type pairCase struct {
	value     float64 // of its state
	policy    bool    // the policy takes it
	leads     bool    // no other action of the state is worth more by the mean rows
	bestOther float64 // what the best other action is worth
	own       float64 // what it is worth itself
	shifts    float64 // by how much bestOther grows with the reward of this pair
	shown     row     // of what it has shown
	base      row     // of what is believed of the rest
	deviation row     // by how much h moves for a standard deviation of what the tries may show
	up, down  float64 // after so many standard deviations h is the row of the best, or the worst, successor shown
	outcomes  []outcome
}

// improved writes the population of improvements D of the scenarios, with γ times the record ("What lies
// behind a new state"). For the law of gains it also computes the share
// of their mean that one try can bring by itself, without what may be found behind a new state. If
// the pair leads, this is the mean of the largest value, of this pair or the best other, less that
// of now.
func (a *gainEvaluator) improved(c *pairCase) {
	a.work += 2 * len(a.scenarios)
	a.population = a.population[:0]
	all, kept := 0.0, 0.0
	for i := range a.scenarios {
		x := &a.scenarios[i]
		d, w := c.improvement(a.model.gamma, x.row)
		if c.leads {
			kept += x.p * (max(w, c.bestOther+c.shifts*(x.r-c.base.r)) - c.own)
		} else {
			kept += x.p * max(0, d)
		}
		d += a.model.gamma * x.record
		all += x.p * max(0, d)
		a.population = append(a.population, improvement{x.p, d})
	}
	if a.kept = 0; kept > 0 {
		a.kept = min(1, kept/all)
	}
}

// improvement returns D of a scenario without its record: the value of going on with the revealed
// row, minus that of trying it once, γ[(f W − c)⁺ − (f W₁ − c)⁺] or (W₂ − W)⁺ ("One standard for all
// actions of a state"). It also returns W.
func (c *pairCase) improvement(gamma float64, x row) (d, w float64) {
	advantage := x.r + gamma*x.v - c.value
	w = repeatValue(gamma, advantage, x)
	switch {
	case c.leads:
		if !c.policy { // once it has been tried, it may be left
			w = max(w, advantage)
		}
		d = max(0, c.bestOther-w)
	case w > c.bestOther:
		d = w - advantage - gamma*max(0, x.f*c.bestOther-x.c)
	}
	return d, w
}

// repeatValue returns W = (r + γ p V − V(s) − γ c)/(1 − γ f) of a row ("Row lemma"), the value of taking
// the pair whenever its state is reached by a route that is worth its cost. advantage is that of taking it once.
func repeatValue(gamma, advantage float64, x row) float64 {
	w := (advantage - gamma*x.c) / (1 - gamma*x.f)
	if advantage > 0 {
		w = max(w, advantage)
	}
	return w
}

// evaluate writes the prizes of the pairs of state s. The prize of a pair is B = max over k of g_k/k − gap,
// the largest gain per try of k tries ("Several tries"). worth is the value of arriving at
// s from its last evaluation, 0 if there was none. The routes are those of the last evaluation unless
// they are to be renewed. evaluate returns the present value.
func (a *gainEvaluator) evaluate(s int, worth float64, prizes []float64, renew bool) float64 {
	m := a.model
	actions, gamma := m.belief.actions, m.gamma
	a.promising = 0
	if worth <= 0 {
		worth = math.Sqrt(a.horizon)
	}
	a.stored = grow(a.stored, len(m.values))
	best, greedy := a.routes(s), &a.greedy
	if renew || len(best.from) == 0 {
		a.finder.find(best, m, s, worth, false)
		a.finder.find(greedy, m, s, 1, true)
		a.stored[s].store(best, greedy)
	}
	a.firstTries = a.firstTries[:0]
	a.work += len(m.values)
	a.prospects.newOutcomes(&a.outcomes, m, s, best.f, best.c)
	a.prospects.newOutcomes(&a.own, m, s, greedy.f, greedy.c)

	taken := int(m.policy[s])
	a.repeatValues = grow(a.repeatValues, actions)
	a.succeeds = grow(a.succeeds, len(m.belief.pairs))
	for act := range actions {
		i := s*actions + act
		w, possible, advantage := best, &a.outcomes, -m.trial[i]
		switch {
		case act == taken:
			advantage = max(0, advantage) // what it has shown is worth 0
			w, possible = greedy, &a.own
		case advantage <= 0:
			w, possible = greedy, &a.own
		}
		base := possible.mean(m.found[i])
		h := a.shown(i, w)
		x := row{f: h.f + m.fresh[i]*(base.f-h.f), c: h.c + m.fresh[i]*(base.c-h.c)}
		a.repeatValues[act] = repeatValue(gamma, advantage, x)
	}
	leader, bestOther := leaders(a.repeatValues, taken)
	sum, weight := 0.0, 0.0
	if leader != taken {
		sum, weight = a.repeatValues[leader], 1
	}
	for act := range actions {
		i := s*actions + act
		w := best
		c := pairCase{value: m.values[s] - m.zero, policy: act == taken, leads: act == leader, bestOther: a.repeatValues[leader], own: a.repeatValues[act]}
		if c.leads {
			c.bestOther = bestOther
			c.shifts = a.shift(s, act, bestOther)
		}
		possible := &a.outcomes
		if c.policy {
			w, possible = greedy, &a.own
		}
		a.scaled = possible.at(a.scaled, m.found[i])
		c.outcomes = a.scaled
		c.base = means(c.outcomes)
		c.base.r = a.prospects.meanFirst
		if p := &m.belief.pairs[i]; p.n > 0 {
			c.base.r = a.prospects.newRewards(m.belief, p)
		}
		c.shown = a.shown(i, w)
		if c.policy && m.belief.pairs[i].n > 0 && m.trial[i] > 0 {
			c.value -= m.trial[i] // the mean of its rows is worth 0
		}
		prizes[act] = a.prize(&c, i, w, worth, &sum, &weight)
	}
	if weight > 0 {
		return sum / weight
	}
	return worth
}

// joint is what the prizes of a state are worth together, and the expected number of steps to
// collect them.
type joint struct{ advantage, steps float64 }

// routes returns the best routes to state s that are stored.
func (a *gainEvaluator) routes(s int) *routes {
	a.stored[s].load(&a.best, &a.greedy, len(a.model.values))
	return &a.best
}

// join returns J₁(s) or, with a state to go on to, T₁(s) ("Pairs that share a way"): what it is worth to try
// the pairs of state s one after the other, the largest prize first, until one improves the rest of the run. After another try the agent comes back
// to s or goes on to state to, if that is worth the way. Arriving there is worth after. A
// negative to stands for no state. evaluate has computed the prizes.
func (a *gainEvaluator) join(s int, prizes []float64, to int, after joint) (j joint) {
	m, w := a.model, &a.stored[s]
	a.byPrize = a.byPrize[:0]
	for act, prize := range prizes {
		if prize > least {
			a.byPrize = append(a.byPrize, act)
		}
	}
	slices.SortFunc(a.byPrize, func(x, y int) int { return cmp.Compare(prizes[x], prizes[y]) })
	for _, act := range a.byPrize { // from the last try to the first
		i := s*m.belief.actions + act
		var rest joint
		back := func(p, f, c float64) {
			if x := f*j.advantage - c; x > 0 {
				rest.advantage += p * x
				rest.steps += p * (j.steps + (1-f)/(1-m.gamma))
			}
		}
		switch p := &m.belief.pairs[i]; {
		case j.advantage == 0:
		case p.n > 0:
			for k, y := range p.next {
				f, c := w.at(int(y))
				back(p.count[k]/p.n, f, c)
			}
		default:
			a.scaled = a.outcomes.at(a.scaled, m.found[i])
			for _, o := range a.scaled {
				back(o.p, o.f, o.c)
			}
		}
		if to >= 0 {
			if x := a.onward(i, to, after); x.advantage > rest.advantage {
				rest = x
			}
		}
		fails := 1 - a.succeeds[i]
		j = joint{prizes[act] + fails*m.gamma*rest.advantage, 1 + fails*rest.steps}
	}
	return j
}

// onward returns what it is worth to go on from where pair i leads to state to, where arriving
// is worth after. A pair that was never tried is taken to stay.
func (a *gainEvaluator) onward(i, to int, after joint) (j joint) {
	w, p := &a.stored[to], &a.model.belief.pairs[i]
	add := func(q float64, y int) {
		f, c := w.at(y)
		if x := f*after.advantage - c; x > 0 {
			j.advantage += q * x
			j.steps += q * (after.steps + (1-f)/(1-a.model.gamma))
		}
	}
	if p.n == 0 {
		add(1, i/a.model.belief.actions)
	}
	for k, y := range p.next {
		add(p.count[k]/p.n, int(y))
	}
	return j
}

// leaders returns the action that is worth most, and what the best other one is worth. Of two that
// are worth the same it prefers the one that the policy takes.
func leaders(repeatValues []float64, taken int) (leader int, bestOther float64) {
	leader, bestOther = taken, math.Inf(-1)
	for a, w := range repeatValues {
		if w > repeatValues[leader] {
			leader = a
		}
	}
	for a, w := range repeatValues {
		if a != leader {
			bestOther = max(bestOther, w)
		}
	}
	return leader, bestOther
}

// mean returns the means of outcomes if a state never visited has the probability p.
func (o *outcomes) mean(p float64) row {
	x, y := means(o.all[:o.new]), means(o.all[o.new:])
	return row{0, x.v + p*(y.v-x.v), x.f + p*(y.f-x.f), x.c + p*(y.c-x.c)}
}

// means returns the means of outcomes.
func means(outcomes []outcome) (x row) {
	for _, o := range outcomes {
		x.v += o.p * o.v
		x.f += o.p * o.f
		x.c += o.p * o.c
	}
	return x
}

// shown returns what a pair has shown.
func (a *gainEvaluator) shown(i int, w *routes) (x row) {
	p := &a.model.belief.pairs[i]
	if p.n == 0 {
		return row{}
	}
	for k, y := range p.next {
		x.v += p.count[k] * a.model.values[y]
		x.f += p.count[k] * w.f[y]
		x.c += p.count[k] * w.c[y]
	}
	return row{p.mean, x.v / p.n, x.f / p.n, x.c / p.n}
}

// prize returns max over k of the gain of k tries by k, less the gap.
func (a *gainEvaluator) prize(c *pairCase, i int, w *routes, worth float64, sum, weight *float64) float64 {
	p := &a.model.belief.pairs[i]
	if p.n == 0 {
		t := a.firstTry(c, a.model.found[i])
		*sum += t.sum
		*weight += t.weight
		a.succeeds[i], a.promised[i] = max(t.succeeds, a.finds(i, 1)), t.gain*t.kept
		return a.priced(t.gain, i)
	}
	a.deviate(c, p, w, worth)
	tries := [4]float64{1, p.n, 4 * p.n, 16 * p.n}
	last := len(tries) - 1
	for last > 0 && tries[last] > a.horizon/2 {
		last--
	}
	if c.policy { // it is tried anyway, one try at a time
		last = 0
	}
	best := math.Inf(-1)
	most := math.Inf(1) // what more tries than these may gain, in the mean
	for k := last; k >= 0; k-- {
		if k == 1 && p.n == 1 || most/tries[k] <= max(best, a.model.trial[i]) {
			continue
		}
		q := a.tried(c, p, i, tries[k])
		a.improved(c)
		all := mean(a.population) // no rule gives more
		if k == last {
			most = all
			a.tally(c, sum, weight)
		}
		if !c.policy && all/tries[k] <= max(best, a.model.trial[i]) {
			continue
		}
		if gain, succeeds := a.rule.gain(a.population); gain/tries[k] > best {
			best, a.succeeds[i], a.promised[i] = gain/tries[k], max(succeeds, a.finds(i, q))/tries[k], gain*a.kept/tries[k]
		}
	}
	if c.policy { // it costs nothing
		return best + max(0, -a.model.trial[i])
	}
	if q := a.model.suspect[i]; q > 0 { // it may be another pair by now
		c.base.r = a.prospects.meanFirst
		a.untried(c, false)
		for k := range a.scenarios {
			a.scenarios[k].p *= q
		}
		a.improved(c)
		if gain, succeeds := a.rule.gain(a.population); gain > best {
			best, a.succeeds[i], a.promised[i] = gain, max(succeeds, a.finds(i, q)), gain*a.kept
		}
	}
	return a.priced(best, i)
}

// firstTry is what the first try of a pair may gain that finds a state never visited with
// probability found, if it shows a successor.
type firstTry struct{ found, gain, succeeds, kept, sum, weight float64 }

// Where a state has more than few actions, first tries are evaluated at powers of grid and interpolated
// in between, by the probability of finding a state ("The cost of a step"). So pairs keep their order. If
// they were equal, the first would be tried first, and not the one that is likeliest to find a state.
const few, grid = 8, 1.125

// firstTry returns what the first try of a pair may gain. Those of a state are alike, but for found.
func (a *gainEvaluator) firstTry(c *pairCase, found float64) firstTry {
	low := math.Pow(grid, math.Floor(math.Log(found)/math.Log(grid)))
	high := min(1, grid*low)
	if c.policy || c.leads || a.model.belief.actions <= few || low >= high {
		return a.firstTryAt(c, found)
	}
	x, y := a.firstTryAt(c, low), a.firstTryAt(c, high)
	w := (found - low) / (high - low)
	mix := func(x, y float64) float64 { return x + w*(y-x) }
	return firstTry{found, mix(x.gain, y.gain), mix(x.succeeds, y.succeeds), mix(x.kept, y.kept), mix(x.sum, y.sum), mix(x.weight, y.weight)}
}

// firstTryAt returns the same, evaluated for found. It overwrites the outcomes of c.
func (a *gainEvaluator) firstTryAt(c *pairCase, found float64) firstTry {
	if !c.policy && !c.leads {
		for _, t := range a.firstTries {
			if t.found == found {
				return t
			}
		}
		a.scaled = a.outcomes.at(a.scaled, found)
		r := c.base.r
		c.outcomes, c.base = a.scaled, means(a.scaled)
		c.base.r = r
	}
	t := firstTry{found: found}
	a.untried(c, false)
	a.improved(c)
	a.tally(c, &t.sum, &t.weight)
	t.gain, t.succeeds = a.rule.gain(a.population)
	t.kept = a.kept
	if !c.policy && !c.leads {
		a.firstTries = append(a.firstTries, t)
	}
	return t
}

// priced returns the prize of pair i for its gain, g·max(0, 1 − n m/H) − gap ("One horizon for all"): the
// gain is collected after the promising pairs have been tried.
func (a *gainEvaluator) priced(gain float64, i int) float64 {
	if gain > a.model.trial[i] {
		a.promising++
	}
	return gain*a.share - a.model.trial[i]
}

// shift returns by how much the best other action of state s, worth bestOther, is worth more per
// reward of action act. If neither was tried, both rewards are draws of one process.
func (a *gainEvaluator) shift(s, act int, bestOther float64) float64 {
	b := a.model.belief
	if b.pairs[s*b.actions+act].n > 0 {
		return 0
	}
	for other, w := range a.repeatValues {
		if i := s*b.actions + other; other != act && w == bestOther && b.pairs[i].n == 0 {
			return 1 / ((b.tried + 2) * (1 - a.model.gamma*a.outcomes.mean(a.model.found[i]).f))
		}
	}
	return 0
}

// finds returns the probability that pair i finds a state never visited, given that there is
// one, if it shows a new successor with probability q.
func (a *gainEvaluator) finds(i int, q float64) float64 {
	if a.model.belief.discovered.left == 0 {
		return 0
	}
	return q * a.model.found[i] / a.model.belief.discovered.left
}

// tally adds to the mean of what arriving here is worth where trying has shown that
// the pair is worth taking.
func (a *gainEvaluator) tally(c *pairCase, sum, weight *float64) {
	if c.leads {
		return
	}
	for _, x := range a.population {
		if x.d > 0 {
			*sum += x.p * (x.d + max(0, c.bestOther))
			*weight += x.p
		}
	}
}

// deviate computes the direction and distance in which tries may move the row of a pair
// from its mean: along the covariance of the row with its value.
func (a *gainEvaluator) deviate(c *pairCase, p *pair, w *routes, worth float64) {
	c.deviation = row{}
	gamma := a.model.gamma
	if c.policy {
		worth = 0
	}
	mean := gamma * (c.shown.v + worth*c.shown.f - c.shown.c)
	var cv, cf, cc, variance float64
	worst, best := math.Inf(1), math.Inf(-1)
	for k, y := range p.next {
		z := gamma*(a.model.values[y]+worth*w.f[y]-w.c[y]) - mean
		worst, best = min(worst, z), max(best, z)
		q := p.count[k] / p.n
		cv += q * z * (a.model.values[y] - c.shown.v)
		cf += q * z * (w.f[y] - c.shown.f)
		cc += q * z * (w.c[y] - c.shown.c)
		variance += q * z * z
	}
	ofReward := p.m2 / p.n / (p.n + 1)
	ofRow := variance / (p.n + 1)
	sd := math.Sqrt(ofReward + ofRow)
	if sd == 0 {
		return
	}
	c.deviation.r = ofReward / sd
	c.up, c.down = math.Inf(1), math.Inf(1)
	if variance > 0 {
		c.up, c.down = best*sd/ofRow, -worst*sd/ofRow
		k := 1 / (p.n + 1) / sd
		c.deviation.v, c.deviation.f, c.deviation.c = k*cv, k*cf, k*cc
	}
}

// moves appends the bins of a normal distribution with standard deviation sd, cut off at up and
// −down. The mean stays 0: the side that is cut off less is drawn in.
func moves(dst []float64, sd, up, down float64) []float64 {
	above, below := 0.0, 0.0
	for _, z := range normal {
		u := min(up, max(-down, sd*z.d))
		dst = append(dst, u)
		above += z.p * max(0, u)
		below += z.p * max(0, -u)
	}
	if up < math.Inf(1) || down < math.Inf(1) {
		least := min(above, below)
		for j, u := range dst {
			if u > 0 {
				dst[j] *= least / above
			} else if u < 0 {
				dst[j] *= least / below
			}
		}
	}
	return dst
}

// untried makes the scenarios of the tries of a pair that was never tried ("The first try"). The first try shows
// a successor and a reward. Others follow if these promise, and may show the same to the end of
// the run: this is one scenario. In the other they show something new. Together they have the
// mean row of after the first try. Without all, untried leaves out successors that are no
// improvement even with the largest reward.
func (a *gainEvaluator) untried(c *pairCase, all bool) {
	a.scenarios = a.scenarios[:0]
	t := &a.prospects.trial
	mix := func(o outcome, z float64) row {
		return row{v: o.v + z*(c.base.v-o.v), f: o.f + z*(c.base.f-o.f), c: o.c + z*(c.base.c-o.c)}
	}
	for _, o := range c.outcomes {
		x, y := mix(o, t.after), mix(o, t.rest)
		same, other := true, true
		if !all && !c.leads { // D grows with the reward
			x.r = a.prospects.bestFirst + t.afterR*(c.base.r-a.prospects.bestFirst)
			y.r = a.prospects.bestFirst + t.restR*(c.base.r-a.prospects.bestFirst)
			same, other = c.improves(a.model.gamma, x, o.record), c.improves(a.model.gamma, y, o.record)
		}
		if !same && !other {
			continue
		}
		for _, r := range a.prospects.first {
			p := o.p * r.p
			if same {
				x.r = r.r + t.afterR*(c.base.r-r.r)
				a.scenarios = append(a.scenarios, scenario{p * t.same, x, o.record})
			}
			if other {
				y.r = r.r + t.restR*(c.base.r-r.r)
				a.scenarios = append(a.scenarios, scenario{p * (1 - t.same), y, o.record})
			}
		}
	}
}

// improves reports whether D of a scenario may be positive.
func (c *pairCase) improves(gamma float64, x row, record float64) bool {
	d, _ := c.improvement(gamma, x)
	d += gamma * record
	return d > 0 || d < 0 && d >= -rounding
}

// rounding is more than the error by which a difference of values may seem positive.
const rounding = 1e-6

// tried makes the scenarios of k more tries of a pair ("The gain of trying"): the
// outcomes seen, in other proportions; a new successor; or a new reward. The mean of
// every row is the present mean. tried returns the probability that the tries show a new successor.
func (a *gainEvaluator) tried(c *pairCase, p *pair, i int, k float64) (shows float64) {
	a.scenarios = a.scenarios[:0]
	n := p.n
	suspect := a.model.suspect[i]
	fresh, freshR := (a.model.fresh[i]-suspect)/(1-suspect), a.model.freshR[i] // if it has not changed
	showsNew, after := a.model.belief.successors.ahead(&p.toNext, n, 1, k)
	shows = showsNew
	paysNew, afterR := a.model.belief.rewards.ahead(&p.toReward, n, a.model.belief.unpaid(p), k)
	if showsNew+paysNew > 1 {
		showsNew, paysNew = showsNew/(showsNew+paysNew), paysNew/(showsNew+paysNew)
	}
	old := 1 - showsNew - paysNew
	// The probabilities of new outcomes and of the base where there is a new successor,
	// and where there is a new reward, keep the means.
	mass, massR := fresh, freshR
	if showsNew > 0 {
		mass = min(1, max(after, (fresh*(1-paysNew)-old*after)/showsNew))
	}
	if paysNew > 0 {
		massR = min(1, max(afterR, (freshR*(1-showsNew)-old*afterR)/paysNew))
	}
	mix := func(x, y, w float64) float64 { return x + w*(y-x) }
	shown, base, deviation := &c.shown, &c.base, &c.deviation
	if old > 0 {
		a.moves = moves(a.moves[:0], math.Sqrt(k/(n+k)), c.up, c.down)
		for j, z := range normal {
			u := a.moves[j]
			x := row{
				r: mix(min(1, max(0, shown.r+u*deviation.r)), base.r, afterR), v: mix(shown.v+u*deviation.v, base.v, after),
				f: mix(min(1, max(0, shown.f+u*deviation.f)), base.f, after), c: mix(max(0, shown.c+u*deviation.c), base.c, after),
			}
			a.scenarios = append(a.scenarios, scenario{old * z.p, x, 0})
		}
	}
	now := row{r: mix(shown.r, base.r, freshR), v: mix(shown.v, base.v, fresh), f: mix(shown.f, base.f, fresh), c: mix(shown.c, base.c, fresh)}
	draws := 3
	if k == 1 {
		draws = 1
	}
	weights, weightsR := newWeights(draws, n, k, mass-after, 1-after), newWeights(draws, n, k, massR-afterR, 1-afterR)
	for j := range draws {
		w := weights[j]
		rest := 1 - w - after
		for _, o := range c.outcomes {
			x := row{r: now.r, v: rest*shown.v + w*o.v + after*base.v, f: rest*shown.f + w*o.f + after*base.f, c: rest*shown.c + w*o.c + after*base.c}
			a.scenarios = append(a.scenarios, scenario{showsNew * o.p / float64(draws), x, o.record})
		}
		w = weightsR[j]
		rest = 1 - w - afterR
		for _, o := range a.prospects.again {
			x := now
			x.r = rest*shown.r + w*o.r + afterR*base.r
			a.scenarios = append(a.scenarios, scenario{paysNew * o.p / float64(draws), x, 0})
		}
	}
	return shows
}

// newWeights returns equally likely weights of a new outcome in the row after k more tries of a pair
// with n ≥ 1, given that it comes. They are in proportion to how often it comes, a stick of the
// process, and have the given mean. No weight is above most, which the mean is not either: if they
// were, they are drawn in towards the mean.
func newWeights(draws int, n, k, mean, most float64) (w [3]float64) {
	total := 0.0
	for j := range draws {
		w[j] = 1 + (k-1)*(1-math.Exp(math.Log(1-(float64(j)+0.5)/float64(draws))/n))
		total += w[j] / float64(draws)
	}
	spread := 1.0
	if longest := w[draws-1] / total; mean*longest > most {
		spread = (most - mean) / (mean * (longest - 1))
	}
	for j := range draws {
		w[j] = mean * (1 + spread*(w[j]/total-1))
	}
	return w
}
