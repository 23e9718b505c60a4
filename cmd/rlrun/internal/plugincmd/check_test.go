package plugincmd

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/experiment"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/host"
)

// poor is an environment that pays NaN and never asks for a reset.
type poor struct{}

func (poor) Spec() framework.Spec {
	return framework.Spec{ID: "test/poor@1", Observation: space.Discrete{N: 1}, Action: space.Discrete{N: 2}, RewardHigh: 1}
}

func (poor) Step(_ context.Context, in *vector.Actions, out *vector.TimeSteps) error {
	for i := range in.Signals {
		out.Rewards[i] = math.NaN()
	}
	return nil
}

func (poor) Abilities() vector.EnvironmentAbilities { return vector.EnvironmentAbilities{} }

func (poor) Close() error { return nil }

func TestCheckTellsEveryBrokenRule(t *testing.T) {
	p := &vector.EnvironmentPlugin{
		Description: vector.Description{ID: "test/poor@1", Kind: vector.KindEnvironment, Doc: "Pays NaN.", Params: json.RawMessage("{}")},
		Open:        func(json.RawMessage, int) (vector.Environment, error) { return poor{}, nil },
	}
	a := &host.App{Bundled: []vector.Plugin{p}, Log: "off"}
	v, err := check(a, t.Context(), experiment.Component{Plugin: "poor"}, nil)
	if err != nil || v.OK {
		t.Fatalf("%+v, %v", v, err)
	}
	rules := map[string]bool{}
	for _, b := range v.Violations {
		if b.Rule == "" || !strings.Contains(b.Error, string(b.Rule)) {
			t.Errorf("violation %+v does not name its rule", b)
		}
		rules[string(b.Rule)] = true
	}
	if len(rules) < 2 || !rules["finite-reward"] {
		t.Errorf("broken rules are %v, want finite-reward and others", rules)
	}
}

func TestLeaves(t *testing.T) {
	a, b, c := errors.New("a"), errors.New("b"), errors.New("c")
	var got []string
	for _, e := range leaves(errors.Join(a, &wrapped{"on x: ", errors.Join(b, c)})) {
		got = append(got, e.Error())
	}
	if strings.Join(got, "|") != "a|on x: b|on x: c" {
		t.Errorf("got %q", got)
	}
}

type wrapped struct {
	prefix string
	err    error
}

func (w *wrapped) Error() string { return w.prefix + w.err.Error() }
func (w *wrapped) Unwrap() error { return w.err }
