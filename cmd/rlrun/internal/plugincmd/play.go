package plugincmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rlrun/rlrun/cmd/rlrun/config"
	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/run"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/each"
	"github.com/rlrun/rlrun/mdp"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/host"
)

// moment is one step of a played environment.
type moment struct {
	Step        int     `json:"step"`
	Action      any     `json:"action"` // null where an episode starts
	ActionName  string  `json:"action_name,omitempty"`
	Observation any     `json:"observation"`
	Reward      float64 `json:"reward"`
	Terminated  bool    `json:"terminated"`
	Truncated   bool    `json:"truncated"`
	Picture     string  `json:"picture,omitempty"`
}

func newPlay(app *host.App) *cobra.Command {
	var asJSON bool
	var params []string
	var transport string
	var g game
	cmd := &cobra.Command{
		Use:   "play NAME [-- ARGS...]",
		Short: "Watch random actions or a saved agent in an environment",
		Long: `Step one copy of an environment, and print every step: the action, the observation,
the reward, and a picture if the environment can be rendered. The same seed gives the
same steps. --frames draws the steps instead: as an animated GIF, as a PNG file of the
last step, or as a directory with a PNG file for each step. Actions are drawn from the
action space or, with --agent, selected by a saved agent of an output directory, which
does not learn (see rlrun evaluate --help).

Of more than 64 numbers the first 16 are printed; --json prints all.

--json: one object per step: step, action (null at the start of an episode),
action_name (if actions have names), observation, reward, terminated, truncated,
picture (if there is one).`,
		Example: "  rlrun plugin play frozenlake --steps 5\n  rlrun plugin play cartpole --frames cartpole.gif\n  rlrun plugin play ./rlrun-plugin-grid --seed 7 --param size=4\n  rlrun plugin play frozenlake --agent results/lake:q-learning --run 3",
		Args:    cli.AtLeastOne("the name of an environment"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if g.frames != "" && !cmd.Flags().Changed("steps") {
				g.steps = stepsDrawn
			}
			if fps := cmd.Flags().Changed("fps"); fps && (g.frames == "" || !(g.fps >= minFPS && g.fps <= maxFPS)) {
				return cli.Usagef("--fps is the rate of --frames, from %v to %v frames per second", minFPS, maxFPS)
			}
			if g.steps < 1 {
				return cli.Usagef("--steps must be at least 1, not %d", g.steps)
			}
			if g.trainedIn != "" && g.agent == "" {
				return cli.Usagef("--trained-in is the environment of a saved agent: also give --agent")
			}
			if g.run < 0 || g.run > 0 && g.agent == "" {
				return cli.Usagef("--run is the run of a saved agent, from 0: also give --agent")
			}
			w := cmd.OutOrStdout()
			show := func(m *moment) error { return m.print(w) }
			if asJSON {
				show = func(m *moment) error { return json.NewEncoder(w).Encode(m) }
			}
			return play(app, cmd.Context(), plan.Component{Plugin: args[0], Args: args[1:], Transport: plan.Transport(transport)}, params, g, cmd.Flags().Changed("seed"), show, cmd.ErrOrStderr())
		},
		ValidArgsFunction: app.CompletePlugin,
	}
	fs := cmd.Flags()
	fs.StringArrayVar(&params, "param", nil, "set a parameter of the environment, `KEY=VALUE`; may be repeated")
	fs.StringVar(&g.agent, "agent", "", "let the saved agent `DIR:AGENT` select the actions")
	fs.IntVar(&g.run, "run", 0, "with --agent: the agent saved in run `K`, from 0")
	fs.StringVar(&g.trainedIn, "trained-in", "", "with --agent: the agent that was saved in this `ENVIRONMENT` of DIR")
	fs.IntVar(&g.steps, "steps", 10, fmt.Sprintf("number `N` of steps (with --frames the default is %d)", stepsDrawn))
	fs.StringVar(&g.frames, "frames", "", "draw the steps to `PATH`: FILE.gif, FILE.png (the last step) or DIR/ (a PNG file per step)")
	fs.Float64Var(&g.fps, "fps", 0, fmt.Sprintf("with --frames: `N` frames per second, %v to %v (default: the environment's own rate, else %v)", minFPS, maxFPS, defaultFPS))
	fs.Uint64Var(&g.root, "seed", 1, "seed `N`, the root of every random stream")
	fs.StringVar(&transport, "transport", "", "transport `T`: inprocess or process (default as in a config)")
	app.TimeoutFlag(fs)
	app.ReplaceFlag(fs)
	app.TrustFlag(fs)
	fs.BoolVar(&asJSON, "json", false, "print JSON")
	cli.Must(cmd.RegisterFlagCompletionFunc("transport", host.CompleteTransport))
	return cmd
}

// brief is a value for people: of many numbers, as those of an image, the first and how many
// there are.
func brief(value any) string {
	const most, first = 64, 16
	if v := reflect.ValueOf(value); v.Kind() == reflect.Slice && v.Len() > most {
		text := fmt.Sprint(v.Slice(0, first))
		return fmt.Sprintf("%s … %d numbers]", strings.TrimSuffix(text, "]"), v.Len())
	}
	return fmt.Sprint(value)
}

// print shows a moment to people.
func (m *moment) print(w io.Writer) error {
	what := "starts"
	if m.Action != nil {
		what = "action " + brief(m.Action)
	}
	if m.ActionName != "" {
		what += " (" + m.ActionName + ")"
	}
	line := fmt.Sprintf("%4d  %s: observation %s, reward %v", m.Step, what, brief(m.Observation), m.Reward)
	if m.Terminated {
		line += ", terminated"
	}
	if m.Truncated {
		line += ", truncated"
	}
	if m.Picture != "" {
		for l := range strings.SplitSeq(strings.TrimRight(m.Picture, "\n"), "\n") {
			line += "\n      " + l
		}
	}
	_, err := fmt.Fprintln(w, line)
	return err
}

// stepsDrawn is how many steps are drawn by default.
const stepsDrawn = 200

// game says what is played.
type game struct {
	root      uint64
	steps     int
	agent     string // DIR:AGENT; empty: random actions
	trainedIn string // the environment in which it was saved
	run       int
	task      *uint64 // seed of the agent's own task; nil: those of root are played

	frames string  // where frames are drawn to; empty: nowhere
	fps    float64 // 0: the environment's
}

// player selects the actions.
type player struct {
	agent    vector.Agent // nil: at random
	begin    vector.Signal
	rng      *rand.Rand
	feedback *vector.Feedback
}

// next writes the next action into in, after the time step in out.
func (p *player) next(ctx context.Context, spec *framework.Spec, in *vector.Actions, out *vector.TimeSteps) error {
	if p.agent == nil && (out.Terminated[0] || out.Truncated[0]) {
		return nil
	}
	if p.agent == nil {
		return in.Actions.Set(spec.Action, 0, space.SampleMasked(spec.Action, out.Mask(0), p.rng))
	}
	p.feedback.TimeSteps = *out
	p.feedback.Signals[0] = vector.Evaluate
	if in.Signals[0] != vector.Continue {
		p.feedback.Signals[0] = p.begin
	}
	return p.agent.Step(ctx, p.feedback, &in.Actions)
}

// play steps one lane of an environment and shows every step. It tells stderr where
// frames are.
func play(app *host.App, ctx context.Context, comp plan.Component, params []string, g game, seeded bool, show func(*moment) error, stderr io.Writer) (err error) {
	if err := checkTransport(comp.Transport); err != nil {
		return err
	}
	p, closePlugin, err := app.OpenPlugin(ctx, comp)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closePlugin()) }()
	d, err := p.Describe(ctx)
	if err != nil {
		return err
	}
	if d.Kind != vector.KindEnvironment {
		return cli.Usagef("%s is an agent; environments can be played", comp.Plugin)
	}
	raw, err := config.Params(params, d.Params)
	if err != nil {
		return err
	}
	env, err := p.OpenEnvironment(ctx, raw, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, env.Close()) }()
	spec := env.Spec()
	who := player{rng: seed.Stream(g.root, seed.Exploration), begin: vector.NewEpisode, feedback: vector.NewFeedback(spec, 1)}
	if g.agent != "" {
		agent, task, closeAgent, err := run.OpenSaved(ctx, app.OpenFrom(g.agent), g.agent, comp.Plugin, g.trainedIn, g.run, spec, app.Trust)
		if err != nil {
			return fmt.Errorf("--agent: %w", err)
		}
		defer func() { _ = closeAgent() }() // it only played
		if g.task = task; task != nil && seeded {
			return cli.Usagef("--seed: in a task that continues, the agent plays the task of its own run: leave --seed out")
		}
		if who.agent = agent; agent.Abilities().Greedy {
			who.begin = vector.EvaluateEpisode
		}
	}
	if err := app.CheckTimeout(", or give --transport process"); err != nil {
		return err
	}
	var drawn album
	if g.frames != "" {
		if !vector.RenderFrame.Has(env) {
			return fmt.Errorf("--frames: %s draws no frames; without --frames its steps are printed", spec.ID)
		}
		var done func() error
		if drawn, done, err = g.record(d.FramesPerSecond, stderr); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, done()) }()
	}
	return g.play(ctx, env, &who, drawn, show)
}

// play makes the steps of a game. If drawn is not nil, it gets a frame of every step.
func (g *game) play(ctx context.Context, env vector.Environment, who *player, drawn album, show func(*moment) error) error {
	spec := env.Spec()
	seeds, episode := seed.NewSource(g.root, spec.ID), uint64(0)
	in, out := vector.NewActions(spec, 1), vector.NewTimeSteps(spec, 1)
	in.Signals[0] = vector.NewRun
	var names []string
	for k := range g.steps {
		m := moment{Step: k}
		if in.Signals[0] == vector.Continue {
			a := in.Actions.Get(spec.Action, 0)
			m.Action = shown(spec.Action, a)
			if names != nil {
				m.ActionName = names[a.Int-spec.Action.(space.Discrete).Start]
			}
		} else {
			in.Seeds[0] = seeds.Seed(0, seed.Environment, episode)
			if episode++; g.task != nil {
				in.Seeds[0] = *g.task
			}
		}
		err := env.Step(ctx, in, &out)
		if err != nil {
			return err
		}
		if k == 0 {
			if names, err = namesOfActions(ctx, env); err != nil {
				return err
			}
		}
		m.Observation = shown(spec.Observation, out.Observations.Get(spec.Observation, 0))
		m.Reward, m.Terminated, m.Truncated = out.Rewards[0], out.Terminated[0], out.Truncated[0]
		m.Picture, err = vector.Render.Ask(ctx, env, 0)
		if err != nil && !errors.Is(err, framework.ErrUnsupported) {
			return err
		}
		if drawn != nil {
			frame, err := vector.RenderFrame.Ask(ctx, env, 0)
			if err == nil {
				err = drawn.add(enlarged(frame))
			}
			if err != nil {
				return err
			}
		}
		if err := show(&m); err != nil {
			return err
		}
		if err := who.next(ctx, &spec, in, &out); err != nil {
			return err
		}
		in.Signals[0] = vector.Continue
		if m.Terminated || m.Truncated {
			in.Signals[0] = vector.NewEpisode
		}
	}
	return nil
}

// namesOfActions returns a name for every action of an environment that has been started,
// nil if they have none: the environment's own, else those of its model.
func namesOfActions(ctx context.Context, env vector.Environment) ([]string, error) {
	actions, discrete := env.Spec().Action.(space.Discrete)
	names, err := vector.ActionNames.Ask(ctx, env, 0)
	if errors.Is(err, framework.ErrUnsupported) {
		var models []*mdp.Tabular
		if models, err = vector.Models(ctx, env); err == nil {
			names = models[0].ActionNames()
		}
	}
	switch {
	case errors.Is(err, framework.ErrUnsupported) || err == nil && names == nil:
		return nil, nil
	case err != nil:
		return nil, err
	case !discrete || int64(len(names)) != actions.N:
		return nil, fmt.Errorf("%w: %d names of actions for %v", framework.ErrInvalidAnswer, len(names), env.Spec().Action)
	}
	return names, nil
}

// shown is a value as it is printed and as it is in JSON. Numbers that are not finite are
// null.
func shown(s space.Space, v space.Value) any {
	if _, ok := s.(space.Discrete); ok {
		return v.Int
	}
	if v.Ints != nil {
		return v.Ints
	}
	list := each.Of(v.Float64, cli.Number)
	for _, x := range v.Float32 {
		list = append(list, cli.Number(float64(x)))
	}
	for _, x := range v.Uint8 {
		list = append(list, x)
	}
	return list
}
