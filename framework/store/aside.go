package store

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rlrun/rlrun/framework/internal/disk"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
)

// asideDir holds the files of records of agents and environments that the config had, and no
// longer has.
const asideDir = "removed"

// aside says which files of records move as agents and environments leave the config or come
// back to it.
type aside struct {
	out, back []string        // to asideDir, and from there
	divide    []string        // of which a part moves to asideDir
	gone      func(kind) bool // whether records of a kind move to asideDir
	left      map[kind]int    // how many records of a kind are in asideDir then
}

// kind is what a record is of, apart from its run.
type kind struct{ environment, agent, experiment string }

// regroup lists the records of the plan's environments and agents, also those that were set
// aside. It does not list those of environments and agents that only the config in the
// directory has. A record of any other is listed, for accept to refuse.
func (c *contents) regroup(ctx context.Context, p *plan.Plan) (*result.Runs, error) {
	kept, err := result.RecordFiles(c.dir.aside().Path)
	if err != nil {
		return nil, err
	}
	before := c.config
	if before == nil {
		before = p
	}
	has := func(p *plan.Plan, k kind) bool {
		named := func(list []plan.Component, name string) bool {
			return slices.ContainsFunc(list, func(c plan.Component) bool { return c.Name == name })
		}
		return named(p.Environments, k.environment) && named(p.Agents, k.agent)
	}
	if where, _, _ := size(before, p); len(kept) == 0 && (where == "" || where == "runs") {
		return c.dir.Records(ctx, p)
	}
	all, err := result.RecordFiles(c.dir.Path)
	if err != nil {
		return nil, err
	}
	c.aside.left, c.aside.gone = map[kind]int{}, func(k kind) bool { return has(before, k) && !has(p, k) }
	var files []string
	for _, name := range all {
		kinds, gone, err := kindsOf(name, c.aside.gone)
		switch {
		case err != nil:
			return nil, err
		case gone == 0:
			files = append(files, name)
			continue
		case len(kinds) > 1: // compact, or a shard, has packed it
			c.aside.divide, files = append(c.aside.divide, name), append(files, name)
			maps.DeleteFunc(kinds, func(k kind, _ int) bool { return !c.aside.gone(k) })
		default:
			c.aside.out = append(c.aside.out, name)
		}
		c.aside.add(kinds)
	}
	identities := p.Identities()
	for _, name := range kept {
		kinds, ours, err := kindsOf(name, func(k kind) bool {
			return identities[result.Key{Environment: k.environment, Agent: k.agent}] == k.experiment
		})
		switch {
		case err != nil:
			return nil, err
		case ours > 0 && ours == len(kinds):
			c.aside.back, files = append(c.aside.back, name), append(files, name)
		default:
			c.aside.add(kinds)
		}
	}
	runs, err := result.OpenFiles(ctx, files)
	if err == nil {
		runs.Entries = slices.DeleteFunc(runs.Entries, func(e result.Entry) bool { return c.aside.gone(kindOf(e)) })
	}
	return runs, Blame(p, err)
}

func kindOf(e result.Entry) kind { return kind{e.Environment, e.Agent, e.Experiment} }

// kindsOf counts the records in a file, and the kinds among them that are as asked.
func kindsOf(name string, is func(kind) bool) (kinds map[kind]int, n int, err error) {
	entries, err := result.FileEntries(name)
	kinds = map[kind]int{}
	for _, e := range entries {
		kinds[kindOf(e)]++
	}
	for k := range kinds {
		if is(k) {
			n++
		}
	}
	return kinds, n, err
}

func (a *aside) add(kinds map[kind]int) {
	for k, n := range kinds {
		a.left[k] += n
	}
}

// notes says what is set aside.
func (a *aside) notes() []string {
	if len(a.left) == 0 {
		return nil
	}
	n, pairs := 0, []string{}
	for _, k := range slices.SortedFunc(maps.Keys(a.left), func(a, b kind) int {
		return strings.Compare(a.environment+"\x00"+a.agent, b.environment+"\x00"+b.agent)
	}) {
		n += a.left[k]
		pairs = append(pairs, k.agent+" in "+k.environment)
	}
	pairs = slices.Compact(pairs)
	if more := len(pairs) - 5; more > 0 {
		pairs = append(pairs[:5], fmt.Sprintf("%d more", more))
	}
	return []string{fmt.Sprintf("%d records are not of the config as it is now and are left out (%s); they are kept in %s/", n, strings.Join(pairs, ", "), asideDir)}
}

// setAside moves records to asideDir.
func (c *contents) setAside() error {
	to := c.dir.aside()
	for _, name := range c.aside.divide {
		err := disk.MkdirAll(to.fileSystem(), to.path("runs"))
		if err == nil {
			err = result.Divide(name, to.Path, func(e result.Entry) bool { return c.aside.gone(kindOf(e)) })
		}
		if err != nil {
			return err
		}
	}
	return to.takeAll(c.aside.out)
}

// takeAll moves files of records into the directory.
func (d Dir) takeAll(files []string) error {
	for _, name := range files {
		if err := d.take(name); err != nil {
			return err
		}
	}
	return nil
}

// take moves a file of records into the directory.
func (d Dir) take(path string) error {
	directory := d.path("runs")
	if err := disk.MkdirAll(d.fileSystem(), directory); err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	err = disk.Publish(d.fileSystem(), filepath.Join(directory, filepath.Base(path)), func(w io.Writer) error {
		_, err := io.Copy(w, f)
		return err
	})
	if err != nil {
		return err
	}
	return os.Remove(path)
}

// aside is the directory in this one for records that the config no longer has.
func (d Dir) aside() Dir { return Dir{Path: d.path(asideDir), Disk: d.Disk} }
