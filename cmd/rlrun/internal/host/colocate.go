package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/framework/store"
	"github.com/rlrun/rlrun/framework/vector"
)

// process is a plugin that runs in a process of its own, or that shares one.
type process interface {
	vector.Plugin
	store.Process
	Digests() map[string]string
}

// shared is one of two plugins that share a process. Its digests and sources are what it would have
// in a process of its own.
type shared struct {
	*plugin.Process
	digests map[string]string
	own     func(all map[string]string) (map[string]string, error)
}

// Digests implements process.
func (s shared) Digests() map[string]string { return maps.Clone(s.digests) }

// Sources implements process.
func (s shared) Sources(ctx context.Context) (map[string]string, error) {
	all, err := s.Process.Sources(ctx)
	if err != nil {
		return nil, err
	}
	return s.own(all)
}

// Pair opens an environment and an agent, which have been opened before, in one process: the agent's,
// whose guest the environment is. Its error says why they cannot share one. The close function ends it.
func (c *Catalogue) Pair(ctx context.Context, env, agent plan.Component) (e, a vector.Plugin, closePair func() error, err error) {
	found, err := c.pairable(env, agent)
	if err != nil {
		return nil, nil, nil, err
	}
	o, err := c.launchOptions(agent, found)
	if err != nil {
		return nil, nil, nil, err
	}
	o.Check = func(files map[string]string) error { return c.checkFiles(agent, files) }
	o.Guest = env.Plugin
	p, err := plugin.Launch(ctx, o)
	if err != nil {
		return nil, nil, nil, err
	}
	guest, err := p.Guest(ctx)
	if err != nil {
		return nil, nil, nil, errors.Join(err, p.Close())
	}
	host := shared{p, p.Digests(), func(all map[string]string) (map[string]string, error) { return c.own(agent, env, all) }}
	beside := shared{guest, map[string]string{}, func(all map[string]string) (map[string]string, error) { return c.own(env, agent, all) }}
	running := slices.Collect(maps.Values(host.digests))
	for name, digest := range c.first(env).digests { // of the interpreter, which may have two names
		if slices.Contains(running, digest) {
			beside.digests[name] = digest
		}
	}
	if err := cmp.Or(c.checkProcess(ctx, agent, host), c.checkProcess(ctx, env, beside)); err != nil {
		return nil, nil, nil, errors.Join(err, p.Close())
	}
	return beside, host, p.Close, nil
}

// pairable returns how the agent is found, or says why it and the environment cannot share a process.
func (c *Catalogue) pairable(env, agent plan.Component) (found plugin.Found, err error) {
	with, by, err := c.Resolve(env)
	found, to, err2 := c.Resolve(agent)
	limits := env.Limits.Over(c.limits)
	switch {
	case err != nil || err2 != nil || by != plan.Process || to != plan.Process || c.first(env) == nil || c.first(agent) == nil:
		return found, errors.New("one of them is called in the process of rlrun")
	case !gymnasiumID.MatchString(env.Plugin) || c.Replaced[env.Plugin] != "" || len(env.Args) > 0 || importsModules(env) != "":
		return found, errors.New("the environment is none of Gymnasium's own")
	case len(found.Args) == 0 || filepath.Ext(found.Args[0]) != ".py" || !samePython(with.Command, found.Command):
		return found, fmt.Errorf("the agent is no file of Python that %s runs", with.Command)
	case agent.Exploration != nil:
		return found, errors.New("the host decides when the agent explores")
	case limits != agent.Limits.Over(c.limits):
		return found, errors.New("their limits differ")
	}
	return found, nil
}

// samePython says whether two paths are names of one interpreter, in one environment.
func samePython(a, b string) bool {
	to, err := filepath.EvalSymlinks(a)
	too, err2 := filepath.EvalSymlinks(b)
	return err == nil && err2 == nil && to == too && filepath.Dir(a) == filepath.Dir(b)
}

// own picks from what a process has loaded what a component has, which shares the process with another:
// all that it has had in processes of its own. Anything else could be of either.
func (c *Catalogue) own(comp, other plan.Component, all map[string]string) (map[string]string, error) {
	own := map[string]string{}
	for name, digest := range all {
		if c.had(comp, name) {
			own[name] = digest
		} else if !c.had(other, name) {
			return nil, fmt.Errorf("it cannot be told which of the two made the %s part of itself", name)
		}
	}
	return own, c.checkSources(comp, own)
}

// had says whether a process of a plugin's own has loaded code of that name.
func (c *Catalogue) had(comp plan.Component, name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	first := c.began[commandLine(comp)]
	return first != nil && (first.sources[name] != "" || first.later[name] != "")
}
