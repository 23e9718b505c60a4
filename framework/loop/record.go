package loop

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/internal/modelcheck"
	"github.com/rlrun/rlrun/framework/metric"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/mdp"
)

// Explorer is an agent that says when it explores, as one whose exploration the
// host decides does.
type Explorer interface {
	// Exploration returns how many of the actions that a lane has selected in its
	// run were exploratory, and for how many steps it holds an option at present.
	Exploration(lane int) (explored, hold int)
	// Decisions returns what is kept of the decisions of a lane's run, once it is
	// over. The slice belongs to the caller.
	Decisions(lane int) []result.Decision
}

// recorder turns steps into curves on the grid.
type recorder struct {
	batch    *Batch
	explorer Explorer // nil if the agent is none
	actors   int      // lanes of a run
	hot      []running
	lanes    []laneRecord
	returns  []float64 // of each actor's episode so far
	// gaps holds, for lanes whose model has one state, the optimal expected
	// reward minus that of each action, arms entries per lane; nil where no lane
	// has such a model.
	gaps     []float64
	arms     int
	first    int64 // smallest action
	discount float64
	// needsModels says that some metric is computed from the environment's models.
	needsModels bool
	alone       bool // lanes step by themselves
	// watched are the models that are compared with the steps of their lanes: nil for a lane without a model of
	// its states and actions. There are none where lanes step by themselves.
	watched []*mdp.Tabular
	states  []int64 // observations before the step
	// recommends says that some metric is computed from what the agent recommends.
	recommends bool
	meters     []meter
	due        []int // lanes at a grid point, to be measured
}

// running is what every step of a run changes: one cache line.
type running struct {
	steps, nextAt int // step number, and that of the next grid point, snapshot or the end
	sums          sums
	choices       choices
}

// sums are those of rewards.
type sums struct {
	window     float64 // since the last grid point
	episode    float64 // return of the episode so far, of the actor whose step was added last
	discounted float64
	weight     float64 // γ^steps
}

// choices compare actions with the best one.
type choices struct {
	regret  float64
	optimal int // since the last grid point
}

// laneRecord is what changes at grid points and the ends of episodes.
type laneRecord struct {
	point    int           // index of the next grid point
	window   metric.Window // since the last grid point; most of it is set at the next one
	episodes int
	recent   []float64 // returns of the last finished episodes; nil if no metric needs them
	explored int       // exploratory actions up to the last grid point
	modeled  bool
	// bestReturn is the optimal expected return of an episode, and truncates says that it is for truncated ones.
	bestReturn float64
	truncates  bool
	curves     []curve
	evaluated  []evaluated // in the order of their steps
}

type curve struct {
	metric result.Metric
	at     func(*metric.Window) float64
	points []float64
}

func newRecorder(b *Batch) *recorder {
	r := &recorder{batch: b, actors: max(b.Actors, 1), hot: make([]running, len(b.Runs)), lanes: make([]laneRecord, len(b.Runs)), discount: b.Discount}
	r.returns = make([]float64, len(b.Runs)*r.actors)
	r.explorer, _ = b.Agent.(Explorer)
	r.meters = newMeters(b)
	if d, ok := b.Environment.Spec().Action.(space.Discrete); ok {
		r.first = d.Start
	}
	var curves []curve
	recent := false
	for _, m := range b.Metrics {
		if m.OfPlugin() { // a meter reads it
			continue
		}
		d := metric.Define(m)
		c := curve{metric: m, at: d.At}
		if d.At == nil {
			c.at = never
		}
		curves = append(curves, c)
		r.needsModels = r.needsModels || d.Model
		recent = recent || m == metric.EpisodeReturn
		r.recommends = r.recommends || (m == metric.SimpleRegret || m == metric.RecommendationError) && vector.Recommends(b.Agent)
	}
	points := len(b.Grid)
	for i := range r.lanes {
		l := &r.lanes[i]
		r.hot[i].sums.weight = 1
		nan := math.NaN()
		if recent {
			l.recent = make([]float64, 0, metric.RecentEpisodes)
		}
		l.window = metric.Window{Recent: nan, Gaps: nan, Optimal: nan, Gain: nan, Shortfall: nan, Explored: nan, Hold: nan}
		l.curves = slices.Clone(curves)
		room := make([]float64, len(curves)*points)
		for k := range l.curves {
			l.curves[k].points = room[k*points : k*points : (k+1)*points]
		}
		r.hot[i].nextAt = r.nextAt(i)
	}
	return r
}

// never is the value of a metric that no recorder makes.
func never(*metric.Window) float64 { return math.NaN() }

// over says whether the run of a lane is.
func (r *recorder) over(lane int) bool {
	return r.hot[lane].steps == r.batch.Steps || r.batch.Episodes > 0 && r.lanes[lane].episodes == r.batch.Episodes
}

// work is what all runs have made.
func (r *recorder) work() (made Work) {
	for i := range r.lanes {
		made.Steps += r.hot[i].steps
		switch {
		case r.batch.Episodes == 0:
			made.Units += r.hot[i].steps
		case r.over(i):
			made.Units += r.batch.Episodes
		default:
			made.Units += r.lanes[i].episodes
		}
	}
	return made
}

// pointAfter is the least grid point that a lane's last step can be at or before. ended says that the step ended an episode.
func (r *recorder) pointAfter(lane int, ended bool) int {
	if r.batch.Episodes == 0 {
		return r.hot[lane].steps
	}
	return r.lanes[lane].episodes + one(!ended)
}

// nextAt returns the step number of a lane's next grid point or snapshot, or of the
// run's end if there is none before. It knows none of episodes.
func (r *recorder) nextAt(lane int) int {
	if r.batch.Episodes > 0 {
		return r.batch.Steps
	}
	next := r.batch.nextSnapshot(r.hot[lane].steps, r.batch.Steps)
	if point := r.lanes[lane].point; point < len(r.batch.Grid) {
		next = min(next, r.batch.Grid[point])
	}
	return next
}

// negligible is a discount weight that adds nothing to any sum a float64 holds.
const negligible = 1e-290

// step adds one step to every lane that made one. special is true if some lane
// needs more work: it began or ended an episode, or reached a grid point or the
// end of its run. The steps of several actors are left to add.
func (r *recorder) step(in *vector.Actions, out *vector.Feedback) (special bool) {
	if r.actors > 1 {
		return true
	}
	n := len(in.Signals)
	hot, rewards, terminated, truncated := r.hot[:n], out.Rewards[:n], out.Terminated[:n], out.Truncated[:n]
	gaps, discount := r.gaps, r.discount
	var actions []int64
	if gaps != nil {
		actions = in.Actions.Int64[:n]
	}
	for i, s := range in.Signals {
		if s != vector.Continue {
			special = special || s != vector.Idle
			continue
		}
		l := &hot[i]
		l.sums = l.sums.plus(rewards[i], discount)
		if gaps != nil {
			l.choices = l.choices.plus(gaps[i*r.arms+int(actions[i]-r.first)])
		}
		if l.steps++; l.steps == l.nextAt || terminated[i] || truncated[i] {
			special = true
		}
	}
	return special
}

// add adds the step of one of several actors to its run.
func (r *recorder) add(lane int, in *vector.Actions, out *vector.Feedback) {
	l := &r.hot[lane/r.actors]
	l.sums.episode = r.returns[lane]
	l.sums = l.sums.plus(out.Rewards[lane], r.discount)
	if gaps := r.laneGaps(lane); gaps != nil {
		l.choices = l.choices.plus(gaps[in.Actions.Int64[lane]-r.first])
	}
	l.steps++
}

// stretch adds steps of one lane. Only the last of them may be at a grid point or end
// an episode. The sums stay in registers meanwhile. One loop adds to all of them, since
// then the processor adds to one while it waits for another.
func (r *recorder) stretch(lane int, actions []int64, rewards []float64) {
	l, discount, first := &r.hot[lane], r.discount, r.first
	s, c, gaps := l.sums, l.choices, r.laneGaps(lane)
	actions = actions[:len(rewards)]
	if gaps == nil {
		for _, x := range rewards {
			s = s.plus(x, discount)
		}
	} else {
		for k, x := range rewards {
			s, c = s.plus(x, discount), c.plus(gaps[actions[k]-first])
		}
	}
	l.sums, l.choices = s, c
	l.steps += len(rewards)
}

// plus returns the sums with one more reward.
func (s sums) plus(reward, discount float64) sums {
	s.window += reward
	s.episode += reward
	s.discounted += s.weight * reward
	if s.weight *= discount; s.weight < negligible {
		s.weight = 0 // before it turns subnormal, which processors are slow at
	}
	return s
}

// plus returns the choices with one more action, which has a gap.
func (c choices) plus(gap float64) choices {
	c.regret += gap
	c.optimal += one(gap == 0)
	return c
}

// laneGaps returns the gaps of a lane's actions, or nil.
func (r *recorder) laneGaps(lane int) []float64 {
	if r.gaps == nil {
		return nil
	}
	return r.gaps[lane*r.arms : (lane+1)*r.arms]
}

// one returns 1 for true, else 0. It compiles to no branch, which where agents
// explore nothing could predict.
func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (r *recorder) endEpisode(i int, truncated bool) {
	l := &r.lanes[i]
	l.window.Shortfall += l.bestReturn - r.hot[i].sums.episode
	if truncated && !l.truncates {
		l.window.Shortfall = math.NaN() // the best return is that of episodes which are not truncated
	}
	if n := cap(l.recent); len(l.recent) < n {
		l.recent = append(l.recent, r.hot[i].sums.episode)
	} else if n > 0 {
		l.recent[l.episodes%n] = r.hot[i].sums.episode
	}
	r.hot[i].sums.episode = 0
	l.window.Episodes++
	l.episodes++
}

// learnModels asks the environment for its models, if it knows them and a
// metric needs them.
func (r *recorder) learnModels(ctx context.Context, env vector.Environment) error {
	read := env.Abilities().Models
	if !r.needsModels || read == nil {
		return nil
	}
	models, err := read(ctx)
	if err != nil {
		return fmt.Errorf("environment, models: %w", err)
	}
	if len(models) != len(r.returns) {
		return fmt.Errorf("environment: %d models for %d lanes: %w", len(models), len(r.returns), framework.ErrInvalidAnswer)
	}
	r.watch(env.Spec(), models)
	gains, returns := map[*mdp.Tabular]float64{}, map[*mdp.Tabular]float64{} // lanes may share a model
	for lane, m := range models {
		if m == nil {
			continue
		}
		i := lane / r.actors
		if w := &r.lanes[i].window; !env.Spec().Continuing && slices.Contains(r.batch.Metrics, metric.EpisodeRegret) {
			if _, known := returns[m]; !known {
				returns[m] = m.OptimalReturn()
			}
			r.lanes[i].bestReturn, r.lanes[i].truncates = returns[m], m.EpisodeSteps() > 0
			w.Shortfall = 0 * returns[m] // not a number if the return is none
		}
		if m.NumStates() > 1 {
			if _, known := gains[m]; !known {
				gains[m] = math.NaN()
				if env.Spec().Continuing {
					gains[m] = m.OptimalGain()
				}
			}
			r.lanes[i].window.Gain = gains[m]
			continue
		}
		if r.gaps == nil {
			r.arms = m.NumActions()
			r.gaps = make([]float64, len(models)*r.arms)
		}
		gaps(r.laneGaps(lane), m)
		r.lanes[i].modeled = true
	}
	return nil
}

// watch makes follow compare steps with models.
func (r *recorder) watch(spec framework.Spec, models []*mdp.Tabular) {
	if r.alone {
		return
	}
	for i, m := range models {
		if m == nil {
			continue
		}
		if _, _, ok := modelcheck.Enumerates(&spec, m); ok {
			if r.watched == nil {
				r.watched = make([]*mdp.Tabular, len(models))
			}
			r.watched[i] = m
		}
	}
}

// follow refuses steps that the models do not allow, since what is computed from them would be wrong.
func (r *recorder) follow(spec *framework.Spec, in *vector.Actions, out *vector.TimeSteps) error {
	for i, m := range r.watched {
		if m == nil || in.Signals[i] == vector.Idle {
			continue
		}
		start, action, _ := modelcheck.Enumerates(spec, m)
		var err error
		if next := int(out.Observations.Int64[i] - start); in.Signals[i] != vector.Continue {
			err = modelcheck.Start(m, next)
		} else {
			_, err = modelcheck.Step(m, int(r.states[i]-start), int(in.Actions.Int64[i]-action), next, out.Rewards[i], out.Terminated[i])
		}
		if err != nil {
			return inLane(i, fmt.Errorf("%w: it does not follow the model that it gives: %w", framework.ErrInvalidAnswer, err))
		}
	}
	return nil
}

// KnowsOptimum tells whether a model gives a metric of an environment whose tasks continue or end.
func KnowsOptimum(m *mdp.Tabular, continuing bool, of result.Metric) bool {
	switch of {
	case metric.EpisodeRegret:
		return !continuing && !math.IsNaN(m.OptimalReturn())
	case metric.Regret:
		return m.NumStates() == 1 || continuing && !math.IsNaN(m.OptimalGain())
	}
	return m.NumStates() == 1
}

// gaps fills dst with Δ_a = max_b r(0,b) − r(0,a) of a one-state model, the
// expected regret of one pull of each arm (Lattimore & Szepesvári 2020, §4.5). A mean that is
// less than the largest by rounding only, as 0.3 is less than 0.1 + 0.2, has no gap.
func gaps(dst []float64, m *mdp.Tabular) {
	best := math.Inf(-1)
	for a := range dst {
		dst[a] = m.Reward(0, a)
		best = max(best, dst[a])
	}
	for a := range dst {
		if dst[a] = best - dst[a]; dst[a] <= 1e-14*math.Abs(best) {
			dst[a] = 0
		}
	}
}

// flush adds a point to every curve of lane i, if it stands at a grid point.
func (r *recorder) flush(ctx context.Context, i int) (err error) {
	l, h := &r.lanes[i], &r.hot[i]
	at := h.steps
	if r.batch.Episodes > 0 {
		at = l.episodes
	}
	if l.point == len(r.batch.Grid) || at != r.batch.Grid[l.point] {
		h.nextAt = r.nextAt(i)
		return nil
	}
	w := &l.window
	if w.Recommended, err = r.recommended(ctx, i); err != nil {
		return err
	}
	w.Step, w.Width = h.steps, float64(h.steps-w.Step)
	w.Reward, w.Total, w.Discounted = h.sums.window, w.Total+h.sums.window, h.sums.discounted
	if len(l.recent) > 0 && w.Episodes > 0 {
		sum := 0.0
		for _, x := range l.recent {
			sum += x
		}
		w.Recent = sum / float64(len(l.recent))
	}
	if l.modeled {
		w.Gaps, w.Optimal = h.choices.regret, float64(h.choices.optimal)
	}
	if r.explorer != nil {
		explored, hold := r.explorer.Exploration(i)
		w.Explored, w.Hold = float64(explored-l.explored), float64(hold)
		l.explored = explored
	}
	for k := range l.curves {
		c := &l.curves[k]
		c.points = append(c.points, c.at(w))
	}
	if len(r.meters) > 0 {
		r.due = append(r.due, i)
	}
	h.sums.window, h.choices.optimal, w.Episodes = 0, 0, 0
	l.point++
	h.nextAt = r.nextAt(i)
	return nil
}

// outcomes returns what every lane yielded. The curves of a run that ended before its last episode
// have no values from there on.
func (r *recorder) outcomes() []Outcome {
	out := r.unfinished()
	for i := range out {
		o := &out[i]
		for m, points := range o.Curves {
			o.Curves[m] = append(points, slices.Repeat([]float64{math.NaN()}, len(r.batch.Grid)-len(points))...)
		}
		if e := r.batch.Evaluation; e != nil {
			o.Curves[e.metric(r.batch.Environment.Spec())] = onGrid(r.lanes[i].evaluated, r.batch.Grid)
		}
		if r.explorer != nil {
			o.Decisions = r.explorer.Decisions(i)
		}
	}
	return out
}

// unfinished returns what every lane has yielded up to its last grid point; of its evaluations,
// which several lanes make together, up to the last point that waits for none. A curve that
// never had a value (a metric the environment cannot give) is left out.
func (r *recorder) unfinished() []Outcome {
	out := make([]Outcome, len(r.lanes))
	for i := range r.lanes {
		l := &r.lanes[i]
		o := Outcome{Run: r.batch.Runs[i], Steps: r.hot[i].steps, Episodes: l.episodes, Curves: map[result.Metric][]float64{}}
		for _, c := range l.curves {
			if slices.ContainsFunc(c.points, func(x float64) bool { return !math.IsNaN(x) }) {
				o.Curves[c.metric] = c.points
			}
		}
		for k := range r.meters {
			r.meters[k].addTo(o.Curves, i)
		}
		if e := r.batch.Evaluation; e != nil {
			o.Curves[e.metric(r.batch.Environment.Spec())] = e.known(l.evaluated, r.batch.Grid[:l.point])
		}
		out[i] = o
	}
	return out
}
