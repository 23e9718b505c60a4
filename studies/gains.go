package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/stat"
	"github.com/rlrun/rlrun/plugins/families"
)

// gainsAgents are the agents that decide by condition (T).
var gainsAgents = []map[string]any{
	{"name": "sup", "plugin": "threshold-model", "params": map[string]any{"rule": "sup"}},
	{"name": "mean", "plugin": "threshold-model", "params": map[string]any{"rule": "mean"}},
	{"name": "the host decides", "plugin": "threshold-model", "exploration": map[string]any{"rule": "gain"}},
}

// gainsTasks returns the tasks written by hand, and a development task of each family.
func gainsTasks() (tasks []task, err error) {
	for _, half := range []string{"handmade", "handmade-held-out", "handmade-second", "handmade-last"} {
		more, err := handmadeTasks(half)
		if err != nil {
			return nil, err
		}
		for k := range more {
			tasks = append(tasks, modelTask("gains", more[k].name, "by hand", more[k].model))
		}
	}
	for _, kind := range families.Kinds() {
		t, err := families.Task(families.Params{Kind: kind, Seed: 1, Split: families.Development})
		if err != nil {
			return nil, err
		}
		tasks = append(tasks, task{name: "family " + string(kind), kind: "families", model: t.Model, environment: map[string]any{
			"plugin": "family", "params": map[string]any{"kind": kind, "seed": 1, "split": families.Development}}})
	}
	return tasks, nil
}

// writeGains writes the models and the config of the study of gains, and returns its path.
func writeGains() (string, error) {
	tasks, err := gainsTasks()
	if err != nil {
		return "", err
	}
	return writeExperiment("gains", "Do predicted gains come true?", 4, tasks, gainsAgents, "agent.gain_predicted", "agent.gain_realised")
}

// gainsBoard prints, for each task and agent, by how much predicted gains exceed realised ones.
func gainsBoard(s *study) error {
	tasks, err := gainsTasks()
	if err != nil {
		return err
	}
	ratios := map[string]map[string][]float64{} // by kind and agent
	sums := map[[2]string][2]float64{}          // by kind and agent: gains in units of the range of rewards, predicted and realised
	var rows [][]string
	for _, t := range tasks {
		row := []string{t.name}
		for _, agent := range s.Meta.Agents {
			var sum [2]float64
			for k, name := range []string{"gain_predicted", "gain_realised"} {
				runs, err := s.curves(t.name, agent, result.Metric(result.AgentMetrics+"."+name))
				if err != nil {
					return err
				}
				for _, run := range runs {
					sum[k] += run[len(run)-1]
				}
			}
			if ratios[t.kind] == nil {
				ratios[t.kind] = map[string][]float64{}
			}
			if low, high := t.model.RewardBounds(); !math.IsInf(high-low, 1) {
				of := sums[[2]string{t.kind, agent}]
				sums[[2]string{t.kind, agent}] = [2]float64{of[0] + sum[0]/(high-low), of[1] + sum[1]/(high-low)}
			}
			ratio := sum[0] / sum[1]
			ratios[t.kind][agent] = append(ratios[t.kind][agent], ratio)
			row = append(row, fmt.Sprintf("%.2g", ratio))
		}
		rows = append(rows, row)
	}
	fmt.Fprintf(s.w, "Predicted gains of a run of %d steps divided by realised ones, sums over %d runs.\n\n", s.Meta.Steps, s.Meta.Runs)
	s.table(append([]string{"task"}, s.Meta.Agents...), rows)
	rows = nil
	for _, kind := range []string{"by hand", "families"} {
		for _, agent := range s.Meta.Agents {
			all := slices.Clone(ratios[kind][agent])
			slices.Sort(all)
			within := 0
			for _, x := range all {
				if 0.5 <= x && x <= 2 {
					within++
				}
			}
			rows = append(rows, []string{kind, agent, fmt.Sprintf("%.2g", stat.Quantile(all, 0.25)), fmt.Sprintf("%.2g", stat.Quantile(all, 0.5)), fmt.Sprintf("%.2g", stat.Quantile(all, 0.75)), fmt.Sprintf("%d of %d", within, len(all)), fmt.Sprintf("%.2g", sums[[2]string{kind, agent}][0]/sums[[2]string{kind, agent}][1])})
		}
	}
	fmt.Fprintln(s.w, "The same over tasks. *From ½ to 2* is the number of tasks with such a ratio. *Together* is the ratio of the sums over tasks, each in units of the range of its rewards.")
	fmt.Fprintln(s.w)
	s.table([]string{"tasks", "agent", "lower quartile", "median", "upper quartile", "from ½ to 2", "together"}, rows)
	return nil
}
