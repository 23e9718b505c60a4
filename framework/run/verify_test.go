package run

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/internal/plantest"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/store"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
)

// moody is a coin that breaks determinism in one way.
type moody struct {
	coin
	fault string
	steps int
	runs  *int
	lanes int
}

func (m *moody) Reset(ctx context.Context, s uint64) (space.Value, error) {
	*m.runs++
	m.steps = 0
	return m.coin.Reset(ctx, s)
}

func (m *moody) Step(ctx context.Context, a space.Value) (framework.TimeStep, error) {
	ts, err := m.coin.Step(ctx, a)
	switch m.steps++; {
	case m.fault == "reward" && m.steps == 7:
		ts.Reward += rand.Float64()
	case m.fault == "early" && m.steps == 2:
		ts.Reward += rand.Float64()
	case m.fault == "leaks" && *m.runs > 1 && m.steps == 3: // depends on the runs before it
		ts.Reward += float64(*m.runs)
	case m.fault == "shares" && m.lanes > 1 && m.steps == 3: // depends on the runs beside it
		ts.Reward++
	case m.fault == "end" && m.steps == 4:
		ts.Terminated = rand.IntN(2) == 0
	}
	return ts, err
}

// whim is an agent that acts otherwise every time from its third action on.
type whim struct {
	alternate
	selected int
}

func (w *whim) SelectAction(ctx context.Context, v space.Value) (space.Value, error) {
	if w.selected++; w.selected >= 3 {
		return space.Value{Int: rand.Int64N(2)}, nil
	}
	return w.alternate.SelectAction(ctx, v)
}

// Verify finds the component that answers otherwise, at the first call at which it
// does, and blames no other.
func TestVerify(t *testing.T) {
	for _, tt := range []struct {
		environment, agent string
		part, what         string
		call               int // 0: any
	}{
		{"", "", "", "", 0},
		{"reward", "", "environment", "the reward is ", 8},
		{"leaks", "", "environment", "the reward is ", 4},
		{"shares", "", "environment", "the reward is ", 4},
		{"end", "", "environment", "terminated and truncated are ", 0},
		{"", "whim", "agent", "the action differs", 0},
	} {
		t.Run(tt.environment+tt.agent, func(t *testing.T) {
			open := func(_ context.Context, c plan.Component) (vector.Plugin, func() error, error) {
				none := func() error { return nil }
				if c.Plugin == "coin" {
					return &vector.EnvironmentPlugin{Description: vector.Description{Kind: vector.KindEnvironment}, Open: func(_ json.RawMessage, lanes int) (vector.Environment, error) {
						runs := 0
						return vector.Vectorize(func() (framework.Environment, error) {
							return &moody{fault: tt.environment, runs: &runs, lanes: lanes}, nil
						}, lanes)
					}}, none, nil
				}
				return &vector.AgentPlugin{Description: vector.Description{Kind: vector.KindAgent}, Open: func(_ json.RawMessage, spec framework.Spec, lanes int) (vector.Agent, error) {
					return vector.VectorizeAgent(func(s uint64) (framework.Agent, error) {
						if tt.agent != "" {
							return &whim{alternate: alternate{int64(s & 1)}}, nil
						}
						return &alternate{int64(s & 1)}, nil
					}, spec, lanes)
				}}, none, nil
			}
			p := plantest.Compile(t, func(c *plan.Config) { c.Agents = c.Agents[:1] })
			x := New(p, opening(open))
			must.Do(t, x.Check(t.Context(), nil))
			got := must.Get(x.Verify(t.Context(), 12))(t)
			if tt.part == "" {
				if len(got) != 0 {
					t.Errorf("a deterministic pair: %v", &got[0])
				}
				return
			}
			if len(got) != 1 {
				t.Fatalf("%d differences, want 1", len(got))
			}
			d := &got[0]
			if d.Beside != (tt.environment == "shares") || d.Part != tt.part || !strings.Contains(d.What, tt.what) || tt.call > 0 && d.Call != tt.call {
				t.Errorf("got %q, want %s, %q, call %d", d, tt.part, tt.what, tt.call)
			}
		})
	}
}

// A replay that takes another course than the failed run is reported, once. Other replays
// are not.
func TestReplaysAreCompared(t *testing.T) {
	for fault, want := range map[string]int{"": 0, "reward": 1} {
		failed := false
		open := func(ctx context.Context, c plan.Component) (vector.Plugin, func() error, error) {
			if c.Plugin != "coin" {
				return opener(nil)(ctx, c)
			}
			return &vector.EnvironmentPlugin{Description: vector.Description{Kind: vector.KindEnvironment}, Open: func(_ json.RawMessage, lanes int) (vector.Environment, error) {
				runs := 0
				v, err := vector.Vectorize(func() (framework.Environment, error) { return &moody{fault: fault, runs: &runs}, nil }, lanes)
				return &faulty{Environment: v, fail: func(call int, _ []uint64) error {
					if call == 20 && !failed {
						failed = true
						return errors.New("the plugin died")
					}
					return nil
				}}, err
			}}, func() error { return nil }, nil
		}
		p := plantest.Compile(t, func(c *plan.Config) { c.Workers, c.Agents = 1, c.Agents[:1] })
		dir, got := t.TempDir(), 0
		done, err := prepare(t, p, dir, false, store.Session{})
		if err != nil {
			t.Fatal(err)
		}
		err = runPlan(t.Context(), p, runOptions{Dir: dir, Done: done, Open: open, Remote: func(plan.Component) bool { return true }, Event: func(e Event) {
			if strings.Contains(e.Notice, "took another course") {
				got++
			}
		}})
		if err != nil || !failed || got != want {
			t.Errorf("fault %q: %d notices, want %d; error %v", fault, got, want, err)
		}
	}
}

// Every step of an environment is seen whose lanes could play by themselves, as those of this process do beside a rule
// that is a process. Its other abilities stay.
func TestTrailSeesEveryStep(t *testing.T) {
	v := must.Get(vector.Vectorize(func() (framework.Environment, error) { return &moody{runs: new(int)}, nil }, 1))(t)
	able := vector.EnvironmentAbilities{
		PlayLane: func(int, vector.LaneAgent, vector.LaneStep, []int64, []float64) (int, vector.LaneStep, error) {
			t.Error("a lane played by itself")
			return 0, vector.LaneStep{}, nil
		},
		Models: func(context.Context) ([]*mdp.Tabular, error) { return nil, nil },
	}
	seen := &trail{Environment: vector.WithAbilities(v, able)}
	if got := seen.Abilities(); got.PlayLane != nil || got.Models == nil {
		t.Errorf("an environment that is followed has the abilities %+v", got)
	}
}

// An environment whose first answers do not follow from the seed of a run is reported
// while agents play it, once. Other environments are not.
func TestAgentsMeetTheSameDraws(t *testing.T) {
	for _, tt := range []struct {
		fault  string
		agents int
		want   int
	}{{"", 2, 0}, {"early", 2, 1}, {"early", 1, 0}} {
		open := func(ctx context.Context, c plan.Component) (vector.Plugin, func() error, error) {
			if c.Plugin != "coin" {
				return opener(nil)(ctx, c)
			}
			return &vector.EnvironmentPlugin{Description: vector.Description{Kind: vector.KindEnvironment}, Open: func(_ json.RawMessage, lanes int) (vector.Environment, error) {
				return vector.Vectorize(func() (framework.Environment, error) { return &moody{fault: tt.fault, runs: new(int)}, nil }, lanes)
			}}, func() error { return nil }, nil
		}
		p := plantest.Compile(t, func(c *plan.Config) { c.Workers, c.Agents = 2, c.Agents[:tt.agents] })
		dir := t.TempDir()
		done, err := prepare(t, p, dir, false, store.Session{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		err = runPlan(t.Context(), p, runOptions{Dir: dir, Done: done, Open: open, Remote: func(plan.Component) bool { return true }, Event: func(e Event) {
			if e.Notice != "" {
				got = append(got, e.Notice)
			}
		}})
		if err != nil || len(got) != tt.want || tt.want > 0 && !strings.Contains(got[0], "environment coin does not follow its seeds: run ") {
			t.Errorf("fault %q, %d agents: notices %q, want %d; error %v", tt.fault, tt.agents, got, tt.want, err)
		}
	}
}
