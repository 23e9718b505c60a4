package bandit

import "math"

// lambertW0NegExp returns u = −W₀(−exp(−1−x)) in (0,1] for x ≥ 0, and 1−u. Each
// has full relative accuracy, also near the branch point (x → 0) and where
// exp(−1−x) underflows (ln u = u−1−x). It is the root u ≤ 1 of u − ln u = 1 +
// x.
func lambertW0NegExp(x float64) (u, rest float64) {
	switch {
	case !(x >= 0):
		return math.NaN(), math.NaN()
	case x < 1:
		v := x
		if x > 0 {
			v = fixBranch(branchSeries(math.Sqrt(-2*math.Expm1(-x))), x)
		}
		return 1 - v, v
	}
	// u = exp(u−1−x), by Newton's method on u − exp(u−1−x).
	u = math.Exp(-1 - x)
	for range 20 {
		e := math.Exp(u - 1 - x)
		step := (u - e) / (1 - e)
		u -= step
		if math.Abs(step) <= 1e-16*u {
			break
		}
	}
	return u, 1 - u
}

// branchSeries is 1 + W(−exp(−1−x)) to fourth order in s = ±√(2(1−e^{−x})).
func branchSeries(s float64) float64 {
	return s * (1 - s*(1.0/3-s*(11.0/72-s*43/540)))
}

// fixBranch improves the root v of −v − ln(1−v) = x by Newton's method.
func fixBranch(v, x float64) float64 {
	for range 20 {
		step := (logResidue(v) - x) * (1 - v) / v
		v -= step
		if math.Abs(step) <= 1e-16*math.Abs(v) {
			break
		}
	}
	return v
}

// logResidue is −v − ln(1−v) = v²/2 + v³/3 + …
func logResidue(v float64) float64 {
	if math.Abs(v) > 0.1 {
		return -v - math.Log1p(-v)
	}
	sum, term := 0.0, v
	for n := 2.0; n < 40; n++ {
		term *= v
		next := sum + term/n
		if next == sum {
			break
		}
		sum = next
	}
	return sum
}

// lambertW0Exp is W₀(exp(t)) for any t, −Inf and +Inf included: the root of
// w + ln w = t.
func lambertW0Exp(t float64) float64 {
	if t < -40 {
		return math.Exp(t) // w = eᵗ(1 − eᵗ + …)
	}
	w := max(1, t)
	if t < 1 {
		w = math.Exp(t) / (1 + math.Exp(t))
	} else if t > 3 {
		w = t - math.Log(t)
	}
	if math.IsInf(t, 1) {
		return t
	}
	for range 50 {
		step := (w + math.Log(w) - t) * w / (1 + w)
		w -= step
		if w <= 0 {
			w = (w + step) / 2
			continue
		}
		if math.Abs(step) <= 1e-16*w {
			break
		}
	}
	return w
}
