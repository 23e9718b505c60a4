package voi

import "math"

// Planner decides, step by step, what to do in a task that is known by a Belief alone. It
// is greedy for the posterior mean. It goes to try a pair where the possible gain exceeds
// the cost.
type Planner struct {
	belief    *Belief
	rule      GainKind
	model     meanModel
	prospects prospects
	gains     gainEvaluator

	prize   []float64 // by pair: what trying it may gain, less its gap
	joined  []joint   // by state: its prizes together
	tours   []joint   // by state: those, and what it is worth to go on from there
	onward  []int32   // by state: the state to go on to
	worth   []float64 // by state: what arriving there is worth
	checked []int     // by state: the plan in which its prizes were computed
	stale   []bool    // by state: its prizes are to be computed anew
	old     []float64 // values at the last time that all prizes became stale
	queue   []int32   // of stale states
	next    int       // state to be checked next
	pending int       // how many states are to be checked in turn

	explore   explorer
	strays    float64 // steps that left the policy in order to explore
	tries     float64 // steps that tried the pair that was pursued
	predicted float64 // what these steps gain in expectation, in rewards
	promising []int   // by state: how many of its pairs would be worth a try, if no other pair were tried
	pairs     int     // the sum of promising

	credit  [kinds]int // operations that may be done
	urgent  bool       // a pair was tried in order to explore
	stirred bool       // something has changed since the target was chosen

	planned   float64   // horizon of the last plan
	due       bool      // the model has changed since the last plan
	shifted   bool      // so that its values change
	unlearned []int32   // pairs that changed it and that it has not learned
	known     []float64 // by pair: its tries at the last plan
	fitted    float64   // steps at the last fit
	surveyed  float64   // steps when all prizes became stale with time
	plans     int
}

// batch is how many states' prizes a plan computes in turn. With 8 the scores on development tasks
// are the same, and a run on a grid of 100 cells takes a third longer or more.
const batch = 3

// survey is the expected number of changes of a row after which all prizes are computed anew.
const survey = 0.05

// NewPlanner returns a planner for a belief. From now on the belief belongs to the planner:
// update it through AddState and Learn only.
func NewPlanner(b *Belief, rule GainKind) *Planner {
	p := &Planner{belief: b, rule: rule}
	p.model.belief = b
	p.gains = gainEvaluator{model: &p.model, prospects: &p.prospects, rule: rule}
	p.explore.model = &p.model
	return p
}

// AddState adds a state to the belief on its first visit and returns its number.
func (p *Planner) AddState() int {
	p.due, p.shifted = true, true
	p.earn(granted)
	return p.belief.addState()
}

// AddEnd adds the end of an episode as a state and returns its number. Call it once at most.
// After a step that Learn records to lead there, Begin says where the next episode begins.
func (p *Planner) AddEnd() int {
	p.due, p.shifted = true, true
	return p.belief.addEnd()
}

// Begin records that an episode began in state s. Without an end it does nothing.
func (p *Planner) Begin(s int) {
	if p.belief.end < 0 {
		return
	}
	isNew := p.belief.begin(s)
	p.resize()
	if i := int(p.belief.end) * p.belief.actions; isNew || p.belief.pairs[i].n > 1.5*p.known[i] {
		p.due, p.shifted = true, true
	}
}

// Learn records one step: action a in state s had this reward and led to next.
func (p *Planner) Learn(s, a int, reward float64, next int) {
	isNew := p.belief.learn(s, a, reward, next)
	p.resize()
	i := s*p.belief.actions + a
	n := p.belief.pairs[i].n
	if n == 1 {
		p.earn(granted)
	}
	if isNew || n > 1.5*p.known[i] || p.prize[i] > 0 && n > 1.1*p.known[i] {
		p.due = true
		p.unlearned = append(p.unlearned, int32(i))
		p.spoil(s)
		p.urgent = p.urgent || s < len(p.explore.aim) && int(p.explore.aim[s]) == s && a != int(p.model.policy[s])
	}
	p.due = p.due || p.belief.outside
}

func (p *Planner) resize() {
	n, k := p.belief.size(), len(p.belief.pairs)
	p.model.extend()
	p.prize, p.known, p.gains.promised = grow(p.prize, k), grow(p.known, k), grow(p.gains.promised, k)
	p.tours, p.onward, p.promising = grow(p.tours, n), grow(p.onward, n), grow(p.promising, n)
	p.joined, p.worth, p.checked, p.stale, p.old = grow(p.joined, n), grow(p.worth, n), grow(p.checked, n), grow(p.stale, n), grow(p.old, n)
}

// spoil marks the prizes of a state as stale.
func (p *Planner) spoil(s int) {
	if !p.stale[s] {
		p.stale[s] = true
		p.queue = append(p.queue, int32(s))
	}
}

// Action returns the action to take in state s, and whether it is taken to explore.
// horizon is the number of steps left in the run, or 1/(1−γ), at least 1.
func (p *Planner) Action(s int, horizon float64) (action int, explores bool) {
	p.Plan(s, horizon)
	if a := p.explore.first(s); a >= 0 {
		p.belief.spent += p.model.gap[s*p.belief.actions+a]
		p.belief.since += p.model.gap[s*p.belief.actions+a]
		p.count(s, a, int(p.explore.aim[s]) == s)
		return a, a != int(p.model.policy[s])
	}
	return int(p.model.policy[s]), false
}

// Plan plans anew for state s if the last plan is out of date. Action does so by itself;
// horizon is as there.
func (p *Planner) Plan(s int, horizon float64) {
	p.resize()
	horizon = p.belief.lasting(horizon)
	if rate := p.belief.rate(); p.belief.changes.due || rate*(p.belief.steps-p.surveyed) > survey {
		p.due, p.shifted, p.belief.changes.due, p.surveyed = true, true, false, p.belief.steps
		p.pending = p.belief.size()
	}
	if p.due || p.pending > 0 || p.stirred || horizon < 0.9*p.planned || horizon > 1.1*p.planned {
		p.plan(s, horizon)
	}
}

// Greedy returns the action of state s that is greedy for the posterior mean, by the
// last plan.
func (p *Planner) Greedy(s int) int {
	if s >= len(p.model.policy) {
		return 0
	}
	return int(p.model.policy[s])
}

// Best returns the action of state s that is greedy for the posterior mean; horizon is as
// for Action. It is for evaluations, in which nothing is learned: it solves the model once
// and does not explore.
func (p *Planner) Best(s int, horizon float64) int {
	if p.due || p.planned != horizon {
		p.planned, p.due = horizon, false
		p.model.update(1 - 1/max(horizon, 1.0001))
		p.model.solve()
		p.model.work = 0 // it is no step of the run
	}
	return p.Greedy(s)
}

func (p *Planner) plan(s int, horizon float64) {
	p.plans++
	p.stirred = true
	p.earn(allowance)
	if p.belief.steps >= 1.05*p.fitted {
		p.fitted = p.belief.steps
		p.belief.fit()
		p.belief.outside = p.belief.outside || p.belief.learnsLow || p.belief.learnsHigh
	}
	if p.belief.outside {
		p.measureAnew()
	}
	short := p.credit[solving] <= granted
	if short {
		p.learn()
	}
	other := horizon < 0.9*p.planned || horizon > 1.1*p.planned
	if (p.shifted || p.due && !short || other) && p.pays(solving) {
		p.pending = max(p.pending, batch)
		if other {
			p.planned = horizon
			p.pending = p.belief.size()
		}
		for i := range p.known {
			p.known[i] = p.belief.pairs[i].n
		}
		p.due, p.shifted, p.unlearned = false, false, p.unlearned[:0]
		p.model.update(1 - 1/max(p.planned, 1.0001))
		p.model.solve()
		p.gains.horizon = p.planned
		p.prospects.update(&p.model, p.planned)
		p.drift()
		p.spend(solving, &p.model.work)
	}
	if p.checked[s] == 0 { // it is new
		p.check(s)
	}
	left := batch
	p.pending = min(p.pending, p.belief.size())
	for len(p.queue) > 0 && left > 0 && p.pays(pricing) {
		s := int(p.queue[len(p.queue)-1])
		p.queue = p.queue[:len(p.queue)-1]
		p.check(s)
		left--
	}
	for p.pending > 0 && left > 0 && p.pays(pricing) {
		p.next = (p.next + 1) % p.belief.size()
		p.pending--
		if p.checked[p.next] != p.plans && !p.belief.ends(p.next) { // at the end there is nothing to try
			p.check(p.next)
			left--
		}
	}
	for range 3 {
		if !p.pays(aiming) {
			break
		}
		to := p.explore.target(s, p.prize, p.tours)
		p.spend(aiming, &p.explore.work)
		p.stirred = false
		if to < 0 || p.checked[to] == p.plans || !p.pays(pricing) {
			break
		}
		p.check(to) // a prize that is pursued is up to date
	}
	p.urgent = false
}

// learn takes in what pairs have shown since the model was solved, for as long as it is not solved anew.
func (p *Planner) learn() {
	if p.planned == 0 {
		return
	}
	for _, i := range p.unlearned {
		p.shifted = p.model.learn(int(i)) || p.shifted
		p.known[i] = p.belief.pairs[i].n
	}
	p.unlearned = p.unlearned[:0]
	p.spend(solving, &p.model.work)
}

// Kinds of work. Each has a credit of operations, so that a step costs no more in the mean ("The cost
// of a step"). What it does not pay for is left to later steps. Operations are counted and not time,
// so that results depend on nothing else.
const (
	solving = iota
	routing
	pricing
	aiming
	kinds
)

// Operations per step, and per first visit and first try, for each kind. An operation takes about ten
// nanoseconds.
const allowance, granted = 800, 60_000

func (p *Planner) earn(operations int) {
	for k := range p.credit {
		p.credit[k] += operations
	}
}

// pays reports whether work of a kind may be done now. Urgent work may be done on credit.
func (p *Planner) pays(kind int) bool {
	return p.credit[kind] > 0 || p.urgent && p.credit[kind] > -granted
}

func (p *Planner) spend(kind int, work *int) {
	p.credit[kind] -= *work
	*work = 0
}

// measureAnew learns the bounds of rewards, and converts the plan to their units.
func (p *Planner) measureAnew() {
	factor, shift, changed := p.belief.learnBounds()
	if !changed {
		return
	}
	p.due, p.shifted, p.pending = true, true, p.belief.size()
	p.explore.rate *= factor
	for _, x := range [][]float64{p.prize, p.worth, p.old, p.gains.promised, p.model.gap, p.model.trial, p.model.leaveCost} {
		for k := range x {
			x[k] *= factor
		}
	}
	for s := range p.joined {
		p.joined[s].advantage *= factor
		p.tours[s].advantage *= factor
	}
	if p.model.zeroed() { // 0 stays 0
		shift = 0
		p.model.final *= factor
	}
	for s, v := range p.model.values { // where the next solution begins
		p.model.values[s] = factor*v + shift*p.planned
	}
	p.model.at = p.model.average(p.model.values)
}

// check computes the prizes of a state.
func (p *Planner) check(s int) {
	p.checked[s] = p.plans
	p.stale[s] = false
	actions := p.belief.actions
	prizes := p.prize[s*actions : (s+1)*actions]
	p.gains.share = max(0, 1-float64(p.pairs)*max(1, p.strays/max(1, p.tries))/p.gains.horizon)
	p.worth[s] = p.gains.evaluate(s, p.worth[s], prizes, p.pays(routing))
	p.pairs += p.gains.promising - p.promising[s]
	p.promising[s] = p.gains.promising
	p.join(s)
	p.spend(routing, &p.gains.finder.work)
	p.spend(pricing, &p.gains.work)
}

// join computes what the prizes of a state are worth together.
func (p *Planner) join(s int) {
	prizes := p.prize[s*p.belief.actions : (s+1)*p.belief.actions]
	p.joined[s] = p.gains.join(s, prizes, -1, joint{})
	p.tours[s] = p.tour(s, prizes)
}

// drift makes all prizes stale when values, apart from a constant, have moved by a
// twentieth of their span since the last time.
func (p *Planner) drift() {
	if p.pending == p.belief.size() {
		copy(p.old, p.model.values)
		return
	}
	low, high, least, most := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for s, v := range p.model.values {
		low, high = min(low, v), max(high, v)
		least, most = min(least, v-p.old[s]), max(most, v-p.old[s])
	}
	if most-least > 0.05*(high-low) {
		p.pending = p.belief.size()
		copy(p.old, p.model.values)
	}
}
