package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/rlrun/rlrun/framework/internal/disk"
	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/internal/inputfile"
)

// Checkpoints are those of the runs of a cell. A run has a directory, and a checkpoint is a file there, STEP.checkpoint:
// the line checkpointMagic, a line that identifies experiment and programs, a loop.Checkpoint in encoding/gob, and the
// SHA-256 of all of these.
type Checkpoints struct {
	dir  Dir
	name string // of the directories of runs, without the number
	of   string // identifies experiment and programs
	keep int
}

const (
	checkpointsDir  = "checkpoints"
	checkpointExt   = ".checkpoint"
	checkpointMagic = "rlrun checkpoint 1\n"
)

// Checkpoints returns those of a cell, whose identity is given.
func (d Dir) Checkpoints(p *plan.Plan, session *Session, c plan.Cell, identity string) *Checkpoints {
	keep := 0
	if k := p.Config.Checkpoint; k != nil {
		keep = k.Keep
	}
	return &Checkpoints{d, fmt.Sprintf("%s/%s.%s.", checkpointsDir, plan.Slugs(p.Environments)[c.Environment], plan.Slugs(p.Agents)[c.Agent]),
		plan.ShortDigest(identity, session.programs(p, c)), keep}
}

func (k *Checkpoints) run(run int) string { return k.name + strconv.Itoa(run) }

// Write writes a checkpoint of a run. It removes those that are too old, and those after its step, from which the run did not go on.
func (k *Checkpoints) Write(run int, c *loop.Checkpoint) error {
	b := bytes.NewBufferString(checkpointMagic + k.of + "\n")
	if err := gob.NewEncoder(b).Encode(c); err != nil {
		return err
	}
	sum := sha256.Sum256(b.Bytes())
	b.Write(sum[:])
	name := fmt.Sprintf("%s/%d%s", k.run(run), c.Step, checkpointExt)
	err := k.dir.write(name, b.Bytes())
	if disk.Full(err) && k.dir.dropOldCheckpoints() {
		err = k.dir.write(name, b.Bytes())
	}
	if err != nil {
		return err
	}
	steps, err := k.steps(run)
	now := max(0, slices.Index(steps, c.Step))
	for i, step := range steps {
		if i < now || i >= now+k.keep {
			err = errors.Join(err, k.dir.fileSystem().Remove(k.file(run, step)))
		}
	}
	return err
}

// dropOldCheckpoints makes room on a full disk: it removes all checkpoints but the last of each run, and tells whether there
// were any.
func (d Dir) dropOldCheckpoints() (dropped bool) {
	runs, _ := os.ReadDir(d.path(checkpointsDir))
	for _, r := range runs {
		name := checkpointsDir + "/" + r.Name()
		steps, _ := d.checkpointSteps(name)
		for _, step := range steps[min(1, len(steps)):] {
			dropped = d.fileSystem().Remove(d.path(fmt.Sprintf("%s/%d%s", name, step, checkpointExt))) == nil || dropped
		}
	}
	return dropped
}

func (k *Checkpoints) file(run, step int) string {
	return k.dir.path(fmt.Sprintf("%s/%d%s", k.run(run), step, checkpointExt))
}

func (k *Checkpoints) steps(run int) ([]int, error) { return k.dir.checkpointSteps(k.run(run)) }

// Has tells whether a run has a checkpoint, of whatever program.
func (k *Checkpoints) Has(run int) bool {
	steps, _ := k.steps(run)
	return len(steps) > 0
}

// checkpointSteps lists the checkpoints of a run, whose directory is named, the last first.
func (d Dir) checkpointSteps(name string) (steps []int, err error) {
	entries, err := os.ReadDir(d.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), checkpointExt)
		if step, err := strconv.Atoi(name); ok && err == nil && e.Type().IsRegular() {
			steps = append(steps, step)
		}
	}
	slices.Sort(steps)
	slices.Reverse(steps)
	return steps, err
}

// Read returns the last checkpoint of a run that is whole and of this experiment and these programs; nil if there is none. err
// says why later ones are none.
func (k *Checkpoints) Read(run int) (c *loop.Checkpoint, err error) {
	steps, err := k.steps(run)
	for _, step := range steps {
		path := k.file(run, step)
		data, e := readCheckpoint(path)
		if e == nil {
			rest, ours := bytes.CutPrefix(data, []byte(checkpointMagic+k.of+"\n"))
			c = &loop.Checkpoint{}
			if !ours {
				e = errors.New("is of other programs, another config or another version")
			} else if e = gob.NewDecoder(bytes.NewReader(rest)).Decode(c); e == nil {
				return c, err
			}
		}
		err = errors.Join(err, fmt.Errorf("%s %w", path, inputfile.Cause(e)))
	}
	return nil, err
}

// mostCheckpoint is the largest checkpoint that is read, in bytes: an agent and the actions of its run.
const mostCheckpoint = 4 * inputfile.GiB

// readCheckpoint returns what the checksum of a file is of.
func readCheckpoint(path string) ([]byte, error) {
	data, err := inputfile.Read(path, mostCheckpoint)
	end := len(data) - sha256.Size
	if err == nil && (end < 0 || sha256.Sum256(data[:end]) != [sha256.Size]byte(data[end:])) {
		err = errors.New("is damaged")
	}
	if err != nil {
		return nil, err
	}
	return data[:end], nil
}

// UnderWay returns how many runs have checkpoints.
func (d Dir) UnderWay() int {
	runs, _ := os.ReadDir(d.path(checkpointsDir)) // for people
	return len(runs)
}

// Remove removes the checkpoints of a run.
func (k *Checkpoints) Remove(run int) error {
	dir, fsys := k.dir.path(k.run(run)), k.dir.fileSystem()
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		err = errors.Join(err, fsys.Remove(dir+string(os.PathSeparator)+e.Name()))
	}
	err = errors.Join(err, fsys.Remove(dir))
	_ = fsys.Remove(k.dir.path(checkpointsDir)) // which holds those of other runs, perhaps
	return err
}
