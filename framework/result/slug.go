package result

import (
	"strconv"
	"strings"
	"unicode"
)

// Slug turns a label into a part of a file name: letters, digits and underscores
// in lower case, one dash for everything else.
func Slug(label string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(label) {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' {
			b.WriteRune(r)
		} else if s := b.String(); s != "" && !strings.HasSuffix(s, "-") {
			b.WriteByte('-')
		}
	}
	slug := strings.TrimSuffix(b.String(), "-")
	if slug == "" {
		return "unnamed"
	}
	return slug
}

// Slugs gives every label its slug, and a number to those whose slug is taken.
func Slugs(labels []string) []string {
	taken := map[string]bool{}
	out := make([]string, len(labels))
	for i, label := range labels {
		slug := Slug(label)
		for n := 2; taken[slug]; n++ {
			slug = Slug(label) + "-" + strconv.Itoa(n)
		}
		taken[slug] = true
		out[i] = slug
	}
	return out
}
