package experiment

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/rlrun/rlrun/framework/result"
)

// The states of a shard, as it reported them last.
const (
	ShardRunning = "running"
	ShardStopped = "stopped" // before its last run
	ShardDone    = "done"
)

// ShardStatus says how far a shard is. It is the content of .shards/I-of-N.json, which is
// only for people: the records decide which runs are done.
type ShardStatus struct {
	Shard          int       `json:"shard"`                  // number, from 0
	Of             int       `json:"of"`                     // number of shards
	State          string    `json:"state"`                  // running, stopped or done
	Runs           int       `json:"runs"`                   // of the shard
	OK             int       `json:"ok"`                     // runs with an ok record
	Failed         int       `json:"failed"`                 // runs with a failed record
	Reused         int       `json:"reused"`                 // of OK, found when the process began
	StepsPerSecond float64   `json:"steps_per_second"`       // since the process began
	Seconds        float64   `json:"seconds"`                // since the process began
	SecondsLeft    float64   `json:"seconds_left,omitempty"` // at the rate until now
	Updated        time.Time `json:"updated"`                // by the clock of Host
	Host           string    `json:"host"`                   // name of the machine
	Job            string    `json:"job,omitempty"`          // identifier of the scheduler's job
	Process        int       `json:"process"`                // process number on Host
}

// Left is the number of runs without a record.
func (s *ShardStatus) Left() int { return s.Runs - s.OK - s.Failed }

// shardRun keeps account of a shard that is being done.
type shardRun struct {
	s *Sharded
	x *Experiment

	mu     sync.Mutex
	status ShardStatus
	steps  int64
	began  time.Time
}

func newShardRun(s *Sharded, x *Experiment) *shardRun {
	host, _ := os.Hostname() // for people
	return &shardRun{s: s, x: x, began: time.Now(), status: ShardStatus{
		Shard: s.Shard.Index, Of: s.Shard.Of, Host: host, Job: s.Job, Process: os.Getpid(),
	}}
}

// found counts the runs of the shard, and those that are done already. It returns the
// runs that are not to be made. Where a test stops the experiment, these include runs of
// later stages and runs that failed, as the test may have looked at them.
func (r *shardRun) found(done Done) (Done, error) {
	p := r.x.Plan
	stage, err := p.stageRuns(r.x.Dir)
	if err != nil {
		return nil, err
	}
	staged := p.Sequential() != nil
	skip := Done{}
	for i, c := range p.Cells() {
		key := p.key(c)
		n := stage(key)
		for _, key.Run = range r.s.Shard.runs(i*p.Config.Runs, 0, p.Config.Runs-1) {
			ok, recorded := done[key]
			skip[key] = ok || staged && (recorded || key.Run >= n)
			switch {
			case key.Run >= n:
				continue
			case ok:
				r.status.Reused++
			case recorded && staged:
				r.status.Failed++
			}
			r.status.Runs++
		}
	}
	r.status.OK = r.status.Reused
	return skip, nil
}

func (r *shardRun) event(e Event) {
	r.mu.Lock()
	r.steps += int64(e.Interactions)
	r.mu.Unlock()
	if r.s.Event != nil {
		r.s.Event(e)
	}
}

// recorded counts records that are on disk.
func (r *shardRun) recorded(recs []result.Record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range recs {
		if recs[i].Status == result.OK {
			r.status.OK++
		} else {
			r.status.Failed++
		}
	}
	_ = r.write(ShardRunning) // for people: records alone count
	return nil
}

// write writes the shard's status.
func (r *shardRun) write(state string) error {
	s := &r.status
	s.State, s.Updated, s.Seconds = state, time.Now().UTC(), time.Since(r.began).Seconds()
	s.StepsPerSecond = float64(r.steps) / max(s.Seconds, 1e-3)
	s.SecondsLeft = 0
	if left := int64(s.Runs-s.Reused)*int64(r.x.Plan.Config.Steps) - r.steps; left > 0 && r.steps > 0 {
		s.SecondsLeft = s.Seconds * float64(left) / float64(r.steps)
	}
	if r.s.Status != nil {
		*r.s.Status = *s
	}
	return r.x.Plan.writeJSON(filepath.Join(r.x.Dir, shardsDir, r.s.Shard.file(".json")), s)
}

// end writes the last status and returns err, the reason why runs are left.
func (r *shardRun) end(err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.status.Left() == 0 && !errors.Is(err, ErrScratch) {
		_ = r.write(ShardDone)
		return nil
	}
	_ = r.write(ShardStopped)
	return err
}

// ReadShards reads the status of all shards, in the order of their numbers. It
// returns none if there are no shards. A status that cannot be read at the moment is
// left out.
func ReadShards(dir string) (list []ShardStatus, err error) {
	names, err := fs.Glob(os.DirFS(filepath.Join(dir, shardsDir)), "*.json")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		var s ShardStatus
		if err := readJSON(filepath.Join(dir, shardsDir, name), &s, ""); err == nil && s.Of > 0 {
			// A run that is not finished changes the live file alone.
			if live, err := os.Stat(filepath.Join(dir, liveDir, name)); err == nil && live.ModTime().After(s.Updated) {
				s.Updated = live.ModTime().UTC()
			}
			list = append(list, s)
		}
	}
	return list, nil
}

// ShardRuns counts the runs of a shard by what their records say.
type ShardRuns struct {
	Shard
	Runs, OK, Failed int // all runs of the shard; with an ok record; with a failed one
}

// Missing is the number of runs without a record.
func (s ShardRuns) Missing() int { return s.Runs - s.OK - s.Failed }

// Division is the number of shards into which the experiment in dir is divided. It was set
// when the experiment began, or by shards that continue an experiment that began as a
// whole. It is 0 if there were no shards, or several numbers of them.
func (p *Plan) Division(dir string) (int, error) {
	prov, err := ReadProvenance(dir)
	if err != nil || prov.Shards > 0 {
		return prov.Shards, err
	}
	reported, err := ReadShards(dir)
	if err != nil || len(reported) == 0 {
		return 0, err
	}
	of := reported[0].Of
	if slices.ContainsFunc(reported, func(s ShardStatus) bool { return s.Of != of }) {
		return 0, nil
	}
	return of, nil
}

// CountShards counts the runs of the experiment's shards by the records in dir; with
// until: decided, the runs of the present stage.
func (p *Plan) CountShards(dir string, of int, entries []result.Entry) ([]ShardRuns, error) {
	first := p.firstNumbers()
	list := make([]ShardRuns, of)
	for i := range list {
		list[i].Shard = Shard{i, of}
		var err error
		if list[i].Runs, err = list[i].Shard.Size(p, dir); err != nil {
			return nil, err
		}
	}
	stage, err := p.stageRuns(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		n, ok := first[result.Key{Environment: e.Environment, Agent: e.Agent}]
		if !ok || of == 0 || e.Run >= stage(e.Key) {
			continue
		}
		if s := &list[(n+e.Run)%of]; e.Status == result.OK {
			s.OK++
		} else {
			s.Failed++
		}
	}
	return list, nil
}
