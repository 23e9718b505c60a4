package voi

import (
	"math"
	"slices"
)

// meanModel is the posterior mean of a belief, and its optimal policy for a discount.
type meanModel struct {
	belief *Belief
	gamma  float64
	zero   float64 // what is added to rewards in units of the bounds

	criterion   Criterion
	continues   bool    // PerRun is PerStep now
	final, step float64 // otherwise the value of the end, and the factor of its last step

	planned      []float64 // by pair: share of the base in the row that is planned with
	trial        []float64 // by pair: v less what the pair is worth with its mean row
	suspect      []float64 // by pair: probability that it has changed since its last try, as it counts
	fresh        []float64 // by pair: probability that the next successor is drawn from the base
	freshR       []float64 // by pair: likewise of the next reward
	common       int       // Belief.common of the rows
	found        []float64 // by pair: probability that a new successor is a state never visited
	reward       []float64 // by pair
	global       []float64 // by state: probability under the part of the base that lies anywhere
	near         float64   // share of states that are near, among those visited
	valued       int       // states that have had a value in some plan
	alike        float64   // by how much a state never visited is like the one from which it is entered
	back         float64   // share of states that are known to lead here, among those that are not near
	values       []float64 // by state: V of docs/theory.md §3.8
	actionValues []float64 // by pair: Q
	policy       []int32
	gap          []float64 // by pair: v − q ≥ 0

	first     []int32   // by pair: where it begins in the following two
	next      []int32   // successors other than the state itself
	prob      []float64 // E γ^t of getting there, t being the steps until the state is left
	leaveCost []float64 // by pair: the discounted sum of gaps until the state is left; infinite if never tried

	at   averages // of the values
	work int

	chosen                                                           policyMatrix
	matrix                                                           []float64
	diagonal, rightSide                                              []float64 // of the linear equations of the values
	residual, shadow, direction, directionImage, scaled, scaledImage []float64 // of converge
}

func grow[T any](x []T, n int) []T {
	if cap(x) < n {
		y := make([]T, n, n+n/2+8)
		copy(y, x)
		return y
	}
	return x[:n]
}

// extend adds states that were visited first since the model was solved, with the mean value. Nothing
// is known of their pairs.
func (m *meanModel) extend() {
	b, known := m.belief, len(m.values)
	if known == b.size() {
		return
	}
	mean := 0.0
	if known > 0 {
		mean = m.average(m.values).all
	}
	m.first, m.leaveCost = grow(m.first, len(b.pairs)+1), grow(m.leaveCost, len(b.pairs))
	m.fresh, m.freshR, m.reward = grow(m.fresh, len(b.pairs)), grow(m.freshR, len(b.pairs)), grow(m.reward, len(b.pairs))
	m.suspect = grow(m.suspect, len(b.pairs))
	m.planned, m.trial, m.found = grow(m.planned, len(b.pairs)), grow(m.trial, len(b.pairs)), grow(m.found, len(b.pairs))
	m.actionValues, m.gap = grow(m.actionValues, len(b.pairs)), grow(m.gap, len(b.pairs))
	m.values, m.policy, m.global = grow(m.values, b.size()), grow(m.policy, b.size()), grow(m.global, b.size())
	for s := known; s < b.size(); s++ {
		m.values[s] = mean
	}
	for i := known * b.actions; i < len(b.pairs); i++ {
		m.fresh[i], m.freshR[i], m.planned[i], m.reward[i] = 1, 1, 1, b.meanReward()+m.zero
		m.first[i+1], m.leaveCost[i] = int32(len(m.next)), math.Inf(1)
	}
}

// update computes the posterior mean model.
func (m *meanModel) update(gamma float64) {
	b, states := m.belief, m.belief.size()
	m.gamma = gamma
	zero := m.zero
	m.setZero()
	m.extend()
	m.work += len(b.pairs) + 5*len(b.discovered.cells)
	all := m.common != b.common || m.zero != zero || b.rate() > 0
	m.common = b.common
	mean := b.meanReward()
	for i := range b.pairs {
		p := &b.pairs[i]
		if b.ends(i / b.actions) {
			m.fresh[i], m.freshR[i], m.reward[i], m.planned[i] = 0, 0, 0, 0
			continue
		}
		if p.n == 0 {
			m.fresh[i], m.freshR[i], m.reward[i], m.planned[i] = 1, 1, mean+m.zero, 1
			continue
		}
		if !all && !b.unread[i] {
			continue
		}
		b.unread[i] = false
		m.work += 30
		m.read(i)
	}
	m.near, m.back = b.nearShare(), b.backShare()
	m.alike, m.valued = m.resemblance(m.valued), states
	b.discovered.estimate(b.States())
	for s := range states {
		for a, k := range b.kindsOf(s) {
			m.found[s*b.actions+a] = b.discovered.share(k)
		}
	}
	entries := 0.0
	for _, n := range b.entries {
		entries += n
	}
	for s, n := range b.entries {
		switch {
		case entries > 0:
			m.global[s] = n / entries
		case s == m.apart():
			m.global[s] = 0
		default:
			m.global[s] = 1 / float64(m.counted())
		}
	}
}

// read computes the row of a pair that was tried.
func (m *meanModel) read(i int) {
	b := m.belief
	p := &b.pairs[i]
	m.fresh[i], m.freshR[i] = b.successors.predict(&p.toNext, p.n, 1), b.rewards.predict(&p.toReward, p.n, b.unpaid(p))
	m.suspect[i] = b.suspicion(i, 1/(1-m.gamma))
	m.fresh[i] += m.suspect[i] * (1 - m.fresh[i])
	m.planned[i] = 0
	m.reward[i] = p.mean + m.freshR[i]*(b.surprise(p)-p.mean) + m.zero
}

// apart returns the end of an episode unless it counts among the states visited, or −1. It is the
// next beginning, which counts already. Where it has a value of its own, it counts.
func (m *meanModel) apart() int {
	if m.closed() {
		return -1
	}
	return int(m.belief.end)
}

// counted returns how many states count among those visited.
func (m *meanModel) counted() int {
	if m.apart() >= 0 {
		return len(m.values) - 1
	}
	return len(m.values)
}

// resemblance returns ρ, the slope of a regression of values of new states on those of the states
// from which they were first entered, for so many states. One more state, which resembles no other,
// counts as an observation.
func (m *meanModel) resemblance(states int) float64 {
	mean, n := 0.0, 0.0
	for s, v := range m.values[:states] {
		if s != m.apart() {
			mean += v
			n++
		}
	}
	mean /= n
	both, of, entered := 0.0, 0.0, 0.0
	for y, s := range m.belief.parent[:states] {
		if s >= 0 {
			x := m.values[s] - mean
			both += x * (m.values[y] - mean)
			of += x * x
			entered++
		}
	}
	if of == 0 {
		return 0.5
	}
	return min(1, max(0, both/of)) * entered / (entered + 1)
}

// averages are means over states: by the part of the base that lies anywhere, and over all
// alike.
type averages struct{ global, all float64 }

// average returns the averages of x.
func (m *meanModel) average(x []float64) (y averages) {
	for s, w := range m.global {
		y.global += w * x[s]
		y.all += x[s]
	}
	if e := m.apart(); e >= 0 {
		y.all -= x[e]
	}
	y.all /= float64(m.counted())
	return y
}

// visited returns the mean of x after a new successor of state s that was visited before, given the
// averages of x.
func (m *meanModel) visited(s int, x []float64, at averages) float64 {
	sum := m.near * m.belief.nearMean(s, x)
	far := 1 - m.near
	if back := m.belief.back[s]; len(back) > 0 {
		w := far * m.back / float64(len(back))
		for _, y := range back {
			sum += w * x[y]
		}
		far *= 1 - m.back
	}
	return sum + far*at.global
}

// base returns the mean of x after a new successor of pair i.
func (m *meanModel) base(i int, x []float64, at averages) float64 {
	s := i / m.belief.actions
	visited := m.visited(s, x, at)
	return visited + m.found[i]*(m.unvisited(s, x, at)-visited)
}

// unvisited returns the mean of x in a state never visited that is entered from state s.
func (m *meanModel) unvisited(s int, x []float64, at averages) float64 {
	return at.all + m.alike*(x[s]-at.all)
}

// far is the share of states that are neither near nor lead here, among those visited.
func (m *meanModel) far(s int) float64 {
	if len(m.belief.back[s]) > 0 {
		return (1 - m.near) * (1 - m.back)
	}
	return 1 - m.near
}

// expect returns the mean of x after pair i, given that under the base of its state.
func (m *meanModel) expect(i int, x []float64, base float64) float64 {
	p := &m.belief.pairs[i]
	if p.n == 0 {
		return base
	}
	sum := 0.0
	for k, y := range p.next {
		sum += p.count[k] * x[y]
	}
	return m.planned[i]*base + (1-m.planned[i])*sum/p.n
}

// shown returns the mean of x after what a pair has shown.
func (m *meanModel) shown(p *pair, x []float64) float64 {
	sum := 0.0
	for k, y := range p.next {
		sum += p.count[k] * x[y]
	}
	return sum / p.n
}

// solve improves the policy until it is optimal, and leaves V, Q, and gap = V − Q ("Setting").
func (m *meanModel) solve() {
	states := len(m.values)
	for range 50 {
		m.evaluate()
		at := m.average(m.values)
		changed := false
		m.work += 2 * len(m.belief.pairs)
		for s := range states {
			changed = m.improve(s, at) || changed
		}
		if !changed && !m.setFinal() {
			break
		}
	}
	m.work += 10 * len(m.belief.pairs)
	m.at = m.average(m.values)
	for s := range states {
		m.compare(s)
	}
	m.leave()
}

// improve computes the action values of a state by the values of others, and reports whether the policy
// takes another action there.
func (m *meanModel) improve(s int, at averages) (changed bool) {
	if m.belief.ends(s) {
		return false
	}
	from, tol := s*m.belief.actions, 1e-9/(1-m.gamma)
	best := int(m.policy[s])
	q := m.actionValues[from : from+m.belief.actions]
	for a := range q {
		base := 0.0
		if m.planned[from+a] > 0 {
			base = m.base(from+a, m.values, at)
		}
		q[a] = m.reward[from+a] + m.gamma*m.expect(from+a, m.values, base)
	}
	for a := range q {
		if q[a] > q[best]+tol {
			best = a
		}
	}
	changed = best != int(m.policy[s])
	m.policy[s] = int32(best)
	return changed
}

// compare computes what the pairs of a state cost.
func (m *meanModel) compare(s int) {
	from, until := s*m.belief.actions, (s+1)*m.belief.actions
	if m.belief.ends(s) {
		clear(m.gap[from:until])
		clear(m.trial[from:until])
		return
	}
	visited, unvisited := m.visited(s, m.values, m.at), m.unvisited(s, m.values, m.at)
	top := m.actionValues[from+int(m.policy[s])]
	for i := from; i < until; i++ {
		m.gap[i] = max(0, top-m.actionValues[i])
		m.trial[i] = m.gap[i]
		if p := &m.belief.pairs[i]; p.n > 0 {
			m.trial[i] -= m.gamma * m.fresh[i] * (visited + m.found[i]*(unvisited-visited) - m.shown(p, m.values))
			m.trial[i] -= m.suspect[i] * (m.belief.meanReward() - p.mean)
		}
	}
}

// learn takes in what pair i has shown since the last solution, with the values of that solution. It computes the
// row of the pair, and the action values, the policy and the costs of its state. It reports whether values
// change: the policy takes the pair, or takes another action than before.
func (m *meanModel) learn(i int) (shifts bool) {
	s := i / m.belief.actions
	m.work += 30 + 10*m.belief.actions
	shifts = i%m.belief.actions == int(m.policy[s])
	m.read(i)
	m.found[i] = m.belief.discovered.share(m.belief.kindsOf(s)[i%m.belief.actions])
	shifts = m.improve(s, m.at) || shifts
	m.compare(s)
	for i := s * m.belief.actions; i < (s+1)*m.belief.actions; i++ {
		known, scale := m.stays(i)
		p := &m.belief.pairs[i]
		for k := m.first[i]; k < m.first[i+1]; k++ { // a new successor waits
			m.prob[k] = 0
			if j := slices.Index(p.next, m.next[k]); j >= 0 {
				m.prob[k] = known * p.count[j] * scale
			}
		}
	}
	return shifts
}

// leave computes where pairs lead that are taken until they lead elsewhere, and the cost ("The cost of a
// detour"). A successor that the
// pair has not shown leads astray: from there no route is counted on.
func (m *meanModel) leave() {
	m.first, m.leaveCost = grow(m.first, len(m.belief.pairs)+1), grow(m.leaveCost, len(m.belief.pairs))
	m.next, m.prob = m.next[:0], m.prob[:0]
	for i := range m.belief.pairs {
		m.first[i] = int32(len(m.next))
		known, scale := m.stays(i)
		p, s := &m.belief.pairs[i], int32(i/m.belief.actions)
		for k, y := range p.next {
			if y != s {
				m.next, m.prob = append(m.next, y), append(m.prob, known*p.count[k]*scale)
			}
		}
	}
	m.first[len(m.belief.pairs)] = int32(len(m.next))
}

// stays computes the cost of a pair that is taken until it leads elsewhere. It is infinite if the pair was never
// tried. The product of known and scale, times how often the pair has shown a successor, is the discounted
// probability of getting there.
func (m *meanModel) stays(i int) (known, scale float64) {
	p, s, stay := &m.belief.pairs[i], i/m.belief.actions, 0.0
	if m.leaveCost[i] = math.Inf(1); p.n == 0 {
		return 0, 0
	}
	if k := slices.Index(p.next, int32(s)); k >= 0 {
		stay = p.count[k]
	}
	known = m.discount(s) * (1 - m.fresh[i])
	scale = 1 / (p.n - known*stay)
	m.leaveCost[i] = p.n * m.gap[i] * scale
	return known, scale
}

// discount is the discount of a step from state s.
func (m *meanModel) discount(s int) float64 {
	if m.belief.ends(s) { // it takes no time
		return 1
	}
	return m.gamma
}

// exact is the number of states up to which policies are evaluated by elimination.
const exact = 40

// evaluate computes the values of the policy.
func (m *meanModel) evaluate() {
	n := len(m.values)
	m.rightSide = grow(m.rightSide, n)
	for s := range n {
		m.rightSide[s] = m.reward[s*m.belief.actions+int(m.policy[s])]
	}
	if m.closed() {
		m.rightSide[m.belief.end] = m.final
	}
	m.compile()
	if n <= exact || !m.iterate() && n <= 40*exact { // beyond, the values are as good as they have become
		m.eliminate()
	}
}

// policyMatrix is γ P of the policy: sparse rows, and multiples of the averages.
type policyMatrix struct {
	first       []int32 // by state: where its row begins
	next        []int32
	prob        []float64
	global, all []float64 // by state: weights of the averages
	spread      bool      // some weight is positive
}

// compile computes the matrix of the policy.
func (m *meanModel) compile() {
	n, x := len(m.values), &m.chosen
	x.first, x.global, x.all = grow(x.first, n+1), grow(x.global, n), grow(x.all, n)
	x.next, x.prob, x.spread = x.next[:0], x.prob[:0], false
	add := func(y int32, p float64) { x.next, x.prob = append(x.next, y), append(x.prob, p) }
	for s := range n {
		i := s*m.belief.actions + int(m.policy[s])
		p := &m.belief.pairs[i]
		x.first[s], x.global[s], x.all[s] = int32(len(x.next)), 0, 0
		if m.belief.ends(s) && m.closed() { // its value is given
			continue
		}
		gamma := m.discount(s)
		if w := gamma * m.planned[i]; w > 0 {
			x.spread = true
			x.all[s] = w * m.found[i] * (1 - m.alike)
			add(int32(s), w*m.found[i]*m.alike)
			w *= 1 - m.found[i]
			x.global[s] = w * m.far(s)
			self, others := m.belief.selfShare(s), m.belief.near[s][1:]
			add(int32(s), w*m.near*self)
			for _, y := range others {
				add(y, w*m.near*(1-self)/float64(len(others)))
			}
			for _, y := range m.belief.back[s] {
				add(y, w*(1-m.near)*m.back/float64(len(m.belief.back[s])))
			}
		}
		if w := gamma * (1 - m.planned[i]); w > 0 {
			for k, y := range p.next {
				add(y, w*p.count[k]/p.n)
			}
		}
	}
	x.first[n] = int32(len(x.next))
}

// apply writes x − γ P x into y, where P is the matrix of the policy.
func (m *meanModel) apply(y, x []float64) {
	c := &m.chosen
	if c.spread {
		at := m.average(x)
		for s := range y {
			y[s] = x[s] - c.global[s]*at.global - c.all[s]*at.all
		}
	} else {
		copy(y, x)
	}
	for s := range y {
		sum, from, until := 0.0, c.first[s], c.first[s+1]
		prob := c.prob[from:until]
		for k, z := range c.next[from:until] {
			sum += prob[k] * x[z]
		}
		y[s] -= sum
	}
}

// eliminate solves for the values by elimination, without pivots, as the matrix is
// diagonally dominant.
func (m *meanModel) eliminate() {
	n, c := len(m.values), &m.chosen
	m.matrix = grow(m.matrix, n*n)
	a, b := m.matrix, m.values
	copy(b, m.rightSide)
	for s := range n {
		row := a[s*n : (s+1)*n]
		all := c.all[s] / float64(m.counted())
		for y := range row {
			row[y] = -c.global[s]*m.global[y] - all
		}
		if e := m.apart(); e >= 0 {
			row[e] += all
		}
		for k := c.first[s]; k < c.first[s+1]; k++ {
			row[c.next[k]] -= c.prob[k]
		}
		row[s]++
	}
	for k := range n {
		pivot := 1 / a[k*n+k]
		rk := a[k*n : (k+1)*n]
		for i := k + 1; i < n; i++ {
			w := a[i*n+k]
			if w == 0 {
				continue
			}
			w *= pivot
			ri := a[i*n : (i+1)*n]
			for j := k + 1; j < n; j++ {
				ri[j] -= w * rk[j]
			}
			b[i] -= w * b[k]
		}
	}
	for k := n - 1; k >= 0; k-- {
		x := b[k]
		rk := a[k*n : (k+1)*n]
		for j := k + 1; j < n; j++ {
			x -= rk[j] * b[j]
		}
		b[k] = x / rk[k]
	}
}

// restarts is how often iterate begins anew at most.
const restarts = 20

// iterate solves for the values by the stabilised method of biconjugate gradients (van
// der Vorst 1992) from those of before. The method may break down, or make no more progress.
// Then it begins anew from what it has. iterate reports failure if that does not converge.
func (m *meanModel) iterate() bool {
	n := len(m.values)
	for _, x := range []*[]float64{&m.diagonal, &m.residual, &m.shadow, &m.direction, &m.scaled, &m.scaledImage, &m.directionImage} {
		*x = grow(*x, n)
	}
	for s := range n { // the diagonal, without the averages' part
		m.diagonal[s] = 1
		for k := m.chosen.first[s]; k < m.chosen.first[s+1]; k++ {
			if int(m.chosen.next[k]) == s {
				m.diagonal[s] -= m.chosen.prob[k]
			}
		}
	}
	for range restarts {
		if m.converge() {
			return true
		}
	}
	return false
}

// converge iterates until the values are solved for. It reports failure after a breakdown,
// or if the residual has not become smaller for n/4 + 64 iterations.
func (m *meanModel) converge() bool {
	n := len(m.values)
	const tol = 1e-8
	m.apply(m.residual, m.values)
	shift := 0.0 // a constant change of all values takes out the mean residual
	for s := range n {
		m.residual[s] = m.rightSide[s] - m.residual[s]
		shift += m.residual[s] / float64(n)
	}
	if !m.zeroed() {
		for s := range n {
			m.values[s] += shift / (1 - m.gamma)
			if !m.belief.ends(s) { // the end is not discounted, so a constant changes nothing there
				m.residual[s] -= shift
			}
		}
	}
	copy(m.shadow, m.residual)
	rho, alpha, omega := 1.0, 1.0, 1.0
	clear(m.direction)
	clear(m.directionImage)
	v := m.directionImage // A·p
	least := math.Inf(1)
	for patience := n/4 + 64; patience > 0; patience-- {
		m.work += 3*n/2 + len(m.chosen.next)/4
		worst := 0.0
		for _, x := range m.residual {
			worst = max(worst, math.Abs(x))
		}
		if worst <= tol {
			return true
		}
		if worst < least {
			least, patience = worst, n/4+64
		}
		next := dot(m.shadow, m.residual)
		beta := next / rho * alpha / omega
		if beta-beta != 0 || next == 0 {
			return false
		}
		rho = next
		for s := range n {
			m.direction[s] = m.residual[s] + beta*(m.direction[s]-omega*v[s])
			m.scaled[s] = m.direction[s] / m.diagonal[s]
		}
		m.apply(v, m.scaled)
		alpha = rho / dot(m.shadow, v)
		if alpha-alpha != 0 {
			return false
		}
		for s := range n {
			m.values[s] += alpha * m.scaled[s]
			m.residual[s] -= alpha * v[s]
			m.scaled[s] = m.residual[s] / m.diagonal[s]
		}
		m.apply(m.scaledImage, m.scaled)
		omega = dot(m.scaledImage, m.residual) / dot(m.scaledImage, m.scaledImage)
		if omega-omega != 0 {
			worst = 0
			for _, x := range m.residual {
				worst = max(worst, math.Abs(x))
			}
			return worst <= tol
		}
		for s := range n {
			m.values[s] += omega * m.scaled[s]
			m.residual[s] -= omega * m.scaledImage[s]
		}
	}
	return false
}

func dot(x, y []float64) float64 {
	sum := 0.0
	for i := range x {
		sum += x[i] * y[i]
	}
	return sum
}
