package output_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/rlrun/rlrun/framework/output"
	"github.com/rlrun/rlrun/framework/output/tables"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/store"
)

// The tables of an experiment, for pandas or R.
func ExampleWrite() {
	dir, err := os.MkdirTemp("", "output")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	p, err := plan.Compile(plan.Config{
		Runs: 1, Steps: 10, Record: plan.Recording{Grid: "every", Every: 5, Metrics: []result.Metric{result.Reward}},
		Environments: []plan.Component{{Name: "walk", Plugin: "walk"}}, Agents: []plan.Component{{Name: "greedy", Plugin: "greedy"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	record := result.Record{Environment: "walk", Agent: "greedy", Status: result.OK, Steps: 10, Episodes: 2,
		Experiment: p.Identities()[p.Key(p.Cells[0])], Curves: map[result.Metric][]float64{result.Reward: {0.25, 0.75}}}
	if err := result.WriteRecords(dir, "walk", []result.Record{record}); err != nil {
		fmt.Println(err)
		return
	}
	r, err := output.Write(&store.Experiment{Dir: store.Dir{Path: dir}, Plan: p}, tables.CSV)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Files)
	curves, err := os.ReadFile(filepath.Join(dir, "curves.csv"))
	fmt.Print(string(curves), err)
	// Output:
	// [runs.csv outcomes.csv curves.csv]
	// environment,agent,run,metric,step,value
	// walk,greedy,0,reward,5,0.25
	// walk,greedy,0,reward,10,0.75
	// <nil>
}
