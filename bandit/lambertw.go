package bandit

import (
	"math"

	"github.com/rlrun/rlrun/internal/root"
)

// lambertW0NegExp returns u = −W₀(−exp(−1−x)) in (0,1] for x ≥ 0, and 1−u. Each
// has full relative accuracy, also near the branch point (x → 0) and where
// exp(−1−x) underflows. It is the root u ≤ 1 of u − ln u = 1 + x.
func lambertW0NegExp(x float64) (u, rest float64) {
	switch {
	case !(x >= 0):
		return math.NaN(), math.NaN()
	case x < 1:
		rest = root.Find(func(v float64) float64 { return x - logResidue(v) }, 0, 1)
		return 1 - rest, rest
	}
	u = root.Find(func(u float64) float64 { return u - math.Log(u) - 1 - x }, math.Exp(-1-x), math.Exp(-x))
	return u, 1 - u
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
