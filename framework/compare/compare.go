// Package compare draws conclusions from the records of experiments: which of two
// agents is better in an environment, with what certainty, and how agents stand over
// several environments. The methods are those of framework/stat; docs/statistics.md
// gives definitions and sources.
package compare

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/rlrun/rlrun/framework/metric"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/stat"
	"github.com/rlrun/rlrun/internal/each"
	"github.com/rlrun/rlrun/internal/parallel"
)

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
func Compare(inputs []*Input, o Config) (*Result, error) {
	c, pairs, err := prepare(inputs, o)
	if err != nil {
		return nil, err
	}
	if n := len(pairs) * len(c.Environments); n > Most {
		return nil, fmt.Errorf("all pairs of %d agents in %d environments are %d comparisons, and a correction for so many leaves nothing decided; more than %d are not made: compare all agents with the first (pairs first), or an experiment of fewer agents", len(c.Agents), len(c.Environments), n, Most)
	}
	if err := c.compare(pairs); err != nil {
		return nil, err
	}
	if c.Config.Pairs == againstBest {
		pairs = c.keepBest(pairs)
	}
	if len(c.Environments) > 1 {
		c.overall(pairs)
	}
	return &c.Result, nil
}

// prepare reads the values and checks the options.
func prepare(inputs []*Input, o Config) (c *comparer, pairs [][2]int, err error) {
	c = &comparer{Result: Result{Config: o, Definition: define(inputs, o.Metric), Agents: Agents(inputs)}, values: map[cell]*sample{}}
	c.LowerIsBetter = c.Definition.Better == metric.Lower
	if err := c.read(inputs); err != nil {
		return nil, nil, err
	}
	if err := CheckMetric(c.Definition); err != nil {
		return nil, nil, err
	}
	switch {
	case !(o.Alpha > 0 && o.Alpha < 1):
		return nil, nil, fmt.Errorf("alpha must be in (0,1), not %v", o.Alpha)
	case o.Correction != Holm && o.Correction != BenjaminiHochberg:
		return nil, nil, fmt.Errorf("the correction must be holm or bh, not %q", o.Correction)
	}
	for _, env := range slices.Sorted(maps.Keys(o.Scores)) {
		if err := o.Scores[env].Check(c.Definition); err != nil {
			return nil, nil, fmt.Errorf("scores of %s: %w", env, err)
		}
	}
	if err := c.checkMargins(); err != nil {
		return nil, nil, err
	}
	pairs, err = c.pairs()
	return c, pairs, err
}

// Agents lists the agents of all inputs. With several inputs labels begin with the
// directory: its last element, or all of it if that is not unique.
func Agents(inputs []*Input) []ComparedAgent {
	var out []ComparedAgent
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
			out = append(out, ComparedAgent{prefix + agent, in.Dir, agent, in})
		}
	}
	return out
}

// Labels are those of Agents, by the names of each input's agents.
func Labels(inputs []*Input) []map[string]string {
	out := make([]map[string]string, len(inputs))
	for _, a := range Agents(inputs) {
		i := slices.Index(inputs, a.input)
		if out[i] == nil {
			out[i] = map[string]string{}
		}
		out[i][a.Agent] = a.Label
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
	runs     []int
	values   []float64
	programs result.Spans // of the environment
	missing  int          // runs without a value
	rounding result.Rounding
}

type comparer struct {
	Result
	values map[cell]*sample
	made   atomic.Int64 // of all, for Config.Progress
	all    int
}

// tell is called after each comparison.
func (c *comparer) tell() {
	if n := c.made.Add(1); c.Config.Progress != nil {
		c.Config.Progress(int(n), c.all)
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
		}
		for _, m := range in.Summary.AllMetrics() {
			if !slices.Contains(has, m) {
				has = append(has, m)
			}
		}
	}
	for i, a := range c.Agents {
		for _, env := range a.input.Summary.Meta.Environments {
			meta := &a.input.Summary.Meta
			s := &sample{missing: meta.Runs, rounding: result.RoundingOf(meta, env, c.Config.Metric)}
			if row := a.input.Summary.Row(env, a.Agent, c.Config.Metric); row != nil {
				s.runs, s.values, s.programs = row.Runs, slices.Clone(row.Values), row.Programs
				s.missing -= len(row.Values)
				if len(row.Censored) > 0 {
					c.Notes = append(c.Notes, row.CensoredNote()+".")
				}
			}
			c.values[cell{env, i}] = s
		}
	}
	for _, env := range c.Environments {
		var without []string
		var with []*sample
		for i, a := range c.Agents {
			s := c.values[cell{env, i}]
			if s == nil {
				continue
			}
			with = append(with, s)
			if len(s.values) == 0 {
				without = append(without, a.Label)
			}
		}
		merge(with)
		if len(without) > 0 {
			c.skip("%s: no run of %s has a value of %s", env, shortList(without), c.Config.Metric)
		}
	}
	if len(has) == 0 {
		return errors.New("no run is recorded")
	}
	if !slices.Contains(has, c.Config.Metric) {
		return fmt.Errorf("no run has the metric %s; recorded are: %s", c.Config.Metric, metric.Names(has))
	}
	return nil
}

// pairs resolves Config.Pairs to indices of agents, A and B.
func (c *comparer) pairs() (out [][2]int, err error) {
	n := len(c.Agents)
	if n < 2 {
		return nil, fmt.Errorf("%s has one agent, %s; a comparison needs two", c.Agents[0].Dir, c.Agents[0].Label)
	}
	if _, err := c.agent("best"); err == nil && c.Config.Pairs == againstBest {
		return nil, errors.New("against best is ambiguous, as an agent is called so: give its directory too, or compare all pairs")
	}
	switch c.Config.Pairs {
	case "first":
		for i := 1; i < n; i++ {
			out = append(out, [2]int{i, 0})
		}
		return out, nil
	case "all", againstBest:
		for j := range n {
			for i := j + 1; i < n; i++ {
				out = append(out, [2]int{i, j})
			}
		}
		return out, nil
	}
	if name, ok := strings.CutPrefix(c.Config.Pairs, against); ok {
		b, err := c.agent(name)
		for i := range c.Agents {
			if i != b {
				out = append(out, [2]int{i, b})
			}
		}
		return out, err
	}
	// Labels may hold commas: any of them may be the one between the two.
	parts := strings.Split(c.Config.Pairs, ",")
	for cut := 1; cut < len(parts); cut++ {
		a, errA := c.agent(strings.Join(parts[:cut], ","))
		b, errB := c.agent(strings.Join(parts[cut:], ","))
		switch {
		case errA == nil && errB == nil && a != b:
			out = append(out, [2]int{a, b})
		case errA == nil && errB == nil:
			err = fmt.Errorf("pairs names %s twice", c.Agents[a].Label)
		case err == nil && errA != nil:
			err = errA
		case err == nil:
			err = errB
		}
	}
	switch {
	case len(out) == 1:
		return out, nil
	case len(out) > 1:
		return nil, fmt.Errorf("pairs %s is ambiguous: %s and %s, or %s and %s", c.Config.Pairs, c.Agents[out[0][0]].Label, c.Agents[out[0][1]].Label, c.Agents[out[1][0]].Label, c.Agents[out[1][1]].Label)
	case err == nil:
		err = fmt.Errorf("pairs must be first, all, or the labels of two agents with a comma between them, not %q", c.Config.Pairs)
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
		labels := each.Of(c.Agents, func(a ComparedAgent) string { return a.Label })
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
	type job struct {
		a, b *ComparedAgent
		x, y *sample
	}
	var jobs []job // of each comparison
	for _, env := range c.Environments {
		var tukey map[[2]int]float64
		if c.Config.Unpaired && c.Config.Pairs == "all" {
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
			p, err := c.pairing(env, pair)
			if err != nil {
				return err
			}
			one := Comparison{Environment: env, A: a.Label, B: b.Label, Paired: p.paired, Tukey: math.NaN(), Alpha: c.Config.Alpha, Margin: c.margin(env), Equivalence: math.NaN()}
			switch {
			case c.Config.Unpaired:
				one.Reason = "compared as independent samples"
			case !p.paired:
				one.Reason = p.why
			}
			c.note(p.notes)
			if p, ok := tukey[pair]; ok {
				one.Tukey = p
			}
			c.Comparisons = append(c.Comparisons, one)
			jobs = append(jobs, job{a, b, p.x, p.y})
		}
	}
	c.all = len(jobs)
	if len(c.Environments) > 1 {
		c.all += len(pairs) // of overall
	}
	parallel.Each(len(jobs), func(i int) {
		cmp, j := &c.Comparisons[i], jobs[i]
		c.test(cmp, j.x, j.y, draws, j.a.input.Streams[cmp.Environment].Seed)
		c.sequential(cmp, j.a, j.b)
		c.tell()
	})
	if len(c.Comparisons) == 0 {
		return fmt.Errorf("nothing can be compared: %s", strings.TrimSuffix(strings.Join(c.Skipped, " "), "."))
	}
	c.Tests = len(c.Comparisons)
	c.conclude()
	return nil
}

// The prefix of Config.Pairs that compares all agents with one, and that one if it is the best
// of each environment.
const against, againstBest = "against ", "against best"

// keepBest leaves only the comparisons with the best agent of each environment, and returns
// their pairs. All pairs were tested and corrected for, as any agent might have been the best.
func (c *comparer) keepBest(pairs [][2]int) [][2]int {
	for _, env := range c.Environments {
		label, best := "", math.Inf(-1)
		for i, a := range c.Agents {
			if s := c.values[cell{env, i}]; s != nil && len(s.values) > 0 {
				mean := stat.Mean(s.values)
				if c.LowerIsBetter {
					mean = -mean
				}
				if mean > best {
					label, best = a.Label, mean
				}
			}
		}
		c.Comparisons = slices.DeleteFunc(c.Comparisons, func(cmp Comparison) bool {
			return cmp.Environment == env && cmp.A != label && cmp.B != label
		})
	}
	c.Notes = append(c.Notes, fmt.Sprintf("Only comparisons with the best agent of each environment are shown. The best was chosen by these runs, so p values are corrected for all %d comparisons.", c.Tests))
	return slices.DeleteFunc(pairs, func(pair [2]int) bool {
		return !slices.ContainsFunc(c.Comparisons, func(cmp Comparison) bool {
			return cmp.A == c.Agents[pair[0]].Label && cmp.B == c.Agents[pair[1]].Label
		})
	})
}

func (c *comparer) skip(format string, args ...any) {
	c.Skipped = append(c.Skipped, fmt.Sprintf(format, args...)+".")
}

// draws is the number of random sign vectors: 9,999, or so many more that a correction
// for m comparisons can still reject, but at most 999,999.
func (c *comparer) draws(m int) int {
	n := 10_000
	for n < 1_000_000 && float64(m)/float64(n) > c.Config.Alpha/5 {
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
	source := seed.NewSource(root, fmt.Sprintf("%q %q %q %q", cmp.Environment, cmp.A, cmp.B, c.Config.Metric))
	random := source.Seed(0, seed.Statistics, 0)
	if !cmp.Paired {
		t := stat.Welch(x.values, y.values, 1-c.Config.Alpha)
		cmp.N, cmp.NB, cmp.Dropped = len(x.values), len(y.values), x.missing+y.missing
		cmp.MeanA, cmp.MeanB, cmp.Difference = stat.Mean(x.values), stat.Mean(y.values), t.Interval
		cmp.P, cmp.Test = t.P, "Welch"
		if math.IsNaN(t.P) || math.IsInf(t.T, 0) { // there is no variance to go by
			var exact bool
			cmp.P, exact = stat.Permutation(x.values, y.values, draws, random)
			cmp.Test = randomised("permutation", exact, draws)
		}
		cmp.doubt(!math.IsNaN(t.T))
		c.welchEquivalence(cmp, x.values, y.values, draws, random)
		cmp.WinRate = stat.ProbabilityOfImprovement(stat.Scores{x.values}, stat.Scores{y.values})
		if sign < 0 {
			cmp.WinRate = 1 - cmp.WinRate
		}
		return
	}
	numbers, xs, ys := pair(x, y)
	d := result.Level(numbers)
	wins := make([]float64, len(d))
	for i := range d {
		wins[i] = sign * d[i]
	}
	cmp.N, cmp.NB = len(d), len(d)
	cmp.Dropped = max(len(x.runs)+x.missing, len(y.runs)+y.missing) - len(d)
	cmp.MeanA, cmp.MeanB = stat.Mean(xs), stat.Mean(ys)
	cmp.Difference = stat.NewResampler(1-c.Config.Alpha, []uint64{random}).Mean(0, d)
	cmp.WinRate = stat.PairedWinRate(stat.Scores{wins}, stat.Scores{make([]float64, len(wins))})
	var exact bool
	cmp.P, exact = stat.SignFlip(d, draws, random)
	cmp.Test = randomised("sign flips", exact, draws)
	cmp.doubt(stat.Enough(stat.Scores{d}, 1-c.Config.Alpha))
	c.pairedEquivalence(cmp, numbers, draws, random)
}

// pairing says which runs of two agents are compared in an environment, and how.
type pairing struct {
	x, y   *sample
	paired bool
	why    string   // they are not paired; "" if only the user says so
	notes  []string // what a reader should know
}

// meansOther says what differs between two experiments on which the value of a run depends, whatever the agent does; "" if
// nothing does. A budget is a part of the task, of which pairing tells.
func (c *comparer) meansOther(a, b *Input, sa, sb Stream) string {
	ma, mb := &a.Summary.Meta, &b.Summary.Meta
	switch m := c.Config.Metric; {
	case m == result.DiscountedReturn && sa.Discount != sb.Discount:
		return fmt.Sprintf("discount (%v and %v)", sa.Discount, sb.Discount)
	case m == result.EvaluationReturn && sa.Limit != sb.Limit:
		return fmt.Sprintf("evaluate.limit (%d and %d)", sa.Limit, sb.Limit)
	case m == result.EvaluationReward && sa.Evaluated != sb.Evaluated:
		return fmt.Sprintf("evaluate.steps (%d and %d)", sa.Evaluated, sb.Evaluated)
	case ma.Steps == mb.Steps && ma.Episodes == mb.Episodes && !slices.Equal(ma.Windows(m), mb.Windows(m)):
		return "the " + ma.Axis() + " at which it is recorded"
	}
	return ""
}

// pairing refuses runs that are neither paired nor independent. It leaves out pairs of runs that
// did not have the same program as environment.
func (c *comparer) pairing(env string, agents [2]int) (p pairing, err error) {
	a, b := &c.Agents[agents[0]], &c.Agents[agents[1]]
	p.x, p.y = c.values[cell{env, agents[0]}], c.values[cell{env, agents[1]}]
	sa, sb := a.input.Streams[env], b.input.Streams[env]
	if by := c.meansOther(a.input, b.input, sa, sb); by != "" {
		return p, fmt.Errorf("%s: %s and %s: a run's value of %s depends on %s, and these differ: %w", env, a.Label, b.Label, c.Config.Metric, by, ErrOtherGrid)
	}
	x, y, code := sameProgram(a.input, b.input, p.x, p.y)
	p.why = sa.differs(sb)
	d, _, _ := pair(x, y)
	if p.why == "" && code != "" && len(d) == 0 {
		p.why = code
	}
	from, to := a.Dir, b.Dir
	if a.input == b.input {
		from, to = a.Label, b.Label
	}
	switch p.paired = p.why == "" && !c.Config.Unpaired; {
	case p.why != "" && sa.Seed == sb.Seed && !c.Config.Unpaired:
		return p, fmt.Errorf("%s: %s and %s: %s: %w", env, a.Label, b.Label, p.why, ErrDependent)
	case p.why != "":
		p.notes = append(p.notes, fmt.Sprintf("%s: runs of %s and %s are not paired: %s.", env, from, to, p.why))
	case p.paired && code != "":
		p.notes = append(p.notes, fmt.Sprintf("%s: %d pairs of runs of %s and %s are left out: %s.", env, len(p.x.runs)-len(x.runs), from, to, code))
		p.x, p.y = x, y
	}
	if !p.paired && (code != "" || sa.Steps != sb.Steps || sa.Episodes != sb.Episodes || sa.Plugin != sb.Plugin || sa.Params != sb.Params) {
		text := fmt.Sprintf("%s: the tasks differ between %s and %s, so that a difference may be the task's and not the agent's", env, from, to)
		if code != "" && code != p.why {
			text += ": " + code
		}
		p.notes = append(p.notes, text+".")
	}
	return p, nil
}

// note adds notes that are not there yet.
func (c *comparer) note(notes []string) {
	for _, note := range notes {
		if !slices.Contains(c.Notes, note) {
			c.Notes = append(c.Notes, note)
		}
	}
}

// sameProgram leaves out the runs that both have and in which the environment was not one program.
// why says how the programs differ; "" if nothing is left out.
func sameProgram(a, b *Input, x, y *sample) (_, _ *sample, why string) {
	known := map[[2]string]string{}
	apart := map[int]bool{}
	for _, run := range x.runs {
		if _, both := slices.BinarySearch(y.runs, run); !both {
			continue
		}
		both := [2]string{x.programs.In(run), y.programs.In(run)}
		if _, ok := known[both]; !ok {
			known[both] = differ(a, b, both)
		}
		if known[both] != "" {
			why, apart[run] = known[both], true
		}
	}
	if why == "" {
		return x, y, ""
	}
	return x.without(apart), y.without(apart), why
}

// differ says how two programs of an environment differ. Programs of one identity differ if they
// loaded other code later, in a step for example.
func differ(a, b *Input, programs [2]string) string {
	was, is := a.Code[programs[0]], b.Code[programs[1]]
	if programs[0] == programs[1] {
		was, is = maps.Clone(was), maps.Clone(is)
		maps.DeleteFunc(was, func(name, _ string) bool { return is[name] == "" })
		maps.DeleteFunc(is, func(name, _ string) bool { return was[name] == "" })
		if why := was.Difference(is); why != "" {
			return "programs of the environment differ: " + why
		}
		return ""
	}
	why := was.Difference(is)
	if why == "" || programs[0] == "" || programs[1] == "" {
		why = fmt.Sprintf("%s and %s", cmp.Or(programs[0], "bundled"), cmp.Or(programs[1], "bundled"))
	}
	return "programs of the environment differ: " + why
}

// without returns the sample without some runs.
func (s *sample) without(runs map[int]bool) *sample {
	out := *s
	out.runs, out.values = nil, nil
	for i, run := range s.runs {
		if !runs[run] {
			out.runs, out.values = append(out.runs, run), append(out.values, s.values[i])
		}
	}
	return &out
}

// pair returns the differences of the runs that both have, and their values.
func pair(x, y *sample) (d []result.Rounded, xs, ys []float64) {
	for i, j := 0, 0; i < len(x.runs) && j < len(y.runs); {
		switch {
		case x.runs[i] < y.runs[j]:
			i++
		case x.runs[i] > y.runs[j]:
			j++
		default:
			xs, ys = append(xs, x.values[i]), append(ys, y.values[j])
			d = append(d, x.rounding.Of(x.values[i]).Minus(y.rounding.Of(y.values[j])))
			i, j = i+1, j+1
		}
	}
	return d, xs, ys
}

// The reasons for which an interval says nothing or too little.
const (
	fewRuns  = "too few runs for an interval"
	noSpread = "values do not vary, so that there is no interval"
)

// doubt adds what is wrong with the interval to the reason. enough: there are as many runs as it needs.
func (c *Comparison) doubt(enough bool) {
	if !math.IsNaN(c.Difference.Low) {
		return
	}
	what := fewRuns
	if enough {
		what = noSpread
	}
	if c.Reason != "" {
		what = c.Reason + "; " + what
	}
	c.Reason = what
}

// randomised names a test of all cases or of so many random ones.
func randomised(test string, exact bool, draws int) string {
	if exact {
		return test + ", all"
	}
	return fmt.Sprintf("%s, %d random", test, draws)
}

// sequential gives a comparison that stopped its experiment the verdict of the test that
// did: other p values do not know that runs were looked at.
func (c *comparer) sequential(cmp *Comparison, a, b *ComparedAgent) {
	if a.input != b.input || a.input.Until == nil || !cmp.Paired || a.input.Metric != c.Config.Metric {
		return
	}
	for i := range a.input.Until {
		p := &a.input.Until[i]
		forth, back := p.A == a.Agent && p.B == b.Agent, p.A == b.Agent && p.B == a.Agent
		if p.Environment != cmp.Environment || !forth && !back {
			continue
		}
		cmp.Stopped, cmp.P, cmp.Equivalence, cmp.Alpha = true, math.NaN(), math.NaN(), a.input.Alpha
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
	text := "to the end"
	switch {
	case c.Open:
		text = fmt.Sprintf("open after %d", c.Rests)
	case c.Better != "":
		text = fmt.Sprintf("stopped at %d", c.Rests)
	}
	return text + c.left()
}

// left says how many runs are left out.
func (c *Comparison) left() string {
	if c.Dropped == 0 {
		return ""
	}
	return fmt.Sprintf(", %d left out", c.Dropped)
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
	for _, p := range stat.TukeyKramer(groups, 1-c.Config.Alpha) {
		out[[2]int{index[p.Second], index[p.First]}] = p.P
	}
	return out
}
