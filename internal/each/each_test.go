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
