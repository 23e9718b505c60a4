package loop

import (
	"slices"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
)

// Arms whose means differ by rounding only are all optimal.
func TestArmsThatDifferByRoundingAreTied(t *testing.T) {
	tenth, fifth := 0.1, 0.2
	sum := tenth + fifth // 0.30000000000000004
	d := mdp.Definition{States: 1, Actions: 4}
	m := must.Get(mdp.Generate(d, func(_, a int, row *mdp.Row) { row.AddRewarded(0, 1, []float64{0.3, sum, 0.3 - 1e-12, 0}[a]) }))(t)
	dst := make([]float64, 4)
	if gaps(dst, m); !slices.Equal(dst[:2], []float64{0, 0}) || !(dst[2] > 9e-13) || !(dst[3] > 0.29) {
		t.Errorf("gaps %v", dst)
	}
}
