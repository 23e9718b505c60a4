package report

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/rlrun/rlrun/framework/result"
)

// WritePlots draws each metric of each environment into dir/plots as
// <environment>-<metric>.svg and .png, and returns the paths of the files in
// dir. metrics selects the metrics; nil means all. A metric without values of
// any agent is left out. Of opts only Smooth and LogX count.
func WritePlots(dir string, s *result.Summary, metrics []result.Metric, opts Options) ([]string, error) {
	folder := filepath.Join(dir, "plots")
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, err
	}
	var files []string
	slugs := result.Slugs(s.Meta.Environments)
	for i, env := range s.Meta.Environments {
		for _, m := range chosen(s.MetricsOf(env, true), metrics) {
			f, err := NewFigure(s, env, m, Options{Smooth: opts.Smooth, LogX: opts.LogX})
			if errors.Is(err, errNothing) {
				continue
			}
			if err != nil {
				return files, err
			}
			name := slugs[i] + "-" + result.Slug(string(m))
			if err := result.WriteFile(filepath.Join(folder, name+".svg"), f.WriteSVG); err != nil {
				return files, err
			}
			if err := result.WriteFile(filepath.Join(folder, name+".png"), f.WritePNG); err != nil {
				return files, err
			}
			files = append(files, filepath.Join("plots", name+".svg"), filepath.Join("plots", name+".png"))
		}
	}
	return files, nil
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
