package mdp_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
)

// observe fills counts with n visits of every pair.
func observe(t *testing.T, m *mdp.Tabular, n int, rng *rand.Rand) *mdp.Counts {
	t.Helper()
	c, err := mdp.NewCounts(m.NumStates(), m.NumActions())
	if err != nil {
		t.Fatal(err)
	}
	for s := range m.NumStates() {
		for a := range m.NumActions() {
			for range n {
				u, r := m.Step(s, a, rng)
				c.Update(s, a, r, u)
			}
		}
	}
	return c
}

func riverSwim(t *testing.T) (*mdp.Tabular, mdp.Deterministic) {
	t.Helper()
	task, err := catalog.RiverSwim(6)
	if err != nil {
		t.Fatal(err)
	}
	return task.Model, mdp.Constant(6, 1)
}

// The band of 40 data sets contains all true times at once, as it does with
// probability 0.95 and, by the union bounds in it, far more; with enough data it
// closes.
func TestMixingBand(t *testing.T) {
	m, pi := riverSwim(t)
	exact, err := mdp.MixingTime(m, pi, mdp.MixingOptions{})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 0))
	width := map[int]int{}
	for _, n := range []int{10, 1000, 300_000} {
		runs := 40
		if n > 1000 {
			runs = 1
		}
		for range runs {
			b, err := observe(t, m, n, rng).MixingBand(pi, mdp.BandOptions{})
			if err != nil {
				t.Fatal(err)
			}
			width[n] = 0
			for s, row := range exact.T {
				for a, T := range row {
					if T < b.Low[s][a] || T > b.High[s][a] {
						t.Errorf("n = %d: T(%d,%d) = %d is outside %d..%d", n, s, a, T, b.Low[s][a], b.High[s][a])
					}
					if b.Plugin.T[s][a] < b.Low[s][a] || b.Plugin.T[s][a] > b.High[s][a] {
						t.Errorf("the band excludes its own centre")
					}
					if b.High[s][a] == mdp.Never {
						width[n] = mdp.Never
					} else if width[n] != mdp.Never {
						width[n] = max(width[n], b.High[s][a]-b.Low[s][a])
					}
				}
			}
		}
	}
	if width[10] != mdp.Never || width[300_000] > 5 {
		t.Errorf("widest band by data: %v", width)
	}
}

// The 0.9-quantile over a posterior that has seen much is near the truth, and
// untried pairs make times longer if they are self-loops, shorter if not.
func TestPosteriorMixing(t *testing.T) {
	m, pi := riverSwim(t)
	exact, err := mdp.MixingTime(m, pi, mdp.MixingOptions{})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(2, 0))
	quantile := func(visits int, seenOnly bool) int {
		d, err := mdp.NewDirichlet(mdp.DirichletPrior{States: 6, Actions: 2, Alpha: 1, SeenOnly: seenOnly})
		if err != nil {
			t.Fatal(err)
		}
		for s := range 4 { // the last two states have not been tried
			for a := range 2 {
				for range visits {
					u, r := m.Step(s, a, rng)
					d.Update(s, a, r, u)
				}
			}
		}
		for s := 4; s < 6 && visits > 1000; s++ {
			for a := range 2 {
				for range visits {
					u, r := m.Step(s, a, rng)
					d.Update(s, a, r, u)
				}
			}
		}
		var models []*mdp.Tabular
		for range 50 {
			models = append(models, d.Sample(rng))
		}
		q, times, err := mdp.PosteriorMixing(models, pi, 0.9, mdp.MixingOptions{})
		if err != nil || len(times) != 50 {
			t.Fatal(len(times), err)
		}
		return q
	}
	if q := quantile(20_000, false); q < exact.Max-1 || q > exact.Max+1 {
		t.Errorf("with much data the quantile is %d, the truth %d", q, exact.Max)
	}
	if plain, safe := quantile(50, false), quantile(50, true); plain >= exact.Max || safe <= exact.Max {
		t.Errorf("with two untried states: %d from a plain Dirichlet, %d with self-loops, truth %d", plain, safe, exact.Max)
	}
}

func TestQuantile(t *testing.T) {
	times := []int{9, 1, 4, 3, 7, 2, 8, 10, 5, 6}
	for q, want := range map[float64]int{0.9: 9, 0.91: 10, 1: 10, 0.5: 5, 0.01: 1, 0.1: 1} {
		if got := mdp.Quantile(times, q); got != want {
			t.Errorf("quantile %v is %d, want %d", q, got, want)
		}
	}
}

// The online estimator computes when it must and not otherwise.
func TestOnlineMixing(t *testing.T) {
	m, right := riverSwim(t)
	left := mdp.Constant(6, 0)
	models := func() []*mdp.Tabular { return []*mdp.Tabular{m} }
	exact, err := mdp.MixingTime(m, right, mdp.MixingOptions{})
	if err != nil {
		t.Fatal(err)
	}
	e := &mdp.OnlineMixing{Cap: 8}
	for i, step := range []struct {
		pi       mdp.Deterministic
		seen     float64
		time     int
		capped   bool
		computed int
	}{
		{right, 100, 8, true, 1}, {right, 199, 8, true, 1}, {right, 200, 8, true, 2},
		{left, 201, 6, false, 3}, {left, 300, 6, false, 3}, {right, 301, 8, true, 4},
	} {
		got, capped, err := e.Time(step.pi, step.seen, models)
		if err != nil {
			t.Fatal(err)
		}
		if got != step.time || capped != step.capped || e.Recomputed() != step.computed {
			t.Errorf("step %d: T = %d, capped %v, computed %d times", i, got, capped, e.Recomputed())
		}
	}
	e = &mdp.OnlineMixing{Cap: 1000}
	if got, capped, err := e.Time(right, 0, models); err != nil || got != exact.Max || capped {
		t.Errorf("without the cap T = %d, want %d", got, exact.Max)
	}
	if _, _, err := new(mdp.OnlineMixing).Time(right, 0, models); err == nil {
		t.Error("a cap of zero is accepted")
	}
}

// The tail of any coupling bounds total variation from above at every time, and
// the rewards until meeting sum to the advantage: both within 5 standard errors.
func TestCoupling(t *testing.T) {
	task, err := catalog.Garnet(6, 2, 3, 3)
	if err != nil {
		t.Fatal(err)
	}
	m, pi := task.Model, mdp.Constant(6, 0)
	const s, a, runs = 2, 1, 4000
	d, err := mdp.Forgetting(m, pi, s, a, 50)
	if err != nil {
		t.Fatal(err)
	}
	exact, err := mdp.MixingTime(m, pi, mdp.MixingOptions{Eta: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	c, err := mdp.Induce(m, pi)
	if err != nil {
		t.Fatal(err)
	}
	gain, h, err := c.EvaluateAverage()
	if err != nil {
		t.Fatal(err)
	}
	advantage := m.Reward(s, a) - gain[s] - h[s]
	next, prob := m.Transition(s, a)
	for k, u := range next {
		advantage += prob[k] * h[u]
	}
	o := mdp.CouplingOptions{Eta: 0.1, Runs: runs, Seed: 4}
	maximal, err := mdp.CoupleModel(m, pi, s, a, o)
	if err != nil {
		t.Fatal(err)
	}
	independent, err := mdp.Couple(m.Step, pi, s, a, o)
	if err != nil {
		t.Fatal(err)
	}
	o.CommonNumbers = true
	common, err := mdp.Couple(m.Step, pi, s, a, o)
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]*mdp.Coupling{"maximal": maximal, "independent": independent, "common": common} {
		for k, tail := range got.Tail {
			if k < len(d) {
				if tv := d[k] * 6 / 2; tail < tv-5*math.Sqrt(tv*(1-tv)/runs+1e-12) {
					t.Errorf("%s: P(τ > %d) = %v is below total variation %v", name, k+1, tail, tv)
				}
			}
		}
		if got.Unmet == 0 && math.Abs(got.Advantage-advantage) > 5*got.StdErr {
			t.Errorf("%s: advantage %v ± %v, want %v", name, got.Advantage, got.StdErr, advantage)
		}
		if got.High < got.T || got.High < exact.T[s][a] {
			t.Errorf("%s: T ≤ %d, at confidence %d; truth %d", name, got.T, got.High, exact.T[s][a])
		}
	}
	// One step is coupled maximally: P(τ > 1) is total variation itself.
	if tv := d[0] * 3; math.Abs(maximal.Tail[0]-tv) > 5*math.Sqrt(tv*(1-tv)/runs) {
		t.Errorf("maximal: P(τ > 1) = %v, want %v", maximal.Tail[0], tv)
	}
	if maximal.T > independent.T {
		t.Errorf("the maximal coupling takes %d steps, the independent one %d", maximal.T, independent.T)
	}
}

// The interval contains the gap of random reversible chains, and closes: 30
// chains, each allowed to fail with probability 0.05 but, the bounds being as
// conservative as they are, none does at this seed.
func TestTrajectorySpectrum(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 0))
	informative := 0
	for i := range 30 {
		n := 2 + i%3
		weight := make([][]float64, n) // of a random walk on a weighted graph
		for s := range weight {
			weight[s] = make([]float64, n)
		}
		for s := range n {
			for u := range s + 1 {
				w := 0.2 + rng.Float64()
				weight[s][u], weight[u][s] = w, w
			}
		}
		m, err := mdp.Generate(mdp.Definition{States: n, Actions: 1}, func(s, _ int, row *mdp.Row) {
			sum := 0.0
			for _, w := range weight[s] {
				sum += w
			}
			for u, w := range weight[s] {
				row.Add(u, w/sum)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		c, err := mdp.Induce(m, mdp.Uniform{})
		if err != nil {
			t.Fatal(err)
		}
		sp, err := c.Spectrum()
		if err != nil {
			t.Fatal(err)
		}
		path := make([]int, 1, 300_001)
		for range 300_000 {
			u, _ := m.Step(path[len(path)-1], 0, rng)
			path = append(path, u)
		}
		got, err := mdp.TrajectorySpectrum(path, n, 0.05)
		if err != nil {
			t.Fatal(err)
		}
		gap := 1 - sp.Lambda2
		if !near(got.Gap, gap, 0.02) {
			t.Errorf("gap %v, want %v", got.Gap, gap)
		}
		if gap < got.Low || gap > got.High {
			t.Errorf("gap %v outside [%v, %v]", gap, got.Low, got.High)
		}
		rarest := 1.0
		for _, x := range sp.Stationary {
			rarest = min(rarest, x)
		}
		if got.Rarest > rarest {
			t.Errorf("the rarest state has %v, bounded by %v", rarest, got.Rarest)
		}
		if got.Low > 0 {
			informative++
			if worst, err := c.WorstMixing(0.25); err != nil || got.Mixing(0.25) < worst {
				t.Errorf("mixing time %d (%v) exceeds its bound %d", worst, err, got.Mixing(0.25))
			}
		}
	}
	if informative < 15 {
		t.Errorf("only %d of 30 intervals say anything", informative)
	}
	short, err := mdp.TrajectorySpectrum([]int{0, 1, 0}, 3, 0.05)
	if err != nil || short.Low != 0 || short.High != 1 || short.Mixing(0.25) != mdp.Never {
		t.Errorf("three states of data say %+v, %v", short, err)
	}
}

// The same for the pseudo-spectral gap of chains that are not reversible: random
// walks that go round a cycle one way, and winning streaks, where σ₂(P) says
// little and that of a power is needed.
func TestTrajectoryPseudoGap(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 0))
	informative, powers := 0, 0
	for i := range 30 {
		n, on, streak := 2+i%3, 0.1+0.8*rng.Float64(), i%2 == 0
		m, err := mdp.Generate(mdp.Definition{States: n, Actions: 1}, func(s, _ int, row *mdp.Row) {
			switch {
			case streak: // one up, or down to the bottom
				row.Add(min(s+1, n-1), on)
				row.Add(0, 1-on)
			default:
				row.Add((s+1)%n, on)
				row.Add(rng.IntN(n), 1-on)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		c, err := mdp.Induce(m, mdp.Uniform{})
		if err != nil {
			t.Fatal(err)
		}
		sp, err := c.Spectrum()
		if err != nil {
			t.Fatal(err)
		}
		path := make([]int, 1, 300_001)
		for range 300_000 {
			u, _ := m.Step(path[len(path)-1], 0, rng)
			path = append(path, u)
		}
		got, err := mdp.TrajectoryPseudoGap(path, n, 0.05)
		if err != nil {
			t.Fatal(err)
		}
		if !near(got.Gap, sp.PseudoGap, 0.02) {
			t.Errorf("gap %v, want %v", got.Gap, sp.PseudoGap)
		}
		if sp.PseudoGap < got.Low || sp.PseudoGap > got.High {
			t.Errorf("gap %v outside [%v, %v]", sp.PseudoGap, got.Low, got.High)
		}
		if got.Rarest > slices.Min(sp.Stationary) {
			t.Errorf("the rarest state has %v, bounded by %v", slices.Min(sp.Stationary), got.Rarest)
		}
		if sp.PseudoK > 1 {
			powers++
		}
		if bound := got.Mixing(0.25); bound != mdp.Never {
			informative++
			if worst, err := c.WorstMixing(0.25); err != nil || bound < worst {
				t.Errorf("mixing time %d (%v) exceeds its bound %d", worst, err, bound)
			}
		} else if got.Low > 0 {
			t.Error("a gap, but no bound on mixing")
		}
	}
	if informative < 15 || powers < 5 {
		t.Errorf("%d of 30 intervals say something, %d gaps are those of powers", informative, powers)
	}
	around := make([]int, 30_000) // periodic: no gap
	for k := range around {
		around[k] = k % 3
	}
	if got, err := mdp.TrajectoryPseudoGap(around, 3, 0.05); err != nil || got.Low != 0 || got.Mixing(0.25) != mdp.Never {
		t.Errorf("a cycle has %+v, %v", got, err)
	}
	for _, bad := range [][]int{{0}, {0, 3}, {0, -1}} {
		if _, err := mdp.TrajectoryPseudoGap(bad, 3, 0.05); err == nil {
			t.Errorf("%v is accepted", bad)
		}
	}
}

// Samples of a posterior are models, whatever has been seen.
func TestBeliefsSampleModels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, actions := rapid.IntRange(1, 5).Draw(t, "states"), rapid.IntRange(1, 3).Draw(t, "actions")
		d, err := mdp.NewDirichlet(mdp.DirichletPrior{States: n, Actions: actions,
			Alpha: rapid.SampledFrom([]float64{1e-6, 0.1, 1}).Draw(t, "alpha"), SeenOnly: rapid.Bool().Draw(t, "seenOnly")})
		if err != nil {
			t.Fatal(err)
		}
		b, err := mdp.NewBootstrap(d, 3, 1, mdp.Mask(rapid.IntRange(0, 2).Draw(t, "mask")), rapid.Uint64().Draw(t, "seed"))
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(0, 20).Draw(t, "steps") {
			s, a := rapid.IntRange(0, n-1).Draw(t, "s"), rapid.IntRange(0, actions-1).Draw(t, "a")
			r, u := rapid.Float64Range(0, 1).Draw(t, "r"), rapid.IntRange(0, n-1).Draw(t, "u")
			d.Update(s, a, r, u)
			b.Update(s, a, r, u)
		}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "sample"), 0))
		for _, belief := range []mdp.Belief{d, b} {
			for _, m := range []*mdp.Tabular{belief.Mean(), belief.Sample(rng)} {
				for s := range n {
					for a := range actions {
						sum := 0.0
						next, prob := m.Transition(s, a)
						for k, p := range prob {
							if sum += p; !(p > 0) || k > 0 && next[k] <= next[k-1] {
								t.Fatalf("row %v %v", next, prob)
							}
						}
						if !near(sum, 1, 1e-9) || !(m.Reward(s, a) >= 0 && m.Reward(s, a) <= 1) {
							t.Fatalf("sum %v, reward %v", sum, m.Reward(s, a))
						}
					}
				}
			}
		}
	})
}
