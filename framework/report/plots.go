package report

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/rlrun/rlrun/framework/result"
)

// WritePlots draws each metric of each environment into dir/plots as
// <environment>-<metric>.svg and .png, and of several environments all in one picture
// as all-<metric>. It returns the paths of the files in dir. want selects the metrics; nil means all. A metric without values of
// any agent is left out. Of opts only Smooth and LogX count.
func WritePlots(dir string, s *result.Summary, want []result.Metric, opts Options) ([]string, error) {
	directory := filepath.Join(dir, "plots")
	if err := os.MkdirAll(directory, 0o777); err != nil {
		return nil, err
	}
	var files []string
	opts = Options{Smooth: opts.Smooth, LogX: opts.LogX}
	add := func(name string, d drawing) error {
		for _, kind := range []struct {
			ext   string
			write func(io.Writer) error
		}{{".svg", d.WriteSVG}, {".png", d.WritePNG}} {
			if err := result.WriteFile(filepath.Join(directory, name+kind.ext), kind.write); err != nil {
				return err
			}
			files = append(files, filepath.Join("plots", name+kind.ext))
		}
		return nil
	}
	slugs := result.Slugs(append([]string{"all"}, s.Meta.Environments...)) // no environment takes "all"
	var metrics []result.Metric
	for i, env := range s.Meta.Environments {
		for _, m := range chosen(s.MetricsOf(env, true), want) {
			f, err := NewFigure(s, env, m, opts)
			if errors.Is(err, errNothing) {
				continue
			}
			if err == nil {
				err = add(slugs[i+1]+"-"+result.Slug(string(m)), f)
			}
			if err != nil {
				return files, err
			}
			if !slices.Contains(metrics, m) {
				metrics = append(metrics, m)
			}
		}
	}
	if len(s.Meta.Environments) < 2 {
		return files, nil
	}
	for _, m := range metrics {
		p, err := NewPanels(s, m, opts)
		if err == nil && len(p.Figures) > 1 {
			err = add(slugs[0]+"-"+result.Slug(string(m)), p)
		}
		if err != nil {
			return files, err
		}
	}
	return files, nil
}

// drawing is a picture in two formats.
type drawing interface {
	WriteSVG(w io.Writer) error
	WritePNG(w io.Writer) error
}

// chosen keeps those of has that are in want, or all if want is nil. The metrics
// made from the reward come with it.
func chosen(has, want []result.Metric) []result.Metric {
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
