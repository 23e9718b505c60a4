package config

import (
	"fmt"
	"strings"
)

// Problem is one thing wrong with a config.
type Problem struct {
	Where   string // file:line, or the flag or variable that set the value
	Path    string // the key, such as agents[1].params.gamma; empty for the whole file
	Message string // what is wrong and what is allowed
}

// Error returns the problem in one line.
func (p *Problem) Error() string {
	if p.Path == "" {
		return p.Where + ": " + p.Message
	}
	return p.Where + ": " + p.Path + ": " + p.Message
}

// Problems are all that is wrong with a config, in the order of the file.
type Problems []*Problem

// Error returns one line a problem.
func (ps Problems) Error() string {
	const most = 20
	lines := make([]string, 0, len(ps))
	for i, p := range ps {
		if i == most {
			lines = append(lines, fmt.Sprintf("and %d more", len(ps)-most))
			break
		}
		lines = append(lines, p.Error())
	}
	return strings.Join(lines, "\n")
}

// display writes a path for people: a[1].b, keys that are not plain words in
// quotes. --set reads the same notation.
func display(path []string, isIndex func(depth int) bool) string {
	var b strings.Builder
	for i, seg := range path {
		switch {
		case isIndex(i):
			b.WriteString("[" + seg + "]")
		case plainKey(seg):
			if i > 0 {
				b.WriteByte('.')
			}
			b.WriteString(seg)
		default:
			if i > 0 {
				b.WriteByte('.')
			}
			fmt.Fprintf(&b, "%q", seg)
		}
	}
	return b.String()
}

func plainKey(s string) bool {
	return s != "" && !strings.ContainsAny(s, ".[]\"'=\\ \t\n")
}

// quoteList returns "a, b, c or d".
func quoteList(words []string) string {
	switch len(words) {
	case 0:
		return "nothing"
	case 1:
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

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
