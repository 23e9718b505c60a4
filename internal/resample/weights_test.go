package resample

import (
	"math"
	"math/rand/v2"
	"testing"
)

const members, mask = 100_000, 0.3

func random() (*rand.Rand, *rand.PCG) {
	words := rand.NewPCG(1, 2)
	return rand.New(words), words
}

// moments returns the mean and the variance of weights, and the share of zeros.
func moments(weights []float64) (m [3]float64) {
	n := float64(len(weights))
	for _, w := range weights {
		m[0] += w / n
		if w == 0 {
			m[2] += 1 / n
		}
	}
	for _, w := range weights {
		m[1] += (w - m[0]) * (w - m[0]) / n
	}
	return m
}

// Weights have the mean, the variance and the share of zeros of their distribution, drawn
// plainly and from words. Standard errors are below 0.01 for 100,000 members, as fourth
// moments are at most 9; a false alarm has a probability below 1e-6.
func TestMoments(t *testing.T) {
	bernoulli := func(p float64) [3]float64 { return [3]float64{p, p * (1 - p), 1 - p} }
	poisson := [3]float64{1, 1, 1 / math.E}
	for _, tt := range []struct {
		mode Mode
		mask float64
		want [3]float64
	}{
		{All, 0, [3]float64{1, 0, 0}}, {Bernoulli, mask, bernoulli(mask)}, {Bernoulli, 0.5, bernoulli(0.5)}, {Bernoulli, 1, bernoulli(1)},
		{Exponential, 0, [3]float64{1, 1, 0}}, {Poisson, 0, poisson}, {Arrivals, 0, poisson}, {DoubleOrNothing, 0, [3]float64{1, 1, 0.5}},
	} {
		rng, words := random()
		dst := make([]float64, members)
		check := func(how string) {
			for k, got := range moments(dst) {
				if math.Abs(got-tt.want[k]) > 0.05 {
					t.Errorf("%v %v, %s: moments %v, want %v", tt.mode, tt.mask, how, moments(dst), tt.want)
				}
			}
		}
		tt.mode.Draw(dst, tt.mask, -1, rng)
		check("plainly")
		if tt.mode <= Poisson {
			x := NewSizes(tt.mode.String(), tt.mask, 0)
			x.Draw(dst, -1, rng, words)
			check("from words")
		}
	}
}

// One member learns: the one that is followed, or any.
func TestOneMember(t *testing.T) {
	rng, _ := random()
	const k, n = 4, 4000
	for _, tt := range []struct {
		mode     Mode
		followed int
		want     [k]float64
	}{
		{Drawn, 2, [k]float64{0, 0, n, 0}}, {Drawn, -1, [k]float64{n / k, n / k, n / k, n / k}},
		{Independent, 2, [k]float64{n / k, n / k, n / k, n / k}},
	} {
		var times [k]float64
		dst := make([]float64, k)
		for range n {
			tt.mode.Draw(dst, 0, tt.followed, rng)
			for m, w := range dst {
				times[m] += w
			}
		}
		for m := range times { // the standard deviation is 27
			if math.Abs(times[m]-tt.want[m]) > 150 {
				t.Errorf("%v, member %d followed: learned %v times, want %v", tt.mode, tt.followed, times, tt.want)
				break
			}
		}
	}
}

// A weight becomes a step size: ν steps of a size are 1−(1−size)^ν, others at most 1.
func TestSizes(t *testing.T) {
	const size = 0.25
	for mode := All; mode <= Poisson; mode++ {
		rng, words := random()
		weights, sizes := make([]float64, 1000), make([]float64, 1000)
		counted, sized := NewSizes(mode.String(), mask, 0), NewSizes(mode.String(), mask, size)
		counted.Draw(weights, 3, rng, words)
		words.Seed(1, 2)
		sized.Draw(sizes, 3, rng, words)
		for k, w := range weights {
			want := min(size*w, 1)
			if mode == Poisson {
				want = 1 - math.Pow(1-size, w)
			}
			if sizes[k] != want {
				t.Fatalf("%v: a weight of %v is a step of %v, want %v", mode, w, sizes[k], want)
			}
		}
	}
}

// Every number of 32 bits is as often n as Poisson(1) says, to one in 2³².
func TestPoissonTable(t *testing.T) {
	cdf, term, last := 0.0, 1/math.E, uint64(0)
	for n := range 10 {
		cdf += term
		term /= float64(n + 1)
		end := uint64(cdf * (1 << 32))
		if poisson(last) != n || poisson(end-1) != n || poisson(end) != n+1 {
			t.Errorf("%d is not from %d to %d", n, last, end)
		}
		last = end
	}
	if n := poisson(math.MaxUint32); n < 10 || n >= len(poissonBelow) {
		t.Errorf("the largest number is %d", n)
	}
}

func TestNames(t *testing.T) {
	for mode := All; mode <= Arrivals; mode++ {
		if got, err := Parse(mode.String(), Arrivals); err != nil || got != mode {
			t.Errorf("%v reads back as %v, %v", mode, got, err)
		}
	}
	for _, name := range []string{"some", "poisson", ""} {
		if _, err := Parse(name, Exponential); err == nil {
			t.Errorf("mode %q has been read", name)
		}
	}
	if got := Mode(17).String(); got != "Mode(17)" {
		t.Errorf("a mode out of range is called %q", got)
	}
}

// BenchmarkDraw is a step of 16 members.
func BenchmarkDraw(b *testing.B) {
	for _, mode := range []Mode{Bernoulli, Exponential, Poisson} {
		rng, words := random()
		dst, x := make([]float64, 16), NewSizes(mode.String(), 0.5, 0.1)
		b.Run(mode.String()+"/plain", func(b *testing.B) {
			for b.Loop() {
				mode.Draw(dst, 0.5, -1, rng)
			}
		})
		b.Run(mode.String()+"/words", func(b *testing.B) {
			for b.Loop() {
				x.Draw(dst, -1, rng, words)
			}
		})
	}
}
