package host

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/framework/experiment"
	"github.com/rlrun/rlrun/framework/plugin"
)

// LockName is the name of lock files.
const LockName = "rlrun.lock.yaml"

// UseLock takes up the lock file that a run is held to: the one that is named, or
// one beside the config, or one in this directory, or none.
func (c *Catalogue) UseLock(named, configName string) error {
	candidates := []string{named}
	if named == "" {
		candidates = []string{LockName}
		if beside := filepath.Join(filepath.Dir(configName), LockName); configName != "-" && beside != LockName {
			candidates = []string{beside, LockName}
		}
	}
	for _, path := range candidates {
		pins, err := plugin.ReadPins(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return cli.Usage(err)
		}
		c.lock, c.pins = path, pins
		return nil
	}
	if named != "" {
		return cli.Usagef("--lock: there is no file %s; write it with rlrun plugin lock", named)
	}
	return nil
}

// checkPin refuses a plugin that is not as the lock file says.
func (c *Catalogue) checkPin(comp experiment.Component, found plugin.Found) error {
	if c.pins == nil || c.Replaced[comp.Plugin] != "" {
		return nil
	}
	return c.pins.Check(c.lock, found, comp.Plugin, comp.Args...)
}

// checkSources refuses a process that has imported something else than the lock
// file says.
func (c *Catalogue) checkSources(ctx context.Context, comp experiment.Component, found plugin.Found, p *plugin.Process) error {
	if c.pins == nil || found.Bundled || c.Replaced[comp.Plugin] != "" {
		return nil
	}
	sources, err := p.Sources(ctx)
	if err != nil {
		return err
	}
	return c.pins.CheckSources(c.lock, sources, comp.Plugin, comp.Args...)
}

// Sources starts a plugin and asks what it has imported.
func (c *Catalogue) Sources(ctx context.Context, comp experiment.Component) (map[string]string, error) {
	comp.ProcessesPerWorker = 1
	p, closePlugin, err := c.Open(ctx, comp)
	if err != nil {
		return nil, err
	}
	defer func() { _ = closePlugin() }() // an ending process changes nothing
	process, ok := p.(*plugin.Process)
	if !ok {
		return nil, nil
	}
	return process.Sources(ctx)
}
