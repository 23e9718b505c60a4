package main

import (
	"fmt"

	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/stat"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/studies/handmade"
)

// handmadeHalves are the studies of tasks written by hand, by the name of the experiment.
var handmadeHalves = map[string][]handmade.Task{
	"handmade":          handmade.Development,
	"handmade-held-out": handmade.HeldOut,
	"handmade-second":   handmade.Second,
	"handmade-last":     handmade.Last,
	"handmade-fresh":    handmade.Fresh,
}

// handmadeAgents are who meets them. The first two are compared with the others.
var handmadeAgents = []map[string]any{
	{"name": "threshold model, sup", "plugin": "threshold-model", "params": map[string]any{"rule": "sup"}},
	{"name": "threshold model, mean", "plugin": "threshold-model", "params": map[string]any{"rule": "mean"}},
	{"name": "optimistic model", "plugin": "optimistic-model"},
	{"name": "MBIE-EB", "plugin": "mbie-eb"},
	{"name": "PSRL", "plugin": "psrl"},
}

// handmadeTasks returns the tasks of a study of tasks written by hand.
func handmadeTasks(name string) (tasks []task, err error) {
	for _, t := range handmadeHalves[name] {
		m, err := t.Model()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.Name, err)
		}
		tasks = append(tasks, modelTask(name, t.Name, t.Name, m))
	}
	return tasks, nil
}

// writeHandmade writes the models and the config of a study of tasks written by hand, and returns
// the path of the config.
func writeHandmade(name string) (string, error) {
	tasks, err := handmadeTasks(name)
	if err != nil {
		return "", err
	}
	return writeExperiment(name, "Agents on tasks that were written by hand.", 4, tasks, handmadeAgents)
}

// handmadeBoard prints how agents score on tasks written by hand, and how the first two compare
// with the others.
func handmadeBoard(s *study) error {
	tasks, err := handmadeTasks(baseName(s.name))
	if err != nil {
		return err
	}
	scores := make([]stat.Scores, len(s.Meta.Agents)) // by agent, task and run
	for _, t := range tasks {
		scale, err := stepScale(t.model, s.Meta.Steps)
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		for a, agent := range s.Meta.Agents {
			if _, err := s.curves(t.name, agent, result.Reward); err != nil { // reads the records
				return err
			}
			runs := make([]float64, s.Meta.Runs)
			for _, r := range s.records[[2]string{t.name, agent}] {
				runs[r.Run] = scale.score(s.total(r) / float64(r.Steps))
			}
			scores[a] = append(scores[a], runs)
		}
	}
	fmt.Fprintf(s.w, "Reward per step over the whole run of %d steps, learning included, in percent of the way from uniformly random (0) to optimal (100). Means over %d runs with half of their 95 %% interval (t).\n\n", s.Meta.Steps, s.Meta.Runs)
	var rows [][]string
	for k, t := range tasks {
		row := []string{t.name}
		for a := range s.Meta.Agents {
			row = append(row, percent(stratified(scores[a][k:k+1])))
		}
		rows = append(rows, row)
	}
	row := []string{"**mean**"}
	for a := range s.Meta.Agents {
		row = append(row, percent(stratified(scores[a])))
	}
	s.table(append([]string{"task"}, s.Meta.Agents...), append(rows, row))

	fmt.Fprintf(s.w, "Differences in points, paired by task and run. The first interval is over runs of these %d tasks, the second over tasks like these, each half of 95 %%. Then come the number of tasks on which the first agent is ahead, and p over tasks after Holm's correction for all rows.\n\n", len(tasks))
	rows = nil
	var ps []float64
	for first := range 2 {
		for second := 2; second < len(s.Meta.Agents); second++ {
			d := minus(scores[first], scores[second])
			var means []float64
			ahead := 0
			for _, runs := range d {
				means = append(means, stat.Mean(runs))
				if stat.Mean(runs) > 0 {
					ahead++
				}
			}
			over := stratified(stat.Scores{means})
			half := fmt.Sprintf("%.1f", 50*(over.High-over.Low))
			rows = append(rows, []string{s.Meta.Agents[first] + " less " + s.Meta.Agents[second], percent(stratified(d)), "± " + half, fmt.Sprint(ahead)})
			ps = append(ps, over.P)
		}
	}
	for k, p := range stat.Holm(ps) {
		rows[k] = append(rows[k], fmt.Sprintf("%.2g", p))
	}
	s.table([]string{"difference", "over runs", "over tasks", "tasks ahead", "p, Holm"}, rows)
	return nil
}

// stepScale returns the scale of the reward per step of a task, episodes following each other.
func stepScale(m *mdp.Tabular, steps int) (scale, error) {
	m, err := m.Restarting()
	if err != nil {
		return scale{}, err
	}
	best, err := mdp.SolveAverage(m, mdp.SolverConfig{})
	if err != nil {
		return scale{}, err
	}
	return scale{uniformReward(m, steps), best.Gain[0]}, nil
}
