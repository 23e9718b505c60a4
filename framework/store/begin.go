package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
)

// Begin claims the output directory for a command that makes runs of the experiment, until
// Close. It returns the runs that are recorded. A directory that holds anything but its lock
// is refused, or cleared, or resumed, as existing says. To resume, its runs must be of the same
// experiment and programs (see Session.Mixed); if runs are left, what was made from the records
// of the others is removed. Records of agents and environments that the config no longer has are
// set aside. The directory then has the config, the provenance with this
// session, and what is known of the experiment. If the context ends while records are read,
// nothing was changed.
func (e *Experiment) Begin(ctx context.Context, s *Session, existing Existing) (done Done, err error) {
	d := e.Dir
	if e.release, err = d.Claim(); err != nil {
		return nil, err
	}
	if existing == Overwrite {
		if err := d.clear(); err != nil {
			return nil, err
		}
	}
	done, has := Done{}, &contents{dir: d, provenance: &Provenance{}}
	if existing == Resume {
		if has, err = d.contents(ctx, e.Plan, plan.Shard{}); err != nil {
			return nil, err
		}
		if done, err = has.accept(ctx, e.Plan, plan.Shard{}, s); err != nil {
			return nil, err
		}
		if err := e.sameMetrics(); err != nil {
			return nil, err
		}
		if err := has.makeRoom(e.Plan, done); err != nil {
			return nil, err
		}
		e.Notes = slices.Concat(e.Notes, has.aside.notes())
		s.Notes = e.Notes
	} else if entries, err := d.entries(); err != nil {
		return nil, err
	} else if len(entries) > 0 {
		return nil, fmt.Errorf("%s %w", d.Path, ErrOutputExists)
	}
	text, err := e.Plan.Config.YAML()
	if err == nil {
		err = d.write(ConfigFile, text)
	}
	if err == nil {
		err = d.takeAll(has.aside.back) // once the config has them
	}
	if err == nil {
		has.provenance.add(*s)
		err = d.writeJSON(ProvenanceFile, has.provenance)
	}
	if err == nil {
		err = e.write()
	}
	return done, err
}

// makeRoom removes what was made from records if there will be more or fewer of them, and sets
// those aside that are none of the plan's.
func (c *contents) makeRoom(p *plan.Plan, done Done) error {
	if len(c.aside.out)+len(c.aside.divide) > 0 {
		if err := c.dir.RemoveMade(c.config); err != nil {
			return err
		}
		return c.setAside()
	}
	if len(c.aside.back) > 0 || done.left(p) {
		return c.dir.RemoveMade(p)
	}
	return nil
}

// BeginShard is Begin for a shard, beside others, which it resumes. The first shard writes the
// config and provenance.json; the others must agree with both. It reads the records of the
// shard's own runs only. It waits for a process that does the shard; waiting, if not nil, is
// then called once with its holder.
func (e *Experiment) BeginShard(ctx context.Context, s *Session, shard plan.Shard, waiting func(held error)) (done Done, err error) {
	d := e.Dir
	if e.release, err = d.claimShard(ctx, shard, waiting); err != nil {
		return nil, err
	}
	if err := d.share(e.Plan, shard, s); err != nil {
		return nil, err
	}
	has, err := d.contents(ctx, e.Plan, shard)
	if err != nil {
		return nil, err
	}
	if done, err = has.accept(ctx, e.Plan, shard, s); err != nil {
		return nil, err
	}
	if err := e.sameMetrics(); err != nil {
		return nil, err
	}
	own := provenanceDir + "/shard-" + shardFile(shard, ".json")
	prov, err := d.readProvenance(own)
	if err != nil {
		return nil, err
	}
	prov.add(*s)
	prov.Shards = shard.Of
	return done, errors.Join(d.writeJSON(own, prov), e.write())
}

// share writes the config and the provenance for all shards, unless another shard has.
func (d Dir) share(p *plan.Plan, shard plan.Shard, s *Session) error {
	if _, err := os.Stat(d.path(ConfigFile)); errors.Is(err, os.ErrNotExist) {
		orphans, err := result.RecordFiles(d.Path)
		if err != nil {
			return err
		}
		if len(orphans) == 0 {
			text, err := p.Config.YAML()
			if err == nil {
				err = d.writeOnce(ConfigFile, text)
			}
			if err != nil {
				return err
			}
		} else if d.await(ConfigFile) != nil {
			return d.noConfig()
		}
	}
	text, err := json.MarshalIndent(&Provenance{Session: *s, Shards: shard.Of}, "", "  ")
	if err != nil {
		return err
	}
	return d.writeOnce(ProvenanceFile, append(text, '\n'))
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
	first := plan.Shard{Index: 0, Of: of} // the records of one shard tell enough
	has, err := e.Dir.contents(context.Background(), e.Plan, first)
	if err == nil {
		_, err = has.accept(context.Background(), e.Plan, first, session)
	}
	return e.Dir.Error(err)
}

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
