package plugin_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
)

// compiled is how long compiling takes to open.
const compiled = 600 * time.Millisecond

// compiling is an environment that compiles when it is opened, with flags from the
// host's environment.
func compiling() vector.Plugin {
	p := *faultyEnvironment().(*vector.EnvironmentPlugin)
	open := p.Open
	p.Open = func(params json.RawMessage, lanes int) (vector.Environment, error) {
		for _, name := range []string{"XLA_FLAGS", "JAX_PLATFORMS", "CUDA_CACHE_PATH", "NVIDIA_TF32_OVERRIDE"} {
			if os.Getenv(name) != "1" {
				return nil, fmt.Errorf("%s is %q", name, os.Getenv(name))
			}
		}
		if os.Getenv("SECRET_TOKEN") != "" {
			return nil, errors.New("the token is here")
		}
		time.Sleep(compiled)
		return open(params, lanes)
	}
	return &p
}

// Opening has a limit of its own, longer than the limit of a call. The plugin says how
// many lanes suit it, and gets the host's settings of compilers and devices.
func TestOpening(t *testing.T) {
	for _, name := range []string{"XLA_FLAGS", "JAX_PLATFORMS", "CUDA_CACHE_PATH", "NVIDIA_TF32_OVERRIDE", "SECRET_TOKEN"} {
		t.Setenv(name, "1")
	}
	p := launch(t, plugin.LaunchConfig{CallTimeout: compiled / 3}, "serve-compiling")
	d, err := p.Describe(t.Context())
	if err != nil || d.PreferredLanes != 2 {
		t.Errorf("prefers %d lanes, %v", d.PreferredLanes, err)
	}
	env := must.Get(p.OpenEnvironment(t.Context(), params(t, "none"), 4))(t)
	if err := env.Close(); err != nil {
		t.Error(err)
	}
	short := launch(t, plugin.LaunchConfig{OpenTimeout: compiled / 3}, "serve-compiling")
	if _, err := short.OpenEnvironment(t.Context(), params(t, "none"), 4); !errors.Is(err, plugin.ErrTimeout) || !strings.Contains(err.Error(), "limits.open allows more") {
		t.Errorf("%v", err)
	}
}
