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

// cycle solves a chain in closed states, among which is one closed class, by the excursions from a
// reference state of this class. It returns the mean reward per step, which is the reward of a cycle
// over its duration, and that. The value of a state is its lead over the mean until the cycle
// closes, 0 in the reference state. place is scratch, by state.
func (r *reduction) cycle(states []int, reference int, place []int, row func(s int) ([]int32, []float64), reward func(s int) float64, value []float64) (mean, duration float64) {
	n := 0
	for _, s := range states {
		if s != reference {
			place[s] = n
			n++
		}
	}
	r.reset(n)
	for _, s := range states {
		if s == reference {
			continue
		}
		i := place[s]
		next, prob := row(s)
		for k, t := range next {
			if int(t) == reference {
				r.leave[i] = prob[k]
			} else {
				r.q[i*n+place[t]] = prob[k]
			}
		}
		r.f[0][i], r.f[1][i] = reward(s), 1
	}
	r.solve()
	total, duration := reward(reference), 1.0
	next, prob := row(reference)
	for k, t := range next {
		if int(t) != reference {
			total += prob[k] * r.f[0][place[t]]
			duration += prob[k] * r.f[1][place[t]]
		}
	}
	mean = total / duration
	for _, s := range states {
		value[s] = 0
		if s != reference {
			value[s] = r.f[0][place[s]] - mean*r.f[1][place[s]]
		}
	}
	return mean, duration
}
