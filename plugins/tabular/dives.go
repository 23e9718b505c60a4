package tabular

import (
	"context"
	"math"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/vector"
)

// dives are the episodes of a lane's run so far.
type dives struct {
	episodes, bad int
	left          bool // the way to the treasure, in this episode
	solved        int  // the episode at whose end the run had solved the task; 0 if none was
}

// dive judges an action of a lane in a state, and the episode if it is over.
func (l *lanes) dive(x *lane, state, action int) {
	d, by := &x.dives, l.task.Dives
	d.left = d.left || by.Way[state] >= 0 && by.Way[state] != action
	if !x.over {
		return
	}
	d.episodes++
	if d.left {
		d.bad++
	}
	d.left = false
	if d.solved == 0 && d.episodes >= by.From && float64(d.bad)/float64(d.episodes) < by.MostBad {
		d.solved = d.episodes
	}
}

// diveMeasures are the metrics of judged episodes.
func (l *lanes) diveMeasures() *vector.Measures {
	metrics := []framework.Metric{
		{Name: "bad_episodes", Unit: "episodes", Better: framework.Lower, Total: framework.Last, Doc: "Finished episodes so far in which an action left the way to the treasure."},
		{Name: "solved_at", Unit: "episodes", Better: framework.Lower, Total: framework.Time, Doc: "First episode at whose end the share of bad episodes was so small that the task counts as solved."},
	}
	return &vector.Measures{Metrics: metrics, Read: func(_ context.Context, of []int, dst []float64) error {
		for k, i := range of {
			d := &l.states[i].dives
			dst[2*k], dst[2*k+1] = float64(d.bad), math.NaN()
			if d.solved > 0 {
				dst[2*k+1] = float64(d.solved)
			}
		}
		return nil
	}}
}
