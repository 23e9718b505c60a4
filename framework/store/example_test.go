package store_test

import (
	"context"
	"fmt"
	"os"

	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/store"
)

// A command claims the output directory, and writes records as its runs end.
func ExampleExperiment_Begin() {
	dir, err := os.MkdirTemp("", "store")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	p, err := plan.Compile(plan.Config{
		Runs: 2, Steps: 10,
		Environments: []plan.Component{{Name: "lever", Plugin: "lever"}},
		Agents:       []plan.Component{{Name: "in turn", Plugin: "alternating"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	e := &store.Experiment{Dir: store.Dir{Path: dir}, Plan: p}
	defer e.Close()
	ctx := context.Background()
	done, err := e.Begin(ctx, &store.Session{}, store.Refuse)
	if err != nil {
		fmt.Println(err)
		return
	}
	w := e.Dir.NewWriter(p, plan.Shard{}, &store.Session{}, func(err error) { fmt.Println(err) }, nil)
	w.Add(p.Cells[0], result.Record{Environment: "lever", Agent: "in turn", Run: 0, Status: result.OK, Steps: 10})
	if err := w.Flush(); err != nil {
		fmt.Println(err)
		return
	}
	runs, err := e.Dir.Records(ctx, p)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d runs were done, %d are\n", len(done), len(runs.Entries))
	// Output:
	// 0 runs were done, 1 are
}
