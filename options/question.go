package options

import (
	"fmt"
	"strings"
	"unicode"
)

// Trial is what came of an option in a run so far, whoever chose it.
type Trial struct {
	Count  int     // how often it was chosen
	Steps  int     // for which it was followed
	Reward float64 // sum of the rewards meanwhile
}

// Question is a decision as a Chooser sees it. Values are per step, and no option is a pair.
type Question struct {
	*Problem
	Shares []float64 // ρ of each option: the share of the horizon that holding it takes
	// Left is the weight of the rewards that are left, in units of that of the next one:
	// their number without a discount, 1/(1−γ) with an endless one.
	Left     float64
	Features []float64 // the observation as numbers
	Seed     uint64    // of what the chooser draws
}

// Steps returns the number of steps for which option x would be held.
func (q *Question) Steps(x int) int { return q.hold(x) }

// Answer is an option of a Question, and numbers for the log.
type Answer struct {
	Option  int
	Numbers []Number
}

// Number is a number that a Chooser wants logged.
type Number struct {
	Name  string
	Value float64
}

// Chooser is an exploration rule of anybody. It is a function of the question: equal
// questions have equal answers, whatever was asked before or beside them. What it needs of
// the past is in Problem.Trials, and what it draws follows from the seed.
type Chooser func(q *Question) (Answer, error)

// Ask fills in a question about p. The slices of q are used again.
func (d *Decider) Ask(q *Question, p *Problem) error {
	if err := p.Check(); err != nil {
		return err
	}
	if len(p.Pairs) > 0 {
		return fmt.Errorf("options: a rule of a plugin gets options with values in models, which options of kind %s do not have; use the rule %s", Pairs.String(), RuleGain.String())
	}
	q.Problem, q.Left, q.Shares = p, d.left(p).Total(), q.Shares[:0]
	for x := range p.Arms {
		q.Shares = append(q.Shares, d.share(p, p.cost(x)))
	}
	return nil
}

// maxNumbers bounds the numbers that a rule may log of a decision.
const maxNumbers = 64

// CheckAnswer returns what is wrong with an answer.
func (q *Question) CheckAnswer(a Answer) error {
	if a.Option < 0 || a.Option >= len(q.Arms) {
		return fmt.Errorf("the answer is option %d, and the options are 0 to %d", a.Option, len(q.Arms)-1)
	}
	if len(a.Numbers) > maxNumbers {
		return fmt.Errorf("%d numbers for the log, at most %d can be kept", len(a.Numbers), maxNumbers)
	}
	for i, n := range a.Numbers {
		switch {
		case n.Name == "" || len(n.Name) > 100 || strings.ContainsFunc(n.Name, outsideNames):
			return fmt.Errorf("%.100q names a number for the log; a name has 1 to 100 bytes: letters, digits, _, . and -", n.Name)
		case n.Value-n.Value != 0:
			return fmt.Errorf("the number %s for the log is %v, must be finite", n.Name, n.Value)
		}
		for _, before := range a.Numbers[:i] {
			if before.Name == n.Name {
				return fmt.Errorf("two numbers for the log have the name %s", n.Name)
			}
		}
	}
	return nil
}

// outsideNames says that a name in the log must not have r: there are blanks between numbers, and = before each.
func outsideNames(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_.-", r)
}

// Take returns the decision for the answer to a question, or says why it is none. Other is
// the option of the largest mean value besides the greedy one, if that was chosen.
func (q *Question) Take(a Answer) (Decision, error) {
	if err := q.CheckAnswer(a); err != nil {
		return Decision{}, err
	}
	x := a.Option
	dec := Decision{Step: q.Step, Choice: x, Option: q.Arms[x].Name, Explore: x != q.Greedy, Hold: q.hold(x), Capped: q.Capped, Share: q.Shares[x], Other: x}
	if !dec.Explore {
		dec.Other, dec.Hold = -1, q.Hold
		for x := range q.Arms {
			if x != q.Greedy && (dec.Other < 0 || q.Mean(x) > q.Mean(dec.Other)) {
				dec.Other = x
			}
		}
	}
	return dec, nil
}
