package thresholdcmd

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
)

func examples() []string {
	return []string{
		"beta:3,4", "beta:b=4,a=3", "gaussian:0.4,0.1", "exponential:mu=0.1,rate=4", "uniform:0,1", "two-point:0,1,0.3",
		"two_point:lo=-1,hi=2,w=0.5", "normal-gamma:0.4,5,3,0.2", "population:0.2,0.8,0.5", "population: 0.2, 0.8",
	}
}

// A belief has the deviation that sd says. A mean over n draws is off by about
// deviation/√n; five of these happen less than once in a million times.
func TestSD(t *testing.T) {
	const n = 200_000
	for _, text := range examples() {
		b := must.Get(parseBelief(text))(t)
		rng := rand.New(rand.NewPCG(1, 2))
		var sum, squares, fourths float64
		for range n {
			x := b.is.Sample(rng) - b.is.Mean()
			sum += x
			squares += x * x
			fourths += x * x * x * x
		}
		if off := math.Abs(sum / n); off > 5*b.sd()/math.Sqrt(n) {
			t.Errorf("%s: mean of draws is off by %v, sd is said to be %v", text, off, b.sd())
		}
		variance := squares / n
		if off := math.Abs(variance - b.sd()*b.sd()); off > 5*math.Sqrt((fourths/n-variance*variance)/n)+1e-12 {
			t.Errorf("%s: variance of draws is %v, sd is said to be %v", text, variance, b.sd())
		}
	}
}

// The drawing of the decision region multiplies the deviation and keeps the mean.
func TestSpread(t *testing.T) {
	for _, text := range examples() {
		b := must.Get(parseBelief(text))(t)
		for _, s := range []float64{0.01, 0.5, 1, 1.9} {
			v, ok := b.kind.spread(b.v, s)
			if !ok {
				t.Errorf("%s cannot be spread by %v", text, s)
				continue
			}
			made, err := b.kind.make(v)
			if err != nil {
				t.Errorf("%s spread by %v: %v", text, s, err)
				continue
			}
			if sd := b.kind.sd(v); math.Abs(sd-s*b.sd()) > 1e-9*s*b.sd() || math.Abs(made.Mean()-b.is.Mean()) > 1e-9 {
				t.Errorf("%s spread by %v: mean %v, sd %v; was %v, %v", text, s, made.Mean(), sd, b.is.Mean(), b.sd())
			}
		}
	}
	b := must.Get(parseBelief("beta:3,4"))(t)
	if _, ok := b.scaled(10); ok {
		t.Error("a beta belief with ten times the deviation cannot be, but is")
	}
}

func TestParseBeliefWords(t *testing.T) {
	for text, want := range map[string]string{
		"beta:b=4,a=3":             "beta a=3, b=4",
		"two_point:0,1,0.3":        "two-point lo=0, hi=1, w=0.3",
		"population:0.2,0.8,0.5":   "population of 3",
		"exponential:1e-3,0.30000": "exponential mu=0.001, rate=0.3",
	} {
		b := must.Get(parseBelief(text))(t)
		if b.String() != want {
			t.Errorf("%s is shown as %q, want %q", text, b, want)
		}
	}
}
