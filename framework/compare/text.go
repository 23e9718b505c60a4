package compare

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/stat"
)

// WriteTable writes the comparisons as tables for a terminal, one an environment, and
// what is found over environments. A table wider than width characters loses columns, and
// names them; 0 is no limit.
func WriteTable(w io.Writer, r *Result, width int) error {
	var b strings.Builder
	direction := ""
	if r.LowerIsBetter {
		direction = ", lower is better"
	}
	for _, env := range r.Environments {
		rows := comparisonRows(r, env)
		if len(rows) == 0 {
			continue
		}
		if len(rows) > mostRows {
			counts, rest := standingRows(r, env, len(rows))
			fmt.Fprintf(&b, "%s: %s%s\n%s\n%s\n\n", env, r.Definition.Title, direction, render(standingsHeader, counts, width), rest)
			continue
		}
		fmt.Fprintf(&b, "%s: %s%s\n%s\n\n", env, r.Definition.Title, direction,
			render(append([]string{"A", "B"}, comparisonHeader(r)...), rows, width))
	}
	if o := r.Overall; o != nil {
		overallText(&b, r, o, width)
	}
	fmt.Fprintf(&b, "Differences are A minus B with their %s intervals. A run of A is compared with the same run of B or, if\nruns are not paired, with every run of B.\n%s\n",
		percent(1-r.Config.Alpha), Method(r))
	for _, n := range append(slices.Clone(r.Notes), r.Skipped...) {
		fmt.Fprintf(&b, "Note: %s\n", n)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Method says in a sentence how verdicts were made.
func Method(r *Result) string {
	verdicts, from := "Verdicts follow", fmt.Sprintf("the p values of all %d comparisons, corrected (%s),", r.Tests,
		map[Correction]string{Holm: "Holm", BenjaminiHochberg: "Benjamini–Hochberg"}[r.Config.Correction])
	if r.Tests == 1 {
		verdicts, from = "The verdict follows", "the p value"
	}
	level := strconv.FormatFloat(r.Config.Alpha, 'g', -1, 64)
	if !slices.ContainsFunc(r.Comparisons, func(c Comparison) bool { return !c.Stopped }) {
		from, level = "the sequential test that stops the experiment,", r.levels()
	}
	return fmt.Sprintf("%s from %s at level %s. \"%s\" does not mean that agents are equal.", verdicts, from, level, NotDecided)
}

func comparisonHeader(r *Result) []string {
	corrected := "Holm p"
	if r.Config.Correction == BenjaminiHochberg {
		corrected = "BH p"
	}
	return []string{"runs", "difference", "A wins", "p", corrected, "verdict"}
}

func comparisonRows(r *Result, env string) (rows [][]string) {
	for i := range r.Comparisons {
		if c := &r.Comparisons[i]; c.Environment == env {
			rows = append(rows, append([]string{c.A, c.B}, c.cells()...))
		}
	}
	return rows
}

// RunsText is the number of pairs, or of the runs of A and of B.
func (c *Comparison) RunsText() string {
	switch {
	case c.Stopped:
		return fmt.Sprintf("%d (%s)", c.N, c.progress())
	case !c.Paired:
		return fmt.Sprintf("%d, %d%s", c.N, c.NB, c.left())
	}
	return strconv.Itoa(c.N) + c.left()
}

// cells are the columns of comparisonHeader.
func (c *Comparison) cells() []string {
	verdict := c.Verdict
	if c.Equivalent && c.Better != "" {
		verdict += ", within ±" + six(c.Margin)
	}
	return []string{c.RunsText(), Interval(c.Difference), percent(c.WinRate), P(c.P), P(c.Adjusted), verdict}
}

func overallText(b *strings.Builder, r *Result, o *Overall, width int) {
	if len(o.Aggregates) > 0 {
		var rows [][]string
		for _, a := range best(o.Aggregates) {
			rows = append(rows, []string{a.Agent, Interval(a.IQM), Interval(a.Mean), Interval(a.Median), Interval(a.OptimalityGap)})
		}
		fmt.Fprintf(b, "Over %d environments, normalised scores\n%s\n", len(o.Scores), render([]string{"agent", "IQM", "mean", "median", "optimality gap"}, rows, width))
		for _, env := range r.Environments {
			if s, ok := o.Scores[env]; ok {
				fmt.Fprintf(b, "  %s: 0 is %s, 1 is %s (%s)\n", env, six(s.Low), six(s.High), s.Source)
			}
		}
		b.WriteString("\n")
	}
	if len(o.Incomplete) > 0 {
		fmt.Fprintf(b, "Left out of aggregates and ranks, as some agents have no values: %s.\n\n", strings.Join(o.Incomplete, ", "))
	}
	if len(o.Unscored) > 0 {
		fmt.Fprintf(b, "Without a scale, and left out of aggregates: %s.\n\n", strings.Join(o.Unscored, ", "))
	}
	if n := len(o.Improvements); n > mostRows {
		fmt.Fprintf(b, "The probabilities of improvement of %d pairs are too many for a table.\n\n", n)
	} else if n > 0 {
		var rows [][]string
		header := []string{"A", "B", "environments", "P(A better)"}
		scored := slices.ContainsFunc(o.Improvements, func(i Improvement) bool { return i.IQM != nil })
		if scored {
			header = append(header, "difference of IQM")
		}
		for _, i := range o.Improvements {
			row := []string{i.A, i.B, strconv.Itoa(i.Environments), Interval(i.Probability)}
			if i.IQM != nil {
				row = append(row, Interval(*i.IQM))
			} else if scored {
				row = append(row, "–")
			}
			rows = append(rows, row)
		}
		fmt.Fprintf(b, "Probability that a run of A is better than a run of B\n%s\n\n", render(header, rows, width))
	}
	if k := o.Ranks; k != nil {
		header, rows := k.table()
		best := ""
		if shown := len(rows); shown < len(k.Agents) {
			best = fmt.Sprintf(", the best %d of %d agents", shown, len(k.Agents))
		}
		fmt.Fprintf(b, "Ranks over %d environments%s\n%s\n  %s\n\n", len(k.Environments), best, render(header, rows, width), RankSentence(r))
	}
}

// table holds the mean rank of each agent, or of the best if they are many, and its groups
// if there are any.
func (k *Ranks) table() (header []string, rows [][]string) {
	grouped := !math.IsNaN(k.CriticalDifference)
	if header = []string{"agent", "mean rank"}; grouped {
		header = append(header, "group")
	}
	shown := len(k.Agents)
	if shown > mostRows {
		shown = bestShown
	}
	for i, agent := range k.Agents[:shown] {
		row := []string{agent, strconv.FormatFloat(k.Mean[i], 'f', 2, 64)}
		if grouped {
			row = append(row, k.groups(i))
		}
		rows = append(rows, row)
	}
	return header, rows
}

// groups names the cliques of position i by letters.
func (k *Ranks) groups(i int) string {
	out := ""
	for g, clique := range k.Cliques {
		if clique[0] <= i && i <= clique[1] {
			out += letter(g)
		}
	}
	return out
}

func letter(g int) string {
	if g < 26 {
		return string(rune('a' + g))
	}
	return fmt.Sprintf("(%d)", g+1)
}

// RankSentence says what the ranks show; "" without ranks.
func RankSentence(r *Result) string {
	if r.Overall == nil || r.Overall.Ranks == nil {
		return ""
	}
	k := r.Overall.Ranks
	text := fmt.Sprintf("Friedman's test: χ² = %s, %s (%s).", six(k.ChiSquared), isP(k.P), k.test())
	if math.IsNaN(k.CriticalDifference) {
		return text + fmt.Sprintf(" With %d environments and three agents or more there are groups and a critical difference.", cdEnvironments)
	}
	text += fmt.Sprintf(" Wilcoxon's test with Holm's correction finds no difference between agents of the same group. Nemenyi's critical difference is %.2f.", k.CriticalDifference)
	pairs, n := len(k.Agents)*(len(k.Agents)-1)/2, len(k.Environments)
	if math.Ldexp(float64(pairs), 1-n) > r.Config.Alpha {
		text += fmt.Sprintf(" With %d environments it cannot tell any of %d agents apart: that takes %d environments or more.", n, len(k.Agents), int(math.Ceil(1+math.Log2(float64(pairs)/r.Config.Alpha))))
	}
	return text
}

// test says how P was found.
func (k *Ranks) test() string {
	if k.Exact {
		return "exact, of all arrangements of ranks"
	}
	return fmt.Sprintf("of %d random arrangements of ranks", friedmanDraws)
}

// Sentence states the comparison in a sentence, with difference, interval and p value.
func (c *Comparison) Sentence() string {
	numbers := fmt.Sprintf("%s, corrected %s", Interval(c.Difference), isP(c.Adjusted))
	if c.Stopped {
		numbers = Interval(c.Difference) + ", " + c.Test
	}
	if c.Equivalent {
		numbers += fmt.Sprintf("; within ±%s: corrected %s", six(c.Margin), isP(c.Equivalence))
	}
	if c.Better == "" && c.Equivalent {
		return fmt.Sprintf("In %s, %s and %s are equivalent (%s).", c.Environment, c.A, c.B, numbers)
	}
	if c.Better == "" {
		return fmt.Sprintf("In %s it is not decided whether %s or %s is better (%s).", c.Environment, c.A, c.B, numbers)
	}
	worse := c.A
	if worse == c.Better {
		worse = c.B
	}
	return fmt.Sprintf("In %s, %s is better than %s (%s minus %s: %s).", c.Environment, c.Better, worse, c.A, c.B, numbers)
}

// Interval writes an estimate with its interval to two significant digits of the
// latter's width.
func Interval(i stat.Interval) string {
	if math.IsNaN(i.Low) || math.IsNaN(i.High) {
		return six(i.Value)
	}
	half := (i.High - i.Low) / 2
	write := result.Writer(max(math.Abs(i.Value), math.Abs(i.Low), math.Abs(i.High)), half)
	return fmt.Sprintf("%s [%s, %s]", write(i.Value), write(i.Low), write(i.High))
}

// P writes a p value.
func P(p float64) string {
	switch {
	case math.IsNaN(p):
		return "–"
	case p == 0: // below the smallest number
		return "< 1e-300"
	case p < 0.0001:
		return strconv.FormatFloat(p, 'e', 1, 64)
	}
	return strconv.FormatFloat(p, 'f', 4, 64)
}

// isP is P in a sentence.
func isP(p float64) string {
	if p == 0 {
		return "p " + P(p)
	}
	return "p = " + P(p)
}

func percent(x float64) string {
	if math.IsNaN(x) {
		return "–"
	}
	if x > 0.999 && x < 1 {
		return strconv.FormatFloat(100*x, 'g', 8, 64) + " %" // 99.9999 %, not 100 %
	}
	return strconv.FormatFloat(100*x, 'g', 3, 64) + " %"
}

func six(x float64) string {
	if math.IsNaN(x) {
		return "–"
	}
	return strconv.FormatFloat(x, 'g', 6, 64)
}

// ranks say which columns a narrow terminal shows: those of low rank are left out first.
var ranks = map[string]float64{"p": 1, "A wins": 2, "runs": 3, "Holm p": 4, "BH p": 4, "median": 1, "mean": 2, "optimality gap": 3, "environments": 1, "difference of IQM": 2}

// render makes a table. Labels and verdicts are words.
func render(header []string, rows [][]string, width int) string {
	t := result.Table{Rows: rows, Wider: "rlrun compare …"}
	for _, title := range header {
		words := slices.Contains([]string{"A", "B", "agent", "verdict", "group"}, title)
		rank, ok := ranks[title]
		if !ok {
			rank = result.Always
		}
		t.Header = append(t.Header, result.Heading{Title: title, Words: words, Rank: rank})
	}
	return t.Text(width)
}
