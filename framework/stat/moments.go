package stat

import "math"

// Moments accumulates the mean of values and the sum of their squared deviations from it
// (Welford 1962). The zero value has no values. Squares of deviations above 1e150 overflow,
// and those below 1e-150 vanish, so such deviations are measured in another unit. The standard
// error is then neither infinite nor zero.
type Moments struct {
	N       int     // number of values
	Mean    float64 // of them; meaningless without values
	squares float64 // in units of 4^exponent
	// exponent is −600, 0 or 600.
	exponent int
}

// unit is the exponent of the unit for a deviation.
func unit(deviation float64) int {
	switch size := math.Abs(deviation); {
	case size > 0x1p500:
		return 600
	case size < 0x1p-500 && size > 0:
		return -600
	}
	return 0
}

// Add adds one value; NaN is no value.
func (m *Moments) Add(x float64) {
	if math.IsNaN(x) {
		return
	}
	m.N++
	d := x - m.Mean
	m.Mean += d / float64(m.N)
	if m.N == 1 {
		return
	}
	if u := unit(d); d != 0 && (u != 0 || m.exponent != 0) {
		if m.squares == 0 {
			m.exponent = u
		} else if u > m.exponent {
			m.squares = math.Ldexp(m.squares, 2*(m.exponent-u))
			m.exponent = u
		}
		m.squares += math.Ldexp(d, -m.exponent) * math.Ldexp(x-m.Mean, -m.exponent)
		return
	}
	m.squares += d * (x - m.Mean)
}

// StdErr is the standard error of the mean; NaN of fewer than two values.
func (m *Moments) StdErr() float64 {
	if m.N < 2 {
		return math.NaN()
	}
	n := float64(m.N)
	return math.Ldexp(math.Sqrt(m.squares/(n-1)/n), m.exponent)
}

// root is the square root of the sum of squared deviations.
func (m *Moments) root() float64 { return math.Ldexp(math.Sqrt(m.squares), m.exponent) }

func momentsOf(xs []float64) *Moments {
	m := &Moments{}
	for _, x := range xs {
		m.Add(x)
	}
	if m.N == 0 {
		m.Mean = math.NaN()
	}
	return m
}
