package plots_test

import (
	"fmt"

	"github.com/rlrun/rlrun/framework/output/plots"
	"github.com/rlrun/rlrun/framework/result"
)

// The lines of a figure, for a drawing of one's own: an agent's mean over runs with the
// ends of its interval.
func ExampleNewFigure() {
	meta := result.Meta{Steps: 10, Grid: []int{5, 10}, Environments: []string{"walk"}, Agents: []string{"greedy"}, Runs: 2, Seed: 1}
	var records []result.Record
	for run := range 2 {
		records = append(records, result.Record{Environment: "walk", Agent: "greedy", Run: run, Status: result.OK, Steps: 10,
			Curves: map[result.Metric][]float64{result.Reward: {float64(run), 1}}})
	}
	summary, err := result.Aggregate(meta, result.Sorted(records))
	if err != nil {
		fmt.Println(err)
		return
	}
	figure, err := plots.NewFigure(summary, "walk", result.Reward, plots.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, line := range figure.Lines {
		fmt.Println(line.Label, line.X, line.Y)
	}
	// Output:
	// greedy [5 10] [0.5 1]
}
