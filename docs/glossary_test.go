package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
)

// linked are the words of the glossary that newcomers do not know. The other words of
// it mean what they mean elsewhere.
var linked = []string{
	"lane", "worker", "transport", "lock file", "shard", "belief", "ensemble", "decision epoch",
	"commitment", "exploration rule", "exploration mixing time",
}

// hidden matches what is no prose: code, formulas, headings, tables, links, HTML.
var hidden = regexp.MustCompile("(?ms)^```.*?^```$|^ {4}[^\n]*$|^#[^\n]*$|^\\|[^\n]*$|^\\$\\$.*?^?\\$\\$|`[^`]*`|\\$[^$\n]*\\$|\\[[^\\]]*\\]\\([^)]*\\)|<[^>]*>")

// prose returns a document with blanks in place of what is no prose, so that every
// word of it stands where it stood.
func prose(text string) string {
	return hidden.ReplaceAllStringFunc(text, func(s string) string {
		return regexp.MustCompile(`[^\n]`).ReplaceAllStringFunc(s, func(r string) string { return strings.Repeat(" ", len(r)) })
	})
}

// Pages link words to the glossary where they first occur.
func TestGlossary(t *testing.T) {
	pages := must.Get(filepath.Glob("*.md"))(t)
	for _, word := range linked {
		anchor := strings.ReplaceAll(word, " ", "-")
		if !strings.Contains(read(t, "glossary.md"), `<a id="`+anchor+`"></a>**`+word) {
			t.Errorf("the glossary has no anchor of %q", word)
		}
	}
	for _, page := range pages {
		if page == "glossary.md" {
			continue
		}
		text := read(t, page)
		for _, word := range linked {
			anchor := "glossary.md#" + strings.ReplaceAll(word, " ", "-")
			at := regexp.MustCompile(`(?i)\b` + strings.ReplaceAll(word, " ", `\s`) + `s?\b`).FindStringIndex(prose(text))
			if first := strings.Index(text, anchor); at == nil || first >= 0 && first < at[0] {
				continue
			}
			if *update {
				text = text[:at[0]] + "[" + text[at[0]:at[1]] + "](" + anchor + ")" + text[at[1]:]
				continue
			}
			t.Errorf("%s:%d: %q first occurs without a link to %s: go test ./docs -run Glossary -update", page, 1+strings.Count(text[:at[0]], "\n"), word, anchor)
		}
		if *update {
			must.Do(t, os.WriteFile(page, []byte(text), 0o666))
		}
	}
}
