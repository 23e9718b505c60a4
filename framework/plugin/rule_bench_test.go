package plugin_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/framework/rltest"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/options"
)

// bestMean chooses the option of the largest mean value.
func bestMean(q *options.Question) (options.Answer, error) {
	best := 0
	for x := range q.Arms {
		if q.Mean(x) > q.Mean(best) {
			best = x
		}
	}
	return options.Answer{Option: best}, nil
}

const bestMeanPython = `
import rlrun


class BestMean(rlrun.VectorRule):
    """Chooses the option of the largest mean value."""

    id = "test/best-mean@1"

    def choose(self, d):
        return d.values.mean(axis=2).argmax(axis=1)


rlrun.serve(BestMean)
`

// Rules decide between 20 options of 16 members: in the process, and in a process of their own
// in Go and in Python, where that is there.
func BenchmarkRule(b *testing.B) {
	rule := plugin.NewRule("test/best-mean@1", "Chooses the option of the largest mean value.", struct{}{}, func(struct{}, plugin.Spec) (options.Chooser, error) { return bestMean, nil })
	plugins := map[string]vector.DecisionPlugin{"inprocess": rule, "loopback": must.Get(plugin.Loopback(rule))(b)}
	if python := os.Getenv("RLRUN_PYTHON"); python != "" {
		file := filepath.Join(b.TempDir(), "best.py")
		must.Do(b, os.WriteFile(file, []byte(bestMeanPython), 0o600))
		plugins["python"] = must.Get(plugin.Launch(b.Context(), plugin.LaunchConfig{Command: python, Args: []string{file}}))(b)
	}
	for name, p := range plugins {
		b.Run(name, func(b *testing.B) {
			const lanes = 64
			questions, spec, err := rltest.Questions(lanes, 20, 16)
			must.Do(b, err)
			rule := must.Get(p.OpenRule(b.Context(), nil, spec))(b)
			answers := make([]options.Answer, lanes)
			for b.Loop() {
				must.Do(b, rule.Choose(b.Context(), questions, answers))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/lanes, "ns/lane")
			must.Do(b, rule.Close())
		})
	}
	for _, p := range plugins {
		if process, ok := p.(*plugin.Process); ok {
			must.Do(b, process.Close())
		}
	}
}
