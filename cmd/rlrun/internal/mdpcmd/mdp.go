package mdpcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rlrun/rlrun/cmd/rlrun/config"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/run"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/host"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/plotting"
	"github.com/rlrun/rlrun/internal/inputfile"
)

const mdpHelp = `Compute with a finite Markov decision process. Its model is that of an
environment (--env NAME; rlrun plugin inspect NAME lists the parameters for --param) or
of a JSON file (--model FILE):

  {"S": 2, "A": 2,
   "transitions": [[0,0,1,1], [0,1,0,0.25], [0,1,1,0.75], [1,0,0,1], [1,1,1,1]],
   "rewards": [[1,1,2.5]]}

with entries [s,a,s',p] and [s,a,r]. Optional keys are "initial" [[s,p], …],
"terminal" [s, …], "successor_rewards" [[s,a,s',r], …], "actions" (a list of names,
one for each action), "name", "description" and "notes" (sentences to print).
Three more are for environments made from the file (plugin: model): "noise" [[s,a,sd], …]
makes rewards normal, "bernoulli" [[s,a], …] makes them 0 or 1, with the mean given, and
"episode_steps" n truncates an episode after n steps.

A state lacks the actions of which no transition is given there. Probabilities whose sum
is within 1e-6 of 1 are divided by it. Both are said on the standard error.

If an environment has no known model, but discrete observations and actions, a model of
observed frequencies is estimated from 64 runs, and a notice on the standard error says
so. Episodes follow each other in it. Actions are random, or half of them those of the
policy if an action or a file is given. States lack the actions that did not occur. A
state that did not occur leads to the start.

The criterion is the average reward per step in the long run, unless --gamma or
--horizon is given. For the average, episodes follow each other: a transition into a
terminal state leads to the start of the next episode. --restart does the same with
--gamma or --horizon. --restart=false turns it off.

--horizon may be as large as 1e12: once every step adds the same reward in all states,
the rest is added at once. In a periodic model this never happens. There each step
takes some nanoseconds per transition; Ctrl-C ends it.

--policy is optimal (by the criterion), uniform, the name or number of an action
that is taken in all states, or a file: a list with the action of every state, a list
of lists with every action's probability, or the output of rlrun mdp solve --json.`

const mdpKeys = `
  model {name, description, states, actions, action_names, transitions,
  terminal, restarting}
  criterion            average, discounted or horizon; with gamma or horizon
  policy_name          as given`

// New returns the command rlrun mdp.
func New(app *host.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "mdp",
		Short:   "Solve a finite model and compute its mixing times",
		Long:    mdpHelp,
		Example: "  rlrun mdp solve --env riverswim\n  rlrun mdp structure --model model.json\n  rlrun mdp mixing --env deepsea --param size=5",
	}
	return cli.Group(cmd, newSolve(app), newStructure(app), newMixing(app), newExport(app))
}

// noArguments refuses arguments, as flags name the model.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	model := ""
	if cmd.Flags().Lookup("model") != nil {
		model = "a file with --model FILE, "
	}
	return cli.Usagef("%s: unexpected argument %q: name %san environment with --env NAME (see %[1]s --help)", cmd.CommandPath(), args[0], model)
}

// process is a model, a criterion and a policy: what the commands of rlrun mdp
// begin with.
type process struct {
	model   *mdp.Tabular
	label   string
	actions []string        // names
	layout  *catalog.Layout // nil if the states are nowhere
	restart bool            // episodes follow each other
	over    []bool          // states that end an episode, if it has ends
	counts  *mdp.Counts     // that an estimated model is made from, else nil
	drawn   bool            // each run has another model

	gamma   *float64 // the criterion: at most one of these
	horizon *int

	policy     mdp.Policy
	policyName string
	solution   *mdp.Solution // where the policy is the optimal one

	stderr    io.Writer
	announced func() // ends the announcement of long work
}

// mdpFlags are the flags that the commands share.
type mdpFlags struct {
	model, env, policy     string
	params                 []string
	gamma                  float64
	horizon                int
	average, restart, json bool
	plot                   string
	length                 int    // of each run from which a model is estimated, in steps
	root                   uint64 // seed of these runs
}

func (f *mdpFlags) add(app *host.App, cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&f.model, "model", "", "read the model from `FILE`; - is the standard input")
	f.addSource(app, cmd)
	fs.StringVar(&f.policy, "policy", "optimal", "policy `P`: optimal, uniform, an action or a file")
	fs.Float64Var(&f.gamma, "gamma", 0, "criterion: the discounted return with discount `G`, 0 ≤ G < 1")
	fs.BoolVar(&f.average, "average", false, "criterion: the average reward per step (the default)")
	cli.CountVar(fs, &f.horizon, "horizon", 0, "criterion: the sum of the next `H` rewards")
	fs.BoolVar(&f.restart, "restart", false, "a terminal state leads to the start of the next episode (default: with --average)")
}

// addSource adds the flags that name an environment.
func (f *mdpFlags) addSource(app *host.App, cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&f.env, "env", "", "take the model of the environment `NAME`")
	fs.StringArrayVar(&f.params, "param", nil, "set a parameter of the environment, `KEY=VALUE`; may be repeated")
	fs.IntVar(&f.length, "steps", 4096, "if the environment has no known model: estimate one from `N` steps in each of 64 runs")
	fs.Uint64Var(&f.root, "seed", 1, "if it has none: seed `N` of these runs, the root of every random stream")
	app.TimeoutFlag(fs)
	app.ReplaceFlag(fs)
	cli.Must(cmd.RegisterFlagCompletionFunc("env", app.CompletePlugin))
}

func (f *mdpFlags) addOutput(cmd *cobra.Command, plot string) {
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	if plot != "" {
		cmd.Flags().StringVar(&f.plot, "plot", "", plot)
	}
}

// answer is what a command has found. One whose command has --plot has a method plot.
type answer interface {
	json() map[string]any
	print(w io.Writer) error
}

// answer reads the model, finds the policy, and gives what find finds as the flags say.
func (f *mdpFlags) answer(app *host.App, cmd *cobra.Command, find func(p *process) (answer, error)) error {
	p, err := f.process(app, cmd)
	if err != nil {
		return err
	}
	a, err := find(p)
	p.announced()
	if err != nil {
		return err
	}
	if f.plot != "" {
		if err := a.(interface{ plot(file string) error }).plot(f.plot); err != nil {
			return err
		}
	}
	if f.json {
		return cli.WriteJSON(cmd.OutOrStdout(), a.json())
	}
	return a.print(cmd.OutOrStdout())
}

// process reads the model and finds the policy.
func (f *mdpFlags) process(app *host.App, cmd *cobra.Command) (*process, error) {
	fs := cmd.Flags()
	p := &process{policyName: f.policy, restart: true, stderr: cmd.ErrOrStderr()}
	var criteria []string
	for _, name := range []string{"gamma", "average", "horizon"} {
		if fs.Changed(name) && (name != "average" || f.average) {
			criteria = append(criteria, "--"+name)
		}
	}
	if fs.Changed("gamma") {
		p.gamma, p.restart = &f.gamma, false
	}
	if fs.Changed("horizon") {
		p.horizon, p.restart = &f.horizon, false
	}
	if fs.Changed("restart") {
		p.restart = f.restart
	}
	switch {
	case len(criteria) > 1:
		return nil, cli.Usagef("%s and %s are different criteria: give one", criteria[0], criteria[1])
	case p.gamma != nil && !(f.gamma >= 0 && f.gamma < 1):
		return nil, cli.Usagef("--gamma must be in [0,1), not %s", cli.Given(f.gamma))
	case p.horizon != nil && f.horizon < 1:
		return nil, cli.Usagef("--horizon must be at least 1, not %d", f.horizon)
	case f.model != "" && f.env != "":
		return nil, cli.Usagef("--model and --env both give a model: give one")
	case f.model == "" && f.env == "":
		return nil, cli.Usagef("%s needs --model or --env (see %[1]s --help)", cmd.CommandPath())
	case f.model != "" && len(f.params) > 0:
		return nil, cli.Usagef("--param is for --env, not for --model")
	case f.model != "" && (fs.Changed("steps") || fs.Changed("seed")):
		return nil, cli.Usagef("--steps and --seed are for --env, not for --model")
	case f.model != "" && len(app.Replace) > 0:
		return nil, cli.Usagef("--replace is for --env, not for --model")
	case f.model != "" && app.Timeout != 0:
		return nil, cli.Usagef("--timeout is for --env, not for --model")
	}
	if f.plot != "" {
		if _, err := plotting.Format(f.plot); err != nil {
			return nil, err
		}
	}
	var err error
	if f.model != "" {
		p.label = f.model
		p.model, err = readModel(f.model, cmd.InOrStdin())
	} else {
		err = p.open(app, cmd, f)
	}
	if err != nil {
		return nil, err
	}
	p.notice(cmd.ErrOrStderr())
	p.name()
	p.over = make([]bool, p.model.NumStates())
	for s := range p.over {
		p.over[s] = p.model.Terminal(s)
	}
	if p.restart = (p.restart || p.counts != nil) && p.model.HasTerminal(); p.restart {
		if p.model, err = p.model.Restarting(); err != nil {
			return nil, refused(fmt.Errorf("%w; --restart=false lets episodes end for ever", err))
		}
	}
	p.announced = cli.Announce(p.stderr, time.Second, fmt.Sprintf("at work on %d states and %d transitions; Ctrl-C ends it", p.model.NumStates(), p.model.NumTransitions()))
	if err := p.choose(cmd.Context(), f.policy); err != nil {
		p.announced()
		return nil, err
	}
	return p, nil
}

// tell returns what says now and then how far a solver is: after 2, 4, 8, … s, and then
// each minute.
func (p *process) tell() func(sweeps int, bound float64) {
	began, next := time.Now(), 2*time.Second
	return func(sweeps int, bound float64) {
		if took := time.Since(began); took >= next {
			next = min(2*took, took+time.Minute)
			fmt.Fprintf(p.stderr, "%d sweeps in %s: the optimum is known to ±%.2g\n", sweeps, cli.Clock(took), bound)
		}
	}
}

// refused is an error of package mdp about what the user gave.
func refused(err error) error {
	return cli.Usage(errors.New(strings.TrimPrefix(err.Error(), "mdp: ")))
}

// maxModel is the largest file of a model or policy, in bytes: some 30 million
// transitions.
const maxModel = 1 << 30

// openInput opens the file of a model or policy; - is the standard input.
func openInput(name string, stdin io.Reader) (io.Reader, func() error, error) {
	if name == "-" {
		return inputfile.Limit(stdin, maxModel), func() error { return nil }, nil
	}
	f, err := inputfile.Open(name, maxModel)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil, cli.Usagef("%s: no such file", name)
	}
	if err != nil {
		return nil, nil, cli.Usagef("%s: %w", name, inputfile.Cause(err))
	}
	return f, f.Close, nil
}

func readModel(name string, stdin io.Reader) (*mdp.Tabular, error) {
	in, closeInput, err := openInput(name, stdin)
	if err != nil {
		return nil, err
	}
	defer closeInput()
	m, err := mdp.ParseModel(in)
	if err != nil {
		text := strings.TrimPrefix(err.Error(), "mdp: ")
		if c := inputfile.Cause(err); c != err { // of reading
			text = c.Error()
		}
		if name == "-" {
			name = "the standard input"
		}
		return nil, cli.Usagef("%s: %s", name, text)
	}
	return m, nil
}

// open takes the model of an environment, or estimates one.
func (p *process) open(app *host.App, cmd *cobra.Command, f *mdpFlags) error {
	ctx, name := cmd.Context(), f.env
	plugin, closePlugin, err := app.OpenPlugin(ctx, plan.Component{Plugin: name})
	if err != nil {
		return err
	}
	defer func() { _ = closePlugin() }()
	if err := app.CheckTimeout(""); err != nil {
		return err
	}
	d, err := plugin.Describe(ctx)
	if err != nil {
		return err
	}
	if d.Kind != vector.KindEnvironment {
		return cli.Usagef("%s is an %s, not an environment", name, d.Kind)
	}
	raw, err := config.Params(f.params, d.Params)
	if err != nil {
		return err
	}
	env, err := plugin.OpenEnvironment(ctx, raw, 2)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer env.Close()
	if vector.Changes(d, env) {
		return cli.Usagef("%s changes within a run with these parameters, so that no one model is its task: leave out the parameter by which it changes, such as schedule, hazard or drift, or give each model to --model", name)
	}
	if env.Abilities().Models == nil {
		p.label = name
		return p.estimate(ctx, plugin, raw, f)
	}
	for _, flag := range []string{"steps", "seed"} {
		if cmd.Flags().Changed(flag) {
			return cli.Usagef("--%s is for environments without a known model; %s has one", flag, name)
		}
	}
	models, drawn, err := run.Models(ctx, env)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	p.drawn = drawn
	if models == nil {
		return cli.Usagef("%s has no known model with these parameters", name)
	}
	p.label, p.model = name, models[0]
	if t, ok := env.(interface{ Task() *catalog.Task }); ok {
		p.layout = t.Task().Layout
	}
	return nil
}

// notice prints what a user of the model must know.
func (p *process) notice(w io.Writer) {
	for _, note := range p.model.Notes() {
		fmt.Fprintf(w, "Notice: %s: %s.\n", p.label, note)
	}
	if n := p.model.EpisodeSteps(); n > 0 {
		fmt.Fprintf(w, "Notice: %s truncates episodes after %d steps; this is computed as if it did not.\n", p.label, n)
	}
	if p.drawn {
		fmt.Fprintf(w, "Notice: %s draws another task in each run; this is the model of one of them.\n", p.label)
	}
}

// name fills in names that the model does not have.
func (p *process) name() {
	if p.model.Name() != "" {
		p.label = p.model.Name()
	}
	if p.actions = p.model.ActionNames(); p.actions == nil {
		p.actions = make([]string, p.model.NumActions())
		for a := range p.actions {
			p.actions[a] = fmt.Sprint(a)
		}
	}
}

// choose finds the policy.
func (p *process) choose(ctx context.Context, name string) (err error) {
	switch {
	case name == "optimal":
		if p.solution, err = p.solve(); err != nil {
			return err
		}
		p.policy = p.solution.Policy
		return ctx.Err()
	case name == "uniform":
		p.policy = mdp.Uniform{}
		return nil
	}
	for a, action := range p.actions {
		if name == action || name == fmt.Sprint(a) {
			p.policyName = "always " + action
		}
	}
	p.policy, err = namedPolicy(name, p.model.NumStates(), p.actions, p.stderr)
	return err
}

// namedPolicy is the policy that takes the action of a name or number everywhere, or that of
// a file.
func namedPolicy(name string, states int, actions []string, stderr io.Writer) (mdp.Policy, error) {
	for a, action := range actions {
		if name == action || name == fmt.Sprint(a) {
			return mdp.Constant(states, a), nil
		}
	}
	return readPolicy(name, states, actions, stderr)
}

// solve finds an optimal policy by the criterion.
func (p *process) solve() (*mdp.Solution, error) {
	var s *mdp.Solution
	var err error
	switch {
	case p.gamma != nil:
		s, err = mdp.SolveDiscounted(p.model, *p.gamma, mdp.SolverConfig{Progress: p.tell()})
	case p.horizon != nil:
		s = &mdp.Solution{Bound: math.NaN()}
		s.Value, s.Policy, err = mdp.SolveHorizon(p.model, *p.horizon)
	default:
		s, err = mdp.SolveAverage(p.model, mdp.SolverConfig{Progress: p.tell()})
	}
	var missing *mdp.MissingError
	if errors.As(err, &missing) {
		return nil, cli.Usagef("the average reward of %s cannot be optimised: the model is not %s: %s; use --gamma, which works for every model", p.label, missing.Need, missing.Why)
	}
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "mdp: "))
	}
	return s, nil
}

// taken returns the action that the policy takes in a state, or -1 if it chooses
// at random.
func (p *process) taken(s int) int {
	if d, ok := p.policy.(mdp.Deterministic); ok {
		return d[s]
	}
	w := p.distribution(s)
	for a, x := range w {
		if x == 1 {
			return a
		}
	}
	return -1
}

// distribution returns what the policy does in a state.
func (p *process) distribution(s int) []float64 {
	w := make([]float64, p.model.NumActions())
	mdp.Distribution(w, p.model, p.policy, s)
	return w
}

// start is the expectation of a value over the initial distribution.
func (p *process) start(value []float64) float64 {
	states, prob := p.model.Initial()
	if states == nil {
		return value[0]
	}
	sum := 0.0
	for i, s := range states {
		sum += prob[i] * value[s]
	}
	return sum
}
