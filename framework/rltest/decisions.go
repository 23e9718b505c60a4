package rltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/each"
	"github.com/rlrun/rlrun/options"
)

// The rules of plugins that decide: rules and sources of options. A rule may declare that it
// breaks AffineRewards or RelabelledOptions by design.
const (
	// Offered: every answer is an option of its question, and numbers for the log are finite.
	Offered Rule = "option-offered"
	// EqualAnswers: equal questions have equal answers, whatever is asked before and beside them.
	EqualAnswers Rule = "equal-answers"
	// AffineRewards: if all rewards are multiplied by a positive number and moved by another, the
	// same options are chosen.
	AffineRewards Rule = "affine-rewards"
	// RelabelledOptions: if the options come in another order, the same ones are chosen.
	RelabelledOptions Rule = "relabelled-options"
	// DeltaMonotone: an option that is chosen is still chosen if it is worth more in every
	// model. Rules that list it as an ability are held to it.
	DeltaMonotone Rule = "delta-monotone"
	// OptionsSound: options have policies in the action set and probabilities of ending, and
	// from every state where one may begin it can end, by the transitions that were seen.
	OptionsSound Rule = "options-sound"
)

// questions is the number of questions that a rule is asked for each law.
const questions = 200

// decisionSpec is the environment that decisions are for.
func decisionSpec() framework.Spec {
	return framework.Spec{ID: "rltest/finite@1", Observation: space.Discrete{N: 12}, Action: space.Discrete{N: 3}, RewardLow: -1, RewardHigh: 1}
}

// checkDecisions checks a rule or a source of options.
func checkDecisions(ctx context.Context, p vector.Plugin, d *vector.Description, raw json.RawMessage) error {
	decides, ok := p.(vector.DecisionPlugin)
	if !ok {
		return &Violation{Rule: Works, Err: errors.New("it cannot be opened as a rule")}
	}
	if d.Kind == vector.KindOptions {
		return checkSource(ctx, decides, raw)
	}
	rule, err := decides.OpenRule(ctx, raw, decisionSpec())
	if err != nil {
		return &Violation{Rule: Works, Err: err}
	}
	c := &ruleCheck{ctx: ctx, rule: rule, rng: rand.New(rand.NewPCG(37, 3))}
	err = c.run(d)
	return errors.Join(err, rule.Close())
}

type ruleCheck struct {
	ctx  context.Context
	rule vector.Rule
	rng  *rand.Rand
}

func (c *ruleCheck) problem() *options.Problem { return c.sized(2+c.rng.IntN(5), 1+c.rng.IntN(16)) }

// sized is a problem of n options in k models.
func (c *ruleCheck) sized(n, k int) *options.Problem {
	p := &options.Problem{Greedy: c.rng.IntN(n), Step: c.rng.IntN(900), Hold: 1 + c.rng.IntN(20)}
	for x := range n {
		a := options.Arm{Name: fmt.Sprintf("option %d", x), Steps: c.rng.IntN(30)}
		if x != p.Greedy && c.rng.IntN(3) == 0 {
			a.Class, a.RevealProbability = options.Uninformed, c.rng.Float64()
		}
		p.Arms = append(p.Arms, a)
		t := options.Trial{Count: c.rng.IntN(5)}
		t.Steps = t.Count * (1 + c.rng.IntN(9))
		t.Reward = float64(t.Steps) * c.rng.Float64()
		p.Trials = append(p.Trials, t)
	}
	for range n * k {
		p.Values = append(p.Values, c.rng.Float64())
	}
	for m := range k {
		best := p.Values[m]
		for x := range n {
			best = max(best, p.Values[x*k+m])
		}
		p.Optimal = append(p.Optimal, best+0.1*c.rng.Float64())
	}
	return p
}

// ask makes a question of a problem.
func ask(p *options.Problem, seed uint64) (options.Question, error) {
	q := options.Question{Features: []float64{float64(seed % 12)}, Seed: seed}
	d, err := options.NewDecider(options.DeciderConfig{Horizon: bandit.Finite(999)})
	if err == nil {
		err = d.Ask(&q, p)
	}
	return q, err
}

// Questions are questions of one size for a rule, and the environment that they are of: to
// measure its speed by.
func Questions(lanes, n, k int) ([]options.Question, framework.Spec, error) {
	c := &ruleCheck{rng: rand.New(rand.NewPCG(37, 5))}
	questions := make([]options.Question, lanes)
	for i := range questions {
		var err error
		if questions[i], err = ask(c.sized(n, k), c.rng.Uint64()); err != nil {
			return nil, framework.Spec{}, err
		}
	}
	return questions, decisionSpec(), nil
}

// copyOf copies a problem, so that it can be changed.
func copyOf(p *options.Problem) *options.Problem {
	q := *p
	q.Arms, q.Values, q.Optimal, q.Trials = slices.Clone(p.Arms), slices.Clone(p.Values), slices.Clone(p.Optimal), slices.Clone(p.Trials)
	return &q
}

// affine is the problem in rewards that are multiplied and moved.
func affine(p *options.Problem, by, to float64) *options.Problem {
	q := copyOf(p)
	for i := range q.Values {
		q.Values[i] = by*q.Values[i] + to
	}
	for i := range q.Optimal {
		q.Optimal[i] = by*q.Optimal[i] + to
	}
	for i := range q.Trials {
		q.Trials[i].Reward = by*q.Trials[i].Reward + to*float64(q.Trials[i].Steps)
	}
	return q
}

// relabelled is the problem with option order[x] at x.
func relabelled(p *options.Problem, order []int) *options.Problem {
	q, k := copyOf(p), len(p.Values)/len(p.Arms)
	for x, from := range order {
		q.Arms[x], q.Trials[x] = p.Arms[from], p.Trials[from]
		copy(q.Values[x*k:(x+1)*k], p.Values[from*k:(from+1)*k])
		if from == p.Greedy {
			q.Greedy = x
		}
	}
	return q
}

// choose asks one question by itself.
func (c *ruleCheck) choose(p *options.Problem, seed uint64) (options.Answer, error) {
	var a [1]options.Answer
	q, err := ask(p, seed)
	if err == nil {
		err = c.rule.Choose(c.ctx, []options.Question{q}, a[:])
	}
	return a[0], err
}

func (c *ruleCheck) run(d *vector.Description) error {
	var r report
	problems, seeds := make([]*options.Problem, questions), make([]uint64, questions)
	batch, answers, alone := make([]options.Question, questions), make([]options.Answer, questions), make([]options.Answer, questions)
	for i := range batch {
		problems[i], seeds[i] = c.problem(), c.rng.Uint64()
		var err error
		if batch[i], err = ask(problems[i], seeds[i]); err != nil {
			return err
		}
	}
	if err := c.rule.Choose(c.ctx, batch, answers); err != nil {
		return &Violation{Rule: Works, Err: err}
	}
	law := func(rule Rule, broken bool, format string, args ...any) {
		if _, declared := d.Breaks[string(rule)]; broken && !declared {
			r.fail(rule, fmt.Errorf(format, args...))
		}
	}
	for i, p := range problems {
		if _, err := batch[i].Take(answers[i]); err != nil {
			r.fail(Offered, err)
			continue
		}
		for range 2 {
			var err error
			if alone[i], err = c.choose(p, seeds[i]); err != nil {
				r.fail(Works, err)
				return r.result()
			}
			law(EqualAnswers, !reflect.DeepEqual(alone[i], answers[i]), "a question had the answer %+v among others and %+v alone: answers must depend on their questions alone", answers[i], alone[i])
		}
		x := answers[i].Option
		name := p.Arms[x].Name
		by, to := 0.25+4*c.rng.Float64(), c.rng.Float64()*10-5
		order := c.rng.Perm(len(p.Arms))
		moved, err := c.choose(affine(p, by, to), seeds[i])
		other, err2 := c.choose(relabelled(p, order), seeds[i])
		if err := errors.Join(err, err2); err != nil {
			r.fail(Works, err)
			return r.result()
		}
		law(AffineRewards, moved.Option != x, "%s is chosen, and with rewards times %.3g plus %.3g it is %s", name, by, to, p.Arms[moved.Option].Name)
		law(RelabelledOptions, order[other.Option] != x, "%s is chosen, and if the options come in another order it is %s", name, p.Arms[order[other.Option]].Name)
		if slices.Contains(d.Abilities, string(DeltaMonotone)) {
			better, k := copyOf(p), len(p.Values)/len(p.Arms)
			rise := c.rng.Float64()
			for m := range k {
				better.Values[x*k+m] += rise
				better.Optimal[m] = max(better.Optimal[m], better.Values[x*k+m])
			}
			again, err := c.choose(better, seeds[i])
			if err != nil {
				r.fail(Works, err)
				return r.result()
			}
			law(DeltaMonotone, again.Option != x, "%s is chosen, and if it is worth %.3g more in every model it is %s", name, rise, p.Arms[again.Option].Name)
		}
	}
	return r.result()
}

// checkSource checks a source of options, by what is seen on random walks in a corridor.
func checkSource(ctx context.Context, p vector.DecisionPlugin, raw json.RawMessage) error {
	spec := decisionSpec()
	source, err := p.OpenOptions(ctx, raw, spec)
	if err != nil {
		return &Violation{Rule: Works, Err: err}
	}
	var r report
	rng := rand.New(rand.NewPCG(37, 4))
	seen := each.Of([]int{0, 1, 10, 100, 1000, 10_000}, func(steps int) options.Experience { return walk(steps, rng) })
	made := make([][]options.DeclaredOption, len(seen))
	if err := source.Options(ctx, seen, made); err != nil {
		return errors.Join(&Violation{Rule: Works, Err: err}, source.Close())
	}
	for i := range seen {
		alone := make([][]options.DeclaredOption, 1)
		if err := source.Options(ctx, seen[i:i+1], alone); err != nil {
			r.fail(Works, err)
			break
		}
		if !reflect.DeepEqual(alone[0], made[i]) {
			r.fail(EqualAnswers, fmt.Errorf("after %d steps the options are others alone than beside other lanes: they must depend on what was seen alone", seen[i].Steps))
		}
		if err := options.CheckDeclared(made[i], seen[i].States, seen[i].Actions); err != nil {
			r.fail(OptionsSound, fmt.Errorf("after %d steps: %w", seen[i].Steps, err))
			continue
		}
		for j := range made[i] {
			if s := stuck(&made[i][j], &seen[i]); s >= 0 {
				r.fail(OptionsSound, fmt.Errorf("after %d steps option %q can begin in state %d, and by the transitions that were seen it never ends from there", seen[i].Steps, made[i][j].Name, s))
			}
		}
	}
	return errors.Join(r.result(), source.Close())
}

// walk is what a random walk in a corridor sees.
func walk(steps int, rng *rand.Rand) options.Experience {
	spec := decisionSpec()
	states, actions := int(spec.Observation.(space.Discrete).N), int(spec.Action.(space.Discrete).N)
	type transition struct{ s, a, next int }
	counts, s := map[transition]int{}, 0
	for range steps {
		a := rng.IntN(actions)
		next := min(max(s+a-1, 0), states-1)
		counts[transition{s, a, next}]++
		s = next
	}
	x := options.Experience{States: states, Actions: actions, Steps: steps, Seed: rng.Uint64()}
	for s := range states {
		for a := range actions {
			next := min(max(s+a-1, 0), states-1)
			if n := counts[transition{s, a, next}]; n > 0 {
				reward := 0.0
				if next == states-1 {
					reward = float64(n)
				}
				x.Seen = append(x.Seen, options.Seen{State: s, Action: a, Next: next, Count: n, Reward: reward})
			}
		}
	}
	return x
}

// stuck returns a state in which an option can begin and from which, by the transitions seen,
// it cannot end; −1 if there is none. Where a transition of its policy was never seen, it may end.
func stuck(o *options.DeclaredOption, x *options.Experience) int {
	ends, probs := make([]bool, x.States), make([]float64, x.Actions)
	for again := true; again; {
		again = false
		for s := range ends {
			if ends[s] {
				continue
			}
			o.Distribution(probs, s, 0)
			for a, p := range probs {
				known := false
				for _, t := range x.Seen {
					if p > 0 && t.State == s && t.Action == a {
						known = true
						ends[s] = ends[s] || o.End[t.Next] > 0 || ends[t.Next]
					}
				}
				ends[s] = ends[s] || p > 0 && !known
			}
			again = again || ends[s]
		}
	}
	for s, begins := range o.Initiation {
		if begins && !ends[s] {
			return s
		}
	}
	return -1
}
