// Package root finds where a function changes sign.
package root

import "math"

// Find returns where f, positive at lo and negative at hi, changes sign, to
// about the spacing of floating point numbers. It uses the method of
// Chandrupatla (1997): inverse quadratic interpolation guarded by bisection.
func Find(f func(float64) float64, lo, hi float64) float64 {
	// a and b enclose the root, b being the newer; c is the point before.
	a, b := hi, lo
	fa, fb := f(a), f(b)
	if !(fa < 0 && fb > 0) {
		// No change of sign: the end nearer to zero.
		if math.Abs(fa) < math.Abs(fb) {
			return a
		}
		return b
	}
	t := 0.5
	for range 2000 {
		x := a + t*(b-a)
		if x == a || x == b {
			x = a + (b-a)/2
		}
		if x == a || x == b {
			break
		}
		fx := f(x)
		if fx == 0 {
			return x
		}
		c, fc := a, fa
		if (fx > 0) == (fa > 0) {
			a, fa = x, fx
		} else {
			c, fc = b, fb
			b, fb = a, fa
			a, fa = x, fx
		}
		best := a
		if math.Abs(fb) < math.Abs(fa) {
			best = b
		}
		least := 0x1p-53 * math.Abs(best) / math.Abs(b-a)
		if least >= 0.5 {
			return best
		}
		t = 0.5
		xi, phi := (a-b)/(c-b), (fa-fb)/(fc-fb)
		if phi*phi < xi && (1-phi)*(1-phi) < 1-xi {
			t = fa/(fb-fa)*fc/(fb-fc) + (c-a)/(b-a)*fa/(fc-fa)*fb/(fc-fb)
		}
		t = min(max(t, least), 1-least)
	}
	return a
}
