package mdp

import "math"

// Queue is a priority queue of the items 0..n−1, for prioritised sweeping. It orders them
// by the binary order of magnitude of their priority, first in, first out within one
// order. This works as well as the exact order and is much cheaper to keep. The links of
// each order's list are kept with the items.
type Queue struct {
	level       []int8     // the list that each item is in, -1 for none
	after, prev []int32    // its neighbours there, -1 at the ends
	head, tail  [128]int32 // of each list, -1 when it is empty
	top         int        // no item is in a list before
	largest     int        // exponent of list 0; below it they go down
}

// NewQueue returns an empty queue of n items. Priorities of at least largest are equal.
func NewQueue(n int, largest float64) *Queue {
	q := &Queue{level: make([]int8, n), after: make([]int32, n), prev: make([]int32, n)}
	q.Clear(largest)
	return q
}

// Grow makes it a queue of n items, if it has fewer.
func (q *Queue) Grow(n int) {
	for len(q.level) < n {
		q.level, q.after, q.prev = append(q.level, -1), append(q.after, -1), append(q.prev, -1)
	}
}

// Reset makes it a queue of no items, as NewQueue does. It keeps its memory.
func (q *Queue) Reset(largest float64) {
	q.level, q.after, q.prev = q.level[:0], q.after[:0], q.prev[:0]
	q.Clear(largest)
}

// Clear empties the queue. largest is as in NewQueue.
func (q *Queue) Clear(largest float64) {
	for s := range q.level {
		q.level[s] = -1
	}
	for b := range q.head {
		q.head[b], q.tail[b] = -1, -1
	}
	_, q.largest = math.Frexp(largest)
	q.top = len(q.head)
}

// Raise gives item s at least this priority, which is positive.
func (q *Queue) Raise(s int, priority float64) {
	_, exponent := math.Frexp(priority)
	b := min(max(q.largest-exponent, 0), len(q.head)-1)
	if old := int(q.level[s]); old >= 0 && old <= b {
		return
	}
	q.remove(s)
	q.level[s], q.after[s], q.prev[s] = int8(b), -1, q.tail[b]
	if q.tail[b] < 0 {
		q.head[b] = int32(s)
	} else {
		q.after[q.tail[b]] = int32(s)
	}
	q.tail[b] = int32(s)
	q.top = min(q.top, b)
}

// remove takes s out of its list, if it is in one.
func (q *Queue) remove(s int) {
	b := q.level[s]
	if b < 0 {
		return
	}
	q.level[s] = -1
	before, after := q.prev[s], q.after[s]
	if before < 0 {
		q.head[b] = after
	} else {
		q.after[before] = after
	}
	if after < 0 {
		q.tail[b] = before
	} else {
		q.prev[after] = before
	}
}

// Pop removes an item of the largest order of magnitude and returns it; -1 when the queue
// is empty.
func (q *Queue) Pop() int {
	for ; q.top < len(q.head); q.top++ {
		if s := int(q.head[q.top]); s >= 0 {
			q.remove(s)
			return s
		}
	}
	return -1
}
