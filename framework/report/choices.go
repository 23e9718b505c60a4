package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rlrun/rlrun/framework/result"
)

// choices is a row of the table of decisions.
type choices struct {
	result.Choices
	ExploredShare, CappedShare string // in per cent
	Hold, Share                string
	Options                    string // "members 80 %, uniform 20 %"
}

func newChoices(s *result.Summary) (rows []choices) {
	for _, c := range s.Choices {
		row := choices{
			Choices: c, ExploredShare: percent(c.Explored, c.Kept), CappedShare: percent(c.Capped, c.Kept),
			Hold: strconv.FormatFloat(c.Hold, 'f', 1, 64), Share: strconv.FormatFloat(c.Share, 'g', 3, 64), Options: "–",
		}
		var parts []string
		for _, o := range c.Options {
			parts = append(parts, o.Option+" "+percent(o.Times, c.Explored))
		}
		if len(parts) > 0 {
			row.Options = strings.Join(parts, ", ")
		}
		rows = append(rows, row)
	}
	return rows
}

func percent(n, of int) string { return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(of)) }
