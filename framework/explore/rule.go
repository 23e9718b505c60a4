package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/each"
	"github.com/rlrun/rlrun/options"
)

// asked is the memory for questions to Config.Rule, of some lanes.
type asked struct {
	lanes     []int // of each question
	questions []options.Question
	answers   []options.Answer
}

// question adds the question of a lane.
func (a *explorer) question(in *vector.Feedback, i int) error {
	q, l := &a.asked, &a.lanes[i]
	n := len(q.lanes)
	q.lanes = append(q.lanes, i)
	if len(q.questions) <= n {
		q.questions = append(q.questions, options.Question{})
	}
	x := &q.questions[n]
	x.Seed, x.Features = l.rng.Uint64(), features(x.Features[:0], &in.Observations, i, len(a.lanes))
	l.decided++
	return a.decider.Ask(x, &a.problems[i])
}

// ask asks the rule for the lanes in asked.lanes. Questions number 1, 2, 4, … of a run are asked again,
// in other company: the first of them alone, and then the others. A rule whose answer is another then is refused.
func (a *explorer) ask(ctx context.Context) error {
	q := &a.asked
	n := len(q.lanes)
	q.answers = slices.Grow(q.answers[:0], n)[:n]
	if err := a.config.Rule.Choose(ctx, q.questions[:n], q.answers); err != nil {
		return a.named(err, "rule "+a.config.RuleName+", decision", q.lanes)
	}
	var again []int
	for k, i := range q.lanes {
		if d := a.lanes[i].decided; d&(d-1) == 0 {
			again = append(again, k)
		}
	}
	alone := min(1, len(again))
	for _, part := range [][]int{again[:alone], again[alone:]} {
		if len(part) == 0 {
			continue
		}
		var questions []options.Question
		var lanes []int
		for _, k := range part {
			questions, lanes = append(questions, q.questions[k]), append(lanes, q.lanes[k])
		}
		answers := make([]options.Answer, len(part))
		if err := a.config.Rule.Choose(ctx, questions, answers); err != nil {
			return a.named(err, "rule "+a.config.RuleName+", decision", lanes)
		}
		for x, k := range part {
			if one, two := show(q.answers[k]), show(answers[x]); one != two {
				return a.broken(lanes[x], fmt.Errorf("the question of this decision was asked twice, and the answers are %s and %s: an answer must depend on its question alone; draw from its seed", one, two))
			}
		}
	}
	return nil
}

// broken is what is wrong with the rule's answer to a lane.
func (a *explorer) broken(lane int, err error) error {
	return &vector.LaneError{Lane: lane, Err: fmt.Errorf("%w: rule %s, decision after step %d: %w", framework.ErrInvalidAnswer, a.config.RuleName, a.lanes[lane].steps, err)}
}

// named names who made an error, the lane, in place of the number of a question, and its step. An error
// that blames no question, as of an answer that is late, is of all lanes that were asked.
func (a *explorer) named(err error, who string, lanes []int) error {
	var lane *vector.LaneError
	if errors.As(err, &lane) && lane.Lane >= 0 && lane.Lane < len(lanes) {
		lane.Lane = lanes[lane.Lane]
		return fmt.Errorf("%s after step %d: %w", who, a.lanes[lane.Lane].steps, err)
	}
	steps := each.Of(lanes, func(i int) int { return a.lanes[i].steps })
	if first, last := slices.Min(steps), slices.Max(steps); len(lanes) > 1 {
		return fmt.Errorf("%s after steps %d to %d (%d lanes, the first %d): %w", who, first, last, len(lanes), lanes[0], err)
	}
	return fmt.Errorf("%s after step %d (lane %d): %w", who, steps[0], lanes[0], err)
}

func show(a options.Answer) string {
	text := "option " + strconv.Itoa(a.Option)
	if len(a.Numbers) > 0 {
		text += " with " + numbersText(a.Numbers)
	}
	return text
}

// numbersText writes numbers for the log.
func numbersText(list []options.Number) string {
	text := ""
	for i, n := range list {
		if i > 0 {
			text += " "
		}
		text += n.Name + "=" + strconv.FormatFloat(n.Value, 'g', 6, 64)
	}
	return text
}

// features appends the elements of the observation of lane i, of a number of lanes.
func features(dst []float64, c *space.Column, i, lanes int) []float64 {
	switch c.Type {
	case space.Float64:
		return row(dst, c.Float64, i, lanes)
	case space.Float32:
		return row(dst, c.Float32, i, lanes)
	case space.Uint8:
		return row(dst, c.Uint8, i, lanes)
	}
	return row(dst, c.Int64, i, lanes)
}

func row[T float64 | float32 | uint8 | int64](dst []float64, all []T, i, lanes int) []float64 {
	width := len(all) / lanes
	for _, x := range all[i*width : (i+1)*width] {
		dst = append(dst, float64(x))
	}
	return dst
}

// remember says what came of the options in the lane's run.
func (l *lane) remember(p *options.Problem) {
	l.outcomes = l.outcomes[:0]
	for _, arm := range p.Arms {
		var t options.Trial
		if known := l.trials[arm.Name]; known != nil {
			t = *known
		}
		l.outcomes = append(l.outcomes, t)
	}
	p.Trials = l.outcomes
}

// try counts that an option was chosen.
func (l *lane) try(name string) {
	t := l.trials[name]
	if t == nil {
		if l.trials == nil {
			l.trials = map[string]*options.Trial{}
		}
		t = &options.Trial{}
		l.trials[name] = t
	}
	t.Count++
	l.trial = t
}
