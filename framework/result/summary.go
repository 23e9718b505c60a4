package result

import (
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"slices"
)

// Summary is what an experiment found, over runs. Rows and curves are in the
// order of the config's environments, agents and metrics.
type Summary struct {
	Meta Meta `json:"meta"` // what the config says
	// Mixed says which programs differ between runs that are ok, with their
	// identities in the records; empty if none does. Everything made from the summary
	// says "mixed" then.
	Mixed string `json:"mixed,omitempty"`
	// Notices are sentences about pairs that were skipped (Meta.Skipped), agents (Meta.Notes)
	// and records that were left out (Runs.Notices).
	Notices  []string  `json:"notices,omitempty"`
	Counts   []Count   `json:"counts"`             // one per environment and agent
	Rows     []Row     `json:"summary"`            // one per environment, agent and metric
	Curves   []Curve   `json:"curves,omitempty"`   // one per environment, agent and metric that has a curve
	Failures []Failure `json:"failures,omitempty"` // in the order of environments and agents
	// Choices are those of the agents for which the host decides.
	Choices []Choices `json:"choices,omitempty"`

	// SortBy orders the agents of WriteTable, from the best to the worst in each environment,
	// and Top leaves out all but so many. Zero: all, in the order of the config.
	SortBy Metric `json:"-"`
	Top    int    `json:"-"`

	rows   map[measured]int // of Rows, as Row last saw them
	curves map[measured]int
	counts map[cell]int
}

// MixedNote says in a sentence, without its full stop, which programs differ between runs; "" if none
// does. Every reader of the summary shows it.
func (s *Summary) MixedNote() string {
	if s.Mixed == "" {
		return ""
	}
	return "Mixed: runs were made by different programs: " + s.Mixed
}

// measured names what a row or a curve is of.
type measured struct {
	environment, agent string
	metric             Metric
}

// Ended says how runs ended. Runs that have no record are Missing, unless a test that stops the
// experiment does not need them.
type Ended struct {
	OK        int `json:"ok"`                   // runs that ended well
	Failed    int `json:"failed"`               // runs that failed or were given up
	Missing   int `json:"missing"`              // runs without a record
	GivenUp   int `json:"given_up,omitempty"`   // of Failed, those that were not made
	NotNeeded int `json:"not_needed,omitempty"` // runs without a record that a sequential test does not need
}

// Add adds other runs.
func (e *Ended) Add(x Ended) {
	e.OK += x.OK
	e.Failed += x.Failed
	e.Missing += x.Missing
	e.GivenUp += x.GivenUp
	e.NotNeeded += x.NotNeeded
}

// Planned is the number of runs.
func (e *Ended) Planned() int { return e.OK + e.Failed + e.Missing + e.NotNeeded }

// Count says how the runs of one agent in one environment ended.
type Count struct {
	Environment string `json:"environment"` // label
	Agent       string `json:"agent"`       // label
	Ended
}

// Failure is a run that failed, or the first run that was given up of an agent in an
// environment.
type Failure struct {
	Key
	Steps int    `json:"steps"` // that the run made before it failed
	Error string `json:"error"` // what went wrong
}

// Row sums up one metric of one agent in one environment by one value per run: of
// a cumulative metric the last, of another the mean over all steps. N is 0 where the
// config names a metric that no run has: it is not known.
type Row struct {
	Environment string // label
	Agent       string // label
	Metric      Metric // name
	Failed      int    // runs that failed and are not in N
	Overflowed  int    // runs with values of the metric that are infinite or too large
	Estimate
	// The interquartile mean and its 95 % interval (stat.BootstrapIQM).
	IQM, IQMLow, IQMHigh float64
	// Median is that of the values. Those of censored runs are larger than all others: it is
	// infinite if it is one of them. JSON has null then.
	Median float64
	// Censored are the numbers of the runs in which the event of a time (metric.Time) did not come, increasing.
	// Their values are their lengths, which makes Mean the restricted mean (Royston & Parmar 2013).
	Censored []int
	// Difference is this agent minus the experiment's first agent, run by run:
	// the runs are paired, as all agents meet the same random draws. Nil for the
	// first agent, and where no run is ok for both.
	Difference *Estimate
	// Runs are the numbers of the runs that have a value, increasing, and Values
	// their values. JSON leaves them out.
	Runs   []int
	Values []float64 // one per element of Runs
	// Programs are those of the environment.
	Programs Spans
	// Without are the numbers of the runs that ended well and have no value, increasing. JSON
	// leaves them out.
	Without []int
}

type rowJSON struct {
	Environment string `json:"environment"`
	Agent       string `json:"agent"`
	Metric      Metric `json:"metric"`
	Failed      int    `json:"failed"`
	Overflowed  int    `json:"overflowed,omitempty"`
	estimateJSON
	IQM        Number    `json:"iqm"`
	IQMLow     Number    `json:"iqm_ci_low"`
	IQMHigh    Number    `json:"iqm_ci_high"`
	Median     Number    `json:"median"`
	Censored   []int     `json:"censored,omitempty"`
	Difference *Estimate `json:"difference,omitempty"`
}

// MarshalJSON writes the columns of summary.csv as keys, and the difference as
// an estimate.
func (r Row) MarshalJSON() ([]byte, error) {
	return json.Marshal(rowJSON{r.Environment, r.Agent, r.Metric, r.Failed, r.Overflowed, r.Estimate.json(),
		Number(r.IQM), Number(r.IQMLow), Number(r.IQMHigh), Number(r.Median), r.Censored, r.Difference})
}

// Outcomes are the runs that ended well, with their values; NaN where there is none.
func (r *Row) Outcomes() iter.Seq2[int, float64] {
	return func(yield func(int, float64) bool) {
		for k, run := range r.Runs {
			x := r.Values[k]
			if _, censored := slices.BinarySearch(r.Censored, run); censored {
				x = math.NaN()
			}
			if !yield(run, x) {
				return
			}
		}
		for _, run := range r.Without {
			if !yield(run, math.NaN()) {
				return
			}
		}
	}
}

// CensoredNote says how many runs are censored.
func (r *Row) CensoredNote() string {
	return fmt.Sprintf("%d of %d runs of %s in %s ended without %s: they count with their lengths in means, and as longer than all others in medians",
		len(r.Censored), r.N, r.Agent, r.Environment, r.Metric)
}

func (r *Row) median() float64 {
	values := slices.Clone(r.Values)
	for k, run := range r.Runs {
		if _, censored := slices.BinarySearch(r.Censored, run); censored {
			values[k] = math.Inf(1)
		}
	}
	slices.Sort(values)
	n := len(values)
	if n == 0 {
		return math.NaN()
	}
	return (values[(n-1)/2] + values[n/2]) / 2
}

// UnmarshalJSON reads what MarshalJSON writes.
func (r *Row) UnmarshalJSON(data []byte) error {
	var w rowJSON
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	*r = Row{Environment: w.Environment, Agent: w.Agent, Metric: w.Metric, Failed: w.Failed, Overflowed: w.Overflowed,
		Estimate: Estimate{w.N, float64(w.Mean), float64(w.StdErr), float64(w.Low), float64(w.High)},
		IQM:      float64(w.IQM), IQMLow: float64(w.IQMLow), IQMHigh: float64(w.IQMHigh), Median: float64(w.Median), Censored: w.Censored, Difference: w.Difference}
	return nil
}

// Curve is one metric of one agent in one environment over the grid: at
// Steps[i], the mean over Runs[i] runs with its Student-t 95 % interval. All
// slices have the length of the grid; Steps is the grid of Meta.
type Curve struct {
	Environment string `json:"environment"` // label
	Agent       string `json:"agent"`       // label
	Metric      Metric `json:"metric"`      // name
	Steps       []int  `json:"steps"`       // the grid
	Runs        []int  `json:"runs"`        // number of runs with a value at each grid point
	Mean        Values `json:"mean"`        // over these runs
	StdErr      Values `json:"stderr"`      // standard error of Mean
	Low         Values `json:"ci_low"`      // lower end of the 95 % interval
	High        Values `json:"ci_high"`     // upper end of the 95 % interval
}

// Row finds a row; nil if there is none. Goroutines must not call it at the same time.
func (s *Summary) Row(environment, agent string, m Metric) *Row {
	return find(s.Rows, &s.rows, measured{environment, agent, m}, func(r *Row) measured { return measured{r.Environment, r.Agent, r.Metric} })
}

// Curve finds a curve; nil if there is none. Goroutines must not call it at the same time.
func (s *Summary) Curve(environment, agent string, m Metric) *Curve {
	return find(s.Curves, &s.curves, measured{environment, agent, m}, func(c *Curve) measured { return measured{c.Environment, c.Agent, c.Metric} })
}

// Ended counts the runs of all environments and agents.
func (s *Summary) Ended() (e Ended) {
	for _, c := range s.Counts {
		e.Add(c.Ended)
	}
	return e
}

// Count finds the count of an agent in an environment; nil if there is none. Goroutines
// must not call it at the same time.
func (s *Summary) Count(environment, agent string) *Count {
	return find(s.Counts, &s.counts, cell{environment, agent}, func(c *Count) cell { return cell{c.Environment, c.Agent} })
}

// find returns the element of list with a key, nil if there is none. places are those of
// all keys when find last looked.
func find[K comparable, T any](list []T, places *map[K]int, wanted K, key func(*T) K) *T {
	if i, ok := (*places)[wanted]; ok && i < len(list) && key(&list[i]) == wanted {
		return &list[i]
	}
	if len(*places) != len(list) {
		*places = map[K]int{}
		for i := range list {
			(*places)[key(&list[i])] = i
		}
	}
	if i, ok := (*places)[wanted]; ok {
		return &list[i]
	}
	return nil
}

// MetricsOf lists, in display order, the metrics that any agent has in an
// environment: those with curves, or else all of the summary's rows.
func (s *Summary) MetricsOf(environment string, curves bool) []Metric {
	var out []Metric
	seen := map[Metric]bool{}
	add := func(env string, m Metric) {
		if env == environment && !seen[m] {
			seen[m] = true
			out = append(out, m)
		}
	}
	if curves {
		for i := range s.Curves {
			add(s.Curves[i].Environment, s.Curves[i].Metric)
		}
	} else {
		for i := range s.Rows {
			add(s.Rows[i].Environment, s.Rows[i].Metric)
		}
	}
	sortMetrics(out, s.Meta.order())
	return out
}

// AllMetrics lists the metrics that any agent has in any environment.
func (s *Summary) AllMetrics() (out []Metric) {
	for _, env := range s.Meta.Environments {
		for _, m := range s.MetricsOf(env, false) {
			if !slices.Contains(out, m) {
				out = append(out, m)
			}
		}
	}
	return out
}
