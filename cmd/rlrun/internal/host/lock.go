package host

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/rlrun/rlrun/cmd/rlrun/config"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/framework/store"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/fields"
)

// LockName is the name of lock files.
const LockName = "rlrun.lock.yaml"

// FindLock returns the lock file that a run is held to: the one that is named, or the one in
// this directory, or one beside the config, or none. The user's own comes before one that
// came with a config, which is other then.
func FindLock(named, configName string) (path, other string) {
	exists := func(path string) bool {
		_, err := os.Lstat(path) // a link to nothing is a lock file that cannot be read
		return err == nil
	}
	beside := filepath.Join(filepath.Dir(configName), LockName)
	if configName == "-" || beside == LockName || !exists(beside) {
		beside = ""
	}
	switch {
	case named != "":
		return named, ""
	case exists(LockName):
		return LockName, beside
	}
	return beside, ""
}

// UseLock takes up the lock file that FindLock finds.
func (c *Catalogue) UseLock(named, configName string) error {
	path, other := FindLock(named, configName)
	if path == "" {
		return nil
	}
	pins, err := plugin.ReadPins(path)
	if errors.Is(err, fs.ErrNotExist) {
		return cli.Usagef("--lock: there is no file %s; write it with rlrun plugin lock", path)
	}
	if err != nil {
		return cli.Usage(err)
	}
	c.lock, c.otherLock, c.pins = path, other, pins
	return nil
}

// Lock says for people which lock file is in use. It is empty if there is none, or no plugin
// that it is about.
func (c *Catalogue) Lock() string {
	if c.lock == "" || !slices.ContainsFunc(slices.Collect(maps.Values(c.began)), func(i *identity) bool { return len(i.digests) > 0 && !i.replaced }) {
		return ""
	}
	text := "plugins are as in the lock file " + c.lock
	if len(c.Replaced) > 0 {
		text = "the other " + text
	}
	if c.otherLock != "" {
		text += " (" + c.otherLock + " is not asked)"
	}
	return text
}

// From says that a results directory names the plugins of components, and not the user. Then
// one that is a program needs --trust, unless it is on the user's plugin path or in the lock
// file. named are plugins that the user names.
func (c *Catalogue) From(dir string, named ...string) { c.received, c.named = dir, named }

// allowed refuses a program that only a results directory names.
func (c *Catalogue) allowed(comp plan.Component, found plugin.Found) error {
	name := strings.Join(append([]string{comp.Plugin}, comp.Args...), " ")
	imports := importsModules(comp)
	switch {
	case c.received == "" || c.trust || found.Bundled || c.Replaced[comp.Plugin] != "" || slices.Contains(c.named, name):
		return nil
	case imports != "":
		return cli.Usagef("%s names modules for %s to import (params.%s), which rlrun does not do only because a directory of results names them: if you trust the directory, add --trust", c.received, name, imports)
	case c.pins != nil && c.pins.Has(comp.Plugin, comp.Args...): // its digests are checked
		return nil
	case len(comp.Args) == 0 && filepath.Base(found.Command) == plugin.Prefix+comp.Plugin: // the user's plugin path
		return nil
	case len(comp.Args) == 0 && gymnasiumID.MatchString(comp.Plugin):
		return nil
	}
	return cli.Usagef("%s names the program %q, which rlrun does not start only because a directory of results names it: if you trust the directory, add --trust; or lock the program with rlrun plugin lock '%[2]s', or name one with --replace '%[3]s'=PATH", c.received, name, comp.Plugin)
}

// importsModules names the parameter by which an environment of Gymnasium imports modules or
// calls what is in them: code of any package, which no lock file lists.
func importsModules(comp plan.Component) string {
	if !strings.HasPrefix(comp.Plugin, "gymnasium:") {
		return ""
	}
	var params map[string]json.RawMessage
	if err := json.Unmarshal(comp.Params, &params); err != nil {
		return "" // no parameters, or none that a plugin takes
	}
	for _, key := range []string{"import", "wrappers"} {
		if _, ok := params[key]; ok {
			return key
		}
	}
	return ""
}

// gymnasiumID matches an environment that Gymnasium itself has registered. An id with a colon
// would import a module.
var gymnasiumID = regexp.MustCompile(`^gymnasium:[\w/.-]+$`)

// checkFiles refuses to start a plugin from files that are not those of its first process,
// or not as the lock file says.
func (c *Catalogue) checkFiles(comp plan.Component, files map[string]string) error {
	if first := c.first(comp); first != nil {
		return changed(comp, same(first.digests, files, false))
	}
	if c.pins == nil || c.Replaced[comp.Plugin] != "" {
		return nil
	}
	return c.pins.CheckFiles(c.lock, files, comp.Plugin, comp.Args...)
}

// checkSources refuses code that a process has loaded since it began to serve, and the lock file
// does not have. It keeps in mind what a plugin has loaded.
func (c *Catalogue) checkSources(comp plan.Component, sources map[string]string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	first := c.began[commandLine(comp)]
	if first == nil {
		return nil // checkProcess does
	}
	for name, digest := range sources {
		if first.sources[name] == "" {
			first.later[name] = digest
		}
	}
	if c.pins == nil || first.replaced {
		return nil
	}
	if err := c.pins.CheckSources(c.lock, sources, comp.Plugin, comp.Args...); err != nil {
		return otherProgram{err}
	}
	return nil
}

// otherProgram is an error of a plugin that has become another program than the lock file's, or than
// it was. It ends an experiment.
type otherProgram struct{ error }

func (e otherProgram) Unwrap() error { return e.error }

func (otherProgram) Is(target error) bool { return target == store.ErrOtherPrograms }

// identity is what a process is: the id that it reports, the digests of what it was started
// from, and what it has imported when it begins to serve.
type identity struct {
	is               vector.Description
	digests, sources map[string]string
	later            map[string]string // loaded since, by any process
	replaced         bool              // by --replace, so the lock file was not asked
}

// first returns what the first process of a plugin was, nil before its start.
func (c *Catalogue) first(comp plan.Component) *identity {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.began[commandLine(comp)]
}

func commandLine(comp plan.Component) string {
	return fmt.Sprintf("%q", append([]string{comp.Plugin}, comp.Args...))
}

// checkProcess refuses a process that is not what the first process of the plugin was, or
// not as the lock file says.
func (c *Catalogue) checkProcess(ctx context.Context, comp plan.Component, p process) error {
	d, err := p.Describe(ctx)
	if err != nil {
		return err
	}
	now := &identity{is: d, digests: p.Digests(), later: map[string]string{}, replaced: c.Replaced[comp.Plugin] != ""}
	if len(now.digests) > 0 { // not a bundled plugin
		if now.sources, err = p.Sources(ctx); err != nil {
			return err
		}
		all := maps.Clone(now.digests)
		maps.Copy(all, now.sources)
		all[plugin.ReportedID] = d.ID
		if c.first(comp) == nil && c.pins != nil && !now.replaced {
			if err := c.pins.CheckProcess(c.lock, all, comp.Plugin, comp.Args...); err != nil {
				return err
			}
		}
	}
	if c.first(comp) == nil {
		if err := config.CheckSchema(d.Params); err != nil {
			return fmt.Errorf("plugin %s: %w: %w", strings.Join(append([]string{comp.Plugin}, comp.Args...), " "), framework.ErrInvalidAnswer, err)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	first := c.began[commandLine(comp)]
	if first == nil {
		if c.began == nil {
			c.began = map[string]*identity{}
		}
		c.began[commandLine(comp)] = now
		return nil
	}
	if name, was, is := fields.Differ(first.is, now.is, "Doc", "PreferredLanes", "FramesPerSecond"); name != "" {
		return otherProgram{fmt.Errorf("plugin %s describes itself in two ways: its %s is %v in one process and %v in another; let it be the same in all", strings.Join(append([]string{comp.Plugin}, comp.Args...), " "), name, was, is)}
	}
	return changed(comp, cmp.Or(same(first.digests, now.digests, true), same(first.sources, now.sources, false)))
}

// Digests returns the digests of what the processes of a plugin were made of, and the id that they
// report. It starts two, which must agree.
func (c *Catalogue) Digests(ctx context.Context, comp plan.Component) (map[string]string, error) {
	for range 2 {
		_, closePlugin, err := c.Open(ctx, comp)
		if err != nil {
			return nil, err
		}
		_ = closePlugin() // an ending process changes nothing
	}
	digests := map[string]string{}
	if first := c.first(comp); first != nil {
		digests[plugin.ReportedID] = first.is.ID
		maps.Copy(digests, first.digests)
		maps.Copy(digests, first.sources)
		for name, digest := range first.later {
			digests[plugin.Later+name] = digest
		}
	}
	return digests, nil
}

// changed says how a plugin changed; nil for nil.
func changed(comp plan.Component, how error) error {
	if how == nil {
		return nil
	}
	return fmt.Errorf("plugin %s %w: %w", strings.Join(append([]string{comp.Plugin}, comp.Args...), " "), store.ErrChanged, how)
}

// same compares digests of one plugin at two times, by name: all of them, or those that both
// have, since a module may be imported later.
func same(was, is map[string]string, whole bool) error {
	names := slices.Collect(maps.Keys(is))
	if whole {
		names = slices.AppendSeq(names, maps.Keys(was))
	}
	slices.Sort(names)
	for _, name := range names {
		old, had := was[name]
		if now := is[name]; now != old && (had || whole) {
			return fmt.Errorf("%s was %s and is %s", name, cmp.Or(old, "absent"), cmp.Or(now, "absent"))
		}
	}
	return nil
}
