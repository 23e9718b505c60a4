package policy

import (
	"errors"
	"math"

	"github.com/rlrun/rlrun/bandit"
)

// This file has the slips of a published program of the paper's author, where it
// differs from the paper. It is here for configs/paper-variants.yaml, which replicates
// its curves.

var e3OverflowKind = kind{"e3-overflow", "", nil, buildE3Overflow}

func buildE3Overflow(d *builder) (maker, error) {
	if math.IsInf(d.task.High, 1) {
		return nil, errors.New("e3-overflow needs a largest reward to be optimistic about")
	}
	return func(beliefs, []bandit.Beta) Policy { return newE3(d.task.Arms, 0, d.task.High) }, nil
}
