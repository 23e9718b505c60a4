package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// mostRows is the number of comparisons in an environment that tables show one by one.
// Of more, they count the verdicts of each agent.
const mostRows = 500

// bestShown is the number of agents of a table of verdicts.
const bestShown = 50

// standing counts the verdicts of an agent's comparisons in an environment.
type standing struct {
	agent                  string
	better, worse, between int
}

// standings are those of all agents that are compared in an environment, from the one
// that is better than most others to the one that is worse than most.
func standings(r *Result, env string) []standing {
	var out []standing
	at := map[string]int{}
	of := func(agent string) *standing {
		i, ok := at[agent]
		if !ok {
			i = len(out)
			at[agent] = i
			out = append(out, standing{agent: agent})
		}
		return &out[i]
	}
	for i := range r.Comparisons {
		c := &r.Comparisons[i]
		if c.Environment != env {
			continue
		}
		for _, agent := range []string{c.A, c.B} {
			switch s := of(agent); c.Better {
			case "":
				s.between++
			case agent:
				s.better++
			default:
				s.worse++
			}
		}
	}
	slices.SortStableFunc(out, func(x, y standing) int { return cmp.Compare(y.better-y.worse, x.better-x.worse) })
	return out
}

// standingsHeader names the columns of standingRows.
var standingsHeader = []string{"agent", "better than", "worse than", "not decided"}

// standingRows are the cells of the first agents, and a sentence on what is left out.
func standingRows(r *Result, env string, comparisons int) (rows [][]string, rest string) {
	all := standings(r, env)
	for _, s := range all[:min(bestShown, len(all))] {
		rows = append(rows, []string{s.agent, strconv.Itoa(s.better), strconv.Itoa(s.worse), strconv.Itoa(s.between)})
	}
	rest = fmt.Sprintf("Verdicts of %d comparisons", comparisons)
	if n := len(all) - len(rows); n > 0 {
		rest += fmt.Sprintf(", of the first %d of %d agents", len(rows), len(all))
	}
	return rows, rest + "; comparisons.csv has every comparison."
}

// best are the agents with the largest interquartile means, if there are too many to
// show all.
func best(all []Aggregate) []Aggregate {
	if len(all) <= mostRows {
		return all
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(x, y Aggregate) int { return cmp.Compare(y.IQM.Value, x.IQM.Value) })
	return all[:bestShown]
}
