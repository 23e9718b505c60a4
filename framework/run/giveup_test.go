package run

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework/internal/plantest"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
)

// statuses counts the records of each agent by their status.
func statuses(t *testing.T, dir string) map[string]map[result.Status]int {
	t.Helper()
	m := map[string]map[result.Status]int{}
	for r, err := range result.ReadRecords(dir) {
		if err != nil {
			t.Fatal(err)
		}
		if m[r.Agent] == nil {
			m[r.Agent] = map[result.Status]int{}
		}
		m[r.Agent][r.Status]++
	}
	return m
}

// A cell in which no run can end well is given up after as many runs as the limit says,
// no matter which plugin is blamed. The number of attempts does not depend on the number
// of runs. --resume tries again.
func TestGiveUp(t *testing.T) {
	zero, two, seven := 0, 2, 7
	for _, tt := range []struct {
		name               string
		all, agent         *int
		workers, lanes     int
		blame              func(lane int, err error) error
		failed, mostOpened int
	}{
		{"no lane", nil, nil, 1, 64, func(_ int, err error) error { return err }, 5, 16},
		{"a lane", nil, nil, 1, 64, func(lane int, err error) error { return &vector.LaneError{Lane: lane, Err: err} }, 5, 16},
		{"lanes alone", nil, nil, 1, 1, func(_ int, err error) error { return err }, 5, 16},
		{"after two", &two, nil, 1, 64, func(_ int, err error) error { return err }, 2, 12},
		{"as the agent says", &two, &seven, 1, 1, func(_ int, err error) error { return err }, 7, 16},
		{"never", nil, &zero, 1, 8, func(_ int, err error) error { return err }, 200, 1000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := plantest.Compile(t, func(c *plan.Config) {
				c.Runs, c.Workers, c.Lanes, c.Agents = 200, tt.workers, tt.lanes, c.Agents[:1]
				c.Limits.GiveUp = tt.all
				c.Agents[0].Limits = &plan.Limits{GiveUp: tt.agent}
			})
			attempts, dir := 0, t.TempDir()
			do(t, p, dir, false, opener(func(call int, seeds []uint64) error {
				if call == 1 {
					attempts++
				}
				if call < 3+attempts%4 {
					return nil
				}
				return tt.blame(attempts%len(seeds), fmt.Errorf("step %d: object at 0x%x is -%d.5e-3", call, seeds[0], attempts))
			}))
			got := statuses(t, dir)["one"]
			if want := map[result.Status]int{result.Failed: tt.failed, result.GivenUp: 200 - tt.failed}; got[result.Failed] != want[result.Failed] || got[result.GivenUp] != want[result.GivenUp] {
				t.Errorf("records are %v, want %v", got, want)
			}
			if attempts > tt.mostOpened {
				t.Errorf("%d attempts, want at most %d", attempts, tt.mostOpened)
			}
			do(t, p, dir, true, opener(nil))
			if got := statuses(t, dir)["one"]; got[result.OK] != 200 {
				t.Errorf("after resuming, records are %v, want 200 ok", got)
			}
		})
	}
}

// The text says why, once in a summary.
func TestGiveUpIsToldOnce(t *testing.T) {
	p := plantest.Compile(t, func(c *plan.Config) { c.Runs, c.Workers, c.Agents = 100, 3, c.Agents[:1] })
	dir := t.TempDir()
	do(t, p, dir, false, opener(func(int, []uint64) error { return errors.New("out of cheese\n\tsaid process 4711") }))
	summary := must.Get(result.Aggregate(p.Meta(), result.ReadRecords(dir)))(t)
	count, given := summary.Counts[0], 0
	for _, f := range summary.Failures {
		if strings.HasPrefix(f.Error, "given up after 5 runs failed alike: environment, call ") && strings.HasSuffix(f.Error, "out of cheese") {
			given++
		}
	}
	// Two other workers may be in the middle of a run when the fifth fails.
	if given != 1 || count.Failed != 100 || count.GivenUp < 93 || len(summary.Failures) != count.Failed-count.GivenUp+1 {
		t.Errorf("counts %+v, %d failures, %d of them of runs given up", count, len(summary.Failures), given)
	}
}

// If some runs fail, and others end well, all of the others are made, however many
// fail together in one batch.
func TestSomeFailuresAreNotGivenUp(t *testing.T) {
	want := do(t, plantest.Compile(t, func(c *plan.Config) { c.Runs = 120 }), t.TempDir(), false, opener(nil))
	source := seed.NewSource(1, "test/coin@1")
	bad := map[uint64]bool{}
	for run := range 120 {
		bad[source.Seed(run, seed.Environment, 0)] = run%3 == 0
	}
	got := do(t, plantest.Compile(t, func(c *plan.Config) { c.Runs, c.Lanes, c.Workers = 120, 60, 1 }), t.TempDir(), false, opener(func(call int, seeds []uint64) error {
		if lane := slices.IndexFunc(seeds, func(s uint64) bool { return bad[s] }); call > 5 && lane >= 0 {
			return &vector.LaneError{Lane: lane, Err: errors.New("it hurts")}
		}
		return nil
	}))
	for key, rec := range want {
		if (key.Run%3 != 0) != (got[key] == rec) {
			t.Errorf("%v: %s", key, got[key])
		}
	}
}

// Errors of different kinds do not add up.
func TestUnlikeFailuresAreNotGivenUp(t *testing.T) {
	p := plantest.Compile(t, func(c *plan.Config) { c.Runs, c.Workers, c.Lanes, c.Agents = 20, 1, 1, c.Agents[:1] })
	dir, attempts := t.TempDir(), 0
	do(t, p, dir, false, opener(func(int, []uint64) error {
		attempts++
		return errors.New(strings.Repeat("a", attempts))
	}))
	if got := statuses(t, dir)["one"]; got[result.Failed] != 20 {
		t.Errorf("records are %v, want 20 failed", got)
	}
}

// An agent that cannot be opened fails in another stage than an environment.
func TestLikeness(t *testing.T) {
	for _, pair := range [][2]string{
		{"environment, call 3: plugin a: lane 7: no answer within 30s", "environment, call 12: plugin a: lane 0: no answer within 30s"},
		{"reward is 1.5, above 1", "reward is -2.25e-07, above 1"},
		{"object at 0xdeadbeef9", "object at 0x1"},
		{"a\n\ttrace of process 1", "a\n\tanother trace"},
	} {
		if likeness(pair[0]) != likeness(pair[1]) {
			t.Errorf("%q and %q are not alike: %q, %q", pair[0], pair[1], likeness(pair[0]), likeness(pair[1]))
		}
	}
	for _, pair := range [][2]string{
		{"environment, call 3: out", "agent, call 3: out"},
		{`agent "a": no answer`, "agent, call 3: no answer"},
		{"plugin a: died", "plugin b: died"},
	} {
		if likeness(pair[0]) == likeness(pair[1]) {
			t.Errorf("%q and %q are alike: %q", pair[0], pair[1], likeness(pair[0]))
		}
	}
}

// A cell that is given up does not take other cells with it.
func TestGiveUpIsOfOneCell(t *testing.T) {
	want := do(t, plantest.Compile(t, nil), t.TempDir(), false, opener(nil))
	sound := opener(nil)
	dir := t.TempDir()
	got := do(t, plantest.Compile(t, func(c *plan.Config) { c.Agents[0].Args = []string{"broken"} }), dir, false, func(ctx context.Context, c plan.Component) (vector.Plugin, func() error, error) {
		if len(c.Args) > 0 {
			return nil, nil, errors.New("does not start")
		}
		return sound(ctx, c)
	})
	maps.DeleteFunc(got, func(k result.Key, _ string) bool { return k.Agent == "one" })
	maps.DeleteFunc(want, func(k result.Key, _ string) bool { return k.Agent == "one" })
	if !maps.Equal(got, want) {
		t.Error("records of the other agent differ")
	}
	if n := statuses(t, dir)["one"]; n[result.OK] > 0 || n[result.GivenUp] == 0 {
		t.Errorf("records of the broken agent are %v", n)
	}
}
