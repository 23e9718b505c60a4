package plugins

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/internal/must"

	"github.com/rlrun/rlrun/framework/explore"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/rltest"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/options"
)

// Tasks that agents can be opened for.
var (
	oneState = framework.Spec{ID: "test/one@1", Observation: space.Discrete{N: 1}, Action: space.Discrete{N: 3}, RewardHigh: 1, Continuing: true}
	finite   = framework.Spec{ID: "test/finite@1", Observation: space.Discrete{N: 4}, Action: space.Discrete{N: 3}, RewardHigh: 1}
	boxed    = framework.Spec{ID: "test/boxed@1", Observation: space.Box{Low: []float64{-1}, High: []float64{1}, Shape: []int{2}}, Action: space.Discrete{N: 3}, RewardHigh: 1}
)

// taskOf returns a task for a bundled agent, and parameters.
func taskOf(name string) (framework.Spec, string) {
	switch {
	case name == "bandit":
		return oneState, `{"policy":{"kind":"vpi"},"belief":{"kind":"population","update":"poisson"}}`
	case strings.HasSuffix(name, "-linear"):
		return boxed, ``
	}
	return finite, ``
}

// agents returns the names of the bundled agents that have an ability, if one is
// named.
func agents(t *testing.T, ability string) (names []string) {
	t.Helper()
	for _, p := range All() {
		d := must.Get(p.Describe(t.Context()))(t)
		if d.Kind == vector.KindAgent && (ability == "" || slices.Contains(d.Abilities, ability)) {
			names = append(names, strings.TrimSuffix(strings.TrimPrefix(d.ID, "rlrun/"), "@1"))
		}
	}
	return names
}

func openAgent(t *testing.T, p vector.Plugin, params string, spec framework.Spec) vector.Agent {
	t.Helper()
	return must.Get(p.OpenAgent(t.Context(), json.RawMessage(params), spec, 2))(t)
}

// host is what one lane of two meets: random observations, rewards, ends of episodes,
// and decisions if kinds were offered, from a stream of its own.
type host struct {
	agent    vector.Agent
	spec     framework.Spec
	lane     int
	in       *vector.Feedback
	actions  space.Column
	problems []options.Problem
	deciding bool // the agent awaits a choice
	rng      *rand.Rand
	log      []string
}

func newHost(t *testing.T, agent vector.Agent, spec framework.Spec, lane int, seed uint64, kinds []options.Kind) *host {
	t.Helper()
	h := &host{agent: agent, spec: spec, lane: lane, in: vector.NewFeedback(spec, 2), actions: space.NewColumn(spec.Action, 2), rng: rand.New(rand.NewPCG(seed, 1))}
	h.in.Signals[lane], h.in.Seeds[lane] = vector.NewRun, seed
	if kinds != nil {
		h.problems = make([]options.Problem, 2)
		must.Do(t, agent.Abilities().Options.SetOptionKinds(t.Context(), kinds))
	}
	return h
}

// moved returns a host that goes on from where h is with another agent, in another
// lane.
func (h *host) moved(agent vector.Agent, lane int) *host {
	m := *h
	m.agent, m.lane = agent, lane
	m.in, m.actions = vector.NewFeedback(h.spec, 2), space.NewColumn(h.spec.Action, 2)
	m.in.Signals[lane], m.problems = h.in.Signals[h.lane], slices.Clone(h.problems)
	if h.deciding {
		m.problems[lane] = h.problems[h.lane]
	}
	return &m
}

// step makes a step, or half of one: up to a decision, and from it.
func (h *host) step(t *testing.T) {
	t.Helper()
	i := h.lane
	if h.deciding {
		h.deciding = false
		choices := []int{-1, -1}
		choices[i] = h.rng.IntN(len(h.problems[i].Arms))
		must.Do(t, h.agent.Abilities().Options.Choose(t.Context(), choices, &h.actions))
		h.acted()
		return
	}
	must.Do(t, h.in.Observations.Set(h.spec.Observation, i, space.Sample(h.spec.Observation, h.rng)))
	h.in.Rewards[i] = h.rng.Float64()
	goesOn := h.in.Signals[i] == vector.Continue
	h.in.Terminated[i] = goesOn && !h.spec.Continuing && h.rng.IntN(9) == 0
	h.in.Truncated[i] = goesOn && !h.spec.Continuing && h.rng.IntN(9) == 0
	epochs := make([]bool, 2)
	epochs[i] = h.problems != nil && (!goesOn && h.log == nil || h.rng.IntN(4) == 0) && !h.in.Terminated[i] && !h.in.Truncated[i]
	var err error
	if h.problems != nil {
		err = h.agent.Abilities().Options.StepOptions(t.Context(), h.in, epochs, &h.actions, h.problems)
	} else {
		err = h.agent.Step(t.Context(), h.in, &h.actions)
	}
	if err != nil {
		t.Fatal(err)
	}
	if h.deciding = epochs[i]; h.deciding {
		p := h.problems[i]
		h.log = append(h.log, fmt.Sprint(p.Arms, p.Values, p.Optimal, p.Greedy))
		return
	}
	h.acted()
}

// acted logs the action and says what is next.
func (h *host) acted() {
	i := h.lane
	h.in.Signals[i] = vector.Continue
	if h.in.Terminated[i] || h.in.Truncated[i] {
		h.in.Signals[i] = vector.NewEpisode
		return
	}
	h.log = append(h.log, fmt.Sprint(h.actions.Int64[i]))
}

func (h *host) steps(t *testing.T, n int) *host {
	t.Helper()
	for range n {
		h.step(t)
	}
	return h
}

// goesOn saves the agent of a lane after some steps and loads the state into a lane of
// another agent, which has had another run. It compares what these two and an agent that
// was never saved do from then on.
func goesOn(t *testing.T, p, q vector.Plugin, params string, spec framework.Spec, kinds []options.Kind, after int) {
	t.Helper()
	h := newHost(t, openAgent(t, p, params, spec), spec, 0, 5, kinds).steps(t, after)
	state := must.Get(vector.Save(t.Context(), h.agent, 0))(t)
	other := newHost(t, openAgent(t, q, params, spec), spec, 1, 6, kinds).steps(t, 30)
	for other.deciding {
		other.step(t)
	}
	must.Do(t, vector.Load(t.Context(), other.agent, 1, state))
	unseen := newHost(t, openAgent(t, p, params, spec), spec, 0, 5, kinds).steps(t, after)
	var logs [3][]string
	for k, h := range []*host{h, h.moved(other.agent, 1), unseen} {
		h.log, h.rng = []string{"saved"}, rand.New(rand.NewPCG(7, 1))
		logs[k] = h.steps(t, 100).log
	}
	for k := range logs[0] {
		if logs[1][k] != logs[0][k] {
			t.Fatalf("saved after %d steps, %d later it does\n%s, loaded\n%s", after, k, logs[0][k], logs[1][k])
		}
	}
	if !slices.Equal(logs[0], logs[2]) {
		t.Fatalf("saving after %d steps changes what it does", after)
	}
}

// Agents go on from a state bit for bit, also between a decision that they face and
// the choice, whatever options they are offered.
func TestAgentsGoOnFromAState(t *testing.T) {
	if all, able := agents(t, ""), agents(t, "checkpoint"); !slices.Equal(all, able) {
		t.Errorf("of %v only %v can be saved", all, able)
	}
	for _, name := range agents(t, "") {
		spec, params := taskOf(name)
		for _, after := range []int{1, 2, 40} {
			t.Run(fmt.Sprintf("%s/%d", name, after), func(t *testing.T) {
				goesOn(t, bundled(name), bundled(name), params, spec, nil, after)
			})
		}
	}
	kinds := []options.Kind{options.Members, options.Constants, options.Uniform, options.Deviations, options.Repeats}
	for _, name := range agents(t, "options") {
		spec, _ := taskOf(name)
		offers := [][]options.Kind{{options.Uniform}, kinds}
		if spec.ID == finite.ID {
			offers = append(offers, append(kinds[:len(kinds):len(kinds)], options.RecencyBonus, options.CountBonus))
		}
		more := map[string][]string{
			"bootstrap-q":      {``, `{"replays":0,"values":"actions","update":"poisson","schedule":"harmonic"}`, `{"replays":0,"evaluated":2,"members":4}`},
			"bootstrap-model":  {`{"members":3}`, `{"members":3,"belief":"posterior","growth":1}`},
			"bootstrap-linear": {``, `{"members":4,"traces":"cut"}`},
		}[name]
		for _, params := range more {
			for _, offer := range offers {
				for _, after := range []int{1, 2, 3, 50} {
					t.Run(fmt.Sprintf("%s%s/%v/%d", name, params, offer, after), func(t *testing.T) {
						goesOn(t, bundled(name), bundled(name), params, spec, offer, after)
					})
				}
			}
		}
	}
}

// hosted is an agent whose exploration the host decides.
func hosted(p vector.Plugin, c explore.Config) vector.Plugin {
	return &vector.AgentPlugin{Open: func(params json.RawMessage, spec framework.Spec, lanes int) (vector.Agent, error) {
		a, err := p.OpenAgent(context.Background(), params, spec, lanes)
		if err != nil {
			return nil, err
		}
		return explore.New(context.Background(), a.Abilities().Options, spec, lanes, c)
	}}
}

// Agents whose exploration the host decides go on from a state, too: within a window,
// with an estimate under way, with either estimator.
func TestHostedAgentsGoOnFromAState(t *testing.T) {
	gamma := options.DeciderConfig{Horizon: bandit.Discounted(0.9)}
	counts := explore.Config{Decider: gamma, Log: 10}
	series := explore.Config{Decider: gamma, Estimator: explore.Autocorrelation, Log: 3}
	drawn := explore.Config{Decider: options.DeciderConfig{Rule: options.RuleOptimisticStochastic, Horizon: bandit.Discounted(0.9)}, Commitment: options.CommitmentConfig{Fixed: 7}}
	pairs := explore.Config{Decider: options.DeciderConfig{Rule: options.RuleGain, Horizon: bandit.Discounted(0.9)}, Log: 10}
	for _, tt := range []struct {
		agent, params string
		configs       []explore.Config
	}{
		{"threshold-model", ``, []explore.Config{pairs}},
		{"threshold-model", `{"criterion":"run"}`, []explore.Config{pairs}},
		{"bootstrap-q", ``, []explore.Config{counts, series, drawn}},
		{"bootstrap-model", `{"members":3}`, []explore.Config{counts}},
		{"bootstrap-linear", `{"members":4}`, []explore.Config{series, drawn}},
	} {
		for k, c := range tt.configs {
			for _, after := range []int{1, 3, 60} {
				t.Run(fmt.Sprintf("%s/%d/%d", tt.agent, k, after), func(t *testing.T) {
					spec, _ := taskOf(tt.agent)
					p := hosted(bundled(tt.agent), c)
					goesOn(t, p, p, tt.params, spec, nil, after)
				})
			}
		}
	}
	a := openAgent(t, hosted(bundled("bootstrap-q"), counts), ``, finite)
	state := must.Get(vector.Save(t.Context(), newHost(t, a, finite, 0, 5, nil).steps(t, 50).agent, 0))(t)
	if err := vector.Load(t.Context(), openAgent(t, hosted(bundled("bootstrap-q"), drawn), ``, finite), 0, state); err == nil || !strings.Contains(err.Error(), "another exploration") {
		t.Errorf("%v", err)
	}
	for _, damaged := range [][]byte{nil, state[:len(state)/2], bytes.Repeat([]byte{7}, 1000)} {
		if err := vector.Load(t.Context(), a, 0, damaged); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%d bytes: %v", len(damaged), err)
		}
	}
	if again, err := vector.Save(t.Context(), a, 0); err != nil || !bytes.Equal(again, state) {
		t.Errorf("refused states changed the lane: %v", err)
	}
}

// In an evaluation agents act greedily, learn nothing and explore nothing; rewards
// there change no action. An agent that the host explores with follows the greedy
// option.
func TestGreedyEvaluation(t *testing.T) {
	for _, name := range agents(t, "greedy") {
		spec, params := taskOf(name)
		for _, host := range []bool{false, true} {
			p := bundled(name)
			if host {
				if !slices.Contains(agents(t, "options"), name) {
					continue
				}
				c := explore.Config{Decider: options.DeciderConfig{Horizon: bandit.Discounted(0.9)}}
				if name == "threshold-model" { // it offers pairs alone
					c.Decider.Rule = options.RuleGain
				}
				p = hosted(p, c)
			}
			t.Run(fmt.Sprintf("%s/%t", name, host), func(t *testing.T) {
				h := newHost(t, openAgent(t, p, params, spec), spec, 0, 5, nil).steps(t, 300)
				if !h.agent.Abilities().Greedy {
					t.Fatal("it is not greedy")
				}
				state := must.Get(vector.Save(t.Context(), h.agent, 0))(t)
				play := func(seed uint64) (actions []int64) {
					a := openAgent(t, p, params, spec)
					must.Do(t, vector.Load(t.Context(), a, 0, state))
					in, out, rng := vector.NewFeedback(spec, 2), space.NewColumn(spec.Action, 2), rand.New(rand.NewPCG(1, 1))
					rewards := rand.New(rand.NewPCG(seed, 2))
					seen := map[string]int64{}
					for k := range 200 {
						in.Signals[0] = vector.Evaluate
						if k%50 == 0 {
							in.Signals[0] = vector.EvaluateEpisode
						}
						in.Rewards[0] = rewards.Float64()
						o := space.Sample(spec.Observation, rng)
						must.Do(t, in.Observations.Set(spec.Observation, 0, o))
						must.Do(t, a.Step(t.Context(), in, &out))
						actions = append(actions, out.Int64[0])
						if before, ok := seen[fmt.Sprint(o)]; ok && before != out.Int64[0] {
							t.Fatalf("in %v it takes %d and %d", o, before, out.Int64[0])
						}
						seen[fmt.Sprint(o)] = out.Int64[0]
					}
					return actions
				}
				if x, y := play(1), play(2); !slices.Equal(x, y) {
					t.Errorf("rewards in an evaluation change actions: %v and %v", x, y)
				}
			})
		}
	}
}

// A state of another agent, parameters, task or offer is refused, as is one that is
// damaged, in one line; the lane is then as it was.
func TestStatesOfOthers(t *testing.T) {
	states := map[string][]byte{}
	hosts := map[string]*host{}
	for _, name := range agents(t, "") {
		spec, params := taskOf(name)
		h := newHost(t, openAgent(t, bundled(name), params, spec), spec, 0, 5, nil).steps(t, 20)
		state := must.Get(vector.Save(t.Context(), h.agent, 0))(t)
		states[name], hosts[name] = state, h
	}
	refuse := func(t *testing.T, a vector.Agent, state []byte, want string) {
		t.Helper()
		if err := vector.Load(t.Context(), a, 0, state); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for name, h := range hosts {
		t.Run(name, func(t *testing.T) {
			own := states[name]
			for other, state := range states {
				if other != name {
					refuse(t, h.agent, state, "another agent: rlrun/"+other)
				}
			}
			for _, state := range [][]byte{nil, {1}, own[:len(own)/2], own[:len(own)-1], append(slices.Clone(own), 0), bytes.Repeat([]byte{7}, 1000)} {
				refuse(t, h.agent, state, "damaged")
			}
			if again, err := vector.Save(t.Context(), h.agent, 0); err != nil || !bytes.Equal(again, own) {
				t.Errorf("refused states changed the lane: %v", err)
			}
			spec, params := taskOf(name)
			spec.Action = space.Discrete{N: 2}
			refuse(t, openAgent(t, bundled(name), params, spec), own, "another task")
		})
	}
	refuse(t, openAgent(t, bundled("psrl"), `{"alpha":0.5}`, finite), states["psrl"], "another agent's parameters")
	offered := openAgent(t, bundled("bootstrap-q"), ``, finite).Abilities().Options
	must.Do(t, offered.SetOptionKinds(t.Context(), []options.Kind{options.Uniform}))
	refuse(t, offered, states["bootstrap-q"], "another choice of options: none, where this is [uniform]")
}

// An agent of each package conforms as a process of its own, and goes on there from
// a state that was saved in this one.
func TestCheckpointsCrossProcesses(t *testing.T) {
	for _, name := range []string{"bandit", "psrl", "sarsa-linear"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec, params := taskOf(name)
			there, end := must.Get2(subprocess(context.Background(), plan.Component{Plugin: name}))(t)
			defer end()
			if err := rltest.CheckPlugin(t.Context(), there, json.RawMessage(params), spec); err != nil {
				t.Error(err)
			}
			goesOn(t, bundled(name), there, params, spec, nil, 50)
		})
	}
}
