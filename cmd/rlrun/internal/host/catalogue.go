package host

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

	"github.com/rlrun/rlrun/framework/experiment"
	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/framework/vector"
)

// Catalogue finds plugins and opens them: the bundled ones in this process or,
// if asked, as a subprocess that is this program itself; all others as
// subprocesses.
type Catalogue struct {
	Bundled   map[string]vector.Plugin // by short name
	Search    plugin.Search
	Replaced  map[string]string    // what --dev puts in a plugin's place
	transport experiment.Transport // of components that name none
	limits    experiment.Limits    // of processes of components that set none
	lock      string               // name of the lock file; "" if there is none
	pins      *plugin.Pins         // what it says
	logger    hclog.Logger
}

// NewCatalogue knows the given bundled plugins, and the executables in the
// folders that the environment names.
func NewCatalogue(bundled []vector.Plugin, logger hclog.Logger) (*Catalogue, error) {
	c := &Catalogue{Bundled: map[string]vector.Plugin{}, logger: logger}
	for _, p := range bundled {
		d, err := p.Describe(context.Background())
		if err != nil {
			return nil, err
		}
		c.Bundled[ShortName(d.ID)] = p
		c.Search.Bundled = append(c.Search.Bundled, ShortName(d.ID))
	}
	c.Search.Folders, c.Search.Python = plugin.DefaultFolders(os.Getenv), os.Getenv("RLRUN_PYTHON")
	return c, nil
}

// ShortName is the name in namespace/name@version.
func ShortName(id string) string {
	_, name, ok := strings.Cut(id, "/")
	if !ok {
		name = id
	}
	name, _, _ = strings.Cut(name, "@")
	return name
}

// Resolve says how a component is called.
func (c *Catalogue) Resolve(comp experiment.Component) (found plugin.Found, transport experiment.Transport, err error) {
	found, err = c.Search.Resolve(cmp.Or(c.Replaced[comp.Plugin], comp.Plugin), comp.Args...)
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

// Remote says whether a component runs in a process of its own.
func (c *Catalogue) Remote(comp experiment.Component) bool {
	_, transport, err := c.Resolve(comp)
	return err == nil && transport == experiment.Process
}

// Open is the experiment.Opener.
func (c *Catalogue) Open(ctx context.Context, comp experiment.Component) (vector.Plugin, func() error, error) {
	found, transport, err := c.Resolve(comp)
	if err != nil {
		return nil, nil, err
	}
	if transport == experiment.InProcess {
		return c.Bundled[found.Name], func() error { return nil }, nil
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
	processes := make([]vector.Plugin, max(1, comp.Processes))
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
			errs[k] = c.checkSources(ctx, comp, found, p)
		}
	})
	for _, err := range errs {
		if err != nil { // one reason is enough
			return nil, nil, errors.Join(found.Explain(err), closeAll())
		}
	}
	return vector.Shard(processes...), closeAll, nil
}

// shared opens every distinct plugin once and keeps it open until closed: enough
// to look at many components.
type shared struct {
	catalogue *Catalogue
	mu        sync.Mutex
	plugins   map[string]vector.Plugin
	closers   []func() error
}

func (c *Catalogue) shared() *shared {
	return &shared{catalogue: c, plugins: map[string]vector.Plugin{}}
}

func (s *shared) open(ctx context.Context, comp experiment.Component) (vector.Plugin, func() error, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	comp.Processes = 1 // a few lanes need no more
	key := strings.Join(append([]string{comp.Plugin, string(comp.Transport)}, comp.Args...), "\x00")
	nothing := func() error { return nil }
	if p, ok := s.plugins[key]; ok {
		return p, nothing, nil
	}
	p, closer, err := s.catalogue.Open(ctx, comp)
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
		found, _, err := s.catalogue.Resolve(comp)
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
		e := experiment.PluginProvenance{Plugin: comp.Plugin, Args: comp.Args, ID: d.ID, Path: found.Command, Dev: s.catalogue.Replaced[comp.Plugin] != ""}
		known := slices.IndexFunc(out, func(o experiment.PluginProvenance) bool { return o.Plugin == e.Plugin && slices.Equal(o.Args, e.Args) })
		if known >= 0 {
			if err := addParamFiles(out[known].Files, comp.Params); err != nil {
				return nil, err
			}
			continue
		}
		if !found.Bundled {
			if e.Files, err = found.Digests(); err != nil {
				return nil, err
			}
			e.SHA256 = strings.TrimPrefix(e.Files[filepath.Base(found.Command)], "sha256:")
			if process, ok := opened.(*plugin.Process); ok {
				if e.Sources, err = process.Sources(ctx); err != nil {
					return nil, err
				}
			}
		}
		if e.Files == nil {
			e.Files = map[string]string{}
		}
		if err := addParamFiles(e.Files, comp.Params); err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}
