package options

import (
	"errors"
	"strconv"
)

// Pairs are options aimed at one state and action: see Pair. Agents that value single
// pairs offer them in Problem.Pairs, for RuleGain to decide on.
var Pairs Kind = pairsKind{named{"pair", "go to a state, try an action there, then follow the greedy policy; for the rule gain"}}

type pairsKind struct{ named }

var errPairs = errors.New("options of kind pair need an agent that values single pairs; this one values policies")

func (pairsKind) FromModels(*Belief) error { return errPairs }

func (pairsKind) Prepare(*Tables) error { return errPairs }

func (pairsKind) FromTables(*Tables) {}

func (pairsKind) Action(*Tables) int { return 0 }

// name returns the name of a pair in logs.
func (p Pair) name() string {
	return Pairs.String() + " " + strconv.Itoa(p.State) + " " + strconv.Itoa(p.Action)
}
