package options

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"

	"github.com/rlrun/rlrun/internal/spelling"
	"github.com/rlrun/rlrun/mdp"
)

// DeclaredOption is an option ⟨I, π, β⟩ of a finite task that somebody declares (Sutton,
// Precup & Singh 1999). States and actions are counted from 0. It implements Option.
type DeclaredOption struct {
	Name string `json:"name"`
	// Initiation is I, by state.
	Initiation []bool `json:"initiation"`
	// Actions is π by state if it is deterministic; else Rows is, the probabilities of all
	// actions. Where the option surely ends any will do.
	Actions mdp.Deterministic `json:"actions,omitempty"`
	Rows    mdp.Randomised    `json:"rows,omitempty"`
	// End is β, by state.
	End []float64 `json:"end"`
}

var _ Option = (*DeclaredOption)(nil)

// Initiates implements Option.
func (o *DeclaredOption) Initiates(s int) bool { return o.Initiation[s] }

// Distribution implements Option.
func (o *DeclaredOption) Distribution(dst []float64, s, _ int) { o.policy().Distribution(dst, s) }

// Termination implements Option.
func (o *DeclaredOption) Termination(s, _ int) float64 { return o.End[s] }

// Stages implements Option.
func (*DeclaredOption) Stages() int { return 0 }

func (o *DeclaredOption) policy() mdp.Policy {
	if o.Actions != nil {
		return o.Actions
	}
	return o.Rows
}

// Action draws the action in s. It takes a number from rng if the policy is random.
func (o *DeclaredOption) Action(s int, rng *rand.Rand) int {
	if o.Actions != nil {
		return o.Actions[s]
	}
	return draw(o.Rows[s], rng)
}

// Ends reports whether the option ends on arrival in s. It takes a number from rng if that is
// uncertain.
func (o *DeclaredOption) Ends(s int, rng *rand.Rand) bool {
	p := o.End[s]
	return p >= 1 || p > 0 && rng.Float64() < p
}

// check returns what is wrong with the option in a task of a size.
func (o *DeclaredOption) check(states, actions int) error {
	if len(o.Initiation) != states || len(o.End) != states || (o.Actions == nil) == (o.Rows == nil) || len(o.Actions)+len(o.Rows) != states {
		return fmt.Errorf("initiation set, policy and termination are of %d, %d and %d states; the task has %d", len(o.Initiation), len(o.Actions)+len(o.Rows), len(o.End), states)
	}
	if !slices.Contains(o.Initiation, true) {
		return errors.New("the initiation set is empty")
	}
	ends := false
	for s, p := range o.End {
		if !(p >= 0 && p <= 1) {
			return fmt.Errorf("the probability of ending in state %d is %v, must be in [0,1]", s, p)
		}
		if err := o.checkPolicy(s, actions); err != nil {
			return err
		}
		ends = ends || p > 0
	}
	if !ends {
		return errors.New("it never ends: the probability of ending is 0 in every state")
	}
	return nil
}

func (o *DeclaredOption) checkPolicy(s, actions int) error {
	if o.Actions != nil {
		if a := o.Actions[s]; a < 0 || a >= actions {
			return fmt.Errorf("action %d in state %d is not in 0..%d", a, s, actions-1)
		}
		return nil
	}
	if len(o.Rows[s]) != actions {
		return fmt.Errorf("%d probabilities in state %d; the task has %d actions", len(o.Rows[s]), s, actions)
	}
	sum := 0.0
	for a, p := range o.Rows[s] {
		if !(p >= 0 && p <= 1) {
			return fmt.Errorf("the probability of action %d in state %d is %v, must be in [0,1]", a, s, p)
		}
		sum += p
	}
	if math.Abs(sum-1) > 1e-9 {
		return fmt.Errorf("the probabilities of actions in state %d have the sum %v, not 1", s, sum)
	}
	return nil
}

// ofKind matches the names that kinds give to their options, by which decisions are logged. The others have
// the names of their kinds.
var ofKind = regexp.MustCompile(`^(member|action|deviation|pair) \d+( \d+)?$`)

// CheckDeclared returns what is wrong with options that are declared for a task with numbers of
// states and actions.
func CheckDeclared(list []DeclaredOption, states, actions int) error {
	seen := map[string]bool{}
	for i := range list {
		o := &list[i]
		shown := spelling.Shown(o.Name)
		switch {
		case shown == "":
			return fmt.Errorf("option %d has no name", i)
		case shown == Greedy.String():
			return fmt.Errorf("option %d has the name %q, which is the agent's own option: give it another", i, o.Name)
		case ofKind.MatchString(shown) || slices.Contains(KindNames(), shown):
			return fmt.Errorf("option %d has the name %q, as options of rlrun's own kinds have: give it another", i, o.Name)
		case seen[shown]:
			return fmt.Errorf("option %d has the name %q of another, or looks like it", i, o.Name)
		}
		seen[shown] = true
		if err := o.check(states, actions); err != nil {
			return fmt.Errorf("option %q: %w", o.Name, err)
		}
	}
	return nil
}

// Experience is what an OptionSource is told: the agent's task, and what was seen in a run.
type Experience struct {
	States, Actions int
	Seen            []Seen // by state, action and next state, increasing
	Steps           int    // number of transitions seen
	Seed            uint64 // of what the source draws
}

// Seen is a transition that was seen. Where an episode terminated, Next is the first state of
// the next one.
type Seen struct {
	State, Action, Next int
	Count               int     // how often
	Reward              float64 // sum of its rewards
}

// OptionSource makes options of anybody from what was seen in a run, in the manner of Chooser:
// it is a function of the experience.
type OptionSource func(x *Experience) ([]DeclaredOption, error)
