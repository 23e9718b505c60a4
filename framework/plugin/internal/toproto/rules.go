package toproto

import (
	"math"

	pb "github.com/rlrun/rlrun/framework/plugin/internal/proto"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/options"
)

// Questions encodes questions for a rule. names is as in Decisions.
func Questions(m *pb.RuleRequest, questions []options.Question, names map[string]uint32) {
	m.Names = m.Names[:0]
	for _, column := range []*[]byte{&m.Sizes, &m.Members, &m.Greedy, &m.Steps, &m.Left, &m.Seeds, &m.Features, &m.Options,
		&m.Reveals, &m.Holds, &m.Shares, &m.Values, &m.Optimal, &m.Counts, &m.Followed, &m.Rewards} {
		*column = (*column)[:0]
	}
	optimal := false
	for i := range questions {
		optimal = optimal || len(questions[i].Optimal) > 0
	}
	number := func(dst *[]byte, x float64) { *dst = space.AppendNumbers(*dst, []float64{x}) }
	whole := func(dst *[]byte, x int) { *dst = space.AppendNumbers(*dst, []uint64{uint64(x)}) }
	short := func(dst *[]byte, x int) { *dst = appendUint32(*dst, uint32(min(x, math.MaxInt32))) }
	for i := range questions {
		q := &questions[i]
		n := len(q.Arms)
		k := len(q.Values) / n
		short(&m.Sizes, n)
		short(&m.Members, k)
		short(&m.Greedy, q.Greedy)
		whole(&m.Steps, q.Step)
		number(&m.Left, q.Left)
		m.Seeds = space.AppendNumbers(m.Seeds, []uint64{q.Seed})
		m.Features = space.AppendNumbers(m.Features, q.Features)
		for x := range q.Arms {
			a := &q.Arms[x]
			at, reveal := option(a, names, &m.Names)
			m.Options = appendUint32(m.Options, at)
			number(&m.Reveals, reveal)
			short(&m.Holds, q.Steps(x))
			var t options.Trial
			if x < len(q.Trials) {
				t = q.Trials[x]
			}
			short(&m.Counts, t.Count)
			whole(&m.Followed, t.Steps)
			number(&m.Rewards, t.Reward)
		}
		m.Shares = space.AppendNumbers(m.Shares, q.Shares)
		m.Values = space.AppendNumbers(m.Values, q.Values)
		switch {
		case !optimal:
		case len(q.Optimal) == k:
			m.Optimal = space.AppendNumbers(m.Optimal, q.Optimal)
		default:
			m.Optimal = append(m.Optimal, make([]byte, 8*k)...)
		}
	}
}

// Answers encodes the answers of a rule. The numbers of an answer that others do not have are
// NaN in these.
func Answers(r *pb.RuleReply, answers []options.Answer) {
	r.Options, r.Numbers, r.Names = r.Options[:0], r.Numbers[:0], nil
	at := map[string]int{}
	for _, a := range answers {
		r.Options = Int32s(r.Options, []int{a.Option})
		for _, n := range a.Numbers {
			if _, known := at[n.Name]; !known {
				at[n.Name] = len(r.Names)
				r.Names = append(r.Names, n.Name)
			}
		}
	}
	row := make([]float64, len(r.Names))
	for _, a := range answers {
		for j := range row {
			row[j] = math.NaN()
		}
		for _, n := range a.Numbers {
			row[at[n.Name]] = n.Value
		}
		r.Numbers = space.AppendNumbers(r.Numbers, row)
	}
}

// Experience encodes what was seen in runs of one task.
func Experience(seen []options.Experience) *pb.OptionsRequest {
	m := &pb.OptionsRequest{}
	for i := range seen {
		x := &seen[i]
		m.States, m.Actions = uint32(x.States), uint32(x.Actions)
		lane := &pb.Experience{Steps: uint64(x.Steps), Seed: x.Seed}
		for _, t := range x.Seen {
			for _, n := range []int{t.State, t.Action, t.Next, t.Count} {
				lane.Transitions = appendUint32(lane.Transitions, uint32(min(n, math.MaxUint32)))
			}
			lane.Rewards = space.AppendNumbers(lane.Rewards, []float64{t.Reward})
		}
		m.Lanes = append(m.Lanes, lane)
	}
	return m
}

// OptionList encodes options.
func OptionList(list []options.DeclaredOption) *pb.OptionList {
	m := &pb.OptionList{}
	for i := range list {
		o := &list[i]
		x := &pb.DeclaredOption{Name: o.Name, Actions: Int32s(nil, o.Actions), End: space.AppendNumbers(nil, o.End)}
		for _, begins := range o.Initiation {
			b := byte(0)
			if begins {
				b = 1
			}
			x.Initiation = append(x.Initiation, b)
		}
		for _, row := range o.Rows {
			x.Policy = space.AppendNumbers(x.Policy, row)
		}
		m.Options = append(m.Options, x)
	}
	return m
}
