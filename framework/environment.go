package framework

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math"

	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/mdp"
)

// Spec describes an environment: it is fetched once, when the environment is
// opened, and does not change.
type Spec struct {
	// ID names the environment and its version: namespace/name@version. It is
	// part of the key of the environment's random streams.
	ID string
	// Observation and Action are the spaces of observations and actions.
	Observation, Action space.Space
	// RewardLow and RewardHigh bound every reward, not only the expected ones; infinite where no
	// bound is known. An environment that leaves both 0 declares none: whoever opens it, and every
	// agent, gets −∞ and ∞ (Normalized). The host fails a run with a reward outside the bounds
	// (docs/isolation.md), as agents rely on them. A finite RewardLow can serve as the b of the
	// exploration threshold (docs/theory.md §0).
	RewardLow, RewardHigh float64
	// Continuing says that no episode ever ends: the environment never answers
	// with Terminated or Truncated.
	Continuing bool
	// Masks says that states may lack actions: with every observation comes a mask, which says
	// which actions are allowed there (ActionMasker). The action space is then Discrete, and
	// agents that do not read masks refuse the environment.
	Masks bool
	// Steps is the number of steps of a run, over all its episodes, in the spec that an
	// agent is opened with; 0 if it is not known. If a run begins with a saved agent, the
	// steps that the agent made before it was saved are added. The host sets Steps, and
	// environments leave it 0. Agents need it since the worth of exploring depends on the
	// length of the run.
	Steps int
	// Episodes is the number of episodes with which a run ends, if that comes before its Steps,
	// in the spec that an agent is opened with. It is 0 if the experiment has no such budget, or if
	// a run begins with a saved agent. The host sets it, and environments leave it 0.
	Episodes int
	// Actors is the number n of environments in which one copy of an agent acts at the same time. 0 means 1.
	// Lanes r·n to r·n+n−1 of the agent are those of one run. The host sets it in the spec that an agent is
	// opened with, and environments leave it 0.
	Actors int
}

// Validate reports what is wrong with a spec.
func (s *Spec) Validate() error {
	if s.ID == "" {
		return errors.New("spec without an id")
	}
	if s.Observation == nil || s.Action == nil {
		return errors.New("spec without an observation or an action space")
	}
	if err := s.Observation.Validate(); err != nil {
		return fmt.Errorf("observation space: %w", err)
	}
	if err := s.Action.Validate(); err != nil {
		return fmt.Errorf("action space: %w", err)
	}
	if !(s.RewardLow <= s.RewardHigh) || math.IsInf(s.RewardLow, 1) || math.IsInf(s.RewardHigh, -1) {
		return fmt.Errorf("reward bounds [%v, %v]", s.RewardLow, s.RewardHigh)
	}
	if s.Actors < 0 {
		return fmt.Errorf("%d actors", s.Actors)
	}
	if _, discrete := s.Action.(space.Discrete); s.Masks && !discrete {
		return errors.New("masks are for discrete actions")
	}
	for _, bound := range []float64{s.RewardLow, s.RewardHigh} {
		if math.Abs(bound) > LargestReward && !math.IsInf(bound, 0) {
			return fmt.Errorf("reward bound %v is too large: finite bounds are in [-%g, %g]", bound, LargestReward, LargestReward)
		}
	}
	return nil
}

// LargestReward is the largest finite bound of rewards, so that sums of rewards do not overflow.
const LargestReward = 1e300

// Normalized returns the spec with −∞ and ∞ in place of bounds on rewards that are both 0.
// These are what a struct or a message has that leaves the bounds out. Every way into rlrun
// calls it: a Go plugin, a batch of lanes and the protocol. Behind these, an unknown bound is
// infinite, and nothing else is.
func (s Spec) Normalized() Spec {
	if s.RewardLow == 0 && s.RewardHigh == 0 {
		s.RewardLow, s.RewardHigh = math.Inf(-1), math.Inf(1)
	}
	return s
}

// Environment is one copy of a task. Authors of environments implement it; names
// and semantics are Gymnasium's. Package vector makes many lanes of it.
type Environment interface {
	// Spec describes observations, actions and rewards. It does not change.
	Spec() Spec
	// Reset starts an episode whose every random draw follows from seed, and
	// returns the initial observation.
	Reset(ctx context.Context, seed uint64) (space.Value, error)
	// Step takes an action. Its error wraps ErrNeedsReset before the first Reset
	// and after the last step of an episode, and ErrInvalidAction for an action
	// outside the action space.
	Step(ctx context.Context, action space.Value) (TimeStep, error)
}

// TimeStep is the outcome of one step.
type TimeStep struct {
	Observation space.Value // also valid on the last step of an episode
	Reward      float64     // finite
	// Terminated: the episode reached an end of the MDP. Learners bootstrap with 0.
	// Truncated: the episode was cut short. Learners bootstrap from Observation.
	Terminated, Truncated bool
}

// KnownModel is an Environment that is a known finite MDP. Implementing it is optional.
type KnownModel interface {
	// Model returns the model of the current episode. Observations and actions
	// are the model's states and actions, in the order of their spaces. Copies
	// with the same dynamics may return the same model. The caller does not
	// change it.
	Model(ctx context.Context) (*mdp.Tabular, error)
}

// ActionMasker is an Environment whose states may lack actions. Implementing it is optional,
// and sets Spec.Masks. The host refuses an action that its mask does not allow.
type ActionMasker interface {
	// ActionMask writes into allowed, which has an entry for every action of a Discrete space in
	// its order, whether the action is allowed in the present state. At least one is, unless the
	// episode has terminated. It is called after Reset and after every Step, and changes nothing.
	ActionMask(ctx context.Context, allowed []bool) error
}

// Renderer is an Environment that can draw itself. Implementing it is optional.
type Renderer interface {
	// Render draws the current state as text of one or more lines, as Gymnasium's
	// render mode "ansi" does. It changes nothing.
	Render(ctx context.Context) (string, error)
}

// FrameRenderer is an Environment that can draw itself as a picture. Implementing it
// is optional, and independent of Renderer.
type FrameRenderer interface {
	// RenderFrame draws the current state as a picture of at most 4096 × 4096 pixels, as
	// Gymnasium's render mode "rgb_array" does. Every picture has the same size. What is
	// transparent shows white. It changes nothing. The caller does not change the picture,
	// and has done with it before the next call. The error wraps ErrUnsupported if this
	// environment cannot be drawn as it was opened.
	RenderFrame(ctx context.Context) (image.Image, error)
}

// ActionNamer is an Environment with names for its actions. Implementing it is optional.
type ActionNamer interface {
	// ActionNames returns a name for every action of a Discrete space, such as "left", in
	// the order of the space. All copies have the same, and they do not change.
	ActionNames(ctx context.Context) ([]string, error)
}
