package report

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"github.com/rlrun/rlrun/framework/result"
)

// WritePlots draws each metric of each environment into dir/plots as
// <environment>-<metric>.svg and .png, and returns the paths of the files in
// dir. metrics chooses among the metrics, nil means all; one that no agent has a
// value of is left out. Of opts only Smooth and LogX count.
func WritePlots(dir string, s *result.Summary, metrics []result.Metric, opts Options) ([]string, error) {
	folder := filepath.Join(dir, "plots")
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, err
	}
	var files []string
	slugs := Slugs(s.Meta.Environments)
	for i, env := range s.Meta.Environments {
		for _, m := range chosen(s.MetricsOf(env, true), metrics) {
			f, err := NewFigure(s, env, m, Options{Smooth: opts.Smooth, LogX: opts.LogX})
			if errors.Is(err, errNothing) {
				continue
			}
			if err != nil {
				return files, err
			}
			name := slugs[i] + "-" + Slug(string(m))
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

// Slug turns a label into a part of a file name: letters, digits and underscores
// in lower case, one dash for everything else.
func Slug(label string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(label) {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' {
			b.WriteRune(r)
		} else if s := b.String(); s != "" && !strings.HasSuffix(s, "-") {
			b.WriteByte('-')
		}
	}
	slug := strings.TrimSuffix(b.String(), "-")
	if slug == "" {
		return "unnamed"
	}
	return slug
}

// Slugs gives every label its slug, and a number to those whose slug is taken.
func Slugs(labels []string) []string {
	taken := map[string]bool{}
	out := make([]string, len(labels))
	for i, label := range labels {
		slug := Slug(label)
		for n := 2; taken[slug]; n++ {
			slug = Slug(label) + "-" + strconv.Itoa(n)
		}
		taken[slug] = true
		out[i] = slug
	}
	return out
}
