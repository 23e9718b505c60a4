package tabularagents

import (
	"math"
	"slices"

	"github.com/rlrun/rlrun/mdp"
)

// replay holds what the members of an ensemble have seen, with weights for each
// member, and makes the backups that solve
//
//	Q_k(s,a) = (w₀ prior_k(s,a) + Σ_i w_ki (r_i + γ max_b Q_k(s_i,b)))/(w₀ + Σ_i w_ki)
//
// over the steps i that began with (s,a): randomised value iteration in a table (Osband,
// Van Roy, Russo & Wen 2019), by prioritised sweeping (Moore & Atkeson 1993). Steps to the
// same state are kept as one. Memory besides the ensemble's is for seen states only: their pairs
// are numbered anew, those of seen[n] from n*actions on. It grows with the number of
// distinct transitions, for every member.
type replay struct {
	*ensemble
	prior   []float64    // initial values of member k and numbered pair i at i*K+k
	told    []float64    // of member k and seen[n] at n*K+k: the values that pairs before have been told of
	rows    []replayRow  // by numbered pair
	back    [][]leadsTo  // by state
	queues  []*mdp.Queue // by member: the numbered pairs whose values are outdated
	large   float64      // the priority of a pair that has just been tried
	least   float64      // a smaller change of a value is not followed up
	turn    int          // the member whose turn it is, where none is followed
	member  int          // that was followed last
	steps   int          // for which it has been
	settled bool         // every member is up to date

	seen    []int32 // states in which an action was tried
	number  []int32 // of a state in seen, or −1
	untried replayRow
	// Scratch of solve.
	solver mdp.DiscountedSolver `snapshot:"-"`
	model  mdp.Tabular          `snapshot:"-"`
	value  []float64            `snapshot:"-"`
	policy mdp.Deterministic    `snapshot:"-"`
}

// replayRow is what was seen of a pair.
type replayRow struct {
	next []int32
	sums []float64 // by member: Σw, then Σwr, then Σw of each successor; nil if nothing was seen
}

// weight returns Σw of successor j, by member.
func (row *replayRow) weight(j, k int) []float64 { return row.sums[(2+j)*k:][:k] }

// leadsTo is successor number j of a numbered pair.
type leadsTo struct{ pair, j int32 }

func newReplay(x *ensemble, states int) *replay {
	y := &replay{ensemble: x, back: make([][]leadsTo, states), number: make([]int32, states)}
	for s := range y.back {
		y.back[s] = []leadsTo{} // as after another run, so that saved agents are equal
	}
	y.large = *x.High - *x.Low
	if x.Prior == "normal" {
		y.large = x.SD
	}
	if y.large == 0 {
		y.large = 1
	}
	y.least = 1e-4 * (1 - x.Gamma) * y.large
	for range x.Members {
		y.queues = append(y.queues, mdp.NewQueue(0, y.large))
	}
	return y
}

// start begins a run; the ensemble has drawn its initial values.
func (y *replay) start() {
	clear(y.rows)
	y.prior, y.told, y.rows = y.prior[:0], y.told[:0], y.rows[:0]
	for s := range y.back {
		y.back[s] = y.back[s][:0]
	}
	for _, q := range y.queues {
		q.Reset(y.large)
	}
	y.seen = y.seen[:0]
	for s := range y.number {
		y.number[s] = -1
	}
	y.turn, y.member, y.steps, y.settled = 0, 0, 0, false
}

// see numbers the pairs of state s, in which an action was tried, and returns its number.
func (y *replay) see(s int) int {
	if y.number[s] < 0 {
		y.number[s] = int32(len(y.seen))
		y.seen = append(y.seen, int32(s))
		y.prior = append(room(y.prior, y.actions*y.Members), y.values(s)...)
		y.told = append(room(y.told, y.Members), y.top[s*y.Members:][:y.Members]...)
		y.rows = append(room(y.rows, y.actions), make([]replayRow, y.actions)...)
		for _, q := range y.queues {
			q.Grow(len(y.rows))
		}
	}
	return int(y.number[s])
}

// room returns x with room for n more, in less memory than append takes.
func room[E any](x []E, n int) []E {
	if n += len(x); n > cap(x) {
		x = append(make([]E, 0, n+n/8), x...)
	}
	return x
}

// pair returns what was seen of pair i, and its initial values by member.
func (y *replay) pair(i int) (row *replayRow, prior []float64) {
	n := int(y.number[i/y.actions])
	if n < 0 {
		return &y.untried, y.q[i*y.Members:][:y.Members]
	}
	i = n*y.actions + i%y.actions
	return &y.rows[i], y.prior[i*y.Members:][:y.Members]
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
		i := s*y.actions + a
		from := &y.rows[i]
		n := *y.PriorWeight
		if from.sums != nil {
			n += from.sums[m]
		}
		if n == 0 {
			row.Add(end, 1)
			row.Reward(y.q[(int(y.seen[s])*y.actions+a)*k+m])
			return
		}
		sum, rest := *y.PriorWeight*y.prior[i*k+m], 1.0
		if from.sums != nil {
			sum += from.sums[k+m]
		}
		for j, u := range from.next {
			w := from.weight(j, k)[m]
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
	for at, s := range y.seen {
		best := y.best(int(s)*y.actions, m)
		y.top[int(s)*k+m], y.told[at*k+m] = best, best
	}
}

// learn records a step from pair i to next, -1 for an end, and makes backups for the
// member that is followed. If none is followed, or all are to be compared, members take turns.
func (y *replay) learn(i int, r float64, next, followed int, compared bool) {
	y.settled = false
	weights := y.sizes(i, followed)
	k := len(weights)
	i = y.see(i/y.actions)*y.actions + i%y.actions
	row := &y.rows[i]
	to := row.to(i, next, k, y)
	total, reward := row.sums[:k], row.sums[k:][:k]
	for m, w := range weights {
		total[m] += w
		reward[m] += w * r
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

// to makes room for a step of numbered pair i. It returns the weights of its successor, nil
// for an end.
func (row *replayRow) to(i, next, k int, y *replay) []float64 {
	j := slices.Index(row.next, int32(next))
	if next >= 0 && j < 0 {
		j = len(row.next)
		row.next = append(row.next, int32(next))
		y.back[next] = append(y.back[next], leadsTo{int32(i), int32(j)})
	}
	if missing := (2+len(row.next))*k - len(row.sums); missing > 0 {
		row.sums = append(room(row.sums, missing), make([]float64, missing)...)
	}
	if next < 0 {
		return nil
	}
	return row.weight(j, k)
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
		n := *y.PriorWeight + row.sums[m]
		if n == 0 { // no step counts for the member, nor does its prior
			continue
		}
		v := 0.0
		for j, u := range row.next {
			v += row.sums[(2+j)*k+m] * y.top[int(u)*k+m]
		}
		number := i / y.actions
		s := int(y.seen[number])
		y.q[(s*y.actions+i%y.actions)*k+m] = (*y.PriorWeight*y.prior[i*k+m] + row.sums[k+m] + y.Gamma*v) / n
		best := y.best(s*y.actions, m)
		y.top[s*k+m] = best
		change := math.Abs(best - y.told[number*k+m])
		if y.Gamma*change <= y.least {
			continue
		}
		y.told[number*k+m] = best
		for _, b := range y.back[s] {
			from := &y.rows[b.pair]
			p := y.Gamma * change * from.sums[(2+int(b.j))*k+m] / (*y.PriorWeight + from.sums[m])
			if p > y.least {
				queue.Raise(int(b.pair), p)
			}
		}
	}
}
