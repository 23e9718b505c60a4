package policy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// IDS is variance-based information-directed sampling (Russo & Van Roy 2018). It selects arms with the
// distribution π that minimises
//
//	(Σ π_i Δ_i)² / Σ π_i v_i,
//
// where A* is the best arm, Δ_i = E max_j q_j − q̄_i is the regret and v_i = Var(E[q_i | A*]) measures
// how much arm i tells about A*. Some minimiser has at most two arms. A step takes time proportional
// to n²(M+1) for n arms of M values.
type IDS struct {
	Samples *int `json:"samples,omitempty" jsonschema:"minimum=2,maximum=1000000" jsonschema_description:"Number of values by which a belief that is not a population is represented. Default: 256, a choice of ours."`
}

func (p IDS) build(t *setting) (maker, error) {
	if t.populations() && p.Samples != nil {
		return nil, fmt.Errorf("samples has no effect with a belief of kind %s, whose members are used: leave it out", nameOf(t.belief))
	}
	samples := or(p.Samples, 256)
	return func(b beliefs) Policy { return newIDS(b, samples) }, nil
}

// ids gives each arm a finite set of equally likely values; arms are independent. For a population
// these are its members, and the result is exact. For any other belief they are samples, drawn again
// whenever the belief changes.
type ids struct {
	beliefs
	m      int
	values [][]float64 // of each arm, descending
	below  [][]float64 // below[i][l] = Σ_{k≥l} values[i][k]
	stale  []bool
	ratios [][]float64 // scratch
	chance []float64   // scratch

	regret, information []float64
}

func newIDS(b beliefs, samples int) *ids {
	n, m := b.len(), samples
	if b.populations != nil {
		m = b.populations[0].Len()
	}
	s := &ids{beliefs: b, m: m, stale: make([]bool, n), chance: make([]float64, m),
		regret: make([]float64, n), information: make([]float64, n)}
	s.values, s.below, s.ratios = grid(n, m), grid(n, m+1), grid(n, m)
	for i := range s.stale {
		s.stale[i] = true
	}
	return s
}

func grid(n, m int) [][]float64 {
	all := make([]float64, n*m)
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = all[i*m : (i+1)*m]
	}
	return rows
}

// refresh takes the values of the arms whose belief has changed.
func (s *ids) refresh(rng *rand.Rand) {
	for i, stale := range s.stale {
		if !stale {
			continue
		}
		s.stale[i] = false
		x := s.values[i]
		if s.populations != nil {
			s.populations[i].Members(x)
		} else {
			for k := range x {
				x[k] = s.learners[i].Sample(rng)
			}
			slices.Sort(x)
			slices.Reverse(x)
		}
		sum := 0.0
		for k := s.m - 1; k >= 0; k-- {
			sum += x[k]
			s.below[i][k] = sum
		}
	}
}

// measure computes regret and information. Arm a is A* with value x if every
// arm j < a has a value below x and every arm j > a one of at most x.
func (s *ids) measure() {
	n, size := s.len(), float64(s.m)
	clear(s.information)
	top := 0.0 // E max_j q_j
	for a := range n {
		for k := range s.chance {
			s.chance[k] = 1 / size
		}
		for j := range n {
			if j == a {
				continue
			}
			// l values of arm j are too large; ratios are the means of the rest.
			l, x := 0, s.values[j]
			for k, v := range s.values[a] {
				for l < s.m && (x[l] > v || x[l] == v && j < a) {
					l++
				}
				rest := float64(s.m - l)
				s.chance[k] *= rest / size
				if l < s.m {
					s.ratios[j][k] = s.below[j][l] / rest
				}
			}
		}
		alpha, own := 0.0, 0.0 // P(A* = a) and E[q_a 1{A* = a}]
		for k, p := range s.chance {
			alpha += p
			own += p * s.values[a][k]
		}
		if alpha == 0 {
			continue
		}
		top += own
		for j := range n {
			mean := own
			if j != a {
				mean = 0
				for k, p := range s.chance {
					if p > 0 {
						mean += p * s.ratios[j][k]
					}
				}
			}
			d := mean/alpha - s.average(j)
			s.information[j] += alpha * d * d
		}
	}
	for i := range s.regret {
		s.regret[i] = max(0, top-s.average(i))
	}
}

// average returns the mean of an arm's values.
func (s *ids) average(arm int) float64 { return s.below[arm][0] / float64(s.m) }

func (s *ids) SelectArm(rng *rand.Rand) int {
	s.refresh(rng)
	s.measure()
	i, j, p := s.minimise()
	if p < 1 && rng.Float64() >= p {
		return j
	}
	return i
}

// minimise returns arms i, j and the probability p of i in the best mixture of
// two. If no arm gives information, it returns the arm of least regret.
func (s *ids) minimise() (i, j int, p float64) {
	least := 0
	for a, d := range s.regret {
		if d < s.regret[least] {
			least = a
		}
	}
	best := math.Inf(1)
	i, j, p = least, least, 1
	consider := func(a, b int, q float64) {
		regret := q*s.regret[a] + (1-q)*s.regret[b]
		if r := regret * regret / (q*s.information[a] + (1-q)*s.information[b]); r < best {
			best, i, j, p = r, a, b, q
		}
	}
	if s.regret[least] <= 0 {
		return least, least, 1
	}
	for a := range s.regret {
		consider(a, a, 1)
		for b := range s.regret {
			// The ratio is convex in the probability q of a; this is its
			// stationary point. Of both orders of a pair the one with the
			// smaller q is the more accurate.
			dr, dv := s.regret[a]-s.regret[b], s.information[a]-s.information[b]
			if q := s.regret[b]/dr - 2*s.information[b]/dv; q > 0 && q < 1 {
				consider(a, b, q)
			}
		}
	}
	return i, j, p
}

func (s *ids) Update(arm int, reward float64, rng *rand.Rand) {
	s.update(arm, reward, rng)
	s.stale[arm] = true
}
