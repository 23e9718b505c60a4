package banditagent

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework"
)

// What is wrong with the parameters is told with the parameter and what it may be.
func TestParameterErrors(t *testing.T) {
	for params, want := range map[string]string{
		`{}`:                            `policy: kind must be one of greedy, uniform, epsilon-greedy`,
		`{"policy":{"kind":"thomson"}}`: "policy: kind must be one of greedy",
		`{"policy":{"kind":"greedy","epsilon":0.1}}`:                              `policy: kind greedy: params: json: unknown field "epsilon"`,
		`{"policy":{"kind":"thompson","gamma":0.5}}`:                              `policy: kind thompson: params: json: unknown field "gamma"`,
		`{"policy":{"kind":"softmax","temperature":0}}`:                           "policy: temperature is 0, must be more than 0",
		`{"policy":{"kind":"softmax","temperature":"x"}}`:                         "policy: kind softmax: temperature must be a number, not text",
		`{"policy":{"kind":"optimistic","bound":"V","lower_bound":0}}`:            "policy: lower_bound has no effect with bound V: leave it out, or give it with bound U",
		`{"policy":{"kind":"thompson"},"belief":{"kind":"populace"}}`:             "belief: kind must be one of population, point, beta",
		`{"policy":{"kind":"thompson"},"belief":{"kind":"point","members":16}}`:   `belief: kind point: params: json: unknown field "members"`,
		`{"policy":{"kind":"ucb1"},"belief":{"kind":"beta"}}`:                     "belief: policy ucb1 keeps no beliefs: leave it out",
		`{"policy":{"kind":"thompson"},"belief":{"kind":"beta","a":1,"prior":1}}`: `belief: kind beta: params: json: unknown field "prior"`,
	} {
		_, err := Plugin().OpenAgent(t.Context(), json.RawMessage(params), bernoulli, 1)
		if !errors.Is(err, framework.ErrInvalidParams) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", params, err, want)
		}
	}
}
