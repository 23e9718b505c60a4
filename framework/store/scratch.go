package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/rlrun/rlrun/framework/internal/disk"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
)

// Scratch is a directory of this machine that takes a shard's records. They are moved to
// the output directory now and then.
type Scratch struct {
	Dir        // takes the records
	plan       *plan.Plan
	shard      plan.Shard
	target     Dir // the output directory
	quit       chan struct{}
	background sync.WaitGroup
}

// ErrScratch says that the scratch directory cannot be used, or records are still in it.
var ErrScratch = errors.New("scratch directory")

// NewScratch makes the scratch directory of a shard in root, which is the same whenever the
// shard is done on this machine.
func (d Dir) NewScratch(p *plan.Plan, s plan.Shard, root string, session *Session) (*Scratch, error) {
	target, err := filepath.Abs(d.Path)
	if err != nil {
		return nil, err
	}
	name := "rlrun-" + plan.ShortDigest(target, session.ConfigSHA256, session.Program, session.Plugins) + "-" + shardFile(s, "")
	c := &Scratch{Dir: Dir{Path: filepath.Join(root, name)}, plan: p, shard: s, target: Dir{target, d.Disk}, quit: make(chan struct{})}
	if err := os.MkdirAll(c.Path, 0o777); err != nil {
		return nil, fmt.Errorf("%w %s: %w; choose another with --scratch", ErrScratch, c.Path, disk.Cause(err))
	}
	return c, nil
}

// Recover moves what a killed process left, and adds it to what is done.
func (c *Scratch) Recover(ctx context.Context, done Done) (Done, error) {
	left, err := result.RecordFiles(c.Path)
	if err == nil {
		err = c.move()
	}
	if err != nil || len(left) == 0 {
		return done, err
	}
	runs, err := c.target.shardRecords(ctx, c.plan, c.shard)
	if err != nil {
		return nil, err
	}
	maps.Copy(done, newDone(runs))
	return done, nil
}

// moveEvery is the time between two moves.
const moveEvery = 30 * time.Second

// Start moves records every now and then.
func (c *Scratch) Start() {
	c.background.Go(func() {
		tick := time.NewTicker(moveEvery)
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

// Stop moves the last records. It returns err, or says where records are left.
func (c *Scratch) Stop(err error) error {
	close(c.quit)
	c.background.Wait()
	if moveErr := c.move(); moveErr != nil {
		return fmt.Errorf("%w: records are left in the %w %s: start the shard again on this machine, or copy its runs/*.jsonl to %s", moveErr, ErrScratch, c.Path, c.target.path("runs"))
	}
	_ = os.RemoveAll(c.Path) // it is empty
	return err
}

// move moves finished files of records to the output directory, those of an environment and
// agent in one.
func (c *Scratch) move() error {
	files, err := result.RecordFiles(c.Path)
	if err != nil {
		return err
	}
	for len(files) > 0 {
		n := 1
		first, ok := result.ParseRecordsName(files[0])
		for ok && n < len(files) {
			next, _ := result.ParseRecordsName(files[n])
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
		if err := c.target.take(name, files[:n]); err != nil {
			return err
		}
		files = files[n:]
	}
	return nil
}

// take moves files of records into one of a name in the directory.
func (d Dir) take(name string, files []string) error {
	directory := d.path("runs")
	if err := disk.MkdirAll(d.fileSystem(), directory); err != nil {
		return err
	}
	err := disk.Publish(d.fileSystem(), filepath.Join(directory, name), func(w io.Writer) error {
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
