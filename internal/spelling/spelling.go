// Package spelling finds what a misspelt name was meant to be, and which names look alike.
package spelling

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Shown returns what readers can tell apart of a name: without blanks at its ends, and with one
// code for each letter.
func Shown(name string) string { return norm.NFC.String(strings.TrimSpace(name)) }

// Closest returns the candidate that a misspelt word was most likely meant to
// be, or "". Of a word of one letter nothing is known but that letter.
func Closest(word string, candidates []string) string {
	letters := len([]rune(word))
	best, bestDistance := "", min(1+letters/3, letters-1)
	for _, c := range candidates {
		d := distance(strings.ToLower(word), strings.ToLower(c))
		if d < bestDistance || (d == bestDistance && best == "") {
			best, bestDistance = c, d
		}
	}
	return best
}

// distance is the number of insertions, deletions, substitutions and
// transpositions of neighbours that turn a into b (Damerau 1964, restricted).
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	var before, above []int
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(x); i++ {
		before, above = above, row
		row = make([]int, len(y)+1)
		row[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(y)]
}
