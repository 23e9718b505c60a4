// Package metric defines the metrics of runs: what each means, how a recorder
// computes it, and how a run is summed up in one value. To add one, add its
// definition to builtin (list.go). Plugins declare metrics of their own
// (framework.Metric), whose names begin with "agent." or "environment.".
package metric

import (
	"fmt"
	"slices"
	"strings"
)

// Name names a metric, and the curve of it in a record.
type Name string

// Better says which values of a metric are better.
type Better string

// The zero value: neither is better, so the metric ranks no agents.
const (
	Neither Better = ""
	Higher  Better = "higher"
	Lower   Better = "lower"
)

// RecentEpisodes is the number of finished episodes whose mean return EpisodeReturn is. A mean
// over the episodes that end in a window would leave out each run in which none does, and
// so the long episodes.
const RecentEpisodes = 100

// Value says how the curve of a run becomes its one value.
type Value string

// The zero value is Mean.
const (
	Mean Value = "mean" // over all steps; windows count by their steps
	Tail Value = "tail" // mean of the windows that begin in the last tenth of the steps, or of the last one
	Last Value = "last" // at the last grid point
	Sum  Value = "sum"  // of the curve's points
	Time Value = "time" // at the last grid point, the time of an event; a run without it counts with its length
)

// Definition says what a metric means, for axes, tables, legends and comparisons.
type Definition struct {
	Name   Name   `json:"name"`             // in configs and files
	Title  string `json:"title"`            // "cumulative reward"
	Axis   string `json:"axis,omitempty"`   // "mean reward per step"; default: title and unit
	Text   string `json:"text,omitempty"`   // one sentence
	Unit   string `json:"unit,omitempty"`   // of one value: "reward", "steps"; empty: none
	Better Better `json:"better,omitempty"` // how values are compared
	Value  Value  `json:"value,omitempty"`  // how a run is summed up in one value

	// At returns the point of the curve at a grid point, NaN if there is none. Nil: no
	// recorder makes the metric.
	At func(*Window) float64 `json:"-"`
	// Model: At needs the model of the environment.
	Model bool `json:"-"`
	// Sparse: the metric comes from evaluations, which are at some grid points only, and
	// not from At. A line joins these points in drawings.
	Sparse bool `json:"-"`
	// EveryStep: a point of the curve is a mean over all steps of its window, so that the
	// mean over a run does not depend on where windows begin.
	EveryStep bool `json:"-"`
	// Always: every run has the curve if it is recorded.
	Always bool `json:"-"`
	// Default: the metric is recorded unless a config chooses otherwise.
	Default bool `json:"-"`
	// From is the metric whose curve the metric is made from, for records that lack it;
	// empty: none.
	From Name `json:"-"`
	// Derive appends the curve to dst; widths are the steps of the windows. Nil: the
	// metric has no curve, and Value applies to that of From.
	Derive func(dst, curve, widths []float64) []float64 `json:"-"`
	// Keep is the metric's rank in the table of a terminal: columns of low rank are left
	// out first where the table is too wide. 0: never a column.
	Keep int `json:"-"`
	// Scale returns the run's value of two policies from their rewards per step, over
	// so many steps; nil: they do not tell it.
	Scale func(gain, optimal, steps float64) float64 `json:"-"`
	// Bounds returns the least and the largest value that a mean over runs can have, up
	// to a step; nil: any.
	Bounds func(p Possible, step float64) (low, high float64) `json:"-"`
}

// Possible is what is known of an environment that bounds metrics.
type Possible struct {
	RewardLow, RewardHigh float64 // of every reward; infinite where it is not known
	OneState              bool    // the model is known and has one state
}

// Cumulative reports whether the curve adds up over the run.
func (d *Definition) Cumulative() bool { return d.Value == Last }

// Window is what a recorder knows at a grid point of a run. The window is the steps
// since the previous grid point.
type Window struct {
	Step       int     // number of the step
	Width      float64 // steps of the window
	Reward     float64 // sum of rewards in the window
	Total      float64 // sum of all rewards
	Discounted float64 // discounted sum of all rewards
	Episodes   int     // that ended in the window
	// Recent is the mean undiscounted return of the last RecentEpisodes that ended, or of all
	// if fewer have; NaN if none has.
	Recent float64
	// Gaps is the sum, over all steps, of the optimal expected reward minus the action's,
	// and Optimal the number of optimal actions in the window. NaN unless the model is
	// known and has one state.
	Gaps, Optimal float64
	Gain          float64 // optimal reward per step of a known model with several states, else NaN
	// Shortfall is the sum over finished episodes of the optimal expected return minus the
	// return, NaN unless the model is known.
	Shortfall float64
	// Recommended is the optimal expected reward minus that of the action that the agent would
	// stay with; NaN unless the model is known and has one state, and the agent says it.
	Recommended float64
	// Explored is the number of exploratory actions in the window, and Hold for how many
	// steps an option is held. NaN unless the host decides the exploration.
	Explored, Hold float64
}

// Builtin returns the definitions of the host's metrics in the order in which they
// are shown. The slice belongs to the caller.
func Builtin() []Definition { return slices.Clone(builtin[:]) }

// Select returns the names of the host's metrics that a function accepts.
func Select(accept func(*Definition) bool) (names []Name) {
	for i := range builtin {
		if accept(&builtin[i]) {
			names = append(names, builtin[i].Name)
		}
	}
	return names
}

// Define returns the definition of metric n: the host's or, if there is none,
// the one that a plugin declared. For any other name it returns a definition
// with this name and no further properties.
func Define(n Name, declared ...Definition) *Definition {
	for _, list := range [][]Definition{builtin[:], declared} {
		if i := slices.IndexFunc(list, func(d Definition) bool { return d.Name == n }); i >= 0 {
			return &list[i]
		}
	}
	title := strings.ReplaceAll(string(n), "_", " ")
	return &Definition{Name: n, Title: title, Axis: title, Text: "A metric that a plugin recorded."}
}

// CheckDeclared returns an error if an environment that measures a metric of the host's itself, one that
// needs a model, means something else by it. Total is the mean if it is empty.
func CheckDeclared(n Name, better Better, total Value) error {
	if total == "" {
		total = Mean
	}
	host := Define(n)
	if !host.Model || better == host.Better && total == host.Value {
		return nil
	}
	return fmt.Errorf("metric %q is declared with better %q and the %s as total; rlrun's metric of this name has better %q and the %s: declare it so, or give it another name", n, better, total, host.Better, host.Value)
}

// Names joins names with commas.
func Names(list []Name) string {
	var b strings.Builder
	for i, n := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(n))
	}
	return b.String()
}

// OfPlugin reports whether a plugin declares the metric: its name has a dot.
func (n Name) OfPlugin() bool { return strings.Contains(string(n), ".") }

// AllOf names, in a list of metrics to record, all of a side's own: "agent.*".
func AllOf(side string) Name { return Name(side + ".*") }

// In tells whether a list of metrics to record has the metric, by its name or as one of all
// of a plugin's own.
func (n Name) In(list []Name) bool {
	side, _, own := strings.Cut(string(n), ".")
	return slices.Contains(list, n) || own && slices.Contains(list, AllOf(side))
}

// RecordedAs returns the metric that records hold in place of one that can be made
// from it.
func (n Name) RecordedAs() Name {
	if from := Define(n).From; from != "" {
		return from
	}
	return n
}
