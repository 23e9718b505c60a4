package rltest

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/internal/actortest"
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
		{"very slow", time.Minute, 0, time.Second, smallest.calls},
		{"slow to open", time.Minute, time.Minute, time.Millisecond, smallest.calls},
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
	last  int64 // step of an episode; 0: the eighth
	slow  bool
}

func (c *counted) Spec() framework.Spec {
	return framework.Spec{ID: "test/counted@1", Observation: space.Discrete{N: 1 << 20}, Action: space.Discrete{N: 2}, RewardHigh: 1}
}

func (c *counted) Reset(context.Context, uint64) (space.Value, error) {
	c.at = 0
	return space.Value{}, nil
}

func (c *counted) Step(_ context.Context, a space.Value) (framework.TimeStep, error) {
	*c.steps++
	c.at++
	if c.slow {
		time.Sleep(time.Millisecond)
	}
	return framework.TimeStep{Observation: space.Value{Int: c.at}, Terminated: c.at == cmp.Or(c.last, 8)}, nil
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

// Every rule is tried whatever the time is: what is left after it in the smallest form.
func TestEveryRuleIsTried(t *testing.T) {
	steps := 0
	for name, p := range map[string]vector.Plugin{"environment": countedPlugin(&steps), "agent": brokenPlugin("an agent")} {
		if err := (Bounds{Time: time.Nanosecond}).CheckPlugin(t.Context(), p, nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if steps > 300 {
		t.Errorf("%d steps after the time", steps)
	}
}

// A part for which the time is too short begins again in its smallest form.
func TestTimeEndsAPart(t *testing.T) {
	b := Bounds{Time: time.Nanosecond}.begun(1)
	s := b.size()
	var tried []size
	err := b.inTime(&s, func() error {
		tried = append(tried, s)
		return b.late(s)
	})
	if want := []size{b.size(), smallest}; err != nil || !slices.Equal(tried, want) {
		t.Errorf("sizes %v, want %v: %v", tried, want, err)
	}
}

// Wherever the time ends a check, a plugin that keeps every rule passes. A call takes a millisecond of a clock that only calls move.
func TestTimeEndsAnywhere(t *testing.T) {
	steps := 0
	env := countedPlugin(&steps)
	env.Open = func(_ json.RawMessage, lanes int) (vector.Environment, error) {
		return vector.Vectorize(func() (framework.Environment, error) { return &counted{steps: &steps, slow: true}, nil }, lanes)
	}
	chooses := brokenPlugin("an option agent").(*vector.AgentPlugin)
	chooses.Open = func(_ json.RawMessage, spec framework.Spec, lanes int) (vector.Agent, error) {
		return newChooser("slow", spec, lanes)
	}
	synctest.Test(t, func(t *testing.T) {
		for name, p := range map[string]vector.Plugin{"environment": env, "actors": slowActors(), "options": chooses} {
			for limit, taken := time.Millisecond, time.Duration(0); limit <= 2*taken+time.Millisecond; limit += limit/20 + time.Millisecond {
				begin := time.Now()
				if err := (Bounds{Time: limit}).CheckPlugin(t.Context(), p, nil, Specs()[2]); err != nil {
					t.Errorf("%s, %v: %v", name, limit, err)
				}
				taken = time.Since(begin)
			}
		}
	})
}

func slowActors() *vector.AgentPlugin {
	p := actortest.Plugin()
	open := p.Open
	p.Open = func(params json.RawMessage, spec framework.Spec, lanes int) (vector.Agent, error) {
		agent, err := open(params, spec, lanes)
		return &tangled{agent, "slow", spec.Actors}, err
	}
	return p
}

// The end of an episode is waited for after the time, but not without end.
func TestPatience(t *testing.T) {
	steps := 0
	p := countedPlugin(&steps)
	for _, last := range []int64{patience - 1, maxSteps} {
		p.Open = func(params json.RawMessage, lanes int) (vector.Environment, error) {
			return vector.Vectorize(func() (framework.Environment, error) { return &counted{steps: &steps, last: last}, nil }, lanes)
		}
		err := Bounds{Time: time.Nanosecond}.CheckPlugin(t.Context(), p, nil)
		if late := last > patience; slices.Contains(Broken(err), NeedsResetAfter) != late || late && !strings.Contains(err.Error(), "give more time") {
			t.Errorf("episodes of %d steps: %v", last, err)
		}
	}
}

// The smallest form finds the same faults as the full one, except those that
// show only later in a run.
func TestSmallestFormFindsFaults(t *testing.T) {
	later := map[string]bool{"ends, but says it never does": true, "remembers the last run": true, "leaves its space by a choice": true}
	short, spec := Bounds{Time: time.Nanosecond}, Specs()[2]
	compare := func(faults map[string][]Rule, check func(b Bounds, bug string) error) {
		for bug := range faults {
			full, smallest := found(check(Bounds{}, bug)), found(check(short, bug))
			if !slices.Equal(full, smallest) && !later[bug] {
				t.Errorf("%s: %v in the smallest form, %v in full", bug, smallest, full)
			}
		}
	}
	compare(brokenEnvironments, func(b Bounds, bug string) error {
		return b.checkVectorEnvironment(t.Context(), func(lanes int) (vector.Environment, error) {
			return vector.Vectorize(func() (framework.Environment, error) { return &corridor{bug: bug}, nil }, lanes)
		})
	})
	compare(brokenBatches, func(b Bounds, bug string) error {
		return b.checkVectorEnvironment(t.Context(), func(lanes int) (vector.Environment, error) { return newBatch(bug, lanes), nil })
	})
	compare(brokenLearners, func(b Bounds, bug string) error {
		return b.checkVectorAgent(t.Context(), func(lanes int) (vector.Agent, error) { return newLearners(bug, spec, lanes), nil }, spec)
	})
	compare(brokenChoosers, func(b Bounds, bug string) error {
		return b.checkVectorAgent(t.Context(), func(lanes int) (vector.Agent, error) { return newChooser(bug, spec, lanes) }, spec)
	})
}
