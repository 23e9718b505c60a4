package plugins

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/framework/explore"
	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/metric"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/options"
)

// property is a parameter in a schema.
type property struct {
	Type             string
	Enum             []any
	Default          any
	Minimum          *float64
	Maximum          *float64
	ExclusiveMinimum *float64
	ExclusiveMaximum *float64
	Properties       map[string]property
	AnyOf            []property // the kinds of a mapping {kind: NAME, …}
	Const            any
	Exploration      string `json:"x-exploration"`
}

// others are values of a parameter that may have another effect than its default.
func (p property) others() (values []any) {
	number, _ := p.Default.(float64)
	candidates := []float64{50, -50, 0, 1, 2, 3, 20, 0.3, 0.05, 0.7, number * 2, number / 3, number + 7}
	switch p.Type {
	case "string":
		for _, v := range p.Enum {
			if v != p.Default {
				values = append(values, v)
			}
		}
	case "boolean":
		return []any{p.Default != true}
	case "array": // bounds of two elements, as mountaincar has, or a map
		return []any{[]float64{-0.9, -0.05}, []float64{0.4, 0.05}, []string{"SH", "FG"}}
	case "integer", "number":
		for _, x := range candidates {
			if x != number && (p.Type == "number" || x == math.Trunc(x)) && p.contains(x) {
				values = append(values, x)
			}
		}
	}
	return values
}

func (p property) contains(x float64) bool {
	return (p.Minimum == nil || x >= *p.Minimum) && (p.Maximum == nil || x <= *p.Maximum) &&
		(p.ExclusiveMinimum == nil || x > *p.ExclusiveMinimum) && (p.ExclusiveMaximum == nil || x < *p.ExclusiveMaximum)
}

// flat are the parameters of a schema by their names, those of mappings behind a point.
func flat(prefix string, properties map[string]property, into map[string]property) {
	for name, p := range properties {
		if p.Properties != nil {
			flat(prefix+name+".", p.Properties, into)
		} else {
			into[prefix+name] = p
		}
	}
}

// set returns values and one more, as parameters.
func set(values map[string]any, name string, value any) map[string]any {
	values = maps.Clone(values)
	if values == nil {
		values = map[string]any{}
	}
	first, rest, nested := strings.Cut(name, ".")
	if nested {
		inner, _ := values[first].(map[string]any)
		value = set(inner, rest, value)
	}
	values[first] = value
	return values
}

// refused is what an error says of a parameter that has no effect beside the others.
var refused = regexp.MustCompile("has no effect|needs a belief of kind|must be given")

// checkEffects fails unless each parameter changes what is done, or is refused, beside each of the bases
// that is accepted, and beside each choice of another parameter that has choices or is a switch, unless it
// is excepted. If short, the other parameters have the values of the first base. done returns what is done
// in one task after the other, up to the first where it is not plain; nil: in all tasks.
func checkEffects(t *testing.T, short bool, all map[string]property, bases []map[string]any, switches map[string][]any, done func(params map[string]any, plain []string) ([]string, error), excepted func(context map[string]any, name string) bool) {
	t.Helper()
	names := slices.Sorted(maps.Keys(all))
	tried := 0
	try := func(context map[string]any, varied string) {
		plain, err := done(context, nil)
		if err != nil {
			return
		}
		for _, name := range names {
			if _, chosen := context[name]; chosen || name == varied || excepted(context, name) {
				continue
			}
			tried++
			if !slices.ContainsFunc(all[name].others(), func(v any) bool {
				got, err := done(set(context, name, v), plain)
				if err != nil {
					return refused.MatchString(err.Error())
				}
				return !slices.Equal(got, plain)
			}) {
				t.Errorf("with %v, %s is accepted and changes nothing", context, name)
			}
		}
	}
	for _, base := range bases {
		try(base, "")
		if short {
			break
		}
		for _, name := range names {
			values := switches[name]
			if kind := all[name].Type; values == nil && (kind == "string" || kind == "boolean") {
				values = all[name].others()
			}
			for _, v := range values {
				try(set(base, name, v), name)
			}
		}
	}
	if tried == 0 {
		t.Error("nothing was tried")
	}
}

// schemaOf returns the schema of a plugin's parameters, and these by their names.
func schemaOf(t *testing.T, d vector.Description) (schema property, all map[string]property) {
	t.Helper()
	must.Do(t, json.Unmarshal(d.Params, &schema))
	all = map[string]property{}
	flat("", schema.Properties, all)
	return schema, all
}

// Every parameter of every bundled agent changes what the agent does, in some of its tasks, or is
// refused.
func TestEveryParameterHasAnEffectOrIsRefused(t *testing.T) {
	// These act after a hundred tries of a pair or fifteen of each (boss, psrl, e3), in tasks of another
	// size (residual), where episodes are cut short (ignore_last), on values too far from what is
	// learned in 200 steps (low), or by a bonus that is small beside the first values (ucb-q).
	elsewhere := map[string]bool{"residual": true, "max_repeat": true, "ignore_last": true, "rlrun/bootstrap-model@1 members": true,
		"rlrun/boss@1 tau": true, "rlrun/boss@1 tau0": true, "rlrun/boss@1 mu0": true, "rlrun/psrl@1 tau": true, "rlrun/psrl@1 tau0": true, "rlrun/e3@1 gamma": true, "rlrun/e3@1 reward_low": true, "rlrun/bootstrap-q@1 low": true,
		"rlrun/ucb-q@1 bonus": true, "rlrun/ucb-q@1 delta": true}
	switches := map[string][]any{"replays": {0, 5}, "horizon": {0, 4}, "planning": {0}, "lambda": {0}, "samples": {1, 3}, "gamma": {0}, "epsilon": {0}}
	for _, p := range All() {
		d := must.Get(p.Describe(t.Context()))(t)
		if d.Kind != vector.KindAgent || d.ID == "rlrun/bandit@1" || d.ID == "rlrun/random@1" {
			continue
		}
		t.Run(d.ID, func(t *testing.T) {
			t.Parallel()
			_, all := schemaOf(t, d)
			bases := []map[string]any{{}}
			if d.ID == "rlrun/bayesian-q@1" { // two choices beside each other
				bases = append(bases, map[string]any{"select": "greedy", "update": "moment"})
			}
			switches := switches
			if d.ID == "rlrun/linear-bandit@1" { // whose horizon is the run, and four steps are too few
				switches = map[string][]any{"horizon": {0, 40}}
			}
			checkEffects(t, testing.Short(), all, bases, switches, func(params map[string]any, plain []string) ([]string, error) { return act(t, p, params, plain) }, func(context map[string]any, name string) bool {
				return strings.HasPrefix(all[name].Exploration+" ", "with ") || elsewhere[name] || elsewhere[d.ID+" "+name] ||
					context["gamma"] == 0 && (name == "sd" || name == "refine") || // which act where rewards vary
					name == "traces" && context["update"] == "drawn" // which act if a member acts that did not learn before
			})
		})
	}
}

// So does every parameter of every policy of the agent bandit, and of every belief.
func TestEveryParameterOfBanditsHasAnEffectOrIsRefused(t *testing.T) {
	// Parameters beside which the others act within 300 pulls, and those that must be given.
	beside := map[string]string{
		"bayes-ucb": `{"policy":{"confidence":1,"horizon":100}}`, "e3": `{"policy":{"gamma":0.5,"accuracy":2}}`, "gittins": `{"policy":{"gamma":0.5}}`,
		"successive-elimination": `{"policy":{"accuracy":2}}`, "median-elimination": `{"policy":{"accuracy":2}}`, "budgeted": `{"policy":{"budget":20}}`,
		"backward-induction": `{"policy":{"horizon":15}}`, "knowledge-gradient": `{"belief":{"kind":"gaussian"}}`,
	}
	p := bundled("bandit")
	schema, _ := schemaOf(t, must.Get(p.Describe(t.Context()))(t))
	for _, of := range []string{"policy", "belief"} {
		for _, kind := range schema.Properties[of].AnyOf {
			name := kind.Properties["kind"].Const.(string)
			t.Run(of+" "+name, func(t *testing.T) {
				t.Parallel()
				delete(kind.Properties, "kind")
				all := map[string]property{}
				flat(of+".", kind.Properties, all)
				if len(all) == 0 {
					return
				}
				base := map[string]any{}
				must.Do(t, json.Unmarshal([]byte(cmp.Or(beside[name], `{}`)), &base))
				bases := []map[string]any{set(base, "policy.kind", name)}
				switch {
				case name == "point":
					bases = []map[string]any{set(set(nil, "policy.kind", "greedy"), "belief.kind", name)}
				case of == "belief":
					bases = []map[string]any{set(set(nil, "policy.kind", "thompson"), "belief.kind", name), set(set(nil, "policy.kind", "greedy"), "belief.kind", name)}
				case len(base) == 0 && name != "optimistic": // on beta, its orders hardly ever differ
					bases = append(bases, set(bases[0], "belief.kind", "beta"))
				}
				checkEffects(t, testing.Short(), all, bases, nil, func(params map[string]any, plain []string) ([]string, error) { return act(t, p, params, plain) }, func(map[string]any, string) bool { return false })
			})
		}
	}
}

// hosts are explorations, by which each parameter that needs one has an effect.
func hosts(id string) []explore.Config {
	if id == "rlrun/threshold-model@1" { // whose options are pairs
		return []explore.Config{{Decider: options.DeciderConfig{Rule: options.RuleGain, Horizon: bandit.Discounted(0.99)}}}
	}
	bonus := []options.Kind{options.RecencyBonus, options.Uniform}
	if id == "rlrun/bootstrap-linear@1" { // which counts no states
		bonus = bonus[1:]
	}
	return []explore.Config{
		{Decider: options.DeciderConfig{Rule: options.RuleOptimistic, Bound: bandit.V, Horizon: bandit.Discounted(0.99)}, Commitment: options.CommitmentConfig{Fixed: 3}},
		{Decider: options.DeciderConfig{Rule: options.RuleIndex, Bound: bandit.V, Horizon: bandit.Discounted(0.99)}, Commitment: options.CommitmentConfig{Fixed: 2}, Kinds: bonus},
	}
}

// A parameter that acts only where the host explores, or only where it does not, says so in its
// schema, and no other does.
func TestExplorationAndParameters(t *testing.T) {
	if testing.Short() {
		t.Skip("twenty processor seconds; make ci runs it")
	}
	for _, p := range All() {
		d := must.Get(p.Describe(t.Context()))(t)
		if d.Kind != vector.KindAgent || !slices.Contains(d.Abilities, "options") {
			continue
		}
		t.Run(d.ID, func(t *testing.T) {
			t.Parallel()
			_, all := schemaOf(t, d)
			plain := map[bool][]string{true: must.Get(act(t, p, nil, nil, hosts(d.ID)...))(t), false: must.Get(act(t, p, nil, nil))(t)}
			for _, name := range slices.Sorted(maps.Keys(all)) {
				_, refused := act(t, p, set(nil, name, all[name].Default), nil)
				if refused != nil {
					continue // it needs another value of another parameter
				}
				acts := func(hosts ...explore.Config) bool {
					return slices.ContainsFunc(all[name].others(), func(v any) bool {
						plain := plain[len(hosts) > 0]
						got, err := act(t, p, set(nil, name, v), plain, hosts...)
						return err == nil && !slices.Equal(got, plain)
					})
				}
				with, without := acts(hosts(d.ID)...), acts()
				keyword, _, _ := strings.Cut(all[name].Exploration, " ") // a kind of options follows
				if want := map[string][2]bool{"with": {true, false}, "without": {false, true}, "": {with || without, with || without}}[keyword]; want != [2]bool{with, without} {
					t.Errorf("%s, x-exploration %q: acts with exploration: %t, without: %t", name, all[name].Exploration, with, without)
				}
			}
		})
	}
}

// act is what an agent does with parameters in three tasks, one after the other: by itself, or with each
// exploration. It ends with the first task in which this is not plain, unless plain is nil. The error is that
// of a task, if the agent accepts none.
func act(t *testing.T, p vector.Plugin, params map[string]any, plain []string, hosts ...explore.Config) (done []string, err error) {
	if len(hosts) > 1 {
		for _, h := range hosts {
			did, err := act(t, p, params, plain[min(len(done), len(plain)):], h)
			if err != nil {
				return nil, err
			}
			if done = append(done, did...); differs(done, plain) {
				break
			}
		}
		return done, nil
	}
	const lanes = 2
	steps := 200
	raw := must.Get(json.Marshal(params))(t)
	accepted := false
	d := must.Get(p.Describe(t.Context()))(t)
	tasks := [][2]string{{"mountaincar", `{}`}, {"cartpole", `{}`}}
	switch {
	case d.ID == "rlrun/bandit@1":
		steps = 300
		tasks = [][2]string{{"bernoulli-bandit", `{"arms":2}`}, {"bernoulli-bandit", `{"arms":8}`}, {"gaussian-bandit", `{"arms":3}`}}
	case d.ID == "rlrun/linear-bandit@1":
		tasks = [][2]string{{"contextual-bandit", `{"features":2}`}, {"contextual-bandit", `{"contexts":3}`}}
	case strings.Contains(d.ID, "linear"):
		steps = 400
	default:
		tasks = [][2]string{{"gridworld", `{"rows":2,"cols":3,"slip":0.1,"step_reward":-0.1}`}, {"riverswim", `{"states":4}`}, {"chain", `{}`}}
	}
	for _, task := range tasks {
		e := must.Get(bundled(task[0]).OpenEnvironment(t.Context(), json.RawMessage(task[1]), lanes))(t)
		spec := e.Spec()
		spec.Steps = steps
		a, openErr := p.OpenAgent(t.Context(), raw, spec, lanes)
		if openErr != nil {
			err, done = cmp.Or(err, openErr), append(done, "")
			continue
		}
		accepted = true
		for _, h := range hosts {
			a = must.Get(explore.New(t.Context(), a.Abilities().Options, spec, lanes, h))(t)
		}
		outcomes, runErr := loop.Run(t.Context(), loop.Batch{
			Environment: e, Agent: a, Runs: []int{0, 1}, Seeds: seed.NewSource(1, spec.ID), Steps: steps, Grid: everyStep(steps), Discount: 1, Metrics: []result.Metric{result.Reward, metric.EpisodeRate},
		})
		if runErr != nil { // as of values that diverge
			done = append(done, runErr.Error())
		} else {
			done = append(done, written(outcomes))
		}
		_ = a.Close()
		_ = e.Close()
		if differs(done, plain) {
			break
		}
	}
	if accepted {
		err = nil
	}
	return done, err
}

// differs tells whether something was done that is not plain.
func differs(done, plain []string) bool {
	return len(plain) > 0 && !slices.Equal(done, plain[:min(len(done), len(plain))])
}

// written holds the curves of outcomes, to the bit.
func written(outcomes []loop.Outcome) string {
	var data []byte
	for _, o := range outcomes {
		for _, m := range []result.Metric{result.Reward, metric.EpisodeRate} {
			data, _ = binary.Append(data, binary.LittleEndian, o.Curves[m])
		}
	}
	return string(data)
}

// Every parameter of every bundled environment changes what happens to a random agent, or what the
// environment says of itself, or is refused.
func TestEveryParameterOfEnvironmentsHasAnEffectOrIsRefused(t *testing.T) {
	// These act where a random agent seldom comes: at the goal of mountaincar, at the treasure of deepsea, and after
	// many steps.
	seldom := map[string]bool{"rlrun/acrobot@1 dynamics": true, "rlrun/deepsea@1 empty": true, "rlrun/mountaincar@1 goal_velocity": true}
	for _, p := range All() {
		d := must.Get(p.Describe(t.Context()))(t)
		if d.Kind != vector.KindEnvironment || d.ID == "rlrun/model@1" { // whose parameters are files
			continue
		}
		t.Run(d.ID, func(t *testing.T) {
			t.Parallel()
			_, all := schemaOf(t, d)
			checkEffects(t, testing.Short(), all, []map[string]any{{}}, nil, func(params map[string]any, _ []string) ([]string, error) { return happens(t, p, params) }, func(context map[string]any, name string) bool {
				return len(all[name].others()) == 0 || seldom[d.ID+" "+name]
			})
		})
	}
}

// happens is what happens to a random agent, and what the environment says of itself.
func happens(t *testing.T, p vector.Plugin, params map[string]any) ([]string, error) {
	const lanes, steps = 2, 300
	e, err := p.OpenEnvironment(t.Context(), must.Get(json.Marshal(params))(t), lanes)
	if err != nil {
		return nil, err
	}
	spec := e.Spec()
	a := must.Get(bundled("random").OpenAgent(t.Context(), nil, spec, lanes))(t)
	outcomes, err := loop.Run(t.Context(), loop.Batch{
		Environment: e, Agent: a, Runs: []int{0, 1}, Seeds: seed.NewSource(1, spec.ID), Steps: steps, Grid: everyStep(steps), Discount: 1, Metrics: []result.Metric{result.Reward, metric.EpisodeRate},
	})
	if err != nil {
		return nil, err
	}
	return []string{fmt.Sprintf("%+v", spec), written(outcomes)}, nil
}

func everyStep(n int) (grid []int) {
	for i := range n {
		grid = append(grid, i+1)
	}
	return grid
}

// The cases that were reported: a request that cannot be met is refused, with what it would need.
func TestNoEffectIsRefused(t *testing.T) {
	for params, want := range map[string]string{
		`{"policy":"softmax","decay":"linear"}`:  "decay has no effect with policy softmax: leave it out, or give it with a policy other than softmax",
		`{"temperature":2}`:                      "temperature has no effect with policy epsilon-greedy: leave it out, or give it with policy softmax",
		`{"decay_steps":9}`:                      "decay_steps has no effect without decay: leave it out, or give it with a decay and a policy other than softmax",
		`{"optimistic":true,"initial":1}`:        "initial has no effect with optimistic true: leave it out, or give it with optimistic false",
		`{"schedule":"harmonic","step":0.5}`:     "step has no effect with schedule harmonic: leave it out, or give it with schedule constant",
		`{"policy":"epsilon-z-greedy","mu":1.5}`: "",
	} {
		_, err := bundled("q-learning").OpenAgent(t.Context(), json.RawMessage(params), finite, 1)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", params, err, want)
		}
	}
}
