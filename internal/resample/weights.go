// Package resample draws the weights with which the members of an ensemble learn from
// an observation: the online bootstrap (Oza & Russell 2001). Every agent with members
// draws here, whatever its members are: estimates of arms, tables, functions or models.
package resample

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Mode is the distribution of the members' weights.
type Mode int

const (
	All             Mode = iota // 1 for every member
	Drawn                       // 1 for the member that selected the action, a random one if none did; else 0
	Bernoulli                   // 1 with a probability, the mask, else 0 (Osband et al. 2016)
	Exponential                 // Exp(1): the Bayesian bootstrap (Rubin 1981)
	Poisson                     // Poisson(1) (Oza & Russell 2001)
	Independent                 // 1 for a random member, whichever selected the action; else 0
	DoubleOrNothing             // 2 or 0, with probability one half each (Owen & Eckles 2012)
	Arrivals                    // Poisson(1), drawn as arrivals within a unit of time
)

var names = []string{"all", "drawn", "bernoulli", "exponential", "poisson", "independent", "double-or-nothing", "arrivals"}

// String returns the name of the mode in configs, such as "all".
func (m Mode) String() string {
	if m < 0 || int(m) >= len(names) {
		return fmt.Sprintf("Mode(%d)", int(m))
	}
	return names[m]
}

// Parse reads the name of one of the modes up to last.
func Parse(name string, last Mode) (Mode, error) {
	m := slices.Index(names[:last+1], name)
	if m < 0 {
		return 0, fmt.Errorf("unknown update mode %q (one of %v)", name, names[:last+1])
	}
	return Mode(m), nil
}

// Draw writes the weight of every member into dst. mask is the probability of Bernoulli.
// followed is the member that selected the action, -1 if none did.
func (m Mode) Draw(dst []float64, mask float64, followed int, rng *rand.Rand) {
	switch m {
	case All:
		for k := range dst {
			dst[k] = 1
		}
	case Drawn, Independent:
		if followed < 0 || m == Independent {
			followed = rng.IntN(len(dst))
		}
		clear(dst)
		dst[followed] = 1
	case Bernoulli:
		for k := range dst {
			w := 0
			if rng.Float64() < mask { // without a branch that cannot be predicted
				w = 1
			}
			dst[k] = float64(w)
		}
	case Exponential:
		for k := range dst {
			dst[k] = rng.ExpFloat64()
		}
	case Poisson:
		for k := range dst {
			u := rng.Float64()
			n := int(poissonGuide[int(u*256)])
			for n < len(poissonCDF) && u >= poissonCDF[n] {
				n++
			}
			dst[k] = float64(n)
		}
	case DoubleOrNothing:
		for k := range dst {
			dst[k] = float64(2 * rng.IntN(2))
		}
	case Arrivals:
		for k := range dst {
			dst[k] = 0
			for t := rng.ExpFloat64(); t < 1; t += rng.ExpFloat64() {
				dst[k]++
			}
		}
	}
}

// Poisson(1) by inversion with a guide table (Chen & Asau 1974). poissonCDF[n] is P(ν ≤ n),
// up to where it rounds to one. poissonGuide[b] is the first ν that a uniform number of at
// least b/256 allows.
var poissonCDF, poissonGuide = func() (cdf [19]float64, guide [256]uint8) {
	sum, term := 0.0, 1.0
	for n := range cdf {
		sum += term
		cdf[n] = sum / math.E
		term /= float64(n + 1)
	}
	n := uint8(0)
	for b := range guide {
		for cdf[n] <= float64(b)/256 {
			n++
		}
		guide[b] = n
	}
	return cdf, guide
}()
