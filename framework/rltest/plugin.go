package rltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/metric"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
)

var pluginID = regexp.MustCompile(`^[a-z0-9][a-z0-9_.-]*/[a-z0-9][a-z0-9_.-]*@[0-9A-Za-z.+-]+$`)

// CheckPlugin checks a plugin's description and the lanes that it opens with the
// given parameters. An agent is checked on all environments that specs describe
// (without specs: Specs), except those that it refuses with an error wrapping
// framework.ErrUnsupported. It must accept at least one. The result is nil or
// every broken rule: see Broken.
func CheckPlugin(ctx context.Context, p vector.Plugin, params json.RawMessage, specs ...framework.Spec) error {
	return Bounds{}.CheckPlugin(ctx, p, params, specs...)
}

// CheckPlugin is the function CheckPlugin within bounds.
func (b Bounds) CheckPlugin(ctx context.Context, p vector.Plugin, params json.RawMessage, specs ...framework.Spec) error {
	d, err := p.Describe(ctx)
	if err != nil {
		return &Violation{Rule: Described, Err: err}
	}
	if err := describes(&d); err != nil {
		return &Violation{Rule: Described, Err: err}
	}
	if d.Kind == vector.KindRule || d.Kind == vector.KindOptions {
		return checkDecisions(ctx, p, &d, params)
	}
	if d.Kind == vector.KindEnvironment {
		open := func(lanes int) (vector.Environment, error) { return p.OpenEnvironment(ctx, params, lanes) }
		fault := capable(ctx, p, &d, params)
		if slices.Contains(Broken(fault), Works) { // it does not open, so nothing else can be tried
			return fault
		}
		return errors.Join(fault, b.checkVectorEnvironment(ctx, open))
	}
	if len(specs) == 0 {
		specs = Specs()
	}
	var errs []error
	supported := false
	b = b.begun(1)
	for k, spec := range specs {
		b := b.begun(len(specs) - k)
		agent, err := p.OpenAgent(ctx, params, spec, 1)
		if errors.Is(err, framework.ErrUnsupported) {
			continue
		}
		supported = true
		if err == nil {
			err = agent.Close()
		}
		if err != nil {
			err = &Violation{Rule: Works, Err: err}
		} else {
			open := func(lanes int) (vector.Agent, error) { return p.OpenAgent(ctx, params, spec, lanes) }
			own := b
			if d.MaxActors > 1 {
				own = b.begun(2)
			}
			err = errors.Join(
				capableAgent(&agentCheck{ctx: ctx, size: b.size(), open: open, spec: spec}, &d),
				own.checkVectorAgent(ctx, open, spec))
			if d.MaxActors > 1 && err == nil {
				err = b.checkActors(ctx, func(spec framework.Spec, lanes int) (vector.Agent, error) {
					return p.OpenAgent(ctx, params, spec, lanes)
				}, spec, min(d.MaxActors, 3))
			}
		}
		if err != nil {
			errs = append(errs, &SpecError{spec.ID, err})
		}
	}
	if !supported {
		errs = append(errs, &Violation{Rule: Works, Err: fmt.Errorf("%w: the agent supports none of the %d environments", ErrUntried, len(specs))})
	}
	return errors.Join(errs...)
}

// SpecError holds the rules that an agent breaks on environments of one spec.
type SpecError struct {
	Spec string // its id
	Err  error  // what is wrong with the spec
}

// Error names the spec.
func (e *SpecError) Error() string { return fmt.Sprintf("on %s: %v", e.Spec, e.Err) }

// Unwrap returns what is broken there.
func (e *SpecError) Unwrap() error { return e.Err }

func describes(d *vector.Description) error {
	if !pluginID.MatchString(d.ID) {
		return fmt.Errorf("the id is %q, want namespace/name@version in lower case", d.ID)
	}
	if !slices.Contains(vector.PluginKinds, d.Kind) {
		return fmt.Errorf("the kind is %q, want one of %q", d.Kind, vector.PluginKinds)
	}
	if d.Doc == "" {
		return errors.New("there is no doc, a sentence for people")
	}
	var schema map[string]any
	if err := json.Unmarshal(d.Params, &schema); err != nil {
		return fmt.Errorf("params is no JSON schema of an object: %w", err)
	}
	return nil
}

func capable(ctx context.Context, p vector.Plugin, d *vector.Description, params json.RawMessage) error {
	env, err := p.OpenEnvironment(ctx, params, 1)
	if err != nil {
		return &Violation{Rule: Works, Err: err}
	}
	defer env.Close()
	able := env.Abilities()
	if err := listed(d, "model", "the environment has models", able.Models != nil); err != nil && !vector.Changes(*d, env) {
		return err
	}
	if able.Measures != nil {
		for _, m := range able.Measures.Metrics {
			if err := metric.CheckDeclared(metric.Name(m.Name), metric.Better(m.Better), metric.Value(m.Total)); err != nil {
				return &Violation{Rule: Capable, Err: err}
			}
		}
	}
	spec := env.Spec()
	in, out := vector.NewActions(spec, 1), vector.NewTimeSteps(spec, 1)
	in.Signals[0] = vector.NewRun
	if err := env.Step(ctx, in, &out); err != nil {
		return nil // checkVectorEnvironment says so
	}
	asked := vector.AskAll(ctx, env, 0)
	for _, name := range d.Abilities {
		if _, has := asked[name]; !has && name != "model" {
			return &Violation{Rule: Capable, Err: fmt.Errorf("%q is listed, and the environment does not have it", name)}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		err := asked[name]
		if errors.Is(err, framework.ErrUnsupported) {
			continue // where a library is missing, say
		}
		if !slices.Contains(d.Abilities, name) {
			return &Violation{Rule: Capable, Err: fmt.Errorf("%q is not listed, and the environment has it", name)}
		}
		if err != nil {
			return &Violation{Rule: Capable, Err: err}
		}
	}
	return nil
}

// capableAgent says whether the description of an agent is right about its abilities.
func capableAgent(c *agentCheck, d *vector.Description) error {
	agent, err := c.open(1)
	if err != nil {
		return nil // checkVectorAgent says so
	}
	_, err = c.feed(agent, 1, 0, c.script(1)[:1])
	has := vector.ListAbilities(c.ctx, agent)
	if errors.Join(err, agent.Close()) != nil {
		return nil // checkVectorAgent says so
	}
	for _, name := range slices.Concat(d.Abilities, has) {
		if name == vector.PickleAbility {
			continue // a property of what it saves
		}
		if err := listed(d, name, "the agent has it", slices.Contains(has, name)); err != nil {
			return err
		}
	}
	return nil
}

// listed is a Violation unless a description lists an ability where it is there only.
func listed(d *vector.Description, name, what string, there bool) error {
	if says := slices.Contains(d.Abilities, name); says != there {
		return &Violation{Rule: Capable, Err: fmt.Errorf("%q is listed: %v; %s: %v", name, says, what, there)}
	}
	return nil
}

// Specs returns descriptions of environments of every kind that an agent may
// meet.
func Specs() []framework.Spec {
	inf := math.Inf(1)
	box := space.Box{Shape: []int{3}, Low: []float64{-1}, High: []float64{1}}
	return []framework.Spec{
		{ID: "rltest/bandit@1", Observation: space.Discrete{N: 1}, Action: space.Discrete{N: 4}, RewardHigh: 1, Continuing: true},
		{ID: "rltest/unbounded-bandit@1", Observation: space.Discrete{N: 1}, Action: space.Discrete{N: 3}, RewardLow: -inf, RewardHigh: inf, Continuing: true},
		{ID: "rltest/finite@1", Observation: space.Discrete{N: 5, Start: 1000}, Action: space.Discrete{N: 3, Start: 1}, RewardLow: -1, RewardHigh: 1},
		{ID: "rltest/factored@1", Observation: space.MultiDiscrete{NVec: []int64{2, 3}}, Action: space.MultiDiscrete{NVec: []int64{2, 2}}, RewardLow: -1, RewardHigh: 1},
		{ID: "rltest/features@1", Observation: box, Action: space.Discrete{N: 3}, RewardLow: -inf, RewardHigh: inf},
		{ID: "rltest/control@1", Observation: box, Action: space.Box{Shape: []int{2}, Low: []float64{-2}, High: []float64{2}, Type: space.Float32}, RewardLow: -inf, RewardHigh: inf},
		{ID: "rltest/images@1", Observation: space.Box{Shape: []int{4, 4}, Low: []float64{0}, High: []float64{255}, Type: space.Uint8}, Action: space.Discrete{N: 2}, RewardHigh: 1},
		{ID: "rltest/masked@1", Observation: space.Discrete{N: 4}, Action: space.Discrete{N: 5, Start: 2}, RewardLow: -1, RewardHigh: 1, Masks: true},
	}
}
