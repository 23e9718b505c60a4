// Package rltest checks environments and agents against the contract of package
// framework. It imports no testing package, so that go test, rlrun plugin check
// and any other program can share it.
//
// A check returns every broken rule, joined; Broken lists their names. A rule
// that a check could not try counts as broken: a conformance report without it
// would be a guess.
package rltest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/rlrun/rlrun/internal/each"
)

// Rule names one rule of the contract.
type Rule string

// The rules of environments.
const (
	// Works: valid calls succeed and nothing panics.
	Works Rule = "works"
	// SpecValid: the spec is complete and its spaces and bounds are possible.
	SpecValid Rule = "spec-valid"
	// SpecConstant: the spec is the same whenever it is asked for.
	SpecConstant Rule = "spec-constant"
	// ObservationInSpace: every observation is in the observation space.
	ObservationInSpace Rule = "observation-in-space"
	// FiniteReward: no reward is NaN or infinite.
	FiniteReward Rule = "finite-reward"
	// RewardInBounds: every reward is within the bounds that the spec declares.
	RewardInBounds Rule = "reward-in-bounds"
	// SameSeedSameEpisode: seed and actions determine an episode, whatever the
	// environment was used for before.
	SameSeedSameEpisode Rule = "same-seed-same-episode"
	// NeedsResetFirst: a step before the first reset is an error wrapping
	// framework.ErrNeedsReset.
	NeedsResetFirst Rule = "needs-reset-before-the-first-episode"
	// NeedsResetAfter: so is a step after the last one of an episode. It is tried
	// unless the spec says Continuing; then EndsNever is.
	NeedsResetAfter Rule = "needs-reset-after-an-episode"
	// EndsNever: an environment whose spec says Continuing ends no episode.
	EndsNever Rule = "continuing-ends-never"
	// MaskAllows: where the spec says Masks, a mask allows an action unless the episode has
	// terminated.
	MaskAllows Rule = "mask-allows-an-action"
	// InvalidAction: an action outside the action space is an error wrapping
	// framework.ErrInvalidAction. There are action spaces without an outside.
	InvalidAction Rule = "invalid-action"
	// ReturnsOwnSlices: a returned slice does not change afterwards.
	ReturnsOwnSlices Rule = "returns-own-slices"
	// InputUnchanged: a call does not write to what it is given.
	InputUnchanged Rule = "input-unchanged"
	// NewEpisodeIsClean: a lane that starts an episode answers with reward 0 and
	// without flags.
	NewEpisodeIsClean Rule = "new-episode-is-clean"
	// FillsColumns: a step writes every entry of a lane that is not idle: it does
	// not rely on what the caller's columns held.
	FillsColumns Rule = "fills-columns"
	// IdleUntouched: a lane whose signal is Idle keeps its entries in every
	// column, and takes no notice of the call.
	IdleUntouched Rule = "idle-untouched"
	// LanesIndependent: a lane yields what it would yield alone and, with several actors, a run.
	LanesIndependent Rule = "lanes-independent"
	// NamesLane: an error for which one lane is to blame wraps a
	// *vector.LaneError with that lane.
	NamesLane Rule = "error-names-lane"
	// ModelFits: an environment with models has one for every lane, with as many
	// actions as the action space and expected rewards within the spec's bounds. Where the
	// model's states are the observations, every start, transition, reward and end is one
	// that the model allows, and as frequent: χ² tests call a right model wrong in about one
	// of a million plugins.
	ModelFits Rule = "model-fits"
	// RenderChangesNothing: an environment that can be rendered is drawn as text, or as
	// frames of one size, or both, and the drawing does not change what follows.
	RenderChangesNothing Rule = "render-changes-nothing"
	// MeasureChangesNothing: the metrics of an environment or agent can be read after every
	// step, though some may have no value then. Reading them does not change what follows.
	MeasureChangesNothing Rule = "measuring-changes-nothing"
)

// The rules of agents. Works, InputUnchanged, FillsColumns, IdleUntouched and
// LanesIndependent also hold for them.
const (
	// ActionInSpace: every action that is used is in the action space.
	ActionInSpace Rule = "action-in-space"
	// ActionAllowed: where there are masks, every action that is used is allowed.
	ActionAllowed Rule = "action-allowed"
	// SameSeedSameActions: seed and feedback determine the actions.
	SameSeedSameActions Rule = "same-seed-same-actions"
	// NewRunForgets: after a new run starts, nothing of the one before is left.
	NewRunForgets Rule = "new-run-forgets"
	// NewEpisodeTeachesNothing: of a call that starts an episode an agent takes
	// the observation only.
	NewEpisodeTeachesNothing Rule = "new-episode-teaches-nothing"
	// LearningOff: rewards in calls with the signal Evaluate change no action, then
	// or later.
	LearningOff Rule = "learning-off-changes-nothing"
	// RoundTrips: an agent that can be saved goes on, wherever it is loaded, as the
	// one that was saved: with the same actions, and the same metrics of its own. So does the
	// one that was saved, and other lanes take no notice.
	RoundTrips Rule = "save-and-load-round-trips"
)

// The rules of agents with options, vector.OptionAgent. Works, InputUnchanged,
// FillsColumns, LanesIndependent and NewRunForgets also hold for their decisions.
const (
	// ProblemSound: every decision that a lane faces passes options.Problem.Check.
	ProblemSound Rule = "problem-sound"
	// SameSeedSameProblems: seed, feedback and choices determine the decisions that
	// a lane faces, and its actions.
	SameSeedSameProblems Rule = "same-seed-same-problems"
	// EpochlessIsStep: StepOptions without epochs is Step.
	EpochlessIsStep Rule = "without-epochs-a-step"
	// ChoiceActs: a choice selects an action in the action space in its lane, and
	// changes no other lane's.
	ChoiceActs Rule = "choice-acts"
	// GreedyIsPolicy: the greedy option does in every observation what GreedyPolicy
	// says, which is an error wrapping framework.ErrUnsupported where observations
	// or actions are not Discrete.
	GreedyIsPolicy Rule = "greedy-option-is-greedy-policy"
)

// The rules of plugins.
const (
	// Described: the description is complete, its id reads namespace/name@version,
	// and its parameter schema is a JSON object.
	Described Rule = "described"
	// Capable: the description lists an ability ("model", "render", "frames", … of
	// environments, "checkpoint" and "options" of agents) if and only if it is there. An
	// environment may refuse to draw what it lists, where a library is missing. It needs no model
	// where its task changes in a run and it measures the regret itself. By the metrics regret and
	// optimal_action it means what the host does.
	Capable Rule = "abilities-are-true"
)

// Violation is one broken rule.
type Violation struct {
	Rule Rule  // that was broken
	Err  error // how it was broken
}

// Error names the rule.
func (v *Violation) Error() string { return fmt.Sprintf("%s: %v", v.Rule, v.Err) }

// Unwrap returns how the rule was broken.
func (v *Violation) Unwrap() error { return v.Err }

// Broken returns the rules that the error of a check says are broken.
func Broken(err error) []Rule {
	var rules []Rule
	var walk func(error)
	walk = func(err error) {
		switch e := err.(type) {
		case *Violation:
			rules = append(rules, e.Rule)
		case interface{ Unwrap() []error }:
			for _, err := range e.Unwrap() {
				walk(err)
			}
		case interface{ Unwrap() error }:
			walk(e.Unwrap())
		}
	}
	walk(err)
	return rules
}

// ErrUntried is how a rule is broken that could not be tried: alone where the check
// ended before, or with the reason.
var ErrUntried = errors.New("could not be tried")

// report collects what a check finds, the first violation of every rule.
type report struct {
	tried      []Rule
	violations []*Violation
}

// try notes that a rule has been tried, and breaks it if err is not nil.
func (r *report) try(rule Rule, err error) {
	if !slices.Contains(r.tried, rule) {
		r.tried = append(r.tried, rule)
	}
	if err != nil {
		r.fail(rule, err)
	}
}

// holds notes that a rule has been tried, and breaks it for the reason unless it holds.
func (r *report) holds(rule Rule, ok bool, reason string, args ...any) {
	var err error
	if !ok {
		err = fmt.Errorf(reason, args...)
	}
	r.try(rule, err)
}

func (r *report) fail(rule Rule, err error) {
	if !slices.ContainsFunc(r.violations, func(v *Violation) bool { return v.Rule == rule }) {
		r.violations = append(r.violations, &Violation{Rule: rule, Err: err})
	}
}

// comparison says how lanes are compared with the same lanes alone.
type comparison struct {
	same               Rule   // equal calls get equal answers
	again, dirty, lane string // what is compared, in words
}

// alone plays every lane alone: once, again, and with other values in the caller's
// columns. It compares the logs with each other and with those of the lanes together, and
// returns the first of each lane.
func (r *report) alone(c comparison, together [][]string, play func(lane int, dirty bool) ([][]string, error)) ([][]string, error) {
	alone := make([][]string, len(together))
	for i := range together {
		first, err := play(i, false)
		if err != nil {
			return nil, err
		}
		again, err := play(i, false)
		if err != nil {
			return nil, err
		}
		r.try(c.same, differ(first[0], again[0], c.again))
		dirty, err := play(i, true)
		if err != nil {
			return nil, err
		}
		if r.sound(c.same) {
			r.try(FillsColumns, differ(first[0], dirty[0], c.dirty))
		}
		if r.sound(c.same, FillsColumns) {
			r.try(LanesIndependent, differ(first[0], together[i], fmt.Sprintf("%s %d of %d, against the same lane alone", c.lane, i, len(together))))
		}
		alone[i] = first[0]
	}
	return alone, nil
}

// result breaks those of the wanted rules that were not tried, and returns all
// violations.
func (r *report) result(wanted ...Rule) error {
	for _, rule := range wanted {
		if !slices.Contains(r.tried, rule) {
			r.fail(rule, ErrUntried)
		}
	}
	errs := each.Of(r.violations, func(v *Violation) error { return v })
	return errors.Join(errs...)
}
