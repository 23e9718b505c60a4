package compare

import (
	"errors"
	"fmt"

	"github.com/rlrun/rlrun/framework/internal/brief"
	"github.com/rlrun/rlrun/framework/metric"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/stat"
)

// Input is one experiment: an output directory.
type Input struct {
	Dir     string          // as the user names it
	Summary *result.Summary // statistics of its records, with the values of runs
	// Streams says, by the environment's label, what decides which random numbers its
	// runs meet.
	Streams map[string]Stream
	// Code says what the programs of environments are made of, by their identities in the summary.
	Code map[string]result.Code
	// Until is what the sequential test that stopped the experiment says, a pair of
	// agents an entry; nil if the experiment made all runs.
	Until  []Progress
	Metric result.Metric // of that test
	Alpha  float64       // level of that test, in (0,1)
	// Agents are the labels of those that are compared, in this order; nil: all.
	Agents []string
	// Program identifies the rlrun that made the runs, with its bundled plugins; "" if
	// that is not known.
	Program string
}

// Stream identifies the random numbers and the task of an environment's runs. Run k of
// two agents meets the same draws of the same task if their streams are equal, and if the same
// program was the environment (result.Row.Programs).
type Stream struct {
	Seed     uint64  // root seed of the experiment
	Steps    int     // of a run
	Episodes int     // of a run whose budget is episodes; then Steps are the most
	Discount float64 // γ, in [0,1]
	// Limit is the most steps of an episode of an evaluation, and Evaluated the number of steps of one that counts steps.
	Limit, Evaluated int
	Plugin           string // of the environment, with its arguments; files are named without their directories
	Params           string // of the plugin, as canonical JSON
}

// differs names the first part in which two streams differ; "" if they are equal.
func (s Stream) differs(o Stream) string {
	if s.Seed != o.Seed {
		return fmt.Sprintf("root seeds differ (%v and %v)", s.Seed, o.Seed)
	}
	s.Limit, s.Evaluated = o.Limit, o.Evaluated // of evaluations alone
	if apart := s.Apart(o); len(apart) > 0 {
		return apart[0]
	}
	return ""
}

// Apart says in what two streams differ besides the seed, such as "steps differ (10 and 20)". Numbers of the two mean other
// things then.
func (s Stream) Apart(o Stream) (texts []string) {
	for _, part := range []struct {
		name string
		a, b any
	}{
		{"steps", s.Steps, o.Steps}, {"episodes", s.Episodes, o.Episodes}, {"discounts", s.Discount, o.Discount},
		{"plugins", s.Plugin, o.Plugin}, {"parameters of the environment", s.Params, o.Params},
		{"evaluate.limit", s.Limit, o.Limit}, {"evaluate.steps", s.Evaluated, o.Evaluated},
	} {
		if part.a != part.b {
			a, b := brief.Texts(fmt.Sprint(part.a), fmt.Sprint(part.b))
			texts = append(texts, fmt.Sprintf("%s differ (%s and %s)", part.name, a, b))
		}
	}
	return texts
}

// Correction adjusts p values for their number.
type Correction string

// The corrections: Holm (1979) bounds the probability of one or more wrong verdicts,
// BenjaminiHochberg (1995) the expected share of wrong verdicts.
const (
	Holm              Correction = "holm"
	BenjaminiHochberg Correction = "bh"
)

// Range is the scale of an environment: Low becomes 0 and High 1. High is the better value, so
// it is the smaller number for a metric such as regret.
type Range struct {
	// Low is the value with score 0.
	Low float64 `json:"low"`
	// High is the value with score 1.
	High float64 `json:"high"`
}

// Check returns an error if the better of two values of the metric would have the lower score,
// or if both would have the same.
func (r Range) Check(d *metric.Definition) error {
	lower := d.Better == metric.Lower
	switch {
	case r.Low == r.High:
		return errors.New("low and high must differ")
	case lower && r.Low < r.High:
		return fmt.Errorf("lower values of %s are better, so high, the value with score 1, must be below low, the value with score 0: swap %g and %g", d.Name, r.Low, r.High)
	case !lower && r.Low > r.High:
		return fmt.Errorf("higher values of %s are better, so high, the value with score 1, must be above low, the value with score 0: swap %g and %g", d.Name, r.Low, r.High)
	}
	return nil
}

// Config chooses what is compared and how.
type Config struct {
	Metric     result.Metric // that is compared
	Pairs      string        // first, all, "against AGENT", "against best", or A,B: the labels of two agents
	Alpha      float64       // level of tests; intervals have level 1 − Alpha
	Correction Correction    // over all comparisons
	Unpaired   bool          // compare independent samples, even where runs are paired
	// Scores normalises environments by label. Environments without use what is known
	// of their model.
	Scores map[string]Range
	// Margins are the differences, by environment, below which agents count as equivalent; "" is
	// of all others. Without, nothing is said of equivalence.
	Margins map[string]float64
	// Progress, if set, is called with the number of comparisons made and of all. It is
	// called from several goroutines.
	Progress func(made, all int)
}

// Most is the number of comparisons, over all environments, up to which Compare makes
// them.
const Most = 1_000_000

// DefaultAlpha is the usual level of tests.
const DefaultAlpha = 0.05

// ComparedAgent is one of the agents compared.
type ComparedAgent struct {
	Label string `json:"label"` // AGENT, or DIR:AGENT with several directories
	Dir   string `json:"dir"`   // output directory, as the user names it
	Agent string `json:"agent"` // label in its experiment

	input *Input
}

// Comparison is one pair of agents in one environment: A minus B.
type Comparison struct {
	Environment string        // label
	A, B        string        // labels
	Paired      bool          // whether run k of A and run k of B met the same draws
	Reason      string        // why it is not paired; or what is missing
	N, NB       int           // pairs; or runs of A and of B
	Dropped     int           // runs of either agent that failed, are missing or have no value
	MeanA       float64       // of the N runs
	MeanB       float64       // of the N or NB runs of B
	Difference  stat.Interval // mean of A minus mean of B, with an interval of level 1 − Alpha; its ends are NaN of too few runs
	WinRate     float64       // share of pairs that A wins, ties half; unpaired: of all pairs of runs
	P           float64       // two-sided, not corrected
	Test        string        // "sign flips, all", "sign flips, 9999 random", "Welch" or, without a variance, "permutation, all"
	Adjusted    float64       // P corrected for the number of comparisons
	Tukey       float64       // p of Tukey–Kramer over all agents where all pairs are unpaired, else NaN
	Margin      float64       // of equivalence; NaN without one
	Equivalence float64       // p of two one-sided tests at Margin, corrected; NaN without a margin
	Equivalent  bool          // |difference| is below Margin, at level Alpha
	Verdict     string        // "X is better", "equivalent" or "not decided"
	Stopped     bool          // the test is sequential: P and Adjusted are NaN, intervals too narrow
	Rests       int           // the number of pairs that a sequential verdict rests on
	Open        bool          // a sequential test that goes on
	Alpha       float64       // level of the family of tests: that of the options, or of a sequential test
	Better      string        // label of the better agent, "" if not decided
}

// NotDecided is the verdict of a test that does not reject. It does not say that the
// agents are equal.
const NotDecided = "not decided"

// Result holds the comparisons of all pairs, and the aggregates over environments.
type Result struct {
	Config        Config             // with their defaults filled in
	Definition    *metric.Definition // of Config.Metric
	LowerIsBetter bool               // for Config.Metric
	Agents        []ComparedAgent    // in the order of the inputs
	Environments  []string           // labels
	// Comparisons are in the order of environments, then of pairs.
	Comparisons []Comparison
	// Tests is the number of comparisons that were made and corrected for. With "against best"
	// it is larger than that of Comparisons.
	Tests int
	// Skipped says what could not be compared.
	Skipped []string
	// Notes say what the reader of the numbers should know.
	Notes   []string
	Overall *Overall // over environments; nil with one
}

// ErrOtherGrid is in the error of a comparison of values that mean something else in one
// experiment than in the other.
var ErrOtherGrid = errors.New("compare another metric, such as reward, or make one of the experiments again with that of the other")

// ErrDependent is in the error of a comparison of runs that are neither paired nor
// independent.
var ErrDependent = fmt.Errorf("runs with the same root seed that do not meet the same draws are neither paired nor independent; give one experiment another seed, or compare them as if independent")

// CheckMetric refuses a metric whose values have no better direction.
func CheckMetric(d *metric.Definition) error {
	if d.Better == metric.Neither {
		return fmt.Errorf("%s is neither better nor worse when it is larger; choose another metric", d.Name)
	}
	return nil
}
