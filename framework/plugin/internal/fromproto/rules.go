package fromproto

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	pb "github.com/rlrun/rlrun/framework/plugin/internal/proto"
	"github.com/rlrun/rlrun/options"
)

// Questions reads the questions of one stream. Its memory is used again by the next request.
type Questions struct {
	names     []string
	questions []options.Question
	problems  []options.Problem
}

// Read reads a request.
func (q *Questions) Read(m *pb.RuleRequest) ([]options.Question, error) {
	if q.names = append(q.names, m.Names...); len(q.names) > maxNames {
		return nil, fmt.Errorf("options have more than %d names", maxNames)
	}
	n := len(m.Sizes) / 4
	var err error
	uint32s := func(name string, data []byte, n int) []uint32 { return read[uint32](&err, nil, name, data, n) }
	uint64s := func(name string, data []byte, n int) []uint64 { return read[uint64](&err, nil, name, data, n) }
	floats := func(name string, data []byte, n int) []float64 { return read[float64](&err, nil, name, data, n) }
	sizes, members, greedy := uint32s("sizes", m.Sizes, n), uint32s("members", m.Members, n), uint32s("greedy", m.Greedy, n)
	if err != nil {
		return nil, err
	}
	all, values, optima := 0, 0, 0
	for i, size := range sizes {
		if size == 0 || size > math.MaxInt32 || members[i] > math.MaxInt32 || greedy[i] >= size {
			return nil, fmt.Errorf("question %d: option %d of %d is greedy", i, greedy[i], size)
		}
		all, values, optima = all+int(size), values+int(size)*int(members[i]), optima+int(members[i])
	}
	width := 0
	if n > 0 {
		width = len(m.Features) / 8 / n
	}
	steps, seeds, followed := uint64s("steps", m.Steps, n), uint64s("seeds", m.Seeds, n), uint64s("followed", m.Followed, all)
	left, features := floats("left", m.Left, n), floats("features", m.Features, n*width)
	names, holds, counts := uint32s("options", m.Options, all), uint32s("holds", m.Holds, all), uint32s("counts", m.Counts, all)
	reveals, shares, rewards := floats("reveals", m.Reveals, all), floats("shares", m.Shares, all), floats("rewards", m.Rewards, all)
	v, optimal := floats("values", m.Values, values), floats("optimal", m.Optimal, given(m.Optimal, optima))
	if err != nil {
		return nil, err
	}
	q.questions, q.problems = make([]options.Question, n), make([]options.Problem, n)
	arms, trials := make([]options.Arm, all), make([]options.Trial, all)
	for x := range arms {
		if int(names[x]) >= len(q.names) {
			return nil, fmt.Errorf("option %d has name %d of %d", x, names[x], len(q.names))
		}
		// T and the expected duration have been settled by the host.
		arms[x] = options.Arm{Name: q.names[names[x]], Steps: int(holds[x]), Ends: true}
		if reveals[x] >= 0 {
			arms[x].Class, arms[x].RevealProbability = options.Uninformed, reveals[x]
		}
		trials[x] = options.Trial{Count: int(counts[x]), Steps: int(followed[x]), Reward: rewards[x]}
	}
	for i := range q.questions {
		size, k := int(sizes[i]), int(members[i])
		p := &q.problems[i]
		*p = options.Problem{Arms: arms[:size:size], Greedy: int(greedy[i]), Values: v[: size*k : size*k], Step: int(steps[i]), Hold: 1, Trials: trials[:size:size]}
		if len(m.Optimal) > 0 {
			p.Optimal, optimal = optimal[:k:k], optimal[k:]
		}
		q.questions[i] = options.Question{Problem: p, Shares: shares[:size:size], Left: left[i], Features: features[i*width : (i+1)*width], Seed: seeds[i]}
		arms, trials, v, shares = arms[size:], trials[size:], v[size*k:], shares[size:]
	}
	return q.questions, nil
}

// Answers reads the answers of a rule.
func Answers(answers []options.Answer, r *pb.RuleReply) error {
	var err error
	chosen := read[int32](&err, nil, "options", r.Options, len(answers))
	numbers := read[float64](&err, nil, "numbers", r.Numbers, len(answers)*len(r.Names))
	if err != nil {
		return err
	}
	for i := range answers {
		answers[i] = options.Answer{Option: int(chosen[i])}
		for j, name := range r.Names {
			if x := numbers[i*len(r.Names)+j]; !math.IsNaN(x) {
				answers[i].Numbers = append(answers[i].Numbers, options.Number{Name: name, Value: x})
			}
		}
	}
	return nil
}

// Experience reads what was seen in runs.
func Experience(m *pb.OptionsRequest) ([]options.Experience, error) {
	seen := make([]options.Experience, len(m.Lanes))
	for i, lane := range m.Lanes {
		n := len(lane.GetRewards()) / 8
		var err error
		rows := read[uint32](&err, nil, "transitions", lane.GetTransitions(), 4*n)
		rewards := read[float64](&err, nil, "rewards", lane.GetRewards(), n)
		if err != nil {
			return nil, err
		}
		x := options.Experience{States: int(m.States), Actions: int(m.Actions), Steps: int(lane.GetSteps()), Seed: lane.GetSeed()}
		for j := range n {
			t := rows[4*j:]
			if t[0] >= m.States || t[1] >= m.Actions || t[2] >= m.States {
				return nil, fmt.Errorf("transition %d from state %d by action %d to state %d of %d states and %d actions", j, t[0], t[1], t[2], m.States, m.Actions)
			}
			x.Seen = append(x.Seen, options.Seen{State: int(t[0]), Action: int(t[1]), Next: int(t[2]), Count: int(t[3]), Reward: rewards[j]})
		}
		seen[i] = x
	}
	return seen, nil
}

// mostOptions bounds the options of a lane.
const mostOptions = 10_000

// OptionList reads options of a task. options.CheckDeclared checks what they say.
func OptionList(m *pb.OptionList, states, actions int) ([]options.DeclaredOption, error) {
	if n := len(m.GetOptions()); n > mostOptions {
		return nil, fmt.Errorf("%d options, at most %d can be used", n, mostOptions)
	}
	var list []options.DeclaredOption
	for _, x := range m.GetOptions() {
		o := options.DeclaredOption{Name: x.GetName()}
		if len(o.Name) > 200 || OneLine(o.Name) != o.Name {
			return nil, fmt.Errorf("the name %.200q of an option: it may have at most 200 bytes, in one line", o.Name)
		}
		for _, b := range x.GetInitiation() {
			o.Initiation = append(o.Initiation, b != 0)
		}
		var err error
		o.End = read(&err, o.End, "end", x.GetEnd(), states)
		if len(x.GetActions()) > 0 {
			var bad error
			o.Actions, bad = Int32s(nil, "actions", x.GetActions(), states)
			err = cmp.Or(err, bad)
		} else {
			o.Rows = slices.Collect(slices.Chunk(read[float64](&err, nil, "policy", x.GetPolicy(), states*actions), actions))
		}
		if err != nil {
			return nil, fmt.Errorf("option %q: %w", o.Name, err)
		}
		list = append(list, o)
	}
	return list, nil
}
