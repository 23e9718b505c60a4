package members

import (
	"math"
	"testing"
)

// Every number of 32 bits is as often n as Poisson(1) says, to one in 2³².
func TestPoissonTable(t *testing.T) {
	var p poisson
	p.init()
	cdf, term, last := 0.0, 1/math.E, uint64(0)
	for n := range 10 {
		cdf += term
		term /= float64(n + 1)
		end := uint64(cdf * (1 << 32))
		if p.at(last) != n || p.at(end-1) != n || p.at(end) != n+1 {
			t.Errorf("%d is not from %d to %d", n, last, end)
		}
		last = end
	}
	if n := p.at(math.MaxUint32); n < 10 || n >= len(p.below) {
		t.Errorf("the largest number is %d", n)
	}
}
