package modelbased

// Trigger says when an agent plans. Every agent plans before its first action; the
// zero value never plans again in a run.
type Trigger struct {
	Episode   bool    // at the start of every episode
	Horizon   int     // after so many steps; also the steps that a plan is for
	Repeat    bool    // of Horizon: follow the same plan again, in place of a new one
	Hold      bool    // of Horizon: other reasons wait until the steps are over
	Growth    float64 // at a pair's first visit, or at this share of visits more than at the last plan: 1 is doubling
	Ahead     bool    // of Growth, without a horizon: before a visit to such a pair (UCRL2), not after
	Known     []bool  // of Growth: the states whose pairs count; nil is all
	Visits    float64 // when a pair has been visited so often; Growth counts from there on
	Geometric bool    // after every step with probability 1−Discount
	Discount  float64 // of Geometric, in [0,1)
	Terminals bool    // when a state has turned out to be terminal, or not to be
	Changes   bool    // when values have changed; the planner is Greedy

	due   bool
	left  int       // steps of the horizon to go
	since []float64 // of Growth: visits to each pair since the last plan
}

func (t *Trigger) start(pairs int) {
	t.due, t.left = true, 0
	if t.Growth > 0 && t.since == nil {
		t.since = make([]float64, pairs)
	}
	clear(t.since)
}

func (t *Trigger) begin() {
	t.due = t.due || t.Episode
	t.left = 0
}

// visited counts a visit, the visits-th, to a pair of state s.
func (t *Trigger) visited(s, pair int, visits float64) {
	if visits == t.Visits {
		t.due = true
	}
	if t.Growth > 0 {
		t.since[pair]++
		if !t.Ahead && visits >= t.Visits && (t.Known == nil || t.Known[s]) && t.outdated(pair, visits) {
			t.due = true
		}
	}
}

// outdated reports whether visits to a pair, so many in all, outdate the plan.
func (t *Trigger) outdated(pair int, visits float64) bool {
	n := t.since[pair]
	return n >= 1 && n >= t.Growth*(visits-n)
}

// now reports whether to plan before the next action.
func (t *Trigger) now() bool {
	if t.Horizon == 0 {
		return t.due
	}
	if t.left > 0 {
		return t.due && !t.Hold
	}
	return t.due || !t.Repeat
}

func (t *Trigger) planned() {
	t.due, t.left = false, 0
	clear(t.since)
}
