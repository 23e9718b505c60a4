package each

import (
	"slices"
	"strconv"
	"testing"
)

func TestOf(t *testing.T) {
	if got := Of([]int{3, 1}, strconv.Itoa); !slices.Equal(got, []string{"3", "1"}) {
		t.Error(got)
	}
	if got := Of(nil, strconv.Itoa); got != nil {
		t.Errorf("of nothing: %#v", got)
	}
}

// The k-th of the elements that Count counts is found at their k-th index.
func TestNth(t *testing.T) {
	mask := []bool{false, true, true, false, true, false}
	if n := Count(mask, True); n != 3 {
		t.Errorf("%d elements, want 3", n)
	}
	for k, want := range []int{1, 2, 4, len(mask)} {
		if got := Nth(mask, k, True); got != want {
			t.Errorf("element %d is at %d, want %d", k, got, want)
		}
	}
}
