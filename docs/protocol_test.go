package docs_test

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/internal/must"
)

// section returns what stands under a heading of the protocol's page.
func section(t *testing.T, title string) string {
	t.Helper()
	_, text, ok := strings.Cut(read(t, "protocol.md"), "\n"+title+"\n")
	if !ok {
		t.Fatalf("protocol.md has no %q", title)
	}
	level := strings.Repeat("#", strings.Count(strings.Fields(title)[0], "#"))
	text, _, _ = strings.Cut(text, "\n"+level+" ")
	return text
}

// Every call, field and code of plugin.proto is in the protocol's page, and every
// call and code that the page has is in plugin.proto.
func TestProtocolIsTheSchema(t *testing.T) {
	schema, page := read(t, "../framework/plugin/plugin.proto"), read(t, "protocol.md")
	named := map[string]bool{}
	for _, m := range codeWord.FindAllStringSubmatch(fenced.ReplaceAllString(page, ""), -1) {
		for _, word := range regexp.MustCompile(`\w+`).FindAllString(m[1], -1) {
			named[word] = true
		}
	}
	calls := regexp.MustCompile(`(?m)^  rpc (\w+)`).FindAllStringSubmatch(schema, -1)
	fields := regexp.MustCompile(`(?m)^ +(?:(?:optional|repeated) )?[\w.]+ (\w+) = \d+;`).FindAllStringSubmatch(schema, -1)
	codes := regexp.MustCompile(`(?m)^  (CODE_\w+) = `).FindAllStringSubmatch(schema, -1)
	if len(calls) < 10 || len(fields) < 50 || len(codes) < 5 {
		t.Fatalf("found %d calls, %d fields, %d codes", len(calls), len(fields), len(codes))
	}
	known := map[string]bool{}
	for _, m := range slices.Concat(calls, fields, codes) {
		known[m[1]] = true
		if !named[m[1]] {
			t.Errorf("protocol.md does not tell of %s", m[1])
		}
	}
	for _, title := range []string{"## Calls", "## Errors"} {
		rows := regexp.MustCompile("(?m)^\\| ((?:`\\w+`(?:, )?)+) \\|").FindAllStringSubmatch(section(t, title), -1)
		if len(rows) < 5 {
			t.Fatalf("%s has a table of %d rows", title, len(rows))
		}
		for _, row := range rows {
			for _, m := range codeWord.FindAllStringSubmatch(row[1], -1) {
				if upper := m[1][0] >= 'A' && m[1][0] <= 'Z'; upper && !known[m[1]] && !strings.Contains("INVALID_ARGUMENT NOT_FOUND UNIMPLEMENTED INTERNAL", m[1]) {
					t.Errorf("protocol.md tells of %s, which plugin.proto does not have", m[1])
				}
			}
		}
	}
}

// The bytes of the example are what the columns say.
func TestProtocolExample(t *testing.T) {
	var got []string
	for _, m := range regexp.MustCompile(`(?m)^(\w+) +((?:[0-9A-F]{2} +)*[0-9A-F]{2})$`).FindAllStringSubmatch(section(t, "### Example"), -1) {
		data := must.Get(hex.DecodeString(strings.ReplaceAll(m[2], " ", "")))(t)
		switch m[1] {
		case "signals", "terminated":
			got = append(got, fmt.Sprint(m[1], data))
		case "rewards":
			values := make([]float64, len(data)/8)
			space.SetNumbers(values, data)
			got = append(got, fmt.Sprint(m[1], values))
		case "seeds":
			values := make([]uint64, len(data)/8)
			space.SetNumbers(values, data)
			got = append(got, fmt.Sprint(m[1], values))
		default:
			if data[0] != 1 {
				t.Fatalf("integers of %d bytes", data[0])
			}
			var values []int64
			for _, b := range data[1:] {
				values = append(values, int64(int8(b)))
			}
			got = append(got, fmt.Sprint(m[1], values))
		}
	}
	want := []string{
		"signals[3 3]", "seeds[7 8]", "actions[0 0]", "observations[0 0]", "rewards[0 0]",
		"actions[1 1]", "observations[1 5]", "rewards[0 1]", "terminated[0 1]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
