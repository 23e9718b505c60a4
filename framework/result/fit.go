package result

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/rlrun/rlrun/internal/each"
	"github.com/rlrun/rlrun/internal/printable"
)

// Table is a table for a terminal, with a line under the header and no others.
type Table struct {
	Header []Heading
	Rows   [][]string
	Wider  string // the command that prints all columns, for the sentence on those that are left out
}

// Heading is the head of a column. Labels and other words are aligned to the left.
type Heading struct {
	Title string
	Words bool
	Rank  float64 // columns of low rank are left out first, and those of rank Always never
}

// Always is the rank of a column that is never left out.
var Always = math.Inf(1)

// narrowest is the width below which cells are not broken.
const narrowest = 8

// Text returns the table. One that is wider than width characters loses columns, and names
// them in a sentence. If that is not enough, cells take several lines. 0 is no limit.
func (t *Table) Text(width int) string {
	all := append([][]string{each.Of(t.Header, func(h Heading) string { return h.Title })}, t.Rows...)
	widths, words := make([]int, len(t.Header)), 0
	for i, h := range t.Header {
		for _, row := range all {
			widths[i] = max(widths[i], text.StringWidthWithoutEscSequences(printable.Text(row[i]))) // as it will be shown
		}
		if h.Words {
			words++
		}
	}
	longest := slices.Max(widths)
	var columns []int
	for i := range t.Header {
		columns = append(columns, i)
	}
	// limits of the columns of words and of the others
	limit := func(column, words, others int) int {
		if t.Header[column].Words {
			return min(widths[column], words)
		}
		return min(widths[column], others)
	}
	wide := func(words, others int) bool {
		sum := 0
		for _, i := range columns {
			sum += limit(i, words, others) + 2
		}
		return width > 0 && sum > width
	}

	var left []string
	for wide(max(narrowest, width/(words+2)), longest) {
		least := slices.MinFunc(columns, func(a, b int) int { return cmp.Compare(t.Header[a].Rank, t.Header[b].Rank) })
		if t.Header[least].Rank == Always {
			break
		}
		columns = slices.DeleteFunc(columns, func(i int) bool { return i == least })
		left = append(left, t.Header[least].Title)
	}
	limitW, limitO := longest, longest
	for limitW > narrowest && wide(limitW, limitO) {
		limitW--
	}
	for limitO > narrowest && wide(limitW, limitO) {
		limitO--
	}

	w := table.NewWriter()
	style := table.StyleLight
	style.Format.Header = text.FormatDefault
	style.Options = table.Options{SeparateHeader: true, DoNotColorBordersAndSeparators: true}
	style.Box.PaddingLeft, style.Box.PaddingRight = " ", " "
	w.SetStyle(style)
	w.SuppressTrailingSpaces()
	var configs []table.ColumnConfig
	for at, i := range columns {
		if !t.Header[i].Words {
			configs = append(configs, table.ColumnConfig{Number: at + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
		}
	}
	w.SetColumnConfigs(configs)
	for n, row := range all {
		cells := each.Of(columns, func(i int) any { return fold(printable.Text(row[i]), limit(i, limitW, limitO)) })
		if n == 0 {
			w.AppendHeader(cells)
		} else {
			w.AppendRow(cells)
		}
	}
	out := w.Render()
	if len(left) > 0 {
		out += "\n" + printable.Wrap(fmt.Sprintf("Left out at %d columns: %s. A wider terminal shows them, and so does a pipe: %s | cat", width, strings.Join(left, ", "), t.Wider), width, "")
	}
	return out
}

// fold breaks a cell into lines of at most width characters, if it is wider.
func fold(cell string, width int) string {
	if text.StringWidthWithoutEscSequences(cell) <= width {
		return cell
	}
	return printable.Wrap(cell, width-2, "  ")
}
