package mdp

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// krylov solves (I−γP)v = r for the chain of one policy by GMRES (Saad & Schultz
// 1986). It is preconditioned from both sides by the triangles of I−γP, as in
// symmetric Gauss-Seidel sweeps. In the form of Eisenstat (1981) a product and its
// preconditioning cost one pass over the rows. Slow modes, sets of states that are
// hardly ever left, hold up sweeps for as long as they last, but cost this one
// iteration each. Where rows reach but a few states around their own, as in queues, it
// eliminates instead. Memory is kept between calls.
type krylov struct {
	n        int
	start    []int // row s is start[s] : start[s+1], from middle[s] on above the diagonal
	middle   []int
	next     []int32
	prob     []float64 // γP, without the diagonal
	diagonal []float64 // of I−γP
	reward   []float64
	basis    [][]float64
	columns  [][]float64 // of the triangle that Givens rotations make of the Hessenberg matrix
	cos, sin []float64
	left     []float64 // what is left of the residual, in the basis
	y        []float64
	passes   int // over the rows, so far
	width    int // how far a row reaches from the diagonal
	// eliminates says that narrow bands are eliminated. Agents' learned models are not, whose
	// width changes from one policy to the next.
	eliminates bool
	band       []float64 // of I−γP, eliminated: 2·width+1 places for each row
}

// narrow is up to which width a band is eliminated, at a cost of narrow² for each state.
const narrow = 8

// restart is the dimension of the Krylov space.
const restart = 40

// set takes the rows of a policy, without the transitions to one state if that is not negative.
func (k *krylov) set(m *Tabular, pi Deterministic, gamma float64, without int) {
	n := m.states
	if k.n != n {
		*k = krylov{n: n, eliminates: k.eliminates, start: make([]int, n+1), middle: make([]int, n), diagonal: make([]float64, n), reward: make([]float64, n),
			basis: make([][]float64, restart+1), columns: make([][]float64, restart), cos: make([]float64, restart), sin: make([]float64, restart),
			left: make([]float64, restart+1), y: make([]float64, n)}
		k.basis[0], k.basis[restart] = make([]float64, n), make([]float64, n)
		for j := range k.columns {
			k.columns[j] = make([]float64, j+2)
		}
	}
	k.next, k.prob, k.width = k.next[:0], k.prob[:0], 0
	for s, a := range pi {
		i := s*m.actions + a
		lo, hi := m.start[i], m.start[i+1]
		d, middle := 1.0, -1
		prob := m.prob[lo:hi]
		for j, t := range m.next[lo:hi] {
			if int(t) >= s && middle < 0 {
				middle = len(k.next)
			}
			if int(t) == without {
				continue
			}
			if int(t) == s {
				d -= gamma * prob[j]
				continue
			}
			k.next, k.prob = append(k.next, t), append(k.prob, gamma*prob[j])
			k.width = max(k.width, s-int(t), int(t)-s)
		}
		if middle < 0 {
			middle = len(k.next)
		}
		k.middle[s], k.start[s+1] = middle, len(k.next)
		k.diagonal[s], k.reward[s] = d, m.reward[i]
	}
}

// residual writes r + γPv − v to dst and returns its extremes.
func (k *krylov) residual(dst, v []float64) (lo, hi float64) {
	k.passes++
	lo, hi = math.Inf(1), math.Inf(-1)
	for s := range dst {
		x := k.reward[s] - k.diagonal[s]*v[s] + dotSparse(k.next[k.start[s]:k.start[s+1]], k.prob[k.start[s]:k.start[s+1]], v)
		dst[s] = x
		lo, hi = min(lo, x), max(hi, x)
	}
	return lo, hi
}

func dotSparse(next []int32, prob, v []float64) float64 {
	prob = prob[:len(next)]
	a, b := 0.0, 0.0 // two chains of additions, which do not wait for each other
	for len(next) >= 2 {
		a += prob[0] * v[next[0]]
		b += prob[1] * v[next[1]]
		next, prob = next[2:], prob[2:]
	}
	if len(next) == 1 {
		a += prob[0] * v[next[0]]
	}
	return a + b
}

// forward solves (D−L)x = x in place, L being what is below the diagonal.
func (k *krylov) forward(x []float64) {
	for s := range x {
		lo, hi := k.start[s], k.middle[s]
		x[s] = (x[s] + dotSparse(k.next[lo:hi], k.prob[lo:hi], x)) / k.diagonal[s]
	}
}

// backward solves (D−U)y = x, U being what is above the diagonal.
func (k *krylov) backward(y, x []float64) {
	for s := k.n - 1; s >= 0; s-- {
		lo, hi := k.middle[s], k.start[s+1]
		y[s] = (x[s] + dotSparse(k.next[lo:hi], k.prob[lo:hi], y)) / k.diagonal[s]
	}
}

// apply writes D(D−L)⁻¹(I−γP)(D−U)⁻¹x to dst. As I−γP = (D−L)+(D−U)−D, it is
// D(y + (D−L)⁻¹(x−Dy)) with y = (D−U)⁻¹x.
func (k *krylov) apply(dst, x []float64) {
	k.passes++
	k.backward(k.y, x)
	for s, y := range k.y {
		dst[s] = x[s] - k.diagonal[s]*y
	}
	k.forward(dst)
	for s, y := range k.y {
		dst[s] = k.diagonal[s] * (dst[s] + y)
	}
}

// solve improves v until r + γPv − v spans no more than 2·tolerance. Then it shifts
// v to the middle of the bounds that follow (see SolveDiscounted). The error of v
// is then at most half of the span, which is returned, over 1−γ. It gives up after
// limit restarts, or after patience restarts that hardly gain: a long chain with little
// discount needs more directions than a restart keeps.
func (k *krylov) solve(v []float64, gamma, tolerance float64, limit, patience int) (half float64) {
	// The largest element of the residual is about 1/√n of its norm. But GMRES reduces
	// a scaled residual; if the result is not small enough, it continues.
	enough := tolerance * math.Sqrt(float64(k.n)) / 4
	least, idle := math.Inf(1), 0
	for range limit {
		lo, hi := k.residual(k.basis[0], v)
		half = (hi - lo) / 2
		if idle++; half < 0.8*least {
			least, idle = half, 0
		}
		if half <= tolerance {
			shift := (hi + lo) / 2 / (1 - gamma)
			for s := range v {
				v[s] += shift
			}
			return half
		}
		if idle >= patience {
			return half
		}
		if k.eliminates && k.width <= narrow {
			k.eliminate(v)
			continue
		}
		k.iterate(v, enough)
		enough /= 10
	}
	lo, hi := k.residual(k.basis[0], v)
	return (hi - lo) / 2
}

// eliminate adds to v its correction, whose residual is in basis[0], by elimination within a narrow
// band. I−γP is diagonally dominant, so that it needs no pivots.
func (k *krylov) eliminate(v []float64) {
	k.passes += 2
	x, w := k.basis[0], 2*k.width+1
	k.band = resize(k.band, k.n*w)
	clear(k.band)
	for s := range x {
		row := k.band[s*w : (s+1)*w]
		row[k.width] = k.diagonal[s]
		for j := k.start[s]; j < k.start[s+1]; j++ {
			row[k.width+int(k.next[j])-s] = -k.prob[j]
		}
		for t := max(0, s-k.width); t < s; t++ {
			factor := row[k.width+t-s]
			if factor == 0 {
				continue
			}
			above := k.band[t*w+k.width : (t+1)*w]
			factor /= above[0]
			into := row[k.width+t-s:]
			for j := 1; j < len(above); j++ {
				into[j] -= factor * above[j]
			}
			x[s] -= factor * x[t]
		}
	}
	for s := k.n - 1; s >= 0; s-- {
		above := k.band[s*w+k.width : (s+1)*w]
		for j := 1; j < min(len(above), k.n-s); j++ {
			x[s] -= above[j] * x[s+j]
		}
		x[s] /= above[0]
	}
	floats.Add(v, x)
}

// relative writes to h the lead of each state over the mean reward per step, until the
// reference state is entered, to which set has left out the transitions. The mean is the
// reward of a cycle over its duration. It reports whether all is finite, as it is if every
// state leads there.
func (k *krylov) relative(h []float64, reference int) bool {
	duration := make([]float64, k.n)
	clear(h)
	copy(k.basis[0], k.reward)
	k.eliminate(h)
	for s := range duration {
		k.basis[0][s] = 1
	}
	k.eliminate(duration)
	k.residual(k.basis[0], h) // once more, for what rounding has left
	k.eliminate(h)
	mean, sum := h[reference]/duration[reference], 0.0
	for s := range h {
		h[s] -= mean * duration[s]
		sum += h[s]
	}
	return sum-sum == 0
}

// iterate is GMRES for the correction of v, whose residual is in basis[0], until the
// norm of the scaled residual is small enough.
func (k *krylov) iterate(v []float64, enough float64) {
	r := k.basis[0]
	k.forward(r)
	floats.Mul(r, k.diagonal)
	norm := floats.Norm(r, 2)
	if !(norm > 0) {
		return
	}
	floats.Scale(1/norm, r)
	k.left[0] = norm
	used := 0
	for j := range restart {
		if k.basis[j+1] == nil {
			k.basis[j+1] = make([]float64, k.n)
		}
		w, h := k.basis[j+1], k.columns[j]
		k.apply(w, k.basis[j])
		before := floats.Norm(w, 2)
		for i := range j + 1 {
			h[i] = floats.Dot(k.basis[i], w)
			floats.AddScaled(w, -h[i], k.basis[i])
		}
		length := floats.Norm(w, 2)
		if length <= 1e-12*before { // nothing new but rounding
			length = 0
		}
		for i := range j {
			h[i], h[i+1] = k.cos[i]*h[i]+k.sin[i]*h[i+1], k.cos[i]*h[i+1]-k.sin[i]*h[i]
		}
		q := math.Hypot(h[j], length)
		if q <= 1e-12*before {
			break
		}
		k.cos[j], k.sin[j] = h[j]/q, length/q
		h[j] = q
		k.left[j], k.left[j+1] = k.cos[j]*k.left[j], -k.sin[j]*k.left[j]
		used = j + 1
		if length == 0 || math.Abs(k.left[j+1]) <= enough {
			break
		}
		floats.Scale(1/length, w)
	}
	for i := used - 1; i >= 0; i-- { // back substitution
		for j := i + 1; j < used; j++ {
			k.left[i] -= k.columns[j][i] * k.left[j]
		}
		k.left[i] /= k.columns[i][i]
	}
	sum := k.basis[restart]
	clear(sum)
	for i := range used {
		floats.AddScaled(sum, k.left[i], k.basis[i])
	}
	k.backward(k.y, sum)
	floats.Add(v, k.y)
}
