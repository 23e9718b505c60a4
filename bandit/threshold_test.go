package bandit

import (
	"math"
	"slices"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/internal/vectors"
	"pgregory.net/rapid"
)

func drawComparison(t *rapid.T) Comparison {
	known := rapid.Float64Range(-1, 2.5).Draw(t, "known")
	cost := math.Pow(10, rapid.Float64Range(-3, 1).Draw(t, "log10 cost"))
	return Comparison{Known: known, LowerBound: known - cost, Hold: rapid.IntRange(1, 30).Draw(t, "T")}
}

// U does not increase with T (docs/theory.md, erratum 15), and its two forms
// agree.
func TestBoundFallsWithHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, c := anyHorizon(t), drawComparison(t)
		delta := rapid.Float64Range(0, 2).Draw(t, "delta")
		p := rapid.Float64Range(0, 1).Draw(t, "p")
		u := ExplorationBound(h, c, delta, p)
		scale := h.Total() * (math.Abs(c.Known) + math.Abs(c.LowerBound) + delta)
		if a := Advantage(h, c, delta, p); math.Abs(u-h.Total()*c.Known-a) > 1e-12*scale {
			t.Fatalf("U − G·q̄ = %v, advantage %v", u-h.Total()*c.Known, a)
		}
		c.Hold += rapid.IntRange(1, 50).Draw(t, "more")
		if longer := ExplorationBound(h, c, delta, p); longer > u+1e-12*scale {
			t.Fatalf("U rises from %v to %v with T", u, longer)
		}
	})
}

func TestGammaStarFallsWithPhi(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawComparison(t)
		cost := c.Known - c.LowerBound
		p := rapid.Float64Range(0, 0.9).Draw(t, "p")
		delta := rapid.Float64Range(0.001, 1).Draw(t, "delta") * cost
		more := delta * rapid.Float64Range(1, 3).Draw(t, "factor")
		a, b := thresholdAt(c, delta, p), thresholdAt(c, more, p)
		if b.GammaStar > a.GammaStar || b.NStar > a.NStar || b.ShareStar < a.ShareStar {
			t.Fatalf("φ grows from %v to %v, yet γ* goes from %v to %v and N* from %d to %d",
				a.PhiStar, b.PhiStar, a.GammaStar, b.GammaStar, a.NStar, b.NStar)
		}
	})
}

// The decision agrees with γ* and N* on both sides of their knife edges.
func TestThresholdsAgreeWithExplore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, c := drawBelief(t, "belief"), drawComparison(t)
		got := Threshold(b, c)
		if got.Never {
			if Explore(Discounted(0.999999), b, c) || Explore(Finite(1<<40), b, c) || got.GammaStar != 1 || got.NStar != math.MaxInt {
				t.Fatalf("never, and yet: %+v", got)
			}
			return
		}
		if got.GammaStar > 1e-6 && got.GammaStar < 1-1e-9 {
			d := 1e-7 * min(1, (1-got.GammaStar)*1e3)
			edge := got.ShareStar - Discounted(got.GammaStar+d).Share(c.Hold)
			// If many γ have the same ρ to rounding, no edge is visible.
			if edge < 1e-12*got.ShareStar {
				return
			}
			if Explore(Discounted(got.GammaStar-d), b, c) || !Explore(Discounted(got.GammaStar+d), b, c) {
				t.Fatalf("γ* = %v is not where the decision changes", got.GammaStar)
			}
		}
		if got.GammaStar == 0 && !Explore(Discounted(0), b, c) && got.PhiStar > (1+1e-9)*(c.Known-c.LowerBound) {
			t.Fatal("γ* = 0 but γ = 0 does not explore")
		}
		if n := got.NStar; n < 1<<40 {
			margin := float64(c.Hold) / got.ShareStar
			if frac := margin - math.Floor(margin); n == 0 || frac > 1e-6 && frac < 1-1e-6 {
				if !Explore(Finite(n), b, c) || n > 0 && Explore(Finite(n-1), b, c) {
					t.Fatalf("N* = %d is not where the decision changes (T/share* = %v)", n, margin)
				}
			}
		}
		for _, n := range []int{0, 3, 100} {
			gamma, ok := got.GammaStarWithin(n)
			if ok != (gamma == 0 || Explore(Finite(n), b, c)) {
				t.Fatalf("N = %d: threshold %v, %v", n, gamma, ok)
			}
			if ok && gamma > 1e-6 && gamma < 1-1e-6 && got.ShareStar-DiscountedFinite(gamma+1e-7, n).Share(c.Hold) > 1e-12 {
				if Explore(DiscountedFinite(gamma-1e-7, n), b, c) || !Explore(DiscountedFinite(gamma+1e-7, n), b, c) {
					t.Fatalf("N = %d: γ* = %v is not where the decision changes", n, gamma)
				}
			}
		}
	})
}

// φ* against a scan of every δ that matters.
// NStar is the least N for which Explore explores also where φ* is a simple fraction of the cost, so
// that rounding decides.
func TestNStarAgreesWithExploreAtTies(t *testing.T) {
	for _, known := range []float64{0.1, 0.3, 0.5, 0.6, 0.7} {
		for _, weight := range []float64{0.1, 0.2, 0.25, 0.5} {
			for _, hold := range []int{1, 2, 3, 5, 7} {
				for share := 1; share <= 100; share++ {
					b := TwoPoint{Hi: known + known/float64(share)*(1-weight)/weight, W: weight}
					c := Comparison{Known: known, Hold: hold}
					n := Threshold(b, c).NStar
					if !Explore(Finite(n), b, c) || n > 0 && Explore(Finite(n-1), b, c) {
						t.Fatalf("known %v, weight %v, T %d, share 1/%d: NStar is %d", known, weight, hold, share, n)
					}
				}
			}
		}
	}
}

func TestPhiStarIsTheSupremum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b Belief
		tol := 1e-9
		if rapid.Bool().Draw(t, "mixture") {
			b, tol = drawMixture(t), 2e-6 // it may jump
		} else {
			b = drawBelief(t, "belief")
		}
		c := drawComparison(t)
		got := Threshold(b, c)
		d := shapeOf(b)
		best, at := 0.0, 0.0
		for _, delta := range scan(b, c.Known) {
			above, below := d.tails(c.Known + delta)
			if v := delta * above / below; above > 0 && v > best {
				best, at = v, delta
			}
		}
		if got.PhiStar < best*(1-tol) {
			t.Fatalf("φ* = %v at %v, but φ(%v) = %v", got.PhiStar, got.DeltaStar, at, best)
		}
		// An atom may round past q̄_j + (x − q̄_j).
		if _, ok := b.(atomic); !ok && got.PhiStar > 0 && !math.IsInf(got.PhiStar, 1) {
			if v := got.DeltaStar * got.PStar / d2(d, c.Known+got.DeltaStar); got.Attained && math.Abs(v-got.PhiStar) > 1e-9*v {
				t.Fatalf("φ(δ*) = %v, φ* = %v", v, got.PhiStar)
			}
			if math.Abs(got.LogPhiStar-math.Log(got.PhiStar)) > 1e-9 {
				t.Fatalf("log φ* = %v, φ* = %v", got.LogPhiStar, got.PhiStar)
			}
		}
		// sup δp and the advantage likewise.
		rho := rapid.SampledFrom([]float64{0, 0.01, 0.3, 1}).Draw(t, "rho")
		cost := c.Known - c.LowerBound
		delta, value := BestDelta(b, c, rho)
		for _, y := range scan(b, c.Known) {
			if v := b.Exceed(c.Known+y)*(y+rho*cost) - rho*cost; v > value+tol*(math.Abs(v)+rho*cost) {
				t.Fatalf("advantage %v at δ = %v, larger than %v at %v", v, y, value, delta)
			}
		}
		// q̄+δ is rounded: an atom x still counts if δ exceeds x − q̄ by half a unit in its last place.
		known := c.Known - 0x1p-53*math.Abs(c.Known+delta)
		if gain := b.Gain(known); rho == 0 && value > gain*(1+1e-9) {
			t.Fatalf("sup δp = %v exceeds E(q−q̄)⁺ = %v", value, gain)
		}
	})
}

func d2(d shape, x float64) float64 { _, below := d.tails(x); return below }

// scan returns δ > 0 on a fine logarithmic grid, around the places where the belief may
// be concentrated, and at atoms. No δ is so small that rounding q̄_j+δ would lose it.
func scan(b Belief, known float64) []float64 {
	var ys []float64
	for k := range 600 {
		ys = append(ys, math.Pow(10, float64(k)/50-9))
	}
	var parts func(Belief)
	parts = func(b Belief) {
		switch b := b.(type) {
		case mixture:
			for _, p := range b.parts {
				parts(p)
			}
		case atomic:
			eachAtom(b, func(x, _ float64) { ys = append(ys, x-known) })
		case window:
			_, centre, spread, _ := b.window()
			for k := -40; k <= 40; k++ {
				ys = append(ys, centre-known+float64(k)/4*spread)
			}
		}
	}
	parts(b)
	return slices.DeleteFunc(ys, func(y float64) bool { return !(y > 1e-6*(1+math.Abs(known))) })
}

// Closed forms against the search that serves any belief, given the same
// belief in a disguise.
func TestClosedFormsMatchTheSearch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := drawBelief(t, "belief", "exponential", "gaussian", "uniform", "two-point")
		c := drawComparison(t)
		want, got := Threshold(mixture{[]Belief{b}, []float64{1}}, c), Threshold(b, c)
		// In the disguise 1−P cancels, and P may underflow.
		if got.PhiStar > 1e12 || got.PStar > 1-1e-6 || got.PhiStar < 1e-200 && !got.Never {
			return
		}
		if got.Never != want.Never {
			t.Fatalf("never: %v, by search %v", got.Never, want.Never)
		}
		tol := 1e-12 / (1 - got.PStar)
		if _, ok := b.(TwoPoint); ok {
			tol = 2e-6 // the search for jumps
		}
		if math.Abs(got.PhiStar-want.PhiStar) > tol*want.PhiStar+1e-15 {
			t.Fatalf("φ* = %v, by search %v", got.PhiStar, want.PhiStar)
		}
		for _, rho := range []float64{0.001, 0.2, 0.9} {
			for kind := U; kind <= V; kind++ {
				a, b := Index(kind, b, rho, c.LowerBound), Index(kind, mixture{[]Belief{b}, []float64{1}}, rho, c.LowerBound)
				if math.Abs(a-b) > max(tol, 1e-9)*(1+math.Abs(b)+math.Abs(c.LowerBound)) {
					t.Fatalf("index %v at ρ = %v: %v, by search %v", kind, rho, a, b)
				}
			}
		}
	})
}

func TestExponentialIdentity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := ShiftedExponential{rapid.Float64Range(-3, 3).Draw(t, "mu"), math.Pow(10, rapid.Float64Range(-4, 4).Draw(t, "rate"))}
		known := d.Mu + math.Pow(10, rapid.Float64Range(-9, 4).Draw(t, "m"))
		got := Threshold(d, Comparison{Known: known, LowerBound: d.Mu})
		if sum := (got.DeltaStar + got.PhiStar) * d.Rate; math.Abs(sum-1) > 1e-14 {
			t.Fatalf("β(δ*+φ*) = %v", sum)
		}
		if got.PhiStar > 1e-300 && math.Abs(got.PStar-got.PhiStar*d.Rate) > 1e-14*got.PStar {
			t.Fatalf("p* = %v, βφ* = %v", got.PStar, got.PhiStar*d.Rate)
		}
		// No Lambert function: explore ⟺ y < 1 and y·e^{−y} < e^{−1−x}.
		for _, gamma := range []float64{0.1, 0.9, 0.9999} {
			x := d.Rate * (known - d.Mu)
			y := d.Rate * (1 - gamma) * (known - d.Mu)
			want := y < 1 && math.Log(y)-y < -1-x
			if math.Abs(math.Log(y)-y+1+x) > 1e-9*(1+x) && Explore(Discounted(gamma), d, Comparison{Known: known, LowerBound: d.Mu}) != want {
				t.Fatalf("explore at γ = %v should be %v", gamma, want)
			}
		}
	})
}

// The event with q_j random, in both regimes, against a scan.
func TestExponentialPairIsTheSupremum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		i := ShiftedExponential{rapid.Float64Range(-1, 5).Draw(t, "mu"), math.Pow(10, rapid.Float64Range(-2, 1).Draw(t, "rate"))}
		j := ShiftedExponential{0, math.Pow(10, rapid.Float64Range(-2, 1).Draw(t, "rate"))}
		got := thresholdExponentialPair(i, j, -1, 2)
		phi := func(delta float64) float64 {
			p := ProbExceeds(i, j, delta)
			return delta * p / (1 - p)
		}
		if p := ProbExceeds(i, j, got.DeltaStar); math.Abs(p-got.PStar) > 1e-9*got.PStar {
			t.Fatalf("p* = %v, P(q_i ≥ q_j + δ*) = %v", got.PStar, p)
		}
		if got.PStar > 1-1e-6 {
			return
		}
		if v := phi(got.DeltaStar); math.Abs(v-got.PhiStar) > 1e-9*v {
			t.Fatalf("φ* = %v, φ(δ*) = %v", got.PhiStar, v)
		}
		for k := range 1000 {
			if v := phi(math.Pow(10, float64(k)/100-7)); v > got.PhiStar*(1+1e-9) {
				t.Fatalf("φ = %v exceeds φ* = %v", v, got.PhiStar)
			}
		}
	})
}

// An exponential that is far steeper than the other leaves κ = 1/(1+r) near one, and
// β_i δ* = 1+W₀(−κ/e) = p − p²/3 + 11p³/72 − … with p² = 2(1−κ) = 2r/(1+r).
func TestExponentialPairOfUnequalRates(t *testing.T) {
	for _, r := range []float64{1e-8, 1e-12, 1e-15} {
		got := thresholdExponentialPair(ShiftedExponential{0.3, 2}, ShiftedExponential{0.3, 2 / r}, 0, 1)
		root := math.Sqrt(2 * r / (1 + r))
		vectors.Close(t, "β δ*", 2*got.DeltaStar, root-root*root/3+11*root*root*root/72, 1e-11, 0)
	}
}

// K members drawn from a belief bring thresholds and indices near its own:
// with 20,000 quantiles (no chance involved) to a few parts in a thousand.
func TestLargePopulationApproachesItsParent(t *testing.T) {
	const k = 20000
	for _, b := range []Belief{Beta{2, 3}, Uniform{0, 1}, Gaussian{0.5, 0.2, 1}, ShiftedExponential{0.2, 4}} {
		x := make([]float64, k)
		for m := range x {
			u := (float64(m) + 0.5) / k
			x[m] = UpperQuantile(b, 1-u)
		}
		p := mustPopulation(t, PopulationConfig{}, x...)
		c := Comparison{Known: 0.65, LowerBound: 0, Hold: 2}
		got, want := Threshold(p, c), Threshold(b, c)
		vectors.Close(t, "phi*", got.PhiStar, want.PhiStar, 1e-3, 0)
		vectors.Close(t, "gamma*", got.GammaStar, want.GammaStar, 1e-4, 0)
		vectors.Close(t, "gain", p.Gain(0.65), b.Gain(0.65), 1e-3, 0)
		for kind := U; kind <= V; kind++ {
			vectors.Close(t, kind.String(), Index(kind, p, 0.05, 0), Index(kind, b, 0.05, 0), 1e-3, 0)
		}
		vectors.Close(t, "pair", ProbExceeds(p, p, 0.1), ProbExceeds(b, b, 0.1), 1e-3, 0)
	}
}

// So do 3,000 quantiles (no chance involved), to half a percent, whatever the belief
// and the comparison. Differences are in units of the belief's spread.
func TestPopulationsApproachTheirParents(t *testing.T) {
	const k = 3000
	rapid.Check(t, func(t *rapid.T) {
		at := func(low, high float64, name string) float64 { return rapid.Float64Range(low, high).Draw(t, name) }
		var b Belief
		switch rapid.IntRange(0, 3).Draw(t, "belief") {
		case 0:
			b = Beta{at(1, 20, "a"), at(1, 20, "b")}
		case 1:
			low := at(-1, 1, "low")
			b = Uniform{low, low + at(0.1, 2, "width")}
		case 2:
			b = Gaussian{at(-1, 1, "mean"), at(0.05, 2, "sd"), 1}
		default:
			b = ShiftedExponential{at(-1, 1, "from"), at(0.5, 10, "rate")}
		}
		x := make([]float64, k)
		for m := range x {
			u := (float64(m) + 0.5) / k
			x[m] = UpperQuantile(b, 1-u)
		}
		spread := x[k*9/10] - x[k/10]
		p := must.Get(NewPopulation(x, PopulationConfig{}))(t)
		known := x[rapid.IntRange(k/2, k*19/20).Draw(t, "rank of the known arm")]
		c := Comparison{Known: known, LowerBound: min(x[0], known) - at(0, 1, "below"), Hold: rapid.IntRange(1, 5).Draw(t, "hold")}
		near := func(name string, got, want, unit float64) {
			if !(math.Abs(got-want) <= 5e-3*unit) {
				t.Errorf("%s: %v of the population, %v of %+v", name, got, want, b)
			}
		}
		got, want := Threshold(p, c), Threshold(b, c)
		near("phi*", got.PhiStar, want.PhiStar, max(want.PhiStar, 0.1))
		near("gamma*", got.GammaStar, want.GammaStar, 1)
		near("gain", p.Gain(known), b.Gain(known), spread)
		rho := at(0.05, 1, "rho")
		for kind := U; kind <= V; kind++ {
			near(kind.String(), Index(kind, p, rho, c.LowerBound), Index(kind, b, rho, c.LowerBound), spread)
		}
		delta := at(0, 1, "delta") * spread
		near("pair", ProbExceeds(p, p, delta), ProbExceeds(b, b, delta), 1)
	})
}

func TestEdgesOfTheComparison(t *testing.T) {
	sure := Uniform{0.6, 0.7}
	hopeless := Uniform{0.1, 0.2}
	tie := TwoPoint{0.2, 0.5, 1}
	for _, c := range []struct {
		name    string
		h       Horizon
		b       Belief
		cmp     Comparison
		explore bool
	}{
		{"no cost, some chance", Discounted(0), Beta{1, 1}, Comparison{Known: 0.5, LowerBound: 0.5}, true},
		{"no cost, no chance", Discounted(0), hopeless, Comparison{Known: 0.5, LowerBound: 0.5}, false},
		{"no cost, equal at best", Discounted(0.9), tie, Comparison{Known: 0.5, LowerBound: 0.5}, false},
		{"budget, some chance", Weights([]float64{0, 1}), Beta{1, 1}, Comparison{Known: 0.9}, true},
		{"budget, no chance", Weights([]float64{0, 1}), hopeless, Comparison{Known: 0.9}, false},
		{"certainly better", Discounted(0), sure, Comparison{Known: 0.5, LowerBound: -1e9}, true},
		{"mean below the bound", Discounted(0.5), hopeless, Comparison{Known: 0.3, LowerBound: 0.4}, true},
		{"negative bound", Discounted(0.5), Beta{1, 1}, Comparison{Known: 0.6, LowerBound: -1e6}, false},
		{"longer than the horizon", Finite(4), Beta{1, 1}, Comparison{Known: 0.6, Hold: 50}, false},
		{"for ever", Discounted(1 - 1e-9), Beta{1, 1}, Comparison{Known: 0.6, Hold: 1e6}, true},
		{"far too long", Discounted(1 - 1e-9), Beta{1, 1}, Comparison{Known: 0.6, Hold: 1e9}, false},
		{"one member above", Discounted(0), mustPopulation(t, PopulationConfig{}, 0.7), Comparison{Known: 0.6}, true},
		{"one member below", Discounted(0.999), mustPopulation(t, PopulationConfig{}, 0.5), Comparison{Known: 0.6}, false},
		{"one member equal", Discounted(0.999), mustPopulation(t, PopulationConfig{}, 0.6), Comparison{Known: 0.6}, false},
	} {
		if got := Explore(c.h, c.b, c.cmp); got != c.explore {
			t.Errorf("%s: explore = %v", c.name, got)
		}
	}
	// Where φ* underflows, it is an overflow of N* and not never.
	for name, b := range map[string]Belief{
		"exponential": ShiftedExponential{0, 5000}, "gaussian": Gaussian{0, 0.01, 1}, "beta": Beta{2, 3000},
	} {
		got := Threshold(b, Comparison{Known: 0.8})
		if got.Never || !got.NStarOverflow || got.PhiStar != 0 || got.GammaStar != 1 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := Threshold(Gaussian{0, 0.01, 1}, Comparison{Known: 0.8}); !(got.LogPhiStar > -3300 && got.LogPhiStar < -3200) ||
		!got.Explore(0) || got.Explore(1e-300) {
		t.Errorf("80 deviations out: %+v", got)
	}
	// At the lower end of a beta belief φ goes to ∞, a constant or 0.
	for _, c := range []struct {
		b    Beta
		want float64
	}{{Beta{2, 3}, math.Inf(1)}, {Beta{1, 4}, 0.25}} {
		if got := Threshold(c.b, Comparison{Known: 0, LowerBound: -1}); got.PhiStar != c.want && !(math.Abs(got.PhiStar-c.want) < 1e-15) || got.Attained {
			t.Errorf("%v at 0: %+v", c.b, got)
		}
	}
	if got := Threshold(Beta{0.5, 0.5}, Comparison{Known: 0, LowerBound: -1}); !(got.PhiStar > 0.3 && got.PhiStar < 1) || !got.Attained {
		t.Errorf("arcsine at 0: %+v", got)
	}
	mustPanic(t, "NaN", func() { Threshold(sure, Comparison{Known: math.NaN()}) })
	mustPanic(t, "T", func() { Threshold(sure, Comparison{Hold: -1}) })
	mustPanic(t, "infinite bound", func() { Explore(Finite(1), sure, Comparison{LowerBound: math.Inf(-1)}) })
}

func TestThresholdAt(t *testing.T) {
	c := Comparison{Known: 0.5}
	for _, x := range []struct {
		delta, p, phi float64
		never         bool
	}{{0.1, 1, math.Inf(1), false}, {0, 1, 0, true}, {0.2, 0, 0, true}, {-0.1, 0.5, -0.1, true}} {
		got := thresholdAt(c, x.delta, x.p)
		if got.PhiStar != x.phi || got.Never != x.never || got.Explore(0.5) == x.never {
			t.Errorf("δ = %v, p = %v: %+v", x.delta, x.p, got)
		}
	}
}

// thresholdAt is Threshold with a given δ in place of the best: PhiStar is φ(δ)
// with p = P(q_i ≥ q̄_j+δ). A negative δ never pays; its GammaStar is above 1.
func thresholdAt(c Comparison, delta, p float64) Thresholds {
	k := peak{delta: delta, p: p, attained: true, possible: delta*p > 0}
	if delta != 0 {
		k.phi = delta * p / (1 - p)
	}
	k.logPhi = math.Log(k.phi)
	return k.thresholds(c)
}

// If the gain underflows and the probability does not, the advantage is 0.
func TestBestDeltaFarAway(t *testing.T) {
	for z := 30.0; z < 45; z += 0.01 {
		d, advantage := BestDelta(Gaussian{Mu: -z, Sigma: 1}, Comparison{}, 0)
		if !(d >= 0 && advantage >= 0 && advantage < 1e-190) {
			t.Fatalf("z = %g: δ %g, advantage %g", z, d, advantage)
		}
	}
}
