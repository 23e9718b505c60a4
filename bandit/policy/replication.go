package policy

import (
	"errors"
	"math"
)

// This file has the slips of a published program of the paper's author, where it
// differs from the paper. It is here for configs/paper-variants.yaml, which replicates
// its curves.

// E3Overflow is E3 as in that program. It converted the number of pulls until an arm is known to an
// integer, which overflowed to a negative number, so that it never wandered. Only optimism makes it
// explore: before its first pull an arm has the largest reward as its mean.
type E3Overflow struct{}

func (E3Overflow) build(t *setting) (maker, error) {
	if math.IsInf(t.High, 1) {
		return nil, errors.New("e3-overflow needs a largest reward to be optimistic about")
	}
	return func(beliefs) Policy { return newE3(t.Arms, 0, t.High) }, nil
}
