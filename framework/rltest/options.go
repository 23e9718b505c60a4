package rltest

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/options"
)

func optionRules() []Rule {
	return []Rule{ProblemSound, SameSeedSameProblems, EpochlessIsStep, ChoiceActs, GreedyIsPolicy}
}

// errBroken ends the checks of decisions after a violation that would bring others
// with it.
var errBroken = errors.New("a rule is broken")

// options checks the decisions of an agent that has options. Others pass; the
// answer is whether it has.
func (c *agentCheck) options() (has bool, err error) {
	defer func() {
		if errors.Is(err, errBroken) {
			err = nil
		}
	}()
	agent, err := c.open(1)
	if err != nil {
		return false, err
	}
	has = agent.Abilities().Options != nil
	if err := agent.Close(); err != nil || !has {
		return has, err
	}
	c.bounds.tell(c.spec.ID + ": decisions")
	kinds, err := c.kinds()
	if err != nil {
		return has, err
	}
	scripts := [][]event{c.script(11), c.script(12), c.script(13)}
	together, err := c.decide(kinds, scripts, 0, true)
	if err != nil {
		return has, err
	}
	alone, err := c.alone(comparison{SameSeedSameProblems, "the same seed, feedback and choices again", "with other values in the caller's columns and problems", "decisions of lane"}, together,
		func(lane int, dirty bool) ([][]string, error) {
			return c.decide(kinds, scripts[lane:lane+1], salted(dirty), false)
		})
	if err != nil {
		return has, err
	}
	if !c.sound(SameSeedSameProblems, FillsColumns) {
		return has, nil
	}
	both, err := c.decide(kinds, [][]event{slices.Concat(scripts[0], scripts[1])}, 0, false)
	if err != nil {
		return has, err
	}
	c.try(NewRunForgets, differ(alone[1], both[0][len(alone[0]):], "decisions of a run after another run, against the run alone"))
	storable, err := storable(c)
	if errors.Is(err, errLate) {
		return has, err
	}
	if err == nil && storable {
		c.moves = true
		moved, err := c.decide(kinds, scripts[:1], 0, false)
		c.moves = false
		switch {
		case errors.Is(err, framework.ErrNeedsReset): // it follows an option that only its program knows, and says so
		case err != nil:
			return has, err
		default:
			c.try(RoundTrips, differ(alone[0], moved[0], "decisions of a run that is saved while it follows an option, and goes on in a fresh lane"))
		}
	}
	return has, c.epochless(kinds, scripts[0])
}

// moved saves a lane and lets a fresh one go on from there.
func (c *agentCheck) moved(kinds []options.Kind, agent vector.OptionAgent) (vector.OptionAgent, error) {
	state, failed := vector.Save(c.ctx, agent, 0)
	if err := agent.Close(); err != nil {
		return nil, err
	}
	fresh, err := c.offered(1, kinds)
	if err != nil {
		return nil, err
	}
	if failed == nil {
		failed = vector.Load(c.ctx, fresh, 0, state)
	}
	if failed != nil {
		c.try(RoundTrips, fmt.Errorf("saving and loading while it follows an option: %w", failed))
		return nil, errors.Join(errBroken, fresh.Close())
	}
	return fresh, nil
}

// offered opens lanes of an option agent and offers them kinds of options.
func (c *agentCheck) offered(n int, kinds []options.Kind) (vector.OptionAgent, error) {
	agent, err := c.open(n)
	if err != nil {
		return nil, err
	}
	able := agent.Abilities().Options
	if able == nil {
		return nil, fmt.Errorf("lanes opened later, %d of them, have no options", n)
	}
	if err := able.SetOptionKinds(c.ctx, kinds); err != nil {
		return nil, errors.Join(err, able.Close())
	}
	return able, nil
}

// kinds returns those that the agent can make on the spec.
func (c *agentCheck) kinds() ([]options.Kind, error) {
	var kinds []options.Kind
	for _, k := range options.Kinds {
		agent, err := c.offered(1, []options.Kind{k})
		if errors.Is(err, framework.ErrUnsupported) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("offering %s: %w", k.String(), err)
		}
		kinds = append(kinds, k)
		if err := agent.Close(); err != nil {
			return nil, err
		}
	}
	if len(kinds) == 0 {
		return nil, errors.New("the agent makes no kind of option, not even the greedy one")
	}
	return kinds, nil
}

// decide plays a lane a script, with decisions at the start of episodes and at
// every third step, and logs the problems and actions. Every other choice is the
// greedy option. With idle, lanes are left out now and then.
func (c *agentCheck) decide(kinds []options.Kind, scripts [][]event, salt uint64, idle bool) ([][]string, error) {
	n := len(scripts)
	agent, err := c.offered(n, kinds)
	if err != nil {
		return nil, err
	}
	d := &deciding{
		agentCheck: c, agent: agent, scripts: scripts, at: make([]int, n), age: make([]int, n), logs: make([][]string, n),
		epochs: make([]bool, n), choices: make([]int, n), problems: make([]options.Problem, n),
	}
	pause := rand.New(rand.NewPCG(98, 0))
	for call := uint64(0); !d.over(); call++ {
		if err := c.bounds.late(c.size); err != nil {
			return nil, errors.Join(err, agent.Close())
		}
		if c.moves && call%32 == 5 { // an option that is not greedy is in force, at the first
			if agent, err = c.moved(kinds, agent); err != nil {
				return nil, err
			}
			d.agent = agent
		}
		d.in, d.actions = vector.NewFeedback(c.spec, n), space.NewColumn(c.spec.Action, n)
		for i := range scripts {
			rng := rand.New(rand.NewPCG(salt+2*call, uint64(i)))
			soilColumn(&d.actions, i, rng)
			d.problems[i] = options.Problem{Arms: make([]options.Arm, salt), Greedy: int(salt), Values: []float64{rng.Float64()}, Optimal: []float64{math.NaN()}}
			if d.at[i] == len(scripts[i]) || idle && pause.IntN(4) == 0 {
				d.in.Signals[i], d.epochs[i] = vector.Idle, false
				continue
			}
			if err := d.tell(i); err != nil {
				return nil, err
			}
		}
		if err := d.call(); errors.Is(err, errBroken) {
			return nil, errors.Join(err, agent.Close())
		} else if err != nil {
			return nil, fmt.Errorf("call %d with signals %v and epochs %v: %w", call, d.in.Signals, d.epochs, err)
		}
	}
	return d.logs, agent.Close()
}

// deciding is a play of decide.
type deciding struct {
	*agentCheck
	agent    vector.OptionAgent
	scripts  [][]event
	at       []int // the next event of each lane
	age      []int // events since its run began
	in       *vector.Feedback
	actions  space.Column
	epochs   []bool
	choices  []int
	problems []options.Problem
	logs     [][]string
}

func (d *deciding) over() bool {
	for i, s := range d.scripts {
		if d.at[i] < len(s) {
			return false
		}
	}
	return true
}

// tell gives lane i its next event.
func (d *deciding) tell(i int) error {
	e := d.scripts[i][d.at[i]]
	if e.signal == vector.NewRun {
		d.age[i] = 0
	}
	d.epochs[i] = e.signal != vector.Continue || d.age[i]%3 == 0 && !e.terminated && !e.truncated
	d.at[i]++
	d.age[i]++
	return e.tell(d.in, &d.spec, i)
}

func (d *deciding) call() error {
	n := len(d.scripts)
	given := fmt.Sprint(d.in, d.epochs)
	if err := d.agent.StepOptions(d.ctx, d.in, d.epochs, &d.actions, d.problems); err != nil {
		return err
	}
	if now := fmt.Sprint(d.in, d.epochs); now != given {
		d.try(InputUnchanged, fmt.Errorf("StepOptions changed its input from %s to %s", given, now))
	}
	policies := make([][]int, n)
	for i := range d.choices {
		if d.choices[i] = -1; !d.epochs[i] {
			continue
		}
		p := d.problems[i]
		p.Step, p.Hold, p.ExplorationCost = d.at[i], 1, 0
		err := p.Check()
		if d.try(ProblemSound, err); err != nil {
			return errBroken
		}
		h := fnv.New64()
		fmt.Fprintf(h, "%+v %x %x", p.Arms, p.Values, p.Optimal)
		d.logs[i] = append(d.logs[i], fmt.Sprintf("%d options, of which %d is greedy, with digest %x", len(p.Arms), p.Greedy, h.Sum64()))
		if d.choices[i] = p.Greedy; d.age[i]%2 == 0 {
			d.choices[i] = d.age[i] * 7 % len(p.Arms)
		}
		if err := d.policy(i, &policies[i]); err != nil {
			return err
		}
	}
	before := columnEntries(&d.actions, n)
	if slices.Contains(d.epochs, true) {
		if err := d.agent.Choose(d.ctx, d.choices, &d.actions); err != nil {
			return fmt.Errorf("choices %v: %w", d.choices, err)
		}
	}
	for i, now := range columnEntries(&d.actions, n) {
		switch ended := d.in.Signals[i] == vector.Continue && (d.in.Terminated[i] || d.in.Truncated[i]); {
		case !d.epochs[i] && now != before[i]:
			d.try(ChoiceActs, fmt.Errorf("lane %d had no choice, and its action went from %s to %s", i, before[i], now))
			return errBroken
		case d.in.Signals[i] == vector.Idle || ended:
		default:
			if !d.inSpace(ChoiceActs, d.in, &d.actions, i) {
				return errBroken
			}
			d.logs[i] = append(d.logs[i], now)
		}
		if d.epochs[i] && policies[i] != nil && d.choices[i] == d.problems[i].Greedy {
			s := d.in.Observations.Int64[i] - d.spec.Observation.(space.Discrete).Start
			want, got := int64(policies[i][s]), d.actions.Int64[i]-d.spec.Action.(space.Discrete).Start
			d.holds(GreedyIsPolicy, got == want, "lane %d in observation %d follows the greedy option with action %d, and its greedy policy has %d", i, s, got, want)
		}
	}
	return nil
}

// policy asks for the greedy policy of lane i, nil where observations or actions
// are not discrete.
func (d *deciding) policy(i int, policy *[]int) error {
	p, err := d.agent.GreedyPolicy(d.ctx, i, nil)
	observations, ok := d.spec.Observation.(space.Discrete)
	actions, ok2 := d.spec.Action.(space.Discrete)
	if !ok || !ok2 {
		d.holds(GreedyIsPolicy, errors.Is(err, framework.ErrUnsupported), "the greedy policy where observations are not discrete: %v, want an error wrapping ErrUnsupported", err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("greedy policy of lane %d: %w", i, err)
	}
	if int64(len(p)) != observations.N || slices.ContainsFunc(p, func(a int) bool { return a < 0 || int64(a) >= actions.N }) {
		d.try(GreedyIsPolicy, fmt.Errorf("the greedy policy %v of lane %d is not one of %d actions in each of %d observations", p, i, actions.N, observations.N))
		return nil
	}
	*policy = p
	return nil
}

// epochless compares Step with StepOptions without epochs, in an agent that has
// been offered options and has chosen none.
func (c *agentCheck) epochless(kinds []options.Kind, script []event) error {
	var logs [2][]string
	for version := range logs {
		agent, err := c.offered(1, kinds)
		if err != nil {
			return err
		}
		lanes := vector.Agent(agent)
		if version == 1 {
			lanes = stepper{agent}
		}
		logs[version], err = c.feed(lanes, 1, 0, script)
		if err := errors.Join(err, agent.Close()); err != nil {
			return err
		}
	}
	c.try(EpochlessIsStep, differ(logs[0], logs[1], "StepOptions without epochs in place of Step"))
	return nil
}

// stepper steps an option agent by StepOptions.
type stepper struct{ vector.OptionAgent }

// Step implements vector.Agent.
func (s stepper) Step(ctx context.Context, in *vector.Feedback, actions *space.Column) error {
	n := len(in.Signals)
	return s.StepOptions(ctx, in, make([]bool, n), actions, make([]options.Problem, n))
}
