package main

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/rlrun/rlrun/framework/experiment"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/plugins"
)

// What is known of environments reaches the report through a file. The numbers
// are those of the catalogue's tests and of rlrun mdp.
func TestTasks(t *testing.T) {
	c, err := newCatalogue(plugins.All(), hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	plan := &experiment.Plan{Environments: []experiment.Component{
		{Name: "river", Plugin: "riverswim"}, {Name: "loop", Plugin: "doubleloop"}, {Name: "lake", Plugin: "frozenlake"},
		{Name: "large", Plugin: "gridworld", Params: json.RawMessage(`{"rows":40,"cols":40}`)},
		{Name: "arms", Plugin: "bernoulli-bandit"},
	}}
	s := c.shared()
	defer s.close()
	dir := t.TempDir()
	if err := writeTasks(dir, s.tasks(t.Context(), plan)); err != nil {
		t.Fatal(err)
	}
	var meta result.Meta
	if err := readTasks(dir, &meta); err != nil {
		t.Fatal(err)
	}
	near := func(x *float64, want float64) bool { return x != nil && math.Abs(*x-want) < 1e-5 }

	river := meta.Tasks["river"]
	if !near(river.Gain, 0.428622) || !near(river.Diameter, 14.72234) || river.Structure != "ergodic" || river.States != 6 || !river.Continuing {
		t.Errorf("river: %+v", river)
	}
	if m := river.Mixing; m == nil || m.Max == nil || *m.Max != 10 || !near(m.Mean, 3.97655) || m.Eta != 0.25 {
		t.Errorf("river mixes: %+v", m)
	}
	loop := meta.Tasks["loop"]
	if !near(loop.Gain, 0.4) || loop.Structure != "unichain, period 5" || loop.Mixing == nil || loop.Mixing.Max != nil {
		t.Errorf("loop: %+v", loop)
	}
	if lake := meta.Tasks["lake"]; lake.Continuing || lake.Gain == nil || lake.Diameter != nil {
		t.Errorf("lake: %+v", lake)
	}
	if large := meta.Tasks["large"]; large.States != 1600 || large.Gain != nil {
		t.Errorf("large: %+v", large)
	}
	if _, known := meta.Tasks["arms"]; known {
		t.Error("arms with means of their own in every run are described as one task")
	}
	if len(meta.Optimum) != 2 || meta.Optimum["loop"] != *loop.Gain {
		t.Errorf("optimal rewards %v", meta.Optimum)
	}
}
