package policy

import (
	"errors"
	"reflect"
	"slices"
)

// Kind describes a kind of policy.
type Kind struct {
	Name    string   // in configs
	Doc     string   // what is selected, and the source
	Spec    Spec     // its parameters, all left out
	Beliefs []string // kinds of beliefs that it works with, its default first; none if it keeps counts of its own
}

// kinds are all policies, in the order of the documentation. A policy is one file, with the struct of
// its parameters and its type, and a line here.
var kinds = []Kind{
	{"greedy", "the arm with the largest mean (Sutton & Barto 2018, eq. 2.2)", Greedy{}, pointFirst},
	{"uniform", "an arm at random; learns nothing", Uniform{}, nil},
	{"epsilon-greedy", "at random with probability ε, else the largest mean (Sutton & Barto 2018, §2.2)", EpsilonGreedy{}, pointFirst},
	{"softmax", "with probability ∝ exp(mean/temperature) (Sutton & Barto 1998, §2.3)", Softmax{}, pointFirst},
	{"boltzmann-gumbel", "the largest mean + noise/√n, as softmax with a temperature of each arm's own (Cesa-Bianchi et al. 2017)", BoltzmannGumbel{}, nil},
	{"thompson", "the largest of one sample per arm (Thompson 1933)", Thompson{}, spreadBelief},
	{"optimistic", "by the paper's Algorithm 1: the largest advantage of exploring, if positive, else the largest mean (Dimitrakakis 2006)", Optimistic{}, spreadBelief},
	{"optimistic-stochastic", "by the paper's Algorithm 2: as optimistic, with δ drawn from the belief (Dimitrakakis 2006)", OptimisticStochastic{}, spreadBelief},
	{"vpi", "the largest mean + value of perfect information (Dearden, Friedman & Russell 1998)", VPI{}, spreadBelief},
	{"index", "the largest index λ of the paper's bound, or of a sharper one (docs/theory.md §1.9)", Index{}, spreadBelief},
	{"e3", "all arms in turn until each is known (which takes long), then the best (Kearns & Singh 2002)", E3{}, nil},
	{"e3-overflow", "as e3 with the integer overflow of the paper's program (docs/paper.md)", E3Overflow{}, nil},
	{"ucb1", "the largest mean + √(2 ln t/n) (Auer, Cesa-Bianchi & Fischer 2002)", UCB1{}, nil},
	{"discounted-ucb", "as ucb1 for means that change: rewards lose weight with every pull (Garivier & Moulines 2011)", DiscountedUCB{}, nil},
	{"kl-ucb", "the largest mean that relative entropy allows (Garivier & Cappé 2011)", KLUCB{}, nil},
	{"moss", "the largest mean + √(max(0, ln(H/(K n)))/n), for H pulls of K arms; without a horizon H is the number of the pull (Audibert & Bubeck 2009; Degenne & Perchet 2016)", MOSS{}, nil},
	{"ucb-v", "the largest mean + √(2 v ln t/n) + 3 ln t/n, where v is the variance of the arm's rewards (Audibert, Munos & Szepesvári 2009)", UCBV{}, nil},
	{"exp3", "with probability ∝ exp(−η × losses that are weighted by their probability), for rewards that anybody may choose (Auer et al. 2002; Bubeck & Cesa-Bianchi 2012)", Exp3{}, nil},
	{"besa", "the winner of duels, in which two arms compare as many rewards, drawn from those of each (Baransi, Maillard & Mannor 2014)", BESA{}, nil},
	{"bayes-ucb", "the largest 1−1/t quantile (Kaufmann, Cappé & Garivier 2012)", BayesUCB{}, betaFirst},
	{"gittins", "the largest Gittins index: optimal for discounted reward (Gittins 1979)", Gittins{}, betaOnly},
	{"knowledge-gradient", "the largest mean + the expected improvement by one more reward (Ryzhov, Powell & Frazier 2012)", KnowledgeGradient{}, conjugate},
	{"ids", "by the distribution with the least squared expected regret per information gained (Russo & Van Roy 2018)", IDS{}, spreadBelief},
	{"successive-elimination", "in turn the arms that may still be best; drops the others (Even-Dar, Mannor & Mansour 2006)", SuccessiveElimination{}, nil},
	{"median-elimination", "as successive-elimination; drops half of the arms at a time (Even-Dar, Mannor & Mansour 2006)", MedianElimination{}, nil},
	{"budgeted", "arms for budget pulls whose rewards do not count, then always the best arm (Madani, Lizotte & Greiner 2004)", Budgeted{}, populationFirst},
	{"backward-induction", "the Bayes-optimal arm for horizon pulls of few arms (Bellman 1956)", BackwardInduction{}, betaOnly},
}

// Kinds of beliefs that policies work with, the default first; never written to.
var (
	spreadBelief    = spread("population")
	betaFirst       = spread("beta")
	pointFirst      = first("point")
	populationFirst = first("population")
	betaOnly        = []string{"beta"}
	conjugate       = []string{"beta", "gaussian", "normal-gamma"} // what one more reward is worth has a closed form
)

// first returns the kinds of beliefs, one of them first.
func first(kind string) []string {
	names := []string{kind}
	for _, k := range beliefKinds {
		if k.Name != kind {
			names = append(names, k.Name)
		}
	}
	return names
}

// spread returns the kinds of beliefs that have a spread, one of them first. On a point a policy that
// explores by the spread is greedy.
func spread(kind string) []string {
	return slices.DeleteFunc(first(kind), func(name string) bool { return name == "point" })
}

// Kinds returns all kinds of policies.
func Kinds() []Kind { return slices.Clone(kinds) }

// kindOf returns the kind of a policy.
func kindOf(s Spec) (Kind, error) {
	i := slices.IndexFunc(kinds, func(k Kind) bool { return typeOf(k.Spec) == typeOf(s) })
	if i < 0 {
		return Kind{}, errors.New("policy: none is given")
	}
	return kinds[i], nil
}

// typeOf returns the type of a struct that is given by itself or by a pointer, nil of nil.
func typeOf(x any) reflect.Type {
	if v := reflect.Indirect(reflect.ValueOf(x)); v.IsValid() {
		return v.Type()
	}
	return nil
}
