package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
)

// faulty is an environment, one copy, that fails at its third step in a quarter
// of its episodes, which its seed decides: by an error, or by ending the process.
type faulty struct {
	dies  bool
	steps int
	bad   bool
}

func (f *faulty) Spec() framework.Spec {
	return framework.Spec{
		ID: cmp.Or(os.Getenv("FAULTY_SPEC"), "test/faulty@1"), Observation: space.Discrete{N: 1}, Action: space.Discrete{N: 2},
		RewardHigh: 1, Continuing: true,
	}
}

func (f *faulty) Reset(_ context.Context, seed uint64) (space.Value, error) {
	f.steps, f.bad = 0, seed%4 == 0
	return space.Value{}, nil
}

func (f *faulty) Step(context.Context, space.Value) (framework.TimeStep, error) {
	if f.steps++; f.bad && f.steps == 3 {
		if f.dies {
			fmt.Fprintln(os.Stderr, "out of luck")
			os.Exit(7)
		}
		return framework.TimeStep{}, errors.New("the third step is one too many")
	}
	return framework.TimeStep{Observation: space.Value{}, Reward: 1}, nil
}

// serveFaulty is the main of a plugin's process. Its argument is what it requires, and
// FAULTY_ID its id, and FAULTY_SPEC the id in its spec.
func serveFaulty() {
	var requires string
	if len(os.Args) > 1 {
		requires = os.Args[1]
	}
	plugin.Serve(plugin.Requires(requires, &vector.EnvironmentPlugin{
		Description: vector.Description{
			ID: cmp.Or(os.Getenv("FAULTY_ID"), "test/faulty@1"), Kind: vector.KindEnvironment, Doc: "Fails now and then.",
			Params: json.RawMessage(`{"type": "object", "properties": {"dies": {"type": "boolean"}}, "additionalProperties": false}`),
		},
		Open: func(params json.RawMessage, lanes int) (vector.Environment, error) {
			var p struct {
				Dies bool `json:"dies"`
			}
			if len(params) > 0 {
				if err := json.Unmarshal(params, &p); err != nil {
					return nil, err
				}
			}
			return vector.Vectorize(func() (framework.Environment, error) { return &faulty{dies: p.Dies}, nil }, lanes)
		},
	}))
}
