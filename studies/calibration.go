package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/explore"
	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/output/plots"
	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/stat"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/options"
	"github.com/rlrun/rlrun/plugins"
	"github.com/rlrun/rlrun/plugins/families"
)

// The study "calibration" asks whether P(D ≥ δ) in a learner's members is the probability that it is
// meant to be. D is by how much an option is better than the greedy one, per step. Of the options
// "the same action for ever" it is known in the true model of a task of families. If the members
// are calibrated, the true D is at least the m-th largest of the K that they hold in m of K+1 cases.
//
// bootstrap-linear observes the number of the state. It values an option by its first action, after which
// each of its members is optimal. So its true values are those of the optimal policy. deep-bootstrap-q
// values an option by its first action, after which the greedy policy is followed.

// calibrated are the learners of the study. All have 19 members, so that levels are twentieths.
var calibrated = []struct{ name, plugin, params string }{
	{"bootstrap-q", "bootstrap-q", `{"members": 19}`},
	{"bootstrap-q, replays 0", "bootstrap-q", `{"members": 19, "replays": 0}`},
	{"bootstrap-model, bootstrap", "bootstrap-model", `{"members": 19, "belief": "bootstrap"}`},
	{"bootstrap-model, posterior", "bootstrap-model", `{"members": 19, "belief": "posterior"}`},
	{linear, linear, `{"members": 19}`},
	{linear + ", a feature for each state", linear, `{"members": 19, "features": {"tilings": 1, "tiles": 1024}}`},
	{linear + ", the same, poisson", linear, `{"members": 19, "features": {"tilings": 1, "tiles": 1024}, "update": "poisson"}`},
	{network, network, `{"members": 19, "batch": 64, "updates": 1}`},
}

const (
	linear             = "bootstrap-linear"
	network            = "deep-bootstrap-q"
	calibrationMembers = 19
	calibrationHold    = 10   // steps between decisions
	calibrationGamma   = 0.99 // the default of the learners
)

// calibrationSteps are the steps of a run after which decisions are compared with the truth.
var calibrationSteps = []int{10, 30, 100, 300, 990}

// watched is an agent whose problems are compared with the true model, at some steps of one lane.
type watched struct {
	vector.OptionAgent
	model   *mdp.Tabular
	optimal []float64 // the true optimal values, for a learner that follows the optimal policy after a first action
	follows bool      // it follows the greedy policy after a first action
	step    int       // of the next decision
	// above has, by step and level m−1, the share of options whose true D is at least the m-th largest
	// of the members; NaN where no option differed from the greedy one.
	above [][]float64
}

// Abilities hides that lanes can be stepped by themselves.
func (w *watched) Abilities() vector.AgentAbilities {
	able := w.OptionAgent.Abilities()
	able.Lane = nil
	return able
}

func (w *watched) StepOptions(ctx context.Context, in *vector.Feedback, epochs []bool, actions *space.Column, problems []options.Problem) error {
	if err := w.OptionAgent.StepOptions(ctx, in, epochs, actions, problems); err != nil {
		return err
	}
	if !epochs[0] {
		return nil
	}
	if slices.Contains(calibrationSteps, w.step) {
		constant, greedy, err := w.truth(ctx, &problems[0], int(in.Observations.Int64[0]))
		if err != nil {
			return err
		}
		w.above = append(w.above, trueLevels(&problems[0], constant, greedy))
	}
	w.step += calibrationHold
	return nil
}

// truth returns what each constant action and the greedy policy are truly worth per step in a state.
func (w *watched) truth(ctx context.Context, p *options.Problem, state int) (constant []float64, greedy float64, err error) {
	constant = make([]float64, w.model.NumActions())
	values := func(pi mdp.Deterministic) ([]float64, error) {
		chain, err := mdp.Induce(w.model, pi)
		if err != nil {
			return nil, err
		}
		return chain.EvaluateDiscounted(calibrationGamma)
	}
	after := w.optimal
	if after == nil {
		pi, err := w.GreedyPolicy(ctx, 0, nil)
		if err != nil {
			return nil, 0, err
		}
		if after, err = values(pi); err != nil {
			return nil, 0, err
		}
		greedy = (1 - calibrationGamma) * after[state]
	}
	offered := make([]bool, len(constant))
	for _, arm := range p.Arms {
		if a, ok := constantAction(arm.Name); ok {
			offered[a] = true
		}
	}
	for a := range constant {
		if w.optimal == nil && !w.follows {
			v, err := values(mdp.Constant(w.model.NumStates(), a))
			if err != nil {
				return nil, 0, err
			}
			constant[a] = (1 - calibrationGamma) * v[state]
			continue
		}
		next, probability := w.model.Transition(state, a)
		q := w.model.Reward(state, a)
		for i, y := range next {
			q += calibrationGamma * probability[i] * after[y]
		}
		constant[a] = (1 - calibrationGamma) * q
		if w.optimal != nil && !offered[a] { // only the greedy action is not
			greedy = constant[a]
		}
	}
	return constant, greedy, nil
}

// constantAction returns the action that an option of kind constants takes.
func constantAction(name string) (a int, ok bool) {
	n, _ := fmt.Sscanf(name, "action %d", &a)
	return a, n == 1
}

// trueLevels compares the constant options of a problem with the truth.
func trueLevels(p *options.Problem, constant []float64, greedy float64) []float64 {
	out := make([]float64, calibrationMembers)
	n := 0.0
	for x, arm := range p.Arms {
		a, ok := constantAction(arm.Name)
		if !ok || x == p.Greedy {
			continue
		}
		d := make([]float64, calibrationMembers)
		for k := range d {
			d[k] = p.Values[x*calibrationMembers+k] - p.Values[p.Greedy*calibrationMembers+k]
		}
		slices.Sort(d)
		if d[0] == 0 && d[len(d)-1] == 0 {
			continue // the greedy option does the same
		}
		n++
		for m := range out {
			if constant[a]-greedy >= d[len(d)-1-m] {
				out[m]++
			}
		}
	}
	for m := range out {
		out[m] /= n
	}
	return out
}

// numbered is an environment whose observation is the number of the state as a quantity.
type numbered struct{ vector.Environment }

func (n numbered) Spec() framework.Spec {
	spec := n.Environment.Spec()
	spec.Observation = space.Box{Low: []float64{0}, High: []float64{float64(spec.Observation.(space.Discrete).N)}, Type: space.Int64}
	return spec
}

// openLane opens a task and a learner that offers options, with one lane.
func openLane(ctx context.Context, plugin, params string, t task) (vector.Environment, vector.OptionAgent, error) {
	find := func(name string) (p vector.Plugin) {
		for _, p = range plugins.All() {
			if d, err := p.Describe(ctx); err == nil && d.ID == "rlrun/"+name+"@1" {
				return p
			}
		}
		panic("no plugin " + name)
	}
	given, err := json.Marshal(t.environment["params"])
	if err != nil {
		return nil, nil, err
	}
	env, err := find(t.environment["plugin"].(string)).OpenEnvironment(ctx, given, 1)
	if err != nil {
		return nil, nil, err
	}
	if plugin == network {
		return openNetwork(ctx, params, env)
	}
	if plugin == linear {
		env = vector.WithAbilities(numbered{env}, vector.EnvironmentAbilities{})
	}
	agent, err := find(plugin).OpenAgent(ctx, json.RawMessage(params), env.Spec(), 1)
	if err != nil {
		return nil, nil, err
	}
	return env, agent.Abilities().Options, nil
}

// openNetwork is openLane for an agent that is a program of the Python package.
func openNetwork(ctx context.Context, params string, env vector.Environment) (vector.Environment, vector.OptionAgent, error) {
	p, err := plugin.Launch(ctx, plugin.LaunchConfig{Command: "rlrun-plugin-" + network})
	if err != nil {
		return nil, nil, err
	}
	agent, err := p.OpenAgent(ctx, json.RawMessage(params), env.Spec(), 1)
	if err != nil {
		return nil, nil, errors.Join(err, p.Close())
	}
	return env, closing{agent.Abilities().Options, p}, nil
}

// closing is an agent whose process ends with it.
type closing struct {
	vector.OptionAgent
	process *plugin.Process
}

func (c closing) Close() error { return errors.Join(c.OptionAgent.Close(), c.process.Close()) }

// calibrate makes a run of a learner on a task, and returns watched.above.
func calibrate(ctx context.Context, plugin, params string, t task) ([][]float64, error) {
	env, agent, err := openLane(ctx, plugin, params, t)
	if err != nil {
		return nil, err
	}
	w := &watched{OptionAgent: agent, model: t.model, follows: plugin == network}
	defer agent.Close()
	kinds := options.DefaultKinds
	if plugin == linear {
		kinds = []options.Kind{options.Constants} // a member would stand for its first action
		best, err := mdp.SolveDiscounted(t.model, calibrationGamma, mdp.SolverConfig{})
		if err != nil {
			return nil, err
		}
		w.optimal = best.Value
	}
	steps := calibrationSteps[len(calibrationSteps)-1] + calibrationHold
	host, err := explore.New(ctx, w, env.Spec(), 1, explore.Config{
		Decider: options.DeciderConfig{Rule: options.RulePosteriorSampling, Horizon: bandit.Finite(steps - 1)},
		Kinds:   kinds, Commitment: options.CommitmentConfig{Fixed: calibrationHold},
	})
	if err != nil {
		return nil, err
	}
	_, err = loop.Run(ctx, loop.Batch{Environment: env, Agent: host, Runs: []int{0}, Seeds: seed.NewSource(1, env.Spec().ID), Steps: steps, Discount: 1})
	return w.above, err
}

// calibration prints how often the true D is what members say, and draws the reliability diagram.
func calibration() error {
	all, err := optionFamilies(families.Development, 600, 2)()
	if err != nil {
		return err
	}
	tasks := slices.DeleteFunc(all, func(t task) bool { return t.model.HasTerminal() || t.kind == "many-arms" })
	s := &study{name: "calibration", w: os.Stdout}
	levels := make([]float64, calibrationMembers)
	for m := range levels {
		levels[m] = float64(m+1) / (calibrationMembers + 1)
	}
	figure := plots.Figure{Title: "Is P(D ≥ δ) right?", XLabel: "P(D ≥ δ) in the members", YLabel: "share of options with true D ≥ δ"}
	figure.Lines = append(figure.Lines, plots.Line{Label: "calibrated", X: levels, Y: levels})
	head := []string{"learner", "decisions after"}
	shown := []int{0, 4, 9, 14, 18} // levels in the table
	for _, m := range shown {
		head = append(head, fmt.Sprintf("P = %.2f", levels[m]))
	}
	var rows [][]string
	for _, l := range calibrated {
		byTask := make([][][]float64, len(tasks))
		for i, t := range tasks {
			if byTask[i], err = calibrate(context.Background(), l.plugin, l.params, t); err != nil {
				return fmt.Errorf("%s in %s: %w", l.name, t.name, err)
			}
			fmt.Fprintf(os.Stderr, "\r%s: %d of %d tasks ", l.name, i+1, len(tasks))
		}
		fmt.Fprintln(os.Stderr)
		// shares returns the share of each task at a level, over some steps.
		shares := func(m int, at ...int) stat.TTest {
			var xs []float64
			for _, t := range byTask {
				sum, n := 0.0, 0.0
				for _, k := range at {
					if y := t[k][m]; !math.IsNaN(y) {
						sum, n = sum+y, n+1
					}
				}
				if n > 0 {
					xs = append(xs, sum/n)
				}
			}
			return stratified(stat.Scores{xs})
		}
		for k, step := range calibrationSteps {
			row := []string{l.name, fmt.Sprintf("%d steps", step)}
			for _, m := range shown {
				t := shares(m, k)
				row = append(row, fmt.Sprintf("%.2f ± %.2f", t.Value, (t.High-t.Low)/2))
			}
			rows = append(rows, row)
		}
		line := plots.Line{Label: l.name, X: levels}
		for m := range levels {
			t := shares(m, 2, 3, 4)
			line.Y, line.Low, line.High = append(line.Y, t.Value), append(line.Low, t.Low), append(line.High, t.High)
		}
		figure.Lines = append(figure.Lines, line)
	}
	s.table(head, rows)
	return s.figure("", &figure)
}
