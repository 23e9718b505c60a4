package main

import (
	"fmt"
	"strings"

	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/stat"
	"github.com/rlrun/rlrun/plugins/families"
	"github.com/rlrun/rlrun/studies/episodic"
)

// episodesOf are the studies of tasks with episodes: by the name of the experiment, the split and
// the first of the seeds, of families and of the other kinds. Former versions of threshold-model
// met test seeds below 70, and below 15 of the other kinds.
var episodesOf = map[string]struct {
	split           string
	first, episodic uint64
}{
	"episodes":     {families.Test, 70, 15},
	"episodes-dev": {families.Development, 300, 0},
}

const episodesSeeds = 5 // tasks of each kind

// episodesFamilies are the kinds of the plugin family that have episodes.
var episodesFamilies = []families.Name{"cost", "pits", "sea"}

// episodesAgents are who meets them. The first four are compared with the others.
var episodesAgents = []map[string]any{
	{"name": "threshold model, sup, episode", "plugin": "threshold-model", "params": map[string]any{"criterion": "episode"}},
	{"name": "threshold model, mean, episode", "plugin": "threshold-model", "params": map[string]any{"criterion": "episode", "rule": "mean"}},
	{"name": "threshold model, sup, run", "plugin": "threshold-model", "params": map[string]any{"criterion": "run"}},
	{"name": "threshold model, mean, run", "plugin": "threshold-model", "params": map[string]any{"criterion": "run", "rule": "mean"}},
	{"name": "threshold model, sup, step", "plugin": "threshold-model", "params": map[string]any{"criterion": "step"}},
	{"name": "threshold model, mean, step", "plugin": "threshold-model", "params": map[string]any{"criterion": "step", "rule": "mean"}},
	{"name": "optimistic model", "plugin": "optimistic-model"},
	{"name": "optimistic model, episode", "plugin": "optimistic-model", "params": map[string]any{"criterion": "episode"}},
	{"name": "MBIE-EB", "plugin": "mbie-eb"},
	{"name": "PSRL, tuned", "plugin": "psrl", "params": map[string]any{"alpha": 0.03, "tau": 1000}},
	{"name": "bootstrap-q", "plugin": "bootstrap-q"},
	{"name": "bootstrap-q, episode", "plugin": "bootstrap-q", "params": map[string]any{"criterion": "episode"}},
	{"name": "ε-greedy Q-learning", "plugin": "q-learning", "params": map[string]any{"step": 0.1}},
}

// episodicTasks returns the tasks of a study, kind by kind.
func episodicTasks(name string) (tasks []task, err error) {
	x := episodesOf[name]
	for _, kind := range episodesFamilies {
		for k := range uint64(episodesSeeds) {
			t, err := families.Task(families.Params{Kind: kind, Split: x.split, Seed: x.first + k})
			if err != nil {
				return nil, err
			}
			tasks = append(tasks, task{fmt.Sprintf("%s %d", kind, x.first+k), string(kind), map[string]any{"plugin": "family",
				"params": map[string]any{"kind": kind, "split": x.split, "seed": x.first + k}}, t.Model})
		}
	}
	for _, kind := range episodic.Kinds {
		for k := range uint64(episodesSeeds) {
			m, err := episodic.Model(kind, x.split, x.episodic+k)
			if err != nil {
				return nil, err
			}
			tasks = append(tasks, modelTask(name, fmt.Sprintf("%s %d", kind, x.episodic+k), kind, m))
		}
	}
	return tasks, nil
}

// writeEpisodes writes the models and the config of a study of tasks with episodes, and returns
// the path of the config.
func writeEpisodes(name string) (string, error) {
	tasks, err := episodicTasks(name)
	if err != nil {
		return "", err
	}
	return writeExperiment(name, "Agents on tasks with episodes.", 1, tasks, episodesAgents)
}

// episodesBoard prints how agents score on tasks with episodes, per step and per episode.
func episodesBoard(s *study) error {
	tasks, err := episodicTasks(strings.Replace(s.name, "-short", "", 1))
	if err != nil {
		return err
	}
	b := &board{agents: s.Meta.Agents}
	b.steps, b.episodes = make([]stat.Scores, len(b.agents)), make([]stat.Scores, len(b.agents))
	for _, t := range tasks {
		if n := len(b.kinds); n == 0 || string(b.kinds[n-1]) != t.kind {
			b.kinds, b.episodic = append(b.kinds, families.Name(t.kind)), append(b.episodic, true)
			for a := range b.agents {
				b.steps[a], b.episodes[a] = append(b.steps[a], nil), append(b.episodes[a], nil)
			}
		}
		k := len(b.kinds) - 1
		step, err := stepScale(t.model, s.Meta.Steps)
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		episode, err := episodeScale(t.model)
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		for a, agent := range b.agents {
			if _, err := s.curves(t.name, agent, result.Reward); err != nil { // reads the records
				return err
			}
			var byStep, byEpisode []float64
			for _, r := range s.records[[2]string{t.name, agent}] {
				total := s.total(r)
				byStep = append(byStep, max(worstEpisodes, step.score(total/float64(r.Steps))))
				byEpisode = append(byEpisode, max(worstEpisodes, episode.score(total/float64(max(1, r.Episodes)))))
			}
			b.steps[a][k] = append(b.steps[a][k], stat.Mean(byStep))
			b.episodes[a][k] = append(b.episodes[a][k], stat.Mean(byEpisode))
		}
	}
	for _, x := range []struct {
		measure string
		scores  []stat.Scores
	}{{"Return per episode, the reward of the run divided by the number of episodes that ended, in runs", b.episodes}, {"Reward per step over the whole run", b.steps}} {
		b.printScores(s, b.order(x.scores), x.measure, x.scores)
		b.compareFirst(s, x.scores, 4)
	}
	return nil
}

// compareFirst prints the differences of the first n agents from all others.
func (b *board) compareFirst(s *study, scores []stat.Scores, n int) {
	fmt.Fprintf(s.w, "Differences in points, paired by task, ± half of the 95 %% interval over tasks like these, and p after Holm's correction for all of this table.\n\n")
	var rows [][]string
	var ps []float64
	for other := n; other < len(b.agents); other++ {
		row := []string{b.agents[other]}
		for first := range n {
			t := stratified(minus(scores[first], scores[other]))
			row = append(row, percent(t), "")
			ps = append(ps, t.P)
		}
		rows = append(rows, row)
	}
	for k, p := range stat.Holm(ps) {
		rows[k/n][2+2*(k%n)] = fmt.Sprintf("%.2g", p)
	}
	head := []string{"less"}
	for _, a := range b.agents[:n] {
		head = append(head, a, "p, Holm")
	}
	s.table(head, rows)
}
