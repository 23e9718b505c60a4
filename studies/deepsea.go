package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/rlrun/rlrun/framework/output/plots"
	"github.com/rlrun/rlrun/framework/result"
)

// deepSea finds how many dives agents need until the mean return of all dives so
// far has reached a tenth of the treasure, by the depth N. Drawn are agents that did so
// at two depths or more, quantiles up to the end of the runs.
func deepSea(s *study) error {
	first, last := medianRanks(s.Meta.Runs)
	fmt.Fprintf(s.w, "The table shows dives until solved: the median of %d runs with its interval of at least 95 %% (the runs of rank %d and %d). Parentheses have the number of runs that solved it, if not all did. A dash (–) means that less than half did.\n\n", s.Meta.Runs, first+1, last+1)
	head := []string{"agent"}
	depths := make([]int, len(s.Meta.Environments))
	for i, env := range s.Meta.Environments {
		n, err := strconv.Atoi(strings.TrimPrefix(env, "N = "))
		if err != nil {
			return fmt.Errorf("environment %q does not end with its depth: %w", env, err)
		}
		depths[i] = n
		head = append(head, env)
	}
	figure := &plots.Figure{Title: fmt.Sprintf("DeepSea: dives until solved, median and quartiles of %d runs", s.Meta.Runs), XLabel: "depth N", YLabel: "dives", LogY: true}
	var rows [][]string
	for _, agent := range s.Meta.Agents {
		row := []string{agent}
		line := plots.Line{Label: agent}
		for i, env := range s.Meta.Environments {
			runs, err := s.curves(env, agent, result.CumulativeReward)
			if err != nil {
				return err
			}
			var dives []float64 // +Inf if unsolved
			solved := 0
			for _, c := range runs {
				d := solvedAfter(c, s.Meta.Grid, depths[i])
				if dives = append(dives, d); !math.IsInf(d, 1) {
					solved++
				}
			}
			slices.Sort(dives)
			low, median, high := quantile(dives, 0.25), quantile(dives, 0.5), quantile(dives, 0.75)
			cell := "–"
			if !math.IsInf(median, 1) {
				first, last := medianRanks(len(dives))
				cell = fmt.Sprintf("%.0f [%.0f, %s]", median, dives[first], orNever(dives[last]))
				line.X, line.Y, line.Low, line.High = append(line.X, float64(depths[i])), append(line.Y, median), append(line.Low, low), append(line.High, min(high, float64(s.Meta.Steps)/float64(depths[i])))
			}
			if solved < len(dives) {
				cell += fmt.Sprintf(" (%d of %d)", solved, len(dives))
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
		if len(line.X) > 1 {
			figure.Lines = append(figure.Lines, line)
		}
	}
	dithering := plots.Line{Label: "2ᴺ, dithering", Reference: true}
	most := 0.0
	for i := range depths {
		most = max(most, float64(s.Meta.Steps/depths[i]))
	}
	for n := depths[0]; math.Exp2(float64(n)) <= most; n++ {
		dithering.X, dithering.Y = append(dithering.X, float64(n)), append(dithering.Y, math.Exp2(float64(n)))
	}
	figure.Lines = append(figure.Lines, dithering)
	s.table(head, rows)
	return s.figure("", figure)
}

// solvedAfter returns the number of dives after which the mean return of all so far
// is a tenth of the treasure or more, +Inf if it never is.
func solvedAfter(cumulative []float64, grid []int, depth int) float64 {
	for k, t := range grid {
		if dives := float64(t) / float64(depth); dives >= 1 && cumulative[k] >= 0.1*dives {
			return dives
		}
	}
	return math.Inf(1)
}

// medianRanks returns two ranks of n independent numbers, sorted by size. The median of
// their distribution lies between the numbers of these ranks with a probability of at
// least 0.95. This holds for any distribution, since the number of values below the
// median is binomial (Conover 1999, §3.2). They are the first and the last where n is
// less than 6.
func medianRanks(n int) (first, last int) {
	below := distuv.Binomial{N: float64(n), P: 0.5}
	for first+1 < n/2 && below.CDF(float64(first+1)) <= 0.025 {
		first++
	}
	return first, n - 1 - first
}

// orNever formats a number of dives.
func orNever(dives float64) string {
	if math.IsInf(dives, 1) {
		return "∞"
	}
	return fmt.Sprintf("%.0f", dives)
}

// quantile returns a quantile of sorted numbers.
func quantile(sorted []float64, q float64) float64 {
	return sorted[int(q*float64(len(sorted)-1)+0.5)]
}
