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
	// Early is the number of decisions that explored in the first half of their run; Gain and Cost are the
	// means of what exploring promised and cost there, per step.
	Early int     `json:"early"`
	Gain  float64 `json:"gain"`
	Cost  float64 `json:"cost"`
	// Places are the states in which it explored most often, at most placesShown.
	Places []Place `json:"places"`

	places map[int]*[Parts]int
	priced int // decisions that Gain and Cost are means of
}

// Parts is the number of equal parts of a run in which decisions are counted.
const Parts = 10

// Place is how often exploring was decided in a state.
type Place struct {
	State int        `json:"state"`
	Times int        `json:"times"`
	Parts [Parts]int `json:"parts"` // of Times, by part of the run
}

const placesShown, mostPlaces = 30, 10_000

// Choice is how often an option was chosen.
type Choice struct {
	Option string `json:"option"` // name of the option
	Times  int    `json:"times"`  // number of recorded decisions that chose it
}

// add adds a decision of a run of so many steps; means are sums until done.
func (c *Choices) add(d *Decision, steps int) {
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
	if 2*d.Step < steps {
		c.Early++
	}
	if sum := d.Gain + d.Cost; sum-sum == 0 { // a value that is not finite has no mean
		c.Gain += d.Gain
		c.Cost += d.Cost
		c.priced++
	}
	if c.places == nil {
		c.places = map[int]*[Parts]int{}
	}
	if d.State >= 0 && c.places[d.State] == nil && len(c.places) < mostPlaces {
		c.places[d.State] = new([Parts]int)
	}
	if parts := c.places[d.State]; parts != nil {
		parts[min(Parts*d.Step/max(1, steps), Parts-1)]++
	}
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
	out.Gain /= float64(max(1, c.priced))
	out.Cost /= float64(max(1, c.priced))
	out.priced = 0
	out.places = nil
	for s, parts := range c.places {
		p := Place{State: s, Parts: *parts}
		for _, n := range parts {
			p.Times += n
		}
		out.Places = append(out.Places, p)
	}
	slices.SortFunc(out.Places, func(a, b Place) int { return cmp.Or(cmp.Compare(b.Times, a.Times), cmp.Compare(a.State, b.State)) })
	out.Places = slices.Clone(out.Places[:min(placesShown, len(out.Places))])
	return out
}
