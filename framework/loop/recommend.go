package loop

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/vector"
)

// recommended returns what is lost by a step of the action that the agent of a run would stay
// with, NaN if it is not known or no metric needs it.
func (r *recorder) recommended(ctx context.Context, run int) (gap float64, err error) {
	if !r.recommends || !r.lanes[run].modeled {
		return math.NaN(), nil
	}
	lane := run * r.actors
	action, err := vector.Recommend(ctx, r.batch.Agent, lane)
	if errors.Is(err, framework.ErrUnsupported) {
		return math.NaN(), nil
	}
	gaps := r.laneGaps(lane)
	if err == nil && uint64(action-r.first) >= uint64(len(gaps)) {
		err = fmt.Errorf("%w: it recommends action %d", framework.ErrInvalidAnswer, action)
	}
	if err != nil {
		return 0, fmt.Errorf("agent: %w", inLane(lane, err))
	}
	return gaps[action-r.first], nil
}
