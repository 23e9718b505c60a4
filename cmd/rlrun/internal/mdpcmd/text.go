package mdpcmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rlrun/rlrun/internal/each"
	"github.com/rlrun/rlrun/mdp"
)

// steps writes a time.
func steps(t int) string {
	if t == mdp.Never {
		return "∞"
	}
	return fmt.Sprint(t)
}

// never is a time as JSON: null if it is infinite.
func never(t int) any {
	if t == mdp.Never {
		return nil
	}
	return t
}

// stateList writes the first few of some states.
func stateList(states []int) string {
	const shown = 6
	words := each.Of(states[:min(len(states), shown)], func(s int) string { return fmt.Sprint(s) })
	if len(states) > 3 && states[len(states)-1]-states[0] == len(states)-1 && slices.IsSorted(states) {
		return fmt.Sprintf("{%d, …, %d}", states[0], states[len(states)-1])
	}
	if len(states) > shown {
		words = append(words, fmt.Sprintf("… %d states", len(states)))
	}
	return "{" + strings.Join(words, ", ") + "}"
}
