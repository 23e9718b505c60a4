package options

import (
	"fmt"
	"strings"

	"github.com/rlrun/rlrun/internal/each"
	"github.com/rlrun/rlrun/mdp"
)

// Kind is a way of making options to explore with. It makes them from models and from
// tables, gives their values, and acts. Every kind is a file of its own, kind_*.go,
// and a line in Kinds. Kinds are compared with ==.
type Kind interface {
	// String returns the name of the kind in configurations.
	String() string
	// Doc says in a sentence what its options do.
	Doc() string
	// FromModels adds the kind's options to those of a belief of models.
	FromModels(b *Belief) error
	// Prepare tells tables what the kind needs of the agent.
	Prepare(t *Tables) error
	// FromTables adds the kind's options in the state where the agent is.
	FromTables(t *Tables)
	// Action returns the action there of the option that t follows.
	Action(t *Tables) int
}

// Kinds are all kinds that configurations name, in the order of the documentation. Declared is
// none of them, since they name its files.
var Kinds = []Kind{Greedy, DrawnMember, Members, Constants, Uniform, RecencyBonus, CountBonus, Untried, Deviations, Repeats, Pairs}

// DefaultKinds are the kinds to explore with if none are given.
var DefaultKinds = []Kind{Members, Constants}

// KindNames returns the names of Kinds, in their order.
func KindNames() []string {
	return each.Of(Kinds, Kind.String)
}

// KindNamed returns the kind of a name.
func KindNamed(name string) (Kind, error) {
	if name == Declared.String() {
		return Declared, nil
	}
	for _, k := range Kinds {
		if k.String() == name {
			return k, nil
		}
	}
	return nil, fmt.Errorf("unknown kind of option %q (one of %s)", name, strings.Join(KindNames(), ", "))
}

// CheckKinds returns an error if a kind is nil or occurs twice.
func CheckKinds(kinds []Kind) error {
	seen := map[Kind]bool{}
	for _, k := range kinds {
		if k == nil {
			return fmt.Errorf("options: a kind of option is nil")
		}
		if seen[k] {
			return fmt.Errorf("options: kind of option %s twice", k.String())
		}
		seen[k] = true
	}
	return nil
}

// Belief is what kinds make options of where there are models.
type Belief struct {
	*ReduceConfig
	MeanModel *mdp.Tabular        // mean of the members
	Optimal   mdp.Deterministic   // the policy that is optimal for the mean model
	OptimalOf []mdp.Deterministic // that of each member
	distinct
	ofMember []int       // the candidate of each member, with DrawnMember
	others   []Candidate // those that are not deterministic, or uninformed
}

// Directed adds the option of following a deterministic policy, unless there is one
// with the same policy.
func (b *Belief) Directed(name string, pi mdp.Deterministic) {
	b.candidates[b.distinct.add(name, pi)].drawn = false
}

// Drawn adds the policy of the next member, which is offered only if that member is drawn.
func (b *Belief) Drawn(name string, pi mdp.Deterministic) {
	n := len(b.candidates)
	at := b.distinct.add(name, pi)
	b.ofMember = append(b.ofMember, at)
	if at == n {
		b.candidates[at].drawn = true
	}
}

// Uninformed adds an option that is held to find out which policy is best. It gets
// the configuration's probability of revealing the model.
func (b *Belief) Uninformed(c Candidate) {
	c.Class, c.RevealProbability = Uninformed, b.RevealProbability
	b.others = append(b.others, c)
}

// named is the name of a kind, and what its options do.
type named struct{ name, doc string }

func (n named) String() string { return n.name }

func (n named) Doc() string { return n.doc }

// uninformed marks kinds all of whose options are uninformed.
type uninformed struct{}

func (uninformed) allUninformed() {}

// Directs says whether a kind makes directed options, class A of docs/theory.md §3.2. The others
// make uninformed ones, class B.
func Directs(k Kind) bool {
	_, is := k.(interface{ allUninformed() })
	return !is
}

// plain are the methods of a kind that needs nothing of an agent with tables.
type plain struct{}

func (plain) Prepare(*Tables) error { return nil }
