// Package explore lets the host decide when an agent explores. It wraps a
// vector.OptionAgent into a plain vector.Agent. At every decision epoch the
// option agent describes the bandit over its options. For each lane the package
// estimates for how long a deviation from the greedy policy matters, and
// decides by a rule of package options. Then it commits the lane to the chosen
// option until the next epoch (docs/theory.md §3.4).
//
// An epoch is the start of an episode, and the end of the commitment for which the last choice was
// held. The commitment is estimated again when the data have doubled, since an early estimate may
// be far too long. If that happens within a commitment, the greedy option is decided on again at
// once. Another option is held for at least as long as the new estimate says. The behaviour of a
// lane depends on its run alone: on the agent, its observations and rewards, and the seed of the
// run.
package explore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/budget"
	"github.com/rlrun/rlrun/internal/each"
	"github.com/rlrun/rlrun/options"
)

// Config says how the host explores. The zero value is useful, except that its
// horizon counts only the next reward.
type Config struct {
	// Decider decides. Its LowerBound is ignored; see below. Its default Rule is RuleGain
	// if Kinds are Pairs, else options.DefaultRule; experiments then take
	// options.DefaultBound.
	Decider options.DeciderConfig
	// Episodes, if not 0, is the number of episodes of a run whose rewards count. The horizon then is that of the most
	// steps, and what is left of it is estimated from the episodes left (docs/theory.md §3.1).
	Episodes int
	// LowerBound is b of the rule's bound U: no option is worth less, per step.
	// Default: the lower bound of the environment's rewards, or 0 if that is above
	// 0 and episodes end.
	LowerBound *float64
	// Kinds of options that the agent is to offer besides the greedy one; default as in
	// options.RuleAndKinds.
	Kinds []options.Kind
	// Estimator is how the exploration mixing time is estimated. It does not count
	// if Commitment.Fixed is set.
	Estimator Estimator
	// Commitment turns the estimate into the time for which an option is
	// held and which exploring costs. For RuleGain, which needs no estimate, the default is
	// Fixed 1. Then the greedy option is decided on at every step, and a pair when it
	// has been tried or its expected steps have passed.
	Commitment options.CommitmentConfig
	// Quantile, in (0,1], of the mixing times of states and actions, a state
	// weighted by its visits; used by Counts. Default 0.9: the few visits to the
	// edge of the known states, where little is known, do not count.
	Quantile float64
	// Mean takes the mean of these mixing times, rounded up, in place of a quantile.
	Mean bool
	// Rule, if not nil, decides in place of Decider.Rule, whose horizon counts. RuleName names
	// it in errors.
	Rule     vector.Rule
	RuleName string
	// Sources make the options of options.Declared, which is added to Kinds.
	Sources []Source
	// Log is the number of decisions of a run that are kept: all up to that many,
	// then every second one, every fourth, and so on. So never fewer than half as
	// many are kept. 0 keeps none.
	Log int
}

// Close closes the rule and the sources of options.
func (o *Config) Close() error {
	var errs []error
	if o.Rule != nil {
		errs = append(errs, o.Rule.Close())
	}
	for _, s := range o.Sources {
		if s.Source != nil {
			errs = append(errs, s.Source.Close())
		}
	}
	return errors.Join(errs...)
}

// Estimator is a way to estimate the exploration mixing time.
type Estimator int

// The estimators.
const (
	// Auto is Counts where observations and actions are Discrete and not too many,
	// else Autocorrelation.
	Auto Estimator = iota
	// Counts computes it from the model of the transitions seen.
	Counts
	// Autocorrelation takes the time for which rewards and observations stay
	// correlated while the agent is greedy, or at all if it hardly ever is.
	Autocorrelation
	// Posterior computes it in models drawn from the belief, in which an action never tried may lead
	// to any state, and takes the ⌈0.9K⌉-th smallest of K times.
	Posterior
)

var estimators = []string{"auto", "counts", "autocorrelation", "posterior"}

// String returns the estimator's name, as in configurations.
func (e Estimator) String() string {
	if e < 0 || int(e) >= len(estimators) {
		return fmt.Sprintf("Estimator(%d)", int(e))
	}
	return estimators[e]
}

// ParseEstimator reads the name that String gives.
func ParseEstimator(name string) (Estimator, error) {
	e := slices.Index(estimators, name)
	if e < 0 {
		return 0, fmt.Errorf("unknown estimator %q (one of %v)", name, estimators)
	}
	return Estimator(e), nil
}

// Explorer is an option agent whose exploration the host decides. Exploration and
// Decisions serve package loop. Its lanes can be stepped alone if the option agent's
// can.
type Explorer interface {
	vector.Agent
	// Exploration returns the number of actions in the lane's run that an option
	// other than the greedy one selected. It also returns T, the number of steps for
	// which options are held at present.
	Exploration(lane int) (explored, hold int)
	// Decisions returns the log of the lane's run. The slice belongs to the caller
	// once the run is over.
	Decisions(lane int) []result.Decision
	// Offered returns the options of the lane's last decision. It is to be called before the next step.
	Offered(lane int) []Offered
}

type explorer struct {
	agent     vector.OptionAgent
	decider   *options.Decider
	config    Config
	estimator Estimator
	finite    finite // zero where the task is not
	initial   options.Commitment
	lanes     []lane
	epochs    []bool
	problems  []options.Problem
	choices   []int
	greedy    []int // scratch
	evaluates bool  // the agent is Greedy: it acts in evaluations by itself
	scratch   scratch
	counting  bool // transitions are counted
	trials    bool // the rule asks what came of options
	draws     bool // members are drawn, and promises are counted
	asked     asked
	declares  vector.Declarer
}

// lane is the state of one run.
type lane struct {
	left       int  // actions until the next epoch
	since      int  // steps before the last decision
	own        int  // steps for which the option in force asks to be held
	explores   bool // the option in force is not the greedy one
	pending    bool // pair is the last one, which paid, and where it led is not known yet
	paid       float64
	pair       int // the last state and action, of Counts
	steps      int // actions selected
	began      int // those before the episode
	explored   int // of them, those that an option other than the greedy one selected
	data       int // transitions or outcomes that the estimator has seen
	due        int // number of data at which to estimate again; of a fixed commitment never
	commitment options.Commitment
	aim        int // the pair that the option in force is to try, or −1
	counts     counts
	series     series // of the greedy option
	all        series // of any
	pcg        rand.PCG
	rng        *rand.Rand `snapshot:"-"` // over pcg
	episode    int        // number of the episode, from 0
	log        decisions
	decided    int // number of decisions
	trials     map[string]*options.Trial
	trial      *options.Trial  // of the option in force
	outcomes   []options.Trial `snapshot:"-"`
	declared
	promises
}

// New wraps an agent opened with a number of lanes for environments of the spec.
// Its errors wrap framework.ErrUnsupported where agent or environment cannot serve
// these options, and framework.ErrInvalidParams where the options are wrong. The
// agent, the rule and the sources belong to the wrapper, which closes them, unless there is an
// error.
func New(ctx context.Context, agent vector.OptionAgent, spec framework.Spec, lanes int, c Config) (Explorer, error) {
	given := c.Kinds
	if len(c.Sources) > 0 {
		c.Kinds = append(slices.Clone(c.Kinds), options.Declared)
	}
	if err := c.complete(spec); err != nil {
		return nil, err
	}
	a := &explorer{
		agent: agent, config: c, estimator: c.Estimator, initial: c.Commitment.Commitment(0), lanes: make([]lane, lanes),
		epochs: make([]bool, lanes), problems: make([]options.Problem, lanes), choices: make([]int, lanes),
	}
	var err error
	if a.decider, err = options.NewDecider(c.Decider); err != nil {
		return nil, fmt.Errorf("%w: %w", err, framework.ErrInvalidParams)
	}
	if err := a.prepare(spec); err != nil {
		return nil, err
	}
	a.trials = c.Rule != nil || a.config.Decider.Rule != nil && a.config.Decider.Rule.Trials
	a.counting = a.estimator == Counts || a.estimator == Posterior || len(c.Sources) > 0
	for i := range a.lanes {
		l := &a.lanes[i]
		l.rng = rand.New(&l.pcg)
		l.log.most = c.Log
	}
	err = agent.SetOptionKinds(ctx, a.config.Kinds)
	if given == nil && slices.Equal(a.config.Kinds, []options.Kind{options.DrawnMember}) {
		for _, kinds := range [][]options.Kind{options.DefaultKinds, {options.Members}} { // of agents that cannot draw a member
			if errors.Is(err, framework.ErrUnsupported) {
				a.config.Kinds = kinds
				err = agent.SetOptionKinds(ctx, kinds)
			}
		}
	}
	if err != nil {
		files := each.Of(c.Sources, func(s Source) string { return s.File })
		return nil, fmt.Errorf("options %s: %w", strings.Replace(fmt.Sprint(a.config.Kinds), options.Declared.String(), strings.Join(files, " "), 1), err)
	}
	a.evaluates = agent.Abilities().Greedy
	a.draws = slices.Contains(a.config.Kinds, options.DrawnMember)
	if single := agent.Abilities().Lane; single != nil {
		return newLaneExplorer(a, single, spec), nil
	}
	return a, nil
}

func (o *Config) complete(spec framework.Spec) error {
	var err error
	if o.Decider.Rule, o.Kinds, err = options.RuleAndKinds(o.Decider.Rule, o.Kinds); err != nil {
		return fmt.Errorf("%w: %w", err, framework.ErrInvalidParams)
	}
	if o.Decider.Rule == options.RuleGain && o.Commitment == (options.CommitmentConfig{}) {
		o.Commitment.Fixed = 1
	}
	if !(o.Quantile >= 0 && o.Quantile <= 1) {
		return fmt.Errorf("the quantile of mixing times is %v, must be in (0,1]: %w", o.Quantile, framework.ErrInvalidParams)
	}
	if w := &o.Commitment; w.Mixing.MaxSteps == 0 { // what is longer than the cap need not be known
		capped, scale := w.Cap, w.Scale
		if capped <= 0 {
			capped = 1000
		}
		if !(scale > 0) {
			scale = 1
		}
		w.Mixing.MaxSteps = int(min(float64(capped)/scale, 1e5)) + 1
	}
	low := &o.Decider.LowerBound
	*low = 0
	switch {
	case o.LowerBound != nil:
		*low = *o.LowerBound
		high := spec.RewardHigh
		if !spec.Continuing { // after an episode nothing more is earned
			high = max(high, 0)
		}
		if *low > high {
			return fmt.Errorf("lower_bound is %v, and no option of %s is worth more than %v per step: %w", *low, spec.ID, high, framework.ErrInvalidParams)
		}
	case o.Decider.Bound != bandit.U || len(o.Decider.Rule.Bounds) == 0:
	case math.IsInf(spec.RewardLow, 0):
		return fmt.Errorf("the bound %s needs a lower bound of rewards, and %s declares none: give lower_bound, or choose the bound %s or %s: %w",
			bandit.U, spec.ID, bandit.UPlus, bandit.V, framework.ErrUnsupported)
	case !spec.Continuing: // after an episode nothing more is earned
		*low = min(spec.RewardLow, 0)
	default:
		*low = spec.RewardLow
	}
	return nil
}

// prepare settles the estimator.
func (a *explorer) prepare(spec framework.Spec) error {
	f, err := newFinite(spec)
	a.finite = f
	if len(a.config.Sources) > 0 {
		if err := a.checkSources(spec.ID, err); err != nil {
			return err
		}
	}
	if err != nil && slices.Contains(a.config.Kinds, options.Pairs) {
		return fmt.Errorf("options of kind %s: %w: %w", options.Pairs.String(), err, framework.ErrUnsupported)
	}
	if a.config.Commitment.Fixed > 0 {
		if a.config.Commitment.Return {
			return fmt.Errorf("the return to the greedy policy is charged by the estimate of its time, and there is none of a fixed commitment: %w", framework.ErrInvalidParams)
		}
		a.estimator = fixed
		return nil
	}
	if a.estimator == Auto {
		if a.estimator = Autocorrelation; err == nil {
			a.estimator = Counts
		}
	}
	switch a.estimator {
	case Counts, Posterior:
		if err != nil {
			return fmt.Errorf("%w: %w", err, framework.ErrUnsupported)
		}
		if f.states == 1 { // nothing to forget
			a.initial, a.estimator = a.config.Commitment.Commitment(1), fixed
		}
	case Autocorrelation:
		if a.config.Mean || a.config.Quantile > 0 || a.config.Commitment.Mixing.Epsilon > 0 {
			return fmt.Errorf("mean and quantile of mixing times, and epsilon, are of the estimator %s; %s uses %s: %w", Counts, spec.ID, Autocorrelation, framework.ErrUnsupported)
		}
		for i := range a.lanes {
			a.lanes[i].series, a.lanes[i].all = newSeries(spec), newSeries(spec)
		}
	default:
		return fmt.Errorf("unknown estimator %d: %w", int(a.estimator), framework.ErrInvalidParams)
	}
	return nil
}

// fixed is the estimator of a commitment that stays as it is.
const fixed Estimator = -1

// Abilities implements vector.Agent.
func (a *explorer) Abilities() vector.AgentAbilities {
	inner := a.agent.Abilities()
	able := vector.AgentAbilities{Measures: inner.Measures, Greedy: true, Masks: inner.Masks, Calls: inner.Calls}
	if vector.Storable(a.agent) {
		able.Calls = vector.JoinCalls(inner.Calls, vector.Checkpoint(a.save, a.load))
	}
	return able
}

// Step implements vector.Agent. In episodes that EvaluateEpisode began, a lane selects the
// action that its agent estimates to be best, or follows the greedy option if the agent
// is not Greedy. A lane in another evaluation follows the option in force. The host learns
// and decides nothing.
func (a *explorer) Step(ctx context.Context, in *vector.Feedback, actions *space.Column) error {
	deciding, stale := false, false
	for i, s := range in.Signals {
		epoch := false
		switch l := &a.lanes[i]; s {
		case vector.Continue:
			a.observe(l, in, i)
			if in.Terminated[i] || in.Truncated[i] {
				break
			}
			ended, err := a.ended(l, in, i)
			if err != nil {
				return err
			}
			epoch = l.left == 0 || ended || l.tried() || !l.explores && l.data >= l.due
			stale = stale || !epoch && l.data >= l.due
		case vector.NewEpisode:
			l.episode++
			a.begin(l, in, i)
			epoch = true
		case vector.NewRun:
			a.reset(l, in.Seeds[i])
			a.begin(l, in, i)
			epoch = true
		case vector.EvaluateEpisode:
			epoch = !a.evaluates
		}
		a.epochs[i] = epoch
		deciding = deciding || epoch
	}
	if deciding && a.declares != nil {
		if err := a.offer(ctx, in); err != nil {
			return err
		}
	}
	if err := a.agent.StepOptions(ctx, a.told(in), a.epochs, actions, a.problems); err != nil {
		return err
	}
	if stale {
		if err := a.shorten(ctx, in); err != nil {
			return err
		}
	}
	if deciding {
		if err := a.decide(ctx, in); err != nil {
			return err
		}
		if err := a.agent.Choose(ctx, a.choices, actions); err != nil {
			return err
		}
	}
	for i, s := range in.Signals {
		l := &a.lanes[i]
		if a.finite.states > 0 && a.epochs[i] {
			l.log.action(int(actions.Int64[i] - a.finite.firstAction))
		}
		switch {
		case s == vector.Idle, (s == vector.Continue || s == vector.Evaluate) && (in.Terminated[i] || in.Truncated[i]):
			continue
		case s != vector.Evaluate && s != vector.EvaluateEpisode: // which are no part of the run
			l.acted()
		}
		if a.finite.states > 0 {
			l.pair = a.finite.pair(in.Observations.Int64[i], actions.Int64[i])
		}
	}
	return nil
}

// told is what the agent is told. An episode of an evaluation is one of its episodes, in
// which the host chooses the greedy option, if the agent is not Greedy.
func (a *explorer) told(in *vector.Feedback) *vector.Feedback {
	if a.evaluates || !slices.Contains(in.Signals, vector.EvaluateEpisode) {
		return in
	}
	told := *in
	told.Signals = slices.Clone(in.Signals)
	for i, s := range told.Signals {
		if s == vector.EvaluateEpisode {
			told.Signals[i] = vector.NewEpisode
		}
	}
	return &told
}

// tried reports whether the option in force has tried the pair that it is aimed at.
func (l *lane) tried() bool { return l.aim >= 0 && l.pair == l.aim }

// acted counts an action.
func (l *lane) acted() {
	l.left--
	l.steps++
	if l.explores {
		l.explored++
	}
}

// reset forgets everything: another run begins.
func (a *explorer) reset(l *lane, s uint64) {
	l.pcg.Seed(s, uint64(seed.Decisions))
	l.left, l.since, l.own, l.explores, l.pending, l.aim = 0, 0, 0, false, false, -1
	l.steps, l.explored, l.data, l.due, l.episode = 0, 0, 0, 1, 0
	if a.estimator == fixed {
		l.due = math.MaxInt
	}
	l.commitment, l.promises = a.initial, promises{}
	l.decided, l.trial, l.current, l.offer = 0, nil, -1, 0
	clear(l.trials)
	l.counts, l.series, l.all = counts{}, series{width: l.series.width}, series{width: l.all.width}
	l.log.clear()
}

// observe records the outcome of the last action.
func (a *explorer) observe(l *lane, in *vector.Feedback, i int) {
	if l.trial != nil {
		l.trial.Steps++
		l.trial.Reward += in.Rewards[i]
	}
	paid := 0.0
	if a.declares != nil { // nobody else asks
		paid = in.Rewards[i]
	}
	switch {
	case a.counting && in.Terminated[i]: // where this leads is where the next episode begins
		l.pending, l.paid = true, paid
	case a.counting:
		a.count(l, in.Observations.Int64[i], paid)
	}
	if a.estimator == Autocorrelation {
		l.all.add(in, i)
		if l.explores {
			l.series.cut()
		} else {
			l.series.add(in, i)
		}
		if !l.explores || l.rarelyGreedy() {
			l.data++
		}
		if in.Terminated[i] || in.Truncated[i] {
			l.series.cut()
			l.all.cut()
		}
	}
}

// rarelyGreedy reports whether too little has been seen of the greedy option to
// estimate anything by.
func (l *lane) rarelyGreedy() bool {
	return l.all.total >= patience && float64(l.series.total) < rarely*float64(l.all.total)
}

// begin records the first observation of an episode.
func (a *explorer) begin(l *lane, in *vector.Feedback, i int) {
	l.began = l.steps
	if l.pending {
		l.pending = false
		a.count(l, in.Observations.Int64[i], l.paid)
	}
}

// count counts the transition from the last pair.
func (a *explorer) count(l *lane, to int64, paid float64) {
	if a.estimator != Autocorrelation { // whose data are others
		l.data++
	}
	l.counts.add(a.finite.transition(l.pair, to), paid)
}

// decide chooses an option for every lane at an epoch.
func (a *explorer) decide(ctx context.Context, in *vector.Feedback) error {
	a.asked.lanes = a.asked.lanes[:0]
	for i, epoch := range a.epochs {
		a.choices[i] = -1
		if !epoch {
			continue
		}
		l, p := &a.lanes[i], &a.problems[i]
		if in.Signals[i] == vector.EvaluateEpisode { // of an agent that is not Greedy
			a.choices[i] = p.Greedy
			continue
		}
		if err := a.estimate(ctx, l, i); err != nil {
			return blame(i, err)
		}
		p.Least, p.Most = max(a.config.Commitment.Fixed, a.config.Commitment.Floor), a.config.Commitment.Most()
		p.Step, p.Hold, p.ExplorationCost, p.Capped = l.steps, l.commitment.Steps, l.commitment.ExplorationCost, l.commitment.Capped
		if a.config.Episodes > 0 {
			p.Left = budget.Run{Steps: l.steps, Began: l.began, Ended: l.episode}.Left(int(a.config.Decider.Horizon.Rewards()), a.config.Episodes)
		}
		if a.trials {
			l.remember(p)
		}
		if a.config.Rule != nil && len(p.Arms) > 1 { // else there is nothing to choose
			if err := a.question(in, i); err != nil {
				return &vector.LaneError{Lane: i, Err: fmt.Errorf("%w: %w", framework.ErrInvalidAnswer, err)}
			}
			continue
		}
		if a.draws {
			p.Doubt = l.promises.doubt(p)
		}
		d, err := a.decider.Decide(p, l.rng)
		if err != nil {
			return &vector.LaneError{Lane: i, Err: fmt.Errorf("%w: %w", framework.ErrInvalidAnswer, err)}
		}
		if err := a.take(in, i, d, nil); err != nil {
			return err
		}
	}
	if a.config.Rule == nil || len(a.asked.lanes) == 0 {
		return nil
	}
	if err := a.ask(ctx); err != nil {
		return err
	}
	for k, i := range a.asked.lanes {
		d, err := a.asked.questions[k].Take(a.asked.answers[k])
		if err != nil {
			return a.broken(i, err)
		}
		if err := a.take(in, i, d, a.asked.answers[k].Numbers); err != nil {
			return err
		}
	}
	return nil
}

// take commits a lane to a decision, and logs it with the numbers of the rule.
func (a *explorer) take(in *vector.Feedback, i int, d options.Decision, numbers []options.Number) (err error) {
	l, p := &a.lanes[i], &a.problems[i]
	a.choices[i] = d.Choice
	l.left, l.since, l.explores, l.own = d.Hold, l.steps, d.Explore, 0
	if a.draws {
		l.promises.take(p, d)
	}
	if d.Hold > p.Hold {
		l.own = d.Hold
	}
	if l.aim, err = a.aim(p, d.Choice); err == nil && l.aim < 0 {
		err = a.follow(l, in, i, p.Arms[d.Choice])
	}
	if err != nil {
		return &vector.LaneError{Lane: i, Err: err}
	}
	if a.trials && l.aim < 0 {
		l.try(p.Arms[d.Choice].Name)
	}
	l.log.fresh = l.log.next()
	if l.log.fresh {
		state := -1
		if a.finite.states > 0 {
			state = int(in.Observations.Int64[i] - a.finite.firstState)
		}
		d.Option = p.Name(d.Choice)
		if a.estimator == Posterior {
			most, w := a.config.Commitment.Mixing.MaxSteps, l.commitment
			numbers = append(slices.Clone(numbers), options.Number{Name: "mixing_time", Value: float64(min(w.Mixing, most))},
				options.Number{Name: "mixing_time.low", Value: float64(min(w.Low, most))}, options.Number{Name: "mixing_time.high", Value: float64(min(w.High, most))})
		}
		l.log.add(d, p, l.episode, state, numbers)
	}
	return nil
}

// aim returns the number of the pair that an option is aimed at, −1 if it is an arm.
func (a *explorer) aim(p *options.Problem, option int) (int, error) {
	i := option - len(p.Arms)
	if i < 0 {
		return -1, nil
	}
	x := p.Pairs[i]
	if x.State >= a.finite.states || x.Action >= a.finite.actions {
		return 0, fmt.Errorf("%w: pair %d is of state %d and action %d, of %d states and %d actions", framework.ErrInvalidAnswer, i, x.State, x.Action, a.finite.states, a.finite.actions)
	}
	return x.State*a.finite.actions + x.Action, nil
}

// shorten re-estimates commitments within which the data have doubled, and ends them
// accordingly, but not before the action that was just selected.
func (a *explorer) shorten(ctx context.Context, in *vector.Feedback) error {
	for i, s := range in.Signals {
		l := &a.lanes[i]
		if s != vector.Continue || a.epochs[i] || l.data < l.due || in.Terminated[i] || in.Truncated[i] {
			continue
		}
		if err := a.estimate(ctx, l, i); err != nil {
			return blame(i, err)
		}
		if l.aim < 0 && l.current < 0 {
			l.left = min(l.left, max(max(l.commitment.Steps, l.own)-(l.steps-l.since), 1))
		}
	}
	return nil
}

// blame names the lane of an error that does not name one itself.
func blame(lane int, err error) error {
	var named *vector.LaneError
	if errors.As(err, &named) {
		return err
	}
	return &vector.LaneError{Lane: lane, Err: err}
}

// estimate renews the lane's commitment when its data have doubled.
func (a *explorer) estimate(ctx context.Context, l *lane, i int) error {
	if l.data < l.due {
		return nil
	}
	l.due = 2 * l.data
	mixing, low, high := 0, 0, 0
	if a.estimator == Autocorrelation {
		s := &l.series
		if l.rarelyGreedy() {
			s = &l.all
		}
		mixing = s.mixing(a.config.Commitment.Mixing)
	} else {
		var err error
		if a.greedy, err = a.agent.GreedyPolicy(ctx, i, a.greedy); err != nil {
			return fmt.Errorf("greedy policy: %w", err)
		}
		if err := a.finite.check(a.greedy); err != nil {
			return fmt.Errorf("%w: greedy policy: %w", framework.ErrInvalidAnswer, err)
		}
		statistic, o := a.config.statistic(), a.config.Commitment.Mixing
		if a.estimator == Posterior {
			times, err := a.finite.posterior(&l.counts, a.greedy, statistic, o, &a.scratch, l.rng)
			if err != nil {
				return err
			}
			mixing, low, high = times[(9*len(times)-1)/10], times[0], times[len(times)-1]
		} else if mixing, err = a.finite.mixing(&l.counts, a.greedy, statistic, o, &a.scratch, nil); err != nil {
			return err
		}
	}
	l.commitment = a.config.Commitment.Commitment(mixing)
	l.commitment.Low, l.commitment.High = low, high
	return nil
}

// Restart implements loop.Restarter.
func (a *explorer) Restart(i int) {
	l := &a.lanes[i]
	l.left, l.since, l.own, l.explores, l.aim = 0, 0, 0, false, -1
	l.steps, l.explored, l.episode, l.current = 0, 0, -1, -1 // the next episode is number 0
	l.log.clear()
}

// Exploration implements Explorer.
func (a *explorer) Exploration(lane int) (explored, hold int) {
	return a.lanes[lane].explored, a.lanes[lane].commitment.Steps
}

// Decisions implements Explorer.
func (a *explorer) Decisions(lane int) []result.Decision { return a.lanes[lane].log.kept }

// Offered implements Explorer.
func (a *explorer) Offered(lane int) []Offered {
	p := &a.problems[lane]
	list := make([]Offered, p.NumOptions())
	for x := range list {
		o := &list[x]
		o.Name, o.Greedy = p.Name(x), x == p.Greedy
		if k := len(p.Values) / len(p.Arms); x < len(p.Arms) {
			o.Values = slices.Clone(p.Values[x*k : (x+1)*k])
		}
		o.Gain, o.Cost = terms(p, x)
		o.Hold, o.Share = a.decider.Trial(p, x)
	}
	return list
}

// Close implements vector.Agent.
func (a *explorer) Close() error { return errors.Join(a.agent.Close(), a.config.Close()) }
