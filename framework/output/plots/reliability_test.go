package plots

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/internal/must"
)

// Each run is a point: its predicted gain across, its realised gain up. Runs of which one sum is not
// known are left out, and agents without the metrics keep their colours.
func TestReliability(t *testing.T) {
	meta := result.Meta{Name: "n", Steps: 2, Grid: []int{1, 2}, Environments: []string{"x", "y", "without"}, Agents: []string{"plain", "sup"}, Runs: 3}
	var records []result.Record
	for _, env := range meta.Environments {
		for _, agent := range meta.Agents {
			for run := range 3 {
				r := result.Record{Environment: env, Agent: agent, Run: run, Status: result.OK, Steps: 2, Curves: map[result.Metric][]float64{result.Reward: {0, 0}}}
				if agent == "sup" && env != "without" {
					r.Curves[gainPredicted] = []float64{float64(10 - run), float64(10 - run)}
					if run != 1 {
						r.Curves[gainRealised] = []float64{float64(20 + run), float64(20 + run)}
					}
				}
				records = append(records, r)
			}
		}
	}
	s := must.Get(result.Aggregate(meta, result.Sorted(records)))(t)
	f := must.Get(NewReliability(s, "x"))(t)
	if sup := f.Lines[1]; len(f.Lines[0].X) != 0 || !slices.Equal(sup.X, []float64{10, 8}) || !slices.Equal(sup.Y, []float64{20, 22}) || !sup.Points {
		t.Errorf("points are %+v", f.Lines)
	}
	if line := f.Lines[2]; !line.Reference || !(line.X[0] < 8 && line.X[1] > 10) || !slices.Equal(line.Y, line.X) {
		t.Errorf("the line of equal gains is %+v", line)
	}
	if _, err := NewReliability(s, "without"); err == nil {
		t.Error("drawn without gains")
	}
	dir := t.TempDir()
	files := must.Get(WritePlots(dir, s, []result.Metric{gainRealised}, Config{}))(t)
	for _, name := range []string{"x-agent-gain_realised-reliability.svg", "all-agent-gain_realised-reliability.svg"} {
		if !slices.Contains(files, filepath.Join("plots", name)) {
			t.Fatalf("%s is not among %v", name, files)
		}
		svg := string(must.Get(os.ReadFile(filepath.Join(dir, "plots", name)))(t))
		if strings.Count(svg, ">sup<") != 1 || strings.Count(svg, ">plain<") != 0 || strings.Count(svg, ">as predicted<") != 1 {
			t.Errorf("the legend of %s does not have sup and the line alone", name)
		}
	}
}
