package export_test

import (
	"fmt"
	"iter"
	"os"
	"path/filepath"

	"github.com/rlrun/rlrun/framework/export"
	"github.com/rlrun/rlrun/framework/result"
)

// The tables of an experiment, for pandas or R. Source says where its records are;
// those of an output directory come from result.ReadRecords.
func ExampleWrite() {
	records := []result.Record{{Environment: "walk", Agent: "greedy", Status: result.OK, Steps: 10, Episodes: 2,
		Curves: map[result.Metric][]float64{result.Reward: {0.25, 0.75}}}}
	meta := result.Meta{Steps: 10, Grid: []int{5, 10}, Environments: []string{"walk"}, Agents: []string{"greedy"}, Runs: 1, Seed: 1}
	summary, err := result.Aggregate(meta, result.Sorted(records))
	if err != nil {
		fmt.Println(err)
		return
	}
	directory, err := os.MkdirTemp("", "export")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(directory)
	files, err := export.Write("csv", directory, &export.Source{
		Summary: summary,
		Records: func() iter.Seq2[result.Record, error] { return result.Sorted(records) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(files)
	curves, err := os.ReadFile(filepath.Join(directory, "curves.csv"))
	fmt.Print(string(curves), err)
	// Output:
	// [runs.csv outcomes.csv curves.csv]
	// environment,agent,run,metric,step,value
	// walk,greedy,0,reward,5,0.25
	// walk,greedy,0,reward,10,0.75
	// <nil>
}
