package bandit

import (
	"math"

	"github.com/rlrun/rlrun/internal/root"
)

// peak is docs/theory.md §1.7 with x = β(q̄_j−μ): −W₀(−e^{−1−x}) is p at the
// maximum and β times φ*, and δ* + φ* = 1/β.
func (d ShiftedExponential) peak(known float64) peak {
	switch {
	case d.Mu > known:
		return infinitePeak
	case d.Mu == known:
		return peak{0, 1, 1 / d.Rate, -math.Log(d.Rate), false, true}
	}
	x := d.Rate * (known - d.Mu)
	return wPeak(x, d.Rate)
}

func wPeak(x, rate float64) peak {
	u, rest := lambertW0NegExp(x)
	log := u - 1 - x // of u
	if x < 1 {
		log = math.Log1p(-rest)
	}
	return peak{rest / rate, u, u / rate, log - math.Log(rate), true, true}
}

// peak is docs/theory.md §1.7, φ* = (√L−√r)² and δ* = √(rL)−r, without their
// cancellation.
func (d Uniform) peak(known float64) peak {
	width, r, room := d.Hi-d.Lo, known-d.Lo, d.Hi-known
	switch {
	case r < 0:
		return infinitePeak
	case room <= 0:
		return noPeak
	case r == 0:
		return peak{0, 1, width, math.Log(width), false, true}
	}
	sum := math.Sqrt(width) + math.Sqrt(r)
	root := room / sum
	return peak{math.Sqrt(r) * root, root / math.Sqrt(width), root * root, 2 * math.Log(root), true, true}
}

// peak solves x·ϕ(z) = Q(z)Φ(z) with z = (q̄_j−μ)/σ + x and δ = σx
// (docs/theory.md §1.7), in ratios that neither under- nor overflow. The root is
// unique and below 0.63.
func (d Gaussian) peak(known float64) peak {
	m := (known - d.Mu) / d.Sigma
	x := root.Find(func(x float64) float64 {
		z := math.Abs(m + x)
		return mills(z)*normalAbove(-z) - x
	}, 0, 0.63)
	log := math.Log(d.Sigma*x) + logNormalAbove(m+x) - logNormalAbove(-m-x)
	return peak{d.Sigma * x, normalAbove(m + x), math.Exp(log), log, true, true}
}
