package plan_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"

	"github.com/rlrun/rlrun/framework/metric"
	"github.com/rlrun/rlrun/framework/output/kinds"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/internal/must"
)

var update = flag.Bool("update", false, "write schema.json instead of comparing with it")

// generate makes the schema of Config; descriptions come from the comments in the
// sources of this directory and of framework/compare.
func generate(t *testing.T) []byte {
	t.Helper()
	r := jsonschema.Reflector{Anonymous: true}
	for _, directory := range []string{".", "../compare"} {
		must.Do(t, r.AddGoComments("github.com/rlrun/rlrun/framework/plan", directory, jsonschema.WithFullComment()))
	}
	for k, comment := range r.CommentMap {
		r.CommentMap[k] = strings.Join(strings.Fields(comment), " ")
	}
	s := r.Reflect(&plan.Config{})
	s.ID = "https://rlrun.github.io/schema/experiment.json"
	s.Title = "rlrun experiment"
	// Comments begin with the name of the field, which users know by its key: "Seed is
	// the root" becomes "The root", and "WarmStart starts" becomes "warm_start starts".
	is := regexp.MustCompile(`^(?:is|are) (the |a |an )`)
	for _, d := range s.Definitions {
		for p := d.Properties.Oldest(); p != nil; p = p.Next() {
			name, rest, _ := strings.Cut(p.Value.Description, " ")
			switch short := is.FindStringSubmatch(rest); {
			case !strings.EqualFold(name, strings.ReplaceAll(p.Key, "_", "")):
			case short != nil:
				p.Value.Description = strings.ToUpper(short[1][:1]) + short[1][1:] + rest[len(short[0]):]
			case strings.Contains(p.Key, "_"):
				p.Value.Description = p.Key + " " + rest
			}
		}
	}
	s.Definitions["Config"].PatternProperties = map[string]*jsonschema.Schema{"^x-": {Description: "Left out: a place for YAML anchors."}}
	// Names in registries are not repeated in tags.
	outputs := property(t, s, "Config", "outputs")
	for _, o := range kinds.Run {
		outputs.Items.Enum = append(outputs.Items.Enum, o.Name)
		outputs.Description += fmt.Sprintf(" %s makes %s.", o.Name, o.Doc)
	}
	for _, of := range []string{"Recording", "Report"} {
		items := property(t, s, of, "metrics").Items
		for _, m := range metric.Select(func(d *metric.Definition) bool { return d.At != nil || d.Sparse }) {
			items.Examples = append(items.Examples, m) // not all: plugins declare metrics
		}
	}
	out := must.Get(json.MarshalIndent(s, "", "  "))(t)
	// Schemas marshal with < and > escaped for HTML; people read this file.
	return []byte(strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(out)) + "\n")
}

// property returns the schema of a key.
func property(t *testing.T, s *jsonschema.Schema, of, key string) *jsonschema.Schema {
	t.Helper()
	p, ok := s.Definitions[of].Properties.Get(key)
	if !ok {
		t.Fatalf("%s has no key %s", of, key)
	}
	return p
}

func TestSchema(t *testing.T) {
	want := generate(t)
	if *update {
		must.Do(t, os.WriteFile("schema.json", want, 0o644))
		return
	}
	if !bytes.Equal(plan.Schema(), want) {
		t.Error("schema.json is not what Config's tags and comments say: run go generate ./framework/plan")
	}
}

// The documentation lists every key with its type and meaning.
func TestEveryKeyHasATypeAndADescription(t *testing.T) {
	var s struct {
		Defs map[string]struct {
			Properties map[string]json.RawMessage
		} `json:"$defs"`
	}
	must.Do(t, json.Unmarshal(plan.Schema(), &s))
	for name, d := range s.Defs {
		for key, raw := range d.Properties {
			var p struct{ Description string }
			if err := json.Unmarshal(raw, &p); err != nil || p.Description == "" {
				t.Errorf("%s.%s has no description: %s", name, key, raw)
			}
		}
	}
}
