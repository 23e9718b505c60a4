package mdpcmd

import (
	"strings"
	"testing"
)

// The policy of a file is read or refused in one line. One that was read has probabilities of
// every action in every state.
func FuzzPolicy(f *testing.F) {
	for _, text := range []string{"[0, 1, 0]", "[[0.5, 0.5], 1, [1, 0]]", `{"policy": [0, 0, 1]}`, `{"policy": {}}`, "[0, 1", "[0, 2, 0]", "[0.5, 0, 0]", "[[0.5, 0.6], 0, 0]", "[[1e308, -1e308], 0, 0]", "[-0, 1e0, 0]", "null", "[null, \"left\", 0]"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, _, err := parsePolicy(data, 3, 2)
		if err != nil {
			if err.Error() == "" || strings.Contains(err.Error(), "\n") {
				t.Fatalf("an error of no line or several: %q", err)
			}
			return
		}
		weights := make([]float64, 2)
		for s := range 3 {
			sum := 0.0
			p.Distribution(weights, s)
			for a, x := range weights {
				if !(x >= 0 && x <= 1) {
					t.Fatalf("%s: %v of action %d in state %d", data, x, a, s)
				}
				sum += x
			}
			if sum < 1-1e-8 || sum > 1+1e-8 {
				t.Fatalf("%s: probabilities of state %d sum to %v", data, s, sum)
			}
		}
	})
}
