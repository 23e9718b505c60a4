package result

import (
	"maps"
	"math"
	"slices"
	"strings"
)

// Overlay puts the statistics of several experiments into one summary, so that one
// page can show them. labels has the new names of each summary's agents, by name; agents
// without one are left out. No name may occur twice. Environments are the same if their
// labels are. All have the same axis. The grid is that of all experiments; curves are interpolated between
// their own points. Differences to an experiment's first agent are left out.
func Overlay(list []*Summary, labels []map[string]string) *Summary {
	out := &Summary{Meta: Meta{Optimum: map[string]float64{}, Tasks: map[string]Task{}}}
	m := &out.Meta
	var names, mixed []string
	for _, s := range list {
		names = append(names, s.Meta.Name)
		m.Grid = append(m.Grid, s.Meta.Grid...)
		m.Steps, m.Episodes, m.Runs = max(m.Steps, s.Meta.Steps), max(m.Episodes, s.Meta.Episodes), max(m.Runs, s.Meta.Runs)
		for _, env := range s.Meta.Environments {
			if !slices.Contains(m.Environments, env) {
				m.Environments = append(m.Environments, env)
			}
		}
		m.Definitions = append(m.Definitions, s.Meta.Definitions...)
		maps.Copy(m.Tasks, s.Meta.Tasks)
		maps.Copy(m.Optimum, s.Meta.Optimum)
		out.Notices = append(out.Notices, s.Notices...)
		if s.Mixed != "" {
			mixed = append(mixed, s.Mixed)
		}
	}
	m.Name, m.Discount, m.Seed = strings.Join(names, ", "), list[0].Meta.Discount, list[0].Meta.Seed
	out.Mixed = strings.Join(mixed, "; ")
	slices.Sort(m.Grid)
	m.Grid = slices.Compact(m.Grid)
	for i, s := range list {
		// known renames an agent, and says whether it is shown.
		known := func(agent *string) (shown bool) {
			*agent, shown = labels[i][*agent]
			return shown
		}
		for _, agent := range s.Meta.Agents {
			if known(&agent) {
				m.Agents = append(m.Agents, agent)
			}
		}
		for _, c := range s.Counts {
			if known(&c.Agent) {
				out.Counts = append(out.Counts, c)
			}
		}
		for _, r := range s.Rows {
			if r.Difference = nil; known(&r.Agent) {
				out.Rows = append(out.Rows, r)
			}
		}
		for _, c := range s.Curves {
			if known(&c.Agent) {
				out.Curves = append(out.Curves, c.on(m.Grid))
			}
		}
		for _, f := range s.Failures {
			if known(&f.Agent) {
				out.Failures = append(out.Failures, f)
			}
		}
		for _, c := range s.Choices {
			if known(&c.Agent) {
				out.Choices = append(out.Choices, c)
			}
		}
	}
	return out
}

// on returns the curve on another grid, by linear interpolation; NaN beyond its ends.
func (c *Curve) on(grid []int) Curve {
	out := *c
	if slices.Equal(grid, c.Steps) {
		return out
	}
	out.Steps, out.Runs = grid, make([]int, len(grid))
	from, to := []Values{c.Mean, c.StdErr, c.Low, c.High}, []*Values{&out.Mean, &out.StdErr, &out.Low, &out.High}
	for _, v := range to {
		*v = make(Values, len(grid))
	}
	for i, step := range grid {
		k, exact := slices.BinarySearch(c.Steps, step)
		for j, v := range to {
			switch {
			case exact:
				(*v)[i], out.Runs[i] = from[j][k], c.Runs[k]
			case k == 0 || k == len(c.Steps):
				(*v)[i] = math.NaN()
			default:
				share := float64(step-c.Steps[k-1]) / float64(c.Steps[k]-c.Steps[k-1])
				(*v)[i] = from[j][k-1] + share*(from[j][k]-from[j][k-1])
				out.Runs[i] = min(c.Runs[k-1], c.Runs[k])
			}
		}
	}
	return out
}
