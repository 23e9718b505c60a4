package plugincmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/rltest"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/options"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
)

// speed is how fast a plugin steps a number of lanes together.
type speed struct {
	Lanes     int     `json:"lanes"`
	NSPerStep float64 `json:"ns_per_step"` // wall time of a call, divided by its lanes
}

// measured are the lane counts that rlrun plugin check measures, timing how long
// it takes for each.
var measured = []int{1, 16, 64, 256, 1024}

const timing = 200 * time.Millisecond

// speeds steps a plugin that keeps the rules with random actions or feedback.
// most is the largest number of lanes. One that would take longer than what is left of
// the limit, by what fewer lanes took, ends the measurement. 0 is no limit.
func speeds(ctx context.Context, p vector.Plugin, kind vector.Kind, params json.RawMessage, most int, limit time.Duration) ([]speed, error) {
	var out []speed
	begin, perLane := time.Now(), time.Duration(0)
	numbers := slices.DeleteFunc(slices.Clone(measured), func(lanes int) bool { return lanes >= most })
	for _, lanes := range append(numbers, most) {
		if limit > 0 && len(out) > 0 && time.Since(begin)+time.Duration(lanes)*perLane > limit {
			break
		}
		opening := time.Now()
		var step func() error
		var end func() error
		var err error
		switch kind {
		case vector.KindOptions: // it is asked a few times in a run
			return nil, nil
		case vector.KindRule:
			step, end, err = ruleStep(ctx, p, params, lanes)
		case vector.KindEnvironment:
			step, end, err = environmentStep(ctx, p, params, lanes)
		default:
			step, end, err = agentStep(ctx, p, params, lanes)
		}
		if err != nil {
			return nil, err
		}
		opened := time.Since(opening)
		ns, err := pace(step)
		if err = errors.Join(err, end()); err != nil {
			return nil, fmt.Errorf("while its speed was measured: %w", err)
		}
		out = append(out, speed{lanes, ns / float64(lanes)})
		perLane = (opened + 4*time.Duration(ns)) / time.Duration(lanes) // pace makes a call or more of each kind
	}
	return out, nil
}

// pace returns how long a call takes in nanoseconds, in the long run.
func pace(call func() error) (float64, error) {
	first := time.Now()
	for range 3 { // what happens once
		if err := call(); err != nil {
			return 0, err
		}
		if time.Since(first) > 5*timing {
			break
		}
	}
	calls, begin := 0, time.Now()
	for time.Since(begin) < timing {
		if err := call(); err != nil {
			return 0, err
		}
		calls++
	}
	return float64(time.Since(begin).Nanoseconds()) / float64(calls), nil
}

// different is how many columns of random values are drawn beforehand.
const different = 32

func randomColumns(s space.Space, lanes int) ([]space.Column, error) {
	rng := rand.New(rand.NewPCG(1, 0))
	columns := make([]space.Column, different)
	for k := range columns {
		columns[k] = space.NewColumn(s, lanes)
		for i := range lanes {
			if err := columns[k].Set(s, i, space.Sample(s, rng)); err != nil {
				return nil, err
			}
		}
	}
	return columns, nil
}

// environmentStep opens lanes and returns what steps them, and what ends them.
func environmentStep(ctx context.Context, p vector.Plugin, params json.RawMessage, lanes int) (step, end func() error, err error) {
	env, err := p.OpenEnvironment(ctx, params, lanes)
	if err != nil {
		return nil, nil, err
	}
	step, _, err = randomSteps(ctx, env, lanes)
	if err != nil {
		return nil, nil, errors.Join(err, env.Close())
	}
	return step, env.Close, nil
}

// randomSteps returns what steps an environment with random actions, and the outcomes that
// every step fills.
func randomSteps(ctx context.Context, env vector.Environment, lanes int) (step func() error, outcomes *vector.TimeSteps, err error) {
	spec := env.Spec()
	actions, err := randomColumns(spec.Action, lanes)
	if err != nil {
		return nil, nil, err
	}
	in, out := vector.NewActions(spec, lanes), vector.NewTimeSteps(spec, lanes)
	for i := range lanes {
		in.Signals[i], in.Seeds[i] = vector.NewRun, uint64(i)
	}
	calls, rng := 0, rand.New(rand.NewPCG(2, 0))
	return func() error {
		in.Actions = actions[calls%different]
		calls++
		for i := range in.Signals {
			if mask := out.Mask(i); mask != nil {
				in.Actions.Int64[i] = space.SampleMasked(spec.Action, mask, rng).Int
			}
		}
		if err := env.Step(ctx, in, &out); err != nil {
			return err
		}
		for i := range in.Signals {
			in.Signals[i] = vector.Continue
			if out.Terminated[i] || out.Truncated[i] {
				in.Signals[i], in.Seeds[i] = vector.NewEpisode, uint64(calls*lanes+i)
			}
		}
		return nil
	}, &out, nil
}

// agentStep is environmentStep for an agent, in the first kind of environment that
// it supports.
func agentStep(ctx context.Context, p vector.Plugin, params json.RawMessage, lanes int) (step, end func() error, err error) {
	var agent vector.Agent
	var spec framework.Spec
	for _, spec = range rltest.Specs() {
		if agent, err = p.OpenAgent(ctx, params, spec, lanes); !errors.Is(err, framework.ErrUnsupported) {
			break
		}
	}
	if err != nil {
		return nil, nil, err
	}
	observations, err := randomColumns(spec.Observation, lanes)
	if err != nil {
		return nil, nil, errors.Join(err, agent.Close())
	}
	in, actions := vector.NewFeedback(spec, lanes), space.NewColumn(spec.Action, lanes)
	for k := range in.Masks {
		in.Masks[k] = true
	}
	rng := rand.New(rand.NewPCG(1, 0))
	for i := range lanes {
		in.Signals[i], in.Seeds[i] = vector.NewRun, uint64(i)
		in.Rewards[i] = max(spec.RewardLow, min(spec.RewardHigh, math.Round(rng.Float64())))
	}
	calls := 0
	return func() error {
		in.Observations = observations[calls%different]
		calls++
		if err := agent.Step(ctx, in, &actions); err != nil {
			return err
		}
		for i := range in.Signals {
			in.Signals[i] = vector.Continue
		}
		return nil
	}, agent.Close, nil
}

// speedTable shows speeds to people. most is the number of lanes that was wanted.
func speedTable(speeds []speed, most int) string {
	var b strings.Builder
	b.WriteString("\n lanes  ns per step\n───────────────────\n")
	for _, s := range speeds {
		fmt.Fprintf(&b, " %5d  %11.0f\n", s.Lanes, s.NSPerStep)
	}
	if last := speeds[len(speeds)-1].Lanes; last < most {
		fmt.Fprintf(&b, "More than %d %s would take longer than --time allows.\n", last, cli.Plural(last, "lane", "lanes"))
	}
	return b.String()
}

// ruleStep decides between 20 options of 16 members.
func ruleStep(ctx context.Context, p vector.Plugin, params json.RawMessage, lanes int) (step func() error, end func() error, err error) {
	questions, spec, err := rltest.Questions(lanes, 20, 16)
	if err != nil {
		return nil, nil, err
	}
	rule, err := p.(vector.DecisionPlugin).OpenRule(ctx, params, spec)
	if err != nil {
		return nil, nil, err
	}
	answers := make([]options.Answer, lanes)
	return func() error { return rule.Choose(ctx, questions, answers) }, rule.Close, nil
}
