package voi

import (
	"math"
	"math/rand/v2"
	"testing"
)

// learned returns a planner for the return of episodes after transitions (state, action, reward,
// next) that were made so often that rewards and successors are nearly certain. State 0 is the end,
// and episodes begin in state 1. Rewards are between low and high.
func learned(t *testing.T, low, high float64, actions, states int, horizon float64, rows [][4]float64) *Planner {
	t.Helper()
	p := NewPlanner(NewBelief(actions, low, high), Sup)
	p.SetCriterion(PerEpisode)
	p.AddEnd()
	for range states - 1 {
		p.AddState()
	}
	for range 2000 {
		p.Begin(1)
		for _, x := range rows {
			p.Learn(int(x[0]), int(x[1]), x[2], int(x[3]))
		}
	}
	p.due = true
	p.Best(1, horizon)
	return p
}

// In state 1, action 0 ends the episode and pays 0.5. Action 1 leads through two more states to an
// end that pays 0.9. The optimal reward per step is 0.5, the optimal return of an episode 0.9. The
// beginning is worth 1, so the end is worth (1 − γ²·0.9)/γ³.
func TestLongWayPerEpisode(t *testing.T) {
	const horizon = 1000.0
	rows := [][4]float64{{1, 0, 0.5, 0}, {1, 1, 0, 2}, {2, 0, 0, 3}, {2, 1, 0, 3}, {3, 0, 0.9, 0}, {3, 1, 0.9, 0}}
	p := learned(t, 0, 1, 2, 4, horizon, rows)
	if a := p.Greedy(1); a != 1 {
		t.Errorf("per episode: action %d", a)
	}
	gamma := 1 - 1/horizon
	if got, want := p.model.final, (1-gamma*gamma*0.9)/math.Pow(gamma, 3); math.Abs(got-want) > 0.01 {
		t.Errorf("the end is worth %v, want %v", got, want)
	}
	if got, want := p.Value(1), (1-gamma)*1; math.Abs(got-want) > 0.01*want {
		t.Errorf("the beginning is worth %v per step, want %v", got, want)
	}
	p.SetCriterion(PerStep)
	p.due = true
	if a := p.Best(1, horizon); a != 0 {
		t.Errorf("per step: action %d", a)
	}
}

// An end after three steps that cost 1 each is better than to rest for ever, even if resting
// costs nothing and the return −3 of each episode is all that there is to earn. Per step, to
// rest is optimal.
func TestNeverEndingIsWorse(t *testing.T) {
	for _, rest := range []float64{0, -0.1} {
		for _, horizon := range []float64{100, 10_000} {
			rows := [][4]float64{{1, 0, rest, 1}, {1, 1, -1, 2}, {2, 0, rest, 2}, {2, 1, -1, 3}, {3, 0, rest, 3}, {3, 1, -1, 0}}
			p := learned(t, -2, 0, 2, 4, horizon, rows)
			for s := 1; s < 4; s++ {
				if a := p.Greedy(s); a != 1 {
					t.Errorf("rest %v, horizon %v, state %d: per episode action %d", rest, horizon, s, a)
				}
			}
			p.due = true
			p.Plan(1, horizon) // no reward is above 0, so no state is better than the end
			if got, want := p.prospects.top, p.model.final; math.Abs(got-want) > 1e-9*want {
				t.Errorf("rest %v, horizon %v: a state may be worth %v, the end %v", rest, horizon, got, want)
			}
			p.SetCriterion(PerStep)
			p.due = true
			if a := p.Best(1, horizon); a != 0 {
				t.Errorf("rest %v, horizon %v: per step action %d", rest, horizon, a)
			}
		}
	}
}

// episodes returns a random model in which every state may end the episode, with rewards of
// both signs.
func episodes(rng *rand.Rand, states, actions int, gamma float64) *meanModel {
	b := randomModel(rng, states, actions, gamma).belief
	b.low, b.scale = -0.5, 1
	end := b.addEnd()
	b.begin(rng.IntN(states))
	b.begin(rng.IntN(states))
	for i := range states * actions {
		if p := &b.pairs[i]; rng.IntN(3) == 0 || i%actions == 0 {
			p.next[0] = int32(end)
			if s := int32(i / actions); !contains(b.before[end], s) {
				b.before[end] = append(b.before[end], s)
			}
		}
	}
	m := &meanModel{belief: b, criterion: PerEpisode}
	m.certain(gamma)
	return m
}

// certain solves the model without the part of the base.
func (m *meanModel) certain(gamma float64) {
	m.update(gamma)
	for i := range m.fresh {
		if !m.belief.ends(i / m.belief.actions) {
			m.planned[i], m.reward[i] = 0, m.belief.pairs[i].mean+m.zero
		}
	}
	m.solve()
}

// With many steps left the policy has the largest return of an episode, found here by value
// iteration without a discount. The sizes are on both sides of those that are solved by
// elimination.
func TestReturnIsOptimal(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, states := range []int{3, 6, 12, 60} {
		for range 8 {
			const actions = 3
			m := episodes(rng, states, actions, 1-1e-5)
			total := func(policy []int32) []float64 {
				v := make([]float64, states+1)
				for range 20_000 {
					worst := 0.0
					for s := range states {
						best := math.Inf(-1)
						for a := range actions {
							i := s*actions + a
							if policy == nil || int(policy[s]) == a {
								best = max(best, m.belief.pairs[i].mean-0.5+m.shown(&m.belief.pairs[i], v))
							}
						}
						worst = max(worst, math.Abs(best-v[s]))
						v[s] = best
					}
					if worst < 1e-9 {
						return v
					}
				}
				return nil
			}
			want := total(nil)
			if want == nil {
				continue // to stay for ever pays
			}
			got := total(m.policy)
			if got == nil {
				t.Fatalf("%d states: the policy does not end", states)
			}
			for s := range states {
				if math.Abs(got[s]-want[s]) > 1e-2 {
					t.Errorf("%d states, state %d: return %v, the optimum is %v", states, s, got[s], want[s])
				}
			}
		}
	}
}

// The value of the end is what it is in the process of all episodes, in which each end costs J and
// the next episode follows: then the beginning has its value again. In that process the row lemma
// holds, with routes through the end: if only the row of one pair changes, the optimal values
// change by φ.
func TestRowLemmaPerEpisode(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	improved := 0
	for range 200 {
		const states, actions, gamma = 5, 2, 0.95
		m := episodes(rng, states, actions, gamma)
		begin := &m.belief.pairs[states*actions]
		start := m.shown(begin, m.values)
		if math.Abs(start-beginning) > 2e-3 {
			continue // the return of an episode is not finite
		}
		price := start - m.final
		values := func() []float64 { // of the process, by value iteration
			v := make([]float64, states+1)
			for range 1000 {
				for s := range states {
					best := math.Inf(-1)
					for a := range actions {
						i := s*actions + a
						best = max(best, m.belief.pairs[i].mean+m.zero+gamma*m.shown(&m.belief.pairs[i], v))
					}
					v[s] = best
				}
				v[states] = m.shown(begin, v) - price
			}
			return v
		}
		clear(m.fresh) // all successors are known
		m.leave()
		before := values()
		for s, v := range m.values {
			if math.Abs(v-before[s]) > 1e-6 {
				t.Fatalf("state %d has the value %v, in the process of all episodes %v", s, v, before[s])
			}
		}
		i := rng.IntN(states * actions)
		s := i / actions
		if m.gap[i] < 1e-6 {
			continue // the greedy action
		}
		// The new row leads to one state.
		y, r := rng.IntN(states+1), m.zero+1.5*rng.Float64()
		m.belief.pairs[i] = pair{n: 1, next: []int32{int32(y)}, count: []float64{1}, mean: r - m.zero}
		gain := values()[s] - before[s]
		var ways routes // of the model as it was
		var finder routeFinder
		for range 5 {
			finder.find(&ways, m, s, max(gain, 1e-3), false)
		}
		c := pairCase{value: m.values[s] - m.zero}
		x := row{r - m.zero, m.values[y], ways.f[y], ways.c[y]}
		advantage := r + gamma*m.values[y] - m.values[s]
		d, _ := c.improvement(gamma, x)
		w := advantage + d // going on for ever, by these routes
		if gain > 0.01 {
			improved++
			if w > gain+1e-6 || w < 0.85*gain {
				t.Errorf("the value of state %d grows by %v, by the lemma %v", s, gain, w)
			}
		} else if w > 0.01 {
			t.Errorf("state %d: no change, by the lemma %v", s, w)
		}
	}
	if improved < 20 {
		t.Errorf("only %d rows improved a policy", improved)
	}
}

// The unit of rewards does not matter, known or learned. Their origin does.
func TestUnitPerEpisode(t *testing.T) {
	play := func(unit, shift float64, known bool) (actions []int) {
		low, high := math.Inf(-1), math.Inf(1)
		if known {
			low, high = unit*(shift-1), unit*shift
		}
		p := NewPlanner(NewBelief(3, low, high), Sup)
		p.SetCriterion(PerEpisode)
		end, states := p.AddEnd(), 4
		for range states {
			p.AddState()
		}
		const steps = 500
		s := 0
		p.Begin(s + 1)
		for k := range steps {
			a, _ := p.Action(s+1, float64(steps-k))
			actions = append(actions, a)
			r, y := -0.125, s // to rest
			if a > 0 {
				r, y = -0.25*float64(a), (s+a)%5
			}
			if y == states {
				p.Learn(s+1, a, unit*(r+shift), end)
				y = 0
				p.Begin(1)
			} else {
				p.Learn(s+1, a, unit*(r+shift), y+1)
			}
			s = y
		}
		return actions
	}
	same := func(x, y []int) bool {
		for k := range x {
			if x[k] != y[k] {
				return false
			}
		}
		return true
	}
	want, learns := play(1, 0, true), play(1, 0, false)
	rests := 0
	for _, a := range want[len(want)/2:] {
		if a == 0 {
			rests++
		}
	}
	if rests > 25 {
		t.Errorf("it rests in %d of the last 250 steps", rests)
	}
	for _, unit := range []float64{1.0 / 1024, 4096} {
		if !same(play(unit, 0, true), want) || !same(play(unit, 0, false), learns) {
			t.Errorf("the unit %v matters", unit)
		}
	}
	if same(play(1, 4, true), want) {
		t.Error("the origin does not matter")
	}
}

// If episodes pay, PerRun has the values of PerStep, up to the zero of rewards. If they cost, it
// has those of PerEpisode.
func TestPerRun(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 13))
	pay, cost := 0, 0
	for range 200 {
		const gamma = 0.99
		m := episodes(rng, 4+4*rng.IntN(9), 2, gamma)
		m.belief.low = -0.2 - 0.6*rng.Float64()
		solve := func(c Criterion) *meanModel {
			x := &meanModel{belief: m.belief, criterion: c}
			x.certain(gamma)
			return x
		}
		step, episode, run := solve(PerStep), solve(PerEpisode), solve(PerRun)
		begin := &m.belief.pairs[int(m.belief.end)*m.belief.actions]
		want, shift := episode, 0.0
		if start := step.shown(begin, step.values) + m.belief.low/(1-gamma); start >= beginning {
			want, shift = step, m.belief.low/(1-gamma)
			pay++
		} else {
			cost++
		}
		for s, v := range run.values {
			if math.Abs(v-want.values[s]-shift) > 0.05 {
				t.Errorf("state %d of %d: value %v, want %v, %v", s, len(run.values), v, want.values[s]+shift, run.continues)
			}
		}
	}
	if pay < 20 || cost < 20 {
		t.Errorf("episodes pay in %d models and cost in %d", pay, cost)
	}
}

// Without an end the return of episodes is the reward of the run.
func TestPerEpisodeWithoutEpisodes(t *testing.T) {
	play := func(episodes bool) (sum int) {
		p := NewPlanner(NewBelief(2, 3, 5), Mean)
		if episodes {
			p.SetCriterion(PerEpisode)
		}
		for range 3 {
			p.AddState()
		}
		s := 0
		for k := range 200 {
			a, _ := p.Action(s, float64(200-k))
			sum = (3*sum + a) % 1_000_003
			y := (s + a + 1) % 3
			p.Learn(s, a, float64(3+(s*a)%3), y)
			s = y
		}
		return sum
	}
	if play(true) != play(false) {
		t.Error("other actions")
	}
}

// The end of an episode is the next beginning, and no state besides it: what is believed of states
// never visited is as if the last step had led to the next beginning. Three states in a row are
// passed again and again, and every step pays.
func TestTheEndIsNoState(t *testing.T) {
	const horizon = 300.0
	play := func(episodes bool) (p *Planner, first int) {
		p = NewPlanner(NewBelief(2, 0, 1), Sup)
		end := -1
		if episodes {
			end, first = p.AddEnd(), 1
		}
		for range 3 {
			p.AddState()
		}
		p.Begin(first)
		for range 20 {
			p.Learn(first, 0, 0.8, first+1)
			p.Learn(first+1, 0, 0.8, first+2)
			if episodes {
				p.Learn(first+2, 0, 1, end)
				p.Begin(first)
			} else {
				p.Learn(first+2, 0, 1, first)
			}
			p.Plan(first, horizon)
		}
		return p, first
	}
	p, first := play(false)
	q, second := play(true)
	for _, x := range []struct {
		what      string
		got, want float64
	}{
		{"mean value", q.prospects.vmean, p.prospects.vmean},
		{"resemblance", q.model.alike, p.model.alike},
		{"states are left", q.belief.discovered.left, p.belief.discovered.left},
		{"behind", q.prospects.behind, p.prospects.behind},
		{"prize of the second state", q.prize[2*(second+1)+1], p.prize[2*(first+1)+1]},
		{"prize of the last state", q.prize[2*(second+2)+1], p.prize[2*(first+2)+1]},
	} {
		if math.Abs(x.got-x.want) > 1e-6*math.Abs(x.want) {
			t.Errorf("%s: with episodes %v, want %v", x.what, x.got, x.want)
		}
	}
}
