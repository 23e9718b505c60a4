package result

// Live says what one process is doing in an output directory. It is the content of
// .live/*.json, which is for people who watch. No result is made from it. The process
// removes it at the end.
type Live struct {
	StepsPerSecond float64    `json:"steps_per_second"` // of the process
	Cells          []LiveCell `json:"cells"`            // in the config's order
}

// LiveCell holds the runs of an agent in an environment that have begun and not ended.
// Runs that take less than seconds are left out.
type LiveCell struct {
	Environment string      `json:"environment"` // label
	Agent       string      `json:"agent"`       // label
	Runs        int         `json:"runs"`        // number of unfinished runs
	Steps       int         `json:"steps"`       // of all runs together
	Episodes    int         `json:"episodes"`    // that ended in them
	Curves      []LiveCurve `json:"curves"`      // one per metric
}

// LiveCurve is a mean over unfinished runs. Point i is that of grid point i, over
// Runs[i] runs. It ends where no run has come further.
type LiveCurve struct {
	Metric Metric `json:"metric"` // name
	Runs   []int  `json:"runs"`   // by grid point
	Mean   Values `json:"mean"`   // by grid point
}
