package config

import (
	"fmt"
	"strings"
)

// Problem is one thing wrong with a config.
type Problem struct {
	Where   string // file:line, or the flag or variable that set the value; empty if there is no file
	Path    string // the key, such as agents[1].params.gamma; empty for the whole file
	Message string // what is wrong and what is allowed
}

// Error returns the problem in one line.
func (p *Problem) Error() string {
	text := p.Message
	for _, place := range []string{p.Path, p.Where} {
		if place != "" {
			text = place + ": " + text
		}
	}
	return text
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
