package policy

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestMeasurePlainly enumerates all joint values of the arms.
func TestMeasurePlainly(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n, k := rapid.IntRange(1, 4).Draw(rt, "arms"), rapid.IntRange(1, 4).Draw(rt, "members")
		members := make([][]float64, n)
		for i := range members {
			for range k { // few values: ties
				members[i] = append(members[i], float64(rapid.IntRange(0, 4).Draw(rt, "q"))/4)
			}
		}
		b := populations(t, members...)
		s := newIDS(b, 0)
		s.refresh(nil)
		s.measure()

		alpha := make([]float64, n)
		given := grid(n, n) // given[a][i] = E[q_i 1{A* = a}]
		top := 0.0
		joint := 1
		for range n {
			joint *= k
		}
		for code := range joint {
			q := make([]float64, n)
			c := code
			for i := range q {
				q[i], c = members[i][c%k], c/k
			}
			a := argmax(n, func(i int) float64 { return q[i] })
			p := 1 / float64(joint)
			alpha[a] += p
			top += p * q[a]
			for i := range q {
				given[a][i] += p * q[i]
			}
		}
		for i := range n {
			v := 0.0
			for a := range n {
				if alpha[a] > 0 {
					d := given[a][i]/alpha[a] - b.mean(i)
					v += alpha[a] * d * d
				}
			}
			if math.Abs(v-s.information[i]) > 1e-12 {
				rt.Fatalf("information of arm %d is %v, want %v (%v)", i, s.information[i], v, members)
			}
			if d := top - b.mean(i); math.Abs(d-s.regret[i]) > 1e-12 {
				rt.Fatalf("regret of arm %d is %v, want %v (%v)", i, s.regret[i], d, members)
			}
		}
	})
}

// TestMinimisePlainly compares with a search over mixtures of two arms.
func TestMinimisePlainly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5).Draw(t, "arms")
		s := &ids{}
		for range n {
			number := rapid.Map(rapid.IntRange(0, 1e6), func(k int) float64 { return float64(k) / 1e6 })
			s.regret = append(s.regret, number.Draw(t, "regret"))
			s.information = append(s.information, rapid.OneOf(rapid.Just(0.0), number).Draw(t, "information"))
		}
		ratio := func(i, j int, p float64) float64 {
			d, v := p*s.regret[i]+(1-p)*s.regret[j], p*s.information[i]+(1-p)*s.information[j]
			if d == 0 {
				return 0
			}
			return d * d / v
		}
		i, j, p := s.minimise()
		best := ratio(i, j, p)
		for a := range n {
			for b := range n {
				for q := 0.0; q <= 1; q += 1.0 / 256 {
					if r := ratio(a, b, q); r < best*(1-1e-9) {
						t.Fatalf("(%d,%d,%v) has the ratio %v, but (%d,%d,%v) %v", i, j, p, best, a, b, q, r)
					}
				}
			}
		}
	})
}

// TestIDSDistribution selects the two arms of the mixture as often as it says.
func TestIDSDistribution(t *testing.T) {
	b := populations(t, []float64{0.9, 0.6, 0.2}, []float64{0.8, 0.9, 0.2}, []float64{0.6, 0.9, 0.8})
	s := newIDS(b, 0)
	s.refresh(nil)
	s.measure()
	i, j, p := s.minimise()
	if i == j || p < 0.05 || p > 0.95 {
		t.Fatalf("arms %d and %d with probability %v: no mixture to test", i, j, p)
	}
	probs := make([]float64, 3)
	probs[i] += p
	probs[j] += 1 - p
	agree(t, "information-directed sampling", s, 1, 100_000, probs)
}
