// Package latex writes the means over runs as tables for LaTeX.
package latex

import (
	"fmt"
	"io"
	"strings"

	"github.com/rlrun/rlrun/framework/output"
	"github.com/rlrun/rlrun/framework/result"
)

// Output makes summary.tex.
var Output = output.Output{Name: "latex", Doc: "summary.tex, a booktabs table for each environment", Write: write}

// write writes the means with their intervals.
func write(s *output.Results, directory string) ([]string, error) {
	const name = "summary.tex"
	return []string{name}, output.File(directory, name, func(w io.Writer) error {
		fmt.Fprintln(w, "% Means over runs with half of their 95 % intervals. Needs \\usepackage{booktabs}.")
		if s.Summary.Mixed != "" {
			fmt.Fprintf(w, "%% Mixed: runs of different programs are in one mean: %s.\n", result.LaTeX(s.Summary.Mixed))
		}
		for _, notice := range s.Summary.Notices {
			fmt.Fprintf(w, "%% Notice: %s.\n", result.LaTeX(notice))
		}
		for _, env := range s.Summary.Meta.Environments {
			metrics := s.Summary.MetricsOf(env, false)
			fmt.Fprintf(w, "\n%% %s, %d steps\n\\begin{tabular}{lr%s}\n\\toprule\nagent & runs", result.LaTeX(env), s.Summary.Meta.Steps, strings.Repeat("r", len(metrics)))
			for _, m := range metrics {
				fmt.Fprintf(w, " & %s", result.LaTeX(s.Summary.Meta.Define(m).Title))
			}
			fmt.Fprintln(w, ` \\`+"\n"+`\midrule`)
			for _, agent := range s.Summary.Meta.Agents {
				runs := 0
				if c := s.Summary.Count(env, agent); c != nil {
					runs = c.OK
				}
				fmt.Fprintf(w, "%s & %d", result.LaTeX(agent), runs)
				for _, m := range metrics {
					fmt.Fprintf(w, " & %s", result.LaTeX(s.Summary.Cell(env, agent, m)))
				}
				fmt.Fprintln(w, ` \\`)
			}
			fmt.Fprintln(w, `\bottomrule`+"\n"+`\end{tabular}`)
		}
		return nil
	})
}
