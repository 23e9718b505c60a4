package policy

import (
	"errors"
	"math"

	"github.com/rlrun/rlrun/bandit"
)

// What a published program of the paper's author does, by a slip, in place of what the
// paper says. It is here for configs/paper-variants.yaml, which replicates its curves.

var e3OverflowKind = kind{"e3-overflow", "", nil, buildE3Overflow}

func buildE3Overflow(d *builder) (maker, error) {
	if math.IsInf(d.task.High, 1) {
		return nil, errors.New("e3-overflow needs a largest reward to be optimistic about")
	}
	return func(beliefs, []bandit.Beta) Policy { return newE3(d.task.Arms, 0, d.task.High) }, nil
}
