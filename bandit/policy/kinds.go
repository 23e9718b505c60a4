package policy

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/rlrun/rlrun/bandit"
)

// kind is what there is to know about one kind of policy.
type kind struct {
	fields  string   // of Spec that it uses
	beliefs []string // kinds that it works with, its default first
	// build checks the fields and returns what makes policies. betas are the
	// arms' beliefs if those are of kind beta.
	build func(d *builder) (func(b beliefs, betas []bandit.Beta) Policy, error)
}

const (
	kindsInOrder   = "greedy uniform epsilon-greedy softmax thompson optimistic optimistic-stochastic vpi index e3 e3-overflow ucb1 kl-ucb bayes-ucb gittins knowledge-gradient ids successive-elimination median-elimination budgeted backward-induction"
	boundedHorizon = "gamma horizon hold lower_bound"
)

// Kinds of beliefs, never written to.
var (
	anyBelief  = []string{"population", "point", "beta", "gaussian", "normal-gamma", "particles"}
	pointFirst = []string{"point", "population", "beta", "gaussian", "normal-gamma", "particles"}
	betaFirst  = []string{"beta", "gaussian", "normal-gamma", "population", "point", "particles"}
	betaOnly   = []string{"beta"}
	conjugate  = []string{"beta", "gaussian", "normal-gamma"}
)

// maker is what build returns.
type maker = func(b beliefs, betas []bandit.Beta) Policy

// Kinds returns the names of all policies.
func Kinds() []string { return strings.Fields(kindsInOrder) }

func kindOf(name string) (kind, error) {
	switch name {
	case "greedy":
		return kind{"", pointFirst, func(*builder) (maker, error) {
			return func(b beliefs, _ []bandit.Beta) Policy { return &greedy{newRanked(b)} }, nil
		}}, nil
	case "uniform":
		return kind{"", nil, func(d *builder) (maker, error) {
			return func(beliefs, []bandit.Beta) Policy { return uniform{d.task.Arms} }, nil
		}}, nil
	case "epsilon-greedy":
		return kind{"epsilon decay", pointFirst, buildEpsilonGreedy}, nil
	case "softmax":
		return kind{"temperature decay", pointFirst, buildSoftmax}, nil
	case "thompson":
		return kind{"draw", anyBelief, buildThompson}, nil
	case "optimistic":
		return kind{boundedHorizon + " score order compare", anyBelief, buildOptimistic}, nil
	case "optimistic-stochastic":
		return kind{boundedHorizon + " compare draw choice", anyBelief, buildStochastic}, nil
	case "vpi":
		return kind{"", anyBelief, func(*builder) (maker, error) {
			return func(b beliefs, _ []bandit.Beta) Policy { return newVPI(b) }, nil
		}}, nil
	case "index":
		return kind{boundedHorizon + " score", anyBelief, buildIndex}, nil
	case "e3", "e3-overflow":
		if name == "e3" {
			return kind{"gamma horizon accuracy", nil, buildE3}, nil
		}
		return kind{"", nil, buildE3Overflow}, nil
	case "ucb1":
		return kind{"confidence", nil, buildUCB1}, nil
	case "kl-ucb":
		return kind{"confidence", nil, buildKLUCB}, nil
	case "bayes-ucb":
		return kind{"confidence horizon", betaFirst, buildBayesUCB}, nil
	case "gittins":
		return kind{"gamma", betaOnly, buildGittins}, nil
	case "knowledge-gradient":
		return kind{"gamma horizon", conjugate, func(d *builder) (maker, error) {
			c, err := d.clock()
			return func(b beliefs, _ []bandit.Beta) Policy { return &knowledgeGradient{newRanked(b), c} }, err
		}}, nil
	case "ids":
		return kind{"samples", anyBelief, buildIDS}, nil
	case "successive-elimination", "median-elimination":
		return kind{"accuracy failure", nil, buildElimination}, nil
	case "budgeted":
		return kind{"budget allocation", anyBelief, buildBudgeted}, nil
	case "backward-induction":
		return kind{"gamma horizon", betaOnly, buildPlanned}, nil
	}
	if name == "" {
		return kind{}, fmt.Errorf("kind must be given: one of %s", strings.Join(Kinds(), ", "))
	}
	return kind{}, fmt.Errorf("kind is %q, must be one of %s", name, strings.Join(Kinds(), ", "))
}

func buildEpsilonGreedy(d *builder) (maker, error) {
	epsilon, err := within("epsilon", d.Epsilon, 0.01, 0, 1, false)
	if err != nil {
		return nil, err
	}
	decay, err := within("decay", d.Decay, 0, 0, math.Inf(1), false)
	return func(b beliefs, _ []bandit.Beta) Policy {
		return &epsilonGreedy{newRanked(b), schedule{value: epsilon, decay: decay}}
	}, err
}

func buildSoftmax(d *builder) (maker, error) {
	temperature, err := within("temperature", d.Temperature, 0.1, 0, math.Inf(1), true)
	if err != nil {
		return nil, err
	}
	decay, err := within("decay", d.Decay, 0, 0, math.Inf(1), false)
	return func(b beliefs, _ []bandit.Beta) Policy {
		return &softmax{newRanked(b), schedule{value: temperature, decay: decay}, make([]float64, b.len())}
	}, err
}

// common reads draw.
func (d *builder) common() (bool, error) {
	i, err := choice("draw", d.Draw, "per-arm", "common")
	if err == nil && i == 1 {
		err = d.onPopulations("draw", d.Draw)
	}
	return i == 1, err
}

func buildThompson(d *builder) (maker, error) {
	common, err := d.common()
	return func(b beliefs, betas []bandit.Beta) Policy {
		switch {
		case b.populations != nil:
			return newThompsonPopulation(b, common)
		case betas != nil:
			return newThompsonBeta(b, betas)
		}
		return &thompson{b}
	}, err
}

// comparison reads compare.
func (d *builder) comparison() (comparison, error) {
	i, err := choice("compare", d.Compare, "mean", "pairs", "all-pairs")
	if err == nil && i > 0 {
		err = d.onPopulations("compare", d.Compare)
	}
	return comparison(i), err
}

// threshold reads what the exploration threshold needs.
func (d *builder) threshold() (c clock, low float64, err error) {
	if c, err = d.clock(); err == nil {
		low, err = d.lower()
	}
	return c, low, err
}

func buildOptimistic(d *builder) (maker, error) {
	kind, err := d.score(bandit.U)
	if err != nil {
		return nil, err
	}
	c, err := d.clock()
	if err != nil {
		return nil, err
	}
	low := 0.0
	if kind == bandit.U {
		if low, err = d.lower(); err != nil {
			return nil, err
		}
	} else if d.LowerBound != nil {
		return nil, fmt.Errorf("lower_bound does not apply to score %s", d.Score)
	}
	order, err := choice("order", d.Order, "advantage", "gamma")
	if err != nil {
		return nil, err
	}
	compare, err := d.comparison()
	if err != nil {
		return nil, err
	}
	if order == 1 && (kind != bandit.U || compare != withMean) {
		return nil, errors.New("order gamma needs score U and compare mean")
	}
	return func(b beliefs, _ []bandit.Beta) Policy {
		if compare != withMean {
			return newOptimisticPairs(b, c, kind, low, compare)
		}
		return newOptimistic(b, c, kind, low, order == 1)
	}, nil
}

func buildStochastic(d *builder) (maker, error) {
	c, low, err := d.threshold()
	if err != nil {
		return nil, err
	}
	compare, err := d.comparison()
	if err != nil {
		return nil, err
	}
	common, err := d.common()
	if err != nil {
		return nil, err
	}
	program, err := choice("choice", d.Choice, "argmax", "program")
	if err == nil && program == 1 {
		err = d.onPopulations("choice", d.Choice)
	}
	return func(b beliefs, _ []bandit.Beta) Policy {
		switch {
		case b.populations == nil:
			return &stochastic{newRanked(b), c, low}
		case compare != withMean || program == 1:
			return newStochasticPairs(b, c, low, common, compare, program == 1)
		}
		return newStochasticPopulation(b, c, low, common)
	}, err
}

func buildIndex(d *builder) (maker, error) {
	kind, err := d.score(bandit.V)
	if err != nil {
		return nil, err
	}
	c, err := d.clock()
	if err != nil {
		return nil, err
	}
	low := 0.0
	if kind == bandit.U {
		low, err = d.lower()
	} else if d.LowerBound != nil {
		return nil, fmt.Errorf("lower_bound applies to score U only")
	}
	return func(b beliefs, _ []bandit.Beta) Policy { return newIndex(b, c, kind, low) }, err
}

func buildE3(d *builder) (maker, error) {
	c, err := d.clock()
	if err != nil {
		return nil, err
	}
	accuracy, err := within("accuracy", d.Accuracy, 0.1, 0, math.Inf(1), true)
	if err != nil {
		return nil, err
	}
	known := math.Ceil(math.Pow(c.horizon.Total()*float64(d.task.Arms)/accuracy, 4))
	return func(beliefs, []bandit.Beta) Policy { return newE3(d.task.Arms, known, 0) }, nil
}

func buildE3Overflow(d *builder) (maker, error) {
	if math.IsInf(d.task.High, 1) {
		return nil, errors.New("e3-overflow needs a largest reward to be optimistic about")
	}
	return func(beliefs, []bandit.Beta) Policy { return newE3(d.task.Arms, 0, d.task.High) }, nil
}

func buildUCB1(d *builder) (maker, error) {
	width, err := d.width()
	if err != nil {
		return nil, err
	}
	c, err := within("confidence", d.Confidence, 2, 0, math.Inf(1), false)
	return func(beliefs, []bandit.Beta) Policy { return newUCB1(d.task.Arms, width, c) }, err
}

func buildKLUCB(d *builder) (maker, error) {
	width, err := d.width()
	if err != nil {
		return nil, err
	}
	c, err := within("confidence", d.Confidence, 0, 0, math.Inf(1), false)
	return func(beliefs, []bandit.Beta) Policy { return newKLUCB(d.task.Arms, d.task.Low, width, c) }, err
}

func buildBayesUCB(d *builder) (maker, error) {
	c, err := within("confidence", d.Confidence, 0, 0, math.Inf(1), false)
	if err != nil {
		return nil, err
	}
	logs := 1.0
	if c > 0 {
		if d.Horizon == nil {
			return nil, errors.New("horizon must be given if confidence is not 0")
		}
		n, err := atLeast("horizon", d.Horizon, 2, 2)
		if err != nil {
			return nil, err
		}
		logs = math.Pow(math.Log(float64(n)), c)
	} else if d.Horizon != nil {
		return nil, errors.New("horizon matters only if confidence is not 0: leave it out")
	}
	return func(b beliefs, _ []bandit.Beta) Policy { return newBayesUCB(b, logs) }, nil
}

func buildGittins(d *builder) (maker, error) {
	gamma := or(d.Gamma, 0.99)
	if !(gamma >= 0 && gamma < 1) {
		return nil, fmt.Errorf("gamma is %v, must be in [0,1)", gamma)
	}
	table := newGittinsTable(gamma)
	return func(_ beliefs, betas []bandit.Beta) Policy { return newGittins(betas, table) }, nil
}

func buildIDS(d *builder) (maker, error) {
	if d.Samples != nil && (d.belief == "population" || d.belief == "point") {
		return nil, fmt.Errorf("samples does not apply to a belief of kind %s, whose members are used", d.belief)
	}
	samples, err := atLeast("samples", d.Samples, 256, 2)
	return func(b beliefs, _ []bandit.Beta) Policy { return newIDS(b, samples) }, err
}

func buildElimination(d *builder) (maker, error) {
	width, err := d.width()
	if err != nil {
		return nil, err
	}
	failure, err := within("failure", d.Failure, 0.05, 0, 1, true)
	if err != nil {
		return nil, err
	}
	accuracy, err := within("accuracy", d.Accuracy, 0.1, 0, math.Inf(1), true)
	if err != nil {
		return nil, err
	}
	if d.Kind == "median-elimination" {
		return func(beliefs, []bandit.Beta) Policy {
			return newMedianElimination(d.task.Arms, d.task.Low, width, failure, accuracy)
		}, nil
	}
	if d.Accuracy == nil {
		accuracy = 0
	}
	return func(beliefs, []bandit.Beta) Policy {
		return newSuccessiveElimination(d.task.Arms, d.task.Low, width, failure, accuracy)
	}, nil
}

func buildBudgeted(d *builder) (maker, error) {
	if d.Budget == nil {
		return nil, errors.New("budget must be given: the number of pulls before committing to an arm, at least 1")
	}
	budget, err := atLeast("budget", d.Budget, 1, 1)
	if err != nil {
		return nil, err
	}
	i, err := choice("allocation", d.Allocation, "round-robin", "biased-robin", "lookahead", "vpi")
	if err != nil {
		return nil, err
	}
	success := 0.0
	switch a := allocation(i); {
	case a == lookahead && d.belief != "beta":
		return nil, fmt.Errorf("allocation lookahead needs a belief of kind beta, not %s", d.belief)
	case a == biasedRobin && !d.task.bounded():
		return nil, errors.New("allocation biased-robin needs rewards in a bounded range: one in its upper half is a success")
	case a == biasedRobin:
		success = d.task.Low/2 + d.task.High/2
	}
	return func(b beliefs, _ []bandit.Beta) Policy {
		return &budgeted{ranked: newRanked(b), budget: budget, allocation: allocation(i), success: success}
	}, nil
}

func buildPlanned(d *builder) (maker, error) {
	if d.Horizon == nil {
		return nil, errors.New("horizon must be given: the number of pulls to plan, at least 1")
	}
	c, err := d.clock()
	if err != nil {
		return nil, err
	}
	var plan *bandit.Plan
	if d.task.Arms > 1 {
		priors := make([]bandit.Beta, d.task.Arms)
		for i := range priors {
			priors[i] = *d.prior
		}
		if plan, err = bandit.NewPlan(priors, c.horizon, *d.Horizon, 0); err != nil {
			return nil, err
		}
	}
	return func(b beliefs, _ []bandit.Beta) Policy {
		return &planned{ranked: newRanked(b), plan: plan, left: *d.Horizon, counts: make([]int, 2*b.len())}
	}, nil
}
