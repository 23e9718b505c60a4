package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/go-hclog"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/experiment"
	"github.com/rlrun/rlrun/framework/plugin"
)

// catalogue finds plugins and opens them: the bundled ones in this process or,
// if asked, as a subprocess that is this program itself; all others as
// subprocesses.
type catalogue struct {
	bundled   map[string]framework.Plugin
	search    plugin.Search
	transport experiment.Transport // of components that name none
	limits    experiment.Limits    // of processes of components that set none
	dev       map[string]string    // what --dev puts in a plugin's place
	lock      string               // name of the lock file; "" if there is none
	pins      *plugin.Pins         // what it says
	logger    hclog.Logger
}

// newCatalogue knows the given bundled plugins, and the executables in the
// folders that the environment names.
func newCatalogue(bundled []framework.Plugin, logger hclog.Logger) (*catalogue, error) {
	c := &catalogue{bundled: map[string]framework.Plugin{}, logger: logger}
	for _, p := range bundled {
		d, err := p.Describe(context.Background())
		if err != nil {
			return nil, err
		}
		c.bundled[shortName(d.ID)] = p
		c.search.Bundled = append(c.search.Bundled, shortName(d.ID))
	}
	c.search.Folders, c.search.Python = plugin.DefaultFolders(os.Getenv), os.Getenv("RLRUN_PYTHON")
	return c, nil
}

// shortName is the name in namespace/name@version.
func shortName(id string) string {
	_, name, ok := strings.Cut(id, "/")
	if !ok {
		name = id
	}
	name, _, _ = strings.Cut(name, "@")
	return name
}

// how says how a component is called.
func (c *catalogue) how(comp experiment.Component) (found plugin.Found, transport experiment.Transport, err error) {
	found, err = c.search.Resolve(cmp.Or(c.dev[comp.Plugin], comp.Plugin), comp.Args...)
	if err != nil {
		return found, "", err
	}
	transport = cmp.Or(comp.Transport, c.transport)
	switch {
	case transport == "" && found.Bundled:
		transport = experiment.InProcess
	case transport == "":
		transport = experiment.Process
	case transport == experiment.InProcess && !found.Bundled:
		return found, "", fmt.Errorf("plugin %s is a program of its own and cannot be called in process; give it transport: process", found.Name)
	}
	return found, transport, nil
}

// remote says whether a component runs in a process of its own.
func (c *catalogue) remote(comp experiment.Component) bool {
	_, transport, err := c.how(comp)
	return err == nil && transport == experiment.Process
}

// open is the experiment.Opener.
func (c *catalogue) open(ctx context.Context, comp experiment.Component) (framework.Plugin, func() error, error) {
	found, transport, err := c.how(comp)
	if err != nil {
		return nil, nil, err
	}
	if transport == experiment.InProcess {
		return c.bundled[found.Name], func() error { return nil }, nil
	}
	if err := c.checkPin(comp, found); err != nil {
		return nil, nil, err
	}
	o, err := launchOptions(comp.Limits.Over(c.limits))
	if err != nil {
		return nil, nil, err
	}
	o.Name, o.Command, o.Args, o.Logger = found.Name, found.Command, found.Args, c.logger.Named(found.Name)
	if found.Bundled {
		if o.Command, err = os.Executable(); err != nil {
			return nil, nil, err
		}
		o.Args = []string{"plugin", "serve", found.Name}
	}
	processes := make([]framework.Plugin, max(1, comp.Processes))
	errs, closes := make([]error, len(processes)), make([]error, len(processes))
	each := func(f func(k int)) {
		var wg sync.WaitGroup
		for k := range processes {
			wg.Go(func() { f(k) })
		}
		wg.Wait()
	}
	closeAll := func() error {
		each(func(k int) {
			if p, ok := processes[k].(*plugin.Process); ok {
				closes[k] = p.Close()
			}
		})
		return errors.Join(closes...)
	}
	each(func(k int) {
		var p *plugin.Process
		if p, errs[k] = plugin.Launch(ctx, o); errs[k] == nil {
			processes[k] = p
		}
	})
	for _, err := range errs {
		if err != nil { // one reason is enough
			return nil, nil, errors.Join(found.Explain(err), closeAll())
		}
	}
	return framework.Shard(processes...), closeAll, nil
}

// shared opens every distinct plugin once and keeps it open until closed: enough
// to look at many components.
type shared struct {
	catalogue *catalogue
	mu        sync.Mutex
	plugins   map[string]framework.Plugin
	closers   []func() error
}

func (c *catalogue) shared() *shared {
	return &shared{catalogue: c, plugins: map[string]framework.Plugin{}}
}

func (s *shared) open(ctx context.Context, comp experiment.Component) (framework.Plugin, func() error, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	comp.Processes = 1 // a few lanes need no more
	key := strings.Join(append([]string{comp.Plugin, string(comp.Transport)}, comp.Args...), "\x00")
	nothing := func() error { return nil }
	if p, ok := s.plugins[key]; ok {
		return p, nothing, nil
	}
	p, closer, err := s.catalogue.open(ctx, comp)
	if err != nil {
		return nil, nil, err
	}
	s.plugins[key] = p
	s.closers = append(s.closers, closer)
	return p, nothing, nil
}

func (s *shared) close() {
	for _, c := range s.closers {
		_ = c() // an ending process changes nothing
	}
}

// provenance lists the plugins of a plan as provenance.json has them.
func (s *shared) provenance(ctx context.Context, p *experiment.Plan) ([]experiment.PluginProvenance, error) {
	var out []experiment.PluginProvenance
	for _, comp := range slices.Concat(p.Environments, p.Agents) {
		found, _, err := s.catalogue.how(comp)
		if err != nil {
			return nil, err
		}
		opened, _, err := s.open(ctx, comp)
		if err != nil {
			return nil, err
		}
		d, err := opened.Describe(ctx)
		if err != nil {
			return nil, err
		}
		e := experiment.PluginProvenance{Plugin: comp.Plugin, ID: d.ID, Path: found.Command, Dev: s.catalogue.dev[comp.Plugin] != ""}
		if slices.ContainsFunc(out, func(o experiment.PluginProvenance) bool { return o.Plugin == e.Plugin && o.ID == e.ID }) {
			continue
		}
		if !found.Bundled {
			if e.Files, err = found.Digests(); err != nil {
				return nil, err
			}
			e.SHA256 = strings.TrimPrefix(e.Files[filepath.Base(found.Command)], "sha256:")
		}
		out = append(out, e)
	}
	return out, nil
}
