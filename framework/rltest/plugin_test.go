package rltest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
)

// brokenPlugins are the rules that each bug of a plugin breaks.
var brokenPlugins = map[string][]Rule{
	"":                      nil,
	"an agent":              nil,
	"no version":            {Described},
	"no kind":               {Described},
	"no doc":                {Described},
	"no schema":             {Described},
	"claims models":         {Capable},
	"hides its models":      {Capable},
	"claims pictures":       {Capable},
	"claims the unknown":    {Capable},
	"hides its picture":     {Capable},
	"names vectors":         {Capable},
	"means another regret":  {Capable},
	"claims checkpoints":    {Capable},
	"claims options":        {Capable},
	"hides its options":     {Capable},
	"an option agent":       nil,
	"cannot open":           {Works},
	"a mad agent":           {Works},
	"an agent for no space": nil, // Works could not be tried
}

func brokenPlugin(bug string) vector.Plugin {
	d := vector.Description{ID: "test/x@1.0", Kind: vector.KindEnvironment, Doc: "A test.", Params: json.RawMessage(`{}`), Abilities: []string{"model"}}
	switch bug {
	case "no version":
		d.ID = "test/x"
	case "no kind":
		d.Kind = ""
	case "no doc":
		d.Doc = ""
	case "no schema":
		d.Params = nil
	case "hides its models":
		d.Abilities = nil
	case "claims pictures":
		d.Abilities = []string{"model", "render"}
	case "claims the unknown":
		d.Abilities = []string{"model", "teleport"}
	case "names vectors":
		d.Abilities = []string{"action_names", "model"}
	case "an agent", "a mad agent", "an agent for no space", "claims checkpoints", "claims options", "hides its options", "an option agent":
		d.Abilities = nil
		if bug == "claims options" || bug == "an option agent" {
			d.Abilities = []string{"options"}
		}
		if bug == "claims checkpoints" {
			d.Abilities = []string{"checkpoint"}
		}
		d.Kind = vector.KindAgent
		return &vector.AgentPlugin{Description: d, Open: func(_ json.RawMessage, spec framework.Spec, lanes int) (vector.Agent, error) {
			if _, ok := spec.Action.(space.Discrete); !ok || bug == "an agent for no space" {
				return nil, fmt.Errorf("continuous actions: %w", framework.ErrUnsupported)
			}
			if bug == "hides its options" || bug == "an option agent" {
				return newChooser("", spec, lanes)
			}
			if bug == "a mad agent" {
				return newLearners("cannot close", spec, lanes), nil
			}
			return newLearners("", spec, lanes), nil
		}}
	}
	return &vector.EnvironmentPlugin{Description: d, Open: func(_ json.RawMessage, lanes int) (vector.Environment, error) {
		switch bug {
		case "cannot open":
			return nil, fmt.Errorf("no")
		case "claims models":
			return vector.WithAbilities(newBatch("", lanes), vector.EnvironmentAbilities{}), nil
		case "means another regret":
			batch := newBatch("", lanes)
			able := batch.Abilities()
			able.Measures = &vector.Measures{Metrics: []framework.Metric{{Name: "regret", Better: framework.Higher, Total: framework.Last}},
				Read: func(context.Context, []int, []float64) error { return nil }}
			return vector.WithAbilities(batch, able), nil
		case "hides its picture", "names vectors":
			batch := newBatch("", lanes)
			able := batch.Abilities()
			able.Calls = vector.Render.By(func(context.Context, int) (string, error) { return "here", nil })
			if bug == "names vectors" {
				able.Calls = vector.ActionNames.By(func(context.Context, int) ([]string, error) { return []string{"go"}, nil })
			}
			return vector.WithAbilities(batch, able), nil
		}
		return newBatch("", lanes), nil
	}}
}

func TestCheckPlugin(t *testing.T) {
	for bug, want := range brokenPlugins {
		t.Run(bug, func(t *testing.T) {
			err := CheckPlugin(t.Context(), brokenPlugin(bug), nil)
			if bug == "an agent for no space" {
				if got := Broken(err); !slices.Equal(got, []Rule{Works}) {
					t.Errorf("got %v: %v", got, err)
				}
				return
			}
			if got := slices.Compact(found(err)); !slices.Equal(got, want) {
				t.Errorf("got %v, want %v:\n%v", got, want, err)
			}
			if want == nil && err != nil {
				t.Error(err)
			}
		})
	}
}
