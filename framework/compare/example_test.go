package compare_test

import (
	"fmt"

	"github.com/rlrun/rlrun/framework/compare"
	"github.com/rlrun/rlrun/framework/result"
)

// Two agents met the same draws in eight runs each, so their runs are paired.
func ExampleCompare() {
	meta := result.Meta{Steps: 10, Grid: []int{10}, Environments: []string{"walk"}, Agents: []string{"greedy", "thompson"}, Runs: 8, Seed: 1}
	rewards := map[string][]float64{
		"greedy":   {0.1, 0.4, 0.2, 0.3, 0.5, 0.1, 0.2, 0.4},
		"thompson": {0.3, 0.5, 0.3, 0.6, 0.6, 0.2, 0.5, 0.7},
	}
	var records []result.Record
	for agent, values := range rewards {
		for run, x := range values {
			records = append(records, result.Record{Environment: "walk", Agent: agent, Run: run, Status: result.OK, Steps: 10,
				Curves: map[result.Metric][]float64{result.Reward: {x}}})
		}
	}
	summary, err := result.Aggregate(meta, result.Sorted(records))
	if err != nil {
		fmt.Println(err)
		return
	}
	// The stream says which draws the runs of an environment meet.
	input := &compare.Input{Dir: "results/walk", Summary: summary,
		Streams: map[string]compare.Stream{"walk": {Seed: 1, Steps: 10, Discount: 0.99, Plugin: "walk", Params: "{}"}}}
	found, err := compare.Compare([]*compare.Input{input},
		compare.Config{Metric: result.Reward, Pairs: "all", Alpha: compare.DefaultAlpha, Correction: compare.Holm})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range found.Comparisons {
		fmt.Println(c.Sentence())
	}
	// Output:
	// In walk, thompson is better than greedy (thompson minus greedy: 0.188 [0.125, 0.250], corrected p = 0.0078).
}
