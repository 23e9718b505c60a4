package store

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/metric"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
)

// Experiment is what an output directory holds of its experiment besides the records. A
// command that makes runs learns it from the plugins; a report reads it.
type Experiment struct {
	Dir        Dir
	Plan       *plan.Plan             // without the pairs that are skipped
	Programs   []PluginProvenance     // the plugins in use; none if it was read
	Specs      map[string]string      // digests of what environments say of themselves, by label
	Components []ComponentProvenance  // what they are besides, without their identities; none if it was read
	Skipped    []result.Skipped       // pairs that matrix.skip_incompatible leaves out
	Notes      []string               // sentences, without full stops, that a reader of the results must know
	Tasks      map[string]result.Task // what is known of environments, by label
	Declared   Declared               // metrics of the plugins' own

	release func() error // ends the claim on Dir; nil if there is none
}

// Read returns the experiment that the directory holds. The error wraps fs.ErrNotExist if
// there is none, and ErrOtherExperiment if its config is not the one that its runs were
// made with.
func (d Dir) Read() (*Experiment, error) {
	path := d.path(ConfigFile)
	c, err := ReadConfig(path)
	if err != nil {
		return nil, err
	}
	prov, err := d.Provenance()
	if err != nil {
		return nil, err
	}
	if err := sameSeed(path, c, prov); err != nil {
		return nil, err
	}
	p, err := plan.Compile(c)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	last := &prov.Session
	for s := range prov.sessions() {
		last = s
	}
	e := &Experiment{Dir: d, Plan: p.Without(last.Skipped), Skipped: last.Skipped, Notes: last.Notes}
	return e, e.Reload()
}

// Close ends the claim on the directory, if there is one.
func (e *Experiment) Close() error {
	if e.release == nil {
		return nil
	}
	release := e.release
	e.release = nil
	return release()
}

// Reload reads what may change while shards begin.
func (e *Experiment) Reload() error {
	e.Tasks, e.Declared = nil, Declared{}
	if _, err := e.Dir.readJSON(tasksFile, &e.Tasks, againBy); err != nil {
		return err
	}
	_, err := e.Dir.readJSON(metricsFile, &e.Declared, againBy)
	return err
}

// sameMetrics refuses metrics that mean something else than those of the runs that are there.
func (e *Experiment) sameMetrics() error {
	var was Declared
	if _, err := e.Dir.readJSON(metricsFile, &was, againBy); err != nil {
		return err
	}
	if err := cmp.Or(was.Add(result.EnvironmentMetrics, e.Declared.Environment), was.Add(result.AgentMetrics, e.Declared.Agent)); err != nil {
		return fmt.Errorf("runs of %s have other metrics: %w", e.Dir.Path, err)
	}
	return nil
}

// write keeps what is not in the config for reports. There is no file of what is not
// known.
func (e *Experiment) write() error {
	if len(e.Tasks) > 0 {
		if err := e.Dir.writeJSON(tasksFile, e.Tasks); err != nil {
			return err
		}
	}
	if len(e.Declared.Environment)+len(e.Declared.Agent) > 0 {
		return e.Dir.writeJSON(metricsFile, e.Declared)
	}
	return nil
}

// Meta returns what statistics need to know of the experiment. The optimum of a task is its
// gain: that of episodes which follow each other, where it has episodes.
func (e *Experiment) Meta() result.Meta {
	meta := e.Plan.Meta()
	meta.Skipped, meta.Notes, meta.Tasks, meta.Definitions = e.Skipped, e.Notes, e.Tasks, e.Declared.Definitions()
	for name, t := range meta.Tasks {
		if t.Gain != nil {
			if meta.Optimum == nil {
				meta.Optimum = map[string]float64{}
			}
			meta.Optimum[name] = *t.Gain
		}
	}
	return meta
}

// Declared are the metrics that plugins declare, of their own.
type Declared struct {
	Environment []framework.Metric `json:"environment,omitempty"` // metrics that its plugin declared
	Agent       []framework.Metric `json:"agent,omitempty"`       // metrics that its plugin declared
}

// Clone returns a copy that shares nothing with d.
func (d *Declared) Clone() Declared {
	return Declared{slices.Clone(d.Environment), slices.Clone(d.Agent)}
}

// Add adds the metrics of one side. Plugins may declare the same metric. It is an error if they mean something else by it.
func (d *Declared) Add(side string, metrics []framework.Metric) error {
	list := &d.Environment
	if side == result.AgentMetrics {
		list = &d.Agent
	}
	for _, x := range metrics {
		i := slices.IndexFunc(*list, func(y framework.Metric) bool { return x.Name == y.Name })
		if i < 0 {
			*list = append(*list, x)
		} else if y := (*list)[i]; x.Better != y.Better || x.Total != y.Total || x.Unit != y.Unit && result.MetricOf(side, x.Name).OfPlugin() {
			return fmt.Errorf("%w: metric %q has better %q, total %q and unit %q, and another %s of the experiment declares it with better %q, total %q and unit %q: declare both alike, or give one of them another name",
				framework.ErrInvalidAnswer, x.Name, x.Better, x.Total, x.Unit, side, y.Better, y.Total, y.Unit)
		}
	}
	return nil
}

// Definitions are those of all metrics, by the names that records have.
func (d *Declared) Definitions() (list []metric.Definition) {
	for _, x := range d.Environment {
		if y := definition(result.EnvironmentMetrics, x); y.Name.OfPlugin() {
			list = append(list, y)
		}
	}
	for _, x := range d.Agent {
		list = append(list, definition(result.AgentMetrics, x))
	}
	return list
}

// definition is what statistics and figures need to know of a metric.
func definition(side string, x framework.Metric) metric.Definition {
	title := side + " " + strings.ReplaceAll(x.Name, "_", " ")
	d := metric.Definition{
		Name: result.MetricOf(side, x.Name), Title: title, Axis: title, Unit: x.Unit,
		Text:   cmp.Or(x.Doc, "A metric of the "+side+"'s own."),
		Better: metric.Better(x.Better), Value: metric.Value(x.Total),
	}
	if x.Unit != "" {
		d.Axis += " (" + x.Unit + ")"
	}
	return d
}
