package lanes

import (
	"context"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/plugins/internal/snapshot"
)

// Lanes can be stored at any time, between StepOptions and Choose as well. A state
// fits lanes of the same agent with the same parameters, for tasks alike, and with
// the same options.

func (l *lanes[O]) saveLane(_ context.Context, i int) ([]byte, error) {
	x, err := l.fresh(i)
	if err != nil {
		return nil, err
	}
	if !l.lanes[i].started {
		return nil, laneError(i, framework.ErrNeedsReset, "no run has begun")
	}
	return l.of.Save(&l.lanes[i], x)
}

// loadLane restores what saveLane returned. After an error the lane is as it
// was.
func (l *lanes[O]) loadLane(_ context.Context, i int, state []byte) error {
	x, err := l.fresh(i)
	if err != nil {
		return err
	}
	if err := l.of.Load(x, state); err != nil {
		return err
	}
	l.lanes[i] = *x
	return nil
}

// fresh returns what lane i is when it has just been started.
func (l *lanes[O]) fresh(i int) (*lane[O], error) {
	if err := snapshot.Lane(i, len(l.lanes)); err != nil {
		return nil, err
	}
	x := l.kind.New()
	if l.offer != nil {
		if err := l.offer(x); err != nil {
			return nil, err
		}
	}
	x.Start(0)
	return &lane[O]{learner: x}, nil
}

func (l *optionLanes[O]) loadLane(ctx context.Context, i int, state []byte) error {
	if err := l.lanes.loadLane(ctx, i, state); err != nil {
		return err
	}
	l.learners[i] = l.lanes.lanes[i].learner.(OptionLearner[O])
	return nil
}
