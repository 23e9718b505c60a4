// Package store is the output directory of an experiment: who may write there, what it holds,
// and whether more runs may join it. It writes and reads the config, the provenance, records,
// saved agents, and what shards and live runs say of themselves.
package store

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/rlrun/rlrun/framework/internal/disk"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/internal/inputfile"
)

// Dir is the output directory of an experiment.
type Dir struct {
	Path string
	// Disk is the file system that is written to; nil: the operating system's. A test
	// records what is done.
	Disk disk.FS
}

// Names inside an output directory. Those of records are package result's.
const (
	ConfigFile     = "experiment.yaml"
	ProvenanceFile = "provenance.json"
	tasksFile      = "environments.json" // what is known of the environments
	metricsFile    = "metrics.json"      // which metrics plugins declared
	lockFile       = ".rlrun.lock"       // is there while somebody writes to the directory
	provenanceDir  = "provenance"        // of shards
	loadedDir      = provenanceDir + "/loaded"
	shardsDir      = ".shards"
	stageFile      = shardsDir + "/stage"
	liveDir        = ".live"
	agentsDir      = "agents"
	programsDir    = "programs" // classes of notebooks, which Python's rlrun.run writes
)

// shardFile names a file of a shard.
func shardFile(s plan.Shard, ext string) string { return fmt.Sprintf("%d-of-%d%s", s.Index, s.Of, ext) }

func (d Dir) path(name string) string { return filepath.Join(d.Path, filepath.FromSlash(name)) }

func (d Dir) fileSystem() disk.FS {
	if d.Disk == nil {
		return disk.OS{}
	}
	return d.Disk
}

// write writes a file of a name, and makes its directory if need be.
func (d Dir) write(name string, data []byte) error {
	path := d.path(name)
	if err := disk.MkdirAll(d.fileSystem(), filepath.Dir(path)); err != nil {
		return err
	}
	return disk.WriteFile(d.fileSystem(), path, func(w io.Writer) error { _, err := w.Write(data); return err })
}

// writeJSON writes a value as JSON that people can read.
func (d Dir) writeJSON(name string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return d.write(name, append(text, '\n'))
}

// againBy is readJSON's advice for files that every run of an experiment writes anew.
const againBy = "; remove it, and --resume writes it again"

// readJSON reads a file that writeJSON wrote. If there is none, v stays as it is. advice
// says what to do about a file that is no such JSON.
func (d Dir) readJSON(name string, v any, advice string) (found bool, err error) {
	data, err := inputfile.Read(d.path(name), result.MaxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return false, fmt.Errorf("%s: %w%s", d.path(name), inWords(err), advice)
	}
	return true, nil
}

// inWords replaces the text of an error that is of Go's types.
func inWords(err error) error {
	other, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return err
	}
	is := map[string]string{"string": "text", "number": "a number", "array": "a list", "object": "a mapping", "bool": "true or false"}[other.Value]
	return fmt.Errorf("it is not as rlrun writes it: %s is %s", cmp.Or(other.Field, "all of it"), cmp.Or(is, other.Value))
}

// Text reads a text file of the directory; it is empty if there is none.
func (d Dir) Text(name string) (string, error) {
	data, err := inputfile.Read(d.path(name), result.MaxFile)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return string(data), err
}

// lateFile is how long a file that another machine has made may be invisible or empty
// on a network file system.
const lateFile = 10 * time.Second

// writeOnce writes a file unless there is one, and returns when it can be read.
func (d Dir) writeOnce(name string, data []byte) error {
	if _, err := os.Lstat(d.path(name)); err == nil {
		return d.await(name)
	}
	if err := disk.MkdirAll(d.fileSystem(), filepath.Dir(d.path(name))); err != nil {
		return err
	}
	err := disk.WriteOnce(d.fileSystem(), d.path(name), func(w io.Writer) error { _, err := w.Write(data); return err })
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return d.await(name)
}

// await returns when a file that another machine may have written can be read.
func (d Dir) await(name string) error {
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		info, err := os.Stat(d.path(name))
		if err == nil && info.Size() > 0 {
			return nil
		}
		if time.Since(began) > lateFile {
			if err == nil {
				err = errors.New("is empty; remove it and start the shard again")
			}
			return fmt.Errorf("%s: %w", d.path(name), err)
		}
	}
}

// ReadConfig reads a config that rlrun wrote, as the one of an output directory.
func ReadConfig(path string) (c plan.Config, err error) {
	data, err := inputfile.Read(path, result.MaxFile)
	if err != nil {
		return c, err
	}
	if c, err = plan.ParseConfig(data); err != nil {
		return c, fmt.Errorf("%s: %w; restore it, it is the config as it was run", path, inWords(err))
	}
	return c, nil
}
