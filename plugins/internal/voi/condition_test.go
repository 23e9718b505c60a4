package voi

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// corridor is a known model: action 0 leads from every state to the next and costs gaps, action
// 1 stays. The policy stays.
func corridor(gamma float64, gaps ...float64) *meanModel {
	b := NewBelief(2, 0, 1)
	for range len(gaps) + 1 {
		b.addState()
	}
	m := &meanModel{belief: b, gamma: gamma, policy: make([]int32, len(gaps)+1), values: make([]float64, len(gaps)+1), gap: make([]float64, 2*(len(gaps)+1)), fresh: make([]float64, 2*(len(gaps)+1))}
	for s := range m.values {
		y := min(s+1, len(gaps))
		m.policy[s] = 1
		b.pairs[2*s] = pair{n: 1, next: []int32{int32(y)}, count: []float64{1}}
		b.pairs[2*s+1] = pair{n: 1, next: []int32{int32(s)}, count: []float64{1}}
		if y != s {
			b.before[y] = append(b.before[y], int32(s))
			m.gap[2*s] = gaps[s]
		}
	}
	return m
}

// Condition (T): a pair is explored from where E[γ^τ prize − Σ γ^t gap] is positive, and
// not from where it is not.
func TestConditionT(t *testing.T) {
	const gamma = 0.9
	gaps := []float64{3, 1, 0.5, 2}
	for _, prize := range []float64{0.5, 1.9, 2.5, 4, 8, 20} {
		m := corridor(gamma, gaps...)
		prizes := make([]float64, 2*len(m.values))
		for i := range prizes {
			prizes[i] = -1
		}
		prizes[len(prizes)-2] = prize
		e := explorer{model: m}
		worth := prize
		for s := len(gaps); s >= 0; s-- {
			if s < len(gaps) {
				worth = gamma*worth - gaps[s]
			}
			aim := e.target(s, prizes, make([]joint, len(m.values)))
			switch explores := e.first(s) >= 0; {
			case explores != (worth > 0) || (aim >= 0) != explores:
				t.Errorf("prize %v, state %d: the detour is worth %v; explores %v, aims at %d", prize, s, worth, explores, aim)
			case explores && math.Abs(e.advantage[s]-worth) > 1e-9:
				t.Errorf("prize %v, state %d: advantage %v, want %v", prize, s, e.advantage[s], worth)
			case explores && e.expects[s] != float64(len(gaps)-s+1):
				t.Errorf("state %d: %v steps", s, e.expects[s])
			}
		}
	}
}

// The planner computes the prize of a pair by its definition: the largest, over
// k, of the gain of k tries divided by k, minus the gap. What it leaves out to
// be fast changes nothing. The pair that the policy takes is tried at no cost,
// once. A try succeeds if an improvement that counts happens, or if it finds a state never
// visited, where there is one. Of k tries, each has a k-th of that probability.
func TestPrizesByDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	compared, positive, several := 0, 0, 0
	for _, rule := range []GainKind{Sup, Mean} {
		for at := range 8 {
			horizon, p := []float64{4, 60, 500, 5000}[at/2], walk(t, rule, 300)
			if at%2 == 1 {
				p = arms(rule)
			}
			p.AddState() // its pairs were never tried
			p.resize()
			p.plan(0, horizon)
			a, m, b := &p.gains, &p.model, p.belief
			p.prospects.update(m, horizon)
			a.horizon, a.share = horizon, 1             // all of the horizon is this pair's
			b.discovered.found = 0.7 * b.discovered.all // many pairs may find a state
			for i := range p.belief.pairs {
				x, s := &p.belief.pairs[i], i/3
				m.found[i] = b.discovered.share(b.kind(s, i%3))
				var routes routes
				worth := 1 + 5*rng.Float64()
				a.finder.find(&routes, m, s, worth, false)
				c := pairCase{value: m.values[s], policy: rng.IntN(3) == 0, leads: rng.IntN(3) == 0, bestOther: math.Pow(horizon, 2*rng.Float64()-1) - 0.1, shown: a.shown(i, &routes)}
				if rng.IntN(2) == 0 { // nearly as good as this pair, so that it takes many tries to tell
					c.bestOther = repeatValue(m.gamma, c.shown.r+m.gamma*c.shown.v-c.value, c.shown) * (0.9 + 0.2*rng.Float64())
				}
				var o outcomes
				p.prospects.newOutcomes(&o, m, s, routes.f, routes.c)
				c.outcomes = o.at(nil, m.found[i])
				c.base = means(c.outcomes)
				c.base.r = p.prospects.meanFirst
				if x.n > 0 {
					c.base.r = p.prospects.newRewards(p.belief, x)
				}
				sum, weight := 0.0, 0.0
				a.firstTries = a.firstTries[:0]
				got := a.prize(&c, i, &routes, worth, &sum, &weight)

				want, succeeds, tries := math.Inf(-1), 0.0, 0.0
				for _, k := range []float64{16 * x.n, 4 * x.n, x.n, 1} {
					if k < 1 || k > 1 && (k > horizon/2 || c.policy) {
						continue
					}
					q := 1.0
					if x.n == 0 {
						a.untried(&c, true)
					} else {
						q, _ = b.successors.ahead(&x.toNext, x.n, 1, k)
						a.tried(&c, x, i, k)
					}
					a.improved(&c)
					if gain, success := rule.gain(a.population); gain/k > want {
						tries = k
						want, succeeds = gain/k, max(success, q*b.discovered.usual(b.kind(s, i%3)))/k
					}
				}
				gap := m.trial[i]
				if x.n > 0 && c.policy {
					gap = min(0, gap)
				}
				want -= gap
				// A prize that is not positive is never pursued.
				if got > 1e-12 || want > 1e-12 {
					positive++
					if tries > 1 {
						several++
					}
					if math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
						t.Errorf("rule %v, horizon %v, pair %d tried %v times, policy %v: prize %v, by definition %v", rule, horizon, i, x.n, c.policy, got, want)
					}
				}
				if (got > 1e-12 || x.n == 0) && math.Abs(a.succeeds[i]-succeeds) > 1e-9 {
					t.Errorf("rule %v, horizon %v, pair %d tried %v times: succeeds with probability %v, by definition %v", rule, horizon, i, x.n, a.succeeds[i], succeeds)
				}
				compared++
			}
		}
	}
	if compared < 100 || positive < 20 || positive > compared-20 || several == 0 {
		t.Errorf("%d prizes compared, %d of them positive, %d for several tries", compared, positive, several)
	}
}

// arms is a planner for a bandit of three arms that were pulled 100 times each. They paid 1 in 50,
// 45 and 40 pulls, and else 0.
func arms(rule GainKind) *Planner {
	p := NewPlanner(NewBelief(3, 0, 1), rule)
	p.AddState()
	for k := range 300 {
		reward := 0.0
		if k/3%20 < 10-k%3 {
			reward = 1
		}
		p.Learn(0, k%3, reward, 0)
	}
	return p
}

// The next k tries may change the mean reward of a pair. After n rewards, s of
// them 1 and the others 0, the posterior mean has the variance p(1−p)/(n+1) ·
// k/(n+k), p = s/n, under the beta posterior of s and n−s.
func TestPreposteriorVariance(t *testing.T) {
	p := NewPlanner(NewBelief(1, 0, 1), Mean)
	p.AddState()
	const n, ones = 12, 4
	for k := range n {
		r := 0.0
		if k%3 == 0 {
			r = 1
		}
		p.Learn(0, 0, r, 0)
	}
	p.plan(0, 500)
	a, x := &p.gains, &p.belief.pairs[0]
	c := pairCase{shown: a.shown(0, a.routes(0)), base: row{r: x.mean}}
	a.deviate(&c, x, a.routes(0), 0)
	for _, k := range []float64{1, 3, 12, 100} {
		a.tried(&c, x, 0, k)
		var mean, square, q float64
		for _, s := range a.scenarios[:len(normal)] { // of outcomes that were seen
			q += s.p
			mean += s.p * s.r
			square += s.p * s.r * s.r
		}
		mean /= q
		got := square/q - mean*mean
		want := ones / float64(n) * (1 - ones/float64(n)) / (n + 1) * k / (n + k)
		if math.Abs(got/want-1) > 0.15 {
			t.Errorf("%v tries: variance %v, want %v", k, got, want)
		}
	}
}

// A first try shows a successor. There are two scenarios: the next tries show the same, or
// something new. The mean of their rows is the row of the belief after one try. In it the
// successor has the weight 1 − z, and the base the rest. If the next tries show the same,
// nearly all weight is on the successor. In a longer run it is more.
func TestFirstTry(t *testing.T) {
	p := walk(t, Sup, 40)
	y := p.AddState()
	p.Plan(0, 500)
	a, m := &p.gains, &p.model
	i := 3 * y
	var c pairCase
	var routes routes
	a.finder.find(&routes, m, y, 3, false)
	var o outcomes
	p.prospects.newOutcomes(&o, m, y, routes.f, routes.c)
	c.outcomes = o.at(nil, m.found[i])
	c.base = means(c.outcomes)
	weight := map[float64]float64{} // of the base after the same outcome to the end, by horizon
	for _, horizon := range []float64{5, 500, 50_000} {
		p.prospects.update(m, horizon)
		a.untried(&c, true)
		for k, o := range c.outcomes {
			same, other := a.scenarios[2*k*len(a.prospects.first)], a.scenarios[2*k*len(a.prospects.first)+1]
			if d := c.base.f - o.f; math.Abs(d) > 1e-3 {
				weight[horizon] = (same.f - o.f) / d
			}
			if math.Abs(same.f-o.f) > math.Abs(other.f-o.f)+1e-12 {
				t.Errorf("horizon %v, outcome %d: the same to the end %+v, something new %+v", horizon, k, same, other)
			}
		}
	}
	if !(weight[5] > weight[500] && weight[500] > weight[50_000] && weight[50_000] < 1e-3 && weight[50_000] > 0) {
		t.Errorf("weights of the base after the same outcome to the end: %v", weight)
	}

	p.prospects.update(m, 500)
	a.untried(&c, true)
	p.Learn(y, 0, 0, 0)
	z := p.belief.successors.predict(&p.belief.pairs[i].toNext, 1, 1)
	for k, o := range c.outcomes {
		x, y := a.scenarios[2*k*len(a.prospects.first)], a.scenarios[2*k*len(a.prospects.first)+1]
		mean := func(x0, y0 float64) float64 { return (x.p*x0 + y.p*y0) / (x.p + y.p) }
		if got, want := mean(x.v, y.v), (1-z)*o.v+z*c.base.v; math.Abs(got-want) > 1e-9*math.Abs(want) {
			t.Errorf("outcome %d: mean value %v, want %v", k, got, want)
		}
		if got, want := mean(x.f, y.f), (1-z)*o.f+z*c.base.f; math.Abs(got-want) > 1e-9 {
			t.Errorf("outcome %d: f %v, want %v", k, got, want)
		}
	}
}

// A pair that may stay and pay more is worth trying although others led into a trap. Room 0 has
// a pair that stays for 0.25 of at most 0.7, and two that led into a trap of 1,200 steps. The
// fourth pair is left. In the mean row of after one try the trap has some weight. With this row
// the pair would not be worth repeating, whatever it pays.
func TestStayingIsWorthTryingBesideTraps(t *testing.T) {
	const room, trap, stays, left = 0, 1, 0, 3
	p := NewPlanner(NewBelief(4, 0, 0.7), Mean)
	p.AddState()
	p.AddState()
	for range 3 {
		p.Learn(room, stays, 0.25, room)
	}
	for _, a := range []int{1, 2} {
		p.Learn(room, a, 0.2, trap)
		for k := range 1200 {
			p.Learn(trap, k%4, 0, trap)
		}
		p.Learn(trap, 0, 0, room)
	}
	p.Plan(room, 5000)
	if p.prize[left] <= 0 {
		t.Errorf("the prize of the pair that is left is %v", p.prize[left])
	}
}

// The pairs of a state are tried one after the other. Together they are worth at least the best
// of them, and at most the sum. It is the sum, discounted, if all tries stay in the state, and
// the best alone if the ways back cost more than the rest.
func TestPrizesOfAStateTogether(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, horizon := range []float64{50, 1000} {
		p := walk(t, Mean, 200)
		p.Plan(0, horizon)
		a, gamma := &p.gains, p.model.gamma
		for s := range p.belief.States() {
			clear(a.succeeds)
			prizes := []float64{rng.Float64(), rng.Float64(), rng.Float64() - 0.5}
			best, sum := slices.Max(prizes), prizes[0]+prizes[1]+max(0, prizes[2])
			if j := a.join(s, prizes, -1, joint{}); j.advantage < best || j.advantage > sum || j.steps < 1 {
				t.Errorf("prizes %v: %+v", prizes, j)
			}
			w, old := &a.stored[s], a.stored[s]
			*w = storedRoutes{from: []int32{int32(s)}, c: make([]float64, 1+p.belief.size())}
			for y := range p.belief.size() {
				w.from = append(w.from, int32(y))
			}
			w.f = slices.Repeat([]float64{1}, len(w.from))
			tried := p.belief.pairs[3*s].n > 0 && p.belief.pairs[3*s+1].n > 0 && p.belief.pairs[3*s+2].n > 0
			if j, want := a.join(s, []float64{3, 2, 1}, -1, joint{}), 3+gamma*(2+gamma); tried && (math.Abs(j.advantage-want) > 1e-9 || math.Abs(j.steps-3) > 1e-9) {
				t.Errorf("all tries stay: %+v, want %v in 3 steps", j, want)
			}
			for i := range a.succeeds {
				a.succeeds[i] = 0.25
			}
			if j, want := a.join(s, []float64{3, 2, 1}, -1, joint{}), 3+0.75*gamma*(2+0.75*gamma); tried && math.Abs(j.advantage-want) > 1e-9 {
				t.Errorf("the tries end with the first that succeeds: %+v, want %v", j, want)
			}
			for y := range w.c {
				w.c[y] = 4
			}
			if j := a.join(s, []float64{3, 2, 1}, -1, joint{}); tried && j != (joint{3, 1}) {
				t.Errorf("no try is worth the way back: %+v, want 3 in 1 step", j)
			}
			*w = old
		}
	}
}

// Pairs share the way to their state. At home a pair stays for 0.25. A corridor of four states
// that pay nothing leads to a state with seven pairs that were never tried. There are horizons
// for which none of them is worth the way alone, and all together are.
func TestPairsShareAWay(t *testing.T) {
	together := 0
	for horizon := 20.0; horizon < 2000; horizon *= 1.1 {
		p := NewPlanner(NewBelief(8, 0, 0.3), Sup)
		const length = 5
		for range length {
			p.AddState()
		}
		for s := range length {
			for a := range 8 {
				switch {
				case s == 0 && a == 0:
					for range 5 {
						p.Learn(0, 0, 0.25, 0)
					}
				case a == 1 && s < length-1:
					p.Learn(s, a, 0, s+1)
				case s < length-1 || a == 0:
					for range 5 {
						p.Learn(s, a, 0, 0)
					}
				}
			}
		}
		p.Plan(0, horizon)
		if p.explore.target(0, p.prize, make([]joint, length)) < 0 && p.explore.target(0, p.prize, p.tours) == length-1 {
			together++
		}
	}
	if together == 0 {
		t.Error("there is no such horizon")
	}
}

// hall is a planner for a corridor that is known: action 0 leads to the next state and costs
// gap, action 1 leads back at no cost, and action 2 stays. In some states action 2 has a prize,
// and succeeds with a probability.
func hall(gamma, gap float64, prizes, succeeds []float64) *Planner {
	n := len(prizes)
	b := NewBelief(3, 0, 1)
	p := NewPlanner(b, Mean)
	for range n {
		p.AddState()
	}
	p.resize()
	m := &p.model
	m.gamma, m.values, m.policy, m.gap, m.fresh = gamma, make([]float64, n), make([]int32, n), make([]float64, 3*n), make([]float64, 3*n)
	p.gains.stored, p.gains.succeeds = make([]storedRoutes, n), make([]float64, 3*n)
	for s := range n {
		m.policy[s] = 1
		for a, y := range []int{min(s+1, n-1), max(s-1, 0), s} {
			b.pairs[3*s+a] = pair{n: 1, next: []int32{int32(y)}, count: []float64{1}}
			if y != s && !slices.Contains(b.before[y], int32(s)) {
				b.before[y] = append(b.before[y], int32(s))
			}
		}
		m.gap[3*s] = gap
		p.prize[3*s], p.prize[3*s+1], p.prize[3*s+2] = -1, -1, prizes[s]
		p.gains.succeeds[3*s+2] = succeeds[s]
	}
	m.leave()
	for range n {
		for s := range n {
			p.gains.finder.find(&p.gains.best, m, s, 1, false)
			p.gains.greedy.reset(n)
			p.gains.stored[s].store(&p.gains.best, &p.gains.greedy)
			p.join(s)
		}
	}
	return p
}

// worthOfHall is what exploring a hall from its first state is worth by the best plan. The plan
// tries each prize at most once, until one succeeds. The value is computed by value iteration over
// the place and the set of prizes that were tried.
func worthOfHall(gamma, gap float64, prizes, succeeds []float64) float64 {
	n := len(prizes)
	v := make([]float64, n<<n)
	for changed := true; changed; {
		changed = false
		for i := range v {
			s, set := i>>n, i&(1<<n-1)
			best := max(0, gamma*v[max(s-1, 0)<<n|set], gamma*v[min(s+1, n-1)<<n|set]-gap)
			if prizes[s] > 0 && set>>s&1 == 0 {
				best = max(best, prizes[s]+gamma*(1-succeeds[s])*v[s<<n|set|1<<s])
			}
			v[i], changed = best, changed || best > v[i]
		}
	}
	return v[0]
}

// States share a way. A hall is explored only if the best plan is worth it, and always if it is
// and all prizes are equal, and succeed with equal probability. Then it is also explored where
// no state pays for the way to it.
func TestStatesShareAWay(t *testing.T) {
	const gamma, n = 0.98, 6
	rng := rand.New(rand.NewPCG(9, 10))
	together := 0
	for k := range 1000 {
		gap, p := 0.02+0.6*rng.Float64(), 0.9*rng.Float64()
		prizes, succeeds := make([]float64, n), make([]float64, n)
		for s := 2; s < n; s++ {
			if rng.IntN(2) == 0 {
				continue
			}
			if prizes[s], succeeds[s] = 1, p; k%2 == 0 {
				prizes[s], succeeds[s] = 0.2+rng.Float64(), 0.9*rng.Float64()
			}
		}
		if slices.Max(prizes) == 0 {
			continue
		}
		x := hall(gamma, gap, prizes, succeeds)
		alone := x.explore.target(0, x.prize, x.joined) >= 0
		explores := x.explore.target(0, x.prize, x.tours) >= 0
		got, want := x.explore.advantage[0], worthOfHall(gamma, gap, prizes, succeeds)
		switch {
		case got > want+1e-9:
			t.Errorf("gap %v, prizes %v, succeeding with %v: worth %v, but the best plan %v", gap, prizes, succeeds, got, want)
		case k%2 == 1 && explores != (want > 1e-9):
			t.Errorf("gap %v, prizes %v, succeeding with %v: explores %v, the best plan is worth %v", gap, prizes, succeeds, explores, want)
		case explores && !alone:
			together++
		}
		// Larger prizes come first: from the smallest a tour goes nowhere.
		last := -1
		for s, j := range x.joined {
			if j.advantage > least && (last < 0 || j.advantage <= x.joined[last].advantage) {
				last = s
			}
		}
		if last >= 0 && x.tours[last] != x.joined[last] {
			t.Errorf("gap %v, prizes %v, succeeding with %v: a tour goes on from state %d, which has the smallest", gap, prizes, succeeds, last)
		}
	}
	if together < 30 {
		t.Errorf("%d halls were explored in which no state pays for its way", together)
	}
}

// The prizes of a new state are computed when it is entered, so that its pair of the largest
// prize is tried first. In a long corridor action 1 finds all states, and the others lead back.
func TestPrizesOfNewStates(t *testing.T) {
	const length, horizon = 40, 1000
	p := NewPlanner(NewBelief(3, 0, 1), Sup)
	p.AddState()
	for s := range length {
		p.Plan(s, horizon)
		best := s * 3
		for i := best; i < s*3+3; i++ {
			if p.prize[i] > p.prize[best] {
				best = i
			}
		}
		if p.checked[s] != p.plans {
			t.Errorf("state %d is entered, and its prizes are not known", s)
		}
		if a, _ := p.Action(s, horizon); p.prize[best] > least && a != best-3*s {
			t.Errorf("in new state %d action %d comes first, %d has the largest prize", s, a, best-3*s)
		}
		p.Learn(s, 0, 0, max(0, s-1))
		p.Learn(s, 2, 0, max(0, s-1))
		p.Learn(s, 1, 0, p.AddState())
	}
}

// Tries move a row between the worst and the best successor that its pair has shown, and not in
// the mean.
func TestRowsStayAmongWhatWasShown(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	cut := 0
	for range 1000 {
		sd, up, down := 2*rng.Float64(), math.Inf(1), math.Inf(1)
		if rng.IntN(4) > 0 {
			up, down = 4*rng.Float64(), 4*rng.Float64()
		}
		sum, square := 0.0, 0.0
		for j, u := range moves(nil, sd, up, down) {
			if u > up || u < -down {
				t.Fatalf("sd %v: %v is not between %v and %v", sd, u, -down, up)
			}
			sum += normal[j].p * u
			square += normal[j].p * u * u
		}
		if math.Abs(sum) > 1e-12 {
			t.Errorf("sd %v, between %v and %v: mean %v", sd, -down, up, sum)
		}
		if square < 0.5*sd*sd {
			cut++
		}
		if math.IsInf(up, 1) && math.Abs(square/sd/sd-1) > 0.15 {
			t.Errorf("sd %v: variance %v", sd, square)
		}
	}
	if cut < 100 {
		t.Errorf("%d distributions were cut off", cut)
	}
	// Three of four tries stayed, and one led to a state worth less. No number of further tries
	// can show a row that is better than staying.
	p := NewPlanner(NewBelief(2, 0, 1), Mean)
	p.AddState()
	p.AddState()
	for k, y := range []int{0, 0, 1, 0} {
		p.Learn(0, 0, 0.2, y)
		if y == 1 {
			for range 50 * (k + 1) {
				p.Learn(1, 0, 0, 1)
			}
			p.Learn(1, 0, 0, 0)
		}
		p.Learn(0, 1, 0.7, 0)
	}
	p.Plan(0, 5000)
	a, x := &p.gains, &p.belief.pairs[0]
	c := pairCase{shown: a.shown(0, a.routes(0)), outcomes: a.outcomes.at(nil, p.model.found[0])}
	c.base = c.shown
	a.deviate(&c, x, a.routes(0), 1)
	top := max(p.model.values[0], p.model.values[1])
	for _, k := range []float64{1, 4, 64} {
		a.tried(&c, x, 0, k)
		for _, s := range a.scenarios[:len(normal)] {
			if s.v > top+1e-9*math.Abs(top) {
				t.Errorf("%v tries: a row worth %v, the best state %v", k, s.v, top)
			}
		}
	}
}

// Where every try of a pair leads elsewhere, a pair that was tried once may show mostly new states. Still its
// row is a distribution: it is worth no more than the best state, and no less than the worst. The
// weights of a new outcome have the given mean.
func TestRowsAreDistributions(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	p := NewPlanner(NewBelief(2, 0, 1), Mean)
	for range 12 {
		p.AddState()
	}
	s := 0
	for range 100 {
		a, y := rng.IntN(2), rng.IntN(12)
		p.Learn(s, a, 0.1*float64(s%3), y)
		s = y
	}
	p.Plan(s, 900)
	a, m := &p.gains, &p.model
	checked := 0
	for i, x := range p.belief.pairs {
		if x.n == 0 || x.n > 3 {
			continue
		}
		p.check(i / 2)
		c := pairCase{shown: a.shown(i, a.routes(i/2)), outcomes: a.outcomes.at(nil, m.found[i])}
		c.base = means(c.outcomes)
		c.base.r = p.prospects.newRewards(p.belief, &x)
		a.deviate(&c, &x, a.routes(i/2), 1)
		low, high := min(c.base.v, slices.Min(m.values)), max(c.base.v, slices.Max(m.values))
		for _, k := range []float64{1, 4 * x.n, 16 * x.n} {
			a.tried(&c, &x, i, k)
			for _, s := range a.scenarios {
				if s.v < low*(1-1e-9) || s.v > high*(1+1e-9) || s.f > 1+1e-9 {
					t.Fatalf("pair %d, %v tries and %v more: a row worth %v with f = %v, states are worth %v to %v", i, x.n, k, s.v, s.f, low, high)
				}
				checked++
			}
		}
	}
	if checked < 1000 {
		t.Errorf("checked %d rows", checked)
	}
	for range 1000 {
		n, k, most := float64(1+rng.IntN(9)), float64(1+rng.IntN(99)), rng.Float64()
		mean := most * rng.Float64()
		sum := 0.0
		for _, w := range newWeights(3, n, k, mean, most) {
			if sum += w; w < 0 || w > most*(1+1e-9) {
				t.Fatalf("after %v tries and %v more: weight %v, at most %v", n, k, w, most)
			}
		}
		if math.Abs(sum/3-mean) > 1e-9 {
			t.Fatalf("after %v tries and %v more: mean weight %v, want %v", n, k, sum/3, mean)
		}
	}
}

// The share of near successors that are the state itself is learned. It is large where pairs
// stay, and small on a ring.
func TestShareOfStaying(t *testing.T) {
	b := NewBelief(6, 0, 1)
	for range 10 {
		b.addState()
	}
	for s := range 10 {
		b.learn(s, 0, 0, (s+1)%10)
		for a := 1; a < 6; a++ {
			b.learn(s, a, 0, s)
		}
	}
	if got := b.selfShare(0); got < 0.95 {
		t.Errorf("all others stay: %v", got)
	}
	b = NewBelief(6, 0, 1)
	for range 10 {
		b.addState()
	}
	for s := range 10 {
		for a := range 6 {
			b.learn(s, a, 0, (s+1)%10)
		}
	}
	if got := b.selfShare(0); got > 0.05 {
		t.Errorf("none stays: %v", got)
	}
	x := []float64{3, 1, 4, 1, 5, 9, 2, 6, 5, 3}
	for s := range 10 {
		self := b.selfShare(s)
		if got, want := b.nearMean(s, x), self*x[s]+(1-self)*x[(s+1)%10]; math.Abs(got-want) > 1e-12 {
			t.Errorf("mean of the near successors of %d: %v, want %v", s, got, want)
		}
	}
}

// The scenarios of a first try that are left out change nothing: the others have the same gain
// and the same tally, to the bit.
func TestImprovementsAreNotLeftOut(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	left, all := 0, 0
	for _, rule := range []GainKind{Sup, Mean} {
		for k := range 8 {
			horizon := math.Exp2(12 * rng.Float64())
			steps := 10 + 30*k
			p := walk(t, rule, steps)
			y := p.AddState()
			p.Plan(0, horizon)
			a, m := &p.gains, &p.model
			for s := range p.belief.States() {
				var routes routes
				a.finder.find(&routes, m, s, math.Sqrt(horizon), false)
				var o outcomes
				p.prospects.newOutcomes(&o, m, s, routes.f, routes.c)
				c := pairCase{value: m.values[s], leads: rng.IntN(4) == 0, bestOther: horizon * (rng.Float64() - 0.3)}
				c.outcomes = o.at(nil, m.found[3*y])
				c.base = means(c.outcomes)
				c.base.r = p.prospects.meanFirst
				var got [2][3]float64
				for k := range got {
					a.untried(&c, k == 1)
					a.improved(&c)
					a.tally(&c, &got[k][0], &got[k][1])
					if k == 0 {
						left += len(a.population)
					} else {
						all += len(a.population)
					}
					got[k][2], _ = rule.gain(a.population)
				}
				if got[0] != got[1] {
					t.Fatalf("rule %d, %d steps, state %d: %v, with all scenarios %v", rule, steps, s, got[0], got[1])
				}
			}
		}
	}
	if left == all || left == 0 {
		t.Errorf("%d of %d scenarios are left", left, all)
	}
}

// First tries that are interpolated gain what evaluated ones gain, within 2 % (the square of the step
// of 1/8 from a power to the next is 1.6 %). A slightly larger probability of finding a state changes
// the gain the same way: pairs that differ in it do not become equal, and keep their order. Near a
// maximum between two powers the order may differ.
func TestFirstTriesAreInterpolated(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 9))
	ordered := 0
	for _, rule := range []GainKind{Sup, Mean} {
		for k := range 6 {
			horizon := math.Exp2(4 + 8*rng.Float64())
			p := walk(t, rule, 10+30*k)
			y := p.AddState()
			p.Plan(0, horizon)
			p.check(y)
			a := &p.gains
			try := func(actions int, found, bestOther float64) firstTry {
				defer func(n int) { p.belief.actions, a.firstTries = n, nil }(p.belief.actions)
				p.belief.actions, a.firstTries = actions, nil
				c := pairCase{value: p.model.values[y] - p.model.zero, bestOther: bestOther}
				c.base.r = p.prospects.meanFirst
				return a.firstTry(&c, found)
			}
			for range 50 {
				found, other := rng.Float64(), 0.01*horizon*rng.Float64()
				exact, near := try(few, found, other), try(few+1, found, other)
				if math.Abs(near.gain-exact.gain) > 0.02*exact.gain {
					t.Fatalf("rule %d, found %v: gain %v, evaluated %v", rule, found, near.gain, exact.gain)
				}
				larger := min(1, 1.001*found)
				if (try(few+1, larger, other).gain > near.gain) == (try(few, larger, other).gain > exact.gain) {
					ordered++
				}
			}
		}
	}
	if ordered < 590 {
		t.Errorf("%d of 600 gains keep their order", ordered)
	}
}

// Pairs are offered in units of reward. Gains and costs scale with rewards, and shifts do not
// matter; the value of the greedy policy follows both. No offer is worse by step than what the
// greedy policy tries anyway.
func TestPairsAreInUnitsOfReward(t *testing.T) {
	offer := func(seed uint64, scale, shift float64) (pairs []Pair, value float64, p *Planner, s int) {
		rng := rand.New(rand.NewPCG(13, seed))
		p = NewPlanner(NewBelief(3, shift, shift+scale), Sup)
		for range 6 {
			p.AddState()
		}
		for range 60 {
			a := max(0, rng.IntN(9)-6)
			y := (s + a*rng.IntN(3) + 1) % 6
			p.Learn(s, a, shift+scale*float64(rng.IntN(5)*y)/32, y)
			s = y
		}
		for range 5 {
			pairs = p.Pairs(pairs[:0], s, 20_000)
		}
		return pairs, p.Value(s), p, s
	}
	offered, passed := 0, 0
	for seed := range uint64(8) {
		want, value, p, s := offer(seed, 1, 0)
		passing := 0.0 // of the pairs that the greedy policy tries, the largest advantage by step
		for y := range 6 {
			act := int(p.model.policy[y])
			f, c := p.gains.stored[y].at(s)
			prizes := p.prize[3*y : 3*y+3]
			if prizes[act] == max(prizes[0], prizes[1], prizes[2]) && c == 0 {
				passing = max(passing, f*prizes[act]/(1+(1-f)/(1-p.model.gamma)))
			}
		}
		if passing > 0 && len(want) < 6 {
			passed++
		}
		offered += len(want)
		for _, x := range want {
			f, _ := p.gains.stored[x.State].at(s)
			if steps := 1 + (1-f)/(1-p.model.gamma); x.Gain <= 0 || x.Cost < 0 || x.rate() <= passing || math.Abs(x.Steps-steps) > 1e-9 {
				t.Errorf("%+v, where passing by has a rate of %v, and the route takes %v steps", x, passing, steps)
			}
		}
		for _, by := range [][2]float64{{4, 0}, {64, -8}} {
			got, v, _, _ := offer(seed, by[0], by[1])
			if len(got) != len(want) {
				t.Fatalf("%d pairs, want %d", len(got), len(want))
			}
			if w := by[1] + by[0]*value; math.Abs(v-w) > 1e-9*math.Abs(w) {
				t.Errorf("value %v, want %v", v, w)
			}
			for k, x := range got {
				y := want[k]
				if x.State != y.State || x.Action != y.Action || x.Gain != by[0]*y.Gain || x.Cost != by[0]*y.Cost || x.Steps != y.Steps {
					t.Errorf("rewards times %v plus %v: %+v, was %+v", by[0], by[1], x, y)
				}
			}
		}
	}
	if offered < 10 || passed < 2 {
		t.Errorf("%d pairs offered; passing by left out some %d times", offered, passed)
	}
}

// The predictive probability of a new outcome is αu/(n+α), as in the process. A
// record counts from the next step on.
func TestSmallFormulas(t *testing.T) {
	m := newMixture(2)
	clear(m.weight[:])
	m.weight[points-1] = 1
	alpha := m.alpha[points-1]
	l := likelihood{}
	for g := range l {
		l[g] = 1
	}
	if got, want := m.predict(&l, 4, 0.3), alpha*0.3/(4+alpha); math.Abs(got-want) > 1e-12 {
		t.Errorf("a new outcome with probability %v, want %v", got, want)
	}
	a := gainEvaluator{model: &meanModel{gamma: 0.9}, horizon: 10, scenarios: []scenario{{p: 1, row: row{r: 1, f: 0.5}, record: 2}}}
	a.improved(&pairCase{leads: true, bestOther: -1})
	if got := a.population[0].d; math.Abs(got-1.8) > 1e-12 {
		t.Errorf("a record of 2 at the next step is worth %v", got)
	}
}
