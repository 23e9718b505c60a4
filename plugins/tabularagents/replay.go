package tabularagents

import (
	"math"

	"github.com/rlrun/rlrun/mdp"
)

// replay holds what the members of an ensemble have seen, with weights for each
// member, and makes the backups that solve
//
//	Q_k(s,a) = (w₀ prior_k(s,a) + Σ_i w_ki (r_i + γ max_b Q_k(s_i,b)))/(w₀ + Σ_i w_ki)
//
// over the steps i that began with (s,a): randomised value iteration in a table (Osband,
// Van Roy, Russo & Wen 2019), by prioritised sweeping (Moore & Atkeson 1993). Steps to the
// same state are kept as one. The memory grows with the number of distinct transitions
// seen, for every member.
type replay struct {
	*ensemble
	prior   []float64    // parallel to q
	told    []float64    // parallel to top: the values that pairs before have been told of
	rows    []replayRow  // by pair
	back    [][]leadsTo  // by state
	queues  []*mdp.Queue // by member: the pairs whose values are outdated
	large   float64      // the priority of a pair that has just been tried
	least   float64      // a smaller change of a value is not followed up
	turn    int          // the member whose turn it is, where none is followed
	member  int          // that was followed last
	steps   int          // for which it has been
	settled bool         // every member is up to date

	seen   []int32 // states in which an action was tried
	number []int32 // of a state in seen, or −1
	solver mdp.DiscountedSolver
	model  mdp.Tabular       // scratch of solve
	value  []float64         // scratch of solve
	policy mdp.Deterministic // scratch of solve
}

// replayRow is what was seen of a pair.
type replayRow struct {
	next   []int32
	weight []float64 // Σw of successor j and member k at j*K+k
	total  []float64 // Σw by member
	reward []float64 // Σwr by member
}

// leadsTo is successor number j of a pair.
type leadsTo struct{ pair, j int32 }

func newReplay(x *ensemble, states int) *replay {
	y := &replay{ensemble: x, prior: make([]float64, len(x.q)), told: make([]float64, len(x.top)), rows: make([]replayRow, len(x.mean)), back: make([][]leadsTo, states), number: make([]int32, states)}
	y.large = *x.High - *x.Low
	if x.Prior == "normal" {
		y.large = x.SD
	}
	if y.large == 0 {
		y.large = 1
	}
	y.least = 1e-4 * (1 - x.Gamma) * y.large
	for range x.Members {
		y.queues = append(y.queues, mdp.NewQueue(len(y.rows), y.large))
	}
	return y
}

// start begins a run; the ensemble has drawn its initial values.
func (y *replay) start() {
	copy(y.prior, y.q)
	copy(y.told, y.top)
	clear(y.rows)
	for s := range y.back {
		y.back[s] = y.back[s][:0]
	}
	for _, q := range y.queues {
		q.Clear(y.large)
	}
	y.seen = y.seen[:0]
	for s := range y.number {
		y.number[s] = -1
	}
	y.turn, y.member, y.steps, y.settled = 0, 0, 0, false
}

// solveCost is how many backups of all pairs seen a solution counts for.
const solveCost = 10

// follow says that member m is followed from now on. If as many backups were made since
// the last change as a solution costs, its values are solved for, else it makes that
// many backups. So a step costs twice its backups at most.
func (y *replay) follow(m int) {
	if m == y.member {
		return
	}
	if backups := y.Replays * y.steps; y.Gamma < 1 && backups >= solveCost*y.actions*len(y.seen) {
		y.solve(m)
	} else {
		y.sweep(m, backups)
	}
	y.member, y.steps = m, 0
}

// settle brings every member up to date. While one is followed, the others are not.
func (y *replay) settle() {
	if y.settled {
		return
	}
	y.settled = true
	for m := range y.Members {
		if y.Gamma < 1 {
			y.solve(m)
		} else {
			y.sweep(m, solveCost*y.actions*len(y.seen))
		}
	}
}

// solve solves the equations of member m. They are the equations of a model in which
// the weight of the prior is a probability to end with a reward of the prior. The same
// holds for states in which nothing has been tried. Where the solver fails, the values
// of before remain.
func (y *replay) solve(m int) {
	k, end := y.Members, len(y.seen)
	model, err := mdp.GenerateInto(&y.model, mdp.Definition{States: end + 1, Actions: y.actions}, func(s, a int, row *mdp.Row) {
		if s == end {
			row.Add(end, 1)
			return
		}
		i := int(y.seen[s])*y.actions + a
		from := &y.rows[i]
		n := *y.PriorWeight
		if from.total != nil {
			n += from.total[m]
		}
		if n == 0 {
			row.Add(end, 1)
			row.Reward(y.q[i*k+m])
			return
		}
		sum, rest := *y.PriorWeight*y.prior[i*k+m], 1.0
		if from.total != nil {
			sum += from.reward[m]
		}
		for j, u := range from.next {
			w := from.weight[j*k+m]
			if at := y.number[u]; at >= 0 {
				row.Add(int(at), w/n)
				rest -= w / n
			} else {
				sum += y.Gamma * w * y.top[int(u)*k+m]
			}
		}
		row.Add(end, max(0, rest))
		row.Reward(sum / n)
	})
	if err != nil {
		return
	}
	y.value, y.policy = y.value[:0], y.policy[:0]
	for _, s := range y.seen {
		y.value = append(y.value, y.top[int(s)*k+m])
		y.policy = append(y.policy, y.prefers(m, int(s)))
	}
	y.value, y.policy = append(y.value, 0), append(y.policy, 0)
	if _, err := y.solver.Solve(y.value, y.policy, model, y.Gamma, y.least); err != nil {
		return
	}
	y.queues[m].Clear(y.large)
	offset := y.value[end] // the solver shifts all values alike
	for at, s := range y.seen {
		for a := range y.actions {
			v := model.Reward(at, a)
			next, prob := model.Transition(at, a)
			for j, u := range next {
				v += y.Gamma * prob[j] * (y.value[u] - offset)
			}
			y.q[(int(s)*y.actions+a)*k+m] = v
		}
	}
	for _, s := range y.seen {
		i := int(s)*k + m
		y.top[i] = y.best(int(s)*y.actions, m)
		y.told[i] = y.top[i]
	}
}

// learn records a step from pair i to next, -1 for an end, and makes backups for the
// member that is followed. If none is followed, or all are to be compared, members take turns.
func (y *replay) learn(i int, r float64, next, followed int, compared bool) {
	y.settled = false
	weights := y.sizes(i, followed)
	k := len(weights)
	row := &y.rows[i]
	if s := i / y.actions; y.number[s] < 0 {
		y.number[s] = int32(len(y.seen))
		y.seen = append(y.seen, int32(s))
	}
	if row.total == nil {
		sums := make([]float64, 2*k)
		row.total, row.reward = sums[:k:k], sums[k:]
	}
	to := row.to(i, next, k, y)
	for m, w := range weights {
		row.total[m] += w
		row.reward[m] += w * r
		if to != nil {
			to[m] += w
		}
		if w > 0 {
			y.queues[m].Raise(i, y.large)
		}
	}
	if followed >= 0 {
		y.steps++
		y.sweep(followed, y.Replays)
		if !compared {
			return
		}
	}
	for range min(k, y.Replays) {
		y.turn = (y.turn + 1) % k
		y.sweep(y.turn, (y.Replays+k-1)/k)
	}
}

// to returns the weights of a successor of pair i, nil for an end.
func (row *replayRow) to(i, next, k int, y *replay) []float64 {
	if next < 0 {
		return nil
	}
	for j, u := range row.next {
		if int(u) == next {
			return row.weight[j*k : (j+1)*k]
		}
	}
	j := len(row.next)
	row.next = append(row.next, int32(next))
	row.weight = append(row.weight, make([]float64, k)...)
	y.back[next] = append(y.back[next], leadsTo{int32(i), int32(j)})
	return row.weight[j*k:]
}

// sweep makes backups for member m, so many at most.
func (y *replay) sweep(m, backups int) {
	queue, k := y.queues[m], y.Members
	for range backups {
		i := queue.Pop()
		if i < 0 {
			return
		}
		row := &y.rows[i]
		n := *y.PriorWeight + row.total[m]
		if n == 0 { // no step counts for the member, nor does its prior
			continue
		}
		v := 0.0
		for j, u := range row.next {
			v += row.weight[j*k+m] * y.top[int(u)*k+m]
		}
		y.q[i*k+m] = (*y.PriorWeight*y.prior[i*k+m] + row.reward[m] + y.Gamma*v) / n
		s := i / y.actions
		best := y.best(s*y.actions, m)
		y.top[s*k+m] = best
		change := math.Abs(best - y.told[s*k+m])
		if y.Gamma*change <= y.least {
			continue
		}
		y.told[s*k+m] = best
		for _, b := range y.back[s] {
			from := &y.rows[b.pair]
			p := y.Gamma * change * from.weight[int(b.j)*k+m] / (*y.PriorWeight + from.total[m])
			if p > y.least {
				queue.Raise(int(b.pair), p)
			}
		}
	}
}

// average computes the mean values of the members in s.
func (y *replay) average(s int) {
	k := y.Members
	for i := s * y.actions; i < (s+1)*y.actions; i++ {
		sum := 0.0
		for _, v := range y.q[i*k : (i+1)*k] {
			sum += v
		}
		y.mean[i] = sum / float64(k)
	}
}
