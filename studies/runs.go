package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/rlrun/rlrun/framework/result"
)

// curves returns the curve of a metric of every run of an agent in an environment,
// on the grid of s.Meta.
func (s *study) curves(env, agent string, m result.Metric) ([][]float64, error) {
	if s.records == nil {
		s.records = map[[2]string][]result.Record{}
		for r, err := range result.ReadRecords(s.dir) {
			if err != nil {
				return nil, err
			}
			key := [2]string{r.Environment, r.Agent}
			s.records[key] = append(s.records[key], r)
		}
	}
	var out [][]float64
	for _, r := range s.records[[2]string{env, agent}] {
		if c := r.Curves[m]; len(c) == len(s.Meta.Grid) {
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no %s of %s in %s", m, agent, env)
	}
	return out, nil
}

// at returns the index of a step in the grid.
func (s *study) at(step int) (int, error) {
	for k, t := range s.Meta.Grid {
		if t == step {
			return k, nil
		}
	}
	return 0, fmt.Errorf("step %d is not on the grid", step)
}

// gain returns the optimal reward per step of a task whose model is known.
func (s *study) gain(env string) (float64, error) {
	raw, err := os.ReadFile(filepath.Join(s.dir, "environments.json"))
	if err != nil {
		return 0, err
	}
	var tasks map[string]result.Task
	if err := json.Unmarshal(raw, &tasks); err != nil {
		return 0, err
	}
	if tasks[env].Gain == nil {
		return 0, fmt.Errorf("the optimum of %s is not known", env)
	}
	return *tasks[env].Gain, nil
}
