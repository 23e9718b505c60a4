package metric_test

import (
	"fmt"

	"github.com/rlrun/rlrun/framework/metric"
)

// Of a metric the definition says how runs are summed up and what is better.
func ExampleDefine() {
	for _, name := range []metric.Name{metric.Regret, metric.EpisodeReturn, "agent.td_error"} {
		d := metric.Define(name, metric.Definition{Name: "agent.td_error", Title: "TD error", Better: metric.Lower, Value: metric.Mean})
		fmt.Printf("%s: %s is better; a run's value is %s\n", d.Title, d.Better, d.Value)
	}
	// Output:
	// regret: lower is better; a run's value is last
	// episode return: higher is better; a run's value is mean
	// TD error: lower is better; a run's value is mean
}
