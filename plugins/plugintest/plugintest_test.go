package plugintest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/plugins/plugintest"
)

// coin is an environment of one step, guessing a coin. Where rigged, every copy
// tosses the same coin.
type coin struct {
	rng     *rand.Rand
	rigged  *rand.Rand
	running bool
}

func (c *coin) Spec() framework.Spec {
	return framework.Spec{ID: "test/coin@1", Observation: space.Discrete{N: 2}, Action: space.Discrete{N: 2}, RewardHigh: 1}
}

func (c *coin) Reset(_ context.Context, seed uint64) (space.Value, error) {
	c.rng, c.running = rand.New(rand.NewPCG(seed, 0)), true
	if c.rigged != nil {
		c.rng = c.rigged
	}
	return space.Value{Int: c.rng.Int64N(2)}, nil
}

func (c *coin) Step(_ context.Context, a space.Value) (framework.TimeStep, error) {
	if !c.running {
		return framework.TimeStep{}, framework.ErrNeedsReset
	}
	if a.Int != 0 && a.Int != 1 {
		return framework.TimeStep{}, fmt.Errorf("%d is no side: %w", a.Int, framework.ErrInvalidAction)
	}
	c.running = false
	side := c.rng.Int64N(2)
	ts := framework.TimeStep{Observation: space.Value{Int: side}, Terminated: true}
	if side == a.Int {
		ts.Reward = 1
	}
	return ts, nil
}

func coins(rigged *rand.Rand) vector.Plugin {
	return &vector.EnvironmentPlugin{
		Description: vector.Description{ID: "test/coin@1", Kind: vector.KindEnvironment, Doc: "A coin.", Params: json.RawMessage(`{}`)},
		Open: func(_ json.RawMessage, lanes int) (vector.Environment, error) {
			return vector.Vectorize(func() (framework.Environment, error) { return &coin{rigged: rigged}, nil }, lanes)
		},
	}
}

func TestConform(t *testing.T) {
	plugintest.Conform(t, coins(nil), nil)
}

// spy stands in for a test that is expected to fail.
type spy struct {
	*testing.T
	errors []string
}

func (s *spy) Errorf(format string, args ...any) {
	s.errors = append(s.errors, fmt.Sprintf(format, args...))
}

func TestConformFails(t *testing.T) {
	s := &spy{T: t}
	plugintest.Conform(s, coins(rand.New(rand.NewPCG(1, 0))), nil)
	if len(s.errors) != 2 || !strings.HasPrefix(s.errors[0], "called directly:") || !strings.HasPrefix(s.errors[1], "through the seam:") {
		t.Fatalf("got %q", s.errors)
	}
	for _, e := range s.errors {
		if !strings.Contains(e, "same-seed-same-episode") {
			t.Errorf("no broken rule in %q", e)
		}
	}
}

// After the test the connection is closed.
func TestLoopbackIsClosed(t *testing.T) {
	var p *plugin.Process
	t.Run("inner", func(t *testing.T) { p = plugintest.Loopback(t, coins(nil)) })
	if _, err := p.OpenEnvironment(t.Context(), nil, 1); !errors.Is(err, plugin.ErrClosed) {
		t.Errorf("got %v", err)
	}
}
