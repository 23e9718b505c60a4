package rltest

import (
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/rlrun/rlrun/framework/internal/modelcheck"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/mdp"
)

// How episodes are compared with models.
const (
	modelSteps  = 10        // times the calls of another comparison
	modelReads  = 2_000_000 // transitions of the models that are read, about
	leastCount  = 10        // that a χ² test expects of an outcome; rarer ones are put together
	falseAlarms = 1e-6      // how often a right model fails the χ² test, about
)

// evidence is what was seen of a model.
type evidence struct{ *modelcheck.Evidence }

// models checks the models of an environment that has them, and whether episodes follow them.
func (c *vectorCheck) models() error {
	n := max(lanes, c.size.many)
	return c.with(n, func(env vector.Environment) error {
		read := env.Abilities().Models
		if read == nil {
			return nil
		}
		found := map[[sha256.Size]byte]*evidence{}
		var all []*evidence
		in, out := vector.NewActions(c.spec, n), vector.NewTimeSteps(c.spec, n)
		seeds := rand.New(rand.NewPCG(5, 0))
		steps, reads := 0, 0
		for round := 0; round < 2 || steps < modelSteps*c.size.calls && reads < modelReads && !c.bounds.over(); round++ {
			for i := range n {
				in.Signals[i], in.Seeds[i] = vector.NewEpisode, seeds.Uint64()
				if round%2 == 0 {
					in.Signals[i] = vector.NewRun
				}
			}
			if err := env.Step(c.ctx, in, &out); err != nil {
				return err
			}
			models, err := read(c.ctx)
			if err == nil {
				err = c.fits(models, n)
			}
			if err != nil {
				c.fail(ModelFits, err)
				return nil
			}
			of := make([]*evidence, n)
			for i, m := range models {
				if i > 0 && m == models[i-1] {
					of[i] = of[i-1]
					continue
				}
				reads += m.NumTransitions()
				data, err := m.MarshalJSON()
				if err != nil {
					return err
				}
				key := sha256.Sum256(data)
				if found[key] == nil {
					found[key] = &evidence{modelcheck.New(m)}
					all = append(all, found[key])
				}
				of[i] = found[key]
			}
			made, wrong, err := c.episode(env, in, &out, of, steps)
			if err != nil {
				return err
			}
			if wrong != nil {
				c.fail(ModelFits, wrong)
				return nil
			}
			steps += made
		}
		var tests []frequency
		for _, e := range all {
			if err := e.Rewards(); err != nil {
				c.fail(ModelFits, err)
				return nil
			}
			tests = append(tests, e.frequencies()...)
		}
		var worst error
		least := falseAlarms / float64(max(1, len(tests)))
		for _, f := range tests {
			if p := (distuv.ChiSquared{K: f.degrees}).Survival(f.x); p < least {
				least, worst = p, fmt.Errorf("%s: they are not as frequent as in the model: χ² is %.4g with %g degrees of freedom", f.what, f.x, f.degrees)
			}
		}
		c.try(ModelFits, worst)
		return nil
	})
}

// fits checks the form of models.
func (c *vectorCheck) fits(models []*mdp.Tabular, n int) error {
	if len(models) != n {
		return fmt.Errorf("%d models for %d lanes", len(models), n)
	}
	for i, m := range models {
		if m == nil {
			return fmt.Errorf("lane %d has no model", i)
		}
		if i > 0 && m == models[i-1] {
			continue
		}
		if d, ok := c.spec.Action.(space.Discrete); ok && int64(m.NumActions()) != d.N {
			return fmt.Errorf("lane %d: a model of %d actions for %d", i, m.NumActions(), d.N)
		}
		for s := range m.NumStates() {
			for a := 0; a < m.NumActions() && !m.Terminal(s); a++ {
				r := m.Reward(s, a)
				slack := 1e-9 * max(1, math.Abs(r))
				if r < c.spec.RewardLow-slack || r > c.spec.RewardHigh+slack {
					return fmt.Errorf("lane %d: the model's reward of state %d and action %d is %v, outside [%v, %v]", i, s, a, r, c.spec.RewardLow, c.spec.RewardHigh)
				}
			}
		}
	}
	return nil
}

// episode plays one episode in every lane, or so many steps that another one may follow, and adds
// what happens to the evidence. wrong is what a model does not allow.
func (c *vectorCheck) episode(env vector.Environment, in *vector.Actions, out *vector.TimeSteps, of []*evidence, before int) (made int, wrong, err error) {
	states := make([]int, len(of))
	observed := func(i int) int {
		first, _, ok := modelcheck.Enumerates(&c.spec, of[i].Model)
		if !ok {
			return -1
		}
		return int(out.Observations.Int64[i] - first)
	}
	for i := range of {
		if states[i] = observed(i); states[i] >= 0 {
			if wrong := of[i].Start(states[i]); wrong != nil {
				return 0, wrong, nil
			}
		}
		in.Signals[i] = vector.Continue
	}
	playing := len(of)
	for made = 1; playing > 0 && made <= modelSteps*c.size.calls/2; made++ {
		for i := range of {
			if in.Signals[i] == vector.Idle {
				continue
			}
			a := c.actions[(before+made+i*len(c.actions)/len(of))%len(c.actions)]
			if err := choose(in, &c.spec, i, out.Mask(i), a); err != nil {
				return made, nil, err
			}
		}
		if err := env.Step(c.ctx, in, out); err != nil {
			return made, nil, err
		}
		for i, e := range of {
			if in.Signals[i] == vector.Idle {
				continue
			}
			s, terminated, truncated := states[i], out.Terminated[i], out.Truncated[i]
			if s >= 0 {
				d := c.spec.Action.(space.Discrete)
				a := int(in.Actions.Int64[i] - d.Start)
				states[i] = observed(i)
				if wrong := e.Step(s, a, states[i], out.Rewards[i], terminated); wrong != nil {
					return made, wrong, nil
				}
			}
			if wrong := modelcheck.Limit(e.Model, made, terminated, truncated); wrong != nil {
				return made, wrong, nil
			}
			if terminated || truncated {
				in.Signals[i] = vector.Idle
				playing--
			}
		}
	}
	return made, nil, nil
}

// frequency is a χ² test.
type frequency struct {
	what       string
	x, degrees float64
}

// frequencies compares how often outcomes were seen with the model.
func (e *evidence) frequencies() (tests []frequency) {
	rows := map[[2]int]int{} // visits
	for key, o := range e.Seen {
		rows[[2]int{key[0], key[1]}] += o.N
	}
	for row, visits := range rows {
		what := fmt.Sprintf("states after action %d in state %d", row[1], row[0])
		var states []int32
		var prob []float64
		if row[0] < 0 {
			what = "first states of episodes"
			states, prob = e.Model.Initial()
		} else {
			states, prob = e.Model.Transition(row[0], row[1])
			tests = append(tests, e.noise(row[0], row[1], states)...)
		}
		x, cells, rest, seen := 0.0, 0.0, 0.0, 0.0 // rest is the expected count of rare outcomes, of which so many were seen
		add := func(count, want float64) {
			x += (count - want) * (count - want) / want
			cells++
		}
		for k, next := range states {
			count := 0.0
			if o := e.Seen[[3]int{row[0], row[1], int(next)}]; o != nil {
				count = float64(o.N)
			}
			if want := prob[k] * float64(visits); want >= leastCount {
				add(count, want)
			} else {
				rest, seen = rest+want, seen+count
			}
		}
		degrees := cells // of counts that do not sum to the visits
		switch {
		case rest >= leastCount:
			add(seen, rest)
		case rest == 0:
			degrees--
		}
		if degrees > 0 {
			tests = append(tests, frequency{what, x, degrees})
		}
	}
	return tests
}

// noise compares noisy rewards of an action with their mean and spread in the model.
func (e *evidence) noise(s, a int, states []int32) []frequency {
	noise := e.Model.Noise(s, a)
	n, total, deviance := 0.0, 0.0, 0.0
	for _, next := range states {
		if o := e.Seen[[3]int{s, a, int(next)}]; o != nil {
			n, total, deviance = n+float64(o.N), total+o.Total, deviance+o.Deviance
		}
	}
	what := fmt.Sprintf("rewards of action %d in state %d", a, s)
	switch p := e.Model.Reward(s, a); {
	case noise.SD > 0:
		return []frequency{{what, deviance / (noise.SD * noise.SD), n}}
	case noise.Bernoulli && e.Model.SuccessorRewards(s, a) == nil && min(p, 1-p)*n >= leastCount:
		return []frequency{{what, (total - p*n) * (total - p*n) / (p * (1 - p) * n), 1}}
	}
	return nil
}
