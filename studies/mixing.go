package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/framework/explore"
	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/stat"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/options"
	"github.com/rlrun/rlrun/plugins/families"
)

// The study "mixing" compares estimates of the exploration mixing time with the true time of the same
// greedy policy: the same quantile over the states that were visited, in the true model.

const (
	mostTime    = 1000 // the cap; longer times count as this
	mixingSteps = 1000
	mixingRuns  = 10 // of a task given as a file
)

// estimated is an estimate, and the truth. High is 0 if there was no interval.
type estimated struct{ step, truth, estimate, low, high int }

// timed is an agent whose greedy policies are timed in the true model when the host asks for them.
type timed struct {
	vector.OptionAgent
	model  *mdp.Tabular
	visits []float64
	truth  int // 0: none was asked for
}

// Abilities hides that lanes can be stepped by themselves.
func (w *timed) Abilities() vector.AgentAbilities {
	able := w.OptionAgent.Abilities()
	able.Lane = nil
	return able
}

func (w *timed) GreedyPolicy(ctx context.Context, lane int, dst []int) ([]int, error) {
	pi, err := w.OptionAgent.GreedyPolicy(ctx, lane, dst)
	if err != nil {
		return nil, err
	}
	mix, err := mdp.MixingTime(w.model, mdp.Deterministic(pi), mdp.MixingConfig{MaxSteps: mostTime})
	if mix == nil {
		return nil, err
	}
	type weighed struct {
		time   int
		weight float64
	}
	var times []weighed
	total := 0.0
	for s, n := range w.visits {
		for a, t := range mix.T[s] {
			if n > 0 && a != pi[s] {
				times, total = append(times, weighed{t, n}), total+n
			}
		}
	}
	slices.SortFunc(times, func(x, y weighed) int { return cmp.Compare(x.time, y.time) })
	w.truth = 1
	sum := 0.0
	for _, t := range times {
		w.truth = min(max(t.time, 1), mostTime)
		if sum += t.weight; sum >= 0.9*total*(1-1e-12) {
			break
		}
	}
	return pi, nil
}

// timedHost collects what a host estimates of a timed agent.
type timedHost struct {
	explore.Explorer
	agent     *timed
	steps     int
	estimates []estimated
}

// Abilities hides that lanes can be stepped by themselves.
func (h *timedHost) Abilities() vector.AgentAbilities {
	able := h.Explorer.Abilities()
	able.Lane = nil
	return able
}

func (h *timedHost) Step(ctx context.Context, in *vector.Feedback, actions *space.Column) error {
	if err := h.Explorer.Step(ctx, in, actions); err != nil {
		return err
	}
	if h.agent.truth > 0 {
		e := estimated{step: h.steps, truth: h.agent.truth}
		h.agent.truth = 0
		_, e.estimate = h.Exploration(0)
		if all := h.Decisions(0); len(all) > 0 && all[len(all)-1].Step == h.steps {
			var t int
			_, _ = fmt.Sscanf(all[len(all)-1].Numbers, "mixing_time=%d mixing_time.low=%d mixing_time.high=%d", &t, &e.low, &e.high) // without an interval high stays 0
		}
		h.estimates = append(h.estimates, e)
	}
	h.steps++
	h.agent.visits[in.Observations.Int64[0]]++
	return nil
}

// mixingRun makes a run, and returns the estimates in it.
func mixingRun(ctx context.Context, learner string, estimator explore.Estimator, t task, run int) ([]estimated, error) {
	env, agent, err := openLane(ctx, learner, "{}", t)
	if err != nil {
		return nil, err
	}
	w := &timed{OptionAgent: agent, model: t.model, visits: make([]float64, t.model.NumStates())}
	host, err := explore.New(ctx, w, env.Spec(), 1, explore.Config{
		Decider: options.DeciderConfig{Bound: bandit.V, Horizon: bandit.Finite(mixingSteps - 1)},
		Kinds:   []options.Kind{options.DrawnMember}, Estimator: estimator, Log: 1 << 20,
	})
	if err != nil {
		return nil, err
	}
	h := &timedHost{Explorer: host, agent: w}
	_, err = loop.Run(ctx, loop.Batch{Environment: env, Agent: h, Runs: []int{run}, Seeds: seed.NewSource(1, env.Spec().ID), Steps: mixingSteps, Discount: 1})
	return h.estimates, err
}

// mixing prints how estimates of the mixing time compare with the truth, on tasks of families or on those
// of files.
func mixing(files []string) error {
	var tasks []task
	runs := 1
	if len(files) > 0 {
		runs = mixingRuns
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		m := new(mdp.Tabular)
		if err := json.Unmarshal(raw, m); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		tasks = append(tasks, task{file, file, map[string]any{"plugin": "model", "params": map[string]any{"file": file}}, m})
	}
	if len(files) == 0 {
		all, err := optionFamilies(families.Test, 110, 4)()
		if err != nil {
			return err
		}
		tasks = slices.DeleteFunc(all, func(t task) bool {
			return t.model.HasTerminal() || t.kind == "many-arms" || t.model.NumStates() == 1
		})
	}
	s := &study{name: "mixing", w: os.Stdout}
	var rows [][]string
	for _, learner := range optionLearners {
		for _, estimator := range []explore.Estimator{explore.Counts, explore.Posterior} {
			// what is printed, of each task (or run) and step range
			type shares struct{ truth, estimate, below, ratio, covered []float64 }
			ranges := []struct{ from, to int }{{1, 16}, {16, 128}, {128, mixingSteps}}
			out := make([]shares, len(ranges))
			for _, t := range tasks {
				for run := range runs {
					all, err := mixingRun(context.Background(), learner, estimator, t, run)
					if err != nil {
						return fmt.Errorf("%s in %s: %w", learner, t.name, err)
					}
					for k, r := range ranges {
						var truth, estimate, below, ratio, covered, n, intervals float64
						for _, e := range all {
							if e.step < r.from || e.step >= r.to {
								continue
							}
							n++
							truth, estimate = truth+float64(e.truth), estimate+float64(e.estimate)
							ratio += math.Log2(float64(e.estimate) / float64(e.truth))
							if e.estimate < e.truth {
								below++
							}
							if e.high > 0 {
								intervals++
								if e.low <= e.truth && e.truth <= e.high {
									covered++
								}
							}
						}
						if n > 0 {
							o := &out[k]
							o.truth, o.estimate = append(o.truth, truth/n), append(o.estimate, estimate/n)
							o.below, o.ratio = append(o.below, below/n), append(o.ratio, ratio/n)
							if intervals > 0 {
								o.covered = append(o.covered, covered/intervals)
							}
						}
					}
				}
			}
			for k, r := range ranges {
				o := &out[k]
				of := func(xs []float64, format string) string {
					if len(xs) < 2 {
						return ""
					}
					t := stratified(stat.Scores{xs})
					return fmt.Sprintf(format, t.Value, (t.High-t.Low)/2)
				}
				rows = append(rows, []string{learner, estimator.String(), fmt.Sprintf("%d to %d", r.from, r.to-1),
					of(o.truth, "%.0f ± %.0f"), of(o.estimate, "%.0f ± %.0f"), of(o.ratio, "%.2f ± %.2f"), of(o.below, "%.2f ± %.2f"), of(o.covered, "%.2f ± %.2f")})
			}
		}
	}
	s.table([]string{"learner", "estimator", "after steps", "true T", "estimate", "log₂ of estimate/truth", "share below the truth", "share in the interval"}, rows)
	return nil
}

// estimatorWays are exploration with T by counts, and each after it the same with T by the posterior.
func estimatorWays() []way {
	var ways []way
	for _, w := range []way{
		{"{}", map[string]any{}},
		{"members and constants", map[string]any{"options": []string{"members", "constants"}}},
		{"Algorithm 1, uniform", map[string]any{"rule": "optimistic", "options": []string{"uniform"}}},
		{"Algorithm 2, uniform", map[string]any{"rule": "optimistic-stochastic", "options": []string{"uniform"}}},
	} {
		ways = append(ways, w)
		config := maps.Clone(w.config)
		config["commitment"] = map[string]any{"estimator": "posterior"}
		ways = append(ways, way{w.name + ", posterior", config})
	}
	return ways
}

// estimatorsBoard prints what the estimator posterior changes.
func estimatorsBoard(s *study) error {
	boards, err := s.optionBoards()
	if err != nil {
		return err
	}
	var rows [][]string
	var ps []float64
	for _, b := range boards {
		for a := 0; a < len(b.ways); a += 2 {
			d := overTasks(minus(b.scores[a+1], b.scores[a]))
			ps = append(ps, d.P)
			rows = append(rows, []string{b.learner, b.ways[a].name, percent(overTasks(b.scores[a])), percent(overTasks(b.scores[a+1])), percent(d), "",
				fmt.Sprintf("%.0f, %.0f %%", 100*b.shares[a], 100*b.shares[a+1])})
		}
	}
	for i, p := range stat.Holm(ps) {
		rows[i][5] = fmt.Sprintf("%.2g", p)
	}
	s.table([]string{"learner", "exploration", "counts", "posterior", "difference", "p, Holm", "exploratory"}, rows)
	return nil
}
