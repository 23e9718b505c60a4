package docs_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// block is a piece of code in a document.
type block struct {
	line      int    // of the fence, or before the first line if it has none, from 1
	lang      string // "" if none is given
	directive string // what a comment before it says to the test
	text      string // lines, each with its line feed
	output    bool   // an output block is next
}

var (
	directive = regexp.MustCompile(`^<!-- test: (.*) -->$`)
	command   = regexp.MustCompile(`^(go|make|rlrun) `)
)

// blocks returns the fenced and the indented blocks of a document. Fences stand
// at the start of a line.
func blocks(text string) []block {
	var out []block
	var b *block // the open one
	indented, said := false, ""
	for i, line := range strings.Split(text, "\n") {
		fence := strings.HasPrefix(line, "```")
		switch {
		case b != nil && !indented && fence:
			out, b = append(out, *b), nil
		case b != nil && !indented:
			b.text += line + "\n"
		case b != nil && strings.HasPrefix(line, "    "):
			b.text += line[4:] + "\n"
		default:
			if b != nil {
				out, b = append(out, *b), nil
			}
			blank := strings.TrimSpace(line) == ""
			m := directive.FindStringSubmatch(line)
			switch {
			case m != nil:
				said = m[1]
			case fence:
				b, indented = &block{line: i + 1, lang: strings.TrimSpace(line[3:]), directive: said}, false
			case strings.HasPrefix(line, "    ") && !blank:
				b, indented = &block{line: i, directive: said, text: line[4:] + "\n"}, true
			}
			if !blank && m == nil {
				said = ""
			}
		}
	}
	if b != nil {
		out = append(out, *b)
	}
	for i := range out {
		if out[i].lang == "" && allCommands(out[i].text) {
			out[i].lang = "sh"
		}
		out[i].output = i+1 < len(out) && out[i+1].lang == "output"
	}
	return out
}

func allCommands(text string) bool {
	for line := range strings.Lines(text) {
		if !command.MatchString(line) {
			return false
		}
	}
	return true
}

var (
	fenced   = regexp.MustCompile("(?ms)^```.*?^```$")
	codeSpan = regexp.MustCompile("`[^`\n]*`")
	link     = regexp.MustCompile(`\]\(<?([^)\s>]+)>?(?: "[^"]*")?\)`)
	named    = regexp.MustCompile(`<a id="([^"]+)"></a>`)
	heading  = regexp.MustCompile(`(?m)^#{1,6} +(.+?) *#*$`)
)

// anchors returns the anchors of a document: of its headings, as GitHub names them, and
// those that it names.
func anchors(text string) map[string]bool {
	out := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		title := link.ReplaceAllString(m[1], "]")
		slug := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, title)
		name := slug
		for n := 1; out[name]; n++ {
			name = slug + "-" + strconv.Itoa(n)
		}
		out[name] = true
	}
	for _, m := range named.FindAllStringSubmatch(text, -1) {
		out[m[1]] = true
	}
	return out
}

// Links between documents, and to other files of the source, lead somewhere.
func TestLinks(t *testing.T) {
	for _, name := range append(documents(t), "../CHANGELOG.md", "../studies/LOG.md") {
		text := read(t, name)
		prose := codeSpan.ReplaceAllString(fenced.ReplaceAllString(text, ""), "")
		for _, m := range link.FindAllStringSubmatch(prose, -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			path := name
			if target != "" {
				path = filepath.Join(filepath.Dir(name), filepath.FromSlash(target))
			}
			if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: the link to %s leads nowhere", name, m[1])
				continue
			}
			if anchor != "" && !anchors(read(t, path))[anchor] {
				t.Errorf("%s: the link to %s: nothing there has that anchor", name, m[1])
			}
		}
	}
}

func TestBlocks(t *testing.T) {
	got := blocks("# A\n\n    rlrun version\n    make test\n\ntext\n<!-- test: full -->\n\n```sh\nls\n\nls\n```\n\n```output\na\n```\n    x = 1\n")
	want := []block{
		{line: 2, lang: "sh", text: "rlrun version\nmake test\n"},
		{line: 9, lang: "sh", directive: "full", text: "ls\n\nls\n", output: true},
		{line: 15, lang: "output", text: "a\n"},
		{line: 17, text: "x = 1\n"},
	}
	if len(got) != len(want) {
		t.Fatalf("got %d blocks, want %d: %+v", len(got), len(want), got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("block %d: got %+v, want %+v", i, got[i], want[i])
		}
	}
}

func TestMatches(t *testing.T) {
	for _, tt := range []struct {
		want, printed string
		ok            bool
	}{
		{"a.b\n", "a.b\n", true},
		{"a.b\n", "axb\n", false},
		{"took … ms\n", "took 5 ms\n", true},
		{"a\n…\nz\n", "a\nb\nc\nz\n", true},
		{"a\n…\nz\n", "a\nz\n", true},
		{"a\n…\n", "b\n", false},
		{"a\n", "a\nb\n", false},
	} {
		if got := matches(tt.want, tt.printed); got != tt.ok {
			t.Errorf("matches(%q, %q) = %v", tt.want, tt.printed, got)
		}
	}
}

func TestAnchors(t *testing.T) {
	got := anchors("# 1.4 Lemma 1, corrected\n```sh\n# no\n```\n## `a_b`: [c](d)\n## Twice\n## Twice\n")
	for _, want := range []string{"14-lemma-1-corrected", "a_b-c", "twice", "twice-1"} {
		if !got[want] {
			t.Errorf("no anchor %s in %v", want, got)
		}
	}
	if got["no"] {
		t.Error("a comment in code is taken for a heading")
	}
}
