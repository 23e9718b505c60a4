// Package agenttest is what tests of packages of agents have in common.
package agenttest

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
)

// Name returns a bundled plugin's name: its ID without rlrun/ and the version.
func Name(t testing.TB, p vector.Plugin) string {
	t.Helper()
	d := must.Get(p.Describe(context.Background()))(t)
	name, _, _ := strings.Cut(strings.TrimPrefix(d.ID, "rlrun/"), "@")
	return name
}

// Plugins are the environments and agents that a test knows by name.
type Plugins []vector.Plugin

// Find returns the plugin of a name.
func (plugins Plugins) Find(t testing.TB, name string) vector.Plugin {
	t.Helper()
	for _, p := range plugins {
		if Name(t, p) == name {
			return p
		}
	}
	t.Fatalf("no plugin %s", name)
	return nil
}

// Every calls f with every agent and each of its variants, parameters by name.
// There must be at least one.
func Every(t *testing.T, agents []vector.Plugin, variants map[string][]string, f func(t *testing.T, p vector.Plugin, params string)) {
	t.Helper()
	for _, p := range agents {
		name := Name(t, p)
		if len(variants[name]) == 0 {
			t.Errorf("no variants of %s", name)
		}
		for _, params := range variants[name] {
			t.Run(name+params, func(t *testing.T) { f(t, p, params) })
		}
	}
}

// Wrong are parameters that an agent refuses in any environment, and the word that
// says why.
type Wrong = struct{ Agent, Params, Want string }

// Refuse checks that the agents refuse what is wrong, in environments like spec.
func Refuse(t *testing.T, agents []vector.Plugin, spec framework.Spec, wrong []Wrong) {
	t.Helper()
	for _, w := range wrong {
		_, err := Plugins(agents).Find(t, w.Agent).OpenAgent(t.Context(), json.RawMessage(w.Params), spec, 1)
		if !errors.Is(err, framework.ErrInvalidParams) || errors.Is(err, framework.ErrUnsupported) || !strings.Contains(err.Error(), w.Want) {
			t.Errorf("%s %s: %v", w.Agent, w.Params, err)
		}
	}
}
