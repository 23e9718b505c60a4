package plots

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/rlrun/rlrun/framework/output"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/store"
)

// Output makes the drawings.
var Output = output.Output{
	Name: "plots",
	Doc:  "plots/: a drawing of each metric in each environment, and one of all environments; predicted gains against realised ones",
	Write: func(r *output.Results, directory string) ([]string, error) {
		draw := r.Plan.Config.Report
		o := Config{Smooth: draw.Smooth}
		if draw.Axis != "" {
			o.LogX = new(draw.Axis == "log")
		}
		return WritePlots(directory, r.Summary, draw.Metrics, o)
	},
}

// chart is a kind of plot files. Its error is errNothing where there is nothing to draw.
type chart struct {
	// suffix ends the names of its files.
	suffix string
	// together says that one picture shows all environments, if there are several. The
	// argument environment is then empty.
	together bool
	draw     func(s *result.Summary, environment string, m result.Metric, opts Config) (Drawing, error)
}

// charts are all of them.
var charts = []chart{
	{"", false, drawFigure},
	{"", true, drawPanels},
	{"-reliability", false, drawReliability},
	{"-reliability", true, drawReliabilities},
}

func drawFigure(s *result.Summary, environment string, m result.Metric, opts Config) (Drawing, error) {
	return NewFigure(s, environment, m, opts)
}

func drawPanels(s *result.Summary, _ string, m result.Metric, opts Config) (Drawing, error) {
	p, err := NewPanels(s, m, opts)
	if err == nil && len(p.Figures) < 2 {
		err = errNothing
	}
	return p, err
}

func drawReliability(s *result.Summary, environment string, m result.Metric, _ Config) (Drawing, error) {
	if m != gainRealised {
		return nil, errNothing
	}
	return NewReliability(s, environment)
}

func drawReliabilities(s *result.Summary, _ string, m result.Metric, opts Config) (Drawing, error) {
	p := &Panels{Title: Capital(realisedGain) + ", by " + predictedGain}
	for _, environment := range s.Meta.Environments {
		f, err := drawReliability(s, environment, m, opts)
		if errors.Is(err, errNothing) {
			continue
		}
		if err != nil {
			return nil, err
		}
		p.Figures = append(p.Figures, f.(*Figure))
		p.Figures[len(p.Figures)-1].Title = environment
	}
	if len(p.Figures) < 2 {
		return nil, errNothing
	}
	return p, nil
}

// WritePlots draws each metric of each environment into dir/plots as <environment>-<metric>.svg and
// .png, and of several environments all in one picture as all-<metric>. It returns the paths of the
// files in dir. want selects the metrics; nil means all. A metric without values of any agent is
// left out. Where agents record gain_predicted and gain_realised, their reliability is drawn as
// <environment>-agent-gain_realised-reliability. Of opts only Smooth and LogX count.
func WritePlots(dir string, s *result.Summary, want []result.Metric, opts Config) ([]string, error) {
	if err := os.MkdirAll(filepath.Join(dir, "plots"), 0o777); err != nil {
		return nil, err
	}
	var files []string
	opts = Config{Smooth: opts.Smooth, LogX: opts.LogX}
	// add draws the charts of one environment or, if it is empty, of all.
	add := func(slug, environment string, m result.Metric) (drawn bool, err error) {
		for _, c := range charts {
			if c.together != (environment == "") {
				continue
			}
			d, err := c.draw(s, environment, m, opts)
			if errors.Is(err, errNothing) {
				continue
			}
			if err != nil {
				return drawn, err
			}
			drawn = true
			names, err := Write(dir, slug+"-"+result.Slug(string(m))+c.suffix, d)
			if files = append(files, names...); err != nil {
				return drawn, err
			}
		}
		return drawn, nil
	}
	slugs := store.PlotSlugs(s.Meta.Environments)
	var metrics []result.Metric
	for i, env := range s.Meta.Environments {
		for _, m := range Chosen(s.MetricsOf(env, true), want) {
			drawn, err := add(slugs[i+1], env, m)
			if err != nil {
				return files, err
			}
			if drawn && !slices.Contains(metrics, m) {
				metrics = append(metrics, m)
			}
		}
	}
	if len(s.Meta.Environments) < 2 {
		return files, nil
	}
	for _, m := range metrics {
		if _, err := add(slugs[0], "", m); err != nil {
			return files, err
		}
	}
	return files, nil
}

// Drawing is a picture in two formats.
type Drawing interface {
	WriteSVG(w io.Writer) error
	WritePNG(w io.Writer) error
}

// Write draws dir/plots/name.svg and .png, and returns the paths of the files in dir.
func Write(dir, name string, d Drawing) (files []string, err error) {
	for _, kind := range []struct {
		ext   string
		write func(io.Writer) error
	}{{".svg", d.WriteSVG}, {".png", d.WritePNG}} {
		file := filepath.Join("plots", name+kind.ext)
		if err := output.File(dir, file, kind.write); err != nil {
			return files, err
		}
		files = append(files, file)
	}
	return files, nil
}

// chosen keeps those of has that are in want, or all if want is nil. The metrics
// made from the reward come with it.
func Chosen(has, want []result.Metric) []result.Metric {
	if len(want) == 0 {
		return has
	}
	var out []result.Metric
	for _, m := range has {
		for _, w := range want {
			if m == w || (w == result.Reward && m == result.CumulativeReward) {
				out = append(out, m)
				break
			}
		}
	}
	return out
}
