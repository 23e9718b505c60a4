package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/internal/plantest"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/internal/must"
)

// Whatever is in one of the files of an output directory besides records and agents, it is read
// or refused with an error that has a text.
func FuzzDirectory(f *testing.F) {
	path, err := os.MkdirTemp("/dev/shm", "fuzz") // in memory it is three times as fast
	if err != nil {
		path = f.TempDir()
	}
	f.Cleanup(func() { must.Do(f, os.RemoveAll(path)) })
	d := Dir{Path: path}
	p := plantest.Compile(f, func(c *plan.Config) { c.Compare = &plan.Compare{Until: "decided"} })
	e := &Experiment{Dir: d, Plan: p, Skipped: []result.Skipped{{Environment: "coin", Agent: "two", Reason: "x"}},
		Programs: []PluginProvenance{{Plugin: "coin", Args: []string{"a"}, ID: "a/b@1", Files: map[string]string{"a": "sha256:00"}, Sources: map[string]string{"b": "1"}}},
		Tasks:    map[string]result.Task{"coin": {Continuing: true, Gain: new(0.5)}},
		Declared: Declared{Agent: []framework.Metric{{Name: "x", Unit: "steps", Better: "higher"}}},
	}
	session := must.Get(e.NewSession([]string{"rlrun"}, time.Unix(0, 0), false))(f)
	must.Get(e.Begin(f.Context(), session, Refuse))(f)
	must.Do(f, e.Close())
	must.Get(d.Stage(p))(f)
	shard := plan.Shard{Index: 0, Of: 2}
	must.Do(f, d.Report(&ShardStatus{Shard: 0, Of: 2, State: ShardRunning, Runs: 3}))
	must.Do(f, d.writeJSON(provenanceDir+"/shard-"+shardFile(shard, ".json"), &Provenance{Session: *session, Shards: 2}))
	d.LiveFile(plan.Shard{}).Write(&result.Live{Cells: []result.LiveCell{{Environment: "coin", Agent: "one", Curves: []result.LiveCurve{{Metric: "reward", Runs: []int{1}, Mean: []float64{0.5}}}}}})
	must.Do(f, d.writeJSON(loadedDir+"/x.json", loaded{"coin", session.Plugins[0].Program, "module x", "sha256:00", session.Started}))
	var good [][]byte
	names := []string{ConfigFile, ProvenanceFile, tasksFile, metricsFile, stageFile, shardsDir + "/0-of-2.json", provenanceDir + "/shard-0-of-2.json", liveDir + "/run.json", loadedDir + "/x.json"}
	for i, name := range names {
		data := must.Get(os.ReadFile(d.path(name)))(f)
		f.Add(byte(i), data)
		f.Add(byte(i), []byte("{}"))
		good = append(good, data)
	}
	f.Add(byte(1), []byte(`{"started": "2026-01-01T00:00:00Z", "seed": 1, "shards": 9000000000000000000}`))
	f.Add(byte(5), []byte(`{"shard": -1, "of": 9000000000000000000}`))
	f.Fuzz(func(t *testing.T, kind byte, data []byte) {
		i := int(kind) % len(names)
		path := filepath.Join(d.Path, filepath.FromSlash(names[i]))
		must.Do(t, os.WriteFile(path, data, 0o600))
		defer func() { must.Do(t, os.WriteFile(path, good[i], 0o600)) }()
		told := func(err error) {
			if err != nil && strings.TrimSpace(err.Error()) == "" {
				t.Fatal("an error without a text")
			}
		}
		switch i {
		case 2, 3:
			e := Experiment{Dir: d, Plan: p}
			if err := e.Reload(); err != nil {
				told(err)
			} else {
				e.Meta()
			}
		case 4, 5:
			of, err := d.Division()
			told(err)
			if of <= 1000 { // its list is as long
				_, err = d.CountShards(p, of, nil)
				told(err)
			}
		case 6:
			_, err := d.allPrograms()
			told(err)
		case 7:
			d.ReadLive(time.Now())
		default:
			has, err := d.contents(t.Context(), p, plan.Shard{})
			told(err)
			if err == nil {
				_, err = has.accept(t.Context(), p, plan.Shard{}, session)
				told(err)
			}
			_, err = d.Read()
			told(err)
			_, err = d.Division()
			told(err)
		}
	})
}
