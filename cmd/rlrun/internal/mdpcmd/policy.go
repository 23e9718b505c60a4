package mdpcmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/rlrun/rlrun/internal/spelling"
	"github.com/rlrun/rlrun/mdp"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
)

// readPolicy reads the policy of a file, which names the actions, numbers them, or
// gives probabilities.
func readPolicy(name string, states int, actions []string) (mdp.Policy, error) {
	in, closeInput, err := openInput(name, nil)
	if _, found := os.Stat(name); err != nil && found == nil {
		return nil, err
	}
	if err != nil {
		words := append([]string{"optimal", "uniform"}, actions...)
		hint := ""
		if c := spelling.Closest(name, words); c != "" {
			hint = "; did you mean " + c + "?"
		}
		return nil, cli.Usagef("--policy %w; it is neither optimal, uniform nor an action (%s)%s", err, strings.Join(first(actions, 8), ", "), hint)
	}
	defer closeInput()
	data, err := io.ReadAll(in)
	if err != nil {
		return nil, cli.Usagef("%s: %w", name, cli.Cause(err))
	}
	p, err := parsePolicy(data, states, len(actions))
	if err != nil {
		return nil, cli.Usagef("%s: %w", name, err)
	}
	return p, nil
}

// first returns at most n words, and "…" if there are more.
func first(words []string, n int) []string {
	if len(words) > n {
		words = append(words[:n:n], "…")
	}
	return words
}

func parsePolicy(data []byte, states, actions int) (mdp.Policy, error) {
	var whole any
	if err := json.Unmarshal(data, &whole); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			before := data[:min(int(syntax.Offset), len(data))]
			line, from := 1+bytes.Count(before, []byte("\n")), bytes.LastIndexByte(before, '\n')
			return nil, fmt.Errorf("line %d, column %d: %w", line, max(1, len(before)-from-1), err)
		}
		return nil, err
	}
	if answer, ok := whole.(map[string]any); ok {
		whole = answer["policy"]
	}
	rows, ok := whole.([]any)
	if !ok {
		return nil, fmt.Errorf("a policy is a list with an entry for each of %d states, or an object with one as \"policy\"", states)
	}
	if len(rows) != states {
		return nil, fmt.Errorf("the policy has %d states, the model %d", len(rows), states)
	}
	random := mdp.Randomised{}
	fixed := mdp.Deterministic{}
	for s, row := range rows {
		switch x := row.(type) {
		case float64:
			if x != math.Trunc(x) || x < 0 || x >= float64(actions) {
				return nil, fmt.Errorf("state %d: action %s is not a whole number from 0 to %d", s, cli.Given(x), actions-1)
			}
			fixed = append(fixed, int(x))
			weights := make([]float64, actions)
			weights[int(x)] = 1
			random = append(random, weights)
		case []any:
			weights, err := distribution(x, actions)
			if err != nil {
				return nil, fmt.Errorf("state %d: %w", s, err)
			}
			random = append(random, weights)
		default:
			return nil, fmt.Errorf("state %d: want an action's number or a list of probabilities, not %v", s, jsonText(row))
		}
	}
	if len(fixed) == states {
		return fixed, nil
	}
	return random, nil
}

func distribution(row []any, actions int) ([]float64, error) {
	if len(row) != actions {
		return nil, fmt.Errorf("%d probabilities for %d actions", len(row), actions)
	}
	weights, sum := make([]float64, actions), 0.0
	for a, x := range row {
		p, ok := x.(float64)
		if !ok || p < 0 || p > 1 {
			return nil, fmt.Errorf("action %d: %s is not a probability", a, jsonText(x))
		}
		weights[a] = p
		sum += p
	}
	if math.Abs(sum-1) > 1e-8 {
		return nil, fmt.Errorf("probabilities sum to %s, not 1", cli.Num(sum))
	}
	return weights, nil
}

// jsonText is a value as JSON, cut if it is long.
func jsonText(x any) string {
	text, err := json.Marshal(x)
	if err != nil {
		return "it"
	}
	if len(text) > 40 {
		return string(text[:40]) + "…"
	}
	return string(text)
}
