package plugin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/framework/rltest"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/options"
)

// walkParams are the parameters of a walk.
type walkParams struct {
	Length int   `json:"length" jsonschema:"minimum=2"`
	Marks  []int `json:"marks,omitempty"`
}

// walk is an environment as an author writes it: nothing but the task.
type walk struct {
	walkParams
	rng  *rand.Rand
	cell int
}

func newWalk(p walkParams) (*walk, error) {
	if p.Length < 2 {
		return nil, fmt.Errorf("length is %d, must be at least 2: %w", p.Length, plugin.ErrInvalidParams)
	}
	return &walk{walkParams: p}, nil
}

// endless is a walk whose Close does not return.
type endless struct{ *walk }

func newEndless(p walkParams) (*endless, error) {
	w, err := newWalk(p)
	return &endless{w}, err
}

func (*endless) Close() error { select {} }

func (w *walk) Spec() plugin.Spec {
	return plugin.Spec{Observation: plugin.Discrete{N: int64(w.Length)}, Action: plugin.Discrete{N: 2}, RewardHigh: 1}
}

func (w *walk) Reset(_ context.Context, seed uint64) (plugin.Value, error) {
	w.rng, w.cell = rand.New(rand.NewPCG(seed, 0)), 0
	return plugin.Value{Int: 0}, nil
}

func (w *walk) Step(_ context.Context, action plugin.Value) (plugin.TimeStep, error) {
	if w.rng.IntN(10) > 0 {
		w.cell = max(0, w.cell+int(2*action.Int-1))
	}
	if w.cell == w.Length-1 {
		return plugin.TimeStep{Observation: plugin.Value{Int: int64(w.cell)}, Reward: 1, Terminated: true}, nil
	}
	return plugin.TimeStep{Observation: plugin.Value{Int: int64(w.cell)}}, nil
}

// drawnWalk can be looked at, and has a model.
type drawnWalk struct{ *walk }

func (w drawnWalk) Render(context.Context) (string, error) {
	return strings.Repeat(".", w.cell) + "x\n", nil
}

func (w drawnWalk) Model(context.Context) (*mdp.Tabular, error) {
	return mdp.NewModel(mdp.Definition{States: 1, Actions: 2, Transitions: []mdp.Transition{{A: 0, P: 1}, {A: 1, P: 1}}})
}

// maskedWalk has no way left in its first cell.
type maskedWalk struct{ *walk }

func (w maskedWalk) ActionMask(_ context.Context, allowed []bool) error {
	allowed[0], allowed[1] = w.cell > 0, true
	return nil
}

// The seam, and the suite, see a whole plugin where the author wrote a few lines.
func TestNewEnvironment(t *testing.T) {
	for name, tt := range map[string]struct {
		plugin vector.Plugin
		want   []string
	}{
		"plain": {plugin.NewEnvironment("test/walk@1", "A walk.", walkParams{Length: 4}, newWalk), nil},
		"gifted": {plugin.NewEnvironment("test/walk@1", "A walk.", walkParams{Length: 4}, func(p walkParams) (drawnWalk, error) {
			w, err := newWalk(p)
			return drawnWalk{w}, err
		}), []string{"model", "render"}},
		"masked": {plugin.NewEnvironment("test/walk@1", "A walk.", walkParams{Length: 4}, func(p walkParams) (maskedWalk, error) {
			w, err := newWalk(p)
			return maskedWalk{w}, err
		}), nil},
		"as an Environment": {plugin.NewEnvironment("test/walk@1", "A walk.", walkParams{Length: 4}, func(p walkParams) (plugin.Environment, error) {
			w, err := newWalk(p)
			return drawnWalk{w}, err
		}), []string{"model", "render"}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, p := range []vector.Plugin{tt.plugin, loopback(t, tt.plugin)} {
				d, err := p.Describe(t.Context())
				if err != nil || !slices.Equal(d.Abilities, tt.want) {
					t.Errorf("abilities %v (%v), want %v", d.Abilities, err, tt.want)
				}
				if err := rltest.CheckPlugin(t.Context(), p, nil); err != nil {
					t.Error(err)
				}
				env := must.Get(p.OpenEnvironment(t.Context(), json.RawMessage(`{"length":7}`), 2))(t)
				if s := env.Spec(); s.ID != "test/walk@1" || s.Observation != (plugin.Discrete{N: 7}) {
					t.Errorf("spec %+v", s)
				}
				if err := env.Close(); err != nil {
					t.Error(err)
				}
				if _, err := p.OpenEnvironment(t.Context(), json.RawMessage(`{"length":1}`), 2); !errors.Is(err, plugin.ErrInvalidParams) {
					t.Errorf("got %v", err)
				}
				if _, err := p.OpenEnvironment(t.Context(), json.RawMessage(`{"size":1}`), 2); !errors.Is(err, plugin.ErrInvalidParams) {
					t.Errorf("got %v", err)
				}
			}
		})
	}
}

// Copies that each make the same model send it once.
func TestEqualModelsAreSentOnce(t *testing.T) {
	p := loopback(t, plugin.NewEnvironment("test/walk@1", "A walk.", walkParams{Length: 4}, func(p walkParams) (drawnWalk, error) {
		w, err := newWalk(p)
		return drawnWalk{w}, err
	}))
	env := must.Get(p.OpenEnvironment(t.Context(), nil, 3))(t)
	models, err := vector.Models(t.Context(), env)
	if err != nil || len(models) != 3 || models[0] != models[2] {
		t.Errorf("models %p (%v)", models, err)
	}
}

// Defaults that do not suffice leave the type to say what the environment can do.
func TestNewEnvironmentWithoutDefaults(t *testing.T) {
	p := plugin.NewEnvironment("test/walk@1", "A walk.", walkParams{}, func(p walkParams) (drawnWalk, error) {
		w, err := newWalk(p)
		return drawnWalk{w}, err
	})
	d, err := p.Describe(t.Context())
	if err != nil || !slices.Equal(d.Abilities, []string{"model", "render"}) {
		t.Errorf("abilities %v (%v)", d.Abilities, err)
	}
}

// Parameters of one instance do not change the defaults of the next.
func TestDefaultsAreKept(t *testing.T) {
	defaults := walkParams{Length: 4, Marks: []int{1, 2}}
	var got []walkParams
	p := plugin.NewEnvironment("test/walk@1", "A walk.", defaults, func(p walkParams) (*walk, error) {
		got = append(got, p)
		return newWalk(p)
	})
	for _, raw := range []string{`{"marks":[3,4]}`, ``} {
		must.Get(p.OpenEnvironment(t.Context(), json.RawMessage(raw), 1))(t)
	}
	if last := got[len(got)-1]; !slices.Equal(last.Marks, []int{1, 2}) || !slices.Equal(got[len(got)-2].Marks, []int{3, 4}) {
		t.Errorf("parameters were %v", got)
	}
}

// chance is an agent as an author writes it.
type chance struct {
	rng   *rand.PCG
	arms  int64
	learn float64
}

type chanceParams struct {
	Rate float64 `json:"rate"`
}

func newChance(p chanceParams, spec plugin.Spec, seed uint64) (*chance, error) {
	arms, ok := spec.Action.(plugin.Discrete)
	if !ok {
		return nil, fmt.Errorf("actions are not discrete: %w", plugin.ErrUnsupported)
	}
	return &chance{rng: rand.NewPCG(seed, 0), arms: arms.N, learn: p.Rate}, nil
}

func (c *chance) SelectAction(context.Context, plugin.Value) (plugin.Value, error) {
	return plugin.Value{Int: 1 + int64(c.rng.Uint64()%uint64(c.arms))}, nil
}

func (c *chance) Update(context.Context, plugin.Transition) error { return nil }

// storedChance can be saved.
type storedChance struct{ *chance }

func (c storedChance) Save(context.Context) ([]byte, error) { return c.rng.MarshalBinary() }
func (c storedChance) Load(_ context.Context, state []byte) error {
	return c.rng.UnmarshalBinary(state)
}
func (c storedChance) BatchAgent(n int) (vector.Agent, error) {
	return nil, fmt.Errorf("%d", n)
}

// hesitant is an agent as an author writes it who leaves to the host when it explores:
// by its mean opinion, or by another.
type hesitant struct{ *chance }

func (h hesitant) Options(context.Context, plugin.Value, []options.Kind) (plugin.Candidates, error) {
	first := func(context.Context, plugin.Value) (plugin.Value, error) { return plugin.Value{Int: 1}, nil }
	second := func(context.Context, plugin.Value) (plugin.Value, error) { return plugin.Value{Int: 2}, nil }
	problem := options.Problem{Arms: []options.Arm{{Name: "greedy"}, {Name: "member 0"}}, Values: []float64{0, 1, 1, 0}}
	return plugin.Candidates{Problem: problem, Policies: []plugin.Policy{first, second}}, nil
}

// optionBatch makes batches that offer options.
type optionBatch struct{ *chance }

func (optionBatch) BatchAgent(int) (vector.Agent, error) {
	return choosing{}, nil
}

// choosing is an agent that has options, by its abilities.
type choosing struct{ vector.OptionAgent }

func (c choosing) Abilities() vector.AgentAbilities { return vector.AgentAbilities{Options: c} }

func TestNewAgent(t *testing.T) {
	spec := framework.Spec{ID: "test/one@1", Observation: plugin.Discrete{N: 2}, Action: plugin.Discrete{N: 3, Start: 1}, RewardHigh: 1}
	for name, tt := range map[string]struct {
		plugin vector.Plugin
		want   []string
	}{
		"plain": {plugin.NewAgent("test/chance@1", "Acts at random.", chanceParams{Rate: 1}, newChance), nil},
		"stored": {plugin.NewAgent("test/chance@1", "Acts at random.", chanceParams{Rate: 1}, func(p chanceParams, s plugin.Spec, seed uint64) (struct {
			*chance
			framework.Saver
			framework.Loader
		}, error) {
			c, err := newChance(p, s, seed)
			return struct {
				*chance
				framework.Saver
				framework.Loader
			}{c, storedChance{c}, storedChance{c}}, err
		}), []string{"checkpoint"}},
		"with options": {plugin.NewAgent("test/chance@1", "Acts at random.", chanceParams{Rate: 1}, func(p chanceParams, s plugin.Spec, seed uint64) (hesitant, error) {
			c, err := newChance(p, s, seed)
			return hesitant{c}, err
		}), []string{"options"}},
		"saved, not loaded": {plugin.NewAgent("test/chance@1", "Acts at random.", chanceParams{Rate: 1}, func(p chanceParams, s plugin.Spec, seed uint64) (struct {
			*chance
			framework.Saver
		}, error) {
			c, err := newChance(p, s, seed)
			return struct {
				*chance
				framework.Saver
			}{c, storedChance{c}}, err
		}), nil},
	} {
		t.Run(name, func(t *testing.T) {
			for _, p := range []vector.Plugin{tt.plugin, loopback(t, tt.plugin)} {
				d, err := p.Describe(t.Context())
				if err != nil || !slices.Equal(d.Abilities, tt.want) {
					t.Errorf("abilities %v (%v), want %v", d.Abilities, err, tt.want)
				}
				if err := rltest.CheckPlugin(t.Context(), p, nil, spec); err != nil {
					t.Error(err)
				}
				box := spec
				box.Action = plugin.Box{Low: []float64{0}, High: []float64{1}}
				if _, err := p.OpenAgent(t.Context(), nil, box, 1); !errors.Is(err, plugin.ErrUnsupported) {
					t.Errorf("got %v", err)
				}
				if _, err := p.OpenAgent(t.Context(), json.RawMessage(`{"rat":1}`), spec, 1); !errors.Is(err, plugin.ErrInvalidParams) {
					t.Errorf("got %v", err)
				}
			}
		})
	}
	optional := plugin.NewAgent("test/chance@1", "Acts at random.", chanceParams{}, func(p chanceParams, s plugin.Spec, seed uint64) (optionBatch, error) {
		c, err := newChance(p, s, seed)
		return optionBatch{c}, err
	})
	if d, err := optional.Describe(t.Context()); err != nil || !slices.Equal(d.Abilities, []string{"options"}) {
		t.Errorf("abilities %v (%v)", d.Abilities, err)
	}
	batched := plugin.NewAgent("test/chance@1", "Acts at random.", chanceParams{}, func(p chanceParams, s plugin.Spec, seed uint64) (storedChance, error) {
		c, err := newChance(p, s, seed)
		return storedChance{c}, err
	})
	if _, err := batched.OpenAgent(t.Context(), nil, spec, 5); err == nil || err.Error() != "5" {
		t.Errorf("no batch of 5 was asked for: %v", err)
	}
}
