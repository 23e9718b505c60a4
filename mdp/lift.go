package mdp

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// liftLimit is the largest number of states for which powers of P are formed.
const liftLimit = 512

// maxDoublings bounds the time reached by lifting: 2^41 steps.
const maxDoublings = 40

// lifter counts steps by binary lifting with the powers P^(2^j), which is valid
// for conditions that are monotone in time.
type lifter struct {
	powers []*mat.Dense
}

func newLifter(c *Chain) *lifter {
	n := c.NumStates()
	p := mat.NewDense(n, n, nil)
	for s := range n {
		next, prob := c.Row(s)
		for k, t := range next {
			p.Set(s, int(t), prob[k])
		}
	}
	return &lifter{powers: []*mat.Dense{p}}
}

// negligible is a probability that cannot matter to a distance of 1e-12, nor can
// what it is multiplied by. Products of smaller ones would be denormal, and slow.
const negligible = 1e-150

// power returns P^(2^j). Rows are rescaled to sum to one at every squaring, so
// that roundoff does not make mass leak over 1e9 steps.
func (l *lifter) power(j int) *mat.Dense {
	for len(l.powers) <= j {
		last := l.powers[len(l.powers)-1]
		n, _ := last.Dims()
		square := mat.NewDense(n, n, nil)
		square.Mul(last, last)
		for s := range n {
			row := square.RawRowView(s)
			sum := 0.0
			for _, x := range row {
				sum += x
			}
			for i := range row {
				if row[i] /= sum; row[i] < negligible {
					row[i] = 0
				}
			}
		}
		l.powers = append(l.powers, square)
	}
	return l.powers[j]
}

// steps returns one number for each group of rows of v. It is the smallest
// number n of steps for which above is false for the norms ‖v_i P^n‖₁ of the
// group. It is 0 if above is false at once, and Never if it is true for 2^41
// steps. above is monotone: once false it stays so. Rows of v sum to zero;
// their roundoff is removed.
func (l *lifter) steps(v *mat.Dense, groups [][]int, above func(group int, norms []float64) bool) []int {
	balance(v)
	rows, n := v.Dims()
	norms := make([]float64, rows)
	test := func(v *mat.Dense, g int) bool {
		for _, i := range groups[g] {
			norms[i] = 0
			for _, x := range v.RawRowView(i) {
				norms[i] += math.Abs(x)
			}
		}
		return above(g, norms)
	}
	out := make([]int, len(groups))
	pending := false
	for g := range groups {
		if test(v, g) {
			out[g] = 1
			pending = true
		}
	}
	if !pending {
		return out
	}
	next := mat.NewDense(rows, n, nil)
	top := 0
	for ; top <= maxDoublings; top++ { // the first power after which no group is above
		next.Mul(v, l.power(top))
		balance(next)
		any := false
		for g := range groups {
			if out[g] > 0 && test(next, g) {
				any = true
			}
		}
		if !any {
			break
		}
	}
	current := mat.DenseCopyOf(v)
	for j := min(top, maxDoublings); j >= 0; j-- {
		next.Mul(current, l.power(j))
		balance(next)
		for g := range groups {
			if out[g] > 0 && test(next, g) { // still above: go there
				for _, i := range groups[g] {
					current.SetRow(i, next.RawRowView(i))
				}
				out[g] += 1 << j
			}
		}
	}
	for g := range groups {
		if out[g] >= 1<<(maxDoublings+1) {
			out[g] = Never
		}
	}
	return out
}

// balance makes the sum of each row of v zero again, at its largest entry.
// Roundoff in the sum would never be forgotten. In a slow chain it would shift
// the time at which a small norm is reached.
func balance(v *mat.Dense) {
	rows, _ := v.Dims()
	for i := range rows {
		row := v.RawRowView(i)
		sum, at := 0.0, 0
		for k, x := range row {
			sum += x
			if math.Abs(x) > math.Abs(row[at]) {
				at = k
			}
		}
		row[at] -= sum
	}
}
