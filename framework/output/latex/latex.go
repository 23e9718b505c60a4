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
			fmt.Fprintf(w, "%% %s.\n", result.LaTeX(s.Summary.MixedNote()))
		}
		for _, notice := range s.Summary.Notices {
			fmt.Fprintf(w, "%% Notice: %s.\n", result.LaTeX(notice))
		}
		for _, env := range s.Summary.Meta.Environments {
			columns := s.Summary.Columns(env, s.Summary.MetricsOf(env, false))
			row := func(cell func(result.Column) string) {
				for i, c := range columns {
					if i > 0 {
						fmt.Fprint(w, " & ")
					}
					fmt.Fprint(w, result.LaTeX(cell(c)))
				}
				fmt.Fprintln(w, ` \\`)
			}
			fmt.Fprintf(w, "\n%% %s, %s\n\\begin{tabular}{l%s}\n\\toprule\n", result.LaTeX(env), s.Summary.Meta.Length(), strings.Repeat("r", len(columns)-1))
			row(func(c result.Column) string { return c.Header })
			fmt.Fprintln(w, `\midrule`)
			for _, agent := range s.Summary.Shown(env) {
				row(func(c result.Column) string { return c.Cell(agent) })
			}
			fmt.Fprintln(w, `\bottomrule`+"\n"+`\end{tabular}`)
		}
		return nil
	})
}
