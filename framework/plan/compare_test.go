package plan

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework/compare"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/stat"
	"github.com/rlrun/rlrun/internal/must"
)

func comparing(c Compare) Config {
	return Config{
		Name: "x", Runs: 40, Steps: 10, Compare: &c,
		Environments: []Component{{Name: "e", Plugin: "p"}},
		Agents:       []Component{{Name: "a", Plugin: "q"}, {Name: "b", Plugin: "q"}, {Name: "c", Plugin: "q"}},
	}
}

func TestCompareDefaults(t *testing.T) {
	p := must.Get(Compile(comparing(Compare{Until: "decided"})))(t)
	s := p.Sequential()
	if s == nil || s.Metric != result.Reward || s.Pairs != "first" || s.Alpha != compare.DefaultAlpha || s.Block != 20 || s.Runs != 40 {
		t.Errorf("%+v", s)
	}
	if p, err := Compile(comparing(Compare{})); err != nil || p.Sequential() != nil {
		t.Errorf("without until: %v", err)
	}
	again := must.Get(Compile(p.Config))(t)
	got := again.Sequential()
	got.Skips, s.Skips = nil, nil // functions are never equal
	if !reflect.DeepEqual(got, s) {
		t.Errorf("compiled again: %+v, want %+v", got, s)
	}
	if _, ok := p.Config.essence()["compare"]; ok {
		t.Error("records are said to depend on how they are compared")
	}
}

func TestCompareRefusals(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*Config)
		where  string
		says   string
	}{
		"metric without direction": {func(c *Config) { c.Compare.Metric = result.MixingTime }, "compare.metric", "neither better nor worse"},
		"metric not recorded": {func(c *Config) {
			c.Compare.Metric, c.Record.Metrics = result.Regret, []result.Metric{result.Reward}
		}, "compare.metric", "add regret to record.metrics"},
		"unknown environment": {func(c *Config) { c.Compare.Scores = map[string]compare.Range{"f": {High: 1}} }, "compare.scores", `"f"`},
		"empty scale":         {func(c *Config) { c.Compare.Scores = map[string]compare.Range{"e": {Low: 1, High: 1}} }, "compare.scores.e", "differ"},
		"too few runs":        {func(c *Config) { c.Runs, c.Compare.Until = 6, "decided" }, "compare", "at least 7 runs, not 6"},
		"one agent":           {func(c *Config) { c.Agents, c.Compare.Until = c.Agents[:1], "decided" }, "compare", "two agents"},
	} {
		c := comparing(Compare{})
		tt.change(&c)
		_, err := Compile(c)
		var field *FieldError
		if !errors.As(err, &field) || field.Path.String() != tt.where || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v", name, err)
		}
		if name == "too few runs" && !errors.Is(err, stat.ErrTooFewRuns) {
			t.Errorf("%s is %v", name, err)
		}
	}
	// Made from the reward, which is recorded.
	c := comparing(Compare{Metric: result.FinalReward})
	c.Record.Metrics = []result.Metric{result.Reward}
	if _, err := Compile(c); err != nil {
		t.Error(err)
	}
}

func TestUnknownMetric(t *testing.T) {
	c := comparing(Compare{})
	c.Report.Metrics = []result.Metric{"reward", "rewards"}
	var field *FieldError
	if _, err := Compile(c); !errors.As(err, &field) || !strings.HasPrefix(field.Error(), "report.metrics[1]") {
		t.Errorf("%v", err)
	}
}
