package voi

import (
	"math"
	"math/rand/v2"
	"testing"
)

// watching returns a belief that expects changes, in runs of so many steps, with states.
func watching(actions, states int, hazard, horizon float64) *Belief {
	b := NewBelief(actions, 0, 1)
	b.Watch(hazard, horizon)
	for range states {
		b.addState()
	}
	return b
}

// A row that has always shown the same and shows something else begins anew after at most four tries, whether its successor
// changes or its reward, and is then as if it had shown nothing before. The other rows become suspect, in equal parts.
func TestRowsThatChangeBeginAnew(t *testing.T) {
	for _, x := range []struct {
		reward float64
		next   int
	}{{0.5, 2}, {0, 1}, {0, 2}} {
		b := watching(2, 3, -1, 1000)
		for range 200 {
			b.learn(0, 0, 0.5, 1)
			b.learn(1, 1, 0, 0)
		}
		tries := 0
		for len(b.changes.noticed) == 0 && tries < 10 {
			b.learn(0, 0, x.reward, x.next)
			tries++
		}
		p := &b.pairs[0]
		if tries < 2 || tries > 4 || p.n != float64(tries) || len(p.next) != 1 || p.mean != x.reward {
			t.Errorf("%v: noticed after %d tries, and then the row is %+v", x, tries, *p)
		}
		if w := b.changes.noticed[0]; w.after != 399 || w.until != 401 {
			t.Errorf("the change was in %+v", w)
		}
		if got := b.suspicion(3, 1000); math.Abs(got-0.5) > 0.01 {
			t.Errorf("another row has changed with probability %v", got)
		}
		if got := b.suspicion(0, 1000); got > 0.01 {
			t.Errorf("the row that begins anew has changed with probability %v", got)
		}
		if mean := b.meanReward(); math.Abs(mean-(x.reward+0+0.5)/3) > 1e-12 { // of two pairs and the base
			t.Errorf("mean reward %v", mean)
		}
		// The first other row that has changed too is believed at once, and then more are expected to have.
		b.learn(1, 1, 1, 2)
		if len(b.changes.noticed) != 1 || b.changes.share() < 0.6 {
			t.Errorf("%d changes of the task, in which a row changes with probability %v", len(b.changes.noticed), b.changes.share())
		}
	}
}

// Bernoulli and normal rewards whose mean changes are noticed, and the row then has the new mean.
func TestNoisyRewardsThatChangeBeginAnew(t *testing.T) {
	draws := map[string]func(rng *rand.Rand, mean float64) float64{
		"Bernoulli": func(rng *rand.Rand, mean float64) float64 {
			if rng.Float64() < mean {
				return 1
			}
			return 0
		},
		"normal": func(rng *rand.Rand, mean float64) float64 { return mean + 0.2*rng.NormFloat64() },
	}
	for name, draw := range draws {
		rng := rand.New(rand.NewPCG(1, 2))
		b := watching(1, 1, -1, 1000)
		for range 300 {
			b.learn(0, 0, draw(rng, 0.8), 0)
		}
		tries := 0
		for len(b.changes.noticed) == 0 && tries < 100 {
			b.learn(0, 0, draw(rng, 0.2), 0)
			tries++
		}
		if p := &b.pairs[0]; tries > 20 || p.n > 20 || p.mean > 0.5 {
			t.Errorf("%s: noticed after %d tries; %v tries with mean %v", name, tries, p.n, p.mean)
		}
	}
}

// Where nothing changes, the belief expects at most one false alarm in twenty runs if its base is right (docs/theory.md §3.8). Here rows
// are random distributions over eight states with noisy rewards, Bernoulli or a function of the successor. In 100 runs of 1,000 steps there should be
// at most 5 alarms in the mean; 14 or more have a probability of 3·10⁻⁴ then.
func TestFalseAlarms(t *testing.T) {
	alarms := 0
	for run := range uint64(100) {
		rng := rand.New(rand.NewPCG(run, 3))
		const states = 8
		b := watching(2, states, -1, 1000)
		var rows [2 * states][states]float64
		for i := range rows {
			sum := 0.0
			for y := range rows[i] {
				rows[i][y] = math.Pow(rng.Float64(), 8)
				sum += rows[i][y]
			}
			for y := range rows[i] {
				rows[i][y] /= sum
			}
		}
		s := 0
		for k := range 1000 {
			a, u, y := rng.IntN(2), rng.Float64(), 0
			for row := &rows[2*s+a]; y < states-1 && u > row[y]; y++ {
				u -= row[y]
			}
			r := float64(y) / states
			if run%2 == 0 {
				r = float64(rng.IntN(2))
			}
			if b.learn(s, a, r, y); k%50 == 49 {
				b.fit()
			}
			s = y
		}
		alarms += len(b.changes.noticed)
	}
	if t.Logf("%d alarms", alarms); alarms >= 14 {
		t.Errorf("%d alarms in 100 runs", alarms)
	}
}

// With a hazard the belief becomes uncertain of a pair while it is not tried, and a look that tells nothing new makes it certain again. Without
// it nothing grows until a change is noticed.
func TestSuspicionGrows(t *testing.T) {
	for _, hazard := range []float64{0.01, -1} {
		b := watching(2, 2, hazard, 1000)
		for range 50 {
			b.learn(0, 0, 0, 0)
			b.learn(0, 1, 0, 1)
		}
		before := b.suspicion(1, 100)
		for range 50 {
			b.learn(0, 0, 0, 0)
		}
		after := b.suspicion(1, 100)
		// A row changes with probability 1/2 when the task does, so with 1 − exp(−0.005·50) here, and half of it counts.
		want := 0.5 * -math.Expm1(-0.25)
		if hazard < 0 {
			want = 0
		}
		if before > 0.001 || math.Abs(after-want) > 1e-9 {
			t.Errorf("hazard %v: suspicion %v, and after 50 steps %v, want %v", hazard, before, after, want)
		}
		b.learn(0, 1, 0, 1)
		if got := b.suspicion(1, 100); got > 0.001 {
			t.Errorf("hazard %v: suspicion %v after a look", hazard, got)
		}
	}
}
