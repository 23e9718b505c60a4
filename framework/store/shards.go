package store

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/rlrun/rlrun/framework/plan"
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

// Report writes the status of a shard.
func (d Dir) Report(s *ShardStatus) error {
	return d.writeJSON(shardsDir+"/"+shardFile(plan.Shard{Index: s.Shard, Of: s.Of}, ".json"), s)
}

// Shards reads the status of all shards, in the order of their numbers. It
// returns none if there are no shards. A status that cannot be read at the moment is
// left out.
func (d Dir) Shards() (list []ShardStatus, err error) {
	names, err := fs.Glob(os.DirFS(d.path(shardsDir)), "*.json")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		var s ShardStatus
		if _, err := d.readJSON(shardsDir+"/"+name, &s, ""); err == nil && s.Of > 0 && s.Of <= plan.MostShards {
			// A run that is not finished changes the live file alone.
			if live, err := os.Stat(d.path(liveDir + "/" + name)); err == nil && live.ModTime().After(s.Updated) {
				s.Updated = live.ModTime().UTC()
			}
			list = append(list, s)
		}
	}
	return list, nil
}

// ShardRuns counts the runs of a shard by what their records say.
type ShardRuns struct {
	plan.Shard
	Runs, OK, Failed int // all runs of the shard; with an ok record; with a failed one
}

// Missing is the number of runs without a record.
func (s ShardRuns) Missing() int { return s.Runs - s.OK - s.Failed }

// Division is the number of shards into which the experiment is divided. It was set
// when the experiment began, or by shards that continue an experiment that began as a
// whole. It is 0 if there were no shards, or several numbers of them.
func (d Dir) Division() (int, error) {
	prov, err := d.Provenance()
	if err == nil && (prov.Shards < 0 || prov.Shards > plan.MostShards) {
		err = fmt.Errorf("%s: there cannot be %d shards", d.path(ProvenanceFile), prov.Shards)
	}
	if err != nil || prov.Shards > 0 {
		return prov.Shards, err
	}
	reported, err := d.Shards()
	if err != nil || len(reported) == 0 {
		return 0, err
	}
	of := reported[0].Of
	if slices.ContainsFunc(reported, func(s ShardStatus) bool { return s.Of != of }) {
		return 0, nil
	}
	return of, nil
}

// CountShards counts the runs of the experiment's shards by the records; with
// until: decided, the runs of the present stage.
func (d Dir) CountShards(p *plan.Plan, of int, entries []result.Entry) ([]ShardRuns, error) {
	first := p.FirstNumbers()
	list := make([]ShardRuns, of)
	for i := range list {
		list[i].Shard = plan.Shard{Index: i, Of: of}
		var err error
		if list[i].Runs, err = d.ShardSize(p, list[i].Shard); err != nil {
			return nil, err
		}
	}
	stage, err := d.StageRuns(p)
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

// ShardSize is the number of runs of a shard: of the present stage, if the experiment
// has until: decided.
func (d Dir) ShardSize(p *plan.Plan, s plan.Shard) (n int, err error) {
	stage, err := d.StageRuns(p)
	if err != nil {
		return 0, err
	}
	for i, c := range p.Cells {
		n += len(s.Runs(i*p.Config.Runs, 0, stage(p.Key(c))-1))
	}
	return n, nil
}
