package result

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/rlrun/rlrun/framework/metric"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/stat"
	"github.com/rlrun/rlrun/internal/each"
	"github.com/rlrun/rlrun/internal/parallel"
)

// Aggregate makes the statistics of an experiment. The records must come in the
// order of ReadRecords and Sorted, with an agent's runs in increasing order. Then
// sums do not depend on files. It needs memory for one value per run and one
// estimate a grid point. A record that does not fit meta is an error.
func Aggregate(meta Meta, records iter.Seq2[Record, error]) (*Summary, error) {
	a, err := newAggregator(meta)
	if err != nil {
		return nil, err
	}
	if err := a.read(records); err != nil {
		return nil, err
	}
	return a.summary(), nil
}

// read adds records.
func (a *aggregator) read(records iter.Seq2[Record, error]) error {
	for rec, err := range records {
		if err != nil {
			return err
		}
		sample, err := a.accept(&rec)
		if err != nil {
			return err
		}
		a.add(sample, &rec)
	}
	return nil
}

// Check refuses a record that the experiment cannot have, like Aggregate. It ends with the
// context's cause when that is done.
func Check(ctx context.Context, meta Meta, records iter.Seq2[Record, error]) error {
	a, err := newAggregator(meta)
	if err != nil {
		return err
	}
	for rec, err := range records {
		if err == nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if err == nil {
			_, err = a.accept(&rec)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (m *Meta) wants(x Metric) bool { return len(m.Metrics) == 0 || slices.Contains(m.order(), x) }

type cell struct{ environment, agent string }

// sample holds one agent's results in one environment.
type sample struct {
	ok, failed, givenUp int
	vain                int   // runs that explored without learning
	unended             int   // runs that reached the most steps before their last episode ended
	whole               int   // episodes of the first of these to end, up to which curves are means of all runs
	runs                []int // that are ok
	programs            Spans // of the environment, in runs
	outcomes            map[Metric]*outcomes
	curves              map[Metric][]stat.Moments // one a grid point
	overflowed          map[Metric]int            // runs with values that are infinite or too large
	choices             Choices
	censored            map[Metric][]int         // runs in which the event of a time did not come
	iqm                 map[Metric]stat.Interval // once computed
}

func newSample(c cell) *sample {
	return &sample{overflowed: map[Metric]int{}, censored: map[Metric][]int{}, outcomes: map[Metric]*outcomes{}, curves: map[Metric][]stat.Moments{}, iqm: map[Metric]stat.Interval{},
		choices: Choices{Environment: c.environment, Agent: c.agent}}
}

// outcomes are the values of those runs that have one.
type outcomes struct {
	runs   []int // nil: the first runs of the sample
	values []float64
}

type aggregator struct {
	meta     Meta
	widths   []float64 // steps of each window; episodes where these are the budget
	samples  map[cell]*sample
	last     map[cell]int
	failures map[cell][]Failure
	// derivations define the metrics that are made from others.
	derivations []metric.Definition
	derived     []float64
	t           quantiles
	mixture     mixture
}

func newAggregator(meta Meta) (*aggregator, error) {
	a := &aggregator{meta: meta, samples: map[cell]*sample{}, last: map[cell]int{}, failures: map[cell][]Failure{},
		derivations: slices.DeleteFunc(metric.Builtin(), func(d metric.Definition) bool { return d.From == "" })}
	prev := 0
	for _, step := range meta.Grid {
		if still := len(meta.Grid) == 1 && step == 0; step <= prev && !still { // without learning the only point is 0
			return nil, errors.New("the recording grid does not increase")
		}
		a.widths = append(a.widths, float64(step-prev))
		prev = step
	}
	for _, env := range meta.Environments {
		for _, agent := range meta.Agents {
			a.reset(cell{env, agent})
		}
	}
	return a, nil
}

// reset forgets the records of an agent in an environment.
func (a *aggregator) reset(c cell) {
	a.samples[c], a.last[c] = newSample(c), -1
	delete(a.failures, c)
}

// accept refuses a record that the experiment cannot have. It counts the others.
func (a *aggregator) accept(rec *Record) (*sample, error) {
	s, err := a.check(rec)
	if err != nil {
		return nil, refused(rec.entry(), err)
	}
	if rec.Status == OK {
		s.ok++
	} else {
		s.failed++
	}
	if rec.Status == GivenUp {
		s.givenUp++
	}
	return s, nil
}

func (a *aggregator) add(s *sample, rec *Record) {
	c := cell{rec.Environment, rec.Agent}
	if rec.Status != OK {
		if s.givenUp <= 1 || rec.Status == Failed { // one stands for all that were given up
			a.failures[c] = append(a.failures[c], Failure{rec.Key(), rec.Steps, rec.Error})
		}
		return
	}
	s.runs, s.programs = append(s.runs, rec.Run), s.programs.add(rec.Run, rec.Programs)
	a.mixture.add(&a.meta, c, rec.Programs)
	if a.unended(rec) {
		if s.unended == 0 || rec.Episodes < s.whole {
			s.whole = rec.Episodes
		}
		s.unended++
	}
	if a.meta.Episodes > 0 {
		a.widths = Widths(a.widths[:0], rec.Curves[StepsMade])
	}
	for m, curve := range rec.Curves {
		a.addCurve(s, rec, m, curve)
	}
	for i := range rec.Decisions {
		s.choices.add(&rec.Decisions[i], rec.Steps)
	}
	if inVain(rec.Decisions) {
		s.vain++
	}
	for _, d := range a.derivations {
		curve, ok := rec.Curves[d.From]
		switch _, recorded := rec.Curves[d.Name]; {
		case !ok || recorded:
		case d.Derive == nil:
			s.set(rec.Run, d.Name, a.value(rec, &d, curve))
			if slices.Contains(rec.Infinite, d.From) {
				s.overflowed[d.Name]++
			}
		default:
			a.derived = d.Derive(a.derived[:0], curve, a.widths)
			a.addCurve(s, rec, d.Name, a.derived)
		}
	}
}

func (a *aggregator) check(rec *Record) (*sample, error) {
	s, err := a.own(rec.entry())
	if err != nil {
		return nil, err
	}
	c := cell{rec.Environment, rec.Agent}
	if rec.Run <= a.last[c] {
		return nil, fmt.Errorf("comes after run %d", a.last[c])
	}
	a.last[c] = rec.Run
	if rec.Status != OK {
		return s, nil
	}
	return s, a.checkOK(rec)
}

var errBeyond = errors.New("the experiment has no such run")

// own refuses an entry that is not of the experiment.
func (a *aggregator) own(e *Entry) (*sample, error) {
	s := a.samples[cell{e.Environment, e.Agent}]
	if s == nil {
		return nil, errors.New("the experiment has no such agent or environment")
	}
	if want := a.meta.Experiments[Key{Environment: e.Environment, Agent: e.Agent}]; want != "" && e.Experiment != want {
		return nil, fmt.Errorf("is of another experiment, with another seed or other parameters (its identity is %.40q, this experiment's %q)", e.Experiment, want)
	}
	if a.meta.Runs > 0 && e.Run >= a.meta.Runs {
		return nil, fmt.Errorf("%w: runs is %d in experiment.yaml, and runs count from 0", errBeyond, a.meta.Runs)
	}
	return s, nil
}

// refused says which record is refused, and what to do.
func refused(e *Entry, err error) error {
	err = fmt.Errorf("run %d of %s in %s: %w", e.Run, e.Agent, e.Environment, err)
	if at := e.at.String(); at != "" {
		advice := "move the file away, and resume"
		if errors.Is(err, errBeyond) {
			advice = "if runs was another number, restore experiment.yaml: the records are good; if it was not, " + advice
		}
		err = fmt.Errorf("%s %w: %w; %s", at, ErrDamaged, err, advice)
	}
	return err
}

// checkOK refuses an ok record that the experiment cannot have.
func (a *aggregator) checkOK(rec *Record) error {
	switch whole := a.meta.Episodes > 0 && rec.Episodes == a.meta.Episodes && rec.Steps <= a.meta.Steps; {
	case whole:
	case a.meta.Steps > 0 && rec.Steps != a.meta.Steps:
		return fmt.Errorf("has %d steps, runs of the experiment %d", rec.Steps, a.meta.Steps)
	case a.meta.Episodes > 0 && rec.Episodes > a.meta.Episodes:
		return fmt.Errorf("has %d episodes, runs of the experiment %d", rec.Episodes, a.meta.Episodes)
	}
	if rec.Episodes < 0 || rec.Episodes > rec.Steps {
		return fmt.Errorf("has %d episodes in %d steps", rec.Episodes, rec.Steps)
	}
	for m, curve := range rec.Curves {
		if len(curve) != len(a.meta.Grid) {
			return fmt.Errorf("curve %s has %d values, the recording grid %d", m, len(curve), len(a.meta.Grid))
		}
		if len(a.meta.Recorded) > 0 && !m.In(a.meta.Recorded) {
			return fmt.Errorf("curve %s: the experiment does not record it", m)
		}
	}
	// Every run has these. Another curve may be absent from some runs: no episode may
	// end in a run, and a model may have no optimal gain.
	for _, m := range metric.Select(func(d *metric.Definition) bool { return d.Always }) {
		if slices.Contains(a.meta.Recorded, m) && rec.Curves[m] == nil && !a.unended(rec) {
			return fmt.Errorf("curve %s is missing", m)
		}
	}
	for i := range rec.Decisions {
		if d := &rec.Decisions[i]; d.Step < 0 || d.Step >= rec.Steps || i > 0 && d.Step < rec.Decisions[i-1].Step {
			return fmt.Errorf("decision %d is at step %d", i, d.Step)
		}
	}
	return nil
}

// addCurve adds a curve of a run. A run with a point that is too large has no value.
func (a *aggregator) addCurve(s *sample, rec *Record, m Metric, curve []float64) {
	if !a.meta.wants(m) || len(curve) == 0 {
		return
	}
	points := s.curves[m]
	if points == nil {
		points = make([]stat.Moments, len(curve))
		s.curves[m] = points
	}
	for i, x := range curve {
		if !tooLarge(x) {
			points[i].Add(x)
		}
	}
	d := a.meta.Define(m)
	value := a.value(rec, d, curve)
	if d.Value == metric.Time && math.IsNaN(value) && !a.unended(rec) {
		s.censored[m] = append(s.censored[m], rec.Run)
		value = float64(rec.Steps)
		if d.Unit == "episodes" {
			value = float64(rec.Episodes)
		}
	}
	if from := metric.Define(m).From; slices.Contains(rec.Infinite, m) || from != "" && slices.Contains(rec.Infinite, from) || slices.ContainsFunc(curve, tooLarge) {
		s.overflowed[m]++
		value = math.NaN()
	}
	s.set(rec.Run, m, value)
}

// unended says whether a run reached the most steps before its last episode ended.
func (a *aggregator) unended(rec *Record) bool { return rec.Episodes < a.meta.Episodes }

// Widths appends the steps of each window to dst, by the curve of StepsMade.
func Widths(dst, steps []float64) []float64 {
	last := 0.0
	for _, x := range steps {
		dst, last = append(dst, x-last), x
	}
	return dst
}

// value is a run's one value of a metric, by its curve. A run that is unended has none.
func (a *aggregator) value(rec *Record, d *metric.Definition, curve []float64) float64 {
	if a.unended(rec) {
		return math.NaN()
	}
	switch d.Value {
	case metric.Last, metric.Time:
		return curve[len(curve)-1]
	case metric.Tail:
		return a.windowMean(curve, a.meta.tail())
	case metric.Sum:
		return total(curve)
	}
	return a.windowMean(curve, 0)
}

// total adds up the values that are there; NaN if none is.
func total(curve []float64) float64 {
	sum := math.NaN()
	for _, x := range curve {
		switch {
		case math.IsNaN(x):
		case math.IsNaN(sum):
			sum = x
		default:
			sum += x
		}
	}
	return sum
}

// largest is the largest magnitude that a value may have. With larger ones, sums and
// differences may overflow.
const largest = 1e300

// tooLarge tells whether a value is infinite or beyond the largest.
func tooLarge(x float64) bool { return math.Abs(x) > largest }

// set stores a run's value of a metric. NaN is none, and so is one beyond the largest.
func (s *sample) set(run int, m Metric, x float64) {
	o := s.outcomes[m]
	if o == nil {
		o = &outcomes{}
		s.outcomes[m] = o
	}
	if math.Abs(x) <= largest {
		if n := len(o.values); o.runs == nil && s.runs[n] != run {
			o.runs = slices.Clone(s.runs[:n])
		}
		if o.values = append(o.values, x); o.runs != nil {
			o.runs = append(o.runs, run)
		}
	}
}

// runsOf are the runs of outcomes.
func (s *sample) runsOf(o *outcomes) []int {
	if n := len(o.values); o.runs == nil {
		return s.runs[:n:n]
	}
	return o.runs
}

// windowMean is the mean of a curve of window means from grid point from on,
// windows weighted by their steps; windows without a value (NaN) do not count.
func (a *aggregator) windowMean(curve []float64, from int) float64 {
	sum, steps := 0.0, 0.0
	for i := from; i < len(curve); i++ {
		if !math.IsNaN(curve[i]) {
			sum += curve[i] * a.widths[i]
			steps += a.widths[i]
		}
	}
	return sum / steps
}

func (a *aggregator) summary() *Summary {
	out := &Summary{Meta: a.meta, Mixed: a.mixture.text()}
	for _, s := range a.meta.Skipped {
		out.Notices = append(out.Notices, s.String())
	}
	out.Notices = append(out.Notices, a.meta.Notes...)
	for _, env := range a.meta.Environments {
		for i, agent := range a.meta.Agents {
			s := a.samples[cell{env, agent}]
			missing := max(0, a.meta.Runs-s.ok-s.failed)
			if a.meta.Skips(env, agent) {
				missing = 0
			}
			out.Counts = append(out.Counts, Count{env, agent, Ended{OK: s.ok, Failed: s.failed, Missing: missing, GivenUp: s.givenUp}})
			out.Failures = append(out.Failures, a.failures[cell{env, agent}]...)
			if s.choices.Kept > 0 {
				out.Choices = append(out.Choices, s.choices.done())
			}
			if s.vain > 0 {
				out.Notices = append(out.Notices, fmt.Sprintf("%s explores in vain in %s: in %d of %d runs it explored in the same state with the same action %d times in a row, of the decisions kept, and what it hoped for did not fall; rlrun explain shows such a decision",
					agent, env, s.vain, s.ok, vainRow))
			}
			if s.unended > 0 {
				out.Notices = append(out.Notices, fmt.Sprintf("%d of %d runs of %s in %s made %d steps before %d episodes had ended: curves end where the first of these does, and they have no value in summaries and comparisons; give more steps",
					s.unended, s.ok, agent, env, a.meta.Steps, a.meta.Episodes))
			}
			if len(s.overflowed) > 0 {
				var which []string
				for _, m := range slices.Sorted(maps.Keys(s.overflowed)) {
					which = append(which, fmt.Sprintf("%s in %d", m, s.overflowed[m]))
				}
				out.Notices = append(out.Notices, fmt.Sprintf("%s in %s: values are infinite or beyond %g (%s of %d runs), and such a run has none; give rewards and metrics in a larger unit",
					agent, env, largest, strings.Join(which, ", "), s.ok))
			}
			for _, m := range s.metrics(&a.meta) {
				row := a.row(env, agent, m, s)
				if len(row.Censored) > 0 {
					out.Notices = append(out.Notices, row.CensoredNote())
				}
				if i > 0 {
					row.Difference = a.difference(m, s, a.samples[cell{env, a.meta.Agents[0]}], RoundingOf(&a.meta, env, m))
				}
				out.Rows = append(out.Rows, row)
				if points := s.curves[m]; points != nil {
					for k, episode := range a.meta.Grid { // a mean over the runs that are left would be of a selection
						if s.unended > 0 && episode > s.whole {
							points[k] = stat.Moments{}
						}
					}
					out.Curves = append(out.Curves, a.curve(env, agent, m, points))
				}
			}
		}
	}
	out.Notices = append(out.Notices, a.unknown(out.Rows)...)
	if !a.meta.WithoutIQM {
		a.addIQM(out.Rows)
	}
	out.Notices = append(out.Notices, equalRuns(out.Rows)...)
	out.Notices = append(out.Notices, out.LostDigits()...)
	return out
}

// unknown names the metrics that plugins declare and that have no row, as no run has a value.
func (a *aggregator) unknown(rows []Row) []string {
	var names []Metric
	for _, d := range a.meta.Definitions {
		if a.meta.wants(d.Name) && (a.meta.Asked == nil || d.Name.In(a.meta.Asked)) && !slices.ContainsFunc(rows, func(r Row) bool { return r.Metric == d.Name }) {
			names = append(names, d.Name)
		}
	}
	if len(rows) == 0 || len(names) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("no run has a value of %s, which plugins declare; tables and plots leave it out", metric.Names(names))}
}

// LostDigits says in at most one sentence where values are sums of rewards so large that whole
// numbers are lost.
func (s *Summary) LostDigits() []string {
	n, first := 0, ""
	for i := range s.Rows {
		r := &s.Rows[i]
		if size := RoundingOf(&s.Meta, r.Environment, r.Metric).size(r.Mean); size >= 1<<53 {
			if n++; n == 1 {
				first = fmt.Sprintf("%s of %s in %s to multiples of %g", r.Metric, r.Agent, r.Environment, math.Nextafter(size, math.Inf(1))-size)
			}
		}
	}
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d means are of sums so large that they are rounded, the first: %s; smaller differences are lost, so subtract a constant from the rewards", n, first)}
}

// equalRuns says where an interval is left out because all runs have the same value.
func equalRuns(rows []Row) []string {
	n, all, first := 0, 0, ""
	for i := range rows {
		r := &rows[i]
		for _, e := range []*Estimate{&r.Estimate, r.Difference} {
			if e == nil {
				continue
			}
			if all++; e.N > 1 && math.IsNaN(e.Low) {
				if n++; n == 1 {
					first = fmt.Sprintf("%s of %s in %s", r.Metric, r.Agent, r.Environment)
				}
			}
		}
	}
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of %d means and differences have no interval, as all runs have the same value, which does not mean that another run could not differ; the first: %s", n, all, first)}
}

// metrics lists those that any run holds, and those that the config names, in display order.
func (s *sample) metrics(meta *Meta) []Metric {
	var out []Metric
	for m := range maps.Keys(s.outcomes) {
		if meta.wants(m) {
			out = append(out, m)
		}
	}
	if s.ok > 0 {
		for _, m := range meta.asked() {
			if s.outcomes[m] == nil && meta.wants(m) {
				out = append(out, m)
			}
		}
	}
	sortMetrics(out, meta.order())
	return out
}

func (a *aggregator) row(env, agent string, m Metric, s *sample) Row {
	o := s.outcomes[m]
	if o == nil {
		o = &outcomes{}
	}
	overflowed := s.overflowed[m]
	runs := s.runsOf(o)
	if from := a.meta.Define(m).From; from != "" && len(runs) < len(s.runs) { // what it is made from has none there
		overflowed = max(overflowed, s.overflowed[from])
	}
	row := Row{Environment: env, Agent: agent, Metric: m, Failed: s.failed, Overflowed: overflowed,
		Estimate: estimateOf(RoundingOf(&a.meta, env, m).Values(o.values), &a.t), Runs: runs, Values: o.values, Programs: s.programs,
		Censored: s.censored[m]}
	row.Median = row.median()
	for k, i := 0, 0; k < len(s.runs) && len(runs) < len(s.runs); k++ {
		if i < len(runs) && runs[i] == s.runs[k] {
			i++
		} else {
			row.Without = append(row.Without, s.runs[k])
		}
	}
	return row
}

// addIQM fills in the interquartile means of rows, on all processors. Rows of as many
// runs share the draws of the bootstrap, which depend on the number of runs alone: no
// row depends on another's presence.
func (a *aggregator) addIQM(rows []Row) {
	var parts [][]int // rows of one size
	last := map[int]int{}
	for i := range rows {
		r := &rows[i]
		if known, ok := a.samples[cell{r.Environment, r.Agent}].iqm[r.Metric]; ok {
			r.IQM, r.IQMLow, r.IQMHigh = known.Value, known.Low, known.High
			continue
		}
		n := len(r.Values)
		k, ok := last[n]
		// Many small rows share a drawing. A large one waits for no other.
		if together := min(64, 1+20_000/(n+1)); !ok || len(parts[k]) == together {
			k = len(parts)
			last[n] = k
			parts = append(parts, nil)
		}
		parts[k] = append(parts[k], i)
	}
	source := seed.NewSource(a.meta.Seed, "interquartile means")
	parallel.Each(len(parts), func(k int) {
		samples := each.Of(parts[k], func(i int) []float64 {
			return RoundingOf(&a.meta, rows[i].Environment, rows[i].Metric).Values(rows[i].Values)
		})
		iqms := stat.BootstrapIQM(samples, confidence, seed.Stream(source.Seed(len(samples[0]), seed.Statistics, 0), seed.Statistics))
		for j, i := range parts[k] {
			rows[i].IQM, rows[i].IQMLow, rows[i].IQMHigh = iqms[j].Value, iqms[j].Low, iqms[j].High
		}
	})
	for i := range rows {
		r := &rows[i]
		a.samples[cell{r.Environment, r.Agent}].iqm[r.Metric] = stat.Interval{Value: r.IQM, Low: r.IQMLow, High: r.IQMHigh}
	}
}

// difference pairs the runs of a row with those of the first agent's. Runs of different
// programs of the environment are no pair.
func (a *aggregator) difference(m Metric, of, first *sample, r Rounding) *Estimate {
	x, base := of.outcomes[m], first.outcomes[m]
	if base == nil || x == nil {
		return nil
	}
	xs, bases := of.runsOf(x), first.runsOf(base)
	var d []Rounded
	for i, j := 0, 0; i < len(xs) && j < len(bases); {
		switch {
		case xs[i] < bases[j]:
			i++
		case xs[i] > bases[j]:
			j++
		default:
			if of.programs.In(xs[i]) == first.programs.In(xs[i]) {
				d = append(d, r.Of(x.values[i]).Minus(r.Of(base.values[j])))
			}
			i, j = i+1, j+1
		}
	}
	if len(d) == 0 {
		return nil
	}
	e := estimateOf(Level(d), &a.t)
	return &e
}

func (a *aggregator) curve(env, agent string, m Metric, points []stat.Moments) Curve {
	n := len(points)
	c := Curve{Environment: env, Agent: agent, Metric: m, Steps: a.meta.Grid,
		Runs: make([]int, n), Mean: make(Values, n), StdErr: make(Values, n), Low: make(Values, n), High: make(Values, n)}
	for i := range points {
		e := estimate(&points[i], &a.t)
		c.Runs[i], c.Mean[i], c.StdErr[i], c.Low[i], c.High[i] = e.N, e.Mean, e.StdErr, e.Low, e.High
	}
	return c
}
