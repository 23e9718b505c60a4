package plots

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework/output/outputtest"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/internal/must"
)

func TestWritePlots(t *testing.T) {
	s := outputtest.Demo(t, []string{"a", "b"}, 100, 20, 4, false)
	var contents []string
	for range 2 {
		dir := t.TempDir()
		files := must.Get(WritePlots(dir, s, []result.Metric{result.OptimalAction, result.Regret}, Config{}))(t)
		want := []string{
			"plots/bernoulli-bandit-16-arms-regret.svg", "plots/bernoulli-bandit-16-arms-regret.png",
			"plots/bernoulli-bandit-16-arms-optimal_action.svg", "plots/bernoulli-bandit-16-arms-optimal_action.png",
			"plots/gaussian-bandit-regret.svg", "plots/gaussian-bandit-regret.png",
			"plots/all-regret.svg", "plots/all-regret.png",
		}
		if !slices.Equal(files, want) {
			t.Errorf("got %v, want %v", files, want)
		}
		var all strings.Builder
		for _, f := range files {
			data, err := os.ReadFile(filepath.Join(dir, f))
			if err != nil || len(data) < 1000 {
				t.Errorf("%s: %d bytes, %v", f, len(data), err)
			}
			all.Write(data)
		}
		contents = append(contents, all.String())
	}
	if contents[0] != contents[1] {
		t.Error("two drawings differ")
	}
}

func TestChosenMetrics(t *testing.T) {
	has := []result.Metric{result.Reward, result.CumulativeReward, result.Regret}
	for _, tt := range []struct{ want, get []result.Metric }{
		{nil, has},
		{[]result.Metric{result.Reward}, has[:2]},
		{[]result.Metric{result.Regret, result.EpisodeReturn}, has[2:]},
	} {
		if got := Chosen(has, tt.want); !slices.Equal(got, tt.get) {
			t.Errorf("%v: got %v, want %v", tt.want, got, tt.get)
		}
	}
}

func TestWritePlotsReportsErrors(t *testing.T) {
	s := outputtest.Demo(t, []string{"a"}, 10, 5, 2, false)
	file := filepath.Join(t.TempDir(), "file")
	must.Do(t, os.WriteFile(file, nil, 0o600))
	if _, err := WritePlots(file, s, nil, Config{}); err == nil {
		t.Error("no error below a file")
	}
}
