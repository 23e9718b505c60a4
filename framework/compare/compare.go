// Package compare draws conclusions from the records of experiments: which of two
// agents is better in an environment, with what certainty, and how agents stand over
// several environments. The methods are those of framework/stat; docs/statistics.md
// gives definitions and sources.
package compare

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rlrun/rlrun/framework/metric"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/stat"
)

// Input is one experiment: an output directory.
type Input struct {
	Dir     string          // as the user names it
	Summary *result.Summary // statistics of its records, with the values of runs
	// Streams says, by the environment's label, what decides which random numbers its
	// runs meet.
	Streams map[string]Stream
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
// two agents meets the same draws of the same task if their streams are equal.
type Stream struct {
	Seed     uint64  // root seed of the experiment
	Steps    int     // of a run
	Discount float64 // γ, in [0,1]
	Plugin   string  // of the environment, as the config names it
	Params   string  // of the plugin, as canonical JSON
	Digest   string  // of the plugin's files; "" for bundled plugins
}

// differs names the first part in which two streams differ; "" if they are equal.
func (s Stream) differs(o Stream) string {
	for _, part := range []struct {
		name string
		a, b any
	}{
		{"root seeds", s.Seed, o.Seed}, {"steps", s.Steps, o.Steps}, {"discounts", s.Discount, o.Discount},
		{"plugins", s.Plugin, o.Plugin}, {"parameters of the environment", s.Params, o.Params}, {"digests of the plugin", s.Digest, o.Digest},
	} {
		if part.a != part.b {
			return fmt.Sprintf("%s differ (%s and %s)", part.name, brief(part.a), brief(part.b))
		}
	}
	return ""
}

func brief(v any) string {
	text := fmt.Sprint(v)
	switch {
	case text == "":
		return "none"
	case len(text) > 40:
		return text[:37] + "…"
	}
	return text
}

// Correction adjusts p values for their number.
type Correction string

// The corrections: Holm (1979) bounds the probability of one or more wrong verdicts,
// BenjaminiHochberg (1995) the expected share of wrong verdicts.
const (
	Holm              Correction = "holm"
	BenjaminiHochberg Correction = "bh"
)

// Range is the scale of an environment: Low becomes 0 and High 1.
type Range struct {
	// Low is the value with score 0.
	Low float64 `json:"low"`
	// High is the value with score 1.
	High float64 `json:"high"`
}

// Options choose what is compared and how.
type Options struct {
	Metric     result.Metric // that is compared
	Pairs      string        // first, all, or A,B: the labels of two agents
	Alpha      float64       // level of tests; intervals have level 1 − Alpha
	Correction Correction    // over all comparisons
	Unpaired   bool          // compare independent samples, even where runs are paired
	// Scores normalises environments by label. Environments without use what is known
	// of their model.
	Scores map[string]Range
	// Progress, if set, is told how many of all comparisons are made. It is called from
	// several goroutines.
	Progress func(made, all int)
}

// Most is the number of comparisons, over all environments, up to which Compare makes
// them.
const Most = 1_000_000

// DefaultAlpha is the usual level of tests.
const DefaultAlpha = 0.05

// Agent is one of the agents compared.
type Agent struct {
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
	Difference  stat.Interval // mean of A minus mean of B, with an interval of level 1 − Alpha
	WinRate     float64       // share of pairs that A wins, ties half; unpaired: of all pairs of runs
	P           float64       // two-sided, not corrected
	Test        string        // "sign flips, all", "sign flips, 9999 random" or "Welch"
	Adjusted    float64       // P corrected for the number of comparisons
	Tukey       float64       // p of Tukey–Kramer over all agents where all pairs are unpaired, else NaN
	Verdict     string        // "X is better" or "not decided"
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
	Options       Options            // with their defaults filled in
	Definition    *metric.Definition // of Options.Metric
	LowerIsBetter bool               // for Options.Metric
	Agents        []Agent            // in the order of the inputs
	Environments  []string           // labels
	// Comparisons are in the order of environments, then of pairs.
	Comparisons []Comparison
	// Skipped says what could not be compared.
	Skipped []string
	// Notes say what the reader of the numbers should know.
	Notes   []string
	Overall *Overall // over environments; nil with one
}

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

// define returns the definition of a metric by the first input that declares it.
func define(inputs []*Input, m result.Metric) *metric.Definition {
	var declared []metric.Definition
	for _, in := range inputs {
		declared = append(declared, in.Summary.Meta.Definitions...)
	}
	return metric.Define(m, declared...)
}

// Compare compares agents. Its errors are the user's: a metric without values, labels
// that name no agent, runs that cannot be compared.
func Compare(inputs []*Input, o Options) (*Result, error) {
	c := &comparer{Result: Result{Options: o, Definition: define(inputs, o.Metric), Agents: Agents(inputs)}, values: map[cell]*sample{}}
	c.LowerIsBetter = c.Definition.Better == metric.Lower
	if err := c.read(inputs); err != nil {
		return nil, err
	}
	if err := CheckMetric(c.Definition); err != nil {
		return nil, err
	}
	switch {
	case !(o.Alpha > 0 && o.Alpha < 1):
		return nil, fmt.Errorf("alpha must be in (0,1), not %v", o.Alpha)
	case o.Correction != Holm && o.Correction != BenjaminiHochberg:
		return nil, fmt.Errorf("the correction must be holm or bh, not %q", o.Correction)
	}
	pairs, err := c.pairs()
	if err != nil {
		return nil, err
	}
	if n := len(pairs) * len(c.Environments); n > Most {
		return nil, fmt.Errorf("all pairs of %d agents in %d environments are %d comparisons, and a correction for so many leaves nothing decided; more than %d are not made: compare all agents with the first (pairs first), or an experiment of fewer agents", len(c.Agents), len(c.Environments), n, Most)
	}
	if err := c.compare(pairs); err != nil {
		return nil, err
	}
	if len(c.Environments) > 1 {
		c.overall(pairs)
	}
	return &c.Result, nil
}

// Agents lists the agents of all inputs. With several inputs labels begin with the
// directory: its last element, or all of it if that is not unique.
func Agents(inputs []*Input) []Agent {
	var out []Agent
	for _, in := range inputs {
		prefix := ""
		if len(inputs) > 1 {
			prefix = base(in.Dir) + ":"
			for _, other := range inputs {
				if other != in && base(other.Dir) == base(in.Dir) {
					prefix = in.Dir + ":"
				}
			}
		}
		agents := in.Agents
		if agents == nil {
			agents = in.Summary.Meta.Agents
		}
		for _, agent := range agents {
			out = append(out, Agent{prefix + agent, in.Dir, agent, in})
		}
	}
	return out
}

func base(dir string) string {
	dir = strings.TrimRight(dir, `/\`)
	return dir[strings.LastIndexAny(dir, `/\`)+1:]
}

type cell struct {
	environment string
	agent       int
}

// sample holds an agent's values in an environment, by run.
type sample struct {
	runs    []int
	values  []float64
	missing int // runs without a value
}

type comparer struct {
	Result
	values map[cell]*sample
	made   atomic.Int64 // of all, for Options.Progress
	all    int
}

// tell is called after each comparison.
func (c *comparer) tell() {
	if n := c.made.Add(1); c.Options.Progress != nil {
		c.Options.Progress(int(n), c.all)
	}
}

// read collects the values of the metric.
func (c *comparer) read(inputs []*Input) error {
	var has []result.Metric
	for _, in := range inputs {
		for _, env := range in.Summary.Meta.Environments {
			if !slices.Contains(c.Environments, env) {
				c.Environments = append(c.Environments, env)
			}
			for _, m := range in.Summary.MetricsOf(env, false) {
				if !slices.Contains(has, m) {
					has = append(has, m)
				}
			}
		}
	}
	for i, a := range c.Agents {
		for _, env := range a.input.Summary.Meta.Environments {
			s := &sample{missing: a.input.Summary.Meta.Runs}
			if row := a.input.Summary.Row(env, a.Agent, c.Options.Metric); row != nil {
				s.runs, s.values = row.Runs, row.Values
				s.missing -= len(row.Values)
			}
			c.values[cell{env, i}] = s
		}
	}
	for _, env := range c.Environments {
		var without []string
		for i, a := range c.Agents {
			if s := c.values[cell{env, i}]; s != nil && len(s.values) == 0 {
				without = append(without, a.Label)
			}
		}
		if len(without) > 0 {
			c.skip("%s: no run of %s has a value of %s", env, shortList(without), c.Options.Metric)
		}
	}
	if len(has) == 0 {
		return errors.New("no run is recorded")
	}
	if !slices.Contains(has, c.Options.Metric) {
		return fmt.Errorf("no run has the metric %s; recorded are: %s", c.Options.Metric, metric.Names(has))
	}
	return nil
}

// pairs resolves Options.Pairs to indices of agents, A and B.
func (c *comparer) pairs() (out [][2]int, err error) {
	n := len(c.Agents)
	if n < 2 {
		return nil, fmt.Errorf("%s has one agent, %s; a comparison needs two", c.Agents[0].Dir, c.Agents[0].Label)
	}
	switch c.Options.Pairs {
	case "first":
		for i := 1; i < n; i++ {
			out = append(out, [2]int{i, 0})
		}
		return out, nil
	case "all":
		for j := range n {
			for i := j + 1; i < n; i++ {
				out = append(out, [2]int{i, j})
			}
		}
		return out, nil
	}
	// Labels may hold commas: any of them may be the one between the two.
	parts := strings.Split(c.Options.Pairs, ",")
	for cut := 1; cut < len(parts); cut++ {
		a, errA := c.agent(strings.Join(parts[:cut], ","))
		b, errB := c.agent(strings.Join(parts[cut:], ","))
		switch {
		case errA == nil && errB == nil && a != b:
			return [][2]int{{a, b}}, nil
		case errA == nil && errB == nil:
			err = fmt.Errorf("pairs names %s twice", c.Agents[a].Label)
		case err == nil && errA != nil:
			err = errA
		case err == nil:
			err = errB
		}
	}
	if err == nil {
		err = fmt.Errorf("pairs must be first, all, or the labels of two agents with a comma between them, not %q", c.Options.Pairs)
	}
	return nil, err
}

// agent finds an agent by its label, its label and directory, or its name alone where
// that is unique.
func (c *comparer) agent(name string) (int, error) {
	name = strings.TrimSpace(name)
	found := -1
	for i, a := range c.Agents {
		if a.Label == name || a.Dir+":"+a.Agent == name {
			return i, nil
		}
		if a.Agent == name {
			if found >= 0 {
				return 0, fmt.Errorf("agent %q is in several directories: write %s or %s", name, c.Agents[found].Label, a.Label)
			}
			found = i
		}
	}
	if found < 0 {
		var labels []string
		for _, a := range c.Agents {
			labels = append(labels, a.Label)
		}
		return 0, fmt.Errorf("no agent is called %q; there are: %s", name, shortList(labels))
	}
	return found, nil
}

// shortList names the first ten.
func shortList(labels []string) string {
	if n := len(labels) - 10; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(labels[:10], ", "), n)
	}
	return strings.Join(labels, ", ")
}

// compare fills in Comparisons.
func (c *comparer) compare(pairs [][2]int) error {
	draws := c.draws(len(pairs) * len(c.Environments))
	reasons := map[string]bool{}
	type job struct {
		a, b *Agent
		x, y *sample
	}
	var jobs []job // of each comparison
	for _, env := range c.Environments {
		var tukey map[[2]int]float64
		if c.Options.Unpaired && c.Options.Pairs == "all" {
			tukey = c.tukey(env)
		}
		for _, pair := range pairs {
			a, b := &c.Agents[pair[0]], &c.Agents[pair[1]]
			x, y := c.values[cell{env, pair[0]}], c.values[cell{env, pair[1]}]
			if x == nil || y == nil {
				in := a
				if x == nil {
					in = b
				}
				c.skip("%s: only in %s, so that %s and %s are not compared there", env, in.Dir, a.Label, b.Label)
				continue
			}
			if len(x.values) == 0 || len(y.values) == 0 {
				continue // read has said so
			}
			cmp := Comparison{Environment: env, A: a.Label, B: b.Label, Paired: true, Tukey: math.NaN(), Alpha: c.Options.Alpha}
			sa, sb := a.input.Streams[env], b.input.Streams[env]
			why := sa.differs(sb)
			switch {
			case c.Options.Unpaired:
				cmp.Paired, cmp.Reason = false, "compared as independent samples"
			case why != "" && sa.Seed == sb.Seed:
				return fmt.Errorf("%s: %s and %s: %s: %w", env, a.Label, b.Label, why, ErrDependent)
			case why != "":
				cmp.Paired, cmp.Reason = false, why
			}
			if why != "" && !reasons[why+a.Dir+b.Dir+env] {
				reasons[why+a.Dir+b.Dir+env] = true
				c.Notes = append(c.Notes, fmt.Sprintf("%s: runs of %s and %s are not paired: %s.", env, a.Dir, b.Dir, why))
				if sa.Steps != sb.Steps || sa.Plugin != sb.Plugin || sa.Params != sb.Params {
					c.Notes = append(c.Notes, fmt.Sprintf("%s: the tasks differ between %s and %s, so that a difference may be the task's and not the agent's.", env, a.Dir, b.Dir))
				}
			}
			if p, ok := tukey[pair]; ok {
				cmp.Tukey = p
			}
			c.Comparisons = append(c.Comparisons, cmp)
			jobs = append(jobs, job{a, b, x, y})
		}
	}
	c.all = len(jobs)
	if len(c.Environments) > 1 {
		c.all += len(pairs) // of overall
	}
	each(len(jobs), func(i int) {
		cmp, j := &c.Comparisons[i], jobs[i]
		c.test(cmp, j.x, j.y, draws, j.a.input.Streams[cmp.Environment].Seed)
		c.sequential(cmp, j.a, j.b)
		c.tell()
	})
	if len(c.Comparisons) == 0 {
		return fmt.Errorf("nothing can be compared: %s", strings.TrimSuffix(strings.Join(c.Skipped, " "), "."))
	}
	c.conclude()
	return nil
}

// each calls do with 0 to n−1, on all processors. do writes to a place of its own, so
// that results do not depend on the order of calls.
func each(n int, do func(i int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	wg.Wait()
}

func (c *comparer) skip(format string, args ...any) {
	c.Skipped = append(c.Skipped, fmt.Sprintf(format, args...)+".")
}

// draws is the number of random sign vectors: 9,999, or so many more that a correction
// for m comparisons can still reject, but at most 999,999.
func (c *comparer) draws(m int) int {
	n := 10_000
	for n < 1_000_000 && float64(m)/float64(n) > c.Options.Alpha/5 {
		n *= 10
	}
	return n - 1
}

// test fills in the numbers of one comparison.
func (c *comparer) test(cmp *Comparison, x, y *sample, draws int, root uint64) {
	sign := 1.0
	if c.LowerIsBetter {
		sign = -1
	}
	source := seed.NewSource(root, fmt.Sprintf("%q %q %q %q", cmp.Environment, cmp.A, cmp.B, c.Options.Metric))
	random := source.Seed(0, seed.Statistics, 0)
	if !cmp.Paired {
		t := stat.Welch(x.values, y.values, 1-c.Options.Alpha)
		cmp.N, cmp.NB, cmp.Dropped = len(x.values), len(y.values), x.missing+y.missing
		cmp.MeanA, cmp.MeanB, cmp.Difference = stat.Mean(x.values), stat.Mean(y.values), t.Interval
		cmp.P, cmp.Test = t.P, "Welch"
		cmp.WinRate = stat.ProbabilityOfImprovement(stat.Scores{x.values}, stat.Scores{y.values})
		if sign < 0 {
			cmp.WinRate = 1 - cmp.WinRate
		}
		return
	}
	var d, wins, xs, ys []float64
	for i, j := 0, 0; i < len(x.runs) && j < len(y.runs); {
		switch {
		case x.runs[i] < y.runs[j]:
			i++
		case x.runs[i] > y.runs[j]:
			j++
		default:
			xs, ys = append(xs, x.values[i]), append(ys, y.values[j])
			d = append(d, x.values[i]-y.values[j])
			wins = append(wins, sign*d[len(d)-1])
			i, j = i+1, j+1
		}
	}
	cmp.N, cmp.NB = len(d), len(d)
	cmp.Dropped = max(len(x.runs)+x.missing, len(y.runs)+y.missing) - len(d)
	cmp.MeanA, cmp.MeanB = stat.Mean(xs), stat.Mean(ys)
	cmp.Difference = stat.NewResampler(1-c.Options.Alpha, []uint64{random}).Mean(0, d)
	cmp.WinRate = stat.PairedWinRate(stat.Scores{wins}, stat.Scores{make([]float64, len(wins))})
	var exact bool
	cmp.P, exact = stat.SignFlip(d, draws, random)
	cmp.Test = "sign flips, all"
	if !exact {
		cmp.Test = fmt.Sprintf("sign flips, %d random", draws)
	}
}

// sequential gives a comparison that stopped its experiment the verdict of the test that
// did: other p values do not know that runs were looked at.
func (c *comparer) sequential(cmp *Comparison, a, b *Agent) {
	if a.input != b.input || a.input.Until == nil || !cmp.Paired || a.input.Metric != c.Options.Metric {
		return
	}
	for i := range a.input.Until {
		p := &a.input.Until[i]
		forth, back := p.A == a.Agent && p.B == b.Agent, p.A == b.Agent && p.B == a.Agent
		if p.Environment != cmp.Environment || !forth && !back {
			continue
		}
		cmp.Stopped, cmp.P, cmp.Alpha = true, math.NaN(), a.input.Alpha
		cmp.Rests, cmp.Open, cmp.Dropped = p.Runs(), p.Open(), p.Dropped // runs that were not made are not missing
		switch p.Better {
		case a.Agent:
			cmp.Better = a.Label
		case b.Agent:
			cmp.Better = b.Label
		}
		cmp.Test = "sequential sign flips, " + cmp.progress()
	}
}

// progress says how far a sequential test is.
func (c *Comparison) progress() string {
	switch {
	case c.Open:
		return fmt.Sprintf("open after %d", c.Rests)
	case c.Better != "":
		return fmt.Sprintf("stopped at %d", c.Rests)
	}
	return "to the end"
}

// tukey returns the p values of Tukey–Kramer over all agents that have values.
func (c *comparer) tukey(env string) map[[2]int]float64 {
	var groups [][]float64
	var index []int
	for i := range c.Agents {
		if s := c.values[cell{env, i}]; s != nil && len(s.values) > 0 {
			groups, index = append(groups, s.values), append(index, i)
		}
	}
	out := map[[2]int]float64{}
	for _, p := range stat.TukeyKramer(groups, 1-c.Options.Alpha) {
		out[[2]int{index[p.Second], index[p.First]}] = p.P
	}
	return out
}

// conclude adjusts the p values of all comparisons and says what follows.
func (c *comparer) conclude() {
	var tested []int // comparisons that have a p value
	var ps []float64
	for i := range c.Comparisons {
		cmp := &c.Comparisons[i]
		cmp.Verdict, cmp.Adjusted = NotDecided, math.NaN()
		if cmp.Better != "" { // by the sequential test
			cmp.Verdict = cmp.Better + " is better"
		}
		if !math.IsNaN(cmp.P) {
			tested, ps = append(tested, i), append(ps, cmp.P)
		}
	}
	adjust := stat.Holm
	if c.Options.Correction == BenjaminiHochberg {
		adjust = stat.BenjaminiHochberg
	}
	for k, p := range adjust(ps) {
		cmp := &c.Comparisons[tested[k]]
		cmp.Adjusted = p
		if p > c.Options.Alpha || cmp.Difference.Value == 0 {
			continue
		}
		cmp.Better = cmp.A
		if (cmp.Difference.Value < 0) != c.LowerIsBetter {
			cmp.Better = cmp.B
		}
		cmp.Verdict = cmp.Better + " is better"
	}
	c.otherPrograms()
	c.advise()
}

// levels are those of the sequential tests.
func (r *Result) levels() string {
	var out []string
	for i := range r.Comparisons {
		c := &r.Comparisons[i]
		if level := strconv.FormatFloat(c.Alpha, 'g', -1, 64); c.Stopped && !slices.Contains(out, level) {
			out = append(out, level)
		}
	}
	return strings.Join(out, " and ")
}

// otherPrograms notes experiments whose bundled plugins may differ.
func (c *comparer) otherPrograms() {
	var first *Input
	for i := range c.Agents {
		in := c.Agents[i].input
		switch {
		case in.Program == "":
		case first == nil:
			first = in
		case in.Program != first.Program:
			c.Notes = append(c.Notes, fmt.Sprintf("%s was made by %s and %s by %s: the bundled plugins of the two may differ, and with them a task or an agent.", first.Dir, first.Program, in.Dir, in.Program))
			return
		}
	}
}

// advise notes what limits the conclusions.
func (c *comparer) advise() {
	few, pairs, runs, m := 0, 0, 0, len(c.Comparisons)
	cannot, stopped := 0, 0
	for _, cmp := range c.Comparisons {
		if cmp.Paired {
			pairs += cmp.Dropped
		} else {
			runs += cmp.Dropped
		}
		if cmp.Stopped {
			stopped++
			continue
		}
		if cmp.Paired && cmp.N < 50 {
			few++
		}
		if cmp.Paired && cmp.N <= 40 && math.Ldexp(float64(m), 1-cmp.N) > c.Options.Alpha && c.Options.Correction == Holm {
			cannot++
		}
	}
	if cannot > 0 {
		need := int(math.Ceil(1 + math.Log2(float64(m)/c.Options.Alpha)))
		text := fmt.Sprintf("A correction for %d comparisons needs %d pairs of runs or more before it can decide any at level %g, and %d of them have fewer.",
			m, need, c.Options.Alpha, cannot)
		if m == 1 {
			text = fmt.Sprintf("A comparison needs %d pairs of runs or more before it can be decided at level %g.", need, c.Options.Alpha)
		}
		c.Notes = append(c.Notes, text)
	}
	if stopped > 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("%d comparisons are those of the test that stops the experiment (until: decided), at level %s of its config. Their differences are biased away from zero, and their intervals are too narrow.", stopped, c.levels()))
	}
	until := slices.ContainsFunc(c.Agents, func(a Agent) bool { return a.input.Until != nil })
	if until && stopped < m {
		c.Notes = append(c.Notes, "Runs were stopped by a test of other comparisons or another metric. The p values here do not know that; do not report them.")
	}
	if few > 0 {
		c.Notes = append(c.Notes, "Below 50 runs the level of sign flips is approximate where differences are skewed (docs/statistics.md).")
	}
	what := "failed, is missing or has no value"
	if until && stopped < m {
		what = "was not needed by the test that stopped the experiment, failed, is missing or has no value"
	}
	if left := pairs + runs; left > 0 {
		of := "pairs of runs"
		if pairs == 0 {
			of = "runs"
		}
		c.Notes = append(c.Notes, fmt.Sprintf("%d %s are left out, over all comparisons: a run %s. If an agent fails more often where it does badly, the comparison favours it.", left, of, what))
	}
}
