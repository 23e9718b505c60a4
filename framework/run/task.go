package run

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/internal/modelcheck"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/fields"
	"github.com/rlrun/rlrun/mdp"
)

// These are the largest models for which a description holds the optimum and
// mixing times, and the diameter. Each takes about a second.
const (
	solvedStates   = 500
	diameterStates = 200
)

// DescribeTask returns the known properties of a task of a plugin, and the notes of its model. The
// environment must have been opened with two lanes. It returns nil if nothing is known.
func DescribeTask(ctx context.Context, d vector.Description, env vector.Environment) (*result.Task, []string, error) {
	t, notes, err := describeModel(ctx, d, env)
	low, high := env.Spec().RewardLow, env.Spec().RewardHigh
	if err != nil || math.IsInf(low, 0) && math.IsInf(high, 0) {
		return t, notes, err
	}
	if t == nil {
		t = &result.Task{Continuing: env.Spec().Continuing}
		if actions, finite := env.Spec().Action.(space.Discrete); finite {
			t.Actions = int(actions.N)
		}
	}
	for _, b := range []struct {
		x  float64
		to **float64
	}{{low, &t.RewardLow}, {high, &t.RewardHigh}} {
		if !math.IsInf(b.x, 0) {
			*b.to = &b.x
		}
	}
	return t, notes, nil
}

// describeModel returns no task if the environment does not give its model, or if it
// differs between runs and has several states.
func describeModel(ctx context.Context, d vector.Description, env vector.Environment) (*result.Task, []string, error) {
	if vector.Changes(d, env) {
		return describeChanging(ctx, env)
	}
	models, drawn, err := Models(ctx, env)
	if err != nil || models == nil {
		return nil, nil, err
	}
	notes := slices.Clone(models[0].Notes())
	switch differs, err := tryModels(ctx, env, models); {
	case err != nil:
		return nil, nil, err
	case differs != nil:
		notes = append(notes, fmt.Sprintf("%v; regret and scores are computed from the model", differs))
	}
	if models[0].NumStates() == 1 {
		return &result.Task{States: 1, Actions: models[0].NumActions(), Continuing: env.Spec().Continuing}, notes, nil
	}
	if drawn {
		return nil, notes, nil
	}
	return describe(models[0], env.Spec()), notes, nil
}

// errModel says that an environment does what its model does not allow.
var errModel = fmt.Errorf("%w: it does not follow the model that it gives", framework.ErrInvalidAnswer)

// trialSteps is how many random steps tryModels makes in each lane.
const trialSteps = 200

// tryModels plays some steps in both lanes, which are at the beginning of a run, and compares them with
// their models. err wraps errModel if a model does not allow a step. differs says that rewards, which
// never varied, are not those of the model, or that episodes are truncated at another time. Any other error of the environment ends the trial: its runs
// will show what is wrong.
func tryModels(ctx context.Context, env vector.Environment, models []*mdp.Tabular) (differs, err error) {
	spec := env.Spec()
	firstState, firstAction, ok := modelcheck.Enumerates(&spec, models[0])
	if !ok {
		return nil, nil
	}
	seen, states, steps := make([]*modelcheck.Evidence, len(models)), make([]int, len(models)), make([]int, len(models))
	in, out := vector.NewActions(spec, len(models)), vector.NewTimeSteps(spec, len(models))
	random := rand.New(rand.NewPCG(1, 0))
	for i, m := range models {
		seen[i] = modelcheck.New(m)
		in.Signals[i], in.Seeds[i] = vector.NewRun, uint64(i)+1
	}
	for range trialSteps {
		if err := env.Step(ctx, in, &out); err != nil || out.Check(&spec, in.Signals) != nil {
			return nil, nil
		}
		for i, e := range seen {
			next := int(out.Observations.Int64[i] - firstState)
			if in.Signals[i] != vector.Continue {
				err, steps[i] = e.Start(next), 0
			} else {
				err = e.Step(states[i], int(in.Actions.Int64[i]-firstAction), next, out.Rewards[i], out.Terminated[i])
				steps[i]++
				differs = cmp.Or(differs, modelcheck.Limit(e.Model, steps[i], out.Terminated[i], out.Truncated[i]))
			}
			if err != nil {
				return nil, fmt.Errorf("%w: %w", errModel, err)
			}
			states[i], in.Signals[i] = next, vector.Continue
			if out.Terminated[i] || out.Truncated[i] {
				in.Signals[i], in.Seeds[i] = vector.NewEpisode, random.Uint64()
				continue
			}
			allowed := []int64{}
			for a := range int64(e.Model.NumActions()) {
				if mask := out.Mask(i); mask == nil || mask[a] {
					allowed = append(allowed, firstAction+a)
				}
			}
			in.Actions.Int64[i] = allowed[random.IntN(len(allowed))]
		}
	}
	for _, e := range seen {
		differs = cmp.Or(differs, e.Rewards())
	}
	return differs, nil
}

// describeChanging returns what the models of a task that changes within a run share.
func describeChanging(ctx context.Context, env vector.Environment) (*result.Task, []string, error) {
	spec := env.Spec()
	states, finite := spec.Observation.(space.Discrete)
	actions, finitely := spec.Action.(space.Discrete)
	if !finite || !finitely {
		return nil, nil, nil
	}
	var notes []string
	if vector.ModelNotes.Has(env) {
		var err error
		if notes, err = vector.ModelNotes.Ask(ctx, env, 0); err != nil {
			return nil, nil, err
		}
	}
	return &result.Task{States: int(states.N), Actions: int(actions.N), Continuing: spec.Continuing}, notes, nil
}

// Models returns the models of both lanes of an environment, and whether each run draws another one; nil if
// the environment does not give them. The lanes have not been stepped.
func Models(ctx context.Context, env vector.Environment) (models []*mdp.Tabular, drawn bool, err error) {
	read := env.Abilities().Models
	if read == nil {
		return nil, false, nil
	}
	in, out := vector.NewActions(env.Spec(), 2), vector.NewTimeSteps(env.Spec(), 2)
	for i := range in.Signals { // the models are there once runs have begun
		in.Signals[i], in.Seeds[i] = vector.NewRun, uint64(i)+1
	}
	if err := env.Step(ctx, in, &out); err != nil {
		return nil, false, err
	}
	if models, err = read(ctx); err != nil {
		return nil, false, fmt.Errorf("models: %w", err)
	}
	if len(models) != 2 || models[0] == nil {
		return nil, false, nil
	}
	return models, models[0] != models[1] && !reflect.DeepEqual(models[0], models[1]), nil
}

// describe fills in the properties that can be computed, and leaves out the others.
// States that no run reaches count as states, and change nothing else.
func describe(m *mdp.Tabular, spec framework.Spec) *result.Task {
	t := &result.Task{States: m.NumStates(), Actions: m.NumActions(), Continuing: spec.Continuing}
	m, err := m.Reachable()
	if err != nil || m.NumStates() > solvedStates || spec.Masks && m.Complete() {
		return t // of masks that the model does not know, neither the optimum nor random actions are known
	}
	truncated := m.EpisodeSteps() > 0
	if truncated {
		if best, random := m.TruncatedGains(randomly(m, spec.Masks)); !math.IsNaN(best) {
			t.Gain, t.RandomGain = &best, &random
		}
	}
	if m, err = m.Restarting(); err != nil {
		return t
	}
	if m.NumStates() <= diameterStates {
		if d, _, _, err := mdp.Diameter(m); err == nil && !math.IsInf(d, 1) {
			t.Diameter = &d
		}
	}
	s, err := mdp.SolveAverage(m, mdp.SolverConfig{})
	if err != nil {
		return t
	}
	gain, ok := m.StartGain(s.Gain)
	if !ok {
		return t
	}
	if !truncated {
		t.Gain = &gain
		t.RandomGain = gainOf(m, randomly(m, spec.Masks))
	}
	mix, err := mdp.MixingTime(m, s.Policy, mdp.MixingConfig{})
	if mix == nil || err != nil && !errors.Is(err, mdp.ErrNotConverged) {
		return t
	}
	t.Structure = structure(mix.Structure)
	t.Mixing = &result.TaskMixing{Eta: mix.Eta, Epsilon: mix.Epsilon}
	if mix.Max != mdp.Never {
		t.Mixing.Max = &mix.Max
	}
	if x := mix.MeanNonGreedy; !math.IsNaN(x) && !math.IsInf(x, 1) {
		t.Mixing.Mean = &x
	}
	return t
}

// randomly is the policy of the agent random: uniform over the allowed actions if it is told which
// are, and otherwise over numbers of actions, of which several may stand for one.
func randomly(m *mdp.Tabular, masks bool) mdp.Policy {
	if masks {
		return mdp.Uniform{}
	}
	random := make(mdp.Randomised, m.NumStates())
	for s := range random {
		random[s] = make([]float64, m.NumActions())
		for a := range random[s] {
			random[s][m.StandIn(s, a)] += 1 / float64(m.NumActions())
		}
	}
	return random
}

// gainOf is the reward per step of a policy; nil if it depends on where runs begin.
func gainOf(m *mdp.Tabular, pi mdp.Policy) *float64 {
	chain, err := mdp.Induce(m, pi)
	if err != nil {
		return nil
	}
	gains, _, err := chain.EvaluateAverage()
	if err != nil {
		return nil
	}
	gain, ok := m.StartGain(gains)
	if !ok {
		return nil
	}
	return &gain
}

// structure is a chain's structure in words.
func structure(st *mdp.Structure) string {
	switch {
	case st.Ergodic():
		return "ergodic"
	case !st.Unichain():
		return fmt.Sprintf("%d closed classes", len(st.Closed))
	}
	text := "unichain"
	if st.Irreducible() {
		text = "irreducible"
	}
	if p := st.Period[st.Closed[0]]; p > 1 {
		text += fmt.Sprintf(", period %d", p)
	}
	return text
}

// SameSpec returns an error if the specs, metrics or models of an environment in two processes of its plugin
// differ. One that cannot be opened is not compared.
func SameSpec(ctx context.Context, first, second vector.Plugin, params json.RawMessage) error {
	var specs []framework.Spec
	var metrics [2][]framework.Metric
	var models [2][]*mdp.Tabular
	var failed error
	for i, p := range []vector.Plugin{first, second} {
		env, err := p.OpenEnvironment(ctx, params, 2)
		if err != nil {
			return nil // what opens it says so
		}
		specs = append(specs, env.Spec())
		if m := env.Abilities().Measures; m != nil {
			metrics[i] = m.Metrics
		}
		models[i], _, err = Models(ctx, env)
		failed = cmp.Or(failed, err) // its runs will show what is wrong
		_ = env.Close()              // for the rest of the suite to find
	}
	if name, was, is := fields.Differ(specs[0], specs[1]); name != "" {
		return fmt.Errorf("its %s is %v in one process and %v in another; a spec must follow from the parameters alone", name, was, is)
	}
	if !slices.Equal(metrics[0], metrics[1]) {
		return fmt.Errorf("its metrics are %+v in one process and %+v in another; they must follow from the parameters alone", metrics[0], metrics[1])
	}
	if failed == nil && len(models[0]) != len(models[1]) {
		return errors.New("it gives its model in one process and not in another")
	}
	if what := otherModel(models[0], models[1]); failed == nil && what != "" {
		return fmt.Errorf("its model has %s in one process and others in another, with the same seed; it must follow from the parameters and the seed", what)
	}
	return nil
}

// otherModel says what differs between the models of two environments. Rounding and the order of
// successors do not count. It returns "" if nothing else differs.
func otherModel(first, second []*mdp.Tabular) string {
	if reflect.DeepEqual(first, second) {
		return ""
	}
	differ := func(a, b map[int32]float64) bool {
		for k := range b {
			a[k] -= b[k]
		}
		return slices.ContainsFunc(slices.Collect(maps.Values(a)), func(x float64) bool { return !(math.Abs(x) <= 1e-9) })
	}
	of := func(states []int32, values []float64) map[int32]float64 {
		out := map[int32]float64{}
		for i, s := range states {
			out[s] += values[i]
		}
		return out
	}
	for k, a := range first {
		b := second[k]
		switch {
		case a.NumStates() != b.NumStates() || a.NumActions() != b.NumActions():
			return fmt.Sprintf("%d states and %d actions", a.NumStates(), a.NumActions())
		case a.EpisodeSteps() != b.EpisodeSteps():
			return fmt.Sprintf("episodes of %d steps", a.EpisodeSteps())
		case differ(of(a.Initial()), of(b.Initial())):
			return "initial states"
		}
		for s := range a.NumStates() {
			for act := range a.NumActions() {
				if a.Terminal(s) != b.Terminal(s) || differ(of(a.Transition(s, act)), of(b.Transition(s, act))) {
					return fmt.Sprintf("transitions of action %d in state %d", act, s)
				}
				if x, y := a.Reward(s, act), b.Reward(s, act); math.Abs(x-y) > 1e-9*max(1, math.Abs(x)) || a.Noise(s, act) != b.Noise(s, act) {
					return fmt.Sprintf("rewards of action %d in state %d", act, s)
				}
			}
		}
	}
	return ""
}
