package linearagents

import "github.com/rlrun/rlrun/plugins/internal/tiles"

// place is where an agent is: the features that are active there.
type place struct {
	coder  *tiles.Coder
	active []int32
	point  []float64 // scratch
}

func newPlace(c *tiles.Coder) place {
	return place{c, make([]int32, c.Tilings()), make([]float64, c.Dimensions())}
}

func (p *place) set(x []float64) { p.coder.Active(p.active, x, p.point) }

// weights are what the values of actions in K members are linear in:
// Q_k(s,a) = Σ_f w[(f·A + a)·K + k] over the features f active in s.
type weights struct {
	actions, members int
	w                []float64
}

func newWeights(c *tiles.Coder, actions, members int) weights {
	return weights{actions, members, make([]float64, c.Features()*actions*members)}
}

// values writes Q_k(s,a) into dst[a·K+k].
func (w *weights) values(dst []float64, p *place) {
	n := w.actions * w.members
	dst = dst[:n]
	clear(dst)
	for _, f := range p.active {
		for i, v := range w.w[int(f)*n : (int(f)+1)*n] {
			dst[i] += v
		}
	}
}

// value writes Q_k(s,a) of one action into dst[k].
func (w *weights) value(dst []float64, p *place, a int) {
	clear(dst)
	for _, f := range p.active {
		for k, v := range w.row(f, a) {
			dst[k] += v
		}
	}
}

// row returns the weights of a feature and action, one per member.
func (w *weights) row(f int32, a int) []float64 { return w.pair(int(f)*w.actions + a) }

// pair is row by the number of the pair, f·A + a.
func (w *weights) pair(i int) []float64 {
	i *= w.members
	return w.w[i : i+w.members : i+w.members]
}

// negligibleTrace is where a trace counts as gone.
const negligibleTrace = 1e-3

// traces are the eligibility traces of pairs of feature and action (Sutton & Barto
// 2018, §12.7): they say in what measure an error moves a pair's weights.
type traces struct {
	*weights
	fade      float64 // γλ
	replacing bool
	trace     []float64 // of each pair; nil if none outlasts its step
	marked    []int32   // pairs whose trace is not 0
	cut       *cuts     // nil if no member's traces are cut
}

// cuts say which traces count for a member: those of pairs visited since its cut.
type cuts struct {
	now     int   // steps made
	visited []int // of each pair: when
	since   []int // of each member
}

func newTraces(w *weights, fade float64, replacing, cut bool) traces {
	t := traces{weights: w, fade: fade, replacing: replacing}
	if fade > 0 {
		t.trace = make([]float64, len(w.w)/w.members)
		t.marked = make([]int32, 0, len(t.trace))
		if cut {
			t.cut = &cuts{visited: make([]int, len(t.trace)), since: make([]int, w.members)}
		}
	}
	return t
}

// end ends all traces.
func (t *traces) end() {
	for _, i := range t.marked {
		t.trace[i] = 0
	}
	t.marked = t.marked[:0]
}

// cutOff ends the traces of those members that value another action more than a,
// where they hold the actions to be worth q[b·K+k] (Watkins 1989).
func (t *traces) cutOff(q []float64, a int) {
	if t.cut == nil {
		return
	}
	k := t.members
	chosen := q[a*k : (a+1)*k]
	for i := 0; i < len(q); i += k {
		for m, v := range q[i : i+k] {
			if v > chosen[m] {
				t.cut.since[m] = t.cut.now
			}
		}
	}
}

// move renews the traces of the features active in s with action a, moves member
// k's weights by by[k] times their traces, and lets these fade. It reports whether
// weights of other pairs have moved.
func (t *traces) move(p *place, a int, by []float64) (others bool) {
	if t.trace == nil {
		for _, f := range p.active {
			add(t.row(f, a), 1, by)
		}
		return false
	}
	for _, f := range p.active {
		i := f*int32(t.actions) + int32(a)
		if t.trace[i] == 0 {
			t.marked = append(t.marked, i)
		}
		if t.replacing {
			t.trace[i] = 1
		} else {
			t.trace[i]++
		}
		if t.cut != nil {
			t.cut.visited[i] = t.cut.now
		}
	}
	kept := t.marked[:0]
	for _, i := range t.marked {
		e := t.trace[i]
		if row := t.pair(int(i)); t.cut == nil {
			add(row, e, by)
		} else {
			t.cut.add(row, e, by, int(i))
		}
		if e *= t.fade; e < negligibleTrace {
			e = 0
		} else {
			kept = append(kept, i)
		}
		t.trace[i] = e
	}
	t.marked = kept
	if t.cut != nil {
		t.cut.now++
	}
	return true
}

// add adds e·by to row.
func add(row []float64, e float64, by []float64) {
	row = row[:len(by)]
	for k, v := range by {
		row[k] += e * v
	}
}

// add is the function add for those members for which pair i's trace counts.
func (c *cuts) add(row []float64, e float64, by []float64, i int) {
	visited := c.visited[i]
	for k, v := range by {
		if visited >= c.since[k] {
			row[k] += e * v
		}
	}
}
