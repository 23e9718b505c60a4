package result

import (
	"slices"
	"testing"
)

// Sizes that differ by rounding only become one, of either sign, and what is 0 but for rounding
// becomes 0. Other numbers stay.
func TestLevel(t *testing.T) {
	r := RoundingOf(&Meta{Steps: 10}, "", Reward)
	third := 0.1 + 0.2
	near := r.Of(third).Minus(r.Of(0.1))
	for name, c := range map[string]struct {
		numbers []Rounded
		want    []float64
	}{
		"none":       {nil, []float64{}},
		"values":     {[]Rounded{r.Of(third), r.Of(5), r.Of(0.3)}, []float64{third, 5, third}},
		"signs":      {[]Rounded{r.Of(-third), r.Of(0.3), r.Of(0.3)}, []float64{-0.3, 0.3, 0.3}},
		"small":      {[]Rounded{r.Of(0), r.Of(1e-17), r.Of(2e-17)}, []float64{0, 1e-17, 2e-17}},
		"difference": {[]Rounded{r.Of(third).Minus(r.Of(0.3)), {1e-17, 1e-16}, {-1e-17, 1e-16}, near, near, {0.2, 0}}, []float64{0, 0, 0, near.Value, near.Value, near.Value}},
		"apart":      {[]Rounded{r.Of(1), r.Of(1 + 1e-11), r.Of(1 - 1e-11)}, []float64{1, 1 + 1e-11, 1 - 1e-11}},
	} {
		if got := Level(c.numbers); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
