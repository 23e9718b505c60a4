package plugincmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rlrun/rlrun/cmd/rlrun/config"
	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/framework/rltest"
	"github.com/rlrun/rlrun/framework/run"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/host"
)

// verdict is the answer of rlrun plugin check as JSON.
type verdict struct {
	Plugin     string      `json:"plugin"`
	ID         string      `json:"id"`
	Kind       vector.Kind `json:"kind"`
	OK         bool        `json:"ok"`
	Violations []violation `json:"violations"`
	// Frames is for a plugin that keeps every rule and lists frames: their size, or why
	// there are none.
	Frames string `json:"frames,omitempty"`
	// Rewards is for an environment that keeps every rule and lacks bounds on rewards: which
	// rewards random actions gave.
	Rewards string `json:"rewards,omitempty"`

	found error // what the suite found
}

// brokenError says that a plugin breaks rules.
type brokenError struct{ verdict verdict }

func (e *brokenError) Error() string { return e.verdict.text() }

func (e *brokenError) Unwrap() error { return e.verdict.found }

// violation is a broken rule and its cause, told once.
type violation struct {
	Rule  rltest.Rule `json:"rule"`
	Error string      `json:"error"`
	Specs []string    `json:"specs,omitempty"` // ids of the environments on which an agent breaks it so

	untried bool // nothing else is known
}

// String returns the violation with the first of its environments.
func (v violation) String() string {
	switch n := len(v.Specs); n {
	case 0:
		return v.Error
	case 1:
		return fmt.Sprintf("on %s: %s", v.Specs[0], v.Error)
	default:
		return fmt.Sprintf("on %s and %d other %s: %s", v.Specs[0], n-1, cli.Plural(n-1, "environment", "environments"), v.Error)
	}
}

// checkOptions are the flags of rlrun plugin check.
type checkOptions struct {
	params    []string
	transport string
	lanes     int
	time      time.Duration
	laws      bool
}

func newCheck(app *host.App) *cobra.Command {
	var asJSON bool
	var o checkOptions
	cmd := &cobra.Command{
		Use:   "check NAME [-- ARGS...]",
		Short: "Check that a plugin keeps the rules",
		Long: `Run the conformance suite (package framework/rltest) over a plugin: same seed,
same episode; observations and actions in their spaces; finite rewards; lanes
that do not depend on each other; and so on. A rule that could not be tested
counts as broken. Agents are checked on every kind of environment that they
support. A program's process must end as the protocol says: on request, when
its connection ends and when its parent dies, but not by SIGINT or SIGTERM. The exit
status is 1 if a rule is broken. A file of options (.yaml, .json) is checked as well, but not
that its task has so many states and actions.

The check takes about --time. With a slow plugin the tests have fewer steps. Every rule is always tested: after --time, the remaining
rules are tested in their smallest form, with 6 steps. This takes about 250 calls of an
environment, or of an agent in each kind of environment. The check waits for the end of
an episode until --time is over, and for at least 1,000 steps.

--laws plays an agent in small finite tasks and in equivalent views of them, 24 runs of
300 steps each, and up to 840 more where these do not decide. It names every law of agents
(docs/agents.md) that the agent breaks and does not declare. --time does not limit it.

--json: plugin, id, kind, ok, violations (a list of {rule, error, specs}; specs are the
ids of the environments in which an agent breaks the rule), frames (their size, or why
none can be drawn here), rewards (of an environment that does not declare both bounds:
which rewards were seen).`,
		Example: "  rlrun plugin check bernoulli-bandit --param arms=3\n  rlrun plugin check ./rlrun-plugin-grid\n  rlrun plugin check python -- grid.py",
		Args:    cli.AtLeastOne("the name of a plugin"),
		RunE: func(cmd *cobra.Command, args []string) error {
			comp := plan.Component{Plugin: args[0], Args: args[1:], Transport: plan.Transport(o.transport)}
			told := func() {}
			v, err := check(app, cmd.Context(), comp, o, func(part string) {
				told()
				told = cli.Announce(cmd.ErrOrStderr(), 3*time.Second, "rlrun: checking "+part)
			})
			told()
			if err != nil {
				return err
			}
			w := cmd.OutOrStdout()
			switch {
			case asJSON:
				err = cli.WriteJSON(w, v)
			case v.OK:
				_, err = fmt.Fprintf(w, "%s (%s, %s) keeps every rule.\n", v.Plugin, v.ID, v.Kind)
				if err == nil && v.Frames != "" {
					_, err = fmt.Fprintf(w, "Frames: %s.\n", v.Frames)
				}
				if err == nil && v.Rewards != "" {
					_, err = fmt.Fprintf(w, "Rewards: %s.\n", v.Rewards)
				}
			}
			if err != nil || v.OK {
				return err
			}
			return &brokenError{v}
		},
		ValidArgsFunction: app.CompletePlugin,
	}
	fs := cmd.Flags()
	fs.StringArrayVar(&o.params, "param", nil, "set a parameter of the plugin, `KEY=VALUE`; may be repeated")
	fs.IntVar(&o.lanes, "lanes", 1024, "open at most `N` lanes together, at least 3; fewer for plugins that need much memory per lane")
	fs.BoolVar(&o.laws, "laws", false, "also check the laws of agents, for agents of finite tasks")
	fs.DurationVar(&o.time, "time", time.Minute, "approximate duration of the rules, a `TIME`; 0: no limit")
	fs.StringVar(&o.transport, "transport", "", "transport `T`: inprocess or process (default as in a config)")
	app.TimeoutFlag(fs)
	app.ReplaceFlag(fs)
	fs.BoolVar(&asJSON, "json", false, "print JSON")
	cli.Must(cmd.RegisterFlagCompletionFunc("transport", host.CompleteTransport))
	return cmd
}

// text returns what is wrong. The rules that could not be tried because of it are
// one line.
func (v verdict) text() string {
	var broken, untried []string
	for _, b := range v.Violations {
		if b.untried {
			untried = append(untried, string(b.Rule))
		} else {
			broken = append(broken, b.String())
		}
	}
	text := fmt.Sprintf("%s (%s, %s) breaks %d %s:\n%s", v.Plugin, v.ID, v.Kind, len(broken), cli.Plural(len(broken), "rule", "rules"), strings.Join(broken, "\n"))
	if len(untried) > 0 {
		text += "\nnot tried because of that: " + strings.Join(untried, ", ")
	}
	return text
}

// checkTransport refuses a transport that there is none of.
func checkTransport(t plan.Transport) error {
	if t != "" && t != plan.InProcess && t != plan.Process {
		return cli.Usagef("--transport must be inprocess or process, not %q", t)
	}
	return nil
}

// check runs the conformance suite. It calls said with the name of each part before it
// begins.
func check(app *host.App, ctx context.Context, comp plan.Component, o checkOptions, said func(string)) (verdict, error) {
	v := verdict{Plugin: comp.Plugin, Violations: []violation{}}
	if err := checkTransport(comp.Transport); err != nil {
		return v, err
	}
	if o.lanes < 3 || o.time < 0 {
		return v, cli.Usagef("--lanes must be at least 3 and --time not negative, not %d and %v", o.lanes, o.time)
	}
	if plan.IsOptionFile(comp.Plugin) && len(comp.Args) == 0 {
		if o.params != nil || o.transport != "" || o.laws || app.Timeout != 0 || app.Replace != nil {
			return v, cli.Usagef("%s is a file of options, for which flags have no effect: leave them out", comp.Plugin)
		}
		v.ID, v.Kind = "file", vector.KindOptions
		if err := run.CheckOptions(comp.Plugin); errors.Is(err, fs.ErrNotExist) {
			return v, cli.Usage(err)
		} else if err != nil {
			v.add(&rltest.Violation{Rule: rltest.OptionsSound, Err: err}, "")
		}
		v.OK = len(v.Violations) == 0
		return v, nil
	}
	c, err := app.CatalogueFor(comp)
	if err == nil {
		err = app.CheckTimeout(", or give --transport process")
	}
	if err != nil {
		return v, err
	}
	p, closePlugin, err := c.Open(ctx, comp)
	if err != nil {
		return v, err
	}
	defer closePlugin()
	// The catalogue refuses a process that reports another id than the first.
	second, closeSecond, err := c.Open(ctx, comp)
	if err != nil {
		return v, err
	}
	d, err := p.Describe(ctx)
	if err != nil {
		return v, err
	}
	v.ID, v.Kind = d.ID, d.Kind
	raw, err := config.Params(o.params, d.Params)
	if err != nil {
		return v, err
	}
	if d.Kind == vector.KindEnvironment {
		err = run.SameSpec(ctx, p, second, raw)
	}
	if err := errors.Join(err, closeSecond()); err != nil {
		return v, err
	}
	var faults []error // of processes beside p's, which mostly wait
	var failed error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		faults, failed = c.CheckEnds(ctx, comp)
	}()
	found := rltest.Bounds{Time: o.time, Lanes: o.lanes, Progress: said}.CheckPlugin(ctx, p, raw)
	said("the end of processes")
	<-ended
	if cause := context.Cause(ctx); cause != nil {
		return v, cause
	}
	if failed != nil {
		return v, fmt.Errorf("while the end of its process was checked: %w", failed)
	}
	if o.laws && d.Kind == vector.KindAgent {
		said("the laws of agents")
		found = errors.Join(found, rltest.CheckLaws(ctx, p, raw))
	}
	v.found = found
	v.add(found, "")
	for _, fault := range faults {
		var end *plugin.EndFault
		if errors.As(fault, &end) {
			v.Violations = append(v.Violations, violation{Rule: rltest.Rule(end.Rule), Error: fault.Error()})
		}
	}
	v.OK = len(v.Violations) == 0
	if v.OK && slices.Contains(d.Abilities, "frames") {
		if v.Frames, err = frames(ctx, p, raw); err != nil {
			return v, err
		}
	}
	if v.OK && d.Kind == vector.KindEnvironment {
		said("bounds on rewards")
		if v.Rewards, err = rewards(ctx, p, raw); err != nil {
			return v, err
		}
	}
	return v, err
}

// frames is the size of the frames that an environment draws, or why it draws none here.
func frames(ctx context.Context, p vector.Plugin, params json.RawMessage) (string, error) {
	env, err := p.OpenEnvironment(ctx, params, 1)
	if err != nil {
		return "", err
	}
	defer env.Close()
	in, out := vector.NewActions(env.Spec(), 1), vector.NewTimeSteps(env.Spec(), 1)
	in.Signals[0] = vector.NewRun
	if err := env.Step(ctx, in, &out); err != nil {
		return "", err
	}
	frame, err := vector.RenderFrame.Ask(ctx, env, 0)
	if errors.Is(err, framework.ErrUnsupported) {
		if e := new(plugin.Error); errors.As(err, &e) {
			err = e.Err // without standard error
		}
		cause, _, _ := strings.Cut(err.Error(), "\n")
		return "none are drawn here: " + strings.TrimSuffix(cause, "."), nil
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d × %d pixels", frame.Rect.Dx(), frame.Rect.Dy()), nil
}

// rewards says which rewards random actions gave, if the environment does not declare both
// bounds. It makes up to 1,000 steps, in about a second.
func rewards(ctx context.Context, p vector.Plugin, params json.RawMessage) (string, error) {
	env, err := p.OpenEnvironment(ctx, params, 1)
	if err != nil {
		return "", err
	}
	defer env.Close()
	spec, missing := env.Spec(), "bounds are"
	switch {
	case !math.IsInf(spec.RewardLow, 0) && !math.IsInf(spec.RewardHigh, 0):
		return "", nil
	case !math.IsInf(spec.RewardLow, 0):
		missing = "upper bound is"
	case !math.IsInf(spec.RewardHigh, 0):
		missing = "lower bound is"
	}
	in, out := vector.NewActions(spec, 1), vector.NewTimeSteps(spec, 1)
	in.Signals[0] = vector.NewRun
	low, high, steps, rng := math.Inf(1), math.Inf(-1), 0, rand.New(rand.NewPCG(1, 0))
	for begin := time.Now(); steps == 0 || steps < 1000 && time.Since(begin) < time.Second; {
		if err := env.Step(ctx, in, &out); err != nil {
			return "", err
		}
		if in.Signals[0] == vector.Continue { // the beginning of an episode has no reward
			low, high = min(low, out.Rewards[0]), max(high, out.Rewards[0])
			steps++
		}
		if in.Signals[0] = vector.Continue; out.Terminated[0] || out.Truncated[0] {
			in.Signals[0], in.Seeds[0] = vector.NewEpisode, uint64(steps)
		} else if err := in.Actions.Set(spec.Action, 0, space.SampleMasked(spec.Action, out.Mask(0), rng)); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("no %s declared, so agents that need bounds refuse this environment; %d random steps gave rewards from %g to %g", missing, steps, low, high), nil
}

// add takes over the rules that an error says are broken. A rule that is broken for the
// same reason on several environments is one violation.
func (v *verdict) add(err error, spec string) {
	switch e := err.(type) {
	case nil:
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			v.add(inner, spec)
		}
	case *rltest.SpecError:
		v.add(e.Err, e.Spec)
	default:
		b := violation{Error: err.Error()}
		var broken *rltest.Violation
		b.untried = errors.As(err, &broken) && broken.Err == rltest.ErrUntried
		if rules := rltest.Broken(err); len(rules) > 0 {
			b.Rule = rules[0]
		}
		cause, _, _ := strings.Cut(b.Error, "\n") // standard error follows
		i := slices.IndexFunc(v.Violations, func(old violation) bool {
			known, _, _ := strings.Cut(old.Error, "\n")
			return old.Rule == b.Rule && known == cause
		})
		if i < 0 {
			i = len(v.Violations)
			v.Violations = append(v.Violations, b)
		}
		if spec != "" {
			v.Violations[i].Specs = append(v.Violations[i].Specs, spec)
		}
	}
}
