package run

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/rlrun/rlrun/framework/internal/plantest"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/store"
	"github.com/rlrun/rlrun/internal/must"
)

// The live state of a run is the beginning of its record. It is gone when the run has
// ended.
func TestLive(t *testing.T) {
	dir := t.TempDir()
	p := plantest.Compile(t, func(c *plan.Config) {
		c.Runs, c.Steps, c.Lanes, c.Workers = 3, 4000, 3, 1
		c.Record = plan.Recording{Points: 40, Metrics: []result.Metric{result.Reward}}
	})
	done := must.Get(prepare(t, p, dir, false, store.Session{}))(t)
	var view *liveView
	o := runOptions{Dir: dir, Open: opener(nil), Done: done, live: func(v *liveView) { view, v.every, v.next = v, 1, time.Time{} }}
	seen := map[string][]result.LiveCell{}
	o.Event = func(Event) {
		for _, l := range (store.Dir{Path: dir}).ReadLive(time.Now()) {
			for _, c := range l.Cells {
				seen[c.Agent] = append(seen[c.Agent], c)
			}
		}
		if len((store.Dir{Path: dir}).ReadLive(time.Now().Add(time.Hour))) > 0 {
			t.Error("an old file counts")
		}
	}
	must.Do(t, runPlan(t.Context(), p, o))
	s := must.Get(result.Aggregate(p.Meta(), result.ReadRecords(dir)))(t)
	partial := 0
	for agent, cells := range seen {
		for _, c := range cells {
			if c.Environment != "coin" || c.Runs != 3 || c.Steps <= 0 || c.Steps > 3*4000 {
				t.Errorf("%+v", c)
			}
			for _, curve := range c.Curves {
				want := s.Curve("coin", agent, curve.Metric)
				for i, x := range curve.Mean {
					if curve.Runs[i] == 3 && math.Abs(x-want.Mean[i]) > 1e-9*math.Abs(x) {
						t.Errorf("%s of %s at %d: %g, in the end %g", curve.Metric, agent, i, x, want.Mean[i])
					}
				}
				if 0 < len(curve.Mean) && len(curve.Mean) < 40 && curve.Metric == result.CumulativeReward {
					partial++
				}
			}
		}
	}
	if len(seen) != 2 || partial == 0 {
		t.Errorf("of %d agents, %d partial curves", len(seen), partial)
	}
	view.close()
	if _, err := os.Stat(filepath.Join(dir, ".live")); !os.IsNotExist(err) {
		t.Errorf("left behind: %v", err)
	}
}

// Records of unfinished runs are the beginning of those in the end, also of evaluations, which lanes make together.
func TestWatch(t *testing.T) {
	dir := t.TempDir()
	p := plantest.Compile(t, func(c *plan.Config) {
		c.Runs, c.Steps, c.Lanes, c.Workers = 3, 4000, 3, 1
		c.Record.Points = 40
		c.Evaluate = &plan.Evaluation{Every: 130, Steps: 5}
	})
	done := must.Get(prepare(t, p, dir, false, store.Session{}))(t)
	last := map[result.Key]result.Record{}
	unfinished := 0
	o := runOptions{Dir: dir, Open: opener(nil), Done: done, live: func(v *liveView) {
		v.every, v.next = 1, time.Time{}
		v.watch = func(runs []result.Record) {
			for _, r := range runs {
				before, ended := last[r.Key()], r.Steps == 4000
				for m, curve := range r.Curves {
					if b := before.Curves[m]; len(b) > len(curve) || !slices.EqualFunc(b, curve[:len(b)], same) {
						t.Fatalf("%s: %v, then %v", m, b, curve)
					}
					r.Curves[m] = slices.Clone(curve)
					if n := len(curve); n < 40 && !ended {
						unfinished++
					}
				}
				last[r.Key()] = r
			}
		}
	}}
	must.Do(t, runPlan(t.Context(), p, o))
	for r, err := range result.ReadRecords(dir) {
		must.Do(t, err)
		got := last[r.Key()]
		got.Experiment = r.Experiment
		if string(got.AppendJSON(nil)) != string(r.AppendJSON(nil)) {
			t.Errorf("%v: another record in the end", r.Key())
		}
	}
	if unfinished == 0 {
		t.Error("no unfinished run was seen")
	}
}

// same says whether two values are equal, or both unknown.
func same(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
