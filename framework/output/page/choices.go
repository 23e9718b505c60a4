package page

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/rlrun/rlrun/framework/result"
)

// choice is a row of the table of decisions.
type choice struct {
	result.Choices
	Text  string // "members 80 %, uniform 20 %"
	Where string // "3: 20 %, 0: 5 %", by state
}

// Of each agent the table names so many states. Of so many pairs of an agent and an environment at most
// the page has a map of states.
const placesNamed, mostMaps = 3, 40

func newChoice(c *result.Choices) choice {
	var parts, places []string
	for _, p := range c.Places[:min(placesNamed, len(c.Places))] {
		places = append(places, fmt.Sprintf("%d: %.0f %%", p.State, 100*float64(p.Times)/float64(c.Explored)))
	}
	for _, o := range c.Options {
		parts = append(parts, fmt.Sprintf("%s %.1f %%", o.Option, 100*float64(o.Times)/float64(c.Explored)))
	}
	if len(parts) == 0 {
		parts = []string{"–"}
	}
	return choice{*c, strings.Join(parts, ", "), cmp.Or(strings.Join(places, ", "), "–")}
}
