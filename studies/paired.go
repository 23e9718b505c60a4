package main

import (
	"fmt"

	"github.com/rlrun/rlrun/framework/result"
)

// final returns the last value of a metric's curve of each run, by its index.
func (s *study) final(env, agent string, m result.Metric) (map[int]float64, error) {
	if _, err := s.curves(env, agent, m); err != nil {
		return nil, err
	}
	out := map[int]float64{}
	for _, r := range s.records[[2]string{env, agent}] {
		if c := r.Curves[m]; len(c) > 0 {
			out[r.Run] = c[len(c)-1]
		}
	}
	return out, nil
}

// difference is the mean over runs of by how much the regret of one agent exceeds
// that of another, which meets the same draws.
func (s *study) difference(env, agent, other string) (result.Estimate, error) {
	x, err := s.final(env, agent, result.Regret)
	if err != nil {
		return result.Estimate{}, err
	}
	y, err := s.final(env, other, result.Regret)
	if err != nil {
		return result.Estimate{}, err
	}
	var by []float64
	for run := range s.Meta.Runs {
		a, ok := x[run]
		b, ok2 := y[run]
		if !ok || !ok2 {
			return result.Estimate{}, fmt.Errorf("run %d of %s or %s is missing", run, agent, other)
		}
		by = append(by, a-b)
	}
	return result.EstimateMean(by), nil
}
