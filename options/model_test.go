package options

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
)

// garnet draws a small random process.
func garnet(t *rapid.T) *mdp.Tabular {
	states := rapid.IntRange(1, 7).Draw(t, "states")
	task := must.Get(catalog.Garnet(states, rapid.IntRange(1, 3).Draw(t, "actions"),
		rapid.IntRange(1, states).Draw(t, "branching"), rapid.Uint64().Draw(t, "seed")))(t)
	return task.Model
}

// drawPolicy draws a randomised policy, with some zeros.
func drawPolicy(t *rapid.T, m mdp.Model) mdp.Randomised {
	rng := newRNG(rapid.Uint64().Draw(t, "policy"))
	pi := make(mdp.Randomised, m.NumStates())
	for s := range pi {
		pi[s] = make([]float64, m.NumActions())
		pi[s][rng.IntN(m.NumActions())] = 0.5
		total := 0.0
		for a := range pi[s] {
			if rng.IntN(2) == 0 {
				pi[s][a] += rng.Float64()
			}
			total += pi[s][a]
		}
		for a := range pi[s] {
			pi[s][a] /= total
		}
	}
	return pi
}

// primitive is the option of taking one action once.
func primitive(a int) Option { return timeout{Deviation{a, mdp.Uniform{}}, 1} }

// timeout is an option that ends after a number of steps if it has not before.
type timeout struct {
	Option
	steps int
}

func (o timeout) Termination(s, elapsed int) float64 {
	if elapsed >= o.steps {
		return 1
	}
	return o.Option.Termination(s, elapsed)
}

func (o timeout) Stages() int { return o.steps }

// hold is the option of following a policy for a number of steps.
func hold(pi mdp.Policy, steps int) Option { return timeout{Markov{Policy: pi}, steps} }

// drawOption draws an option of any kind, whose Markov part ends in a state with
// probability at least least.
func drawOption(t *rapid.T, m mdp.Model, least float64) Option {
	rng := newRNG(rapid.Uint64().Draw(t, "option"))
	end := make([]float64, m.NumStates())
	for s := range end {
		end[s] = least + (1-least)*max(0, 2*rng.Float64()-1)
	}
	action := rng.IntN(m.NumActions())
	markov := Markov{Policy: drawPolicy(t, m), End: end}
	switch rapid.IntRange(0, 4).Draw(t, "kind") {
	case 0:
		return primitive(action)
	case 1:
		return timeout{markov, 1 + rng.IntN(6)}
	case 2:
		return timeout{Deviation{action, markov.Policy}, 1 + rng.IntN(6)}
	case 3:
		return newRepeat(action, 2*rng.Float64(), 1+rng.IntN(6))
	}
	return markov
}

// definition computes the model of an option from its definition, by following the
// distribution of states forward until hardly anything is left.
func definition(m mdp.Model, o Option, gamma float64, s int) (next []float64, reward, duration float64) {
	n := m.NumStates()
	next = make([]float64, n)
	here := make([]float64, n)
	here[s] = 1
	probs := make([]float64, m.NumActions())
	factor := 1.0
	for elapsed := 0; ; elapsed++ {
		there, left := make([]float64, n), 0.0
		for x, mass := range here {
			if mass == 0 {
				continue
			}
			left += mass
			duration += mass
			o.Distribution(probs, x, elapsed)
			for a, q := range probs {
				reward += factor * mass * q * m.Reward(x, a)
				succ, p := m.Transition(x, a)
				for i, u := range succ {
					there[u] += mass * q * p[i]
				}
			}
		}
		if left*factor < 1e-16 {
			return next, reward, duration
		}
		factor *= gamma
		for x := range there {
			end := o.Termination(x, elapsed+1)
			next[x] += factor * there[x] * end
			there[x] *= 1 - end
		}
		here = there
	}
}

func TestModelIsItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := garnet(t)
		gamma := rapid.SampledFrom([]float64{0, 0.5, 0.95, 1}).Draw(t, "γ")
		least := 0.0
		if gamma == 1 {
			least = 0.1
		}
		o := drawOption(t, m, least)
		model := must.Get(NewModel(m, o, gamma))(t)
		for s := range m.NumStates() {
			next, reward, duration := definition(m, o, gamma, s)
			sum := 0.0
			for x, p := range model.Transition(s) {
				if math.Abs(p-next[x]) > 1e-10 || p < 0 {
					t.Fatalf("p(%d,%d) = %v, want %v", s, x, p, next[x])
				}
				sum += p
			}
			if math.Abs(model.Reward[s]-reward) > 1e-10*(1+math.Abs(reward)) {
				t.Fatalf("r(%d) = %v, want %v", s, model.Reward[s], reward)
			}
			switch {
			case gamma < 1 && (model.Duration != nil || sum > gamma+1e-12):
				t.Fatalf("row %d sums to %v, durations %v", s, sum, model.Duration)
			case gamma == 1 && (math.Abs(sum-1) > 1e-10 || math.Abs(model.Duration[s]-duration) > 1e-9*duration):
				t.Fatalf("row %d sums to %v, takes %v, want %v", s, sum, model.Duration[s], duration)
			}
		}
	})
}

// The model of a primitive option is the plain backup, to the bit.
func TestPrimitiveModelIsTheBackup(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := garnet(t)
		gamma := rapid.Float64Range(0, 1).Draw(t, "γ")
		for a := range m.NumActions() {
			for _, o := range []Option{primitive(a), hold(mdp.Constant(m.NumStates(), a), 1)} {
				model := must.Get(NewModel(m, o, gamma))(t)
				for s := range m.NumStates() {
					want := make([]float64, m.NumStates())
					succ, prob := m.Transition(s, a)
					for i, x := range succ {
						want[x] = gamma * prob[i]
					}
					for x, p := range model.Transition(s) {
						if p != want[x] || model.Reward[s] != m.Reward(s, a) {
							t.Fatalf("action %d in state %d: p(%d) = %v and r = %v, want %v and %v", a, s, x, p, model.Reward[s], want[x], m.Reward(s, a))
						}
					}
				}
			}
		}
	})
}

// Holding a policy for T steps is T backups of it, and without a timeout it is its
// value.
func TestHoldingIsBackingUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := garnet(t)
		pi := drawPolicy(t, m)
		chain := must.Get(mdp.Induce(m, pi))(t)
		want := must.Get(chain.EvaluateDiscounted(0.9))(t)
		steps := rapid.IntRange(1, 30).Draw(t, "T")
		held := must.Get(NewModel(m, hold(pi, steps), 0.9))(t)
		endless := must.Get(NewModel(m, Markov{Policy: pi}, 0.9))(t)
		for s, v := range want {
			got := held.Reward[s]
			for x, p := range held.Transition(s) {
				got += p * want[x]
			}
			if math.Abs(got-v) > 1e-10*(1+math.Abs(v)) {
				t.Fatalf("%d steps and then the value: %v, want %v", steps, got, v)
			}
			sum := 0.0
			for _, p := range held.Transition(s) {
				sum += p
			}
			if math.Abs(sum-math.Pow(0.9, float64(steps))) > 1e-12 {
				t.Fatalf("row %d of %d steps sums to %v", s, steps, sum)
			}
			if math.Abs(endless.Reward[s]-v) > 1e-10*(1+math.Abs(v)) || mean(endless.Transition(s)) != 0 {
				t.Fatalf("following the policy for ever: %v, want %v", endless.Reward[s], v)
			}
		}
	})
}

// An option ends with the episode.
func TestModelEndsInTerminalStates(t *testing.T) {
	m := must.Get(mdp.NewModel(mdp.Definition{States: 3, Actions: 1, Terminal: []int{2},
		Transitions: []mdp.Transition{{S: 0, Next: 1, P: 1}, {S: 1, Next: 2, P: 1}},
		Rewards:     []mdp.Reward{{S: 0, R: 1}, {S: 1, R: 2}}}))(t)
	model := must.Get(NewModel(m, Markov{Policy: mdp.Constant(3, 0)}, 1))(t)
	if model.Reward[0] != 3 || model.Duration[0] != 2 || model.Transition(0)[2] != 1 {
		t.Errorf("to the end of the episode: reward %v in %v steps to %v", model.Reward[0], model.Duration[0], model.Transition(0))
	}
}

func TestNewModelRefuses(t *testing.T) {
	m := twoStates(t)
	stay := Markov{Policy: mdp.Constant(2, 0)}
	short := Markov{Policy: mdp.Randomised{{0.5, 0.4}, {1, 0}}}
	negative := Markov{Policy: mdp.Randomised{{1.5, -0.5}, {1, 0}}}
	for want, c := range map[string]struct {
		option Option
		gamma  float64
	}{
		"discount 1.5":             {stay, 1.5},
		"discount NaN":             {stay, math.NaN()},
		"must end surely":          {stay, 1},
		"sum to 0.9":               {short, 0.5},
		"with probability -0.5":    {negative, 0.5},
		"actions in state 0 sum":   {primitive(7), 0.5},
		"ends with probability 2":  {Markov{Policy: mdp.Uniform{}, End: []float64{0, 2}}, 0.5},
		"ends with probability Na": {timeout{Markov{Policy: mdp.Uniform{}, End: []float64{0, math.NaN()}}, 3}, 0.5},
	} {
		if _, err := NewModel(m, c.option, c.gamma); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

// twoStates is a process with actions stay and move, which moves with probability
// 0.8, and reward 1 for staying in state 1.
func twoStates(t testing.TB) *mdp.Tabular {
	return must.Get(mdp.NewModel(mdp.Definition{States: 2, Actions: 2,
		Transitions: []mdp.Transition{{S: 0, A: 0, Next: 0, P: 1}, {S: 1, A: 0, Next: 1, P: 1},
			{S: 0, A: 1, Next: 1, P: 0.8}, {S: 0, A: 1, Next: 0, P: 0.2}, {S: 1, A: 1, Next: 0, P: 0.8}, {S: 1, A: 1, Next: 1, P: 0.2}},
		Rewards: []mdp.Reward{{S: 1, A: 0, R: 1}, {S: 0, A: 1, R: -0.25}}}))(t)
}

// Executions have the mean return and duration of the model: 20,000 of them, within
// 5 standard errors (false alarm below 1e-5 for all comparisons together).
func TestExecutionsAverageToTheModel(t *testing.T) {
	task := must.Get(catalog.Garnet(5, 2, 3, 1))(t)
	m := task.Model
	repeat := newRepeat(1, 1.5, 6)
	rng := newRNG(7)
	for name, o := range map[string]Option{
		"markov":    Markov{Policy: mdp.Randomised{{1, 0}, {0.3, 0.7}, {0, 1}, {0.5, 0.5}, {1, 0}}, End: []float64{0, 0.5, 1, 0.2, 0.1}},
		"held":      hold(mdp.Uniform{}, 4),
		"deviation": timeout{Deviation{1, mdp.Constant(5, 0)}, 3},
		"repeat":    repeat,
		"primitive": primitive(0),
	} {
		discounted, err := NewModel(m, o, 0.9)
		if err != nil {
			t.Fatal(name, err)
		}
		total, err := NewModel(m, o, 1)
		if err != nil {
			t.Fatal(name, err)
		}
		const runs = 20_000
		var r, f, k moments
		scratch := make([]float64, 2)
		for range runs {
			s := 3
			e := Start(o, s)
			earned, factor := 0.0, 1.0
			for ended := false; !ended; {
				var reward float64
				s, reward = m.Step(s, e.SelectAction(s, scratch, rng), rng)
				ended = e.Step(s, rng)
				earned += factor * reward
				factor *= 0.9
			}
			r.add(earned)
			f.add(factor)
			k.add(float64(e.Elapsed))
		}
		sum := 0.0
		for _, p := range discounted.Transition(3) {
			sum += p
		}
		r.check(t, name+": return", discounted.Reward[3])
		f.check(t, name+": discount", sum)
		k.check(t, name+": duration", total.Duration[3])
	}
}

type moments struct{ n, sum, squares float64 }

func (m *moments) add(x float64) { m.n, m.sum, m.squares = m.n+1, m.sum+x, m.squares+x*x }

func (m *moments) check(t *testing.T, what string, want float64) {
	t.Helper()
	average := m.sum / m.n
	se := math.Sqrt(max(0, m.squares/m.n-average*average) / m.n)
	if math.Abs(average-want) > 5*se+1e-9 {
		t.Errorf("%s averages %v ± %v, want %v", what, average, se, want)
	}
}

// What is certain takes no draw.
func TestCertaintyTakesNoDraw(t *testing.T) {
	e := Start(hold(mdp.Constant(2, 1), 2), 0)
	scratch := make([]float64, 2)
	for _, ended := range []bool{false, true} {
		if a := e.SelectAction(0, scratch, nil); a != 1 {
			t.Errorf("action %d", a)
		}
		if e.Step(0, nil) != ended {
			t.Errorf("ended after %d steps", e.Elapsed)
		}
	}
	if e.Elapsed != 2 {
		t.Errorf("%+v", e)
	}
}

func TestStartNeedsTheInitiationSet(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("an option was started where it does not initiate")
		}
	}()
	Start(Markov{Initiation: []bool{false}}, 0)
}

// The durations of repeated actions have the zeta distribution, cut off.
func TestRepeatDurations(t *testing.T) {
	o := newRepeat(0, 2, 50)
	norm := 0.0
	for n := 1; n <= 50; n++ {
		norm += 1 / float64(n*n)
	}
	left := 1.0
	for n := 1; n <= 50; n++ {
		end := o.Termination(0, n)
		if want := 1 / float64(n*n) / norm; math.Abs(left*end-want) > 1e-14 {
			t.Errorf("P(n = %d) = %v, want %v", n, left*end, want)
		}
		left *= 1 - end
	}
	if left != 0 || o.Termination(0, 51) != 1 {
		t.Errorf("after the longest duration %v is left", left)
	}
}
