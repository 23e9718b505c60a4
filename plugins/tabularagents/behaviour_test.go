package tabularagents

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

func newSelector(change func(*Behaviour), actions int) *selector {
	b := defaultBehaviour()
	change(&b)
	x := new(selector)
	x.init(&b, actions)
	x.start(1)
	return x
}

// fits is a chi-square test at a false alarm rate of 1e-4, at a fixed seed.
func fits(t *testing.T, what string, seen, prob []float64) {
	t.Helper()
	n := 0.0
	for _, x := range seen {
		n += x
	}
	var observed, expected []float64
	for k, p := range prob {
		if p == 0 && seen[k] > 0 {
			t.Errorf("%s: %v of what has no probability", what, seen[k])
		}
		if p > 0 {
			observed, expected = append(observed, seen[k]), append(expected, n*p)
		}
	}
	if p := (distuv.ChiSquared{K: float64(len(observed) - 1)}).Survival(stat.ChiSquare(observed, expected)); p < 1e-4 {
		t.Errorf("%s: %v, want %v (p = %.2g)", what, observed, expected, p)
	}
}

func TestActionsHaveTheirDistribution(t *testing.T) {
	q := []float64{1, 3, 2, 3}
	e := math.Exp(0.5)
	for _, tt := range []struct {
		name   string
		change func(*Behaviour)
		prob   []float64
	}{
		{"epsilon-greedy", func(b *Behaviour) { b.Epsilon = 0.2 }, []float64{0.05, 0.45, 0.05, 0.45}},
		{"greedy", func(b *Behaviour) { b.Epsilon = 0 }, []float64{0, 0.5, 0, 0.5}},
		{"uniform", func(b *Behaviour) { b.Epsilon = 1 }, []float64{0.25, 0.25, 0.25, 0.25}},
		{"softmax", func(b *Behaviour) { b.Policy, b.Temperature = "softmax", 2 },
			[]float64{1 / (1 + e + 2*e*e), e * e / (1 + e + 2*e*e), e / (1 + e + 2*e*e), e * e / (1 + e + 2*e*e)}},
		{"one step repeated", func(b *Behaviour) { b.Policy, b.Epsilon, b.MaxRepeat = "epsilon-z-greedy", 0.2, 1 }, []float64{0.05, 0.45, 0.05, 0.45}},
	} {
		x, seen := newSelector(tt.change, len(q)), make([]float64, len(q))
		for range 20_000 {
			seen[x.action(q)]++
		}
		fits(t, tt.name, seen, tt.prob)
	}
}

// Softmax depends on differences only, however large the values.
func TestSoftmaxOfLargeValues(t *testing.T) {
	x := newSelector(func(b *Behaviour) { b.Policy = "softmax" }, 2)
	for range 1000 {
		if x.action([]float64{1e300, -1e300}) != 0 {
			t.Fatal("the worse of two")
		}
	}
}

// Repetitions of random actions among many, with epsilon 1, last n steps with a
// probability in proportion to n^-mu, up to max_repeat.
func TestRepetitionsLast(t *testing.T) {
	const actions, longest = 1_000_000, 6
	x := newSelector(func(b *Behaviour) { b.Policy, b.Epsilon, b.Mu, b.MaxRepeat = "epsilon-z-greedy", 1, 1.5, longest }, 1)
	q := make([]float64, actions) // that two repetitions in a row take the same has no weight
	seen, prob, sum := make([]float64, longest), make([]float64, longest), 0.0
	for k := range prob {
		prob[k] = math.Pow(float64(k+1), -1.5)
		sum += prob[k]
	}
	for k := range prob {
		prob[k] /= sum
	}
	last, n := x.action(q), 1
	for range 20_000 {
		a := x.action(q)
		if a != last {
			seen[n-1]++
			last, n = a, 0
		}
		n++
	}
	fits(t, "durations", seen, prob)
}

func TestAnEpisodeEndsARepetition(t *testing.T) {
	x := newSelector(func(b *Behaviour) { b.Policy, b.Epsilon, b.Mu = "epsilon-z-greedy", 1, 1.01 }, 1)
	q := make([]float64, 1_000_000)
	for x.repeat == 0 {
		x.action(q)
	}
	last := x.last
	if x.action(q) != last {
		t.Error("not repeated")
	}
	x.repeat = 5
	x.interrupt()
	if x.action(q) == last {
		t.Error("repeated beyond the episode")
	}
}

func TestDecay(t *testing.T) {
	for _, tt := range []struct {
		decay string
		t     float64
		want  float64
	}{
		{"none", 1e9, 0.9}, {"linear", 0, 0.9}, {"linear", 50, 0.5}, {"linear", 100, 0.1}, {"linear", 1e9, 0.1},
		{"harmonic", 0, 0.9}, {"harmonic", 100, 0.5}, {"harmonic", 700, 0.2},
	} {
		b := Behaviour{Epsilon: 0.9, FinalEpsilon: 0.1, Decay: tt.decay, DecaySteps: 100}
		if got := b.epsilonAt(tt.t); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%s after %v steps: %v, want %v", tt.decay, tt.t, got, tt.want)
		}
	}
	// The selector counts the steps of a run, repetitions included, and a run forgets.
	x := newSelector(func(b *Behaviour) {
		b.Policy, b.Epsilon, b.Decay, b.DecaySteps = "epsilon-z-greedy", 1, "linear", 1000
	}, 2)
	for range 1000 {
		x.action([]float64{0, 1})
	}
	x.interrupt()
	for range 100 {
		if x.action([]float64{0, 1}) != 1 {
			t.Fatal("not greedy after the decay")
		}
	}
	x.start(1)
	if x.steps != 0 || x.epsilon != 1 {
		t.Error("a run does not forget the steps")
	}
}
