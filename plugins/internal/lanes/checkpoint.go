package lanes

import (
	"context"
	"fmt"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/plugins/internal/snapshot"
)

// Lanes can be stored at any time, between StepOptions and Choose as well. A state
// fits lanes of the same agent with the same parameters, for tasks alike, and with
// the same options.

func (l *lanes[O]) saveLane(_ context.Context, i int) ([]byte, error) {
	return l.save(i, l.of, l.fresh)
}

// loadLane restores what saveLane returned. After an error the lane is as it
// was.
func (l *lanes[O]) loadLane(_ context.Context, i int, state []byte) error {
	return l.load(i, state, l.of, l.fresh)
}

func (l *lanes[O]) save(i int, of snapshot.Of, fresh func() (*lane[O], error)) ([]byte, error) {
	if err := snapshot.Lane(i, len(l.lanes)); err != nil {
		return nil, err
	}
	if !l.lanes[i].started {
		return nil, &vector.LaneError{Lane: i, Err: fmt.Errorf("no run has begun: %w", framework.ErrNeedsReset)}
	}
	x, err := fresh()
	if err != nil {
		return nil, err
	}
	return of.Save(&l.lanes[i], x)
}

func (l *lanes[O]) load(i int, state []byte, of snapshot.Of, fresh func() (*lane[O], error)) error {
	if err := snapshot.Lane(i, len(l.lanes)); err != nil {
		return err
	}
	x, err := fresh()
	if err != nil {
		return err
	}
	if err := of.Load(x, state); err != nil {
		return err
	}
	l.lanes[i] = *x
	return nil
}

// fresh returns a lane that has just been started.
func (l *lanes[O]) fresh() (*lane[O], error) {
	x := l.kind.New()
	x.Start(0)
	return &lane[O]{learner: x}, nil
}

func (l *optionLanes[O]) saveLane(_ context.Context, i int) ([]byte, error) {
	return l.save(i, l.of(), l.fresh)
}

func (l *optionLanes[O]) loadLane(_ context.Context, i int, state []byte) error {
	if err := l.load(i, state, l.of(), l.fresh); err != nil {
		return err
	}
	l.learners[i] = l.lanes.lanes[i].learner.(OptionLearner[O])
	return nil
}

func (l *optionLanes[O]) of() snapshot.Of {
	offered := "none"
	if l.offered {
		offered = fmt.Sprintf("%v", l.kinds)
	}
	return append(l.lanes.of[:len(l.lanes.of):len(l.lanes.of)], snapshot.Part{Name: "choice of options", Value: offered})
}

func (l *optionLanes[O]) fresh() (*lane[O], error) {
	x := l.kind.New().(OptionLearner[O])
	if l.offered {
		if err := x.SetOptionKinds(l.kinds); err != nil {
			return nil, err
		}
	}
	x.Start(0)
	return &lane[O]{learner: x}, nil
}
