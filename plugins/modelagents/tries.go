package modelagents

// tries counts how often pairs of state and action have been tried since something was
// solved, and tells when it is due again.
type tries struct {
	count []float64
	due   bool
}

func newTries(pairs int) tries { return tries{count: make([]float64, pairs)} }

// begin says that nothing has been solved.
func (t *tries) begin() {
	t.clear()
	t.due = true
}

// clear says that it was solved with all that is known by now.
func (t *tries) clear() {
	clear(t.count)
	t.due = false
}

// add takes in a try of a pair that has now been visited a number of times in all. It
// makes another solution due if the pair was tried first, or this much more often, as a
// share, than when there was one.
func (t *tries) add(pair int, visits, growth float64) {
	t.count[pair]++
	before := visits - t.count[pair]
	t.due = t.due || t.count[pair] >= max(1, growth*before)
}
