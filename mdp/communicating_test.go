package mdp

import (
	"errors"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
)

// deterministic is the model in which action a leads from s to rows[s][a].
func deterministic(t *testing.T, rows ...[]int) *Tabular {
	t.Helper()
	return must.Get(Generate(Definition{States: len(rows), Actions: len(rows[0])}, func(s, a int, row *Row) {
		row.Add(rows[s][a], 1)
		row.Reward(float64(s))
	}))(t)
}

func TestModelStructure(t *testing.T) {
	for name, c := range map[string]struct {
		rows          [][]int
		communicating bool
		weakly        bool
		unavoidable   int
		says          string
	}{
		"ring":               {[][]int{{1, 2}, {2, 0}, {0, 1}}, true, true, -1, ""},
		"one way ring":       {[][]int{{1, 1}, {2, 2}, {0, 0}}, true, true, 0, ""},
		"two sinks":          {[][]int{{1, 2}, {1, 1}, {2, 2}}, false, false, -1, "no action leaves {1}, nor {2}"},
		"transient start":    {[][]int{{1, 1}, {2, 1}, {1, 2}}, false, true, -1, ""},
		"avoidable sink":     {[][]int{{0, 1}, {1, 1}}, false, false, -1, "can stay in {0}, which is not reached from {1}"},
		"unavoidable in two": {[][]int{{1, 2}, {0, 0}, {0, 0}}, true, true, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := ModelStructure(deterministic(t, c.rows...))
			if s.Communicating() != c.communicating || s.WeaklyCommunicating() != c.weakly || s.Unavoidable() != c.unavoidable {
				t.Errorf("communicating %v, weakly %v, unavoidable %d", s.Communicating(), s.WeaklyCommunicating(), s.Unavoidable())
			}
			if (s.RequireCommunicating() == nil) != c.communicating {
				t.Errorf("RequireCommunicating: %v", s.RequireCommunicating())
			}
			if err := s.RequireWeaklyCommunicating(); !c.weakly && (err == nil || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("%v does not say %q", err, c.says)
			}
			ok, _, avoiders := s.EveryPolicyIrreducible()
			if want := name == "one way ring"; ok != want || ok == (len(avoiders) > 0) {
				t.Errorf("every policy irreducible: %v, %v", ok, avoiders)
			}
		})
	}
}

// Refusals name the missing property.
func TestRefusals(t *testing.T) {
	split := deterministic(t, []int{1, 2}, []int{1, 1}, []int{2, 2})
	c := must.Get(Induce(split, Uniform{}))(t)
	_, _, notUnichain := c.Stationary()
	_, _, _, notCommunicating := Diameter(split)
	_, notWeakly := SolveAverage(split, SolverConfig{Method: ValueIteration})
	for need, err := range map[string]error{"unichain": notUnichain, "communicating": notCommunicating,
		"weakly communicating": notWeakly} {
		var missing *MissingError
		if !errors.As(err, &missing) || missing.Need != need || !strings.Contains(missing.Why, "{") {
			t.Errorf("want a refusal for not being %s with states, got %v", need, err)
		}
	}
}

// Policy iteration needs no structure: each state has the gain of the best sink.
func TestMultichainGain(t *testing.T) {
	sol := must.Get(SolveAverage(deterministic(t, []int{1, 2}, []int{1, 1}, []int{2, 2}), SolverConfig{}))(t)
	if sol.Gain[0] != 2 || sol.Gain[1] != 1 || sol.Gain[2] != 2 || sol.Policy[0] != 1 {
		t.Errorf("gain %v, policy %v", sol.Gain, sol.Policy)
	}
}

// The probabilities of a gambler's ruin are known in closed form.
func TestGamblersRuin(t *testing.T) {
	const n = 20
	m := must.Get(Generate(Definition{States: n + 1, Actions: 1}, func(s, _ int, row *Row) {
		switch s {
		case 0:
			row.Add(0, 1)
		case n:
			row.Add(n, 1)
			row.Reward(1)
		default:
			row.Add(s-1, 0.5)
			row.Add(s+1, 0.5)
		}
	}))(t)
	c := must.Get(Induce(m, Uniform{}))(t)
	gain, _ := must.Get2(c.EvaluateAverage())(t)
	for s, g := range gain {
		if want := float64(s) / n; !within(g, want, 1e-14) {
			t.Errorf("probability of winning from %d is %v, want %v", s, g, want)
		}
	}
}

func within(got, want, tolerance float64) bool { return got-want <= tolerance && want-got <= tolerance }
