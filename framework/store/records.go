package store

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
)

// Records lists the records of the directory. Of two that differ it says which plugin is
// not deterministic. It ends with the context's cause when that is done.
func (d Dir) Records(ctx context.Context, p *plan.Plan) (*result.Runs, error) {
	runs, err := result.OpenRunsContext(ctx, d.Path)
	return runs, Blame(p, err)
}

// RecordNames returns the names of files with records, also of runs that are set aside, as far as they can be listed.
func (d Dir) RecordNames() (names []string) {
	for _, of := range []Dir{d, d.aside()} {
		files, _ := result.RecordFiles(of.Path)
		for _, f := range files {
			names = append(names, filepath.Base(f))
		}
	}
	return names
}

// shardRecords lists the records of a shard's runs.
func (d Dir) shardRecords(ctx context.Context, p *plan.Plan, s plan.Shard) (*result.Runs, error) {
	numbers := p.FirstNumbers()
	runs, err := result.OpenShard(ctx, d.Path, s.Index, s.Of, func(k result.Key) bool {
		number, ok := numbers[result.Key{Environment: k.Environment, Agent: k.Agent}]
		return ok && len(s.Runs(number, k.Run, min(k.Run, p.Config.Runs-1))) > 0
	})
	return runs, Blame(p, err)
}

// Compact packs the records of the experiment (result.Compact).
func (d Dir) Compact(ctx context.Context, p *plan.Plan) (before, after int, err error) {
	before, after, err = result.Compact(ctx, p.Meta(), d.Path)
	return before, after, Blame(p, err)
}

// Blame adds to an error about records of a run that differ which plugin is not deterministic.
// Plugins that come with rlrun are. It returns other errors as they are.
func Blame(p *plan.Plan, err error) error {
	var double *result.DoubleError
	if !errors.As(err, &double) || double.Programs[0] != double.Programs[1] {
		return err
	}
	by := double.Programs[0]
	var names []string
	for _, part := range []struct {
		list           []plan.Component
		label, program string
	}{{p.Environments, double.Environment, by.Environment}, {p.Agents, double.Agent, by.Agent}} {
		if i := slices.IndexFunc(part.list, func(c plan.Component) bool { return c.Name == part.label }); i >= 0 && part.program != by.Host {
			names = append(names, "plugin "+part.list[i].CommandLine())
		}
	}
	switch len(names) {
	case 1:
		double.Fault = names[0] + " is not deterministic"
	case 2:
		double.Fault = strings.Join(names, " or ") + " is not deterministic (rlrun run --verify says which)"
	}
	return double
}
