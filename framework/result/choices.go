package result

import (
	"cmp"
	"slices"
	"strings"
)

// Choices sum up the decisions that the records keep of one agent in one
// environment.
type Choices struct {
	Environment string  `json:"environment"` // label
	Agent       string  `json:"agent"`       // label
	Kept        int     `json:"kept"`        // decisions
	Explored    int     `json:"explored"`    // of them, for another option than the greedy one
	Capped      int     `json:"capped"`      // with T shorter than its estimate asks for
	Hold        float64 `json:"hold"`        // mean T
	Share       float64 `json:"share"`       // mean ρ
	// Options are those that were explored with, the most frequent first; members
	// and actions count as one each.
	Options []Choice `json:"options"`
}

// Choice is how often an option was chosen.
type Choice struct {
	Option string `json:"option"` // name of the option
	Times  int    `json:"times"`  // number of recorded decisions that chose it
}

// add adds a decision; Hold and Share are sums until done.
func (c *Choices) add(d *Decision) {
	c.Kept++
	c.Hold += float64(d.Hold)
	c.Share += d.Share
	if d.Capped {
		c.Capped++
	}
	if !d.Explore {
		return
	}
	c.Explored++
	name := strings.TrimRight(strings.TrimRight(d.Option, "0123456789"), " ")
	for i := range c.Options {
		if c.Options[i].Option == name {
			c.Options[i].Times++
			return
		}
	}
	c.Options = append(c.Options, Choice{name, 1})
}

func (c *Choices) done() Choices {
	out := *c
	out.Hold /= float64(c.Kept)
	out.Share /= float64(c.Kept)
	out.Options = slices.Clone(c.Options)
	slices.SortFunc(out.Options, func(a, b Choice) int {
		return cmp.Or(cmp.Compare(b.Times, a.Times), cmp.Compare(a.Option, b.Option))
	})
	return out
}
