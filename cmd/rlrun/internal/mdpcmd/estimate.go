package mdpcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/transitions"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/mdp"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
)

// estimateRuns is how many runs an estimate rests on: enough for a Student
// interval, and to spread the cost of a call to another process.
const estimateRuns = 64

// modelless is the error that an environment tells no model. It keeps the plugin
// open for who can do without.
type modelless struct {
	name   string
	plugin vector.Plugin
	params []byte
	close  func() error
}

func (e *modelless) Error() string {
	return e.name + ` has no known model: use rlrun mdp mixing, which can estimate without one; rlrun plugin inspect shows whether an environment has the capability "model"`
}

// estimate is what rollouts say of a policy in an environment without a model.
type estimate struct {
	name            string
	policyName      string
	policy          mdp.Policy
	states, actions int
	runs, steps     int
	taken           int // steps of all runs
	band            *mdp.MixingBand
	seen            [][]bool // pairs
	reward          result.Estimate
	visits          []result.Estimate
	max             bounds
	maxAt           mdp.Pair // of the estimate
	mean, meanAll   bounds
	meanHas         bool
}

// bounds are an estimate and what encloses it.
type bounds struct{ low, at, high float64 }

// refuseModelOnly refuses flags that need a model.
func (f *mdpFlags) refuseModelOnly(cmd *cobra.Command, name string) error {
	fs := cmd.Flags()
	for flag, is := range map[string]bool{"gamma": true, "horizon": true, "plot": true, "restart": !f.restart} {
		if fs.Changed(flag) && is {
			return cli.Usagef("--%s needs a model, and %s has no known model", flag, name)
		}
	}
	return nil
}

// estimate rolls out the policy, and where that leaves actions untried also a
// policy that half of the time takes any action.
func (f *mdpFlags) estimate(cmd *cobra.Command, m *modelless, o mdp.MixingOptions, steps int, root uint64) (*estimate, error) {
	if err := f.refuseModelOnly(cmd, m.name); err != nil {
		return nil, err
	}
	ctx := cmd.Context()
	open := func() (vector.Environment, error) {
		return m.plugin.OpenEnvironment(ctx, m.params, estimateRuns)
	}
	env, err := open()
	if err != nil {
		return nil, err
	}
	defer env.Close()
	spec := env.Spec()
	observation, ok := spec.Observation.(space.Discrete)
	action, discrete := spec.Action.(space.Discrete)
	if !ok || !discrete {
		return nil, cli.Usagef("%s has no known model, and without one mixing times can be estimated only where observations and actions are discrete", m.name)
	}
	if observation.N > exactStates || action.N > exactStates {
		return nil, cli.Usagef("%s has no known model, and its %d observations and %d actions are too many to count: at most %d", m.name, observation.N, action.N, exactStates)
	}
	e := &estimate{name: m.name, policyName: f.policy, states: int(observation.N), actions: int(action.N), runs: estimateRuns, steps: steps}
	if err := e.choose(cmd, f.policy); err != nil {
		return nil, err
	}
	sample, err := e.take(ctx, env, e.policy, root, 0)
	if err != nil {
		return nil, err
	}
	counts := sample.Counts
	if _, ok := e.policy.(mdp.Uniform); !ok {
		other, err := open()
		if err != nil {
			return nil, err
		}
		defer other.Close()
		curious, err := e.take(ctx, other, half{e.policy}, root, estimateRuns)
		if err != nil {
			return nil, err
		}
		counts = curious.Counts
	}
	return e, e.judge(sample, counts, o)
}

// half is a policy that takes any action half of the time.
type half struct{ mdp.Policy }

// Distribution implements mdp.Policy.
func (h half) Distribution(dst []float64, s int) {
	h.Policy.Distribution(dst, s)
	for a := range dst {
		dst[a] = dst[a]/2 + 0.5/float64(len(dst))
	}
}

// choose finds the policy: uniform, if none is given.
func (e *estimate) choose(cmd *cobra.Command, name string) (err error) {
	names := make([]string, e.actions)
	for a := range names {
		names[a] = fmt.Sprint(a)
		if name == names[a] {
			e.policyName, e.policy = "always "+name, mdp.Constant(e.states, a)
			return nil
		}
	}
	switch {
	case name == "uniform", name == "optimal" && !cmd.Flags().Changed("policy"):
		e.policyName, e.policy = "uniform", mdp.Uniform{}
		return nil
	case name == "optimal":
		return cli.Usagef("--policy optimal needs a model, and %s has no known model: give uniform, an action or a file", e.name)
	}
	e.policy, err = readPolicy(name, e.states, names, cmd.ErrOrStderr())
	return err
}

func (e *estimate) take(ctx context.Context, env vector.Environment, pi mdp.Policy, root uint64, first int) (*transitions.Sample, error) {
	s, err := transitions.Collect(ctx, env, estimateRuns, pi, transitions.Config{Root: root, First: first, Steps: e.steps})
	if err == nil {
		e.taken += s.Steps
	}
	return s, err
}

// judge works out what the counts, and the runs of the policy itself, say.
func (e *estimate) judge(own *transitions.Sample, counts *mdp.Counts, o mdp.MixingOptions) error {
	var err error
	if e.band, err = counts.MixingBand(e.policy, mdp.BandOptions{MixingOptions: o}); err != nil {
		return refused(err)
	}
	e.reward = result.EstimateMean(own.Rewards)
	e.max = bounds{math.Inf(-1), math.Inf(-1), math.Inf(-1)}
	over, weight := [2]bounds{}, [2]float64{}
	taken, share := make([]float64, e.actions), make([]float64, e.runs)
	for s := range e.states {
		for i := range share {
			share[i] = own.Visits[i][s]
		}
		e.visits = append(e.visits, result.EstimateMean(share))
		e.seen = append(e.seen, make([]bool, e.actions))
		e.policy.Distribution(taken, s)
		for a := range e.actions {
			if e.seen[s][a] = counts.N(s, a) > 0; !e.seen[s][a] {
				continue
			}
			t := bounds{duration(e.band.Low[s][a]), duration(e.band.Plugin.T[s][a]), duration(e.band.High[s][a])}
			if t.at > e.max.at {
				e.maxAt = mdp.Pair{S: s, A: a}
			}
			e.max = bounds{max(e.max.low, t.low), max(e.max.at, t.at), max(e.max.high, t.high)}
			for k, counted := range []bool{taken[a] == 0, true} {
				if w := e.visits[s].Mean; counted && w > 0 {
					over[k] = bounds{over[k].low + w*t.low, over[k].at + w*t.at, over[k].high + w*t.high}
					weight[k] += w
				}
			}
		}
	}
	if weight[1] == 0 {
		return fmt.Errorf("%s: no steps were seen; give more with --steps", e.name)
	}
	divide := func(k int) bounds {
		return bounds{over[k].low / weight[k], over[k].at / weight[k], over[k].high / weight[k]}
	}
	e.meanAll = divide(1)
	if e.meanHas = weight[0] > 0; e.meanHas {
		e.mean = divide(0)
	}
	return nil
}

// duration is T_ε as a number.
func duration(t int) float64 {
	if t == mdp.Never {
		return math.Inf(1)
	}
	return float64(t)
}

// unseen counts the pairs that are not known.
func (e *estimate) unseen() (n int) {
	for _, row := range e.seen {
		for _, is := range row {
			if !is {
				n++
			}
		}
	}
	return n
}

func (e *estimate) print(w io.Writer) error {
	fmt.Fprintf(w, "%s: %d %s, %d %s, no model: estimated from %d steps in %d runs; episodes follow each other.\nPolicy %s.\n\n",
		e.name, e.states, cli.Plural(e.states, "observation", "observations"), e.actions, cli.Plural(e.actions, "action", "actions"), e.taken, e.runs, e.policyName)
	var t cli.Table
	with := func(b bounds) string {
		return fmt.Sprintf("%s (%s to %s)", cli.Num(b.at), cli.Num(b.low), cli.Num(b.high))
	}
	t.Row("η", cli.Num(e.band.Eta), "a deviation is forgotten when the total variation is below")
	t.Row("ε", cli.Num(e.band.Epsilon), fmt.Sprintf("the same in the paper's scale, ε = 2η/|S| = 2η/%d", e.states))
	t.Gap()
	t.Row("T_ε", with(e.max), fmt.Sprintf("largest, for action %d in observation %d", e.maxAt.A, e.maxAt.S))
	if e.meanHas {
		t.Row("mean T_ε", with(e.mean), "over observations, weighted by visits, and actions that the policy does not take")
	}
	t.Row("mean, all", with(e.meanAll), "mean T_ε over observations, weighted by visits, and all actions")
	t.Row("reward", with(bounds{e.reward.Low, e.reward.Mean, e.reward.High}), "per step")
	io.WriteString(w, t.String())
	rows := [][]string{{"T_ε after", "visits"}}
	for a := range min(e.actions, 12) {
		rows[0] = append(rows[0], fmt.Sprint(a))
	}
	for s := range rowsOf(e.states) {
		row := []string{fmt.Sprint(s), fmt.Sprintf("%.4f ± %.4f", e.visits[s].Mean, e.visits[s].High-e.visits[s].Mean)}
		for a := range min(e.actions, 12) {
			text := "-"
			if e.seen[s][a] {
				text = fmt.Sprintf("%s (%s to %s)", steps(e.band.Plugin.T[s][a]), steps(e.band.Low[s][a]), steps(e.band.High[s][a]))
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	fmt.Fprintf(w, "\n%s%s", cli.Columns(rows), more(e.states))
	if n := e.unseen(); n > 0 {
		fmt.Fprintf(w, "  (- %d of %d pairs of observation and action did not occur)\n", n, e.states*e.actions)
	}
	_, err := fmt.Fprintln(w, "\nIn brackets: 95 % intervals. Those of T_ε hold for all pairs at once if observations are Markov states. More\n--steps make them narrower.")
	return err
}

func (e *estimate) json() map[string]any {
	out := map[string]any{
		"model": nil, "criterion": "average", "policy_name": e.policyName,
		"eta": e.band.Eta, "epsilon": e.band.Epsilon, "max_at": map[string]int{"state": e.maxAt.S, "action": e.maxAt.A},
		"max": cli.Number(e.max.at), "mean": nil, "mean_all": cli.Number(e.meanAll.at), "converged": true,
	}
	for _, key := range []string{"of_mean", "of_mean_all", "limit", "infinite", "why", "chain", "worst_case", "bias_span", "spectrum", "sample"} {
		out[key] = nil
	}
	interval := func(b bounds) map[string]any {
		return map[string]any{"low": cli.Number(b.low), "high": cli.Number(b.high)}
	}
	intervals := map[string]any{"max": interval(e.max), "mean": nil, "mean_all": interval(e.meanAll)}
	if e.meanHas {
		out["mean"], intervals["mean"] = cli.Number(e.mean.at), interval(e.mean)
	}
	table := func(times [][]int) [][]any {
		rows := make([][]any, e.states)
		for s := range rows {
			for a, seen := range e.seen[s] {
				var x any
				if seen {
					x = never(times[s][a])
				}
				rows[s] = append(rows[s], x)
			}
		}
		return rows
	}
	out["T"] = table(e.band.Plugin.T)
	out["estimate"] = map[string]any{
		"environment": e.name, "observations": e.states, "actions": e.actions, "runs": e.runs, "steps": e.taken, "seen": e.seen,
		"intervals": intervals, "T_low": table(e.band.Low), "T_high": table(e.band.High), "reward": e.reward, "visits": e.visits,
	}
	return out
}

// withoutModel is the modelless in an error, or nil.
func withoutModel(err error) *modelless {
	var m *modelless
	errors.As(err, &m)
	return m
}
