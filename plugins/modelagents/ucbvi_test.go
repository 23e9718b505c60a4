package modelagents

import (
	"encoding/json"
	"errors"
	"math"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/plugins/internal/agenttest"
	"github.com/rlrun/rlrun/plugins/internal/modelbased"
)

// The first and second plan of UCBVI by hand, with two steps to go.
func TestUCBVIByHand(t *testing.T) {
	x := newAgent(t, "ucbvi", `{"horizon":2,"scaling":0.5,"alpha":2,"mu0":1,"tau0":4,"tau":2}`, agenttest.Finite)
	p := x.Planner.(*modelbased.Induction)
	x.Begin(0)
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-12 {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	c := 0.5 * math.Sqrt(2*math.Log(3)) // k = 1
	for i := range 6 {
		near("one step to go", p.Q[6+i], 1+c/2)
		near("two steps to go", p.Q[12+i], 1+c/2+(1+c/2)+c/math.Sqrt(6))
	}
	x.State, x.Action = 1, 0
	x.End(4, 2, true) // state 2 is worth nothing
	x.Begin(0)
	c = 0.5 * math.Sqrt(2*math.Log(4)) // k = 2
	tried := 2 + c/math.Sqrt(6)        // mean (4·1 + 2·4)/6
	near("the pair tried", p.Q[6+2], tried)
	near("another", p.Q[6+0], 1+c/2)
	near("the terminal state", p.Q[12+4], 0)
	// Values with one step to go: 1+c/2 in state 0, the better of two in 1, 0 in 2.
	v0, v1 := 1+c/2, max(tried, 1+c/2)
	near("the pair tried, two to go", p.Q[12+2], tried+(2*v0+2*v1)/7+c/math.Sqrt(7))
	near("another, two to go", p.Q[12+0], 1+c/2+(2*v0+2*v1)/6+c/math.Sqrt(6))
}

// Every bonus of Gaussian PSRL has a normal variate of its own: with one step to
// go, the values of pairs are those, in units of 1/√n.
func TestGaussianBonuses(t *testing.T) {
	x := newAgent(t, "gaussian-psrl", `{"horizon":1,"tau0":4}`, agenttest.Finite)
	p := x.Planner.(*modelbased.Induction)
	var sum, squares, n float64
	for range 500 {
		x.Begin(0)
		for _, q := range p.Q[6:] {
			sum, squares, n = sum+2*q, squares+4*q*q, n+1
		}
	}
	// Mean and variance within 3.9 standard errors, at a fixed seed.
	if math.Abs(sum/n) > 3.9/math.Sqrt(n) || math.Abs(squares/n-1) > 3.9*math.Sqrt(2/n) {
		t.Errorf("mean %v, mean square %v of %v", sum/n, squares/n, n)
	}
}

func TestTheLastStep(t *testing.T) {
	for _, tt := range []struct {
		params                string
		terminated, truncated bool
		want                  float64
	}{
		{`{}`, false, true, 1}, {`{}`, true, false, 1},
		{`{"ignore_last":true}`, false, true, 0}, {`{"ignore_last":true}`, true, false, 1},
	} {
		x := newAgent(t, "ucbvi", tt.params, agenttest.Finite)
		x.Begin(0)
		x.End(7, 1, tt.terminated)
		if got := x.Counts.N(x.State, x.Action); got != tt.want {
			t.Errorf("%s, terminated %v: %v transitions learned", tt.params, tt.terminated, got)
		}
		if m := x.Counts.Rewards(x.State, x.Action); m.N != 1 || m.Mean != 7 {
			t.Errorf("%s, terminated %v: rewards %+v", tt.params, tt.terminated, m)
		}
		if x.Terminals.Is[1] != tt.terminated {
			t.Errorf("%s, terminated %v: state 1 is terminal: %v", tt.params, tt.terminated, x.Terminals.Is[1])
		}
	}
}

func TestPlansThatAreTooLarge(t *testing.T) {
	large := agenttest.Finite
	large.Observation = space.Discrete{N: 2000}
	_, err := UCBVI().OpenAgent(t.Context(), json.RawMessage(`{"horizon":5000}`), large, 1)
	if !errors.Is(err, framework.ErrUnsupported) || errors.Is(err, framework.ErrInvalidParams) {
		t.Error(err)
	}
}
