package plots

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/internal/must"
)

// In all panels a colour is of one agent. Of many agents the ones in colour have the best
// mean rank over environments, though others are better in one.
func TestPanels(t *testing.T) {
	var agents []string
	for k := range 25 {
		agents = append(agents, fmt.Sprintf("a%02d", k))
	}
	meta := result.Meta{Name: "n", Steps: 2, Grid: []int{1, 2}, Environments: []string{"up", "down", "up again", "without"}, Agents: agents, Runs: 2}
	var recs []result.Record
	for e, env := range meta.Environments[:3] {
		for k, agent := range agents {
			for run := range 2 {
				x := float64(k + run) // a24 is the best
				if e == 1 {
					x = -x
				}
				recs = append(recs, result.Record{Environment: env, Agent: agent, Run: run, Status: result.OK, Steps: 2,
					Curves: map[result.Metric][]float64{result.Reward: {x, x}}})
			}
		}
	}
	s := must.Get(result.Aggregate(meta, result.Sorted(recs)))(t)
	p := must.Get(NewPanels(s, result.Reward, Config{}))(t)
	if len(p.Figures) != 3 {
		t.Fatalf("%d panels", len(p.Figures))
	}
	for _, f := range p.Figures {
		var colored []string
		for i := range f.Lines {
			if !f.Lines[i].Faint {
				colored = append(colored, f.Lines[i].Label)
			}
		}
		if want := []string{"a24", "a23", "a22", "a21", "a20", "a19", "a18", "a17", "a16", "a15"}; !slices.Equal(colored, want) {
			t.Errorf("%s: in colour are %v", f.Title, colored)
		}
	}
	var svg bytes.Buffer
	must.Do(t, p.WriteSVG(&svg))
	for _, text := range []string{">up<", ">down<", ">up again<", ">a24<", ">15 more agents<", ">Mean reward per step, over steps<"} {
		if strings.Count(svg.String(), text) != 1 {
			t.Errorf("%q is not there once", text)
		}
	}
}
