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

	"github.com/rlrun/rlrun/internal/inputfile"
	"github.com/rlrun/rlrun/internal/spelling"
	"github.com/rlrun/rlrun/mdp"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
)

// readPolicy reads the policy of a file, which names the actions, numbers them, or
// gives probabilities. It prints a notice if some had to be divided by their sum.
func readPolicy(name string, states int, actions []string, stderr io.Writer) (mdp.Policy, error) {
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
		return nil, cli.Usagef("%s: %w", name, inputfile.Cause(err))
	}
	p, rescaled, err := parsePolicy(data, states, len(actions))
	if err != nil {
		return nil, cli.Usagef("%s: %w", name, err)
	}
	if len(rescaled) > 0 {
		fmt.Fprintf(stderr, "Notice: %s: probabilities did not sum to 1 and were divided by their sum: %s.\n", name, strings.Join(first(rescaled, 3), ", "))
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

// parsePolicy returns, besides the policy, the states whose probabilities were divided by
// their sum.
func parsePolicy(data []byte, states, actions int) (p mdp.Policy, rescaled []string, err error) {
	var whole any
	if err := json.Unmarshal(data, &whole); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			before := data[:min(int(syntax.Offset), len(data))]
			line, from := 1+bytes.Count(before, []byte("\n")), bytes.LastIndexByte(before, '\n')
			return nil, nil, fmt.Errorf("line %d, column %d: %w", line, max(1, len(before)-from-1), err)
		}
		return nil, nil, err
	}
	if answer, ok := whole.(map[string]any); ok {
		whole = answer["policy"]
	}
	rows, ok := whole.([]any)
	if !ok {
		return nil, nil, fmt.Errorf("a policy is a list with an entry for each of %d states, or an object with one as \"policy\"", states)
	}
	if len(rows) != states {
		return nil, nil, fmt.Errorf("the policy has %d states, the model %d", len(rows), states)
	}
	random := mdp.Randomised{}
	fixed := mdp.Deterministic{}
	for s, row := range rows {
		switch x := row.(type) {
		case float64:
			if x != math.Trunc(x) || x < 0 || x >= float64(actions) {
				return nil, nil, fmt.Errorf("state %d: action %s is not a whole number from 0 to %d", s, cli.Given(x), actions-1)
			}
			fixed = append(fixed, int(x))
			weights := make([]float64, actions)
			weights[int(x)] = 1
			random = append(random, weights)
		case []any:
			weights, sum, err := distribution(x, actions)
			if err != nil {
				return nil, nil, fmt.Errorf("state %d: %w", s, err)
			}
			if sum != 1 {
				rescaled = append(rescaled, fmt.Sprintf("state %d (%.13g)", s, sum))
			}
			random = append(random, weights)
		default:
			return nil, nil, fmt.Errorf("state %d: want an action's number or a list of probabilities, not %v", s, jsonText(row))
		}
	}
	if len(fixed) == states {
		return fixed, nil, nil
	}
	return random, rescaled, nil
}

// distribution returns probabilities that sum to 1, and what they summed to: 1 if they
// differed from it by rounding at most.
func distribution(row []any, actions int) (weights []float64, sum float64, err error) {
	if len(row) != actions {
		return nil, 0, fmt.Errorf("%d probabilities for %d actions", len(row), actions)
	}
	weights = make([]float64, actions)
	for a, x := range row {
		p, ok := x.(float64)
		if !ok || p < 0 || p > 1 {
			return nil, 0, fmt.Errorf("action %d: %s is not a probability", a, jsonText(x))
		}
		weights[a] = p
		sum += p
	}
	switch off := math.Abs(sum - 1); {
	case off > 1e-6:
		return nil, 0, fmt.Errorf("probabilities sum to %.10g, not 1", sum)
	case off <= 1e-12:
		return weights, 1, nil
	}
	for a := range weights {
		weights[a] /= sum
	}
	return weights, sum, nil
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
