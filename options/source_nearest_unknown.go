package options

import "slices"

// NearestUnknown goes, by the shortest way that was seen, to the nearest state with an action
// that was never tried, and ends there. If it begins in such a state, it tries the action first. It is "first return, then explore" of Go-Explore (Ecoffet et al.
// 2021) with the states of E³ (Kearns & Singh 2002) as goals.
var NearestUnknown = NamedSource{
	Name: "nearest-unknown",
	Doc:  "the shortest way that was seen to the nearest state with an action never tried; from there, that action",
	Make: func(x *Experience) ([]DeclaredOption, error) {
		g := newGraph(x)
		var goals []int
		for _, s := range g.seen {
			if slices.Contains(g.next[s*g.actions:(s+1)*g.actions], -1) {
				goals = append(goals, s)
			}
		}
		o := g.to("to the nearest unknown", goals)
		for _, s := range goals {
			o.act(s, slices.Index(g.next[s*g.actions:(s+1)*g.actions], -1))
			o.End[s] = 1
		}
		return offered(o), nil
	},
}
