package rltest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/internal/optiontest"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/options"
)

// chooser is a correct option agent; a bug breaks one rule, or it is slow.
type chooser struct {
	*optiontest.Tables
	bug  string
	runs []int // of each lane
}

func newChooser(bug string, spec framework.Spec, lanes int) (vector.Agent, error) {
	tables, err := optiontest.New(spec, lanes)
	return &chooser{Tables: tables, bug: bug, runs: make([]int, lanes)}, err
}

// made counts calls of all choosers that draw from it.
var made int

func (c *chooser) Abilities() vector.AgentAbilities { return vector.AgentAbilities{Options: c} }

func (c *chooser) SetOptionKinds(ctx context.Context, kinds []options.Kind) error {
	switch c.bug {
	case "refuses without a word":
		return errors.New("no")
	case "makes nothing":
		return framework.ErrUnsupported
	}
	return c.Tables.SetOptionKinds(ctx, kinds)
}

func (c *chooser) StepOptions(ctx context.Context, in *vector.Feedback, epochs []bool, actions *space.Column, problems []options.Problem) error {
	if c.bug == "slow" {
		time.Sleep(time.Millisecond)
	}
	before := slices.Clone(problems)
	if err := c.Tables.StepOptions(ctx, in, epochs, actions, problems); err != nil {
		return err
	}
	made++
	facing := 0
	for i, epoch := range epochs {
		if in.Signals[i] == vector.NewRun {
			c.runs[i]++
		}
		if !epoch {
			continue
		}
		facing++
		p := &problems[i]
		switch c.bug {
		case "values nothing":
			p.Values = nil
		case "is not sure of its values":
			p.Values[0] = math.NaN()
		case "values by the clock":
			p.Values[0] += float64(made % 97)
		case "keeps what the problem held":
			p.Optimal[0] += before[i].Values[0]
		case "values by the number of decisions":
			p.Values[0] += float64(facing)
		case "counts its runs":
			p.Values[0] += float64(c.runs[i])
		}
	}
	if c.bug == "writes to its input" {
		in.Rewards[0]++
	}
	return nil
}

func (c *chooser) Step(ctx context.Context, in *vector.Feedback, actions *space.Column) error {
	err := c.Tables.Step(ctx, in, actions)
	for i, s := range in.Signals {
		if c.bug == "acts otherwise by itself" && s != vector.Idle {
			actions.Int64[i] = 1
		}
	}
	return err
}

func (c *chooser) Choose(ctx context.Context, choices []int, actions *space.Column) error {
	if err := c.Tables.Choose(ctx, choices, actions); err != nil {
		return err
	}
	for i, choice := range choices {
		switch {
		case c.bug == "touches lanes without a choice" && choice < 0:
			actions.Int64[i] += 100
		case c.bug == "leaves its space by a choice" && choice == 2:
			actions.Int64[i] = -5
		}
	}
	return nil
}

func (c *chooser) GreedyPolicy(ctx context.Context, lane int, dst []int) ([]int, error) {
	dst, err := c.Tables.GreedyPolicy(ctx, lane, dst)
	switch c.bug {
	case "is not what it says":
		for i := range dst {
			dst[i] = (dst[i] + 1) % 3
		}
	case "forgets a state":
		dst = dst[1:]
	case "knows no policy":
		err = framework.ErrUnsupported
	}
	return dst, err
}

var brokenChoosers = map[string][]Rule{
	"":                                  nil,
	"refuses without a word":            {Works},
	"makes nothing":                     {Works},
	"values nothing":                    {ProblemSound},
	"is not sure of its values":         {ProblemSound},
	"values by the clock":               {SameSeedSameProblems},
	"keeps what the problem held":       {FillsColumns},
	"values by the number of decisions": {LanesIndependent},
	"counts its runs":                   {NewRunForgets},
	"writes to its input":               {InputUnchanged},
	"acts otherwise by itself":          {EpochlessIsStep},
	"touches lanes without a choice":    {ChoiceActs},
	"leaves its space by a choice":      {ChoiceActs},
	"is not what it says":               {GreedyIsPolicy},
	"forgets a state":                   {GreedyIsPolicy},
	"knows no policy":                   {Works},
}

func TestCheckOptions(t *testing.T) {
	spec := Specs()[2]
	for bug, want := range brokenChoosers {
		t.Run(bug, func(t *testing.T) {
			err := Bounds{}.checkVectorAgent(t.Context(), func(lanes int) (vector.Agent, error) { return newChooser(bug, spec, lanes) }, spec)
			if got := found(err); !slices.Equal(got, want) {
				t.Errorf("got %v, want %v:\n%v", got, want, err)
			}
			if want == nil && err != nil {
				t.Error(err)
			}
		})
	}
}

// believer is a learner with options: to act greedily, which is by a number that it
// learned, or by another one.
type believer struct {
	*learner
	seen space.Value
}

func (b *believer) Options(_ context.Context, observation space.Value, kinds []options.Kind) (framework.Candidates, error) {
	if len(kinds) > 1 || len(kinds) == 1 && kinds[0] != options.Members {
		return framework.Candidates{}, framework.ErrUnsupported
	}
	switch b.bug {
	case "keeps observations of decisions":
		b.rng.Seed(b.rng.Uint64()+digest(b.seen), 1)
		b.seen = observation
	case "writes to observations of decisions":
		observation.Float64[0]++
	case "has a policy too few":
		return framework.Candidates{Problem: options.Problem{Arms: make([]options.Arm, 1)}}, nil
	}
	var c framework.Candidates
	state := *b.rng // as it is now
	learned := state.Uint64()
	for k := range uint64(2) {
		c.Arms = append(c.Arms, options.Arm{Name: fmt.Sprint("member ", k)})
		c.Values = append(c.Values, float64(learned>>k%7), 1)
		c.Policies = append(c.Policies, func(_ context.Context, o space.Value) (space.Value, error) {
			return space.Sample(b.spec.Action, rand.New(rand.NewPCG(learned+k, digest(o)))), nil
		})
	}
	return c, nil
}

var brokenBelievers = map[string][]Rule{
	"":                                    nil,
	"writes to observations of decisions": {InputUnchanged},
	"has a policy too few":                {Works},
}

// The lanes of an agent with options keep the rules for such lanes, and the agent
// those for agents.
func TestCheckAgentWithOptions(t *testing.T) {
	for bug, want := range brokenBelievers {
		t.Run(bug, func(t *testing.T) {
			spec := Specs()[5]
			err := checkAgentCopies(t, func(seed uint64) (framework.Agent, error) {
				return &believer{learner: &learner{bug: bug, spec: spec, rng: rand.NewPCG(seed, 0)}}, nil
			}, spec)
			if got := found(err); !slices.Equal(got, want) {
				t.Errorf("got %v, want %v:\n%v", got, want, err)
			}
			if want == nil && err != nil {
				t.Error(err)
			}
		})
	}
}

// follower is a batch of learners with three options: to act as they do, and two others.
type follower struct {
	vector.Agent
	forgets bool // which option it follows, when it is saved
	follows []byte
}

func (f *follower) Abilities() vector.AgentAbilities {
	return vector.AgentAbilities{Options: f, Calls: vector.Checkpoint(
		func(ctx context.Context, lane int) ([]byte, error) {
			state, err := vector.Save(ctx, f.Agent, lane)
			return append(state, f.follows[lane]), err
		},
		func(ctx context.Context, lane int, state []byte) error {
			last := len(state) - 1
			if f.follows[lane] = state[last]; f.forgets {
				f.follows[lane] = 0
			}
			return vector.Load(ctx, f.Agent, lane, state[:last])
		})}
}

func (f *follower) SetOptionKinds(_ context.Context, kinds []options.Kind) error {
	if len(kinds) > 1 || len(kinds) == 1 && kinds[0] != options.Members {
		return framework.ErrUnsupported
	}
	return nil
}

func (f *follower) Step(ctx context.Context, in *vector.Feedback, actions *space.Column) error {
	return f.StepOptions(ctx, in, make([]bool, len(f.follows)), actions, nil)
}

func (f *follower) StepOptions(ctx context.Context, in *vector.Feedback, epochs []bool, actions *space.Column, problems []options.Problem) error {
	if err := f.Agent.Step(ctx, in, actions); err != nil {
		return err
	}
	for i, signal := range in.Signals {
		if signal == vector.NewRun {
			f.follows[i] = 0
		}
		if epochs[i] {
			problems[i] = options.Problem{Arms: []options.Arm{{Name: "as it does"}, {Name: "the next"}, {Name: "the one after"}}, Values: []float64{0, 1, 1, 0, 0, 0}}
		} else if signal != vector.Idle {
			actions.Int64[i] = (actions.Int64[i] + int64(f.follows[i])) % 3
		}
	}
	return nil
}

func (f *follower) Choose(_ context.Context, choices []int, actions *space.Column) error {
	for i, choice := range choices {
		if choice >= 0 {
			f.follows[i] = byte(choice)
			actions.Int64[i] = (actions.Int64[i] + int64(choice)) % 3
		}
	}
	return nil
}

func (f *follower) GreedyPolicy(context.Context, int, []int) ([]int, error) {
	return nil, framework.ErrUnsupported
}

// An agent that is saved goes on with the option that it followed.
func TestCheckOfFollowedOptions(t *testing.T) {
	spec := Specs()[4]
	for forgets, want := range map[bool][]Rule{false: nil, true: {RoundTrips}} {
		err := Bounds{}.checkVectorAgent(t.Context(), func(lanes int) (vector.Agent, error) {
			return &follower{newLearners("", spec, lanes).Agent, forgets, make([]byte, lanes)}, nil
		}, spec)
		if got := found(err); !slices.Equal(got, want) {
			t.Errorf("got %v, want %v:\n%v", got, want, err)
		}
	}
}
