package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"time"

	"github.com/rlrun/rlrun/framework/compare"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
)

// Done says, of runs that have a record, whether it is ok.
type Done map[result.Key]bool

// newDone lists the runs that have a record.
func newDone(runs *result.Runs) Done {
	done := Done{}
	for _, e := range runs.Entries {
		done[e.Key] = e.Status == result.OK
	}
	return done
}

// Begin claims the output directory for a command that makes runs of the experiment, until
// Close, and prepares it. It returns the runs that are done. The directory then says what is
// known of the experiment.
func (e *Experiment) Begin(ctx context.Context, s *Session, existing Existing) (done Done, err error) {
	if e.release, err = e.Dir.Claim(); err != nil {
		return nil, err
	}
	if existing == Overwrite {
		if err := e.Dir.clear(); err != nil {
			return nil, err
		}
	}
	if done, err = e.Dir.Prepare(ctx, e.Plan, existing == Resume, s); err != nil {
		return nil, err
	}
	return done, e.write()
}

// BeginShard is Begin for a shard, beside others. It waits for a process that does the
// shard; waiting, if not nil, is then called once with its holder.
func (e *Experiment) BeginShard(ctx context.Context, s *Session, shard plan.Shard, waiting func(held error)) (done Done, err error) {
	if e.release, err = e.Dir.claimShard(ctx, shard, waiting); err != nil {
		return nil, err
	}
	if done, err = e.Dir.join(ctx, e.Plan, shard, s); err != nil {
		return nil, err
	}
	return done, e.write()
}

// Prepare makes the output directory and writes the resolved config and the
// provenance into it. With resume it reads which runs are done, after making
// sure that they belong to the same experiment; runs that failed are not done. If
// runs are left, it removes what was made from the records of the others.
// Without resume, a directory that holds anything but its lock is refused. Runs of
// other programs than session's are refused (ErrOtherPrograms) unless session.Mixed
// allows them. The session is appended to the provenance. The caller holds the
// claim. It changes nothing if the context ends while it reads records.
func (d Dir) Prepare(ctx context.Context, p *plan.Plan, resume bool, session *Session) (Done, error) {
	entries, err := d.entries()
	switch {
	case err != nil:
		return nil, err
	case len(entries) > 0 && !resume:
		return nil, fmt.Errorf("%s %w", d.Path, ErrOutputExists)
	}
	done, prov := Done{}, &Provenance{}
	if resume {
		if done, prov, err = d.resume(ctx, p, session); err != nil {
			return nil, err
		}
	}
	prov.add(*session)
	text, err := p.Config.YAML()
	if err == nil {
		err = d.write(ConfigFile, text)
	}
	if err == nil {
		err = d.writeJSON(ProvenanceFile, prov)
	}
	return done, err
}

// resume reads which runs are done, and the provenance.
func (d Dir) resume(ctx context.Context, p *plan.Plan, session *Session) (Done, *Provenance, error) {
	prov, err := d.Provenance()
	if err != nil {
		return nil, nil, err
	}
	runs, err := d.Records(ctx, p)
	if err == nil {
		err = d.sameExperiment(p, prov, len(runs.Entries))
	}
	if err != nil {
		return nil, nil, err
	}
	most := 0
	for _, e := range runs.Entries {
		most = max(most, e.Run+1)
	}
	if most > p.Config.Runs {
		return nil, nil, fmt.Errorf("%s holds %w: run %d is recorded (they count from 0), and runs is %d; ask for %d runs or more",
			d.Path, ErrOtherExperiment, most-1, p.Config.Runs, most)
	}
	if !session.Mixed {
		if err := prov.samePrograms(d, p, session, runs.Entries); err != nil {
			return nil, nil, err
		}
	}
	done, err := d.done(ctx, p, runs)
	if err == nil && done.left(p) {
		err = d.RemoveMade(p)
	}
	return done, prov, err
}

// join prepares a shard's output directory, in which other shards may be at work. The
// first shard writes the config and provenance.json; the others must agree with both.
// It returns which of the shard's runs are done; it reads no others' records. The caller
// holds the claim of the shard.
func (d Dir) join(ctx context.Context, p *plan.Plan, shard plan.Shard, session *Session) (Done, error) {
	if _, err := os.Stat(d.path(ConfigFile)); errors.Is(err, os.ErrNotExist) {
		orphans, err := result.RecordFiles(d.Path)
		if err != nil {
			return nil, err
		}
		if len(orphans) == 0 {
			text, err := p.Config.YAML()
			if err == nil {
				err = d.writeOnce(ConfigFile, text)
			}
			if err != nil {
				return nil, err
			}
		} else if d.await(ConfigFile) != nil {
			return nil, d.noConfig()
		}
	}
	text, err := json.MarshalIndent(&Provenance{Session: *session, Shards: shard.Of}, "", "  ")
	if err != nil {
		return nil, err
	}
	if err := d.writeOnce(ProvenanceFile, append(text, '\n')); err != nil {
		return nil, err
	}
	runs, err := d.shardRecords(ctx, p, shard)
	if err == nil {
		err = d.agrees(p, shard.Of, session, runs.Entries)
	}
	if err != nil {
		return nil, err
	}
	done, err := d.done(ctx, p, runs)
	if err != nil {
		return nil, err
	}
	own := provenanceDir + "/shard-" + shardFile(shard, ".json")
	prov, err := d.readProvenance(own)
	if err != nil {
		return nil, err
	}
	prov.add(*session)
	prov.Shards = shard.Of
	return done, d.writeJSON(own, prov)
}

// done checks records and returns which of their runs are done. A run is not if its agent is
// to be kept and is not there.
func (d Dir) done(ctx context.Context, p *plan.Plan, runs *result.Runs) (Done, error) {
	if err := result.Check(ctx, p.Meta(), runs.All()); err != nil {
		return nil, err
	}
	done := newDone(runs)
	return done, d.withAgents(p, done)
}

// left says whether some run of the plan is not done.
func (d Done) left(p *plan.Plan) bool {
	for _, c := range p.Cells {
		key := p.Key(c)
		for key.Run = range p.Config.Runs {
			if !d[key] {
				return true
			}
		}
	}
	return false
}

// Count returns the number of runs that are done.
func (d Done) Count() (n int) {
	for _, ok := range d {
		if ok {
			n++
		}
	}
	return n
}

// CheckShards refuses to divide the experiment into a number of shards if the output
// directory holds another experiment, number of shards or programs. It changes nothing.
// Its error is an *OutputError.
func (e *Experiment) CheckShards(of int, mixed bool) error {
	if _, err := os.Stat(e.Dir.path(ConfigFile)); errors.Is(err, os.ErrNotExist) {
		return nil // the first shard checks it
	}
	session, err := e.NewSession(nil, time.Time{}, mixed)
	if err != nil {
		return err
	}
	runs, err := e.Dir.shardRecords(context.Background(), e.Plan, plan.Shard{Index: 0, Of: of}) // those of one shard tell enough
	if err == nil {
		err = e.Dir.agrees(e.Plan, of, session, runs.Entries)
	}
	if err == nil {
		err = runs.Check(e.Plan.Meta())
	}
	return e.Dir.Error(err)
}

// agrees refuses to do shards of the experiment if the directory holds another one, another
// number of shards, or records of other programs.
func (d Dir) agrees(p *plan.Plan, of int, session *Session, recorded []result.Entry) error {
	first, err := d.Provenance()
	if err != nil {
		return err
	}
	if err := d.sameExperiment(p, first, len(recorded)); err != nil {
		return err
	}
	path := d.path(ConfigFile)
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
		return fmt.Errorf("%s is %w: %d, not %d", d.Path, ErrOtherShards, first.Shards, of)
	}
	if err := first.sameSession(d, session); err != nil {
		return err
	}
	return first.samePrograms(d, p, session, recorded)
}

// otherExperiment is an ErrOtherExperiment: the config in path differs.
type otherExperiment struct{ path, where, was, is string }

func (e *otherExperiment) Error() string {
	return fmt.Sprintf("%s: %s differs: it was %s and is now %s", e.path, e.where, e.was, e.is)
}

func (e *otherExperiment) Unwrap() error { return ErrOtherExperiment }

// sameExperiment refuses to add runs to those of another experiment. Settings
// that cannot change a record may differ: workers, lanes, transport, processes,
// limits, report, output, and the number of runs. A directory with records must
// have its config, which must have the seed that the provenance says.
func (d Dir) sameExperiment(p *plan.Plan, prov *Provenance, records int) error {
	path := d.path(ConfigFile)
	old, err := ReadConfig(path)
	if errors.Is(err, os.ErrNotExist) && records == 0 {
		return nil // nothing was begun here
	}
	if errors.Is(err, os.ErrNotExist) {
		return d.noConfig()
	}
	if err != nil {
		return err
	}
	if err := sameSeed(path, old, prov); err != nil {
		return err
	}
	if where, was, is := p.Config.Difference(old); where != "" {
		return &otherExperiment{path, where, was, is}
	}
	return d.sameComparison(p, old)
}

func (d Dir) noConfig() error {
	return fmt.Errorf("%s holds records but no %s, so they may be of %w; restore it", d.Path, ConfigFile, ErrOtherExperiment)
}

// sameSeed refuses a config that is not the one of the directory's provenance.
func sameSeed(path string, c plan.Config, prov *Provenance) error {
	if prov.Started.IsZero() || c.Seed != nil && prov.Seed == *c.Seed {
		return nil
	}
	has := "no seed"
	if c.Seed != nil {
		has = fmt.Sprintf("seed %d", *c.Seed)
	}
	return fmt.Errorf("%s has %s and is %w: by %s the runs were made with seed %d; restore it", path, has, ErrOtherExperiment, ProvenanceFile, prov.Seed)
}

// sameComparison refuses to change the test that stops an experiment, or the planned
// number of runs, once the test has looked at records. Its level would no longer
// hold.
func (d Dir) sameComparison(p *plan.Plan, old plan.Config) error {
	if old.Compare == nil && p.Config.Compare == nil {
		return nil
	}
	before, err := plan.Compile(old)
	if err != nil {
		return err
	}
	if before.Sequential() == nil && p.Sequential() == nil {
		return nil
	}
	same := reflect.DeepEqual(before.Config.Compare, p.Config.Compare)
	if same && before.Config.Runs == p.Config.Runs {
		return nil
	}
	if before.Sequential() != nil {
		decision, err := d.Decide(before)
		if err != nil || !compare.Looked(decision.Progress) {
			return err
		}
	} else if keys, err := result.ReadKeys(d.Path); err != nil || len(keys) == 0 {
		return err
	}
	what := "compare differs"
	if same {
		what = fmt.Sprintf("runs differs: it was %d and is now %d", before.Config.Runs, p.Config.Runs)
	}
	return fmt.Errorf("%s: %s: this is %w, since results were looked at: a change would invalidate the level of the test", d.path(ConfigFile), what, ErrOtherExperiment)
}
