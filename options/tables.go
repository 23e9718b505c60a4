package options

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
)

// Tables are the options of an agent that learns K tables of action values Q_k
// instead of models (docs/theory.md §3.4). At describes the decision in the
// present state, Follow begins the chosen option, and Action selects its
// actions.
//
// Values of actions. In state s, where action j has the largest mean value, an option
// whose first action is a is worth
//
//	v_k = (1−γ)Q_k(s,a)
//
// in member k, and one that begins with a random action the mean of that over a.
// The greedy option begins with j, the option of member l, which follows
// argmax Q_l for as long as it is held, with its action here. For k = l this is the
// value of following l, exactly. For the others it assumes that each follows what it
// believes best, which is more than the value of following l. Directed options that
// begin alike have equal values, so one of them stands for all: the one whose kind is
// listed first. Q_k(s,j) assumes that the member is optimal after j, so the leads over
// the greedy option come out too small. With one state they are those of the bandit
// times 1−γ: exact for γ = 0 only.
//
// Values of policies, with TableConfig.Policies. The agent also learns what policies
// are worth to each member: E_pk(s,a), the value of action a followed by policy p for
// ever (docs/theory.md §3.1). With a the action that option x takes in s, options are
// then worth what they are,
//
//	v_k(x) = (1−γ)E_xk(s,a),
//
// the greedy option y among them. A deviation is worth its action, followed by y; so
// are options with a bonus, which are no fixed policies. With one state the values of
// constants are those of the bandit at every γ. To value the policies of all members
// takes K² tables: see Members for how fewer do.
//
// Its memory is reused; it is not safe for concurrent use.
type Tables struct {
	TableConfig
	actions  int
	members  int
	gamma    float64
	policies []TableOption // whose values are needed, the greedy one first
	own      []int         // of each kind, the number of its first policy among them
	uniform  int           // the number of the policy of random actions; 0 if none
	visits   bool          // a kind goes by visits

	agent     TableAgent `snapshot:"-"` // of the present call
	kind      int        // the kind whose options are added, its place in Kinds; -1 for Greedy
	values    []float64  // (1−γ)Q_k(s,a) at a*K+k
	e         []float64  // E_pk(s,a) at (a*P+p)*K+k
	preferred []int      // the action of each member
	greedy    int        // the action of the largest mean value
	champion  []int      // for each action, the member that stands for it, or -1
	gain      []float64  // of the champions, by action
	taken     []bool     // actions that a directed option begins with
	drawn     int        // the member of DrawnMember

	labels   [][]string // of numbered options, by kind
	declared []DeclaredOption
	options  []TableOption
	arms     []Arm
	worth    []float64 // of the arms
	optimal  []float64

	following TableOption
	begun     bool       // an action was taken by it
	duration  *rand.Zipf // of repeated actions, less one
	left      uint64     // steps for which an action is still to be repeated
}

// TableConfig says which options to make from tables.
type TableConfig struct {
	// Kinds of options to explore with; default DefaultKinds.
	Kinds []Kind
	// RevealProbability is ζ of the uninformed options, in (0,1]; default 1.
	RevealProbability float64
	// Policies values options by the values of policies.
	Policies bool
	// Planned says that, with Policies, the agent evaluates at every decision the policies
	// that EvaluatedPolicies then lists. So the policy of a drawn member has values, too.
	Planned bool
	// Evaluated is, with Policies, the number of members, the first ones, whose
	// policies have values of their own; at most all.
	Evaluated int
	// Kappa is the κ of RecencyBonus, in units of value.
	Kappa float64
	// NoVisits says that the agent keeps no Visits, so kinds that need them are
	// refused.
	NoVisits bool
	// RNG is what options that act at random draw from.
	RNG *rand.Rand
}

// TableOption says what an option of tables does.
type TableOption struct {
	Kind Kind // of the option
	// Of is the member of Members, the action of Constants and Deviations, the action
	// that Repeats repeat at present, and the first action of Greedy.
	Of int
}

// TableAgent is what tables ask the agent where it is.
type TableAgent interface {
	// Greedy returns the action of the largest mean value.
	Greedy() int
	// Prefers returns the action that a member prefers.
	Prefers(member int) int
	// Means returns the members' mean value of each action. The slice is the agent's.
	Means() []float64
	// Visits returns how often and when actions were taken if Tables.NeedsVisits, and the
	// present state.
	Visits() (visits *Visits, state int)
}

// unnumbered is the number of an option that is the only one of its kind.
const unnumbered = -1

// NewTables returns the options of an agent with a number of actions and members at
// discount 0 ≤ γ < 1. The error says what is wrong with the configuration, or which
// kind the agent cannot make.
func NewTables(actions, members int, gamma float64, c TableConfig) (*Tables, error) {
	if c.Kinds == nil {
		c.Kinds = DefaultKinds
	}
	if c.RevealProbability == 0 {
		c.RevealProbability = 1
	}
	if c.RNG == nil {
		c.RNG = rand.New(rand.NewPCG(0, 0))
	}
	switch {
	case actions < 1 || members < 1 || !(gamma >= 0 && gamma < 1):
		return nil, fmt.Errorf("options: no values of %d actions in %d members at discount %v", actions, members, gamma)
	case c.Evaluated < 0 || c.Evaluated > members:
		return nil, fmt.Errorf("options: %d evaluated members of %d", c.Evaluated, members)
	case !(c.RevealProbability > 0 && c.RevealProbability <= 1):
		return nil, fmt.Errorf("options: probability %v of revealing outside (0,1]", c.RevealProbability)
	}
	if err := CheckKinds(c.Kinds); err != nil {
		return nil, err
	}
	t := &Tables{
		TableConfig: c, actions: actions, members: members, gamma: gamma,
		policies: []TableOption{{Kind: Greedy}}, own: make([]int, len(c.Kinds)), labels: make([][]string, len(c.Kinds)),
		values: make([]float64, actions*members), preferred: make([]int, members), champion: make([]int, actions),
		gain: make([]float64, actions), taken: make([]bool, actions), optimal: make([]float64, members),
		duration: rand.NewZipf(c.RNG, repeatExponent, 1, repeatLongest-1),
	}
	for i, k := range c.Kinds {
		t.kind = i
		if err := k.Prepare(t); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// Actions returns the number of actions.
func (t *Tables) Actions() int { return t.actions }

// EvaluatedPolicies returns the policies whose values At needs, of kinds Greedy, Members,
// Constants and Uniform; none without TableConfig.Policies. The slice belongs to t.
func (t *Tables) EvaluatedPolicies() []TableOption {
	if !t.Policies {
		return nil
	}
	return t.policies
}

// Draw draws the member of DrawnMember for the next decision. It takes no random number if
// that kind is not among the options.
func (t *Tables) Draw() {
	i := slices.Index(t.Kinds, DrawnMember)
	if i < 0 {
		return
	}
	t.drawn = t.RNG.IntN(t.members)
	if t.Policies && t.Planned {
		t.policies[t.own[i]].Of = t.drawn
	}
}

// NeedsVisits reports whether a kind needs the agent's visits.
func (t *Tables) NeedsVisits() bool { return t.visits }

// NeedPolicies says that the policies of the first n options of the kind are to be
// valued.
func (t *Tables) NeedPolicies(n int) {
	t.own[t.kind] = len(t.policies)
	for of := range n {
		t.policies = append(t.policies, TableOption{t.Kinds[t.kind], of})
	}
}

// NeedsDeviations reports whether a kind may value options by their first action, followed
// by the greedy policy.
func (t *Tables) NeedsDeviations() bool {
	return slices.ContainsFunc(t.Kinds, func(k Kind) bool {
		return k != Greedy && k != DrawnMember && k != Constants && k != Uniform && k != Declared
	})
}

// NeedUniform says that the policy of random actions is to be valued.
func (t *Tables) NeedUniform() {
	if t.uniform == 0 {
		t.uniform = len(t.policies)
		t.policies = append(t.policies, TableOption{Kind: Uniform})
	}
}

// NeedVisits says that kind k needs visits.
func (t *Tables) NeedVisits(k Kind) error {
	if t.NoVisits {
		return fmt.Errorf("the agent counts no states, which options of kind %s need", k.String())
	}
	t.visits = true
	return nil
}

// At sets p to the decision to be made where the agent is and member k holds action a
// to be worth q[a*K+k]. With TableConfig.Policies, e[(a*P+p)*K+k] is the value to
// member k of action a followed by policy number p of EvaluatedPolicies. Option 0 is the
// greedy one. p shares the memory of t until the next call. The caller sets Step, Hold
// and what else p has.
func (t *Tables) At(p *Problem, q, e []float64, agent TableAgent) error {
	if len(q) != t.actions*t.members || t.Policies && len(e) != len(q)*len(t.policies) {
		return errors.New("options: the values are not one for each action, policy and member")
	}
	t.agent, t.e = agent, e
	t.scaled(q)
	t.options, t.arms, t.worth = t.options[:0], t.arms[:0], t.worth[:0]
	clear(t.taken)
	t.kind = -1
	t.begin(t.add(Greedy.String(), unnumbered, Directed), t.greedy, 0)
	t.options[0].Of = t.greedy
	t.taken[t.greedy] = true
	for i, k := range t.Kinds {
		t.kind = i
		k.FromTables(t)
	}
	p.Arms, p.Greedy, p.Values, p.Optimal, p.Pairs = t.arms, 0, t.worth, t.optimal, nil
	return nil
}

// scaled writes (1−γ)q into the values and finds the greedy action and that of each
// member, the first of equal ones, and the optimal values.
func (t *Tables) scaled(q []float64) {
	scale, best := 1-t.gamma, math.Inf(-1)
	preferred, optimal := t.preferred, t.optimal[:len(t.preferred)]
	clear(preferred)
	t.greedy = 0
	for a := range t.actions {
		row := t.row(a)[:len(preferred)]
		sum := 0.0
		for k, v := range q[a*len(row):][:len(row)] {
			v *= scale
			row[k] = v
			sum += v
			if a == 0 || v > optimal[k] {
				preferred[k], optimal[k] = a, v
			}
		}
		if m := sum / float64(len(row)); m > best {
			best, t.greedy = m, a
		}
	}
}

// row returns the values of an action, by member.
func (t *Tables) row(a int) []float64 { return t.values[a*t.members : (a+1)*t.members] }

// policyRow returns E_pk(s,a) by member k.
func (t *Tables) policyRow(action, policy int) []float64 {
	i := (action*len(t.policies) + policy) * t.members
	return t.e[i : i+t.members]
}

// begin writes the values of beginning with an action and then, with values of
// policies, following a policy.
func (t *Tables) begin(dst []float64, action, policy int) {
	if !t.Policies {
		copy(dst, t.row(action))
		return
	}
	scale := 1 - t.gamma
	for k, v := range t.policyRow(action, policy)[:len(dst)] {
		dst[k] = scale * v
	}
}

// OwnPolicy adds the option number of of the present kind, which begins with an action
// and follows its own policy, one of NeedPolicies.
func (t *Tables) OwnPolicy(label string, of, action int) {
	if t.Policies || !t.taken[action] {
		t.taken[action] = true
		t.begin(t.add(label, of, Directed), action, t.own[t.kind]+of)
	}
}

// ThenGreedy adds an option of the present kind that begins with an action and then
// follows the greedy policy, unless it is the greedy option.
func (t *Tables) ThenGreedy(label string, of, action int) {
	if t.Policies && action != t.greedy || !t.Policies && !t.taken[action] {
		t.taken[action] = true
		t.begin(t.add(label, of, Directed), action, 0)
	}
}

// Uninformed adds the uninformed option of the present kind, which begins with an
// action and is valued as if it then followed the greedy policy.
func (t *Tables) Uninformed(label string, action int) {
	t.begin(t.add(label, unnumbered, Uninformed), action, 0)
}

// Mixed adds the uninformed option of the present kind, which takes random actions:
// its values are the means over the actions.
func (t *Tables) Mixed(label string) {
	row := t.add(label, unnumbered, Uninformed)
	clear(row)
	if t.Policies {
		for a := range t.actions {
			for k, v := range t.policyRow(a, t.uniform)[:len(row)] {
				row[k] += (1 - t.gamma) * v / float64(t.actions)
			}
		}
		return
	}
	for a := range t.actions {
		for k, v := range t.row(a) {
			row[k] += v
		}
	}
	for k := range row {
		row[k] /= float64(t.actions)
	}
}

// represent finds the champion of each first action: the member, from a number on, that
// gains most over the greedy option in its own values. The greedy option must have been
// added.
func (t *Tables) represent(from int) {
	for a := range t.champion {
		t.champion[a] = -1
	}
	greedy, optimal := t.worth[:len(t.preferred)], t.optimal[:len(t.preferred)]
	for l, a := range t.preferred {
		if gain := optimal[l] - greedy[l]; l >= from && (t.champion[a] < 0 || gain > t.gain[a]) {
			t.champion[a], t.gain[a] = l, gain
		}
	}
}

// add adds an option of the present kind and returns its values, to be filled in.
func (t *Tables) add(label string, of int, class Class) []float64 {
	arm, o := Arm{Name: label, Class: class}, TableOption{Kind: Greedy}
	if t.kind >= 0 {
		o.Kind = t.Kinds[t.kind]
	}
	if of != unnumbered {
		arm.Name, o.Of = t.numbered(label, of), of
	}
	if class == Uninformed {
		arm.RevealProbability = t.RevealProbability
	}
	t.options, t.arms = append(t.options, o), append(t.arms, arm)
	return t.grow()
}

// grow returns room for the values of one more option.
func (t *Tables) grow() []float64 {
	n := len(t.worth)
	t.worth = slices.Grow(t.worth, t.members)[:n+t.members]
	return t.worth[n:]
}

// Declare sets the options of kind Declared. They are not copied.
func (t *Tables) Declare(list []DeclaredOption) { t.declared = list }

// DeclaredOptions returns the options of kind Declared.
func (t *Tables) DeclaredOptions() []DeclaredOption { return t.declared }

// state returns the present state.
func (t *Tables) state() int {
	_, s := t.agent.Visits()
	return s
}

// numbered returns the name of an option, which is made once.
func (t *Tables) numbered(label string, of int) string {
	names := &t.labels[t.kind]
	for len(*names) <= of {
		*names = append(*names, label+" "+strconv.Itoa(len(*names)))
	}
	return (*names)[of]
}

// FollowOption follows an option from now on.
func (t *Tables) FollowOption(o TableOption) { t.following, t.begun, t.left = o, false, 0 }

// Following returns the option that is followed.
func (t *Tables) Following() TableOption { return t.following }

// First reports whether no action was taken by the option before.
func (t *Tables) First() bool { return !t.begun }

// Option says what an arm of the last problem does.
func (t *Tables) Option(arm int) TableOption { return t.options[arm] }

// Action returns the action of the option that is followed, where the agent is.
func (t *Tables) Action(agent TableAgent) int {
	t.agent = agent
	a := t.following.Kind.Action(t)
	t.begun = true
	return a
}
