package bandit

import (
	"math"
	"testing"

	"github.com/rlrun/rlrun/internal/vectors"
	"pgregory.net/rapid"
)

// Both branches satisfy the equation in logarithms, ln(−W) + W = −(1+x); as it
// stands, W·e^W = z cancels. The residual is compared with what one rounding of
// W does to it, |1 + 1/W|·|W|·2⁻⁵³, and of x.
func TestLambertResidualInLogs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := math.Pow(10, rapid.Float64Range(-12, 6).Draw(t, "log10 x"))
		tol := 1e-15 * (1 + x)
		u, rest := LambertW0NegExp(x)
		if r := math.Log(u) - u + (1 + x); u > 1e-300 && !(math.Abs(r) <= tol) {
			t.Fatalf("W0: residual %v at x = %v", r, x)
		}
		// Near the branch point the same in 1+W, v²/2 + v³/3 + … = x.
		if r := logResidue(rest) - x; x < 1 && !(math.Abs(r) <= 1e-14*x) {
			t.Fatalf("1+W0: residual %v at x = %v", r, x)
		}
		if math.Abs(u+rest-1) > 1e-15 {
			t.Fatalf("u + (1−u) = %v", u+rest)
		}
		w := LambertWm1NegExp(x)
		if r := w - math.Log1p(w) - x; !(math.Abs(r) <= tol) {
			t.Fatalf("W−1: residual %v at x = %v", r, x)
		}
		if r := logResidue(-w) - x; x < 1 && !(math.Abs(r) <= 1e-14*x) {
			t.Fatalf("1+W−1: residual %v at x = %v", r, x)
		}
	})
}

func TestLambertInvertsItsFunction(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.Float64Range(-0.9, 300).Draw(t, "w")
		if got := LambertW0(w * math.Exp(w)); math.Abs(got-w) > 1e-13*(1+math.Abs(w))/(1+min(w, 0)) {
			t.Fatalf("W0(w·e^w) = %v, want %v", got, w)
		}
		v := rapid.Float64Range(-700, -1.1).Draw(t, "v")
		if got := LambertWm1(v * math.Exp(v)); math.Abs(got-v) > 1e-13*math.Abs(v)/math.Abs(1+1/v) {
			t.Fatalf("W−1(v·e^v) = %v, want %v", got, v)
		}
		e := rapid.Float64Range(-700, 700).Draw(t, "t")
		if w := lambertW0Exp(e); math.Abs(w+math.Log(w)-e) > 1e-15*(1+math.Abs(e)) {
			t.Fatalf("W0(e^%v) = %v", e, w)
		}
	})
}

func TestLambertValues(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		name      string
		got, want float64
		rel       float64
	}{
		// mpmath 1.3: lambertw(z, k) at the double z, 30 digits.
		{"W0(1)", LambertW0(1), 0.56714329040978387, 1e-15},
		{"W0(-0.1)", LambertW0(-0.1), -0.11183255915896297, 1e-15},
		{"W0(-0.36)", LambertW0(-0.36), -0.80608431597081762, 1e-15},
		{"W0(-0.3678794)", LambertW0(-0.3678794), -0.99952696660770053, 1e-14},
		{"W-1(-0.3678794)", LambertWm1(-0.3678794), -1.0004731826130854, 1e-14},
		{"W-1(-0.1)", LambertWm1(-0.1), -3.5771520639572971, 1e-15},
		{"W-1(-1e-300)", LambertWm1(-1e-300), -697.32277629546016, 1e-14},
		{"W0(1e300)", LambertW0(1e300), 684.24720862976085, 1e-14},
		{"W0(1e-300)", LambertW0(1e-300), 1e-300, 1e-15},
		{"W0(-1e-9)", LambertW0(-1e-9), -1.0000000010000001e-9, 1e-15},
		{"W0(inf)", LambertW0(inf), inf, 0},
		{"W-1(0)", LambertWm1(0), -inf, 0},
		{"W0(e^-inf)", lambertW0Exp(-inf), 0, 0},
		{"W0(e^inf)", lambertW0Exp(inf), inf, 0},
		{"W-1, x inf", LambertWm1NegExp(inf), inf, 0},
		// The double nearest to −1/e lies below it, the next one above.
		{"W0 at the branch point", LambertW0(-1 / math.E), -1, 0},
		{"1+W0 next to it", 1 + LambertW0(math.Nextafter(-1/math.E, 0)), 1.5304254128495171e-8, 1e-7},
	} {
		vectors.Close(t, c.name, c.got, c.want, c.rel, 0)
	}
	for name, got := range map[string]float64{
		"W0(-1)": LambertW0(-1), "W-1(-1)": LambertWm1(-1), "W-1(1)": LambertWm1(1), "W0(NaN)": LambertW0(math.NaN()),
		"W-1, x<0": LambertWm1NegExp(-1), "W0, x<0": first(LambertW0NegExp(-1)),
	} {
		if !math.IsNaN(got) {
			t.Errorf("%s = %v, want NaN", name, got)
		}
	}
	if u, rest := LambertW0NegExp(0); u != 1 || rest != 0 {
		t.Errorf("at the branch point: %v, %v", u, rest)
	}
}

func first[A, B any](a A, _ B) A { return a }
