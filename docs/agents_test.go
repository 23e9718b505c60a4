package docs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/plugins"
)

// Every agent is in agents.md: in a row of a table of methods, which is written by hand, and in the one of
// parameters and their defaults, which is made.
func TestAgentTables(t *testing.T) {
	text := read(t, "agents.md")
	agents := map[string]bool{}
	var rows strings.Builder
	for name, d := range descriptions(t, vector.KindAgent) {
		agents[name] = true
		if strings.Count(text, "\n| `"+name+"` |") != 2 {
			t.Errorf("agents.md has to say of %s what it is, in a row of one table", name)
		}
		fmt.Fprintf(&rows, "| `%s` | %s |\n", name, strings.Join(parameters(t, d.Params), ", "))
	}
	generated(t, "agents.md", "Parameters", rows.String())
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(text, -1) {
		if !agents[m[1]] {
			t.Errorf("agents.md has a row of %s, which is no agent", m[1])
		}
	}
}

// The description of every parameter of an agent says where its default comes from. It is
// a choice of ours, or a sentence about the default names a paper, a program, the
// environment or another parameter.
func TestDefaultsHaveSources(t *testing.T) {
	ours := regexp.MustCompile(`\bchoices? of ours\b`)
	about := regexp.MustCompile(`\b[Dd]efaults?\b`)
	source := regexp.MustCompile(`\b(19|20)\d\d\b|TabulaRL|\b(the|its) paper\b|\bthe environment\b|\bsee [a-z]|\bno default\b`)
	said := func(description string) bool {
		for sentence := range strings.SplitSeq(strings.ReplaceAll(description, "al. ", "al "), ". ") {
			if ours.MatchString(sentence) || about.MatchString(sentence) && source.MatchString(sentence) {
				return true
			}
		}
		return false
	}
	type schema struct {
		Ref         string `json:"$ref"`
		Description string
		Properties  map[string]schema
		Required    []string
		AnyOf       []schema // kinds
		Const       any
		Defs        map[string]schema `json:"$defs"`
	}
	for _, p := range plugins.All() {
		d := must.Get(p.Describe(context.Background()))(t)
		if d.Kind != vector.KindAgent {
			continue
		}
		var root schema
		must.Do(t, json.Unmarshal(d.Params, &root))
		var visit func(path string, s schema)
		visit = func(path string, s schema) {
			for name, sub := range s.Properties {
				leaf := sub.Properties == nil && sub.Ref == "" && sub.Const == nil
				if leaf && !slices.Contains(s.Required, name) && !said(sub.Description) && !(s.AnyOf != nil && said(s.Description)) {
					t.Errorf("%s%s.%s does not say where its default comes from: %q", d.ID, path, name, sub.Description)
				}
				visit(path+"."+name, sub)
			}
			for _, kind := range s.AnyOf {
				visit(path, kind)
			}
			if def, ok := root.Defs[strings.TrimPrefix(s.Ref, "#/$defs/")]; ok {
				visit(path, def)
			}
		}
		visit("", root)
	}
}

// parameters returns the names of a schema's parameters in code, in its order, each
// with its default, if it has one.
func parameters(t *testing.T, schema json.RawMessage) (list []string) {
	t.Helper()
	var s struct{ Properties json.RawMessage }
	must.Do(t, json.Unmarshal(schema, &s))
	d := json.NewDecoder(bytes.NewReader(s.Properties))
	must.Get(d.Token())(t)
	for d.More() {
		name := must.Get(d.Token())(t)
		var p struct{ Default any }
		must.Do(t, d.Decode(&p))
		item := fmt.Sprintf("`%s`", name)
		if p.Default != nil {
			item += fmt.Sprintf(" %v", p.Default)
		}
		list = append(list, item)
	}
	return list
}
