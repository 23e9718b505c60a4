package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rlrun/rlrun/bandit"
)

// kind describes one kind of policy.
type kind struct {
	name    string   // in configurations
	fields  string   // of Spec that it uses
	beliefs []string // kinds that it works with, its default first
	// build checks the fields and returns what makes policies. betas are the
	// arms' beliefs if those are of kind beta.
	build func(d *builder) (func(b beliefs, betas []bandit.Beta) Policy, error)
}

// kinds are all policies, in the order of the documentation. A policy is one file, with
// its type, its kind and what builds it, and a line here.
var kinds = []kind{
	greedyKind,
	uniformKind,
	epsilonGreedyKind,
	softmaxKind,
	thompsonKind,
	optimisticKind,
	stochasticKind,
	vpiKind,
	indexKind,
	e3Kind,
	e3OverflowKind,
	ucb1Kind,
	klUCBKind,
	mossKind,
	bayesUCBKind,
	gittinsKind,
	knowledgeGradientKind,
	idsKind,
	successiveEliminationKind,
	medianEliminationKind,
	budgetedKind,
	backwardInductionKind,
}

// boundedHorizon has the fields of policies that use the exploration threshold.
const boundedHorizon = "gamma horizon hold lower_bound"

// Kinds of beliefs that policies work with, the default first; never written to.
var (
	anyBelief  = BeliefKinds()
	pointFirst = first("point")
	betaFirst  = first("beta")
	betaOnly   = []string{"beta"}
	conjugate  = conjugateKinds()
)

// first returns the kinds of beliefs, one of them first.
func first(kind string) []string {
	all := BeliefKinds()
	i := slices.Index(all, kind)
	return slices.Concat([]string{kind}, all[:i], all[i+1:])
}

// maker is what build returns.
type maker = func(b beliefs, betas []bandit.Beta) Policy

// Kinds returns the names of all policies.
func Kinds() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.name
	}
	return names
}

func kindOf(name string) (kind, error) {
	for _, k := range kinds {
		if k.name == name {
			return k, nil
		}
	}
	if name == "" {
		return kind{}, fmt.Errorf("kind must be given: one of %s", strings.Join(Kinds(), ", "))
	}
	return kind{}, fmt.Errorf("kind is %q, must be one of %s", name, strings.Join(Kinds(), ", "))
}

// common reads draw.
func (d *builder) common() (bool, error) {
	if d.Draw != "common" {
		return false, nil
	}
	return true, d.onPopulations("draw", d.Draw)
}

// comparison reads compare.
func (d *builder) comparison() (comparison, error) {
	switch d.Compare {
	case "pairs":
		return withPairs, d.onPopulations("compare", d.Compare)
	case "all-pairs":
		return withAllPairs, d.onPopulations("compare", d.Compare)
	}
	return withMean, nil
}

// threshold reads what the exploration threshold needs.
func (d *builder) threshold() (c clock, low float64, err error) {
	if c, err = d.clock(); err == nil {
		low, err = d.lower()
	}
	return c, low, err
}
