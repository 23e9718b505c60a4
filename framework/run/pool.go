package run

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/store"
	"github.com/rlrun/rlrun/framework/vector"
)

// Plugins finds the plugins of an experiment and opens them.
type Plugins interface {
	// Remote says whether a component runs in a process of its own. It starts
	// nothing. Its error says why the plugin cannot be called.
	Remote(c plan.Component) (bool, error)
	// Open gives access to a component's plugin. The returned close function ends
	// its processes, if it has any; it is called exactly once.
	Open(ctx context.Context, c plan.Component) (p vector.Plugin, close func() error, err error)
	// Identify says which program the plugin p of a component is.
	Identify(ctx context.Context, p vector.Plugin, c plan.Component) (store.PluginProvenance, error)
}

// Pairs are Plugins that can open an environment and an agent, which have been opened before, in one
// process, which close ends. Its error says why these two cannot share one.
type Pairs interface {
	Pair(ctx context.Context, environment, agent plan.Component) (e, a vector.Plugin, close func() error, err error)
}

// opened is a plugin in use.
type opened struct {
	plugin vector.Plugin
	close  func() error
}

// pool keeps the plugins that Check opened until a worker takes them over.
type pool struct {
	plugins Plugins
	mu      sync.Mutex
	idle    map[string]*opened
	took    map[string]time.Duration // that plugins took to open
}

func newPool(plugins Plugins) *pool {
	return &pool{plugins: plugins, idle: map[string]*opened{}, took: map[string]time.Duration{}}
}

// started returns how long a component's plugin took to open, the last time.
func (p *pool) started(c plan.Component) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.took[processKey(c)]
}

// processKey is equal for components that the same processes can serve.
func processKey(c plan.Component) string {
	// Strings and numbers have JSON.
	data, _ := json.Marshal([]any{c.Plugin, c.Args, c.Transport, c.Limits})
	return string(data)
}

// keep opens a component's plugin, unless it is open already, and leaves it in the
// pool.
func (p *pool) keep(ctx context.Context, c plan.Component) (vector.Plugin, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if o := p.idle[processKey(c)]; o != nil {
		return o.plugin, nil
	}
	began := time.Now()
	plugin, closePlugin, err := p.plugins.Open(ctx, c)
	if err != nil {
		return nil, err
	}
	p.took[processKey(c)] = time.Since(began)
	p.idle[processKey(c)] = &opened{plugin, closePlugin}
	return plugin, nil
}

// open is an Opener: it hands over the plugin in the pool, or opens another one.
func (p *pool) open(ctx context.Context, c plan.Component) (vector.Plugin, func() error, error) {
	p.mu.Lock()
	o := p.idle[processKey(c)]
	delete(p.idle, processKey(c))
	p.mu.Unlock()
	if o != nil {
		return o.plugin, o.close, nil
	}
	began := time.Now()
	plugin, closePlugin, err := p.plugins.Open(ctx, c)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.took[processKey(c)] = time.Since(began)
	return plugin, closePlugin, err
}

// retain closes the plugins in the pool that none of the components needs. Errors of
// processes that end change no result.
func (p *pool) retain(components ...plan.Component) {
	p.mu.Lock()
	defer p.mu.Unlock()
	needed := map[string]bool{}
	for _, c := range components {
		needed[processKey(c)] = true
	}
	for key, o := range p.idle {
		if !needed[key] {
			_ = o.close()
			delete(p.idle, key)
		}
	}
}
