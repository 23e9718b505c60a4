// Package examples_test runs the examples that are not in Go.
package examples_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/framework/rltest"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
)

// node starts the gambler in JavaScript, where there is Node with what
// node/package.json asks for.
func node(t testing.TB) *plugin.Process {
	t.Helper()
	path, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node here")
	}
	if _, err := os.Stat("node/node_modules"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("run npm ci --prefix examples/node first")
		}
		t.Skip("for the example in JavaScript, run npm ci --prefix examples/node")
	}
	p, err := plugin.Launch(t.Context(), plugin.LaunchConfig{Name: "gambler", Command: path, Args: []string{"node/gambler.js"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// A plugin in another language, written after docs/protocol.md, keeps every rule.
func TestNodeConforms(t *testing.T) {
	p := node(t)
	for _, params := range []string{`{"goal":7,"heads":0.55}`, ``} {
		if params == "" && testing.Short() {
			break // make ci has it
		}
		if err := rltest.CheckPlugin(t.Context(), p, json.RawMessage(params)); err != nil {
			t.Errorf("%s: %v", params, err)
		}
	}
}

// So does one in Rust, whose TLS library takes no authority's certificate for a
// client's. Its process ends as the protocol says.
func TestRustConforms(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles gRPC for minutes; make ci does it")
	}
	cargo, err := exec.LookPath("cargo")
	if err != nil {
		t.Skip("no cargo here")
	}
	build := exec.Command(cargo, "build", "--release", "--locked", "--quiet")
	build.Dir = "rust"
	build.Env = append(os.Environ(), "CARGO_PROFILE_RELEASE_OPT_LEVEL=0") // compiles several times faster
	if out, err := build.CombinedOutput(); err != nil {
		if strings.Contains(string(out), "failed to download") || strings.Contains(string(out), "requires rustc") {
			t.Skipf("its packages cannot be had here: %s", out)
		}
		t.Fatalf("%v\n%s", err, out)
	}
	target := cmp.Or(os.Getenv("CARGO_TARGET_DIR"), "rust/target")
	o := plugin.LaunchConfig{Name: "gambler", Command: filepath.Join(target, "release/rlrun-plugin-gambler")}
	p, err := plugin.Launch(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := rltest.CheckPlugin(t.Context(), p, json.RawMessage(`{"goal":7,"heads":0.55}`)); err != nil {
		t.Error(err)
	}
	faults, err := plugin.CheckEnds(t.Context(), o)
	if err != nil || len(faults) > 0 {
		t.Error(faults, err)
	}
}

// Bold play is optimal where the coin is unfair, and wins from half the goal with
// the probability of one head (Dubins & Savage 1965).
func TestNodeModel(t *testing.T) {
	p := node(t)
	env, err := p.OpenEnvironment(t.Context(), nil, 2)
	if err != nil {
		t.Fatal(err)
	}
	models, err := vector.Models(t.Context(), env)
	if err != nil {
		t.Fatal(err)
	}
	value, _, err := mdp.SolveHorizon(models[1], 100_000)
	if err != nil {
		t.Fatal(err)
	}
	if v := value[50]; math.Abs(v-0.4) > 1e-9 {
		t.Errorf("value %v of half the goal, want 0.4", v)
	}
}

func TestNodeErrors(t *testing.T) {
	p := node(t)
	if _, err := p.OpenEnvironment(t.Context(), json.RawMessage(`{"goal":1}`), 1); !errors.Is(err, framework.ErrInvalidParams) {
		t.Errorf("got %v", err)
	}
	env, err := p.OpenEnvironment(t.Context(), nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.OpenAgent(t.Context(), nil, env.Spec(), 1); !errors.Is(err, framework.ErrUnsupported) {
		t.Errorf("opened as an agent: %v", err)
	}
	if _, err := vector.Render.Ask(t.Context(), env, 0); !errors.Is(err, framework.ErrUnsupported) {
		t.Errorf("drawn: %v", err)
	}
}

// What a step returns is checked as it is, and not made a number or a boolean.
func TestNodeCasts(t *testing.T) {
	node(t) // or skip
	sdk := must.Get(filepath.Abs("node/rlrun.js"))(t)
	steps := []string{`{ observation: 0, reward: "1" }`, `{ observation: 0, reward: null }`, `{ observation: 0, reward: true }`, `{ observation: "0", reward: 1 }`,
		`{ observation: 0.5, reward: 1 }`, `{ observation: 0, reward: 1, terminated: "False" }`, `{ observation: 0, reward: 1, truncated: 1 }`, `{ reward: 1 }`}
	script := filepath.Join(t.TempDir(), "casts.mjs")
	must.Do(t, os.WriteFile(script, []byte(`import { serve } from "`+sdk+`";
class Casts {
  constructor({ kind }) { this.kind = kind; }
  get spec() { return { observation: { n: 2 }, action: { n: 2 }, rewardLow: 0, rewardHigh: 1 }; }
  reset() { return 0; }
  step() { return [`+strings.Join(steps, ", ")+`][this.kind]; }
}
const params = { type: 'object', properties: { kind: { type: 'integer', description: 'The step.' } } };
serve({ id: 'test/casts@1', doc: 'Steps of other types.', params, Environment: Casts });
`), 0o600))
	p := must.Get(plugin.Launch(t.Context(), plugin.LaunchConfig{Name: "casts", Command: "node", Args: []string{script}}))(t)
	defer p.Close()
	for kind, step := range steps {
		err := rltest.CheckPlugin(t.Context(), p, fmt.Appendf(nil, `{"kind": %d}`, kind))
		if err == nil || !strings.Contains(err.Error(), "an integer, a number and two booleans are asked for") {
			t.Errorf("%s: %v", step, err)
		}
	}
}

// By hand, or by a program that is not rlrun, it says what it is for.
func TestNodeByHand(t *testing.T) {
	node(t) // or skip
	for _, cookie := range []string{"", "wrong"} {
		var stderr bytes.Buffer
		cmd := exec.Command("node", "node/gambler.js")
		cmd.Env, cmd.Stderr = append(os.Environ(), "RLRUN_PLUGIN="+cookie), &stderr
		err := cmd.Run()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.Contains(stderr.String(), "is a plugin for rlrun") {
			t.Errorf("cookie %q: got %v: %s", cookie, err, stderr.String())
		}
	}
}
