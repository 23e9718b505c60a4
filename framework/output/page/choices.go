package page

import (
	"fmt"
	"strings"

	"github.com/rlrun/rlrun/framework/result"
)

// choice is a row of the table of decisions.
type choice struct {
	result.Choices
	Text string // "members 80 %, uniform 20 %"
}

func newChoice(c *result.Choices) choice {
	var parts []string
	for _, o := range c.Options {
		parts = append(parts, fmt.Sprintf("%s %.1f %%", o.Option, 100*float64(o.Times)/float64(c.Explored)))
	}
	if len(parts) == 0 {
		parts = []string{"–"}
	}
	return choice{*c, strings.Join(parts, ", ")}
}
