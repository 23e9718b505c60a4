package experiment

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/rlrun/rlrun/framework/compare"
	"github.com/rlrun/rlrun/framework/metric"
	"github.com/rlrun/rlrun/framework/report"
	"github.com/rlrun/rlrun/framework/result"
)

// Compare says how agents are compared, declared before anything runs
// (docs/statistics.md).
type Compare struct {
	// Metric to compare. Lower is better for regret. Default: reward.
	Metric result.Metric `json:"metric,omitempty"`
	// Pairs to compare: first compares all agents with the first, all compares all
	// pairs. Default: first.
	Pairs string `json:"pairs,omitempty" jsonschema:"enum=first,enum=all,default=first"`
	// Alpha is the level of all tests together: the probability of any wrong
	// verdict. Default: 0.05.
	Alpha float64 `json:"alpha,omitempty" jsonschema:"exclusiveMinimum=0,exclusiveMaximum=1,default=0.05"`
	// Until, if it is decided, stops agents whose comparisons are all decided. It looks
	// after every block of runs. Then runs is the largest number of runs that are made.
	// Default: all runs are made.
	Until string `json:"until,omitempty" jsonschema:"enum=decided"`
	// Block is the number of runs between looks. Default: 20.
	Block int `json:"block,omitempty" jsonschema:"minimum=1,default=20"`
	// Scores gives, by the label of an environment, the values of the metric that
	// count as 0 (low) and 1 (high). Default: uniformly random and optimal, where
	// the model is known.
	Scores map[string]compare.Range `json:"scores,omitempty"`
}

const untilDecided = "decided"

// compare fills in the defaults of Config.Compare and checks it; environments and
// agents are expanded.
func (p *Plan) compare() error {
	if p.Config.Compare == nil {
		return nil
	}
	c := *p.Config.Compare
	p.Config.Compare = &c
	if c.Metric == "" {
		c.Metric = result.Reward
	}
	if c.Pairs == "" {
		c.Pairs = "first"
	}
	if c.Alpha == 0 {
		c.Alpha = compare.DefaultAlpha
	}
	if c.Block == 0 {
		c.Block = 20
	}
	if err := knownMetric(c.Metric); err != nil {
		return At(err, "compare", "metric")
	}
	if !c.Metric.OfPlugin() { // Check knows its definition
		if err := compare.CheckMetric(metric.Define(c.Metric)); err != nil {
			return At(err, "compare", "metric")
		}
	}
	if c.Metric.OfPlugin() && c.Until != "" {
		return At(fmt.Errorf("until %s needs a metric of rlrun's own, and %s is a plugin's", c.Until, c.Metric), "compare", "metric")
	}
	recorded := p.Config.Record.Metrics
	if !c.Metric.OfPlugin() && !slices.Contains(recorded, c.Metric) && !slices.Contains(recorded, c.Metric.RecordedAs()) {
		return At(fmt.Errorf("%s is not recorded; add %s to record.metrics", c.Metric, c.Metric.RecordedAs()), "compare", "metric")
	}
	for name, r := range c.Scores {
		if !slices.ContainsFunc(p.Environments, func(e Component) bool { return e.Name == name }) {
			return At(fmt.Errorf("no environment is called %q", name), "compare", "scores")
		}
		if !c.Metric.OfPlugin() {
			if err := r.Check(metric.Define(c.Metric)); err != nil {
				return At(err, "compare", "scores", name)
			}
		}
	}
	if c.Until == "" {
		return nil
	}
	return At(p.Sequential().Check(), "compare")
}

// Sequential returns the test that stops the experiment; nil if all runs are made.
func (p *Plan) Sequential() *compare.Sequential {
	c := p.Config.Compare
	if c == nil || c.Until != untilDecided {
		return nil
	}
	s := &compare.Sequential{Metric: c.Metric, Pairs: c.Pairs, Alpha: c.Alpha, Block: c.Block, Runs: p.Config.Runs, Seed: *p.Config.Seed}
	meta := p.Meta()
	s.Environments, s.Agents, s.Skips = meta.Environments, meta.Agents, meta.Skips
	return s
}

// sameComparison refuses to change the test that stops an experiment, or the planned
// number of runs, once the test has looked at records of dir. Its level would no longer
// hold.
func (p *Plan) sameComparison(dir string, old Config) error {
	if old.Compare == nil && p.Config.Compare == nil {
		return nil
	}
	before, err := Compile(old)
	if err != nil {
		return err
	}
	if before.Sequential() == nil && p.Sequential() == nil {
		return nil
	}
	same := reflect.DeepEqual(before.Config.Compare, p.Config.Compare)
	if same && before.Config.Runs == p.Config.Runs {
		return nil
	}
	path := filepath.Join(dir, configFile)
	if before.Sequential() != nil {
		progress, err := before.Decide(dir)
		if err != nil || !compare.Looked(progress) {
			return err
		}
	} else if keys, err := result.ReadKeys(dir); err != nil || len(keys) == 0 {
		return err
	}
	what := "compare differs"
	if same {
		what = fmt.Sprintf("runs differs: it was %d and is now %d", before.Config.Runs, p.Config.Runs)
	}
	return fmt.Errorf("%s: %s: this is %w, since results were looked at: a change would invalidate the level of the test", path, what, ErrOtherExperiment)
}

// runUntil makes the runs that s needs, block by block. A run that failed is not tried
// again, also with --resume: it may have been looked at.
func (p *Plan) runUntil(ctx context.Context, o Options, s *compare.Sequential) error {
	for {
		progress, recorded, err := p.decide(o.Dir, s)
		if err != nil {
			return err
		}
		needed := s.Needed(progress, recorded)
		block := o
		block.Done = Done{}
		left := 0
		for _, c := range p.Cells() {
			key := p.key(c)
			most := needed[key]
			for key.Run = range p.Config.Runs {
				if block.Done[key] = recorded[key] || key.Run >= most; !block.Done[key] {
					left++
				}
			}
		}
		if left == 0 {
			return nil
		}
		if err := p.runAll(ctx, block); err != nil {
			return err
		}
	}
}

// Decide looks at the records in dir: what the test that stops the experiment says of
// every comparison. Nil if all runs are made.
func (p *Plan) Decide(dir string) ([]compare.Progress, error) {
	s := p.Sequential()
	if s == nil {
		return nil, nil
	}
	progress, _, err := p.decide(dir, s)
	return progress, err
}

// Needed returns the number of runs that each agent still needs in an environment, by
// label, where a test stops the experiment that dir holds. It is 0 where all is decided.
// Nil if all runs are made.
func (p *Plan) Needed(dir string) (map[result.Key]int, error) {
	s := p.Sequential()
	if s == nil {
		return nil, nil
	}
	progress, recorded, err := p.decide(dir, s)
	if err != nil {
		return nil, err
	}
	return s.Needed(progress, recorded), nil
}

// decide returns also which runs have a record.
func (p *Plan) decide(dir string, s *compare.Sequential) ([]compare.Progress, map[result.Key]bool, error) {
	meta := p.Meta()
	if err := readTasks(dir, &meta); err != nil { // bounds of rewards say what is rounding
		return nil, nil, err
	}
	meta.Metrics = []result.Metric{s.Metric.RecordedAs()}
	runs, err := result.OpenRuns(dir) // once, as shards may add records meanwhile
	if err != nil {
		return nil, nil, p.Blame(err)
	}
	summary, err := runs.Aggregate(meta)
	if err != nil {
		return nil, nil, err
	}
	recorded := recordedIn(runs)
	return s.Decide(summary, recorded), recorded, nil
}

// Streams returns, by label, what identifies the random numbers and the task of
// each environment's runs. digests are the digests of plugins that have their
// own files, by their names in the config.
func (p *Plan) Streams(digests map[string]string) map[string]compare.Stream {
	out := map[string]compare.Stream{}
	for _, e := range p.Environments {
		out[e.Name] = compare.Stream{
			Seed: *p.Config.Seed, Steps: p.Config.Steps, Discount: *p.Config.Discount,
			Plugin: strings.Join(append([]string{e.Plugin}, e.Args...), " "), Params: canonical(e.Params), Digest: digests[e.Plugin],
		}
	}
	return out
}

// canonical writes equal parameters as equal text.
func canonical(params json.RawMessage) string {
	var v any
	if json.Unmarshal(params, &v) != nil || v == nil {
		return "{}"
	}
	text, err := json.Marshal(v) // sorts keys
	if err != nil {
		return string(params)
	}
	return string(text)
}

// comparisonsOutput compares agents as the config declares.
type comparisonsOutput struct{}

func (comparisonsOutput) Name() string { return "comparisons" }
func (comparisonsOutput) Doc() string {
	return "comparisons.csv: which agent is better, if the config says how to compare"
}

func (comparisonsOutput) Write(r *Results) ([]string, error) {
	if r.Plan.Config.Compare == nil {
		return nil, nil
	}
	found, err := r.Compare()
	if err != nil { // as of an experiment that was interrupted early
		r.Summary.Notices = append(r.Summary.Notices, fmt.Sprintf("Agents were not compared: %v", err))
		return nil, nil
	}
	const name = "comparisons.csv"
	if err := r.write(name, func(w io.Writer) error { return compare.WriteCSV(w, found) }); err != nil {
		return nil, err
	}
	if slices.Contains(r.Files, databaseFile) {
		err = compare.WriteSQLite(filepath.Join(r.Dir, databaseFile), found)
	}
	return []string{name}, err
}

// Compare compares the agents as the config says; if it says nothing, by their reward
// with the first one.
func (r *Results) Compare() (*compare.Result, error) {
	if r.compared != nil {
		return r.compared, nil
	}
	o := compare.Options{Metric: result.Reward, Pairs: "first", Alpha: compare.DefaultAlpha, Correction: compare.Holm}
	if c := r.Plan.Config.Compare; c != nil {
		o.Metric, o.Pairs, o.Alpha, o.Scores = c.Metric, c.Pairs, c.Alpha, c.Scores
	}
	in := &compare.Input{Dir: r.Dir, Summary: r.Summary, Streams: r.Plan.Streams(nil), Metric: o.Metric, Alpha: o.Alpha}
	if s := r.Plan.Sequential(); s != nil {
		in.Until = s.Decide(r.Summary, recordedIn(r.runs))
	}
	var err error
	r.compared, err = compare.Compare([]*compare.Input{in}, o)
	return r.compared, err
}

// recordedIn returns the runs that have a record.
func recordedIn(runs *result.Runs) map[result.Key]bool {
	recorded := map[result.Key]bool{}
	for i := range runs.Entries {
		recorded[runs.Entries[i].Key] = true
	}
	return recorded
}

// markNotNeeded counts missing runs as not needed where the test that stops the
// experiment has decided all that they are for.
func (p *Plan) markNotNeeded(s *result.Summary, runs *result.Runs) {
	test := p.Sequential()
	if test == nil {
		return
	}
	recorded := recordedIn(runs)
	needed := test.Needed(test.Decide(s, recorded), recorded)
	for i := range s.Counts {
		c := &s.Counts[i]
		if needed[result.Key{Environment: c.Environment, Agent: c.Agent}] == 0 {
			c.NotNeeded, c.Missing = c.Missing, 0
		}
	}
}

// sweeps lists the agents, and the environments, that are variants of one entry of the
// config.
func (p *Plan) sweeps() []report.Sweep {
	out := sweepsOf(p.Config.Agents, p.agentOrigins)
	for _, s := range sweepsOf(p.Config.Environments, p.environmentOrigins) {
		s.Agents, s.Environments = nil, s.Agents
		out = append(out, s)
	}
	return out
}

// sweepsOf takes components as agents. origins holds the entry of each variant.
func sweepsOf(entries []Component, origins []int) []report.Sweep {
	var out []report.Sweep
	for origin, c := range entries {
		keys := slices.Sorted(maps.Keys(c.Sweep))
		if len(keys) == 0 {
			continue
		}
		sweep := report.Sweep{Name: sweptName(c, keys), Keys: keys}
		variant := 0
		for a, o := range origins {
			if o != origin {
				continue
			}
			// The last key changes fastest, as in Component.sweep.
			values := make([]string, len(keys))
			rest := variant
			for k := len(keys) - 1; k >= 0; k-- {
				list := c.Sweep[keys[k]]
				values[k] = strings.Trim(string(list[rest%len(list)]), `"`)
				rest /= len(list)
			}
			sweep.Agents, sweep.Values = append(sweep.Agents, a), append(sweep.Values, values)
			variant++
		}
		if variant > 1 {
			out = append(out, sweep)
		}
	}
	return out
}

// sweptName is the name of a component without its swept values.
func sweptName(c Component, keys []string) string {
	name := c.Name
	if name == "" {
		return c.label()
	}
	for _, key := range keys {
		hole := "{" + key + "}"
		at := strings.Index(name, hole)
		for ; at >= 0; at = strings.Index(name, hole) {
			start := strings.LastIndexByte(name[:at], ' ') + 1 // with the word before it, as in "γ={gamma}"
			name = name[:start] + name[at+len(hole):]
		}
	}
	if name = strings.Trim(strings.Join(strings.Fields(name), " "), " ,;"); name == "" {
		return c.label()
	}
	return name
}
