package toproto

import (
	"fmt"
	"math"
	"slices"

	"github.com/rlrun/rlrun/framework"
	pb "github.com/rlrun/rlrun/framework/plugin/internal/proto"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/each"
	"github.com/rlrun/rlrun/options"
)

// Kinds returns the names of kinds of options.
func Kinds(kinds []options.Kind) []string {
	return each.Of(kinds, options.Kind.String)
}

// Decisions encodes the decisions that lanes face. names holds the numbers of the
// names that have been sent on the stream, and takes up those that are new. A
// problem that cannot be encoded is an error that wraps framework.ErrInvalidAnswer
// and a *vector.LaneError.
func Decisions(r *pb.AgentReply, epochs []bool, problems []options.Problem, names map[string]uint32) error {
	r.Names, r.Sizes, r.Members, r.Greedy = r.Names[:0], r.Sizes[:0], r.Members[:0], r.Greedy[:0]
	r.Options, r.Reveals, r.Values, r.Optimal = r.Options[:0], r.Reveals[:0], r.Values[:0], r.Optimal[:0]
	r.PairCounts, r.Pairs = r.PairCounts[:0], r.Pairs[:0]
	r.Holds = r.Holds[:0]
	optimal, pairs, holds := false, false, false
	for i, epoch := range epochs {
		optimal = optimal || epoch && len(problems[i].Optimal) > 0
		pairs = pairs || epoch && len(problems[i].Pairs) > 0
		holds = holds || epoch && slices.ContainsFunc(problems[i].Arms, func(a options.Arm) bool { return a.Steps > 0 })
	}
	for i, epoch := range epochs {
		if !epoch {
			continue
		}
		p := &problems[i]
		n := len(p.Arms)
		if n == 0 || len(p.Values)%n != 0 || n > math.MaxInt32 {
			return invalid(i, "%d values for %d options", len(p.Values), n)
		}
		k := len(p.Values) / n
		r.Sizes = appendUint32(r.Sizes, uint32(n))
		r.Members = appendUint32(r.Members, uint32(k))
		r.Greedy = appendUint32(r.Greedy, uint32(p.Greedy))
		for _, a := range p.Arms {
			number, reveal := option(&a, names, &r.Names)
			r.Options = appendUint32(r.Options, number)
			r.Reveals = space.AppendNumbers(r.Reveals, []float64{reveal})
			if holds {
				r.Holds = appendUint32(r.Holds, uint32(a.Steps))
			}
		}
		r.Values = space.AppendNumbers(r.Values, p.Values)
		if pairs {
			r.PairCounts = appendUint32(r.PairCounts, uint32(len(p.Pairs)))
			for _, x := range p.Pairs {
				r.Pairs = space.AppendNumbers(r.Pairs, []float64{float64(x.State), float64(x.Action), x.Gain, x.Cost, x.Steps})
			}
		}
		switch {
		case !optimal:
		case len(p.Optimal) == k:
			r.Optimal = space.AppendNumbers(r.Optimal, p.Optimal)
		case len(p.Optimal) == 0:
			r.Optimal = append(r.Optimal, make([]byte, 8*k)...)
		default:
			return invalid(i, "the optimal values of %d models, not of %d", len(p.Optimal), k)
		}
	}
	return nil
}

// option returns the number of an option's name, which is added to fresh unless names has it, and
// its probability of revealing, −1 if it has none.
func option(a *options.Arm, names map[string]uint32, fresh *[]string) (number uint32, reveal float64) {
	number, sent := names[a.Name]
	if !sent {
		number = uint32(len(names))
		names[a.Name] = number
		*fresh = append(*fresh, a.Name)
	}
	if a.Class == options.Uninformed {
		return number, a.RevealProbability
	}
	return number, -1
}

func invalid(lane int, format string, args ...any) error {
	return &vector.LaneError{Lane: lane, Err: fmt.Errorf("%w: %w", framework.ErrInvalidAnswer, fmt.Errorf(format, args...))}
}

func appendUint32(dst []byte, x uint32) []byte { return space.AppendNumbers(dst, []uint32{x}) }

// Int32s appends xs, each in an int32.
func Int32s(dst []byte, xs []int) []byte {
	for _, x := range xs {
		dst = space.AppendNumbers(dst, []int32{int32(max(math.MinInt32, min(x, math.MaxInt32)))})
	}
	return dst
}
