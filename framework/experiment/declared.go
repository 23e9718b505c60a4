package experiment

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/metric"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/vector"
)

// Declared are the metrics that plugins declare, of their own.
type Declared struct {
	Environment []framework.Metric `json:"environment,omitempty"` // metrics that its plugin declared
	Agent       []framework.Metric `json:"agent,omitempty"`       // metrics that its plugin declared
}

// add adds the metrics of one side. Of metrics with the same name the first counts.
func (d *Declared) add(side string, m *vector.Measures) error {
	if m == nil {
		return nil
	}
	if err := vector.CheckMetrics(m.Metrics); err != nil {
		return fmt.Errorf("%w: %w", framework.ErrInvalidAnswer, err)
	}
	list := &d.Environment
	if side == result.AgentMetrics {
		list = &d.Agent
	}
	for _, x := range m.Metrics {
		if !slices.ContainsFunc(*list, func(y framework.Metric) bool { return x.Name == y.Name }) {
			*list = append(*list, x)
		}
	}
	return nil
}

// metricsFile says, in an output directory, which metrics plugins declared.
const metricsFile = "metrics.json"

// writeDeclared keeps them for reports. There is no file if there are none.
func (x *Experiment) writeDeclared() error {
	if len(x.Declared.Environment)+len(x.Declared.Agent) == 0 {
		return nil
	}
	return x.Plan.writeJSON(filepath.Join(x.Dir, metricsFile), x.Declared)
}

// readDeclared adds them to what statistics know of an experiment.
func readDeclared(dir string, meta *result.Meta) error {
	var d Declared
	if err := readJSON(filepath.Join(dir, metricsFile), &d, againBy); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	meta.Definitions = d.definitions()
	return nil
}

// definitions are those of all metrics, by the names that records have.
func (d *Declared) definitions() (list []metric.Definition) {
	for _, x := range d.Environment {
		list = append(list, definition(result.EnvironmentMetrics, x))
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
