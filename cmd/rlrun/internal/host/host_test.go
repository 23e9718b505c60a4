package host

import (
	"encoding/json"
	"math"
	"path/filepath"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/pflag"

	"github.com/rlrun/rlrun/cmd/rlrun/config"
	"github.com/rlrun/rlrun/framework/output"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/run"
	"github.com/rlrun/rlrun/framework/store"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/plugins"
)

// What is known of environments reaches the report through a file. The numbers
// are those of the catalogue's tests and of rlrun mdp.
func TestTasks(t *testing.T) {
	c := must.Get(NewCatalogue(plugins.All(), hclog.NewNullLogger()))(t)
	plan := must.Get(plan.Compile(plan.Config{
		Runs: 1, Steps: 1, Agents: []plan.Component{{Plugin: "dyna-q"}}, Output: t.TempDir(),
		Environments: []plan.Component{
			{Name: "river", Plugin: "riverswim"}, {Name: "loop", Plugin: "doubleloop"}, {Name: "lake", Plugin: "frozenlake"},
			{Name: "large", Plugin: "gridworld", Params: json.RawMessage(`{"rows":40,"cols":40}`)},
			{Name: "arms", Plugin: "bernoulli-bandit"},
		},
	}))(t)
	x := run.New(plan, c)
	defer x.Close()
	must.Do(t, x.Check(t.Context(), nil))
	must.Do(t, x.Run(t.Context(), store.Refuse, run.Settings{}))
	r := must.Get(output.Write(x.Experiment))(t)
	meta := r.Summary.Meta
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
	lake := meta.Tasks["lake"]
	if lake.Continuing || lake.Gain == nil || lake.Diameter != nil {
		t.Errorf("lake: %+v", lake)
	}
	if large := meta.Tasks["large"]; large.States != 1600 || large.Gain != nil {
		t.Errorf("large: %+v", large)
	}
	if arms := meta.Tasks["arms"]; arms.States != 1 || arms.Gain != nil {
		t.Errorf("arms: %+v", arms)
	}
	if len(meta.Optimum) != 3 || meta.Optimum["loop"] != *loop.Gain || meta.Optimum["lake"] != *lake.Gain {
		t.Errorf("optimal rewards %v", meta.Optimum)
	}
}

// Every config that ships is valid, its plugins' parameters included.
func TestShippedConfigs(t *testing.T) {
	t.Chdir("../../../..") // the files that they name are relative to it
	configs, err := filepath.Glob("configs/*.yaml")
	if err != nil || len(configs) == 0 {
		t.Fatalf("no configs: %v", err)
	}
	for _, name := range configs {
		t.Run(filepath.Base(name), func(t *testing.T) {
			flags := pflag.NewFlagSet("", pflag.ContinueOnError)
			config.Flags(flags)
			file := must.Get(config.Load(name, nil, flags))(t)
			plan, err := plan.Compile(file.Config)
			if err != nil {
				t.Fatal(file.Locate(err))
			}
			c := must.Get(NewCatalogue(plugins.All(), hclog.NewNullLogger()))(t)
			x := run.New(plan, c)
			defer x.Close()
			if err := x.Check(t.Context(), file.CheckParams); err != nil {
				t.Error(file.Locate(err))
			}
		})
	}
}

func TestShortName(t *testing.T) {
	for id, want := range map[string]string{"rlrun/bandit@1": "bandit", "bandit@2": "bandit", "a/b": "b", "x": "x"} {
		if got := ShortName(id); got != want {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
}
