package bandit

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func drawShare(t *rapid.T) float64 {
	return math.Pow(10, rapid.Float64Range(-5, 0).Draw(t, "log10 rho"))
}

// The paper's pairwise test is λ^U > q̄_j; those of U⁺ and V are λ > q̄_j as
// well (docs/theory.md §1.8, §1.9).
func TestIndexIsTheBreakEvenArm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, c, rho := drawBelief(t, "belief"), drawComparison(t), drawShare(t)
		cost := c.Known - c.LowerBound
		clear := func(index float64) bool { return math.Abs(index-c.Known) > 1e-8*(1+cost) }
		if index := Index(U, b, rho, c.LowerBound); clear(index) && Threshold(b, c).Explore(rho) != (index > c.Known) {
			t.Fatalf("λ^U = %v, q̄_j = %v, explore = %v", index, c.Known, !(index > c.Known))
		}
		_, sup := BestDelta(b, c, 0)
		gap := c.Known - b.Mean()
		if index := Index(UPlus, b, rho, 0); clear(index) && gap > 0 && ((1-rho)*sup > rho*gap) != (index > c.Known) {
			t.Fatalf("λ⁺ = %v, q̄_j = %v, (1−ρ)sup δp = %v, ρ·gap = %v", index, c.Known, (1-rho)*sup, rho*gap)
		}
		if index := Index(V, b, rho, 0); clear(index) && ((1-rho)*b.Gain(c.Known) > rho*gap) != (index > c.Known) {
			t.Fatalf("λ^V = %v, q̄_j = %v, (1−ρ)gain = %v, ρ·gap = %v", index, c.Known, (1-rho)*b.Gain(c.Known), rho*gap)
		}
	})
}

func TestIndicesAreOrdered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, rho := drawBelief(t, "belief"), drawShare(t)
		lo, hi := shapeOf(b).support()
		bounded := !math.IsInf(lo, -1)
		if !bounded {
			lo = b.Mean() - 5
		}
		u, plus, v := Index(U, b, rho, lo), Index(UPlus, b, rho, 0), Index(V, b, rho, 0)
		slack := 1e-9 * (1 + math.Abs(v))
		// With b at the lower end of the support the three bounds are nested.
		if bounded && u > plus+slack {
			t.Fatalf("λ^U = %v > λ⁺ = %v", u, plus)
		}
		if plus > v+slack || plus < b.Mean()-slack || v > hi+slack {
			t.Fatalf("q̄ = %v, λ⁺ = %v, λ^V = %v, largest value %v", b.Mean(), plus, v, hi)
		}
		// More horizon, larger indices; at ρ = 1 nothing can be gained.
		for kind := U; kind <= V; kind++ {
			if more := Index(kind, b, rho/2, lo); more < Index(kind, b, rho, lo)-slack {
				t.Fatalf("index %v falls with the horizon", kind)
			}
		}
		for kind := UPlus; kind <= V; kind++ {
			if one := Index(kind, b, 1, 0); math.Abs(one-b.Mean()) > slack {
				t.Fatalf("index %v at ρ = 1: %v, mean %v", kind, one, b.Mean())
			}
		}
	})
}

func affine(b Belief, scale, shift float64) Belief {
	switch b := b.(type) {
	case Gaussian:
		return Gaussian{scale*b.Mu + shift, scale * b.Sigma, scale * b.Noise}
	case NormalGamma:
		return NormalGamma{scale*b.Mu + shift, b.Lambda, b.Alpha, scale * scale * b.Beta}
	case ShiftedExponential:
		return ShiftedExponential{scale*b.Mu + shift, b.Rate / scale}
	case Uniform:
		return Uniform{scale*b.Lo + shift, scale*b.Hi + shift}
	case TwoPoint:
		return TwoPoint{scale*b.Lo + shift, scale*b.Hi + shift, b.W}
	case *Population:
		c := *b // its members do not change
		c.scale *= scale
		c.shift = scale*c.shift + shift
		return &c
	}
	panic("no affine image")
}

// Thresholds and indices follow an affine change of the rewards. U⁺ and V do so
// whatever the lower bound; U only if the bound is changed as well.
func TestAffineEquivariance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := drawBelief(t, "belief", "gaussian", "normal-gamma", "exponential", "uniform", "two-point", "population")
		c, rho := drawComparison(t), drawShare(t)
		scale := math.Pow(10, rapid.Float64Range(-2, 2).Draw(t, "log10 scale"))
		shift := rapid.Float64Range(-3, 3).Draw(t, "shift")
		image := affine(b, scale, shift)
		moved := Comparison{Known: scale*c.Known + shift, LowerBound: scale*c.LowerBound + shift, Hold: c.Hold}
		tol := 1e-8 * (scale + math.Abs(shift) + scale*math.Abs(b.Mean()))
		for kind := U; kind <= V; kind++ {
			got, want := Index(kind, image, rho, moved.LowerBound), scale*Index(kind, b, rho, c.LowerBound)+shift
			if math.Abs(got-want) > tol*(1+math.Abs(want)) {
				t.Fatalf("index %v of the image %v, image of the index %v", kind, got, want)
			}
		}
		for kind := UPlus; kind <= V; kind++ {
			if Index(kind, b, rho, c.LowerBound) != Index(kind, b, rho, -77) {
				t.Fatalf("index %v depends on the lower bound", kind)
			}
		}
		p, q := Threshold(b, c), Threshold(image, moved)
		// Near the edges of the support φ* is as ill-conditioned as q̄ minus
		// the edge.
		if p.PhiStar > 1e-3 && p.PhiStar < 1e3 && math.Abs(q.PhiStar-scale*p.PhiStar) > 1e-6*scale*p.PhiStar {
			t.Fatalf("φ* of the image %v, image of φ* %v", q.PhiStar, scale*p.PhiStar)
		}
	})
}

func TestUDependsOnTheLowerBound(t *testing.T) {
	b := Beta{2, 3}
	if a, c := Index(U, b, 0.1, 0), Index(U, b, 0.1, -1); !(c < a-0.01) {
		t.Errorf("index %v with bound 0, %v with bound −1", a, c)
	}
}

func TestIndexWithoutCostIsTheLargestValue(t *testing.T) {
	for _, b := range []Belief{Beta{3, 9}, Uniform{0, 1}, TwoPoint{0, 1, 0.01}, mustPopulation(t, PopulationConfig{}, 0.2, 1, 0.4)} {
		for kind := U; kind <= V; kind++ {
			if got := Index(kind, b, 0, 0); got != 1 {
				t.Errorf("%T: index %v at ρ = 0 is %v, want 1", b, kind, got)
			}
		}
	}
	for _, b := range []Belief{Gaussian{0, 1, 1}, ShiftedExponential{0, 1}, NormalGamma{0, 1, 1, 1}} {
		for kind := U; kind <= V; kind++ {
			if got := Index(kind, b, 0, 0); !math.IsInf(got, 1) {
				t.Errorf("%T: index %v at ρ = 0 is %v, want +Inf", b, kind, got)
			}
		}
	}
}

// No value of the arm reaches the lower bound: only the bound itself is left.
func TestIndexOfAnArmBelowTheBound(t *testing.T) {
	for _, b := range []Belief{Uniform{0, 1}, TwoPoint{0, 1, 0.3}, Beta{1, 1}, mustPopulation(t, PopulationConfig{}, 0.2, 0.4)} {
		if got := Index(U, b, 0.1, 2); got != 2 {
			t.Errorf("%T: index %v, want the bound", b, got)
		}
	}
}

// A table finds the index after any updates, at any share, whatever it and another table
// found before.
func TestIndexTableMatchesIndex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, err := NewPopulation(rapid.SliceOfN(rapid.Float64Range(-1, 1), 1, 6).Draw(t, "members"), PopulationConfig{
			Mode: rapid.SampledFrom([]UpdateMode{AllMembers, IndependentMember, ExponentialWeights}).Draw(t, "mode"),
			Step: rapid.SampledFrom([]float64{0.01, 1}).Draw(t, "step"), // with 1 members coincide, and are written out again
		})
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		tables := []*IndexTable{NewIndexTable(U, 0.77, p.Len()), NewIndexTable(UPlus, 0.77, p.Len()), NewIndexTable(V, 0.77, p.Len())}
		for range rapid.IntRange(1, 8).Draw(t, "calls") {
			if rapid.Bool().Draw(t, "update") {
				p.Update(rapid.Float64Range(-1, 1).Draw(t, "reward"), rng)
			}
			kind := rapid.IntRange(int(U), int(V)).Draw(t, "kind")
			rho, b := rapid.SampledFrom([]float64{0, 1e-3, 0.2, 1}).Draw(t, "rho"), rapid.Float64Range(-2, 0.5).Draw(t, "b")
			tables[kind].Reset(rho)
			got, want := tables[kind].Index(p, b), Index(IndexKind(kind), p, rho, b)
			if math.Abs(got-want) > 1e-13*(1+math.Abs(want)) {
				t.Fatalf("%v: table %v, index %v", IndexKind(kind), got, want)
			}
		}
	})
	p := mustPopulation(t, PopulationConfig{}, 1, 2)
	mustPanic(t, "size", func() { NewIndexTable(U, 0.1, 3).Index(p, 0) })
	mustPanic(t, "share", func() { NewIndexTable(U, 1.1, 3) })
	mustPanic(t, "kind", func() { NewIndexTable(7, 0.1, 3) })
	mustPanic(t, "index kind", func() { Index(-1, p, 0.1, 0) })
	mustPanic(t, "index share", func() { Index(U, p, math.NaN(), 0) })
}

func TestIndexKindNames(t *testing.T) {
	for kind := U; kind <= V; kind++ {
		if got, err := ParseIndexKind(kind.String()); err != nil || got != kind {
			t.Errorf("%v reads back as %v, %v", kind, got, err)
		}
	}
	if _, err := ParseIndexKind("W"); err == nil {
		t.Error("an unknown index has been read")
	}
	if got := IndexKind(5).String(); got != "IndexKind(5)" {
		t.Errorf("a kind out of range is called %q", got)
	}
}

// Multi-modal beliefs. The search knows only their methods.
func TestIndexSearchIsGlobal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, rho := drawMixture(t), drawShare(t)
		lower := m.Mean() - math.Pow(10, rapid.Float64Range(-2, 1).Draw(t, "log10 cost"))
		got := Index(U, m, rho, lower)
		for _, y := range scan(m, lower) {
			p := m.Exceed(lower + y)
			if v := lower + y*p/(rho+(1-rho)*p); v > got+2e-6*(math.Abs(v-lower)) {
				t.Fatalf("λ^U = %v, but %v at x = %v", got, v, lower+y)
			}
		}
	})
}
