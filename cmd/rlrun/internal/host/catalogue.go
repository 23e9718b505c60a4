package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/go-hclog"

	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/framework/store"
	"github.com/rlrun/rlrun/framework/vector"
)

// Catalogue finds plugins and opens them: the bundled ones in this process or,
// if asked, as a subprocess that is this program itself; all others as
// subprocesses.
type Catalogue struct {
	Bundled   map[string]vector.Plugin // by short name
	Search    plugin.Search            // where executables are looked for
	Replaced  map[string]string        // what --replace puts in a plugin's place
	transport plan.Transport           // of components that name none
	limits    plan.Limits              // of processes of components that set none
	lock      string                   // name of the lock file; "" if there is none
	pins      *plugin.Pins             // what it says
	logger    hclog.Logger
	otherLock string    // beside the config, and not asked
	received  string    // results directory that names the plugins; "": the user does
	named     []string  // plugins that the user names
	trust     bool      // --trust
	bytecode  *bytecode // nil: Python's own

	mu    sync.Mutex
	began map[string]*identity // what plugins were when they were first started, by command line
}

// NewCatalogue knows the given bundled plugins, and the executables in the
// directories that the environment names.
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
	c.Search.Dirs, c.Search.Python = plugin.DefaultDirs(os.Getenv), os.Getenv("RLRUN_PYTHON")
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
func (c *Catalogue) Resolve(comp plan.Component) (found plugin.Found, transport plan.Transport, err error) {
	found, err = c.Search.Resolve(cmp.Or(c.Replaced[comp.Plugin], comp.Plugin), comp.Args...)
	if err != nil {
		return found, "", err
	}
	transport = cmp.Or(comp.Transport, c.transport)
	switch {
	case transport == "" && found.Bundled:
		transport = plan.InProcess
	case transport == "":
		transport = plan.Process
	case transport == plan.InProcess && !found.Bundled:
		return found, "", fmt.Errorf("plugin %s is a program of its own and cannot be called in process; give it transport: process", found.Name)
	}
	return found, transport, nil
}

// Remote says whether a component runs in a process of its own. It refuses one that
// is not there or, before its first start, not as the lock file says.
func (c *Catalogue) Remote(comp plan.Component) (bool, error) {
	found, transport, err := c.Resolve(comp)
	if err == nil {
		err = c.allowed(comp, found)
	}
	if err == nil && c.pins != nil && !found.Bundled && c.first(comp) == nil {
		var files map[string]string
		if files, err = found.Digests(); err == nil {
			err = c.checkFiles(comp, files)
		}
	}
	return transport == plan.Process, err
}

// Open opens the plugin of a component: the bundled one, or a process.
func (c *Catalogue) Open(ctx context.Context, comp plan.Component) (vector.Plugin, func() error, error) {
	found, transport, err := c.Resolve(comp)
	if err != nil {
		return nil, nil, err
	}
	if transport == plan.InProcess {
		return c.Bundled[found.Name], func() error { return nil }, nil
	}
	if err := c.allowed(comp, found); err != nil {
		return nil, nil, err
	}
	o, err := c.launchOptions(comp, found)
	if err != nil {
		return nil, nil, err
	}
	o.Check = func(files map[string]string) error { return c.checkFiles(comp, files) }
	o.CheckSources = func(sources map[string]string) error { return c.checkSources(comp, sources) }
	p, err := plugin.Launch(ctx, o)
	if err != nil {
		return nil, nil, found.Explain(err)
	}
	if err := c.checkProcess(ctx, comp, p); err != nil {
		return nil, nil, errors.Join(found.Explain(err), p.Close())
	}
	return p, p.Close, nil
}

// launchOptions says how the process of a component is started.
func (c *Catalogue) launchOptions(comp plan.Component, found plugin.Found) (plugin.LaunchConfig, error) {
	o, err := launchOptions(comp.Limits.Over(c.limits))
	if err != nil {
		return o, err
	}
	o.Name, o.Command, o.Args, o.Logger = found.Name, found.Command, found.Args, c.logger.Named(found.Name)
	if found.Bundled {
		o.Command, err = os.Executable()
		o.Args, o.Self = []string{"plugin", "serve", found.Name}, true
	} else if c.bytecode != nil {
		o.Env, err = c.bytecode.environment()
	}
	if c.trust {
		o.Env = append(o.Env, trustVariable+"=1")
	}
	if gymnasium := strings.HasPrefix(comp.Plugin, "gymnasium:"); gymnasium || c.received != "" && !c.trust {
		o.Env = append(o.Env, WithoutHere(gymnasium)...)
	}
	return o, err
}

// WithoutHere returns $PYTHONPATH, for the environment of a process, without the working directory,
// which may be somebody else's. An empty entry stands for it, as in $PYTHONPATH:/lib where the variable
// was not set. Named says that entries go, too, that name it.
func WithoutHere(named bool) []string {
	const name = "PYTHONPATH"
	path, ok := os.LookupEnv(name)
	if !ok {
		return nil
	}
	kept := slices.DeleteFunc(filepath.SplitList(path), func(dir string) bool {
		return dir == "" || named && filepath.Clean(dir) == "."
	})
	return []string{name + "=" + strings.Join(kept, string(os.PathListSeparator))}
}

// CheckEnds checks how the process of a component ends, if it has one of its own:
// see plugin.CheckEnds.
func (c *Catalogue) CheckEnds(ctx context.Context, comp plan.Component) (faults []error, err error) {
	found, transport, err := c.Resolve(comp)
	if err != nil || transport == plan.InProcess {
		return nil, err
	}
	o, err := c.launchOptions(comp, found)
	if err != nil {
		return nil, err
	}
	return plugin.CheckEnds(ctx, o)
}

// Identify says which program the plugin of a component is.
func (c *Catalogue) Identify(ctx context.Context, opened vector.Plugin, comp plan.Component) (p store.PluginProvenance, err error) {
	found, _, err := c.Resolve(comp)
	if err != nil {
		return p, err
	}
	d, err := opened.Describe(ctx)
	if err != nil {
		return p, err
	}
	p = store.PluginProvenance{Plugin: comp.Plugin, Args: comp.Args, ID: d.ID, Path: found.Command, Replaced: c.Replaced[comp.Plugin] != ""}
	own, started := opened.(process)
	if !started {
		return p, nil
	}
	p.Files = maps.Clone(own.Digests())
	if found.Bundled {
		return p, nil
	}
	p.SHA256 = strings.TrimPrefix(p.Files[filepath.Base(found.Command)], "sha256:")
	p.Sources = c.first(comp).sources
	p.Later, err = own.Sources(ctx)
	maps.DeleteFunc(p.Later, func(name, _ string) bool { return p.Sources[name] != "" })
	return p, err
}
