package framework

import "context"

// Measurer is an Environment or Agent with metrics of its own, such as a loss or the
// fuel used. Implementing it is optional. The host records the metrics at
// its grid points, as curves agent.NAME or environment.NAME.
type Measurer interface {
	// Metrics returns the metrics. All copies have the same, and they do not change.
	Metrics() []Metric
	// Measure writes the current value of every metric into dst, in the order of
	// Metrics; NaN where there is none. It is called at grid points only, and changes
	// nothing that later actions or time steps depend on.
	Measure(ctx context.Context, dst []float64) error
}

// Metric describes a metric of an environment's or agent's own.
type Metric struct {
	// Name consists of lower-case letters, digits and underscores; a letter is first.
	Name string `json:"name"`
	// Unit of the values, such as "reward"; empty if there is none.
	Unit string `json:"unit,omitempty"`
	// Doc is a sentence for help texts and reports.
	Doc    string    `json:"doc,omitempty"`
	Better Direction `json:"better,omitempty"` // "higher", "lower" or empty: not compared
	Total  Total     `json:"total,omitempty"`  // how a run is summed up: "last", "sum", "time" or empty for the mean
}

// Direction says which values of a metric are better.
type Direction string

// The directions. The zero value is Neither.
const (
	Neither Direction = ""
	Higher  Direction = "higher"
	Lower   Direction = "lower"
)

// Total says how the values of a run become one value.
type Total string

// The totals. The zero value is Mean.
const (
	Mean Total = ""     // the mean over the steps; each is the mean since the last call of Measure
	Last Total = "last" // the last value
	Sum  Total = "sum"  // the sum of the values; each is what came since the last call of Measure
	// Time is the last value, the time of an event in "steps" or "episodes" of the run, which is the Unit. A
	// run without a value is censored: the event comes after its end, if ever.
	Time Total = "time"
)
