package result_test

import (
	"fmt"
	"os"

	"github.com/rlrun/rlrun/framework/result"
)

// Records of two agents' runs become means, intervals and a table.
func ExampleAggregate() {
	meta := result.Meta{Steps: 10, Grid: []int{5, 10}, Environments: []string{"walk"}, Agents: []string{"greedy", "thompson"}, Runs: 3, Seed: 1}
	var records []result.Record
	for run := range 3 {
		for i, agent := range meta.Agents {
			reward := float64(run+2*i) / 10
			records = append(records, result.Record{Environment: "walk", Agent: agent, Run: run, Status: result.OK, Steps: 10,
				Curves: map[result.Metric][]float64{result.Reward: {reward, reward}}})
		}
	}
	summary, err := result.Aggregate(meta, result.Sorted(records))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(summary.Row("walk", "thompson", result.CumulativeReward).Values)
	if err := result.WriteTable(os.Stdout, summary, 0); err != nil {
		fmt.Println(err)
	}
	// Output:
	// [2 3 4]
	// walk, 10 steps
	//  agent     runs  final reward  mean reward  cumulative reward  cumulative reward vs first
	// ──────────────────────────────────────────────────────────────────────────────────────────
	//  greedy       3   0.10 ± 0.25  0.10 ± 0.25          1.0 ± 2.5
	//  thompson     3   0.30 ± 0.25  0.30 ± 0.25          3.0 ± 2.5                          +2
	//
	// Notice: 3 of 9 means and differences have no interval, as all runs have the same value, which does not mean that another run could not differ; the first: reward of thompson in walk.
	// Means over runs ± half of the 95 % confidence interval.
}
