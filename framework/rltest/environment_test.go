package rltest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/mdp"
)

// corridor is a correct environment: a walk along cells 0 to 5 that ends at cell
// 5 and is cut short after 20 steps. Its observation is the cell and a random
// number. Its action [direction, pace] moves it by pace cells and costs half of
// the pace. A bug breaks one rule.
type corridor struct {
	bug         string
	rng         *rand.Rand
	cell, steps int
	running     bool
	buffer      []float64
	asked       int
}

func (e *corridor) Spec() framework.Spec {
	s := framework.Spec{
		ID:          "test/corridor@1",
		Observation: space.Box{Shape: []int{2}, Low: []float64{0}, High: []float64{5, 1}},
		Action:      space.MultiDiscrete{NVec: []int64{2, 3}},
		RewardLow:   -1, RewardHigh: 1,
	}
	e.asked++
	switch e.bug {
	case "no id":
		s.ID = ""
	case "spec changes":
		s.ID = fmt.Sprint("test/corridor@", e.asked)
	case "ends, but says it never does", "never ends and says so":
		s.Continuing = true
	}
	return s
}

func (e *corridor) observe() space.Value {
	x := float64(e.cell)
	if e.bug == "leaves its space" && e.cell == 3 {
		x = 6
	}
	if e.bug == "reuses its slice" {
		if e.buffer == nil {
			e.buffer = make([]float64, 2)
		}
		e.buffer[0], e.buffer[1] = x, e.rng.Float64()
		return space.Value{Float64: e.buffer}
	}
	return space.Value{Float64: []float64{x, e.rng.Float64()}}
}

func (e *corridor) Reset(_ context.Context, seed uint64) (space.Value, error) {
	switch e.bug {
	case "ignores its seed":
		seed = rand.Uint64()
	case "cannot reset":
		return space.Value{}, errors.New("stuck")
	}
	e.rng, e.running, e.steps = rand.New(rand.NewPCG(seed, 0)), true, 0
	if e.bug != "remembers where it was" {
		e.cell = 0
	}
	return e.observe(), nil
}

func (e *corridor) Step(_ context.Context, a space.Value) (framework.TimeStep, error) {
	if e.rng == nil && e.bug == "starts without a reset" {
		e.rng, e.running = rand.New(rand.NewPCG(0, 0)), true
	}
	if !e.running && (e.bug != "goes on after the end" || e.rng == nil) {
		return framework.TimeStep{}, framework.ErrNeedsReset
	}
	d, pace := a.Ints[0], a.Ints[1]
	if (d < 0 || d > 1 || pace < 0 || pace > 2) && e.bug != "takes any action" {
		return framework.TimeStep{}, fmt.Errorf("%v: %w", a.Ints, framework.ErrInvalidAction)
	}
	if e.bug == "writes to its action" {
		a.Ints[0] = 0
	}
	if e.bug == "panics" && e.steps == 4 {
		panic("a bug")
	}
	e.steps++
	if e.rng.IntN(4) == 0 {
		d = 1 - d
	}
	e.cell = min(max(e.cell+int(pace)*int(2*d-1), 0), 5)
	ts := framework.TimeStep{Observation: e.observe(), Reward: -float64(pace) / 2, Terminated: e.cell == 5, Truncated: e.steps == 20}
	if e.bug == "pays too much" && e.steps == 7 {
		ts.Reward = 1.5
	}
	if e.bug == "pays NaN" && e.steps == 7 {
		ts.Reward = math.NaN()
	}
	if strings.HasPrefix(e.bug, "never ends") {
		ts.Terminated, ts.Truncated = false, false
	}
	e.running = !ts.Terminated && !ts.Truncated
	return ts, nil
}

// Render draws the corridor.
func (e *corridor) Render(context.Context) (string, error) {
	switch e.bug {
	case "has no picture":
		return "", nil
	case "fails to render":
		return "", errors.New("dark")
	case "cannot be rendered":
		return "", framework.ErrUnsupported
	case "moves when it is looked at":
		e.cell = min(e.cell+1, 5)
	}
	return strings.Repeat(".", e.cell) + "x\n", nil
}

// Metrics returns one in a corridor whose bug concerns it.
func (e *corridor) Metrics() []framework.Metric { return pace(e.bug) }

// pace is the metric of environments and agents whose bug names one.
func pace(bug string) []framework.Metric {
	if strings.Contains(bug, "measure") {
		return []framework.Metric{{Name: "pace"}}
	}
	return nil
}

func (e *corridor) Measure(_ context.Context, dst []float64) error {
	switch dst[0] = math.NaN(); e.bug {
	case "moves when it is measured":
		dst[0] = e.rng.Float64()
	case "fails to measure":
		return errors.New("no ruler")
	}
	return nil
}

// found lists the rules that a report says were tried and broken.
func found(err error) []Rule {
	rules := Broken(err)
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range joined.Unwrap() {
			var v *Violation
			if errors.As(err, &v) && errors.Is(err, ErrUntried) {
				rules = slices.DeleteFunc(rules, func(r Rule) bool { return r == v.Rule })
			}
		}
	}
	return rules
}

// brokenEnvironments are the rules that each bug breaks; none for a correct one, and for
// bugs that the lanes of copies make good.
var brokenEnvironments = map[string][]Rule{
	"has no picture":               {RenderChangesNothing},
	"fails to render":              {RenderChangesNothing},
	"moves when it is looked at":   {RenderChangesNothing},
	"cannot be rendered":           nil,
	"moves when it is measured":    {MeasureChangesNothing},
	"fails to measure":             {MeasureChangesNothing},
	"is measured":                  nil,
	"":                             nil,
	"never ends and says so":       nil,
	"panics":                       {Works},
	"cannot reset":                 {Works},
	"no id":                        {SpecValid},
	"spec changes":                 nil,
	"leaves its space":             {ObservationInSpace},
	"pays NaN":                     {FiniteReward},
	"pays too much":                {RewardInBounds},
	"ignores its seed":             {SameSeedSameEpisode},
	"remembers where it was":       {SameSeedSameEpisode},
	"starts without a reset":       nil,
	"goes on after the end":        nil,
	"ends, but says it never does": {EndsNever},
	"takes any action":             nil,
	"reuses its slice":             nil,
	"writes to its action":         {InputUnchanged},
}

// checkCopies checks the lanes that are made of copies.
func checkCopies(t *testing.T, newEnv func() (framework.Environment, error)) error {
	return Bounds{}.checkVectorEnvironment(t.Context(), func(lanes int) (vector.Environment, error) { return vector.Vectorize(newEnv, lanes) })
}

func TestCheckEnvironment(t *testing.T) {
	for bug, want := range brokenEnvironments {
		t.Run(bug, func(t *testing.T) {
			err := checkCopies(t, func() (framework.Environment, error) { return &corridor{bug: bug}, nil })
			if got := found(err); !slices.Equal(got, want) {
				t.Errorf("got %v, want %v:\n%v", got, want, err)
			}
			if want == nil && err != nil {
				t.Error(err)
			}
			if len(want) > 0 && !strings.Contains(fmt.Sprint(err), string(want[0])+": ") {
				t.Errorf("no %q in %v", want[0], err)
			}
		})
	}
}

// A rule that could not be tried is broken by name.
func TestUntried(t *testing.T) {
	err := checkCopies(t, func() (framework.Environment, error) { return &corridor{bug: "never ends"}, nil })
	if got := Broken(err); !slices.Equal(got, []Rule{NeedsResetAfter}) || !errors.Is(err, ErrUntried) {
		t.Errorf("no end: got %v: %v", got, err)
	}
	err = checkCopies(t, func() (framework.Environment, error) { return &corridor{bug: "cannot reset"}, nil })
	for _, rule := range []Rule{SameSeedSameEpisode, InvalidAction, FiniteReward, LanesIndependent} {
		if !slices.Contains(Broken(err), rule) {
			t.Errorf("no reset: %s was tried: %v", rule, err)
		}
	}
}

// batch is a correct batch of corridors with models; a bug breaks one rule.
type batch struct {
	vector.Environment
	bug      string
	lanes    int
	previous *vector.TimeSteps
	asked    int
	ended    bool // some lane's episode did in the last step
}

func newBatch(bug string, lanes int) *batch {
	v, err := vector.Vectorize(func() (framework.Environment, error) { return &corridor{}, nil }, lanes)
	if err != nil {
		panic(err)
	}
	return &batch{Environment: v, bug: bug, lanes: lanes}
}

func (b *batch) Spec() framework.Spec {
	s := b.Environment.Spec()
	b.asked++
	if b.bug == "spec changes" && b.asked > 1 {
		s.RewardHigh = 2
	}
	return s
}

func (b *batch) Close() error {
	if b.bug == "cannot close" {
		return errors.New("stuck")
	}
	return nil
}

func (b *batch) Step(ctx context.Context, in *vector.Actions, out *vector.TimeSteps) error {
	old := vector.NewTimeSteps(b.Environment.Spec(), b.lanes)
	copy(old.Rewards, out.Rewards)
	copy(old.Terminated, out.Terminated)
	copy(old.Observations.Float64, out.Observations.Float64)
	if b.bug == "writes to old columns" && b.previous != nil {
		b.previous.Rewards[0]++
	}
	err := b.Environment.Step(ctx, in, out)
	if err != nil {
		var lane *vector.LaneError
		switch {
		case b.bug == "names no lane" && errors.As(err, &lane):
			return lane.Err
		case b.bug == "starts without a reset" && errors.Is(err, framework.ErrNeedsReset) && !b.ended,
			b.bug == "goes on after the end" && errors.Is(err, framework.ErrNeedsReset) && b.ended,
			b.bug == "takes any action" && errors.Is(err, framework.ErrInvalidAction):
			return nil
		}
		return err
	}
	active := 0
	b.ended = slices.Contains(out.Terminated, true) || slices.Contains(out.Truncated, true)
	for i, s := range in.Signals {
		if s != vector.Idle {
			active++
		}
		switch {
		case b.bug == "pays on a new episode" && s == vector.NewEpisode:
			out.Rewards[i] = 1
		case b.bug == "fills no flags" && s == vector.Continue && !out.Terminated[i]:
			out.Terminated[i] = old.Terminated[i]
		case b.bug == "fills no observations" && s == vector.Continue:
			copy(out.Observations.Float64[2*i:2*i+2], old.Observations.Float64[2*i:])
		case b.bug == "touches idle lanes" && s == vector.Idle:
			out.Rewards[i] = 0
		}
	}
	switch b.bug {
	case "mixes its lanes":
		for i, s := range in.Signals {
			if s == vector.Continue {
				out.Rewards[i] = float64(active) / 20
			}
		}
	case "writes to its input":
		in.Seeds[0]++
	case "shortens a column":
		out.Rewards = out.Rewards[:0]
	}
	b.previous = out
	return nil
}

func (b *batch) Abilities() vector.EnvironmentAbilities {
	return vector.EnvironmentAbilities{Models: b.models}
}

func (b *batch) models(context.Context) ([]*mdp.Tabular, error) {
	reward := 0.5
	switch b.bug {
	case "loses its models":
		return nil, errors.New("lost")
	case "has too few models":
		return nil, nil
	case "has no model in a lane":
		return make([]*mdp.Tabular, b.lanes), nil
	case "has models that pay too much":
		reward = 2
	}
	m, err := mdp.NewModel(mdp.Definition{
		States: 1, Actions: 1,
		Transitions: []mdp.Transition{{S: 0, A: 0, Next: 0, P: 1}},
		Rewards:     []mdp.Reward{{S: 0, A: 0, R: reward}}, EpisodeSteps: 20,
	})
	models := make([]*mdp.Tabular, b.lanes)
	for i := range models {
		models[i] = m
	}
	return models, err
}

var brokenBatches = map[string][]Rule{
	"":                             nil,
	"cannot close":                 {Works},
	"shortens a column":            {Works},
	"starts without a reset":       {NeedsResetFirst},
	"goes on after the end":        {NeedsResetAfter},
	"takes any action":             {InvalidAction},
	"spec changes":                 {SpecConstant},
	"names no lane":                {NamesLane},
	"pays on a new episode":        {NewEpisodeIsClean},
	"fills no flags":               {FillsColumns},
	"fills no observations":        {FillsColumns},
	"touches idle lanes":           {IdleUntouched},
	"mixes its lanes":              {LanesIndependent},
	"writes to its input":          {InputUnchanged},
	"writes to old columns":        {ReturnsOwnSlices},
	"loses its models":             {ModelFits},
	"has too few models":           {ModelFits},
	"has no model in a lane":       {ModelFits},
	"has models that pay too much": {ModelFits},
}

func TestCheckVectorEnvironment(t *testing.T) {
	for bug, want := range brokenBatches {
		t.Run(bug, func(t *testing.T) {
			err := Bounds{}.checkVectorEnvironment(t.Context(), func(lanes int) (vector.Environment, error) { return newBatch(bug, lanes), nil })
			if got := found(err); !slices.Equal(got, want) {
				t.Errorf("got %v, want %v:\n%v", got, want, err)
			}
			if want == nil && err != nil {
				t.Error(err)
			}
		})
	}
}
