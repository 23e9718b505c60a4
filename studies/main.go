// Command studies runs one of the studies of docs/studies, prints its tables as
// Markdown and draws its figures:
//
//	go run -C studies . NAME
//
// The experiment is configs/NAME.yaml. Those of tasks written by hand are generated. Its
// results stay in results/NAME, and runs that are there are not made again. The figures
// go to docs/images.
package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rlrun/rlrun/framework/output/plots"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/store"
	"github.com/rlrun/rlrun/studies/checkout"
)

// studies make tables and figures from the results of each experiment.
var studies = map[string]func(*study) error{
	"riverswim":                 riverSwim,
	"deepsea":                   deepSea,
	"deepsea-models":            deepSea,
	"dearden":                   dearden,
	"dearden-maze":              dearden,
	"dearden-maze-models":       dearden,
	"window":                    window,
	"window-long":               window,
	"window-tables":             window,
	"horizon":                   horizon,
	"horizon-mixing":            horizonMixing,
	"changing":                  changingBoard,
	"changing-development":      changingBoard,
	"families":                  familiesBoard,
	"families-short":            familiesBoard,
	"families-long":             familiesBoard,
	"families-development":      familiesSettings,
	"families-defaults":         familiesDefaults,
	"families-bootstrap":        familiesAgainstFirst,
	"families-bounds":           familiesAgainstFirst,
	"deep":                      deepBoard,
	"deep-50":                   deepBoard,
	"deep-800":                  deepBoard,
	"deep-10":                   deepBoard,
	"deep-14":                   deepBoard,
	"deep-cartpole":             deepBoard,
	"deep-development":          deepBoard,
	"deep-pits":                 deepBoard,
	"deep-pits-500":             deepBoard,
	"deep-swingup":              deepBoard,
	"episodes":                  episodesBoard,
	"episodes-dev":              episodesBoard,
	"episodes-dev-short":        episodesBoard,
	"episodes-short":            episodesBoard,
	"gains":                     gainsBoard,
	"gains-short":               gainsBoard,
	"handmade":                  handmadeBoard,
	"handmade-short":            handmadeBoard,
	"handmade-held-out":         handmadeBoard,
	"handmade-held-out-short":   handmadeBoard,
	"handmade-second":           handmadeBoard,
	"handmade-second-short":     handmadeBoard,
	"handmade-last":             handmadeBoard,
	"handmade-last-short":       handmadeBoard,
	"handmade-last-long":        handmadeBoard,
	"handmade-fresh":            handmadeBoard,
	"handmade-fresh-short":      handmadeBoard,
	"handmade-fresh-long":       handmadeBoard,
	"options-fewer":             optionsBoard,
	"options-more-short":        optionsBoard,
	"options-one-long":          optionsLong,
	"options-map-short":         optionsMap,
	"options-map-model":         optionsMap,
	"options-map-q":             optionsLiterature,
	"options-development":       optionsBoard,
	"options-development-short": optionsBoard,
	"options-classic":           optionsBoard,
	"options-estimators-short":  estimatorsBoard,
	"options-literature-short":  optionsLiterature,
	"options-many-brief":        optionsBoard,
	"options-many-short":        optionsBoard,
	"options-model-long":        optionsBoard,
	"options-q-long":            optionsBoard,
	"options-network-short":     optionsBoard,
	"options-queue":             optionsBoard,
	"options-queue-long":        optionsBoard,
	"options-queue-short":       optionsBoard,
	"options-wider":             optionsBoard,
	"options-classic-short":     optionsBoard,
	"proposal":                  optionsBoard,
	"proposal-short":            optionsBoard,
	"proposal-classic":          optionsBoard,
	"proposal-classic-short":    optionsBoard,
	"leaderboard":               leaderboard,
	"leaderboard-bounds":        leaderboard,
	"leaderboard-new":           leaderboard,
	"leaderboard-cliff":         leaderboardCliff,
	"leaderboard-close":         leaderboardScores,
	"leaderboard-models":        leaderboardScores,
	"leaderboard-taxi":          leaderboard,
	"leaderboard-tuned":         leaderboardTuned,
}

func main() {
	names := strings.Join(slices.Sorted(maps.Keys(studies)), ", ") + ", calibration, deep-bar, mixing [FILE…], options-lengths, worth"
	if len(os.Args) != 2 && (len(os.Args) < 2 || os.Args[1] != "mixing") || studies[os.Args[1]] == nil && !slices.Contains([]string{"calibration", "deep-bar", "mixing", "options-lengths", "worth"}, os.Args[1]) {
		fmt.Fprintf(os.Stderr, "usage: go run -C studies . NAME   (NAME: %s)\n", names)
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "studies:", err)
		os.Exit(1)
	}
}

func run(name string) error {
	if err := checkout.Enter(); err != nil {
		return err
	}
	switch name { // these need no experiment
	case "worth":
		return worth()
	case "calibration":
		return calibration()
	case "deep-bar":
		return deepBar()
	case "mixing":
		return mixing(os.Args[2:])
	case "options-lengths":
		return optionsLengths()
	}
	s, err := execute(name)
	if err != nil {
		return err
	}
	return studies[name](s)
}

// execute makes the runs of an experiment that are not there yet, and returns its
// results.
func execute(name string) (*study, error) {
	base := baseName(name)
	path := "configs/" + base + ".yaml"
	var err error
	if handmadeHalves[base] != nil {
		path, err = writeHandmade(base)
	} else if changingHalves[base] != nil {
		path, err = writeChanging(base)
	} else if base == "families-defaults" {
		path = "studies/families-defaults.yaml" // 200 agents in 68 tasks: too many for the oracle of configs
	} else if _, ok := deepStudies[base]; ok {
		path, err = writeDeep(base)
	} else if base == "gains" {
		path, err = writeGains()
	} else if _, ok := episodesOf[base]; ok {
		path, err = writeEpisodes(base)
	} else if _, ok := optionsStudies[base]; ok {
		path, err = writeOptions(base)
	}
	if err != nil {
		return nil, err
	}
	args := []string{"run", "./cmd/rlrun", "run", path, "--resume"}
	if x, ok := deepStudies[base]; ok {
		args = append(args, "--steps", strconv.Itoa(x.steps), "--seed", strconv.Itoa(x.seed))
	}
	if base != name {
		args = append(args, "--out", filepath.Join("results", name), "--steps")
		if strings.HasSuffix(name, "-long") {
			args = append(args, "100000")
			if handmadeHalves[base] != nil {
				args = append(args, "--runs", "2")
			}
		} else if strings.HasSuffix(name, "-brief") {
			args = append(args, "100")
		} else {
			args = append(args, "1000")
		}
	}
	cmd := exec.Command("go", args...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr // stdout is for the page
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(cmd.Args, " "), err)
	}
	return load(name, filepath.Join("results", name), os.Stdout)
}

// baseName returns the study of the same tasks and agents, in runs of the usual length.
func baseName(name string) string {
	name = strings.TrimSuffix(strings.TrimSuffix(name, "-short"), "-brief")
	if base := strings.TrimSuffix(name, "-long"); handmadeHalves[base] != nil || slices.Contains([]string{"options-one", "options-queue", "options-model", "options-q"}, base) {
		return base
	}
	return name
}

// study is an experiment's results and where tables and figures of them go.
type study struct {
	*result.Summary
	name string
	dir  string
	w    io.Writer

	records map[[2]string][]result.Record // by environment and agent, once needed
}

func load(name, dir string, w io.Writer) (*study, error) {
	cfg, err := store.ReadConfig(filepath.Join(dir, "experiment.yaml"))
	if err != nil {
		return nil, err
	}
	p, err := plan.Compile(cfg)
	if err != nil {
		return nil, err
	}
	s, err := result.Aggregate(p.Meta(), result.ReadRecords(dir))
	if err != nil {
		return nil, err
	}
	if len(s.Failures) > 0 {
		return nil, fmt.Errorf("%d runs failed, the first: %s", len(s.Failures), s.Failures[0].Error)
	}
	return &study{Summary: s, name: name, dir: dir, w: w}, nil
}

// row returns the estimate of a metric by one value a run.
func (s *study) row(env, agent string, m result.Metric) (*result.Row, error) {
	if r := s.Row(env, agent, m); r != nil {
		return r, nil
	}
	return nil, fmt.Errorf("no %s of %s in %s", m, agent, env)
}

// figure writes a figure as docs/images/NAME[-part].svg and .png.
func (s *study) figure(part string, f *plots.Figure) error {
	path := filepath.Join("docs", "images", s.name)
	if part != "" {
		path += "-" + part
	}
	return errors.Join(
		result.WriteFile(path+".svg", f.WriteSVG),
		result.WriteFile(path+".png", f.WritePNG))
}

// table prints a Markdown table.
func (s *study) table(head []string, rows [][]string) {
	fmt.Fprintf(s.w, "| %s |\n|%s\n", strings.Join(head, " | "), strings.Repeat(" --- |", len(head)))
	for _, r := range rows {
		fmt.Fprintf(s.w, "| %s |\n", strings.Join(r, " | "))
	}
	fmt.Fprintln(s.w)
}

// interval writes a mean and half of its 95 % interval, to the given decimals.
func interval(e result.Estimate, decimals int) string {
	return fmt.Sprintf("%.*f ± %.*f", decimals, e.Mean, decimals, (e.High-e.Low)/2)
}

// last returns the estimate of a metric at the end of the runs; of the share of
// exploration it is the mean over them.
func (s *study) last(env, agent string, m result.Metric) (result.Estimate, error) {
	if m == result.ExplorationShare {
		r, err := s.row(env, agent, m)
		if err != nil {
			return result.Estimate{}, err
		}
		return r.Estimate, nil
	}
	c := s.Curve(env, agent, m)
	if c == nil {
		return result.Estimate{}, fmt.Errorf("no %s of %s in %s", m, agent, env)
	}
	k := len(c.Steps) - 1
	return result.Estimate{N: c.Runs[k], Mean: c.Mean[k], StdErr: c.StdErr[k], Low: c.Low[k], High: c.High[k]}, nil
}

// windows returns what an agent with windows is judged by at the end of the runs: its
// regret, T, and the share of exploratory steps.
func (s *study) windows(env, agent string) (regret, hold, share result.Estimate, err error) {
	if regret, err = s.last(env, agent, result.Regret); err != nil {
		return
	}
	if hold, err = s.last(env, agent, result.MixingTime); err != nil {
		return
	}
	share, err = s.last(env, agent, result.ExplorationShare)
	return
}

func scaled(e result.Estimate, by float64) result.Estimate {
	e.Mean, e.StdErr, e.Low, e.High = by*e.Mean, by*e.StdErr, by*e.Low, by*e.High
	return e
}
