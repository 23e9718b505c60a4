package bandit

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/internal/vectors"
	"pgregory.net/rapid"
)

func seeded(n uint64) *rand.Rand { return rand.New(rand.NewPCG(n, 7)) }

func mustPopulation(t testing.TB, opts PopulationConfig, members ...float64) *Population {
	t.Helper()
	return must.Get(NewPopulation(members, opts))(t)
}

func members(p *Population) []float64 {
	x := make([]float64, p.Len())
	p.Members(x)
	return x
}

// checkConsistent checks everything a population maintains against its members.
func checkConsistent(t interface{ Fatalf(string, ...any) }, p *Population) {
	x := members(p)
	sum := 0.0
	seen := make([]bool, len(x))
	for m, v := range x {
		if m > 0 && v > x[m-1] {
			t.Fatalf("member %d (%v) is larger than the one before (%v)", m, v, x[m-1])
		}
		sum += v
		seen[p.Identity(m)] = true
		if got := p.Identified(p.Identity(m)); got != v {
			t.Fatalf("member %d is %v by identity, %v by rank", m, got, v)
		}
		above := 0
		for _, w := range x {
			if w >= v {
				above++
			}
		}
		if p.Rank(m) != above || p.Exceed(v) != float64(above)/float64(len(x)) {
			t.Fatalf("rank of member %d: %d, P(q ≥ it): %v, want %d of %d", m, p.Rank(m), p.Exceed(v), above, len(x))
		}
	}
	if slices.Contains(seen, false) {
		t.Fatalf("identities are not a permutation")
	}
	scale := max(math.Abs(x[0]), math.Abs(x[len(x)-1]))
	if mean := sum / float64(len(x)); math.Abs(p.Mean()-mean) > 1e-13*scale {
		t.Fatalf("mean %v, members average %v", p.Mean(), mean)
	}
	if p.Max() != x[0] || p.Min() != x[len(x)-1] {
		t.Fatalf("extremes %v, %v of %v", p.Max(), p.Min(), x)
	}
}

// AllMembers, carried as an affine map, against the members updated one by one.
func TestPopulationLazyUpdate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		opts := PopulationConfig{Step: rapid.SampledFrom([]float64{0.01, 0.1, 0.5, 0.9, 1}).Draw(t, "step")}
		if rapid.Bool().Draw(t, "harmonic") {
			opts.Schedule = HarmonicStep(rapid.SampledFrom([]float64{0, 1, 2.5}).Draw(t, "prior"))
		}
		start := rapid.SliceOfN(rapid.Float64Range(-3, 5), 1, 20).Draw(t, "members")
		rewards := rapid.SliceOf(rapid.SampledFrom([]float64{0, 1, -2, 0.3})).Draw(t, "rewards")
		p := must.Get(NewPopulation(start, opts))(t)
		want := slices.Clone(start)
		for n, r := range rewards {
			p.Update(r, nil)
			a := opts.Step
			if opts.Schedule != nil {
				a = opts.Schedule(n + 1)
			}
			for k := range want {
				want[k] = (1-a)*want[k] + a*r
			}
		}
		for k, w := range want {
			if got := p.Identified(k); math.Abs(got-w) > 1e-12 {
				t.Fatalf("member %d is %v, want %v", k, got, w)
			}
		}
		if p.Pulls() != len(rewards) {
			t.Fatalf("%d pulls, want %d", p.Pulls(), len(rewards))
		}
		checkConsistent(t, p)
	})
}

func TestPopulationModesKeepOrderAndMean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mode := UpdateMode(rapid.IntRange(0, int(IndependentMember)).Draw(t, "mode"))
		opts := PopulationConfig{Mode: mode, Step: rapid.Float64Range(0.01, 1).Draw(t, "step"), Mask: rapid.Float64Range(0.1, 1).Draw(t, "mask")}
		rng := seeded(rapid.Uint64().Draw(t, "seed"))
		arms := must.Get(NewPopulations(3, rapid.IntRange(1, 70).Draw(t, "K"), Uniform{-1, 1}, opts, rng))(t)
		for range 60 {
			p := &arms[rng.IntN(3)]
			if rng.IntN(2) == 0 {
				p.Sample(rng)
			}
			p.Update(float64(rng.IntN(3)-1), rng)
		}
		for i := range arms {
			checkConsistent(t, &arms[i])
			if arms[i].Max() > 1 || arms[i].Min() < -1 {
				t.Fatalf("members left the convex hull of prior and rewards: %v", members(&arms[i]))
			}
		}
	})
}

func TestDrawnMemberAloneLearns(t *testing.T) {
	p := mustPopulation(t, PopulationConfig{Mode: DrawnMember, Step: 0.5}, 0.1, 0.9, 0.4)
	if got := p.Take(1); got != 0.4 {
		t.Fatalf("member 1 = %v, want 0.4", got)
	}
	p.Update(1, nil) // 0.4 → 0.7, original member 2
	if got, want := members(p), []float64{0.9, 0.7, 0.1}; !slices.Equal(got, want) {
		t.Errorf("members %v, want %v", got, want)
	}
	if p.Identity(1) != 2 {
		t.Errorf("identity of the member that learned: %d, want 2", p.Identity(1))
	}
	p.Take(0)
	p.Update(0, nil) // 0.9 → 0.45
	if got, want := members(p), []float64{0.7, 0.45, 0.1}; !slices.Equal(got, want) {
		t.Errorf("members %v, want %v", got, want)
	}
	before := members(p)
	p.Update(-5, seeded(1)) // nothing drawn: one member, drawn now, learns
	changed := 0
	for _, v := range members(p) {
		if !slices.Contains(before, v) {
			changed++
		}
	}
	if changed != 1 {
		t.Errorf("%d members learned without a draw, want 1", changed)
	}
}

// One member learns from every reward, whichever was drawn to act: each as often as
// the others, 1,000 times of 4,000 (5 standard errors are 137).
func TestIndependentMemberIgnoresTheDraw(t *testing.T) {
	rng, learned := seeded(3), make([]int, 4)
	for range 4000 {
		p := mustPopulation(t, PopulationConfig{Mode: IndependentMember, Step: 0.5}, 4, 3, 2, 1)
		p.Take(0)
		p.Update(100, rng)
		changed := 0
		for k, was := range []float64{4, 3, 2, 1} {
			if p.Identified(k) != was {
				learned[k]++
				changed++
			}
		}
		if changed != 1 {
			t.Fatalf("%d members learned, want 1", changed)
		}
	}
	for k, n := range learned {
		if n < 863 || n > 1137 {
			t.Errorf("member %d learned %d times of 4000", k, n)
		}
	}
}

// The expected step of each mode, from 3,000 updates of a member at 0 towards
// 1; false alarm below 1e-6 for all together (5.5 standard errors).
func TestRandomisedSteps(t *testing.T) {
	const n, step = 3000, 0.3
	for mode, want := range map[UpdateMode]float64{
		BernoulliMask:      0.25 * step,
		ExponentialWeights: step * (1 - math.Exp(-1/step)),
		PoissonWeights:     1 - math.Exp(-step), // E(1−α)^ν = e^{−α}
	} {
		x := make([]float64, n)
		p := mustPopulation(t, PopulationConfig{Mode: mode, Step: step, Mask: 0.25}, x...)
		p.Update(1, seeded(3))
		v := 0.0
		for _, x := range members(p) {
			v += (x - p.Mean()) * (x - p.Mean()) / n
		}
		if e := math.Abs(p.Mean() - want); e > 5.5*math.Sqrt(v/n) {
			t.Errorf("%v: mean step %v, want %v", mode, p.Mean(), want)
		}
	}
}

// Halved 5,000 times, the scale is folded in many times over: the members
// stay at the reward's running average, exactly equal, and no longer change.
func TestPopulationFolds(t *testing.T) {
	p := mustPopulation(t, PopulationConfig{Step: 0.5}, 0, 0.25, 1)
	want := 0.5
	for n := range 5000 {
		r := float64(n % 2)
		p.Update(r, nil)
		want = (want + r) / 2
	}
	vectors.Close(t, "mean", p.Mean(), want, 1e-15, 0)
	if p.Max() != p.Min() || p.Max() != p.Mean() {
		t.Errorf("members %v, mean %v", members(p), p.Mean())
	}
	if x := p.Sample(seeded(1)); x != p.Mean() || p.Exceed(x) != 1 {
		t.Errorf("drew %v with P(q ≥ x) = %v", x, p.Exceed(x))
	}
	// Rewards of zero only: members decay to zero and not into subnormals.
	q := mustPopulation(t, PopulationConfig{Step: 0.5}, 0.5, 1)
	for range 5000 {
		q.Update(0, nil)
		for _, v := range members(q) {
			if v != 0 && v < 0x1p-1022 {
				t.Fatalf("subnormal member %v", v)
			}
		}
	}
	if q.Max() != 0 {
		t.Errorf("a member is %v after 5000 halvings", q.Max())
	}
	// A step of one forgets at once.
	r := mustPopulation(t, PopulationConfig{Schedule: HarmonicStep(0)}, 3, 4)
	r.Update(0.5, nil)
	if r.Max() != 0.5 || r.Min() != 0.5 {
		t.Errorf("after the first harmonic step: %v", members(r))
	}
}

// δ may be rounded when it is added back: the rank belongs to the value itself.
func TestDrawRanksTheDrawnMember(t *testing.T) {
	rng := seeded(5)
	p := must.Get(NewPopulations(1, 16, Uniform{0, 1}, PopulationConfig{Step: 0.1}, rng))(t)
	arm := &p[0]
	for range 200 {
		arm.Update(float64(rng.IntN(2)), rng)
		m := rng.IntN(arm.Len())
		x, prob := arm.Take(m), float64(arm.Rank(m))/float64(arm.Len())
		if prob != arm.Exceed(x) || prob == 0 {
			t.Fatalf("P(q ≥ %v) = %v from the rank, %v by counting", x, prob, arm.Exceed(x))
		}
	}
}

func TestPopulationTies(t *testing.T) {
	p := mustPopulation(t, PopulationConfig{}, 0.5, 0.2, 0.5, 0.5)
	for m, want := range []int{3, 3, 3, 4} {
		if got := p.Rank(m); got != want {
			t.Errorf("rank of member %d = %d, want %d", m, got, want)
		}
	}
}

func TestPopulationAccess(t *testing.T) {
	p := mustPopulation(t, PopulationConfig{}, 0.5, 0.2, 0.8)
	for m, want := range []float64{0.8, 0.5, 0.2} {
		if got := p.Member(m); got != want {
			t.Errorf("member %d = %v, want %v", m, got, want)
		}
	}
	mustPanic(t, "dst", func() { p.Members(make([]float64, 2)) })
	mustPanic(t, "identity", func() { p.Identified(3) })
}

func TestNewPopulationsLayout(t *testing.T) {
	if size := unsafe.Sizeof(Population{}); size > 64 {
		t.Errorf("a Population takes %d bytes, more than a cache line", size)
	}
	arms := must.Get(NewPopulations(4, 5, Uniform{0, 1}, PopulationConfig{}, seeded(1)))(t)
	for i := range arms[1:] {
		if &arms[i].x[:5][4] != (*float64)(unsafe.Add(unsafe.Pointer(&arms[i+1].x[0]), -8)) {
			t.Errorf("the members of arms %d and %d are not adjacent", i, i+1)
		}
	}
	// Arms are drawn in order, so that the first do not depend on how many
	// there are.
	more := must.Get(NewPopulations(9, 5, Uniform{0, 1}, PopulationConfig{}, seeded(1)))(t)
	if !slices.Equal(members(&arms[3]), members(&more[3])) {
		t.Error("the members of an arm depend on the number of arms")
	}
}

// A population that has learned and is reset is a new one, to the bit, and also
// learns like a new one.
func TestResetIsANewPopulation(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		k := rapid.IntRange(1, 40).Draw(rt, "k")
		value := rapid.OneOf(rapid.Float64Range(-3, 3), rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1, 1e300, 5e-324}))
		opts := PopulationConfig{Mode: rapid.SampledFrom([]UpdateMode{AllMembers, DrawnMember, BernoulliMask}).Draw(rt, "mode"), Step: 0.3}
		var members [2][]float64
		for i := range members {
			members[i] = rapid.SliceOfN(value, k, k).Draw(rt, "members")
		}
		p, want := mustPopulation(t, opts, members[0]...), mustPopulation(t, opts, members[1]...)
		for n := range 5 {
			p.Sample(seeded(uint64(n)))
			p.Update(float64(n), seeded(uint64(n)))
		}
		must.Do(rt, p.Reset(members[1]))
		for n := range 4 {
			if p.Mean() != want.Mean() || p.Pulls() != want.Pulls() {
				rt.Fatalf("mean %v after %d pulls, of a new one %v after %d", p.Mean(), p.Pulls(), want.Mean(), want.Pulls())
			}
			for m := range k {
				if math.Float64bits(p.Member(m)) != math.Float64bits(want.Member(m)) || p.Identity(m) != want.Identity(m) {
					rt.Fatalf("member %d is number %d, %v, of a new one number %d, %v", m, p.Identity(m), p.Member(m), want.Identity(m), want.Member(m))
				}
			}
			for _, q := range []*Population{p, want} {
				q.Sample(seeded(uint64(n)))
				q.Update(0.5, seeded(uint64(n)))
			}
		}
	})
	p := mustPopulation(t, PopulationConfig{}, 1, 2)
	if err := p.Reset([]float64{1, math.NaN()}); err == nil {
		t.Error("a member that is not a number is taken")
	}
	if n := testing.AllocsPerRun(100, func() { _ = p.Reset([]float64{3, 4}) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestPopulationErrors(t *testing.T) {
	for name, opts := range map[string]PopulationConfig{
		"mode":        {Mode: 9},
		"step":        {Step: 1.5},
		"negative":    {Step: -0.1},
		"NaN step":    {Step: math.NaN()},
		"mask":        {Mask: 2},
		"large -mode": {Mode: -1},
	} {
		if _, err := NewPopulation([]float64{1}, opts); err == nil {
			t.Errorf("%s: no error", name)
		}
		if _, err := NewPopulations(2, 2, Uniform{0, 1}, opts, seeded(1)); err == nil {
			t.Errorf("%s: no error for many arms", name)
		}
	}
	for _, members := range [][]float64{nil, {math.NaN()}, {1, math.Inf(1)}} {
		if _, err := NewPopulation(members, PopulationConfig{}); err == nil {
			t.Errorf("members %v: no error", members)
		}
	}
	for _, c := range [][2]int{{0, 1}, {1, 0}, {-1, 3}, {1 << 20, 1 << 20}} {
		if _, err := NewPopulations(c[0], c[1], Uniform{0, 1}, PopulationConfig{}, seeded(1)); err == nil {
			t.Errorf("%v: no error", c)
		}
	}
	if _, err := NewPopulations(1, 1, ShiftedExponential{0, 0}, PopulationConfig{}, seeded(1)); err == nil {
		t.Error("an infinite prior draw: no error")
	}
}

func TestUpdatesAndDrawsDoNotAllocate(t *testing.T) {
	for mode := AllMembers; mode <= IndependentMember; mode++ {
		rng := seeded(1)
		arms := must.Get(NewPopulations(2, 16, Uniform{0, 1}, PopulationConfig{Mode: mode}, rng))(t)
		p := &arms[1]
		table := NewIndexTable(V, 0.1, 16)
		if n := testing.AllocsPerRun(100, func() {
			p.Sample(rng)
			p.Update(1, rng)
			table.Index(p, 0)
			Index(U, p, 0.1, 0)
			BestDelta(p, Comparison{Known: 0.5}, 0.1)
			Explore(Discounted(0.9), p, Comparison{Known: 0.5})
			ProbExceedsJoint(p, &arms[0], 0.1)
			ProbExceeds(p, &arms[0], 0.1)
		}); n != 0 {
			t.Errorf("%v: %v allocations per step", mode, n)
		}
	}
}

// Sizes that would not fit in memory are refused before any allocation.
func TestTooManyMembers(t *testing.T) {
	if _, err := NewPopulations(1<<14, 1<<14, Uniform{0, 1}, PopulationConfig{}, rand.New(rand.NewPCG(1, 1))); err == nil {
		t.Error("2^28 members were not refused")
	}
}
