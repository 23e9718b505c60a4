package mdp

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Simulator draws a step of a model that need not be known.
type Simulator func(s, a int, rng *rand.Rand) (next int, reward float64)

// CouplingOptions govern Couple. The zero value is useful.
type CouplingOptions struct {
	Eta   float64 // threshold in total variation; default 0.25
	Runs  int     // default 1000
	Steps int     // length at which a run that has not met is given up; default 10,000
	// CommonNumbers gives both copies the same random numbers at each step. Copies
	// that respond alike to them meet sooner, others may never meet; without it
	// they are independent until they meet.
	CommonNumbers bool
	Confidence    float64 // of High and of the advantage's interval; default 0.95
	Seed          uint64
}

// Coupling is an upper bound on the exploration mixing time of one (s,a) from
// simulation (docs/theory.md §2.5, item 3).
type Coupling struct {
	// Tail[T-1] is the share of runs that have not met after T steps; its
	// expectation is at least the total variation at T.
	Tail []float64
	// T is the first time with Tail below η, an estimate of an upper bound of T_η.
	// High is that bound with the given confidence for each time (Clopper & Pearson
	// 1934). Never if no time within Steps is.
	T, High int
	// Advantage estimates the undiscounted advantage of a in s over the policy, by
	// the difference of rewards until the copies meet, with its standard error. It
	// is biased if some runs do not meet, of which Unmet is the number.
	Advantage, StdErr float64
	Unmet             int
}

// Couple runs two copies from s, one that takes a first and then follows π, one
// that follows π throughout, until they meet; from then on they are the same.
// P(not met after T) ≥ TV after T steps for any coupling.
func Couple(sim Simulator, pi Deterministic, s, a int, o CouplingOptions) (*Coupling, error) {
	if s < 0 || s >= len(pi) {
		return nil, fmt.Errorf("mdp: state %d is outside 0..%d", s, len(pi)-1)
	}
	return couple(s, pi[s], a, o, func(x, y, b, c int, rng *rand.Rand) (int, int, float64, error) {
		var u, v int
		var r, q float64
		if o.CommonNumbers {
			seed := rng.Uint64()
			u, r = sim(x, b, rand.New(rand.NewPCG(seed, 0)))
			v, q = sim(y, c, rand.New(rand.NewPCG(seed, 0)))
		} else {
			u, r = sim(x, b, rng)
			v, q = sim(y, c, rng)
		}
		if min(u, v) < 0 || max(u, v) >= len(pi) {
			return 0, 0, 0, fmt.Errorf("mdp: the simulator leads to a state outside 0..%d", len(pi)-1)
		}
		return u, v, r - q, nil
	}, pi)
}

// CoupleModel is Couple for a known model, with the step-wise maximal coupling:
// at every step the copies meet with the largest probability that their next
// states allow. CommonNumbers does not apply.
func CoupleModel(m Model, pi Deterministic, s, a int, o CouplingOptions) (*Coupling, error) {
	if err := checkPolicy(pi, m.NumStates(), m.NumActions()); err != nil {
		return nil, err
	}
	if s < 0 || s >= m.NumStates() || a < 0 || a >= m.NumActions() {
		return nil, fmt.Errorf("mdp: no state %d with an action %d", s, a)
	}
	var common []float64
	return couple(s, pi[s], a, o, func(x, y, b, c int, rng *rand.Rand) (int, int, float64, error) {
		next, p := m.Transition(x, b)
		other, q := m.Transition(y, c)
		// common[k] is the mass that both have on next[k].
		common = append(common[:0], make([]float64, len(next))...)
		rest := make([]float64, len(other)) // what the second has beyond it
		copy(rest, q)
		for i, j := 0, 0; i < len(next) && j < len(other); {
			switch {
			case next[i] < other[j]:
				i++
			case next[i] > other[j]:
				j++
			default:
				common[i] = min(p[i], q[j])
				rest[j] -= common[i]
				i++
				j++
			}
		}
		k := draw(p, rng)
		u := int(next[k])
		v := u
		if rng.Float64()*p[k] >= common[k] { // the first is on its own
			left := 0.0
			for _, w := range rest {
				left += w
			}
			if left > 0 {
				for j := range rest {
					rest[j] /= left
				}
				v = int(other[draw(rest, rng)])
			}
		}
		return u, v, m.Reward(x, b) - m.Reward(y, c), nil
	}, pi)
}

// couple runs the pairs; step moves both copies with their actions and returns
// the difference of rewards.
func couple(s, own, a int, o CouplingOptions, step func(x, y, b, c int, rng *rand.Rand) (int, int, float64, error), pi Deterministic) (*Coupling, error) {
	setDefault(&o.Runs, 1000)
	setDefault(&o.Steps, 10_000)
	if o.Eta == 0 {
		o.Eta = 0.25
	}
	if o.Confidence == 0 {
		o.Confidence = 0.95
	}
	if !(o.Eta > 0) || !(o.Confidence > 0 && o.Confidence < 1) {
		return nil, fmt.Errorf("mdp: threshold %v or confidence %v is out of range", o.Eta, o.Confidence)
	}
	met := make([]int, o.Steps+2) // runs that meet at each time
	difference := make([]float64, o.Runs)
	out := &Coupling{T: Never, High: Never}
	longest := 1
	for i := range o.Runs {
		rng := rand.New(rand.NewPCG(o.Seed, uint64(i)))
		x, y, b, c := s, s, a, own
		t := 0
		for t < o.Steps && (t == 0 || x != y) {
			var d float64
			var err error
			if x, y, d, err = step(x, y, b, c, rng); err != nil {
				return nil, err
			}
			difference[i] += d
			b, c = pi[x], pi[y]
			t++
		}
		if x != y {
			out.Unmet++
			t++ // later than all
		}
		met[t]++
		longest = max(longest, min(t, o.Steps))
	}
	var spread float64
	out.Advantage, spread = stat.MeanStdDev(difference, nil)
	out.StdErr = spread / math.Sqrt(float64(o.Runs))
	apart := o.Runs
	for t := 1; t <= longest; t++ {
		apart -= met[t]
		out.Tail = append(out.Tail, float64(apart)/float64(o.Runs))
		if out.T == Never && out.Tail[t-1] < o.Eta {
			out.T = t
		}
		if out.High == Never && upper(apart, o.Runs, o.Confidence) < o.Eta {
			out.High = t
		}
	}
	return out, nil
}

// upper is the one-sided upper confidence bound of Clopper & Pearson on a
// probability of which k of n trials were successes.
func upper(k, n int, confidence float64) float64 {
	if k >= n {
		return 1
	}
	return distuv.Beta{Alpha: float64(k + 1), Beta: float64(n - k)}.Quantile(confidence)
}
