package experiment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/rlrun/rlrun/framework/internal/disk"
	"github.com/rlrun/rlrun/framework/result"
)

// scratch is a directory of this machine that takes a shard's records. They are moved to
// the output directory now and then.
type scratch struct {
	plan       *Plan
	shard      Shard
	dir        string
	target     string // the output directory
	every      time.Duration
	quit       chan struct{}
	background sync.WaitGroup
}

// ErrScratch says that the scratch directory cannot be used, or records are still in it.
var ErrScratch = errors.New("scratch directory")

// newScratch makes the directory of a shard, which is the same whenever the shard is done
// on this machine.
func newScratch(s *Sharded, x *Experiment, session *Session) (*scratch, error) {
	target, err := filepath.Abs(x.Dir)
	if err != nil {
		return nil, err
	}
	name := "rlrun-" + shortDigest(target, session.ConfigSHA256, session.Program, session.Plugins) + "-" + s.Shard.file("")
	c := &scratch{plan: x.Plan, shard: s.Shard, dir: filepath.Join(s.Scratch, name), target: target, every: s.CopyEvery, quit: make(chan struct{})}
	if c.every == 0 {
		c.every = 30 * time.Second
	}
	if err := os.MkdirAll(c.dir, 0o777); err != nil {
		return nil, fmt.Errorf("%w %s: %w; choose another with --scratch", ErrScratch, c.dir, disk.Cause(err))
	}
	return c, nil
}

// recover moves what a killed process left, and adds it to what is done.
func (c *scratch) recover(ctx context.Context, done Done) (Done, error) {
	left, err := result.RecordFiles(c.dir)
	if err == nil {
		err = c.move()
	}
	if err != nil || len(left) == 0 {
		return done, err
	}
	runs, err := c.plan.recorded(ctx, c.target, c.shard)
	if err != nil {
		return nil, err
	}
	for _, e := range runs.Entries {
		done[e.Key] = e.Status == result.OK
	}
	return done, nil
}

// start moves records every now and then.
func (c *scratch) start() {
	c.background.Go(func() {
		tick := time.NewTicker(c.every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				_ = c.move() // tried again; in the end the error counts
			case <-c.quit:
				return
			}
		}
	})
}

// stop moves the last records. It returns err, or says where records are left.
func (c *scratch) stop(err error) error {
	close(c.quit)
	c.background.Wait()
	if moveErr := c.move(); moveErr != nil {
		return fmt.Errorf("%w: records are left in the %w %s: start the shard again on this machine, or copy its runs/*.jsonl to %s", moveErr, ErrScratch, c.dir, filepath.Join(c.target, "runs"))
	}
	_ = os.RemoveAll(c.dir) // it is empty
	return err
}

// move moves finished files of records to the output directory, those of an environment and
// agent in one.
func (c *scratch) move() error {
	files, err := result.RecordFiles(c.dir)
	if err != nil {
		return err
	}
	for len(files) > 0 {
		n := 1
		first, ok := result.OriginOf(files[0])
		for ok && n < len(files) {
			next, _ := result.OriginOf(files[n])
			if next.Environment != first.Environment || next.Agent != first.Agent || next.Programs != first.Programs {
				break
			}
			first.First, first.Last = min(first.First, next.First), max(first.Last, next.Last)
			n++
		}
		name := filepath.Base(files[0])
		if n > 1 {
			name = result.RecordsName(first) + filepath.Ext(name)
		}
		if err := c.moveInto(name, files[:n]); err != nil {
			return err
		}
		files = files[n:]
	}
	return nil
}

// moveInto moves files into one of a name.
func (c *scratch) moveInto(name string, files []string) error {
	directory := filepath.Join(c.target, "runs")
	if err := disk.MkdirAll(c.plan.fileSystem(), directory); err != nil {
		return err
	}
	err := disk.Publish(c.plan.fileSystem(), filepath.Join(directory, name), func(w io.Writer) error {
		for _, path := range files {
			f, err := os.Open(path)
			if err != nil {
				return err
			}
			_, err = io.Copy(w, f)
			if err := errors.Join(err, f.Close()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, path := range files {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return nil
}
