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
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rlrun/rlrun/framework/internal/disk"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/internal/inputfile"
	"github.com/rlrun/rlrun/internal/lockfile"
)

// Shard is a part of the runs of an experiment: shard Index, counted from 0, of Of.
// The zero value is the whole experiment.
type Shard struct{ Index, Of int }

// ParseShard reads I/N, with I from 0 to N-1.
func ParseShard(text string) (Shard, error) {
	index, of, ok := strings.Cut(text, "/")
	i, err1 := strconv.Atoi(index)
	n, err2 := strconv.Atoi(of)
	switch {
	case !ok || err1 != nil || err2 != nil || n < 1 || i < 0:
		return Shard{}, fmt.Errorf("a shard is I/N such as 0/50, not %q", text)
	case i >= n:
		return Shard{}, fmt.Errorf("there is no shard %s: shards count from 0, so the last of %d is %d/%d", text, n, n-1, n)
	}
	return Shard{i, n}, nil
}

// String is I/N.
func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Of) }

// runs lists the runs of the shard from first to last of a cell whose run 0 has a number,
// in increasing order. Runs are numbered cell by cell: run r of cell c of an experiment
// with n runs is c·n + r. So each shard has runs of every cell, and slow agents are
// spread.
func (s Shard) runs(number, first, last int) (list []int) {
	step := max(1, s.Of)
	first += ((s.Index-number-first)%step + step) % step
	list = make([]int, 0, max(0, last-first+step)/step)
	for run := first; run <= last; run += step {
		list = append(list, run)
	}
	return list
}

// recorded lists the records in dir of the shard's runs.
func (p *Plan) recorded(ctx context.Context, dir string, s Shard) (*result.Runs, error) {
	numbers := map[result.Key]int{}
	for i, c := range p.Cells() {
		numbers[p.key(c)] = i * p.Config.Runs
	}
	return result.OpenShard(ctx, dir, result.ShardRuns{Shard: s.Index, Shards: s.Of, Of: func(environment, agent string, first, last int) []int {
		number, ok := numbers[result.Key{Environment: environment, Agent: agent}]
		if !ok {
			return nil
		}
		return s.runs(number, first, min(last, p.Config.Runs-1))
	}})
}

// Ranges writes increasing numbers as 0-3,7, as Slurm reads them.
func Ranges(numbers []int) string {
	var parts []string
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		part := strconv.Itoa(numbers[i])
		if j > i {
			part += "-" + strconv.Itoa(numbers[j])
		}
		parts = append(parts, part)
		i = j + 1
	}
	return strings.Join(parts, ",")
}

// Size is the number of runs of a shard in dir: of the present stage, if the experiment
// has until: decided.
func (s Shard) Size(p *Plan, dir string) (n int, err error) {
	stage, err := p.stageRuns(dir)
	if err != nil {
		return 0, err
	}
	for i, c := range p.Cells() {
		n += len(s.runs(i*p.Config.Runs, 0, stage(p.key(c))-1))
	}
	return n, nil
}

// Names inside an output directory that shards use.
const (
	shardsDir     = ".shards"
	provenanceDir = "provenance"
)

// file names a file of the shard.
func (s Shard) file(ext string) string { return fmt.Sprintf("%d-of-%d%s", s.Index, s.Of, ext) }

// The states of a shard, as it reported them last.
const (
	ShardRunning = "running"
	ShardStopped = "stopped" // before its last run
	ShardDone    = "done"
)

// ShardStatus says how far a shard is. It is the content of .shards/I-of-N.json, which
// is for people: what is done is what has a record.
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
	// Waiting, if not nil, is told who has a lock that the shard needs.
	Waiting func(held error)
	// Status, if not nil, receives how far the shard is.
	Status *ShardStatus
}

// ErrShardInUse: another process makes the runs of the shard.
var ErrShardInUse = errors.New("another process does this shard")

// ErrOtherShards: the experiment is divided into another number of shards.
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
		err = errors.Join(writeTasks(x.Dir, x.Tasks), writeDeclared(x.Dir, x.Declared))
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

// await takes a lock that others may have for a while. held makes the error for one that is not free in time.
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
	if err != nil {
		return &OutputError{x.Dir, err}
	}
	return nil
}

// agrees refuses to do shards of the experiment in dir if it holds another one, another
// number of shards, or records of other programs.
func (p *Plan) agrees(dir string, of int, session *Session, recorded []result.Entry) error {
	first, err := readProvenance(dir)
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
	prov := Provenance{Session: session, Shards: of}
	if data, err := inputfile.Read(path, result.MaxFile); err == nil {
		var before Provenance
		if err := json.Unmarshal(data, &before); err != nil {
			return fmt.Errorf("%s: %w; move it away to go on without it", path, err)
		}
		before.Resumed = append(before.Resumed, session)
		prov = before
	}
	text, err := json.MarshalIndent(&prov, "", "  ")
	if err != nil {
		return err
	}
	if err := disk.MkdirAll(p.fileSystem(), filepath.Dir(path)); err != nil {
		return err
	}
	return p.writeFile(path, append(text, '\n'))
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
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return r.x.Plan.writeFile(filepath.Join(r.x.Dir, shardsDir, r.s.Shard.file(".json")), append(text, '\n'))
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
		data, err := inputfile.Read(filepath.Join(dir, shardsDir, name), result.MaxFile)
		var s ShardStatus
		if err == nil && json.Unmarshal(data, &s) == nil && s.Of > 0 {
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
	prov, err := readProvenance(dir)
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
	type cell struct{ environment, agent string }
	first := map[cell]int{} // number of its run 0
	for i, c := range p.Cells() {
		first[cell{p.Environments[c.Environment].Name, p.Agents[c.Agent].Name}] = i * p.Config.Runs
	}
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
		n, ok := first[cell{e.Environment, e.Agent}]
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
