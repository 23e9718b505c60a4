package policy

import "slices"

// ranking keeps arms in descending order of a key, those with equal keys in the
// order of their numbers. As the keys of a bandit's arms move little at a time,
// it is a sorted array: changing a key takes one move for every key it passes.
type ranking struct {
	entries []entry // descending
	places  []int32 // entries[places[arm]].arm == arm
}

type entry struct {
	key float64
	arm int32
}

func (e entry) before(f entry) bool {
	return e.key > f.key || e.key == f.key && e.arm < f.arm
}

func newRanking(n int, key func(arm int) float64) ranking {
	r := ranking{make([]entry, n), make([]int32, n)}
	for i := range r.entries {
		r.entries[i].arm = int32(i)
	}
	r.build(key, 256) // as many moves as 32 arms in random order take
	return r
}

// rebuild computes all keys afresh. Few of them are out of order then.
func (r *ranking) rebuild(key func(arm int) float64) { r.build(key, 8*len(r.entries)) }

func (r *ranking) build(key func(arm int) float64, budget int) {
	for i := range r.entries {
		e := &r.entries[i]
		e.key = key(int(e.arm))
	}
	r.sort(budget)
	for i, e := range r.entries {
		r.places[e.arm] = int32(i)
	}
}

// sort puts the entries in order: by insertion, which is quick if they nearly
// are, unless that turns out to take more moves than the budget.
func (r *ranking) sort(budget int) {
	for i, e := range r.entries {
		for ; i > 0 && e.before(r.entries[i-1]); i-- {
			r.entries[i] = r.entries[i-1]
			budget--
		}
		r.entries[i] = e
		if budget < 0 {
			slices.SortFunc(r.entries, func(a, b entry) int {
				if a.before(b) {
					return -1
				}
				return 1 // no two arms are the same
			})
			return
		}
	}
}

// first returns the arm with the largest key.
func (r *ranking) first() int { return int(r.entries[0].arm) }

// set changes the key of an arm. Most arms keep their places, which one comparison with
// each neighbour tells.
func (r *ranking) set(arm int, key float64) {
	entries, i := r.entries, int(r.places[arm])
	if (i == 0 || key < entries[i-1].key) && (i+1 == len(entries) || key > entries[i+1].key) {
		entries[i].key = key
		return
	}
	r.move(entry{key, int32(arm)}, i)
}

// move puts e, which stood at place i, where it belongs.
func (r *ranking) move(e entry, i int) {
	entries, places := r.entries, r.places
	for ; i > 0 && e.before(entries[i-1]); i-- {
		entries[i] = entries[i-1]
		places[entries[i].arm] = int32(i)
	}
	after := entries[i+1:]
	to := entries[i:][:len(after)]
	for k, f := range after {
		if !f.before(e) {
			break
		}
		to[k] = f
		places[f.arm] = int32(i)
		i++
	}
	entries[i] = e
	places[e.arm] = int32(i)
}

// tuner follows the mean of its observations. A policy may use it to tune its
// search, but never to change the result. It works in blocks: acting on a
// change costs a look at every arm, so blocks keep the cost of a step small.
type tuner struct {
	value       float64
	sum         float64
	count, size int
}

func newTuner(arms int) tuner { return tuner{size: max(64, arms)} }

// observe reports whether value has changed by more than a fifth.
func (t *tuner) observe(x float64) bool {
	t.sum += x
	if t.count++; t.count < t.size {
		return false
	}
	mean := t.sum / float64(t.count)
	t.sum, t.count = 0, 0
	if mean >= 0.8*t.value && mean <= 1.2*t.value {
		return false
	}
	t.value = mean
	return true
}
