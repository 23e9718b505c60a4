package loop

import (
	"context"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
)

// stepAgent steps an agent. Where there are masks, it refuses actions that they do not allow.
func stepAgent(ctx context.Context, agent vector.Agent, spec *framework.Spec, in *vector.Feedback, actions *space.Column) error {
	err := agent.Step(ctx, in, actions)
	if err == nil && spec.Masks {
		err = in.CheckActions(spec, actions)
	}
	return err
}

// stepEnvironment steps an environment. It refuses masks that allow nothing.
func stepEnvironment(ctx context.Context, env vector.Environment, spec *framework.Spec, in *vector.Actions, out *vector.TimeSteps) error {
	err := env.Step(ctx, in, out)
	if err == nil && spec.Masks {
		err = out.Check(spec, in.Signals)
	}
	return err
}
