package mdp

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/rlrun/rlrun/internal/must"
)

// seen returns a belief of 3 states and 1 action, updated with some steps.
func seen(t *testing.T, p DirichletPrior) *Dirichlet {
	t.Helper()
	p.States, p.Actions = 3, 1
	d := must.Get(NewDirichlet(p))(t)
	for range 6 {
		d.Update(0, 0, 1, 1)
	}
	for range 3 {
		d.Update(0, 0, 0, 2)
	}
	return d
}

// checkMoments compares the mean of draws with what it should be: 5 standard
// errors, so a false alarm in 2e6 seeds, at a fixed seed.
func checkMoments(t *testing.T, what string, draws []float64, mean, variance float64) {
	t.Helper()
	if m := stat.Mean(draws, nil); math.Abs(m-mean) > 5*math.Sqrt(variance/float64(len(draws))) {
		t.Errorf("%s: mean %v, want %v", what, m, mean)
	}
	if variance > 0 {
		if v := stat.Variance(draws, nil); math.Abs(v/variance-1) > 0.1 {
			t.Errorf("%s: variance %v, want %v", what, v, variance)
		}
	}
}

func TestDirichletMoments(t *testing.T) {
	d := seen(t, DirichletPrior{Alpha: 0.5, Rewards: BetaReward{2, 3}})
	rng := rand.New(rand.NewPCG(1, 1))
	const n = 20_000
	var prob [3][]float64
	var reward []float64
	var sample *Tabular
	for range n {
		sample = d.SampleInto(sample, rng)
		for s := range prob {
			p := 0.0
			next, x := sample.Transition(0, 0)
			for k, u := range next {
				if int(u) == s {
					p = x[k]
				}
			}
			prob[s] = append(prob[s], p)
		}
		reward = append(reward, sample.Reward(0, 0))
	}
	total := 10.5
	mean := d.Mean()
	next, p := mean.Transition(0, 0)
	for k, alpha := range []float64{0.5, 6.5, 3.5} {
		if int(next[k]) != k || !within(p[k], alpha/total, 1e-15) {
			t.Errorf("mean probability %v, want %v", p[k], alpha/total)
		}
		checkMoments(t, "probability", prob[k], alpha/total, alpha*(total-alpha)/(total*total*(total+1)))
	}
	a, b := 2.0+6, 3.0+3
	checkMoments(t, "reward", reward, a/(a+b), a*b/((a+b)*(a+b)*(a+b+1)))
	if !within(mean.Reward(0, 0), a/(a+b), 1e-15) {
		t.Errorf("mean reward %v, want %v", mean.Reward(0, 0), a/(a+b))
	}
}

// A row most of whose successors have not been seen is drawn by its largest unseen
// ones. Its moments, those of its largest unseen probability and of the number of those
// above a thousandth are what gamma variates for all successors yield. The false-alarm
// rate is below 1e-3.
func TestDirichletOfManyUnseen(t *testing.T) {
	const states, n = 300, 8000
	d := must.Get(NewDirichlet(DirichletPrior{States: states, Actions: 1, Alpha: 1.0 / states}))(t)
	for _, next := range []int{7, 7, 7, 299} {
		d.Update(0, 0, 0, next)
	}
	row, rng := &d.rows[0], rand.New(rand.NewPCG(4, 4))
	kinds := []string{"the first seen", "the second", "an unseen one", "all the others", "the largest unseen", "how many unseen"}
	draw := func(sample func(*Tabular)) (out [6][]float64) {
		table := new(Tabular)
		for range n {
			table.next, table.prob = table.next[:0], table.prob[:0]
			sample(table)
			if !slices.IsSorted(table.next) {
				t.Fatalf("successors %v", table.next)
			}
			var x [6]float64
			for k, s := range table.next {
				switch p := table.prob[k]; s {
				case 7:
					x[0] = p
				case 299:
					x[1] = p
				default:
					if s == 100 {
						x[2] = p
					}
					x[3] += p
					x[4] = max(x[4], p)
					if p > 0.001 {
						x[5]++
					}
				}
			}
			if !within(x[0]+x[1]+x[3], 1, 1e-9) {
				t.Fatalf("probabilities add up to %v", x[0]+x[1]+x[3])
			}
			for i := range out {
				out[i] = append(out[i], x[i])
			}
		}
		return out
	}
	sparse := draw(func(table *Tabular) { d.sampleSparse(table, row, states-2, rng) })
	dense := draw(func(table *Tabular) { d.sampleDense(table, 0, row, rng) })
	for i, alpha := range []float64{3 + d.alpha, 1 + d.alpha, d.alpha, 298 * d.alpha} {
		variance := alpha * (5 - alpha) / (25 * 6)
		if m := stat.Mean(sparse[i], nil); math.Abs(m-alpha/5) > 5*math.Sqrt(variance/n) {
			t.Errorf("%s: mean %v, want %v", kinds[i], m, alpha/5)
		}
	}
	for i, kind := range kinds {
		slices.Sort(sparse[i])
		slices.Sort(dense[i])
		if ks := stat.KolmogorovSmirnov(sparse[i], nil, dense[i], nil); ks > 2.3*math.Sqrt(2.0/n) { // exp(-2·2.3²) · 2 = 5e-5
			t.Errorf("%s: a distance of %v between the distributions of the two routes", kind, ks)
		}
	}
}

// biasedRest is exact for any a ≥ 0, also where rejection is not as rare as in rows:
// 1-W is Beta(b, 1+a), whose moments are textbook's.
func TestBiasedRest(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for _, p := range []struct{ a, b float64 }{{0, 0.5}, {0.5, 0.7}, {2, 3}} {
		draws := make([]float64, 20_000)
		for i := range draws {
			draws[i] = biasedRest(p.a, p.b, rng)
		}
		total := 1 + p.a + p.b
		checkMoments(t, "1-W", draws, p.b/total, p.b*(1+p.a)/(total*total*(total+1)))
	}
}

// At parameters where gamma variates underflow, rows are still distributions, and
// each successor has the probability it should.
func TestDirichletWithTinyParameters(t *testing.T) {
	d := must.Get(NewDirichlet(DirichletPrior{States: 4, Actions: 1, Alpha: 1e-4}))(t)
	rng := rand.New(rand.NewPCG(3, 3))
	const n = 4000
	var mean [4]float64
	for range n {
		next, prob := d.Sample(rng).Transition(0, 0)
		sum := 0.0
		for k, u := range next {
			mean[u] += prob[k] / n
			sum += prob[k]
		}
		if !within(sum, 1, 1e-12) {
			t.Fatalf("row %v", prob)
		}
	}
	for s, x := range mean { // nearly all mass is on one successor: variance 3/16
		if math.Abs(x-0.25) > 5*math.Sqrt(3.0/16/n) {
			t.Errorf("successor %d has mean probability %v, want 1/4", s, x)
		}
	}
}

func TestSeenOnly(t *testing.T) {
	d := seen(t, DirichletPrior{Alpha: 1, SeenOnly: true})
	m := d.Sample(rand.New(rand.NewPCG(4, 4)))
	if next, _ := m.Transition(0, 0); len(next) != 2 || next[0] != 1 {
		t.Errorf("successors %v, want those seen, 1 and 2", next)
	}
	for _, m := range []*Tabular{m, d.Mean(), d.Empirical()} {
		if next, prob := m.Transition(1, 0); len(next) != 1 || next[0] != 1 || prob[0] != 1 {
			t.Errorf("an untried pair leads to %v with %v, not to itself", next, prob)
		}
	}
	next, prob := d.Mean().Transition(0, 0)
	if len(next) != 2 || !within(prob[0], 7.0/11, 1e-15) {
		t.Errorf("mean row %v %v", next, prob)
	}
	next, prob = d.Empirical().Transition(0, 0)
	if len(next) != 2 || !within(prob[0], 6.0/9, 1e-15) || !within(d.Empirical().Reward(0, 0), 6.0/9, 1e-15) {
		t.Errorf("empirical row %v %v", next, prob)
	}
}

// Members of the bootstrap spread like the posterior: with n observations of a
// coin, by about √(p(1−p)/n), whatever the mask of variance one.
func TestBootstrap(t *testing.T) {
	for mask, name := range map[Mask]string{Poisson: "Poisson", DoubleOrNothing: "double or nothing", Exponential: "exponential"} {
		prior := must.Get(NewDirichlet(DirichletPrior{States: 2, Actions: 1, Alpha: 1}))(t)
		b := must.Get(NewBootstrap(prior, 400, 0.01, mask, 5))(t)
		const n = 300
		for i := range n {
			b.Update(0, 0, float64(i%3/2), i%3/2)
		}
		var p, r []float64
		for k := range b.Len() {
			m := b.Member(k)
			next, prob := m.Transition(0, 0)
			if next[0] != 0 {
				t.Fatalf("%s: row %v", name, next)
			}
			p = append(p, 1-prob[0])
			r = append(r, m.Reward(0, 0))
		}
		want := math.Sqrt(1.0 / 3 * 2 / 3 / n)
		for _, x := range [][]float64{p, r} {
			if m := stat.Mean(x, nil); math.Abs(m-1.0/3) > 5*want/20 {
				t.Errorf("%s: mean %v, want 1/3", name, m)
			}
			if sd := stat.StdDev(x, nil); math.Abs(sd/want-1) > 0.2 {
				t.Errorf("%s: spread %v, want %v", name, sd, want)
			}
		}
		_, prob := b.Mean().Transition(0, 0)
		if !within(1-prob[0], stat.Mean(p, nil), 1e-12) {
			t.Errorf("%s: the mean model is not the mean of the members", name)
		}
	}
}

// Updating one by one gives the batch moments.
func TestMomentsOnlineAndBatch(t *testing.T) {
	c := must.Get(NewCounts(1, 1))(t)
	rng := rand.New(rand.NewPCG(6, 6))
	var x, w []float64
	for range 50 {
		x, w = append(x, rng.NormFloat64()), append(w, rng.ExpFloat64())
		c.add(0, 0, x[len(x)-1], 0, w[len(w)-1])
	}
	mean := stat.Mean(x, w)
	m2 := 0.0
	for i := range x {
		m2 += w[i] * (x[i] - mean) * (x[i] - mean)
	}
	if got := c.Rewards(0, 0); !within(got.Mean, mean, 1e-12) || !within(got.M2, m2, 1e-10) {
		t.Errorf("moments %+v, want mean %v, squares %v", got, mean, m2)
	}
}

func TestBadPriors(t *testing.T) {
	for name, p := range map[string]DirichletPrior{
		"size": {Actions: 1}, "alpha": {States: 1, Actions: 1, Alpha: -1}, "NaN": {States: 1, Actions: 1, Alpha: math.NaN()},
		"beta": {States: 1, Actions: 1, Rewards: BetaReward{0, 1}},
	} {
		if _, err := NewDirichlet(p); err == nil {
			t.Errorf("%s: %+v is accepted", name, p)
		}
	}
}
