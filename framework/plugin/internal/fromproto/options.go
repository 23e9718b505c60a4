package fromproto

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/rlrun/rlrun/framework"
	pb "github.com/rlrun/rlrun/framework/plugin/internal/proto"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/options"
)

// Kinds reads what toproto.Kinds makes.
func Kinds(names []string) ([]options.Kind, error) {
	kinds := make([]options.Kind, len(names))
	for i, name := range names {
		var err error
		if kinds[i], err = options.KindNamed(name); err != nil {
			return nil, fmt.Errorf("%w: %w", err, framework.ErrUnsupported)
		}
	}
	return kinds, nil
}

// Decisions reads the decisions of one stream. Its memory is used again by the next
// reply.
type Decisions struct {
	names                  []string // by number
	sizes, members, greedy []uint32
	options                []uint32
	reveals                []float64
	holds                  []uint32
	arms                   []options.Arm
	values, optimal        []float64
	counts                 []uint32 // of pairs, by decision; empty where there are none
	numbers                []float64
	pairs                  []options.Pair
}

// maxNames bounds what a plugin can make the host remember.
const maxNames = 1 << 20

// Problems fills the problems of lanes with an epoch, and checks them. The problems
// share the memory of d.
func (d *Decisions) Problems(problems []options.Problem, epochs []bool, r *pb.AgentReply) error {
	if d.names = append(d.names, r.Names...); len(d.names) > maxNames {
		return fmt.Errorf("options have more than %d names", maxNames)
	}
	n := 0
	for _, e := range epochs {
		if e {
			n++
		}
	}
	var err error
	d.sizes = read(&err, d.sizes, "sizes", r.Sizes, n)
	d.members = read(&err, d.members, "members", r.Members, n)
	d.greedy = read(&err, d.greedy, "greedy", r.Greedy, n)
	if err != nil {
		return err
	}
	arms, values, optimal := uint64(0), uint64(0), uint64(0)
	for k, size := range d.sizes {
		arms += uint64(size)
		optimal += uint64(d.members[k])
		product := uint64(size) * uint64(d.members[k]) // of two uint32
		if values += product; max(product, values, arms, optimal) > math.MaxInt32 {
			return errors.New("sizes and members are beyond reason")
		}
	}
	d.options = read(&err, d.options, "options", r.Options, int(arms))
	d.reveals = read(&err, d.reveals, "reveals", r.Reveals, given(r.Reveals, int(arms)))
	d.holds = read(&err, d.holds, "holds", r.Holds, given(r.Holds, int(arms)))
	d.values = read(&err, d.values, "values", r.Values, int(values))
	d.optimal = read(&err, d.optimal, "optimal", r.Optimal, given(r.Optimal, int(optimal)))
	if err := cmp.Or(err, d.readPairs(r, n)); err != nil {
		return err
	}
	d.arms = d.arms[:0]
	for i, number := range d.options {
		if int64(number) >= int64(len(d.names)) {
			return fmt.Errorf("option number %d of %d names", number, len(d.names))
		}
		a := options.Arm{Name: d.names[number]}
		if len(d.reveals) > 0 && d.reveals[i] != -1 {
			a.Class, a.RevealProbability = options.Uninformed, d.reveals[i]
		}
		if len(d.holds) > 0 {
			a.Steps = int(d.holds[i])
		}
		d.arms = append(d.arms, a)
	}
	return d.split(problems, epochs)
}

// readPairs reads the pairs of n decisions.
func (d *Decisions) readPairs(r *pb.AgentReply, n int) error {
	var err error
	d.pairs = d.pairs[:0]
	d.counts = read(&err, d.counts, "pair_counts", r.PairCounts, given(r.PairCounts, n))
	total := uint64(0)
	for _, c := range d.counts {
		if total += uint64(c); total > math.MaxInt32 {
			return errors.New("pair_counts are beyond reason")
		}
	}
	if d.numbers = read(&err, d.numbers, "pairs", r.Pairs, 5*int(total)); err != nil {
		return err
	}
	for x := range slices.Chunk(d.numbers, 5) {
		s, a := int(x[0]), int(x[1])
		if float64(s) != x[0] || float64(a) != x[1] {
			return fmt.Errorf("a pair of state %v and action %v, must be whole numbers", x[0], x[1])
		}
		d.pairs = append(d.pairs, options.Pair{State: s, Action: a, Gain: x[2], Cost: x[3], Steps: x[4]})
	}
	return nil
}

// split hands every lane its part of the columns.
func (d *Decisions) split(problems []options.Problem, epochs []bool) error {
	arms, values, optimal, pairs := d.arms, d.values, d.optimal, d.pairs
	k := 0
	for i, epoch := range epochs {
		if !epoch {
			continue
		}
		size, members := int(d.sizes[k]), int(d.members[k])
		p := options.Problem{Arms: arms[:size:size], Values: values[: size*members : size*members], Greedy: int(d.greedy[k]), Hold: 1}
		arms, values = arms[size:], values[size*members:]
		if len(optimal) > 0 {
			p.Optimal, optimal = optimal[:members:members], optimal[members:]
		}
		if len(d.counts) > 0 {
			m := int(d.counts[k])
			p.Pairs, pairs = pairs[:m:m], pairs[m:]
		}
		if err := p.Check(); err != nil {
			return &vector.LaneError{Lane: i, Err: err}
		}
		problems[i] = p
		k++
	}
	return nil
}

// Int32s returns a column of n int32 in the memory of dst.
func Int32s(dst []int, name string, data []byte, n int) (_ []int, err error) {
	dst = dst[:0]
	for _, x := range read[int32](&err, nil, name, data, n) {
		dst = append(dst, int(x))
	}
	return dst, err
}
