package main

import "testing"

// The ranks of the interval, from 1, for 95 %: of 20 fair coins at most 5 show heads
// with a probability of 0.0207 and at most 6 with 0.0577; of 10 at most 1 with 0.0107
// and at most 2 with 0.0547; of 5 none with 0.031, so that there the widest has to do.
func TestMedianRanks(t *testing.T) {
	for n, want := range map[int][2]int{20: {6, 15}, 10: {2, 9}, 6: {1, 6}, 5: {1, 5}, 1: {1, 1}} {
		if first, last := medianRanks(n); first+1 != want[0] || last+1 != want[1] {
			t.Errorf("of %d: ranks %d and %d, want %v", n, first+1, last+1, want)
		}
	}
}
