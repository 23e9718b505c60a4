package loop

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
)

// Checkpoint is a run under way. It holds the agent, the recorder and all actions. The environment
// gets these actions again, with the seeds of their episodes, and then the run goes on. Its fields are
// exported for encoding/gob; only this package reads them. All numbers that may be −0 are in slices, in which gob
// keeps the sign.
type Checkpoint struct {
	Step        int         // steps made, at least 1
	Calls       int         // calls of the environment: steps and beginnings of episodes
	Actions     [][]byte    // of all steps of each actor
	Sums        []uint64    // of all rewards and the last time step of each
	Agent       []byte      // state of its lane, or of several actors, which has not learned the last time step
	Numbers     []float64   // of the recorder
	Counts      []int       // of the recorder
	Recent      []float64   // returns of episodes
	Curves      [][]float64 // of the recorder, then of its meters
	EvaluatedAt []int       // points of evaluations: see evaluated
	Evaluated   []float64   // their values
}

// Checkpoints say when runs under way are kept, and from where they go on.
type Checkpoints struct {
	Units int           // between checkpoints, counted in the run that is furthest: steps, or with Batch.Episodes episodes; 0: Every counts
	Every time.Duration // between checkpoints
	Keep  func(run int, c *Checkpoint)
	// From returns the checkpoint from which a run goes on; nil if it is to begin.
	From func(run int) *Checkpoint
}

// ErrCheckpoint: a run cannot go on from its checkpoint.
var ErrCheckpoint = errors.New("the run cannot go on from its checkpoint")

// history is what is remembered of the lanes of a batch whose runs are kept.
type history struct {
	*batchRun
	logs []logged // of lanes
	kept []int    // of runs: steps of the last checkpoint
	part int      // of the budget, in Checkpoints.Units, when the last were made
	last time.Time
}

// logged are the actions of a lane, and the sum of its rewards.
type logged struct {
	actions []byte
	sum     uint64
	steps   int
}

func newHistory(x *batchRun) *history {
	c := x.batch.Checkpoints
	if c == nil {
		return nil
	}
	return &history{batchRun: x, logs: make([]logged, len(x.returns)), kept: make([]int, len(x.batch.Runs)), last: time.Now()}
}

// Mix adds x to a sum (the multiplication of Fowler, Noll and Vo, and a shift).
func Mix(sum, x uint64) uint64 {
	sum = (sum ^ x) * 0x100000001b3
	return sum ^ sum>>29
}

// step remembers a step of every lane that made one.
func (h *history) step() {
	if h == nil {
		return
	}
	_, discrete := h.spec.Action.(space.Discrete)
	for i, s := range h.logs {
		switch {
		case h.actions.Signals[i] != vector.Continue:
			continue
		case discrete:
			s.actions = binary.AppendVarint(s.actions, h.actions.Actions.Int64[i])
		default:
			one := h.actions.Actions.Lane(i)
			s.actions = one.AppendBytes(s.actions)
		}
		h.logs[i] = logged{s.actions, Mix(s.sum, math.Float64bits(h.feedback.Rewards[i])), s.steps + 1}
	}
}

// stretch remembers steps of one lane.
func (h *history) stretch(lane int, actions []int64, rewards []float64) {
	if h == nil {
		return
	}
	s := &h.logs[lane]
	for k, a := range actions {
		s.actions, s.sum = binary.AppendVarint(s.actions, a), Mix(s.sum, math.Float64bits(rewards[k]))
	}
	s.steps += len(actions)
}

// read takes the first action off a lane's log, into the columns.
func (h *history) read(lane int, log []byte) (rest []byte, err error) {
	one := h.actions.Actions.Lane(lane)
	n := min(len(log), one.Width*one.Type.Size())
	if _, discrete := h.spec.Action.(space.Discrete); !discrete {
		err = one.SetBytes(log[:n])
	} else if one.Int64[0], n = binary.Varint(log); n <= 0 {
		err = errors.New("the actions are cut off")
	}
	if err == nil {
		err = h.spec.Action.Check(&h.actions.Actions, lane)
	}
	if err != nil {
		return nil, err
	}
	return log[n:], nil
}

// sum is that of all rewards of a lane and of its last time step.
func (h *history) sum(lane int) uint64 {
	f, sum := h.feedback, h.logs[lane].sum
	sum = Mix(sum, uint64(one(f.Terminated[lane])+2*one(f.Truncated[lane])))
	last := f.Observations.Lane(lane)
	for _, b := range last.AppendBytes(nil) {
		sum = Mix(sum, uint64(b))
	}
	return sum
}

// most returns the steps of the run that has made most, with a budget in episodes the most that ended.
func (h *history) most() (units int) {
	for i := range h.hot {
		if h.batch.Episodes > 0 {
			units = max(units, h.lanes[i].episodes)
		} else {
			units = max(units, h.hot[i].steps)
		}
	}
	return units
}

// look keeps the runs if it is time to. It returns in how many calls to look again at the latest, 0 for any.
func (h *history) look(ctx context.Context, now time.Time) (within int, err error) {
	if h == nil {
		return 0, nil
	}
	c := h.batch.Checkpoints
	most := h.most()
	part := most / max(c.Units, 1)
	if due := c.Units > 0 && part > h.part || c.Units == 0 && now.Sub(h.last) >= c.Every; due {
		if err := h.keep(ctx); err != nil {
			return 0, err
		}
		h.part, h.last = part, time.Now()
	}
	if c.Units == 0 {
		return 0, nil
	}
	return c.Units - most%c.Units, nil // an episode has at least a step
}

// keep makes checkpoints of all runs that have made steps since the last ones.
func (h *history) keep(ctx context.Context) error {
	if err := h.taken.evaluate(ctx); err != nil {
		return err
	}
	for i, run := range h.batch.Runs {
		steps := h.hot[i].steps
		if steps == h.kept[i] {
			continue
		}
		first := i * h.actors
		state, err := vector.Save(ctx, h.batch.Agent, first)
		if err != nil {
			return fmt.Errorf("agent: %w", inLane(first, fmt.Errorf("saving: %w", err)))
		}
		began := int(h.episode[first]) + 1 - one(h.feedback.Terminated[first] || h.feedback.Truncated[first])
		l := &h.lanes[i]
		c := &Checkpoint{Step: steps, Calls: h.logs[first].steps + began, Agent: state, Recent: l.recent}
		for lane := first; lane < first+h.actors; lane++ {
			c.Actions, c.Sums = append(c.Actions, h.logs[lane].actions), append(c.Sums, h.sum(lane))
		}
		for _, x := range h.numbers(i) {
			c.Numbers = append(c.Numbers, *x)
		}
		for _, x := range h.counts(i) {
			c.Counts = append(c.Counts, *x)
		}
		for _, points := range h.points(i) {
			c.Curves = append(c.Curves, *points)
		}
		for _, e := range l.evaluated {
			c.EvaluatedAt, c.Evaluated = append(c.EvaluatedAt, e.point), append(c.Evaluated, e.value)
		}
		h.batch.Checkpoints.Keep(run, c)
		h.kept[i] = steps
	}
	return nil
}

// numbers, counts and points are what changes in a lane of the recorder.
func (r *recorder) numbers(i int) []*float64 {
	s, w := &r.hot[i].sums, &r.lanes[i].window
	all := []*float64{
		&s.window, &s.episode, &s.discounted, &s.weight, &r.hot[i].choices.regret, &w.Width, &w.Reward, &w.Total, &w.Discounted,
		&w.Recent, &w.Gaps, &w.Optimal, &w.Gain, &w.Shortfall, &w.Explored, &w.Hold,
	}
	for lane := i * r.actors; lane < (i+1)*r.actors; lane++ {
		all = append(all, &r.returns[lane])
	}
	return all
}

func (r *recorder) counts(i int) []*int {
	h, l := &r.hot[i], &r.lanes[i]
	return []*int{&h.steps, &h.choices.optimal, &l.point, &l.episodes, &l.explored, &l.window.Step, &l.window.Episodes}
}

func (r *recorder) points(i int) (all []*[]float64) {
	for k := range r.lanes[i].curves {
		all = append(all, &r.lanes[i].curves[k].points)
	}
	for k := range r.meters {
		n := len(r.meters[k].measures.Metrics)
		for m := range n {
			all = append(all, &r.meters[k].curves[i*n+m])
		}
	}
	return all
}

// resume begins runs, or goes on with them from their checkpoints. It returns how many steps these had made; without
// any checkpoint it does nothing.
func (h *history) resume(ctx context.Context) (steps int, err error) {
	if h == nil {
		return 0, nil
	}
	from := make([]*Checkpoint, len(h.batch.Runs))
	for i, run := range h.batch.Runs {
		if from[i] = h.batch.Checkpoints.From(run); from[i] != nil {
			steps += from[i].Step
		}
	}
	if steps == 0 {
		return 0, nil
	}
	refuse := func(i int, err error) error { return inLane(i*h.actors, fmt.Errorf("%w: %w", ErrCheckpoint, err)) }
	if err := h.replay(ctx, from, refuse); err != nil {
		return 0, err
	}
	for i, c := range from {
		if c == nil {
			continue
		}
		if !h.fits(i, c) {
			return 0, refuse(i, errors.New("it is of another recorder"))
		}
		if err := vector.Load(ctx, h.batch.Agent, i*h.actors, c.Agent); err != nil {
			return 0, refuse(i, fmt.Errorf("loading the agent: %w", err))
		}
		numbers, counts, points := h.numbers(i), h.counts(i), h.points(i)
		for k, x := range numbers {
			*x = c.Numbers[k]
		}
		for k, x := range counts {
			*x = c.Counts[k]
		}
		for k, x := range points {
			*x = append((*x)[:0], c.Curves[k]...)
		}
		l := &h.lanes[i]
		l.recent, l.evaluated = append(l.recent[:0], c.Recent...), nil
		for k, point := range c.EvaluatedAt {
			l.evaluated = append(l.evaluated, evaluated{point, c.Evaluated[k]})
		}
		h.kept[i], h.hot[i].nextAt = c.Step, h.nextAt(i)
		if h.over(i) {
			h.idle(i)
		}
	}
	h.part = h.most() / max(h.batch.Checkpoints.Units, 1)
	return steps, nil
}

// fits says whether what a checkpoint has of the recorder can be that of a lane whose calls were made again. A file that somebody
// sent may hold anything.
func (h *history) fits(i int, c *Checkpoint) bool {
	if c.Step > h.batch.Steps || len(c.Numbers) != len(h.numbers(i)) || len(c.Counts) != len(h.counts(i)) || len(c.Curves) != len(h.points(i)) || len(c.Evaluated) != len(c.EvaluatedAt) {
		return false
	}
	var was recorder // whose counts are those of the checkpoint
	was.hot, was.lanes = make([]running, 1), make([]laneRecord, 1)
	for k, x := range was.counts(0) {
		*x = c.Counts[k]
	}
	l, done, at, steps, ended := &was.lanes[0], 0, c.Step, 0, 0
	for lane := i * h.actors; lane < (i+1)*h.actors; lane++ { // those after the run's last step do not count
		steps, ended = steps+h.logs[lane].steps, ended+int(h.episode[lane])
	}
	of := func(counted, made int) bool { return counted <= made && made < counted+h.actors }
	if h.batch.Episodes > 0 {
		at = l.episodes
	}
	for done < len(h.batch.Grid) && h.batch.Grid[done] <= at {
		done++
	}
	other := func(points []float64) bool { return len(points) != done }
	return was.hot[0].steps == c.Step && of(c.Step, steps) && l.point == done && of(l.episodes, ended) && !slices.ContainsFunc(c.Curves, other) &&
		len(c.Recent) == min(l.episodes, cap(h.lanes[i].recent))
}

// replay makes the calls of the environment again, and begins the runs that have none. The columns are left as after
// the last call of each lane.
func (h *history) replay(ctx context.Context, from []*Checkpoint, refuse func(int, error) error) error {
	b, in, n := h.batch, h.actions, len(h.logs)
	calls, left, last := make([]int, n), make([][]byte, n), make([]vector.Signal, n)
	for i, c := range from {
		switch {
		case c == nil:
		case len(c.Actions) != h.actors || len(c.Sums) != h.actors:
			return refuse(i, fmt.Errorf("it is of %d actors", len(c.Actions)))
		default:
			copy(left[i*h.actors:], c.Actions)
		}
	}
	due, points := []int(nil), make([]int, n)
	for call := 0; ; call++ {
		if err := context.Cause(ctx); call%64 == 0 && err != nil {
			return err
		}
		going := false
		for i := range h.logs {
			c, ended := from[i/h.actors], h.feedback.Terminated[i] || h.feedback.Truncated[i]
			switch {
			case calls[i] == 0:
				in.Signals[i] = vector.NewRun
			case c == nil || calls[i] == c.Calls:
				in.Signals[i] = vector.Idle
				continue
			case ended:
				h.episode[i]++
				h.begin(i, vector.NewEpisode)
			default:
				var err error
				if left[i], err = h.read(i, left[i]); err != nil {
					return refuse(i/h.actors, err)
				}
				in.Signals[i] = vector.Continue
			}
			calls[i]++
			last[i], going = in.Signals[i], true
		}
		if !going {
			break
		}
		if err := stepEnvironment(ctx, b.Environment, &h.spec, in, &h.feedback.TimeSteps); err != nil {
			err = fmt.Errorf("environment, call %d, from a checkpoint: %w", call+1, err)
			if lane, ok := errors.AsType[*vector.LaneError](err); ok && from[lane.Lane/h.actors] != nil { // it took these actions before
				err = fmt.Errorf("%w: %w", ErrCheckpoint, err)
			}
			return err
		}
		h.step()
		if call == 0 {
			if err := h.learnModels(ctx, b.Environment); err != nil {
				return err
			}
		}
		due = due[:0]
		for i, s := range in.Signals {
			at := h.logs[i].steps
			if b.Episodes > 0 {
				at = int(h.episode[i]) + one(h.feedback.Terminated[i] || h.feedback.Truncated[i])
			}
			if s == vector.Continue && points[i] < len(b.Grid) && at == b.Grid[points[i]] {
				points[i]++
				due = append(due, i)
			}
		}
		if err := h.measureAgain(ctx, due); err != nil {
			return err
		}
	}
	for i := range h.logs {
		run := i / h.actors
		if c := from[run]; c != nil && (len(left[i]) > 0 || h.sum(i) != c.Sums[i%h.actors]) {
			return refuse(run, errors.New("the environment, which got the same actions and seeds, took another course"))
		}
		if h.feedback.Signals[i] = last[i]; last[i] == vector.NewRun && b.Start != nil {
			h.feedback.Signals[i] = vector.NewEpisode // the agents are there
		}
		in.Signals[i] = vector.Continue
		if h.feedback.Terminated[i] || h.feedback.Truncated[i] {
			h.episode[i]++
			h.begin(i, vector.NewEpisode)
		}
	}
	return nil
}

// measureAgain reads the environment's metrics of lanes, as some count since the last time that they were read.
func (r *recorder) measureAgain(ctx context.Context, lanes []int) error {
	for k := range r.meters {
		x := &r.meters[k]
		if len(lanes) == 0 || x.side != result.EnvironmentMetrics {
			continue
		}
		if err := x.measures.Read(ctx, lanes, slices.Repeat([]float64{0}, len(lanes)*len(x.measures.Metrics))); err != nil {
			return fmt.Errorf("%s, metrics: %w", x.side, err)
		}
	}
	return nil
}
