package result

import (
	"math"
	"slices"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
)

// Two experiments with other grids and agents of one name: every curve passes through its
// own points, and a line with equal increments stays one.
func TestOverlay(t *testing.T) {
	make := func(name string, grid []int, envs ...string) *Summary {
		var recs []Record
		for _, env := range envs {
			for run := range 3 {
				curve := []float64{}
				for _, step := range grid {
					curve = append(curve, float64(step*(run+1)))
				}
				recs = append(recs, Record{Environment: env, Agent: "a", Run: run, Status: OK, Steps: grid[len(grid)-1], Curves: map[Metric][]float64{Regret: curve}})
			}
		}
		return must.Get(Aggregate(Meta{Name: name, Steps: grid[len(grid)-1], Grid: grid, Environments: envs, Agents: []string{"a"}, Runs: 3}, Sorted(recs)))(t)
	}
	s := Overlay([]*Summary{make("x", []int{2, 4, 8}, "e"), make("y", []int{3, 6}, "e", "f")}, []map[string]string{{"a": "x:a"}, {"a": "y:a"}})
	if m := s.Meta; !slices.Equal(m.Grid, []int{2, 3, 4, 6, 8}) || !slices.Equal(m.Environments, []string{"e", "f"}) || m.Steps != 8 || len(s.Rows) != 3 || len(s.Counts) != 3 {
		t.Errorf("%+v", m)
	}
	nan := math.NaN()
	for agent, want := range map[string][]float64{"x:a": {4, 6, 8, 12, 16}, "y:a": {nan, 6, 8, 12, nan}} {
		c := s.Curve("e", agent, Regret)
		for i, x := range want {
			if got := c.Mean[i]; got != x && !(math.IsNaN(got) && math.IsNaN(x)) || math.IsNaN(x) != math.IsNaN(c.Low[i]) {
				t.Errorf("%s at step %d: %g, want %g", agent, s.Meta.Grid[i], got, x)
			}
		}
	}
	if s.Curve("f", "x:a", Regret) != nil || s.Row("f", "y:a", Regret) == nil {
		t.Error("an agent has what another experiment ran")
	}
}
