package families

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/rltest"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
)

// restarting returns the model of a task whose episodes follow each other.
func restarting(t *testing.T, p Params) *mdp.Tabular {
	t.Helper()
	task := must.Get(Task(p))(t)
	m, err := task.Model.Restarting()
	if err != nil {
		t.Fatalf("%+v: %v", p, err)
	}
	return m
}

// gain returns the optimal reward per step, which must not depend on the state.
func gain(t *testing.T, m mdp.Model) float64 {
	t.Helper()
	s := must.Get(mdp.SolveAverage(m, mdp.SolverConfig{}))(t)
	if slices.Max(s.Gain)-slices.Min(s.Gain) > 1e-9 {
		t.Fatalf("gains from %v to %v", slices.Min(s.Gain), slices.Max(s.Gain))
	}
	return s.Gain[0]
}

// uniformGain returns the reward per step of uniformly random actions.
func uniformGain(t *testing.T, m *mdp.Tabular) (g float64) {
	t.Helper()
	mu, _ := must.Get2(mdp.Stationary(m, mdp.Uniform{}))(t)
	for s, p := range mu {
		for a := range m.NumActions() {
			g += p * m.Reward(s, a) / float64(m.NumActions())
		}
	}
	return g
}

// Every task has one optimal gain, well above that of random actions, and ends or
// continues as its kind says. It is small enough for every agent.
func TestTasksCanBeLearned(t *testing.T) {
	for _, k := range kinds {
		t.Run(string(k.name), func(t *testing.T) {
			for _, split := range []string{Development, Test} {
				for seed := range uint64(10) {
					p := Params{Kind: k.name, Seed: seed, Split: split}
					task := must.Get(Task(p))(t)
					if task.Model.HasTerminal() != k.episodic {
						t.Errorf("%+v ends: %v", p, task.Model.HasTerminal())
					}
					if n := task.Model.NumStates(); n > 110 {
						t.Errorf("%+v has %d states", p, n)
					}
					m := restarting(t, p)
					if !mdp.ModelStructure(m).WeaklyCommunicating() {
						t.Errorf("%+v is not weakly communicating", p)
					}
					best, random := gain(t, m), uniformGain(t, m)
					if !(best-random > 0.004) {
						t.Errorf("%+v: optimal %v, random %v", p, best, random)
					}
				}
			}
		})
	}
}

// Parameters name one task. No two of the first tasks of a kind are the same, of
// whichever split.
func TestParametersNameATask(t *testing.T) {
	for _, kind := range Kinds() {
		seen := map[string]Params{}
		for _, split := range []string{Development, Test} {
			for seed := range uint64(20) {
				p := Params{Kind: kind, Seed: seed, Split: split}
				text := func() string {
					task := must.Get(Task(p))(t)
					data := must.Get(json.Marshal(task.Model))(t)
					return string(data)
				}
				first, second := text(), text()
				if first != second {
					t.Errorf("%+v is two tasks", p)
				}
				if other, again := seen[first]; again {
					t.Errorf("%+v is %+v", p, other)
				}
				seen[first] = p
			}
		}
	}
}

// The tasks of a seed stay what they are: studies are judged by them.
func TestTasksStayTheSame(t *testing.T) {
	for _, want := range []struct {
		kind            Name
		states, actions int
		gain, random    float64 // rewards per step
	}{
		{"low-bandit", 1, 8, 0.156215, 0.070091},
		{"many-arms", 1, 43, 0.789186, 0.417402},
		{"garnet-dense", 20, 3, 0.464453, 0.291986},
		{"garnet-sparse", 25, 3, 0.239000, 0.013274},
		{"river", 9, 2, 0.826671, 0.003583},
		{"lock", 10, 3, 0.063096, 0.007351},
		{"grid", 36, 4, 0.087794, 0.007886},
		{"queue", 19, 3, -0.171667, -0.386077},
		{"inventory", 14, 5, 1.540137, 0.786821},
		{"goals", 11, 2, 0.564891, 0.095159},
		{"rings", 19, 2, 0.615822, 0.166694},
		{"trap-short", 6, 3, 0.700000, 0.046697},
		{"trap-long", 9, 4, 0.700000, 0.005568},
		{"rare", 7, 6, 24.597690, 0.143123},
		{"cost", 18, 3, -0.615790, -0.986087},
		{"pits", 17, 4, 0.074695, -0.120606},
		{"sea", 37, 2, 0.164849, 0.001768},
	} {
		m := restarting(t, Params{Kind: want.kind, Split: Development})
		best, random := gain(t, m), uniformGain(t, m)
		if m.NumStates() != want.states || m.NumActions() != want.actions || math.Abs(best-want.gain) > 1e-6 || math.Abs(random-want.random) > 1e-6 {
			t.Errorf("{%q, %d, %d, %.6f, %.6f},", want.kind, m.NumStates(), m.NumActions(), best, random)
		}
	}
}

// Every kind passes the conformance suite.
func TestKindsConform(t *testing.T) {
	for _, kind := range Kinds() {
		params := must.Get(json.Marshal(Params{Kind: kind, Seed: 3, Split: Development}))(t)
		if err := rltest.CheckPlugin(t.Context(), Plugin(), params); err != nil {
			t.Errorf("%s: %v", params, err)
		}
	}
}

func TestParametersAreChecked(t *testing.T) {
	for raw, want := range map[string]string{
		`{"kind":"rivers"}`:  `kind is "rivers", must be one of [low-bandit`,
		`{"split":"dev"}`:    `split is "dev", must be development or test`,
		`{"seed":-1}`:        "seed",
		`{"states":6}`:       `unknown field "states"`,
		`{"kind":["river"]}`: "kind",
	} {
		if _, err := Plugin().OpenEnvironment(t.Context(), json.RawMessage(raw), 1); !errors.Is(err, framework.ErrInvalidParams) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", raw, err, want)
		}
	}
}

// The schema has the names of all kinds, so that a config is checked and a plugin
// explained.
func TestSchemaListsTheKinds(t *testing.T) {
	d := must.Get(Plugin().Describe(t.Context()))(t)
	var schema struct {
		Properties map[string]struct {
			Enum        []Name
			Default     any
			Description string
		}
	}
	must.Do(t, json.Unmarshal(d.Params, &schema))
	kind := schema.Properties["kind"]
	if !slices.Equal(kind.Enum, Kinds()) || kind.Default != "river" || !strings.Contains(kind.Description, "pits: a slippery grid") {
		t.Errorf("kind: %+v", kind)
	}
	if !slices.Equal(schema.Properties["split"].Enum, []Name{Development, Test}) {
		t.Errorf("split: %+v", schema.Properties["split"])
	}
}
