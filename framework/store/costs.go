package store

import (
	"cmp"
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
)

// costsDir holds the times that runs took, in a file for the experiment or for each shard. They
// are not in the records, since no two executions take the same time.
const costsDir = ".costs"

// CostsSuffix ends the names of plots of a metric against costs, without their extension.
const CostsSuffix = "-costs"

// The clocks of a Cost.
const (
	ProcessorTime = "processor" // of the worker's thread and of the plugins' processes
	WallTime      = "wall"      // where the system does not tell the former
)

// CostOf says of which runs a cost is. Costs are summed where all of it is equal.
type CostOf struct {
	Environment string `json:"environment"` // label
	Agent       string `json:"agent"`       // label
	Experiment  string `json:"experiment"`  // identity, as in records
	Processor   string `json:"processor"`   // model
	Workers     int    `json:"workers"`     // batches that were under way at the same time, at most
	Clock       string `json:"clock"`       // ProcessorTime or WallTime
}

// Cost is the time that runs took which ended well, and the memory of their agents. The time is that of the steps of environment and
// agent, with evaluations, and without the opening of plugins and lanes.
type Cost struct {
	CostOf
	Runs    int     `json:"runs"`
	Steps   int     `json:"steps"` // of all runs together
	Seconds float64 `json:"seconds"`
	// Bytes are those that the agent of a run holds at its end, the most of any; 0 if not known.
	Bytes int64 `json:"bytes,omitempty"`
}

// PerStep is the cost of a step in microseconds.
func (c *Cost) PerStep() float64 { return 1e6 * c.Seconds / float64(c.Steps) }

// Costs are sums of costs, by the runs that they are of.
type Costs map[CostOf]Cost

// Add adds one.
func (all Costs) Add(c Cost) {
	sum := all[c.CostOf]
	all[c.CostOf] = Cost{c.CostOf, sum.Runs + c.Runs, sum.Steps + c.Steps, sum.Seconds + c.Seconds, max(sum.Bytes, c.Bytes)}
}

// addFile adds those of a file, if there is one.
func (all Costs) addFile(d Dir, name string) error {
	var kept []Cost
	_, err := d.readJSON(name, &kept, "; remove it")
	for _, c := range kept {
		all.Add(c)
	}
	return err
}

// sorted lists them by environment, agent and the rest.
func (all Costs) sorted() []Cost {
	return slices.SortedFunc(maps.Values(all), func(a, b Cost) int {
		return cmp.Or(cmp.Compare(a.Environment, b.Environment), cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Experiment, b.Experiment),
			cmp.Compare(a.Processor, b.Processor), cmp.Compare(a.Workers, b.Workers), cmp.Compare(a.Clock, b.Clock))
	})
}

// AddCosts adds costs to those that the directory has of the experiment or a shard. The caller
// holds its claim.
func (d Dir) AddCosts(s plan.Shard, costs Costs) error {
	if _, err := os.Stat(d.path(ConfigFile)); err != nil {
		return err // the directory was moved or removed, and is not to come back
	}
	name, all := costsDir+"/run.json", maps.Clone(costs)
	if s.Of > 0 {
		name = costsDir + "/" + shardFile(s, ".json")
	}
	if err := all.addFile(d, name); err != nil {
		return err
	}
	return d.writeJSON(name, all.sorted())
}

// Costs reads those of the plan's runs, pair by pair.
func (e *Experiment) Costs() (own []Cost, err error) {
	names, err := fs.Glob(os.DirFS(e.Dir.Path), costsDir+"/*.json")
	if err != nil {
		return nil, err
	}
	all := Costs{}
	for _, name := range names {
		if err := all.addFile(e.Dir, name); err != nil {
			return nil, err
		}
	}
	of, identities := map[result.Key][]Cost{}, e.Plan.Identities()
	for _, c := range all.sorted() {
		key := result.Key{Environment: c.Environment, Agent: c.Agent}
		if c.Experiment == identities[key] && c.Steps > 0 {
			of[key] = append(of[key], c)
		}
	}
	for _, cell := range e.Plan.Cells {
		own = append(own, of[e.Plan.Key(cell)]...)
	}
	return own, nil
}
