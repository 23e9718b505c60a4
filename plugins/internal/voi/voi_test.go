package voi

import (
	"math"
	"math/rand/v2"
	"testing"
)

// randomModel returns a mean model with sparse rows without a part of the base.
func randomModel(rng *rand.Rand, states, actions int, gamma float64) *meanModel {
	b := NewBelief(actions, 0, 1)
	for range states {
		b.addState()
	}
	for i := range b.pairs {
		p, s := &b.pairs[i], int32(i/actions)
		for _, y := range rng.Perm(states)[:1+rng.IntN(3)] {
			w := rng.ExpFloat64()
			p.next, p.count, p.n = append(p.next, int32(y)), append(p.count, w), p.n+w
			if !contains(b.before[y], s) {
				b.before[y] = append(b.before[y], s)
			}
		}
		p.mean = rng.Float64()
	}
	m := &meanModel{belief: b}
	m.update(gamma)
	m.exact()
	return m
}

func contains(x []int32, s int32) bool {
	for _, y := range x {
		if y == s {
			return true
		}
	}
	return false
}

// exact takes the base out of a model and solves it.
func (m *meanModel) exact() {
	for i := range m.fresh {
		m.planned[i], m.fresh[i], m.reward[i] = 0, 0, m.belief.pairs[i].mean
	}
	m.solve()
}

// Suppose that only the row of one pair changes, and that the policy does not take
// this pair. Then the optimal value changes by φ_W in every state, where W is the
// least solution of W = advantage + γ Σ p φ_W⁺; and the stored routes yield a lower
// bound of W (§3.8), which is good to a tenth here.
func TestRowLemma(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	improved := 0
	for range 200 {
		m := randomModel(rng, 6, 3, 0.95)
		i := rng.IntN(18)
		s := i / 3
		if m.gap[i] < 1e-6 {
			continue // the greedy action
		}
		before := append([]float64(nil), m.values...)
		p := &m.belief.pairs[i]
		old := *p
		fresh := pair{mean: rng.Float64() * 1.5}
		for range 2 {
			w := rng.ExpFloat64()
			fresh.next, fresh.count, fresh.n = append(fresh.next, int32(rng.IntN(6))), append(fresh.count, w), fresh.n+w
		}
		// The fixed point, from below.
		w, phi := 0.0, make([]float64, 6)
		advantage := 0.0
		for range 500 {
			clear(phi)
			phi[s] = max(0, w)
			for range 300 {
				for y := range phi {
					for j := y * 3; y != s && j < (y+1)*3; j++ {
						phi[y] = max(phi[y], m.gamma*m.expect(j, phi, 0)-m.gap[j])
					}
				}
			}
			advantage = fresh.mean - m.values[s]
			next := 0.0
			for k, y := range fresh.next {
				advantage += m.gamma * fresh.count[k] / fresh.n * m.values[y]
				next += m.gamma * fresh.count[k] / fresh.n * phi[y]
			}
			next += advantage
			if math.Abs(next-w) < 1e-12 {
				w = next
				break
			}
			w = next
		}
		var routes routes
		var finder routeFinder
		for range 5 {
			finder.find(&routes, m, s, max(w, 1e-3), false)
		}
		x := row{r: fresh.mean}
		for k, y := range fresh.next {
			q := fresh.count[k] / fresh.n
			x.v, x.f, x.c = x.v+q*m.values[y], x.f+q*routes.f[y], x.c+q*routes.c[y]
		}
		c := pairCase{value: m.values[s]}
		d, _ := c.improvement(m.gamma, x)
		*p = fresh
		m.exact()
		for y := range phi {
			if math.Abs(m.values[y]-before[y]-phi[y]) > 1e-6 {
				t.Fatalf("the value of state %d changed by %v, the lemma says %v", y, m.values[y]-before[y], phi[y])
			}
		}
		if w > 1e-3 {
			improved++
			if exact := w - advantage; d > exact+1e-6 || d < 0.9*exact {
				t.Errorf("the routes say that going on improves by %v, exactly it is %v", d, exact)
			}
		}
		*p = old
	}
	if improved < 30 {
		t.Errorf("only %d rows improved a policy", improved)
	}
}

// walk lets a planner loose on a random task for a while and returns it.
func walk(t *testing.T, rule GainKind, steps int) *Planner {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 4))
	p := NewPlanner(NewBelief(3, -1, 1), rule)
	const states = 7
	for range states {
		p.AddState()
	}
	next := func(s, a int) int { return (s*(a+2) + a + rng.IntN(1+a)) % states }
	s := 0
	for k := range steps {
		a, _ := p.Action(s, float64(steps-k))
		y := next(s, a)
		p.Learn(s, a, rng.Float64()*float64(a)/3-0.1*float64(s%2), y)
		s = y
	}
	p.plan(s, 500)
	return p
}

// The possible outcomes of tries do not change the expectation. The mean over
// scenarios of a pair's value, and of how and at what cost it is reached again,
// is the present mean.
func TestScenariosAreAMartingale(t *testing.T) {
	p := walk(t, Sup, 300)
	a, m := &p.gains, &p.model
	p.prospects.update(m, 500)
	compared := 0
	for i := range p.belief.pairs {
		s := i / 3
		var best routes
		a.finder.find(&best, m, s, 3, false)
		c := pairCase{value: m.values[s]}
		var o outcomes
		p.prospects.newOutcomes(&o, m, s, best.f, best.c)
		c.outcomes = o.at(nil, m.found[i])
		total := 0.0
		for _, o := range c.outcomes {
			total += o.p
		}
		c.base = means(c.outcomes)
		if base := m.base(i, m.values, m.average(m.values)); math.Abs(total-1) > 1e-9 || math.Abs(c.base.v-base) > 1e-6*math.Abs(base) {
			t.Fatalf("new successors of state %d: probability %v, mean value %v, want %v", s, total, c.base.v, base)
		}
		c.base.r = p.prospects.meanFirst
		if p.belief.pairs[i].n > 0 {
			c.base.r = p.prospects.newRewards(p.belief, &p.belief.pairs[i])
		}
		c.shown = a.shown(i, &best)
		want := -m.trial[i]
		for _, k := range []float64{1, 5, 80} {
			if p.belief.pairs[i].n == 0 {
				a.untried(&c, true)
			} else {
				a.deviate(&c, &p.belief.pairs[i], &best, 3)
				a.tried(&c, &p.belief.pairs[i], i, k)
			}
			var got, q float64
			for _, x := range a.scenarios {
				got += x.p * (x.r + m.gamma*x.v - m.values[s])
				q += x.p
			}
			if math.Abs(q-1) > 1e-9 {
				t.Errorf("pair %d, %v tries: scenarios have probability %v", i, k, q)
			}
			if math.Abs(got-want) > 1e-6*(1+m.values[s])+0.02*math.Abs(want) {
				t.Errorf("pair %d with %v tries, %v more: mean advantage %v, want %v", i, p.belief.pairs[i].n, k, got, want)
			}
			compared++
		}
	}
	if compared < 60 {
		t.Errorf("compared %d", compared)
	}
}

// The threshold explores when the value of information does, or less: the largest
// rectangle under a curve has no more area than what is under the curve.
func TestSupIsAtMostMean(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 1000 {
		var x []improvement
		left := 1.0
		for range 1 + rng.IntN(20) {
			p := left * rng.Float64()
			left -= p
			x = append(x, improvement{p, rng.NormFloat64()})
		}
		best, succeeds, improves := 0.0, 0.0, 0.0
		for _, a := range x { // by the definition
			p := 0.0
			for _, b := range x {
				if b.d >= a.d {
					p += b.p
				}
			}
			if a.d*p > best {
				best, succeeds = a.d*p, p
			}
			if a.d > 0 {
				improves += a.p
			}
		}
		mean, p := Mean.gain(x)
		if math.Abs(p-improves) > 1e-12 {
			t.Fatalf("P(D > 0) is %v, by definition %v", p, improves)
		}
		sup, p := Sup.gain(x)
		if math.Abs(sup-best) > 1e-12 || sup > mean+1e-12 || math.Abs(p-succeeds) > 1e-12 {
			t.Fatalf("sup %v with probability %v, by definition %v with %v; mean %v", sup, p, best, succeeds, mean)
		}
	}
}

// The iterative solver finds what elimination does.
func TestSolversAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 20 {
		m := randomModel(rng, 60, 2, 0.999)
		m.evaluate()
		got := append([]float64(nil), m.values...)
		m.eliminate()
		for s, v := range m.values {
			if math.Abs(v-got[s]) > 1e-4 {
				t.Fatalf("state %d: %v, by elimination %v", s, got[s], v)
			}
		}
	}
}

// It does so with the end of an episode, which is not discounted.
func TestSolversAgreeOnEpisodes(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 9))
	for range 20 {
		const states, actions = 50, 2
		b := NewBelief(actions, 0, 1)
		end := b.addEnd()
		for range states {
			b.addState()
		}
		for range 10 {
			b.begin(1 + rng.IntN(states))
		}
		for s := 1; s <= states; s++ {
			for a := range actions {
				for range 3 {
					next := 1 + rng.IntN(states)
					if rng.IntN(5) == 0 {
						next = end
					}
					b.learn(s, a, rng.Float64(), next)
				}
			}
		}
		m := meanModel{belief: b}
		m.update(0.999)
		m.solve()
		got := append([]float64(nil), m.values...)
		m.eliminate()
		for s, v := range m.values {
			if math.Abs(v-got[s]) > 1e-4 {
				t.Fatalf("state %d: %v, by elimination %v", s, got[s], v)
			}
		}
	}
}

// The iterative solver begins anew where it makes no more progress, as in grids with a reward
// far away.
func TestSolverBeginsAnew(t *testing.T) {
	const side = 20
	rng := rand.New(rand.NewPCG(5, 8))
	b := NewBelief(4, 0, 1)
	for range side * side {
		b.addState()
	}
	s := 0
	step := func(a int) {
		row, column := s/side, s%side
		switch (a + max(0, rng.IntN(10)-7)) % 4 {
		case 0:
			row = max(0, row-1)
		case 1:
			column = min(side-1, column+1)
		case 2:
			row = min(side-1, row+1)
		default:
			column = max(0, column-1)
		}
		b.learn(s, a, float64(s/(side*side-1)), row*side+column)
		s = row*side + column
	}
	for range 3000 {
		step(rng.IntN(4))
	}
	m := meanModel{belief: b}
	for k := range 40 {
		for range 50 {
			step(rng.IntN(4))
		}
		m.update(1 - 1/float64(500+100*k))
		m.solve()
		for s := range m.values { // from values of another policy
			m.values[s] += rng.Float64()
			m.policy[s] = int32(rng.IntN(4))
		}
		for s := range m.rightSide {
			m.rightSide[s] = m.reward[4*s+int(m.policy[s])]
		}
		m.compile()
		if !m.iterate() {
			t.Errorf("after %d rounds it does not converge", k)
		}
	}
}

// Rewards that are scaled and shifted with their bounds change no action, and states
// that are declared and never visited cannot, as they are not in the belief.
func TestAffineRewards(t *testing.T) {
	play := func(scale, shift float64) (actions []int) {
		rng := rand.New(rand.NewPCG(9, 10))
		p := NewPlanner(NewBelief(3, shift, shift+scale), Sup)
		for range 5 {
			p.AddState()
		}
		s := 0
		for k := range 400 {
			a, _ := p.Action(s, float64(400-k))
			actions = append(actions, a)
			y := (s + a*rng.IntN(3)) % 5
			p.Learn(s, a, shift+scale*float64(rng.IntN(5)*y)/16, y)
			s = y
		}
		return actions
	}
	want := play(1, 0)
	for _, x := range [][2]float64{{4, 0}, {0.25, -8}, {1024, 1024}} {
		for k, a := range play(x[0], x[1]) {
			if a != want[k] {
				t.Fatalf("rewards times %v plus %v: action %d at step %d, not %d", x[0], x[1], a, k, want[k])
			}
		}
	}
}

// The share of states never visited among new successors is learned by traits of the pair. Without
// observations it is a half.
func TestDiscoveries(t *testing.T) {
	d := newDiscoveries(2)
	d.estimate(9)
	frontier, inner := kindOf(0, 1, 0, 0, 0), kindOf(5, 2, 1, 0, 0)
	if d.share(frontier) != 0.5*0.9 || d.share(inner) != 0.5*0.9 {
		t.Errorf("nothing is known: %v, %v", d.share(frontier), d.share(inner))
	}
	for range 30 {
		d.observe(inner, false)
		d.observe(frontier, true)
	}
	d.estimate(9)
	if d.share(frontier) < 0.8 || d.share(inner) > 0.1 {
		t.Errorf("pairs at the frontier find states, others do not: %v, %v", d.share(frontier), d.share(inner))
	}
	// Traits that tell nothing leave the share as it is.
	if other := d.share(kindOf(0, 1, 0, 0, 1)); other < 0.5*d.share(frontier) {
		t.Errorf("another action: %v, %v", other, d.share(frontier))
	}
	if kindOf(0, 1, 0, 0, 0)[ageTrait] != 0 || kindOf(3, 1, 0, 0, 0)[ageTrait] != 2 || kindOf(4, 1, 0, 0, 0)[ageTrait] != 3 || kindOf(1e9, 99, 99, 7, 0) != (kind{15, 11, 2, 7, 0}) {
		t.Error("levels")
	}
}

// The probability that states are left falls if some should have been found,
// and stays the same if none was expected.
func TestStatesLeft(t *testing.T) {
	after := func(old kind) float64 {
		d := newDiscoveries(2)
		for k := range 40 {
			d.observe(kindOf(0, 1, 0, 0, 0), k%2 == 1)
			d.observe(kindOf(5, 2, 1, 0, 0), false)
		}
		d.observe(kindOf(0, 1, 0, 0, 0), true)
		for range 20 {
			d.observe(old, false)
		}
		d.estimate(20)
		return d.left
	}
	if frontier, inner := after(kindOf(0, 1, 0, 0, 0)), after(kindOf(5, 2, 1, 0, 0)); frontier > 0.1 || inner < 0.8 {
		t.Errorf("probability that states are left: %v after tries at the frontier, %v after others", frontier, inner)
	}
}

// The information from trying a pair is compared with the best action of its
// state, by the same standard.
func TestOneStandard(t *testing.T) {
	const gamma = 0.99
	x := row{r: 0.25, f: 0.9}
	w := 0.25 / (1 - gamma*0.9)
	d := func(leads bool, bestOther float64) float64 {
		d, _ := (&pairCase{leads: leads, bestOther: bestOther}).improvement(gamma, x)
		return d
	}
	for _, tt := range []struct {
		leads           bool
		bestOther, want float64
	}{
		{false, 0, w - 0.25},                  // going on, less trying once
		{false, w, 0},                         // going on with the other is worth as much
		{false, w / 2, gamma * 0.9 * (w / 2)}, // half of that
		{false, 2 * w, 0},
		{true, w - 1, 0},
		{true, w + 3, 3}, // the leader is left for the other
	} {
		if got := d(tt.leads, tt.bestOther); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("leads %v, bestOther %v: %v, want %v", tt.leads, tt.bestOther, got, tt.want)
		}
	}
	if leader, bestOther := leaders([]float64{-2, 0, 1, -1}, 1); leader != 2 || bestOther != 0 {
		t.Errorf("leader %d, bestOther %v", leader, bestOther)
	}
	if leader, bestOther := leaders([]float64{0, 0, -1}, 1); leader != 1 || bestOther != 0 {
		t.Errorf("leader %d, bestOther %v: of two alike the one that the policy takes", leader, bestOther)
	}
}

// A leader that turns out to be bad is left after the try: it is not gone back to at the cost
// of a way.
func TestBadLeadersAreLeft(t *testing.T) {
	const gamma = 0.999
	c := pairCase{value: 100, leads: true, bestOther: 3}
	x := row{r: 0.09, v: 100, f: 0.999, c: 0.25} // an advantage of −0.01, and a way back that costs 0.25
	if got, _ := c.improvement(gamma, x); math.Abs(got-3.01) > 1e-9 {
		t.Errorf("%v, want 3.01", got)
	}
}

// If all outcomes of a pair were the same, only a new outcome can change its
// row. Otherwise old rewards may come in other proportions.
func TestSurePairs(t *testing.T) {
	p := NewPlanner(NewBelief(1, 0, 1), Sup)
	p.AddState()
	move := func(rewards ...float64) float64 {
		for _, r := range rewards {
			p.Learn(0, 0, r, 0)
		}
		p.plan(0, 500)
		x := &p.belief.pairs[0]
		c := pairCase{shown: p.gains.shown(0, p.gains.routes(0))}
		p.gains.deviate(&c, x, p.gains.routes(0), 3)
		return c.deviation.r
	}
	if got := move(0.25, 0.25, 0.25); got != 0 {
		t.Errorf("after equal rewards: standard deviation %v", got)
	}
	if got, want := move(0.75), math.Sqrt((3*0.125*0.125+0.375*0.375)/4/5); math.Abs(got-want) > 1e-9 {
		t.Errorf("after another: standard deviation %v, want %v", got, want)
	}
}

// A reward that is new to a pair is one that others have paid, or any. If all pairs pay the
// same, another one is improbable.
func TestNewRewards(t *testing.T) {
	b := NewBelief(2, 0, 1)
	for range 4 {
		b.addState()
	}
	for s := range 3 {
		b.learn(s, 0, 0, s)
	}
	b.learn(3, 0, 0.75, 3)
	if got, want := b.unpaid(&b.pairs[0]), 2.0/5; got != want {
		t.Errorf("after 0: new with probability %v, want %v", got, want)
	}
	if got, want := b.surprise(&b.pairs[0]), (0.75+0.5)/2; got != want {
		t.Errorf("after 0: mean %v, want %v", got, want)
	}
	if got, want := b.unpaid(&b.pairs[6]), 4.0/5; got != want {
		t.Errorf("after 0.75: new with probability %v, want %v", got, want)
	}
	if got, want := b.unlike(), 1-(9.0+1)/25; math.Abs(got-want) > 1e-12 {
		t.Errorf("two rewards differ with probability %v, want %v", got, want)
	}
}

// The process of a concentration α, of whose base a share u is new: k more outcomes are all
// old with probability ∏ (n+j+α(1−u))/(n+j+α).
func TestAhead(t *testing.T) {
	for _, u := range []float64{1, 0.3, 0.01} {
		m := newMixture(2)
		clear(m.weight[:])
		m.weight[points-1] = 1
		alpha := m.alpha[points-1]
		l := likelihood{}
		for g := range l {
			l[g] = 1
		}
		const n = 3.0
		none := 1.0
		for j := range 40 {
			none *= (n + float64(j) + alpha*(1-u)) / (n + float64(j) + alpha)
			k := float64(j + 1)
			q, after := m.ahead(&l, n, u, k)
			if math.Abs(q-(1-none)) > 0.03 || math.Abs(after-alpha*u/(n+k+alpha)) > 1e-12 {
				t.Errorf("u %v, %v outcomes: a new one with probability %v, want %v; after that %v", u, k, q, 1-none, after)
			}
		}
	}
}

// Exploring in vain makes states dear.
func TestPriceOfStates(t *testing.T) {
	b := NewBelief(2, 0, 1)
	for range 10 {
		b.addState()
	}
	b.spent = 20
	if b.toFind() != 20 {
		t.Errorf("%v", b.toFind())
	}
	b.since = 3
	if b.toFind() != 20+3*10 {
		t.Errorf("nothing found for 3: %v", b.toFind())
	}
	b.addState()
	if b.toFind() != 20 {
		t.Errorf("found: %v", b.toFind())
	}
}

// New states are believed to be like the states from which they are entered, as far as those
// found were.
func TestResemblance(t *testing.T) {
	b := NewBelief(2, 0, 1)
	for range 20 {
		b.addState()
	}
	m := &meanModel{belief: b, values: make([]float64, 20), global: make([]float64, 20)}
	for s := range m.values {
		m.values[s] = float64(s)
		b.parent[s] = int32(max(0, s-1)) // a corridor that pays more and more
	}
	corridor := m.resemblance(20)
	for s := range b.parent {
		b.parent[s] = int32(7 * s % 20) // no order
	}
	if mixed := m.resemblance(20); corridor < 0.8 || mixed > 0.5 {
		t.Errorf("corridor %v, without order %v", corridor, mixed)
	}
}

// Routes that older models had do not hold each other up: once a state cannot be reached at a
// low cost any more, its routes say so at once. The chain 0 → 1 → 2 leads to 3 at first,
// and then only by a gap of 9.
func TestRoutesOfOlderModels(t *testing.T) {
	b := NewBelief(2, 0, 1)
	for range 4 {
		b.addState()
	}
	link := func(s, a, y int) {
		b.pairs[2*s+a] = pair{n: 1, next: []int32{int32(y)}, count: []float64{1}}
		b.before[y] = append(b.before[y], int32(s))
	}
	for s := range 4 {
		link(s, 0, (s+3)%4) // round and round
		link(s, 1, s)
	}
	link(2, 1, 3)
	m := &meanModel{belief: b, gamma: 0.999, policy: make([]int32, 4), values: make([]float64, 4), gap: make([]float64, 8), fresh: make([]float64, 8)}
	m.leave()
	var w routes
	var x routeFinder
	x.find(&w, m, 3, 10, false)
	if math.Abs(w.f[2]-0.999) > 1e-9 || w.c[2] != 0 || w.f[0] < 0.99 {
		t.Fatalf("f %v, c %v", w.f, w.c)
	}
	for s := range 4 {
		link(s, 0, (s+1)%3) // a loop that 3 is not in
	}
	m.gap[5] = 9
	m.leave()
	x.find(&w, m, 3, 10, false)
	for s := range 3 {
		if w.c[s] < 9*w.f[s]*0.99 {
			t.Errorf("state %d: f %v at a cost of %v", s, w.f[s], w.c[s])
		}
	}
}

// What lies behind a new state: the closed form is what stopping optimally at a price by state is
// worth, by recursion. Of m states found there are more with probability m/(m+1), and the next is
// better than all with probability 1/(m+1).
func TestBehind(t *testing.T) {
	const m, better = 2000, 50.0
	for _, spent := range []float64{0, 5, 20, 49, 60} {
		price, want := spent/m, 0.0
		last := 100 * m
		if price > 0 {
			last = int(better / price)
		}
		for j := last; j >= m; j-- {
			left, best := float64(j)/float64(j+1), 1/float64(j+1)
			want = max(0, left*(best*better+(1-best)*want)-price)
		}
		if got := valueBehind(better, spent); math.Abs(got-want) > 0.02*better {
			t.Errorf("%v spent: %v, by recursion %v", spent, got, want)
		}
	}
}

// The end of an episode takes no time and leads to where episodes begin. A model with it has
// the values and routes of one in which the pairs that end an episode lead there themselves.
func TestEnd(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 50 {
		const states, actions, gamma = 6, 2, 0.95
		with := randomModel(rng, states, actions, gamma).belief
		plain := NewBelief(actions, 0, 1)
		for range states {
			plain.addState()
		}
		end := with.addEnd()
		starts := []int{rng.IntN(states), rng.IntN(states), rng.IntN(states)}
		for _, s := range starts {
			with.begin(s)
		}
		for i := range states * actions {
			p := &with.pairs[i]
			if rng.IntN(3) == 0 {
				p.next[0] = int32(end)
				if !contains(with.before[end], int32(i/actions)) {
					with.before[end] = append(with.before[end], int32(i/actions))
				}
			}
			q := &plain.pairs[i]
			q.mean, q.n = p.mean, p.n
			add := func(y int32, w float64) {
				for k := range q.next {
					if q.next[k] == y {
						q.count[k] += w
						return
					}
				}
				q.next, q.count = append(q.next, y), append(q.count, w)
				if !contains(plain.before[y], int32(i/actions)) {
					plain.before[y] = append(plain.before[y], int32(i/actions))
				}
			}
			for k, y := range p.next {
				if int(y) != end {
					add(y, p.count[k])
					continue
				}
				for _, s := range starts {
					add(int32(s), p.count[k]/float64(len(starts)))
				}
			}
		}
		m, want := &meanModel{belief: with}, &meanModel{belief: plain}
		for _, x := range []*meanModel{m, want} {
			x.update(gamma)
			x.exact()
		}
		to := rng.IntN(states)
		var ways, wanted routes
		var finder routeFinder
		for range 5 {
			finder.find(&ways, m, to, 5, false)
			finder.find(&wanted, want, to, 5, false)
		}
		for s := range states {
			if math.Abs(m.values[s]-want.values[s]) > 1e-6 {
				t.Fatalf("the value of state %d is %v, want %v", s, m.values[s], want.values[s])
			}
			if got, want := 5*ways.f[s]-ways.c[s], 5*wanted.f[s]-wanted.c[s]; math.Abs(got-want) > 0.02*(1+want) {
				t.Errorf("the route from state %d to %d is worth %v, want %v", s, to, got, want)
			}
		}
	}
}
