package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/rlrun/rlrun/framework/compare"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
)

// contents is what an output directory holds when a command begins.
type contents struct {
	dir        Dir
	provenance *Provenance
	runs       *result.Runs // that have a record
	config     *plan.Plan   // that the directory has; nil if there is none
	aside      aside
}

// contents reads what the directory holds: of runs, those of a shard, or all.
func (d Dir) contents(ctx context.Context, p *plan.Plan, shard plan.Shard) (*contents, error) {
	c := &contents{dir: d}
	var err error
	if c.provenance, err = d.Provenance(); err != nil {
		return nil, err
	}
	config, err := ReadConfig(d.path(ConfigFile))
	if err == nil {
		if c.config, err = plan.Compile(config); err != nil {
			err = fmt.Errorf("%s: %w; restore it, it is the config as it was run", d.path(ConfigFile), err)
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if shard.Of > 0 {
		c.runs, err = d.shardRecords(ctx, p, shard)
	} else {
		c.runs, err = c.regroup(ctx, p)
	}
	return c, err
}

// accept refuses to add runs to those in the directory if they are of another experiment, of
// another number of shards or, unless the session is mixed, of other programs. It returns the
// runs that are recorded. One is not ok if its agent is to be kept and is not there.
func (c *contents) accept(ctx context.Context, p *plan.Plan, shard plan.Shard, s *Session) (Done, error) {
	if err := c.sameExperiment(p, shard); err != nil {
		return nil, c.dir.Explain(err)
	}
	done := newDone(c.runs)
	most := 0
	for key := range done {
		most = max(most, key.Run+1)
	}
	if most > p.Config.Runs {
		return nil, fmt.Errorf("%s holds %w: run %d is recorded (they count from 0), and runs is %d; ask for %d runs or more",
			c.dir.Path, ErrOtherExperiment, most-1, p.Config.Runs, most)
	}
	others := c.provenance.samePrograms(c.dir, p, s, c.runs.Entries)
	if !s.Mixed {
		if err := cmp.Or(c.sameShards(p, shard, s), others); err != nil {
			return nil, err
		}
	}
	if others == nil {
		if err := c.provenance.sameSpecs(c.dir, s); err != nil {
			return nil, err
		}
	}
	if s.Mixed {
		s.markChanged(c.provenance)
	}
	if err := cmp.Or(c.rebind(s, shard.Of == 0), s.sameLoaded(c.dir)); err != nil {
		return nil, err
	}
	if err := result.Check(ctx, p.Meta(), c.runs.All()); err != nil {
		return nil, c.dir.Explain(err)
	}
	return done, c.dir.withAgents(p, c.runs, done)
}

// sameSpecs refuses environments that say something else of themselves than in former commands:
// their runs would be of another task.
func (p *Provenance) sameSpecs(d Dir, s *Session) error {
	for old := range p.sessions() {
		for _, is := range s.Specs {
			if slices.ContainsFunc(old.Specs, func(was SpecProvenance) bool { return was.Environment == is.Environment && was.Digest != is.Digest }) {
				return fmt.Errorf("%s holds %w: environment %q had other spaces, bounds of rewards or metrics when its runs were made", d.Path, ErrOtherExperiment, is.Environment)
			}
		}
	}
	return nil
}

// sameShards refuses a shard of another division than the one that was begun, or of other
// programs.
func (c *contents) sameShards(p *plan.Plan, shard plan.Shard, s *Session) error {
	was := c.provenance.Shards
	switch {
	case shard.Of == 0:
		return nil
	case was != 0 && was != shard.Of:
		return fmt.Errorf("%s is %w: %d, not %d", c.dir.Path, ErrOtherShards, was, shard.Of)
	}
	return c.provenance.sameSession(c.dir, p, s)
}

// otherExperiment is an ErrOtherExperiment: the config in path differs.
type otherExperiment struct{ path, where, was, is string }

func (e *otherExperiment) Error() string {
	return fmt.Sprintf("%s: %s differs: it was %s and is now %s", e.path, e.where, e.was, e.is)
}

func (e *otherExperiment) Unwrap() error { return ErrOtherExperiment }

// sameExperiment refuses to add runs to those of another experiment. Settings
// that cannot change a record may differ: workers, lanes, transport, processes,
// limits, report, output, and, but for a shard, the number of runs. A directory with records must
// have its config, which must have the seed that the provenance says.
func (c *contents) sameExperiment(p *plan.Plan, shard plan.Shard) error {
	path := c.dir.path(ConfigFile)
	if c.config == nil && len(c.runs.Entries) == 0 {
		return nil // nothing was begun here
	}
	if c.config == nil {
		return c.dir.noConfig()
	}
	if err := sameSeed(path, c.config.Config, c.provenance); err != nil {
		return err
	}
	if where, was, is := p.Difference(c.config); strings.HasPrefix(where, plan.AgentsKey+"[") || strings.HasPrefix(where, plan.EnvironmentsKey+"[") {
		return fmt.Errorf("%w; under another name it would be added", &otherExperiment{path, where, was, is})
	} else if where != "" {
		return &otherExperiment{path, where, was, is}
	}
	if err := c.dir.sameComparison(p, c.config); err != nil {
		return err
	}
	if where, was, is := size(c.config, p); shard.Of > 0 && where != "" {
		return fmt.Errorf("%w: an experiment grows by rlrun run --resume, without --shard", &otherExperiment{path, where, was, is})
	}
	return nil
}

// size returns the first way in which a plan is larger or smaller than another: environments,
// agents or, if it is nothing else, runs.
func size(old, p *plan.Plan) (where, was, is string) {
	for _, x := range []struct {
		key     string
		old, is []plan.Component
	}{{plan.EnvironmentsKey, old.Environments, p.Environments}, {plan.AgentsKey, old.Agents, p.Agents}} {
		if was, is := plan.Labels(x.old), plan.Labels(x.is); !slices.Equal(was, is) {
			return x.key, strings.Join(was, ", "), strings.Join(is, ", ")
		}
	}
	if old.Config.Runs != p.Config.Runs {
		return "runs", strconv.Itoa(old.Config.Runs), strconv.Itoa(p.Config.Runs)
	}
	return "", "", ""
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

// sameComparison refuses to change the test that stops an experiment, what it compares, or the
// planned number of runs, once the test has looked at records. Its level would no longer
// hold.
func (d Dir) sameComparison(p, before *plan.Plan) error {
	if before.Sequential() == nil && p.Sequential() == nil {
		return nil
	}
	same := reflect.DeepEqual(before.Config.Compare, p.Config.Compare)
	where, was, is := size(before, p)
	if same && where == "" {
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
		what = fmt.Sprintf("%s differs: it was %s and is now %s", where, was, is)
	}
	return fmt.Errorf("%s: %s: this is %w, since results were looked at: a change would invalidate the level of the test", d.path(ConfigFile), what, ErrOtherExperiment)
}

// samePrograms refuses to add runs of other programs to those that are kept: ok
// records whose host, environment or agent was another program than now. The error
// wraps ErrOtherPrograms and names both.
func (before *Provenance) samePrograms(d Dir, p *plan.Plan, now *Session, kept []result.Entry) error {
	cells, programs := map[result.Key]plan.Cell{}, map[result.Key]result.Programs{}
	for _, c := range p.Cells {
		cells[p.Key(c)], programs[p.Key(c)] = c, now.programs(p, c)
	}
	for _, is := range now.Plugins {
		for s := range before.sessions() {
			if was := s.plugin(is.Plugin, is.Args); was != nil && was.Program == is.Program && was.ID != is.ID {
				return fmt.Errorf("%s holds runs %w: the id of plugin %s was %s and is %s; a plugin must report one id", d.Path, ErrOtherPrograms, is.Plugin, was.ID, is.ID)
			}
		}
	}
	for _, e := range kept {
		key := result.Key{Environment: e.Environment, Agent: e.Agent}
		c, ok := cells[key]
		if e.Status != result.OK || !ok {
			continue
		}
		what := ""
		switch made, is := e.Programs(), programs[key]; {
		case made == is:
			continue
		case made == (result.Programs{}):
			what = "an rlrun that did not record which programs made them, now " + now.describe()
		case made.Host != is.Host:
			was := "rlrun " + made.Host
			if old := before.session(made.Host); old != nil {
				was = old.describe()
			}
			what = was + ", now " + now.describe()
		case made.Environment != is.Environment:
			what = difference(plan.EnvironmentsKey, p, c, made.Environment, before, now)
		default:
			what = difference(plan.AgentsKey, p, c, made.Agent, before, now)
		}
		return fmt.Errorf("%s holds runs %w: %s",
			d.Path, ErrOtherPrograms, what)
	}
	return nil
}

// sameSession refuses other programs than those of the session that began the
// experiment. The error wraps ErrOtherPrograms.
func (first *Provenance) sameSession(d Dir, p *plan.Plan, now *Session) error {
	if first.Program != "" && first.Program != now.Program {
		return fmt.Errorf("%s was begun and its runs are %w: %s, now %s", d.Path, ErrOtherPrograms, first.describe(), now.describe())
	}
	for _, c := range p.Cells {
		for _, kind := range []string{plan.EnvironmentsKey, plan.AgentsKey} {
			of := p.Component(kind, c)
			if was := first.program(kind, p, c); first.plugin(of.Plugin, of.Args) != nil && was != now.program(kind, p, c) {
				return fmt.Errorf("%s was begun and its runs are %w: %s", d.Path, ErrOtherPrograms, difference(kind, p, c, was, first, now))
			}
		}
	}
	return nil
}

// difference says how the environment or the agent of a cell differs from the one of identity was.
func difference(kind string, p *plan.Plan, c plan.Cell, was string, before *Provenance, now *Session) string {
	of := p.Component(kind, c)
	name := "plugin " + of.CommandLine()
	for s := range before.sessions() {
		if s.program(kind, p, c) != was {
			continue
		}
		if difference := s.code(kind, p, c).Difference(now.code(kind, p, c)); difference != "" {
			return name + ": " + difference
		}
	}
	return fmt.Sprintf("%s was program %s and is program %s", name, was, now.program(kind, p, c))
}

// Explain returns an error about records that are not of the experiment. If the config of the
// directory is not the one that its runs were made with, by the digests in the provenance,
// then the config is at fault and not the records. It returns other errors as they are.
func (d Dir) Explain(err error) error {
	var other *otherExperiment
	if !errors.Is(err, result.ErrDamaged) && !errors.As(err, &other) {
		return err
	}
	c, readErr := ReadConfig(d.path(ConfigFile))
	prov, provErr := d.Provenance()
	if readErr != nil || provErr != nil || prov.ConfigSHA256 == "" {
		return err
	}
	now := c.Digest()
	for s := range prov.sessions() {
		if s.ConfigSHA256 == now {
			return err
		}
	}
	return fmt.Errorf("%s was changed after runs were made, so that their records are of %w: its digest is %s, and by %s it was %s; restore it (%s has a copy), the records are good",
		d.path(ConfigFile), ErrOtherExperiment, now[:10], ProvenanceFile, prov.ConfigSHA256[:min(10, len(prov.ConfigSHA256))], "report.html")
}
