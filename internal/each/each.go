// Package each makes lists from the elements of others.
package each

import "slices"

// Of returns what f makes of each element; nil for an empty list.
func Of[S, T any](list []S, f func(S) T) (made []T) {
	made = slices.Grow(made, len(list))
	for _, x := range list {
		made = append(made, f(x))
	}
	return made
}
