package rltest

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
)

// A fast plugin is compared in full. A slow one less, but never below what the rules
// need.
func TestSizeFitsTime(t *testing.T) {
	full := Bounds{}.size()
	for _, tt := range []struct {
		name              string
		limit, open, call time.Duration
		calls             int
	}{
		{"no limit", 0, time.Second, time.Second, calls},
		{"fast", time.Minute, time.Millisecond, time.Microsecond, calls},
		{"slow", time.Minute, 0, 25 * time.Millisecond, 33},
		{"very slow", time.Minute, 0, time.Second, fewest},
		{"slow to open", time.Minute, time.Minute, time.Millisecond, fewest},
	} {
		got := full.fit(tt.limit, tt.open, tt.call, environmentComparisons)
		if got.calls != tt.calls {
			t.Errorf("%s: %+v, want %d calls", tt.name, got, tt.calls)
		}
	}
	if got := (Bounds{Lanes: 4}).size(); got.many != 4 {
		t.Errorf("at most 4 lanes: %d", got.many)
	}
}

// counted is an environment that counts steps.
type counted struct {
	steps *int
	at    int64
}

func (c *counted) Spec() framework.Spec {
	return framework.Spec{ID: "test/counted@1", Observation: space.Discrete{N: 9}, Action: space.Discrete{N: 2}, RewardHigh: 1}
}

func (c *counted) Reset(context.Context, uint64) (space.Value, error) {
	c.at = 0
	return space.Value{}, nil
}

func (c *counted) Step(_ context.Context, a space.Value) (framework.TimeStep, error) {
	*c.steps++
	c.at++
	return framework.TimeStep{Observation: space.Value{Int: c.at}, Terminated: c.at == 8}, nil
}

// countedPlugin counts the steps of all its copies.
func countedPlugin(steps *int) *vector.EnvironmentPlugin {
	return &vector.EnvironmentPlugin{
		Description: vector.Description{ID: "test/counted@1", Kind: vector.KindEnvironment, Doc: "Counts.", Params: []byte("{}")},
		Open: func(_ json.RawMessage, lanes int) (vector.Environment, error) {
			return vector.Vectorize(func() (framework.Environment, error) { return &counted{steps: steps}, nil }, lanes)
		},
	}
}

// With time, every part is told and every rule is kept.
func TestBoundsOfTime(t *testing.T) {
	steps, stages := 0, 0
	b := Bounds{Time: time.Hour, Progress: func(string) { stages++ }}
	if err := b.CheckPlugin(t.Context(), countedPlugin(&steps), nil); err != nil || stages < 5 {
		t.Errorf("%d stages were told: %v", stages, err)
	}
}

// After its time a check makes no more calls. The rules that it did not come to are broken
// by ErrLate, and no other is.
func TestLate(t *testing.T) {
	steps := 0
	for name, p := range map[string]vector.Plugin{"environment": countedPlugin(&steps), "agent": brokenPlugin("an agent")} {
		err := Bounds{Time: time.Nanosecond}.CheckPlugin(t.Context(), p, nil)
		if len(Broken(err)) < 5 {
			t.Errorf("%s: %v", name, err)
		}
		for line := range strings.Lines(err.Error()) {
			if !strings.Contains(line, ErrLate.Error()) {
				t.Errorf("%s: %s", name, line)
			}
		}
	}
	if steps > 3 {
		t.Errorf("%d steps after the time", steps)
	}
}
