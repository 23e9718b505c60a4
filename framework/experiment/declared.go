package experiment

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/vector"
)

// Declared are the metrics that plugins declare, of their own.
type Declared struct {
	Environment []framework.Metric `json:"environment,omitempty"`
	Agent       []framework.Metric `json:"agent,omitempty"`
}

// add takes in the metrics of one side. Of metrics with the same name the first counts.
func (d *Declared) add(side string, m *vector.Measures) error {
	if m == nil {
		return nil
	}
	if err := framework.CheckMetrics(m.Metrics); err != nil {
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
func writeDeclared(dir string, d Declared) error {
	if len(d.Environment)+len(d.Agent) == 0 {
		return nil
	}
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	return result.WriteFile(filepath.Join(dir, metricsFile), func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	})
}

// readDeclared adds them to what statistics know of an experiment.
func readDeclared(dir string, meta *result.Meta) error {
	path := filepath.Join(dir, metricsFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var d Declared
	if err := json.Unmarshal(data, &d); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	meta.Declared = map[result.Metric]result.Definition{}
	for _, x := range d.Environment {
		meta.Declared[result.MetricOf(result.EnvironmentMetrics, x.Name)] = definition(result.EnvironmentMetrics, x)
	}
	for _, x := range d.Agent {
		meta.Declared[result.MetricOf(result.AgentMetrics, x.Name)] = definition(result.AgentMetrics, x)
	}
	return nil
}

// definition is what statistics and figures need to know of a metric.
func definition(side string, x framework.Metric) result.Definition {
	title := side + " " + strings.ReplaceAll(x.Name, "_", " ")
	d := result.Definition{
		Title: title, Axis: title, Text: cmp.Or(x.Doc, "A metric of the "+side+"'s own."),
		Cumulative: x.Total == framework.Last, Summed: x.Total == framework.Sum,
		LowerIsBetter: x.Better == framework.Lower, HigherIsBetter: x.Better == framework.Higher,
	}
	if x.Unit != "" {
		d.Axis += " (" + x.Unit + ")"
	}
	return d
}
