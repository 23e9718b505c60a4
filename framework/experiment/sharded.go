package experiment

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/rlrun/rlrun/framework/internal/disk"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/internal/lockfile"
)

// Sharded executes one shard of an experiment. Processes on several machines may
// execute shards in one output directory at the same time, each several times if
// needed: a shard does the runs that have no ok record. It makes no outputs.
type Sharded struct {
	Shard   Shard     // the one to execute
	Command []string  // the command line, for the provenance
	Started time.Time // when it began
	Job     string    // of a scheduler
	// Mixed accepts runs of other programs, and another number of shards.
	Mixed bool
	// Scratch, if not empty, is a directory of this machine that takes the records first.
	// They are copied into the output directory every CopyEvery, and at the end.
	Scratch   string
	CopyEvery time.Duration // default: 30 s
	// Event is as in Local.
	Event func(Event)
	// Waiting, if not nil, is called with the holder of a lock that the shard needs.
	Waiting func(held error)
	// Status, if not nil, receives how far the shard is.
	Status *ShardStatus
}

// ErrShardInUse says that another process makes the runs of the shard.
var ErrShardInUse = errors.New("another process does this shard")

// ErrOtherShards says that the experiment is divided into another number of shards.
var ErrOtherShards = errors.New("divided into another number of shards")

// lockWait is how long a shard waits for a process that does it, which may be one
// that a scheduler is just ending.
const lockWait = 30 * time.Second

// Execute implements Executor. Errors of preparing the output directory are
// *OutputErrors.
func (s Sharded) Execute(ctx context.Context, x *Experiment) error {
	session, err := x.session(s.Command, s.Started, s.Mixed)
	if err != nil {
		return err
	}
	session.Job = s.Job
	session.Host, _ = os.Hostname() // for people
	if err := s.claim(ctx, x); err != nil {
		if context.Cause(ctx) != nil || errors.Is(err, ErrShardInUse) || errors.Is(err, ErrInUse) {
			return err
		}
		return &OutputError{x.Dir, err}
	}
	var scratch *scratch
	done, err := x.Plan.join(ctx, x.Dir, s.Shard, session)
	if err == nil && s.Scratch != "" {
		if scratch, err = newScratch(&s, x, &session); err == nil {
			done, err = scratch.recover(ctx, done)
		}
	}
	if err == nil {
		err = errors.Join(x.writeTasks(), x.writeDeclared())
	}
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return &OutputError{x.Dir, err}
	}
	r := newShardRun(&s, x)
	if done, err = r.found(done); err != nil {
		return &OutputError{x.Dir, err}
	}
	if len(x.Plan.jobs(done, s.Shard)) > 0 {
		if err := x.Plan.removeMade(x.Dir); err != nil {
			return &OutputError{x.Dir, err}
		}
	}
	if err := r.write(ShardRunning); err != nil {
		return &OutputError{x.Dir, err}
	}
	o := Options{Dir: x.Dir, Open: x.pool.open, Remote: x.remote, Lanes: x.preferredLanes, Done: done, Shard: s.Shard, Session: session,
		Recorded: r.recorded, Event: r.event, live: x.Plan.newLive(x.Dir, s.Shard.file(".json"))}
	defer o.live.close()
	if scratch != nil {
		o.Dir, o.Agents = scratch.dir, x.Dir
		scratch.start()
	}
	x.retainFirst(done, s.Shard)
	if s.Event != nil {
		s.Event(Event{Reused: r.status.Reused})
	}
	err = x.Plan.Run(ctx, o)
	if scratch != nil {
		err = scratch.stop(err)
	}
	return r.end(err)
}

// claim takes the locks of a shard: the lock of the output directory together with
// other shards, its own lock alone. On file systems without locks every process gets
// both: two processes that do one shard write equal records.
func (s Sharded) claim(ctx context.Context, x *Experiment) error {
	if err := os.MkdirAll(x.Dir, 0o777); err != nil {
		return err
	}
	all, err := s.await(ctx, lockfile.Share, filepath.Join(x.Dir, lockFile), func(holder string) error {
		return fmt.Errorf("%s is %w by another rlrun (%s), which is no shard", x.Dir, ErrInUse, holder)
	})
	if err != nil {
		return err
	}
	x.release = all.Release
	if err := disk.MkdirAll(x.Plan.fileSystem(), filepath.Join(x.Dir, shardsDir)); err != nil {
		return err
	}
	own, err := s.await(ctx, lockfile.Take, filepath.Join(x.Dir, shardsDir, s.Shard.file(".lock")), func(holder string) error {
		return fmt.Errorf("shard %s: %w (%s)", s.Shard, ErrShardInUse, holder)
	})
	if err != nil {
		return err
	}
	x.release = func() error { return errors.Join(own.Release(), all.Release()) }
	return nil
}

// await takes a lock that others may have for a while. held makes the error for one that is not
// free in time.
func (s *Sharded) await(ctx context.Context, take func(path string) (*lockfile.Lock, error), path string, held func(holder string) error) (*lockfile.Lock, error) {
	for began, told := time.Now(), false; ; {
		lock, err := take(path)
		var h *lockfile.HeldError
		if !errors.As(err, &h) {
			return lock, err
		}
		err = held(cmp.Or(h.Holder, "which is just starting"))
		if time.Since(began) > lockWait {
			return nil, err
		}
		if s.Waiting != nil && !told {
			s.Waiting(err)
		}
		told = true
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// join prepares a shard's output directory, in which other shards may be at work. The
// first shard writes the config and provenance.json; the others must agree with both.
// It returns which of the shard's runs are done; it reads no others' records.
func (p *Plan) join(ctx context.Context, dir string, shard Shard, session Session) (Done, error) {
	path := filepath.Join(dir, configFile)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		orphans, err := result.RecordFiles(dir)
		if err != nil {
			return nil, err
		}
		if len(orphans) == 0 {
			text, err := p.Config.YAML()
			if err == nil {
				err = p.writeOnce(path, text)
			}
			if err != nil {
				return nil, err
			}
		} else if awaitFile(path) != nil {
			return nil, noConfig(dir)
		}
	}
	text, err := json.MarshalIndent(&Provenance{Session: session, Shards: shard.Of}, "", "  ")
	if err != nil {
		return nil, err
	}
	if err := p.writeOnce(filepath.Join(dir, provenanceFile), append(text, '\n')); err != nil {
		return nil, err
	}
	runs, err := p.recorded(ctx, dir, shard)
	if err != nil {
		return nil, p.Blame(err)
	}
	if err := p.agrees(dir, shard.Of, &session, runs.Entries); err != nil {
		return nil, err
	}
	if err := result.Check(ctx, p.Meta(), runs.All()); err != nil {
		return nil, err
	}
	done := Done{}
	for _, e := range runs.Entries {
		done[e.Key] = e.Status == result.OK
	}
	if err := p.withAgents(dir, done); err != nil {
		return nil, err
	}
	return done, p.addProvenance(filepath.Join(dir, provenanceDir, "shard-"+shard.file(".json")), session, shard.Of)
}

// CheckShards refuses to divide the experiment into a number of shards if its output
// directory holds another experiment, number of shards or programs. It changes nothing.
// Its error is an *OutputError.
func (x *Experiment) CheckShards(of int, mixed bool) error {
	if _, err := os.Stat(filepath.Join(x.Dir, configFile)); errors.Is(err, fs.ErrNotExist) {
		return nil // the first shard checks it
	}
	session, err := x.session(nil, time.Time{}, mixed)
	if err != nil {
		return err
	}
	runs, err := x.Plan.recorded(context.Background(), x.Dir, Shard{0, of}) // those of one shard tell enough
	if err == nil {
		err = x.Plan.agrees(x.Dir, of, &session, runs.Entries)
	}
	if err == nil {
		err = runs.Check(x.Plan.Meta())
	}
	if err != nil {
		return &OutputError{x.Dir, err}
	}
	return nil
}

// agrees refuses to do shards of the experiment in dir if it holds another one, another
// number of shards, or records of other programs.
func (p *Plan) agrees(dir string, of int, session *Session, recorded []result.Entry) error {
	first, err := ReadProvenance(dir)
	if err != nil {
		return err
	}
	if err := p.sameExperiment(dir, first, len(recorded)); err != nil {
		return err
	}
	path := filepath.Join(dir, configFile)
	old, err := ReadConfig(path)
	if err != nil {
		return err
	}
	if old.Runs != p.Config.Runs {
		return &otherExperiment{path, "runs", strconv.Itoa(old.Runs), strconv.Itoa(p.Config.Runs)}
	}
	if session.Mixed {
		return nil
	}
	if first.Shards != 0 && first.Shards != of {
		return fmt.Errorf("%s is %w: %d, not %d", dir, ErrOtherShards, first.Shards, of)
	}
	if err := p.sameSession(dir, first, session); err != nil {
		return err
	}
	return p.samePrograms(dir, first, session, recorded)
}

// sameSession refuses other programs than those of the session that began the
// experiment. The error wraps ErrOtherPrograms.
func (p *Plan) sameSession(dir string, first *Provenance, now *Session) error {
	if first.Program != "" && first.Program != now.Program {
		return fmt.Errorf("%s was begun and its runs are %w: %s, now %s", dir, ErrOtherPrograms, first.describe(), now.describe())
	}
	for _, is := range now.Plugins {
		if was := first.plugin(is.Plugin, is.Args); was != nil && was.Program != is.Program {
			return fmt.Errorf("%s was begun and its runs are %w: %s", dir, ErrOtherPrograms,
				pluginDifference(Component{Plugin: is.Plugin, Args: is.Args}, was.Program, first, now))
		}
	}
	return nil
}

// addProvenance adds a session to the file of a shard.
func (p *Plan) addProvenance(path string, session Session, of int) error {
	prov, err := readProvenanceFile(path)
	if err != nil {
		return err
	}
	prov.add(session)
	prov.Shards = of
	if err := disk.MkdirAll(p.fileSystem(), filepath.Dir(path)); err != nil {
		return err
	}
	return p.writeJSON(path, prov)
}

// lateFile is how long a file that another machine has made may be invisible or empty
// on a network file system.
const lateFile = 10 * time.Second

// writeOnce writes a file unless there is one, and returns when it can be read.
func (p *Plan) writeOnce(path string, data []byte) error {
	err := disk.WriteOnce(p.fileSystem(), path, func(w io.Writer) error { _, err := w.Write(data); return err })
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return awaitFile(path)
}

// awaitFile returns when a file that another machine may have written can be read.
func awaitFile(path string) error {
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		info, err := os.Stat(path)
		if err == nil && info.Size() > 0 {
			return nil
		}
		if time.Since(began) > lateFile {
			if err == nil {
				err = errors.New("is empty; remove it and start the shard again")
			}
			return fmt.Errorf("%s: %w", path, err)
		}
	}
}
