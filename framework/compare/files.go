package compare

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/stat"
	"github.com/rlrun/rlrun/internal/each"
)

// field is a column of comparisons.csv, of the table in results.db, and a key in JSON.
type field struct {
	name, kind string // kind: of the column in SQLite
	value      func(r *Result, c *Comparison) any
}

var fields = []field{
	{"environment", "TEXT NOT NULL", func(_ *Result, c *Comparison) any { return c.Environment }},
	{"metric", "TEXT NOT NULL", func(r *Result, _ *Comparison) any { return string(r.Config.Metric) }},
	{"a", "TEXT NOT NULL", func(_ *Result, c *Comparison) any { return c.A }},
	{"b", "TEXT NOT NULL", func(_ *Result, c *Comparison) any { return c.B }},
	{"paired", "INTEGER NOT NULL", func(_ *Result, c *Comparison) any { return c.Paired }},
	{"reason", "TEXT NOT NULL", func(_ *Result, c *Comparison) any { return c.Reason }},
	{"n", "INTEGER NOT NULL", func(_ *Result, c *Comparison) any { return c.N }},
	{"n_b", "INTEGER NOT NULL", func(_ *Result, c *Comparison) any { return c.NB }},
	{"dropped", "INTEGER NOT NULL", func(_ *Result, c *Comparison) any { return c.Dropped }},
	{"mean_a", "REAL", func(_ *Result, c *Comparison) any { return c.MeanA }},
	{"mean_b", "REAL", func(_ *Result, c *Comparison) any { return c.MeanB }},
	{"difference", "REAL", func(_ *Result, c *Comparison) any { return c.Difference.Value }},
	{"ci_low", "REAL", func(_ *Result, c *Comparison) any { return c.Difference.Low }},
	{"ci_high", "REAL", func(_ *Result, c *Comparison) any { return c.Difference.High }},
	{"win_rate", "REAL", func(_ *Result, c *Comparison) any { return c.WinRate }},
	{"test", "TEXT NOT NULL", func(_ *Result, c *Comparison) any { return c.Test }},
	{"p", "REAL", func(_ *Result, c *Comparison) any { return c.P }},
	{"correction", "TEXT NOT NULL", func(r *Result, _ *Comparison) any { return string(r.Config.Correction) }},
	{"adjusted_p", "REAL", func(_ *Result, c *Comparison) any { return c.Adjusted }},
	{"tukey_p", "REAL", func(_ *Result, c *Comparison) any { return c.Tukey }},
	{"alpha", "REAL NOT NULL", func(_ *Result, c *Comparison) any { return c.Alpha }},
	{"verdict", "TEXT NOT NULL", func(_ *Result, c *Comparison) any { return c.Verdict }},
	{"stopped", "INTEGER NOT NULL", func(_ *Result, c *Comparison) any { return c.Stopped }},
	{"better", "TEXT NOT NULL", func(_ *Result, c *Comparison) any { return c.Better }},
	{"margin", "REAL", func(_ *Result, c *Comparison) any { return c.Margin }},
	{"equivalence_p", "REAL", func(_ *Result, c *Comparison) any { return c.Equivalence }},
	{"equivalent", "INTEGER NOT NULL", func(_ *Result, c *Comparison) any { return c.Equivalent }},
}

// WriteCSV writes comparisons.csv: a header, and a line for each comparison.
func WriteCSV(w io.Writer, r *Result) error {
	out := csv.NewWriter(w)
	header := each.Of(fields, func(f field) string { return f.name })
	rows := [][]string{header}
	for i := range r.Comparisons {
		var row []string
		for _, v := range r.Values(&r.Comparisons[i]) {
			switch v := v.(type) {
			case float64:
				row = append(row, strconv.FormatFloat(v, 'g', -1, 64))
			default:
				row = append(row, result.CSVCell(fmt.Sprint(v)))
			}
		}
		rows = append(rows, row)
	}
	return out.WriteAll(rows)
}

// Schema is that of the table of comparisons in SQLite: the columns with their kinds.
func Schema() string {
	columns := each.Of(fields, func(f field) string { return f.name + " " + f.kind })
	return strings.Join(columns, ", ")
}

// Values are those of a comparison, by column.
func (r *Result) Values(c *Comparison) (values []any) {
	for _, f := range fields {
		values = append(values, f.value(r, c))
	}
	return values
}

// jsonInterval is an estimate with its interval; null is not known.
type jsonInterval struct {
	Value result.Number `json:"value"`
	Low   result.Number `json:"ci_low"`
	High  result.Number `json:"ci_high"`
}

func newInterval(i stat.Interval) jsonInterval {
	return jsonInterval{result.Number(i.Value), result.Number(i.Low), result.Number(i.High)}
}

// MarshalJSON writes the columns of comparisons.csv as keys, and a sentence.
func (r *Result) MarshalJSON() ([]byte, error) {
	comparisons := []map[string]any{}
	for i := range r.Comparisons {
		c := &r.Comparisons[i]
		m := map[string]any{"sentence": c.Sentence()}
		for _, f := range fields {
			v := f.value(r, c)
			if x, ok := v.(float64); ok {
				v = result.Number(x)
			}
			m[f.name] = v
		}
		comparisons = append(comparisons, m)
	}
	out := map[string]any{
		"metric": r.Config.Metric, "lower_is_better": r.LowerIsBetter, "alpha": r.Config.Alpha,
		"pairs": r.Config.Pairs, "correction": r.Config.Correction, "method": Method(r),
		"agents": r.Agents, "environments": r.Environments, "comparisons": comparisons,
		"skipped": append([]string{}, r.Skipped...), "notes": append([]string{}, r.Notes...),
	}
	if r.Overall != nil {
		out["overall"] = r.Overall.json()
	}
	return json.Marshal(out)
}

func (o *Overall) json() map[string]any {
	aggregates := []map[string]any{}
	for _, a := range o.Aggregates {
		profile := []jsonInterval{}
		for _, p := range a.Profile {
			profile = append(profile, newInterval(p))
		}
		aggregates = append(aggregates, map[string]any{"agent": a.Agent, "iqm": newInterval(a.IQM), "mean": newInterval(a.Mean),
			"median": newInterval(a.Median), "optimality_gap": newInterval(a.OptimalityGap), "profile": profile})
	}
	improvements := []map[string]any{}
	for _, i := range o.Improvements {
		m := map[string]any{"a": i.A, "b": i.B, "environments": i.Environments, "probability": newInterval(i.Probability)}
		if i.IQM != nil {
			m["iqm_difference"] = newInterval(*i.IQM)
		}
		improvements = append(improvements, m)
	}
	out := map[string]any{"scores": o.Scores, "unscored": append([]string{}, o.Unscored...), "incomplete": append([]string{}, o.Incomplete...), "tau": append([]float64{}, o.Tau...),
		"aggregates": aggregates, "probability_of_improvement": improvements}
	if k := o.Ranks; k != nil {
		ranks := []map[string]any{}
		for i, agent := range k.Agents {
			ranks = append(ranks, map[string]any{"agent": agent, "mean_rank": k.Mean[i]})
		}
		groups := [][]string{}
		for _, clique := range k.Cliques {
			groups = append(groups, k.Agents[clique[0]:clique[1]+1])
		}
		out["ranks"] = map[string]any{"environments": k.Environments, "agents": ranks, "chi_squared": result.Number(k.ChiSquared),
			"f": result.Number(k.F), "p": result.Number(k.P), "test": k.test(), "critical_difference": result.Number(k.CriticalDifference), "cliques": groups}
	}
	return out
}

// latexP is P with a power of ten.
func latexP(p float64) string {
	text := P(p)
	if mantissa, exponent, ok := strings.Cut(text, "e-"); ok {
		return fmt.Sprintf(`$%s\times10^{-%s}$`, mantissa, strings.TrimLeft(exponent, "0"))
	}
	return result.LaTeX(text)
}

// WriteLaTeX writes the comparisons as a table for the package booktabs.
func WriteLaTeX(w io.Writer, r *Result) error {
	var b strings.Builder
	b.WriteString("% needs \\usepackage{booktabs}\n\\begin{tabular}{lllrrrrl}\n\\toprule\nenvironment & A & B & runs & difference & A wins & ")
	if r.Config.Correction == BenjaminiHochberg {
		b.WriteString("BH")
	} else {
		b.WriteString("Holm")
	}
	b.WriteString(" $p$ & verdict \\\\\n\\midrule\n")
	last := ""
	for i := range r.Comparisons {
		c := &r.Comparisons[i]
		env := c.Environment
		if env == last {
			env = ""
		} else if last != "" {
			b.WriteString("\\addlinespace\n")
		}
		last = c.Environment
		cells := c.cells()
		row := []string{env, c.A, c.B, cells[0], cells[1], cells[2], cells[4], c.Verdict}
		for k, cell := range row {
			row[k] = result.LaTeX(cell)
		}
		row[6] = latexP(c.Adjusted)
		b.WriteString(strings.Join(row, " & ") + " \\\\\n")
	}
	b.WriteString("\\bottomrule\n\\end{tabular}\n")
	fmt.Fprintf(&b, "%% %s: %s\n", result.LaTeX(string(r.Config.Metric)), strings.ReplaceAll(Method(r), "\n", " "))
	for _, note := range slices.Concat(r.Notes, r.Skipped) {
		fmt.Fprintf(&b, "%% Note: %s\n", strings.Join(strings.Fields(note), " "))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
