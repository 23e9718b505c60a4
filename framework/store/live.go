package store

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
)

// liveUntil is the age at which a live file counts as left behind.
const liveUntil = time.Minute

// ReadLive reads what processes are doing. Files that no process has written for a
// minute are left out, as are those that cannot be read at the moment.
func (d Dir) ReadLive(now time.Time) []result.Live {
	entries, _ := os.ReadDir(d.path(liveDir))
	var out []result.Live
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || filepath.Ext(e.Name()) != ".json" || now.Sub(info.ModTime()) > liveUntil {
			continue
		}
		var l result.Live
		if found, err := d.readJSON(liveDir+"/"+e.Name(), &l, ""); found && err == nil {
			out = append(out, l)
		}
	}
	return out
}

// LiveFile is the file in which a process says what it is doing. It is for people, so that
// an experiment goes on without it.
type LiveFile struct {
	dir  Dir
	name string
}

// LiveFile returns the file of this process, which makes the runs of a shard.
func (d Dir) LiveFile(s plan.Shard) LiveFile {
	if s.Of == 0 {
		return LiveFile{d, liveDir + "/run.json"}
	}
	return LiveFile{d, liveDir + "/" + shardFile(s, ".json")}
}

// Write replaces the content.
func (f LiveFile) Write(l *result.Live) {
	if text, err := json.Marshal(l); err == nil {
		_ = f.dir.write(f.name, text)
	}
}

// Remove removes the file.
func (f LiveFile) Remove() {
	_ = os.Remove(f.dir.path(f.name))
	_ = os.Remove(f.dir.path(liveDir)) // if no other process uses it
}
