package plugins

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/explore"
	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/run"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/store"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/options"
	"github.com/rlrun/rlrun/plugins/plugintest"
)

// serveEnv makes the test binary a plugin process: it names the bundled plugin
// to serve.
const serveEnv = "RLRUN_TEST_SERVE"

func TestMain(m *testing.M) {
	if name := os.Getenv(serveEnv); name != "" {
		plugin.Serve(bundled(name))
		return
	}
	os.Exit(m.Run())
}

// bundled returns the plugin with the name in the middle of its id.
func bundled(name string) vector.Plugin {
	for _, p := range All() {
		if d, err := p.Describe(context.Background()); err == nil && strings.HasPrefix(d.ID, "rlrun/"+name+"@") {
			return p
		}
	}
	panic("no plugin " + name)
}

// inProcess and subprocess are the two transports.
func inProcess(_ context.Context, c plan.Component) (vector.Plugin, func() error, error) {
	return bundled(c.Plugin), func() error { return nil }, nil
}

func subprocess(ctx context.Context, c plan.Component) (vector.Plugin, func() error, error) {
	p, err := plugin.Launch(ctx, plugin.LaunchConfig{Name: c.Plugin, Command: os.Args[0], Env: []string{serveEnv + "=" + c.Plugin}})
	if err != nil {
		return nil, nil, err
	}
	return p, p.Close, nil
}

func component(name, plugin, params string) plan.Component {
	return plan.Component{Name: name, Plugin: plugin, Params: json.RawMessage(params)}
}

// records runs an experiment and returns its records by key.
func records(t *testing.T, open run.Opener, workers, lanes int) map[result.Key]string {
	t.Helper()
	p := must.Get(plan.Compile(plan.Config{
		Name: "invariance", Runs: 7, Steps: 150, Workers: workers, Lanes: lanes,
		Environments: []plan.Component{
			component("bernoulli", "bernoulli-bandit", `{"arms":5}`),
			component("gaussian", "gaussian-bandit", `{"arms":3,"prior":{"kind":"uniform","low":0,"high":1},"drift":0.05,"hazard":0.01}`),
		},
		Agents: []plan.Component{
			component("egreedy", "bandit", `{"policy":{"kind":"epsilon-greedy"},"belief":{"kind":"population","members":4,"update":"poisson"}}`),
			component("ts", "bandit", `{"policy":{"kind":"thompson"},"belief":{"kind":"population"}}`),
			component("opt", "bandit", `{"policy":{"kind":"optimistic-stochastic","gamma":0.9,"lower_bound":0},"belief":{"kind":"population","update":"drawn"}}`),
		},
	}))(t)
	dir := t.TempDir()
	x := run.New(p, catalogue{open})
	x.Dir.Path = dir
	must.Do(t, x.Run(t.Context(), store.Refuse, run.Settings{}))
	must.Do(t, x.Close())
	m := map[result.Key]string{}
	for r, err := range result.ReadRecords(dir) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Status != result.OK {
			t.Fatalf("%v failed: %s", r.Key(), r.Error)
		}
		m[r.Key()] = string(r.AppendJSON(nil))
	}
	if len(m) != 2*3*7 {
		t.Fatalf("%d records, want %d", len(m), 2*3*7)
	}
	return m
}

// The records of the bundled bandits and their agent are the same, bit for bit,
// whatever the transport, the number of workers and the number of lanes.
func TestRecordsDoNotDependOnHowTheyAreMade(t *testing.T) {
	want := records(t, inProcess, 1, 1)
	for _, tt := range []struct {
		transport      string
		open           run.Opener
		workers, lanes int
	}{
		{"in process", inProcess, 3, 2},
		{"in process", inProcess, 1, 7},
		{"subprocess", subprocess, 1, 7},
		{"subprocess", subprocess, 2, 3},
	} {
		t.Run(fmt.Sprintf("%s, %d workers, %d lanes", tt.transport, tt.workers, tt.lanes), func(t *testing.T) {
			if got := records(t, tt.open, tt.workers, tt.lanes); !maps.Equal(got, want) {
				t.Error("records differ")
			}
		})
	}
}

// Lanes of bundled plugins that are stepped by themselves do what they do together,
// also where the host decides when they explore.
func TestSingleLanes(t *testing.T) {
	zero, params := 0.0, map[string]string{"rlrun/bandit@1": `{"policy":{"kind":"optimistic-stochastic","lower_bound":0}}`}
	hosts := []*explore.Config{
		nil,
		{Decider: options.DeciderConfig{Rule: options.RuleCommonModel, Horizon: bandit.Discounted(0.99)}, LowerBound: &zero, Log: 100},
		{Decider: options.DeciderConfig{Horizon: bandit.Finite(300), Rule: options.RuleOptimisticStochastic}, LowerBound: &zero, Commitment: options.CommitmentConfig{Fixed: 3}, Log: 100},
		{Decider: options.DeciderConfig{Horizon: bandit.Discounted(0.99), Rule: options.RuleIndex, Bound: bandit.V}, Estimator: explore.Autocorrelation, Log: 100},
	}
	if testing.Short() {
		hosts = hosts[:2] // make ci has the others
	}
	pairs := 0
	for _, env := range []struct{ name, params string }{
		{"bernoulli-bandit", `{"arms":5}`}, {"gaussian-bandit", `{"arms":3,"prior":{"kind":"uniform"}}`},
		{"riverswim", `{"limit":0}`}, {"riverswim", `{"limit":20}`}, {"frozenlake", ``}, {"chain", ``},
	} {
		e := must.Get(bundled(env.name).OpenEnvironment(t.Context(), json.RawMessage(env.params), 3))(t)
		for _, p := range All() {
			d := must.Get(p.Describe(t.Context()))(t)
			if d.Kind != vector.KindAgent {
				continue
			}
			for k, host := range hosts {
				open := func() vector.Agent {
					a, err := p.OpenAgent(t.Context(), json.RawMessage(params[d.ID]), e.Spec(), 3)
					if host != nil && err == nil {
						if able := a.Abilities().Options; able != nil {
							a, err = explore.New(t.Context(), able, e.Spec(), 3, *host)
						} else {
							err = framework.ErrUnsupported
						}
					}
					if errors.Is(err, framework.ErrUnsupported) {
						return nil
					} else if err != nil {
						t.Fatal(err)
					}
					return a
				}
				play := func(e vector.Environment, a vector.Agent) string {
					out := must.Get(loop.Run(t.Context(), loop.Batch{
						Environment: e, Agent: a, Runs: []int{4, 0, 7}, Seeds: seed.NewSource(3, e.Spec().ID), Steps: 200, Grid: loop.LogGrid(30, 200), Discount: 0.9,
						Metrics: []result.Metric{result.Reward, result.Regret, result.EpisodeReturn, result.OptimalAction, result.ExplorationShare, result.MixingTime},
					}))(t)
					return fmt.Sprint(out) // NaN = NaN
				}
				a := open()
				if a == nil {
					continue
				}
				pairs++
				if e.Abilities().PlayLane == nil {
					t.Errorf("%s cannot be stepped by single lanes", env.name)
				}
				if a.Abilities().Lane == nil {
					t.Errorf("%s, host %d, cannot be stepped by single lanes", d.ID, k)
				}
				single, together := play(e, a), play(vector.WithAbilities(e, vector.EnvironmentAbilities{Models: e.Abilities().Models}), open())
				if single != together {
					t.Errorf("%s %s, %s, host %d: by themselves\n%s, together\n%s", env.name, env.params, d.ID, k, single, together)
				}
			}
		}
	}
	if pairs < 100 {
		t.Errorf("%d pairs", pairs)
	}
}

// Ten thousand steps more of single lanes allocate nothing more.
func TestSingleLanesDoNotAllocate(t *testing.T) {
	for _, tt := range []struct {
		env, agent, params string
		host               *explore.Config
	}{
		{"bernoulli-bandit", "bandit", `{"policy":{"kind":"thompson"}}`, nil},
		{"gaussian-bandit", "bandit", `{"policy":{"kind":"vpi"},"belief":{"kind":"normal-gamma"}}`, nil},
		{"riverswim", "q-learning", ``, nil},
		{"riverswim", "bootstrap-q", ``, &explore.Config{Decider: options.DeciderConfig{Rule: options.RuleCommonModel, Horizon: bandit.Discounted(0.99)}, Commitment: options.CommitmentConfig{Fixed: 5}}},
	} {
		e := must.Get(bundled(tt.env).OpenEnvironment(t.Context(), nil, 2))(t)
		a := must.Get(bundled(tt.agent).OpenAgent(t.Context(), json.RawMessage(tt.params), e.Spec(), 2))(t)
		if tt.host != nil {
			a = must.Get(explore.New(t.Context(), a.Abilities().Options, e.Spec(), 2, *tt.host))(t)
		}
		allocations := func(steps int) float64 {
			return testing.AllocsPerRun(2, func() {
				must.Get(loop.Run(t.Context(), loop.Batch{
					Environment: e, Agent: a, Runs: []int{0, 1}, Seeds: seed.NewSource(1, e.Spec().ID), Steps: steps,
				}))(t)
			})
		}
		if more := allocations(11_000) - allocations(1000); more > 0 {
			t.Errorf("%s, %s: %v allocations in 10,000 steps", tt.env, tt.agent, more)
		}
	}
}

// All agents of an experiment meet the same arms and, pulling the same arm at the
// same step of a run, the same rewards. So two agents that act alike have equal
// records, except for their labels.
func TestAgentsMeetTheSameDraws(t *testing.T) {
	p := must.Get(plan.Compile(plan.Config{
		Name: "common", Runs: 3, Steps: 200,
		Environments: []plan.Component{component("b", "bernoulli-bandit", `{"arms":4}`)},
		Agents: []plan.Component{
			component("x", "bandit", `{"policy":{"kind":"greedy"}}`),
			component("y", "bandit", `{"policy":{"kind":"epsilon-greedy","epsilon":0}}`),
		},
	}))(t)
	dir := t.TempDir()
	x := run.New(p, catalogue{inProcess})
	x.Dir.Path = dir
	must.Do(t, x.Run(t.Context(), store.Refuse, run.Settings{}))
	must.Do(t, x.Close())
	lines := map[int]string{}
	for r, err := range result.ReadRecords(dir) {
		if err != nil {
			t.Fatal(err)
		}
		r.Agent, r.Experiment = "", "" // which differ
		text := string(r.AppendJSON(nil))
		if other, seen := lines[r.Run]; seen && other != text {
			t.Errorf("run %d differs:\n%s\n%s", r.Run, other, text)
		}
		lines[r.Run] = text
	}
}

// Every bundled plugin passes the conformance suite, called directly and through
// the seam.
func TestBundledPluginsConform(t *testing.T) {
	bernoulli := must.Get(bundled("bernoulli-bandit").OpenEnvironment(t.Context(), json.RawMessage(`{"arms":3}`), 1))(t)
	car := must.Get(bundled("mountaincar").OpenEnvironment(t.Context(), nil, 1))(t)
	params := map[string]json.RawMessage{
		"rlrun/bandit@1": json.RawMessage(`{"policy":{"kind":"optimistic-stochastic"}}`),
		"rlrun/model@1":  json.RawMessage(`{"file":"testdata/ferry.json"}`),
	}
	for _, p := range All() {
		d := must.Get(p.Describe(t.Context()))(t)
		t.Run(d.ID, func(t *testing.T) {
			t.Parallel()
			plugintest.Conform(t, p, params[d.ID], bernoulli.Spec(), car.Spec())
		})
	}
}

func TestBundledNamesAreDistinct(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range All() {
		d := must.Get(p.Describe(t.Context()))(t)
		if seen[d.ID] || !strings.HasPrefix(d.ID, "rlrun/") || !strings.HasSuffix(d.ID, "@1") || d.Doc == "" || !json.Valid(d.Params) {
			t.Errorf("%q: every plugin needs an id of its own, a sentence and a schema", d.ID)
		}
		seen[d.ID] = true
	}
}
