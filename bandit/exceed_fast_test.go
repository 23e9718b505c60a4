package bandit

import (
	"math"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/internal/vectors"
	"pgregory.net/rapid"
)

// P(q_i ≥ q_j+δ) + P(q_j ≥ q_i−δ) = 1 + P(q_i = q_j+δ) for any two beliefs, the
// two terms taking different ways through the code.
func TestProbExceedsIsComplementary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		i, j := drawBelief(t, "i"), drawBelief(t, "j")
		delta := rapid.Float64Range(-1, 1).Draw(t, "delta")
		if math.Abs(math.Round(delta*100)-delta*100) < 1e-9 {
			delta += 0.00123 // no ties among atoms with two digits
		}
		p, q := ProbExceeds(i, j, delta), ProbExceeds(j, i, -delta)
		if !(p >= 0 && p <= 1) || math.Abs(p+q-1) > 1e-9 {
			t.Fatalf("P = %v, P of the opposite = %v", p, q)
		}
		if further := ProbExceeds(i, j, delta+0.1); further > p+1e-9 {
			t.Fatalf("P rises from %v to %v with δ", p, further)
		}
	})
}

// boundExceeds bounds P(q_i ≥ q_j+δ) from both sides, by the definition of Exceed alone.
// The values of j are cut at its quantiles into parts of probability 1/n or, around an
// atom, more. While q_j is in [y, y'), P(q_i ≥ q_j+δ) lies between those of y' and of y.
func boundExceeds(i, j Belief, delta float64, n int) (low, high float64) {
	y, above, upper := math.Inf(-1), 1.0, 1.0 // P(q_j ≥ y), P(q_i ≥ y+δ)
	for m := range n {
		lo, next := -1e9, 1e9
		for range 250 { // to P(q_j ≥ next) = 1 − (m+1)/n
			if mid := (lo + next) / 2; j.Exceed(mid)*float64(n) > float64(n-m-1) {
				lo = mid
			} else {
				next = mid
			}
		}
		if next <= y {
			continue
		}
		rest, lower := j.Exceed(next), i.Exceed(next+delta)
		low, high = low+(above-rest)*lower, high+(above-rest)*upper
		y, above, upper = next, rest, lower
	}
	return low, high + above*upper
}

// ProbExceeds lies between bounds by definition, which are close.
func TestProbExceedsIsWithinBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		i, j := drawBelief(t, "i"), drawBelief(t, "j")
		delta := rapid.Float64Range(-1, 1).Draw(t, "delta")
		if math.Abs(math.Round(delta*100)-delta*100) < 1e-9 {
			delta += 0.00123 // no ties among atoms with two digits
		}
		const n = 200
		low, high := boundExceeds(i, j, delta, n)
		if p := ProbExceeds(i, j, delta); !(p >= low-1e-9 && p <= high+1e-9) {
			t.Fatalf("P = %v, plainly from %v to %v", p, low, high)
		}
		_, atoms := shapeOf(j).(atomic)
		if !atoms && !(high-low <= 1.01/n) {
			t.Fatalf("plainly from %v to %v, more than 1/%d apart", low, high, n)
		}
	})
}

// Beliefs about which nothing is known give the same probabilities: with both in disguise
// by the plain version.
func TestProbExceedsInDisguise(t *testing.T) {
	for _, c := range []struct {
		i, j Belief
		d    float64
	}{
		{Gaussian{0, 1, 1}, Gaussian{0.3, 0.2, 1}, 0.1},
		{ShiftedExponential{0, 2}, ShiftedExponential{0.3, 1}, 0.2},
		{ShiftedExponential{1, 2}, ShiftedExponential{0.3, 1}, 0.2},
		{Beta{2, 5}, Gaussian{0.3, 0.2, 1}, -0.05},
		{NormalGamma{0, 1, 1.2, 1}, Uniform{-1, 2}, 0.3},
		{Beta{0.4, 0.6}, Beta{3, 2}, 0},
	} {
		want := ProbExceeds(c.i, c.j, c.d)
		mi, mj := mixture{[]Belief{c.i}, []float64{1}}, mixture{[]Belief{c.j}, []float64{1}}
		vectors.Close(t, "i in disguise", ProbExceeds(mi, c.j, c.d), want, 0, 1e-9)
		vectors.Close(t, "j in disguise", ProbExceeds(c.i, mj, c.d), want, 0, 1e-9)
		vectors.Close(t, "both in disguise", ProbExceeds(mi, mj, c.d), want, 0, 1e-9)
		vectors.Close(t, "pointers", ProbExceeds(pointer(c.i), pointer(c.j), c.d), want, 0, 1e-14)
	}
}

func pointer(b Belief) Belief {
	switch b := b.(type) {
	case Gaussian:
		return &b
	case ShiftedExponential:
		return &b
	case Beta:
		return &b
	case NormalGamma:
		return &b
	case Uniform:
		return &b
	}
	panic("no pointer")
}

func TestProbExceedsUniform(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		i, j := drawBelief(t, "i", "uniform").(Uniform), drawBelief(t, "j", "uniform").(Uniform)
		delta := rapid.Float64Range(-3, 3).Draw(t, "delta")
		// E over i of P(q_j ≤ q_i−δ), by the gain of j: both are exact.
		want := 1 - (j.Gain(i.Lo-delta)-j.Gain(i.Hi-delta))/(i.Hi-i.Lo)
		if got := ProbExceeds(i, j, delta); math.Abs(got-want) > 1e-11*(1+10/(i.Hi-i.Lo)) {
			t.Fatalf("P = %v, want %v", got, want)
		}
	})
}

func TestPopulationPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		i, j := drawBelief(t, "i", "population").(*Population), drawBelief(t, "j", "population").(*Population)
		delta := float64(rapid.IntRange(-100, 100).Draw(t, "delta")) / 64
		pairs := 0
		for _, x := range members(i) {
			for _, y := range members(j) {
				if x >= y+delta {
					pairs++
				}
			}
		}
		if got, want := ProbExceeds(i, j, delta), float64(pairs)/float64(i.Len()*j.Len()); got != want {
			t.Fatalf("P = %v, want %v", got, want)
		}
	})
}

func TestJointMembers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 100).Draw(t, "K")
		rng := seeded(rapid.Uint64().Draw(t, "seed"))
		arms := must.Get(NewPopulations(2, n, Uniform{0, 1}, PopulationConfig{Mode: BernoulliMask, Step: 0.3}, rng))(t)
		i, j := &arms[0], &arms[1]
		for range 20 {
			i.Update(float64(rng.IntN(2)), rng)
			j.Update(float64(rng.IntN(2)), rng)
		}
		count := 0
		for k := range n {
			if i.Identified(k) >= j.Identified(k)+0.1 {
				count++
			}
		}
		if got, want := ProbExceedsJoint(i, j, 0.1), float64(count)/float64(n); got != want {
			t.Fatalf("P = %v, want %v", got, want)
		}
	})
	mustPanic(t, "sizes", func() {
		ProbExceedsJoint(mustPopulation(t, PopulationConfig{}, 1), mustPopulation(t, PopulationConfig{}, 1, 2), 0)
	})
}

func TestIntegrate(t *testing.T) {
	for _, c := range []struct {
		name string
		got  float64
		want float64
	}{
		{"polynomial", integrate(func(x, _ float64) float64 { return x * x }, 0, 3), 9},
		{"both ends singular", integrate(func(l, r float64) float64 { return 1 / math.Sqrt(l*r) }, 0, 1), math.Pi},
		{"strongly singular", integrate(func(l, _ float64) float64 { return math.Pow(l, -0.95) }, 0, 1), 20},
		{"logarithm", integrate(func(l, _ float64) float64 { return math.Log(l) }, 2, 3), -1},
		{"peak", integrate(func(l, _ float64) float64 { return 1 / (1e-4 + (l-0.5)*(l-0.5)) }, 0, 1), 200 * math.Atan(50)},
		{"empty", integrate(func(l, _ float64) float64 { return 1 }, 1, 1), 0},
	} {
		vectors.Close(t, c.name, c.got, c.want, 1e-12, 0)
	}
}

// Nearly all of a Beta with tiny parameters lies within 1e-290 of an end.
func TestProbExceedsNearTheEnds(t *testing.T) {
	vectors.Close(t, "P", ProbExceeds(Beta{0.02, 0.02}, Beta{0.02, 0.02}, 0.1), 0.27039766005, 0, 1e-11) // mpmath
	for _, a := range []float64{0.005, 0.01, 0.03, 0.049, 0.051} {
		for _, delta := range []float64{0.001, 0.1, 0.5} {
			for _, i := range []Belief{Beta{a, 2 * a}, Beta{2, a}, Beta{a, 3}, Beta{2, 3}, Gaussian{0.3, 0.1, 1}} {
				j := Beta{a, 1.5 * a}
				vectors.Close(t, "both ways", ProbExceeds(i, j, delta)+ProbExceeds(j, i, -delta), 1, 0, 1e-11)
			}
		}
	}
}
