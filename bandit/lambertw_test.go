package bandit

import (
	"fmt"
	"math"
	"testing"

	"github.com/rlrun/rlrun/internal/vectors"
	"pgregory.net/rapid"
)

// The principal branch satisfies the equation in logarithms, ln(−W) + W = −(1+x); as it
// stands, W·e^W = z cancels. The residual is compared with what one rounding of
// W does to it, |1 + 1/W|·|W|·2⁻⁵³, and of x.
func TestLambertResidualInLogs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := math.Pow(10, rapid.Float64Range(-12, 6).Draw(t, "log10 x"))
		tol := 1e-15 * (1 + x)
		u, rest := lambertW0NegExp(x)
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
	})
}

func TestLambertValues(t *testing.T) {
	// mpmath 1.3: lambertw(−exp(−1−x)) at the double x, 30 digits.
	for x, want := range map[float64]float64{1e-10: 0.99998585793104286, 0.001: 0.95594280774095192, 0.1: 0.61681683179170516, 1.0: 0.15859433956303936, 10.0: 1.6701979744043483e-5, 100.0: 1.368539471173853e-44} {
		u, _ := lambertW0NegExp(x)
		vectors.Close(t, fmt.Sprint("x = ", x), u, want, 1e-15, 0)
	}
	for e, want := range map[float64]float64{math.Inf(-1): 0, math.Inf(1): math.Inf(1), 0: 0.56714329040978387} {
		vectors.Close(t, fmt.Sprint("W0(e^", e, ")"), lambertW0Exp(e), want, 1e-15, 0)
	}
	if u, _ := lambertW0NegExp(-1); !math.IsNaN(u) {
		t.Errorf("x below 0: %v, want NaN", u)
	}
	if u, rest := lambertW0NegExp(0); u != 1 || rest != 0 {
		t.Errorf("at the branch point: %v, %v", u, rest)
	}
}
