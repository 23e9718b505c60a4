package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/rlrun/rlrun/internal/printable"
	"github.com/rlrun/rlrun/internal/spelling"
)

// Suggest returns "; did you mean …?" with the candidate closest to name after
// prefix, or "" if none is close.
func Suggest(name string, candidates []string, prefix string) string {
	if c := spelling.Closest(name, candidates); c != "" {
		return "; did you mean " + prefix + c + "?"
	}
	return ""
}

// Plural returns one if n is 1, otherwise many.
func Plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Num writes a number with six significant digits.
func Num(x float64) string {
	switch {
	case math.IsInf(x, 1):
		return "∞"
	case math.IsInf(x, -1):
		return "−∞"
	}
	return strconv.FormatFloat(x, 'g', 6, 64)
}

// Given writes a number of the user's with all its digits.
func Given(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// Number is x for JSON: nil if x is not finite.
func Number(x float64) any {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return x
}

// Rate writes steps per second.
func Rate(perSecond float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if perSecond >= u.size {
			return fmt.Sprintf("%.3g %s steps/s", perSecond/u.size, u.name)
		}
	}
	return fmt.Sprintf("%.3g steps/s", perSecond)
}

// Clock writes a time in its two largest units.
func Clock(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()+0.5))
	case d < time.Hour:
		return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
}

// ShellQuote writes arguments as a shell reads them.
func ShellQuote(args []string) string {
	plain := func(r rune) bool { // to every shell
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_@%+=:,./-", r)
	}
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = a
		if a == "" || strings.ContainsFunc(a, func(r rune) bool { return !plain(r) }) {
			words[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// Table aligns three columns. The zero value is an empty table.
type Table struct{ rows [][]string }

// Row adds a row. A value that is not a number is shown as "-".
func (t *Table) Row(name, value, meaning string) {
	if value == "NaN" {
		value = "-"
	}
	t.rows = append(t.rows, []string{name, value, meaning})
}

// Gap adds an empty row.
func (t *Table) Gap() { t.rows = append(t.rows, []string{"", "", ""}) }

// Text returns the rows, indented by two spaces; see Columns.
func (t *Table) Text(width int) string { return Columns(t.rows, width) }

// Columns aligns a table to the left, indented by two spaces. Where a line is wider than
// width characters, its last cell takes several. 0 is no limit.
func Columns(rows [][]string, width int) string {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], text.StringWidthWithoutEscSequences(cell))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		line, last := "  ", len(row)-1
		for i, cell := range row[:last] {
			line += text.Pad(cell, widths[i]+3, ' ')
		}
		indent := text.StringWidthWithoutEscSequences(line)
		if left := width - indent; left >= narrowest {
			line += printable.Wrap(row[last], left, strings.Repeat(" ", indent))
		} else {
			line += row[last]
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// narrowest is the width below which a last cell is not broken.
const narrowest = 16

// Printable replaces characters that a terminal would obey, or that would change
// how their neighbours are shown; see package printable.
func Printable(s string) string { return printable.Text(s) }
