package mdp

// reduction solves x = f + Qx for a substochastic matrix Q. It eliminates one
// state after the other without subtracting probabilities, as Grassmann, Taksar
// & Heyman (1985) do for stationary distributions. The diagonal 1−Q(k,k) is
// computed as the probability of going elsewhere. So chains with transition
// probabilities of 1e-12 are solved as accurately as others. From every state
// the chain must leave with positive probability, sooner or later. Memory is
// kept between calls.
type reduction struct {
	n     int
	q     []float64 // n×n, row major; the diagonal is not used
	leave []float64 // probability of leaving from each state; 1 − row sum of Q
	f     [2][]float64
}

// reset makes an empty system of n states.
func (r *reduction) reset(n int) {
	r.n = n
	r.q, r.leave = resize(r.q, n*n), resize(r.leave, n)
	clear(r.q)
	clear(r.leave)
	for c := range r.f {
		r.f[c] = resize(r.f[c], n)
		clear(r.f[c])
	}
}

// solve overwrites both right-hand sides f with their solutions x.
func (r *reduction) solve() {
	n := r.n
	f, g := r.f[0], r.f[1]
	for k := n - 1; k >= 0; k-- {
		last := r.q[k*n : k*n+k]
		out := r.leave[k]
		for _, p := range last {
			out += p
		}
		for j := range last { // row k becomes the jump chain
			last[j] /= out
		}
		leave := r.leave[k] / out
		f[k] /= out
		g[k] /= out
		for i := range k {
			if p := r.q[i*n+k]; p != 0 {
				row := r.q[i*n : i*n+k]
				for j, x := range last {
					row[j] += p * x
				}
				r.leave[i] += p * leave
				f[i] += p * f[k]
				g[i] += p * g[k]
			}
		}
	}
	for k := range n {
		for j, p := range r.q[k*n : k*n+k] {
			if p != 0 { // f[j] may be infinite
				f[k] += p * f[j]
				g[k] += p * g[j]
			}
		}
	}
}
