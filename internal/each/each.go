// Package each makes lists from the elements of others, and finds elements.
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

// Count returns of how many elements is holds.
func Count[T any](list []T, is func(T) bool) (n int) {
	for _, x := range list {
		if is(x) {
			n++
		}
	}
	return n
}

// Nth returns the index of the k-th element, from 0, of which is holds; len(list) if there are
// no more than k.
func Nth[T any](list []T, k int, is func(T) bool) int {
	for i, x := range list {
		if is(x) {
			if k == 0 {
				return i
			}
			k--
		}
	}
	return len(list)
}

// True is the identity: it counts and finds the true elements.
func True(b bool) bool { return b }
