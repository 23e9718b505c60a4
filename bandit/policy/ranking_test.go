package policy

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestRankingIsSorted changes keys at random, from few values so that there are
// ties, and compares with a sort.
func TestRankingIsSorted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfN(rapid.SampledFrom([]float64{-2, -1, -0.3, 0, 0.3, 1, 2}), 1, 60).Draw(t, "keys")
		r := newRanking(len(keys), func(arm int) float64 { return keys[arm] })
		check := func() {
			want := make([]int, len(keys))
			for i := range want {
				want[i] = i
			}
			slices.SortStableFunc(want, func(a, b int) int { return cmp.Compare(keys[b], keys[a]) })
			for place, e := range r.entries {
				if int(e.arm) != want[place] || e.key != keys[e.arm] || int(r.places[e.arm]) != place {
					t.Fatalf("entry %d of keys %v is %+v (places %v)", place, keys, e, r.places)
				}
			}
		}
		check()
		for range rapid.IntRange(0, 30).Draw(t, "changes") {
			if rapid.IntRange(0, 9).Draw(t, "rebuild") == 0 {
				for i := range keys {
					keys[i] = float64(rapid.IntRange(-3, 3).Draw(t, "key"))
				}
				r.rebuild(func(arm int) float64 { return keys[arm] })
			} else {
				arm := rapid.IntRange(0, len(keys)-1).Draw(t, "arm")
				keys[arm] = float64(rapid.IntRange(-3, 3).Draw(t, "key")) / 2
				r.set(arm, keys[arm])
			}
			check()
		}
	})
}

// TestRankingReversed has more moves to make than insertion is given.
func TestRankingReversed(t *testing.T) {
	const n = 1000
	r := newRanking(n, func(arm int) float64 { return float64(-arm) })
	r.rebuild(func(arm int) float64 { return float64(arm) })
	for place, e := range r.entries {
		if int(e.arm) != n-1-place || int(r.places[e.arm]) != place {
			t.Fatalf("entry %d is %+v", place, e)
		}
	}
}

func TestTuner(t *testing.T) {
	u := newTuner(100)
	feed := func(x float64) (changed bool) {
		for range 100 {
			changed = u.observe(x) || changed
		}
		return changed
	}
	for _, c := range []struct {
		x       float64
		changed bool
		value   float64
	}{{0, false, 0}, {1, true, 1}, {1.1, false, 1}, {0.9, false, 1}, {2, true, 2}, {0, true, 0}, {0, false, 0}} {
		if got := feed(c.x); got != c.changed || u.value != c.value {
			t.Errorf("after %v: changed %v to %v, want %v to %v", c.x, got, u.value, c.changed, c.value)
		}
	}
}
