package options

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rlrun/rlrun/internal/each"
)

// NamedSource is an OptionSource that configurations name. Every one is a file of its own,
// source_*.go, and a line in Sources.
type NamedSource struct {
	Name string
	Doc  string // in a sentence, what its options do
	Make OptionSource
}

// Sources are all of them, in the order of the documentation.
var Sources = []NamedSource{NearestUnknown, InformationGain, SuccessorCounts, CoveringOptions, Eigenoptions, ActionRepeats, RandomPolicies}

// SourceNamed returns the source of a name.
func SourceNamed(name string) (NamedSource, error) {
	for _, s := range Sources {
		if s.Name == name {
			return s, nil
		}
	}
	return NamedSource{}, fmt.Errorf("unknown kind of option %q (one of %s, %s)", name, strings.Join(KindNames(), ", "), strings.Join(SourceNames(), ", "))
}

// SourceNames returns the names of Sources.
func SourceNames() []string {
	return each.Of(Sources, func(s NamedSource) string { return s.Name })
}

// graph is what was seen of a task: of each state and action where it led most often, −1 if it
// was never tried.
type graph struct {
	states, actions int
	next            []int // by state and action
	seen            []int // states that were left, increasing
}

func newGraph(x *Experience) *graph {
	g := &graph{states: x.States, actions: x.Actions, next: make([]int, x.States*x.Actions)}
	most := make([]int, len(g.next))
	for i := range g.next {
		g.next[i] = -1
	}
	for _, t := range x.Seen {
		if i := t.State*x.Actions + t.Action; t.Count > most[i] {
			g.next[i], most[i] = t.Next, t.Count
		}
		if n := len(g.seen); n == 0 || g.seen[n-1] != t.State {
			g.seen = append(g.seen, t.State)
		}
	}
	return g
}

// closed is an option without states in which it begins: where it has no action, it ends.
func (g *graph) closed(name string) DeclaredOption {
	o := DeclaredOption{Name: name, Initiation: make([]bool, g.states), Actions: make([]int, g.states), End: make([]float64, g.states)}
	for s := range o.End {
		o.End[s] = 1
	}
	return o
}

// act lets an option take an action in s.
func (o *DeclaredOption) act(s, a int) { o.Actions[s], o.End[s], o.Initiation[s] = a, 0, true }

// to returns the shortest way that was seen, from anywhere, to the nearest of some states.
func (g *graph) to(name string, goals []int) DeclaredOption {
	o := g.closed(name)
	reached := make([]bool, g.states)
	for _, s := range goals {
		reached[s] = true
	}
	for known := slices.Clone(goals); len(known) > 0; known = known[1:] {
		for _, s := range g.seen {
			if a := slices.Index(g.next[s*g.actions:(s+1)*g.actions], known[0]); a >= 0 && !reached[s] {
				o.act(s, a)
				reached[s] = true
				known = append(known, s)
			}
		}
	}
	return o
}

// offered are the options that begin anywhere.
func offered(list ...DeclaredOption) []DeclaredOption {
	return slices.DeleteFunc(list, func(o DeclaredOption) bool { return !slices.Contains(o.Initiation, true) })
}
