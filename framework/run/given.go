package run

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/metric"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/vector"
)

// checkGiven refuses metrics that the config names and no environment or agent gives, before
// anything runs.
func (x *Runner) checkGiven(ctx context.Context) error {
	c := &x.Plan.Config
	var found problems
	check := func(m result.Metric, path ...any) {
		if err := x.given(ctx, m.RecordedAs(), nil); err != nil {
			found.list = append(found.list, plan.At(err, path...))
		}
	}
	for i, m := range c.Asked() {
		check(m, "record", "metrics", i)
	}
	for i, m := range c.Report.Metrics {
		check(m, "report", "metrics", i)
	}
	if c.Compare != nil {
		check(c.Compare.Metric, "compare", "metric")
	}
	if s := x.Plan.Sequential(); s != nil && len(found.list) == 0 {
		m, lacking := s.Metric, []string{}
		for _, c := range x.unrecommended {
			if (m == metric.SimpleRegret || m == metric.RecommendationError) && s.Compares(c.Environment) {
				lacking = append(lacking, "runs of "+c.Agent+" in "+c.Environment)
			}
		}
		err := x.given(ctx, m.RecordedAs(), func(environment string) {
			if s.Compares(environment) {
				lacking = append(lacking, environment)
			}
		})
		if err == nil && len(lacking) > 0 {
			err = fmt.Errorf("until %s waits for %s everywhere, and it is not known in %s: leave out compare.until or what lacks it, or name another metric", c.Compare.Until, m, few(lacking))
		}
		if err != nil {
			return plan.At(err, "compare", "metric")
		}
	}
	return found.err()
}

// given says why no environment or agent gives a metric; nil if one does. without, unless nil, is called
// with the environments that do not.
func (x *Runner) given(ctx context.Context, m result.Metric, without func(environment string)) error {
	switch {
	case (m == metric.SimpleRegret || m == metric.RecommendationError) && !x.recommends:
		return fmt.Errorf("%s needs an agent that says which action it would stay with, as bandit with most policies and agents with options do in tasks of one state, and none here does: record reward, or in tasks of one state optimal_action", m)
	case metric.Define(m).Model:
		return x.anyEnvironment(ctx, func(env vector.Environment) (bool, error) {
			if s := env.Abilities().Measures; s != nil && slices.ContainsFunc(s.Metrics, func(y framework.Metric) bool { return y.Name == string(m) }) {
				return true, nil
			}
			models, _, err := Models(ctx, env)
			if err != nil || models == nil {
				return false, err
			}
			return loop.KnowsOptimum(models[0], env.Spec().Continuing, m), nil
		}, without, map[result.Metric]string{
			metric.EpisodeRegret:       "episode_regret needs the optimal return of an episode, which is known of tasks with episodes whose model the environment gives, and no environment here is such a task: record regret of continuing tasks, or episode_return",
			result.Regret:              "regret needs the optimal reward, which is known of tasks with one state and of continuing tasks whose model the environment gives, and no environment here is such a task: record reward, cumulative_reward for a sum, or episode_regret of tasks with episodes whose model is known",
			metric.SimpleRegret:        "simple_regret needs a task with one state whose model the environment gives, and no environment here is such a task: record reward",
			metric.RecommendationError: "recommendation_error needs a task with one state whose model the environment gives, and no environment here is such a task: record reward",
			result.OptimalAction:       "optimal_action needs a task with one state whose model the environment gives, and no environment here is such a task: record reward",
		}[m])
	case m == result.EpisodeReturn:
		return x.anyEnvironment(ctx, func(env vector.Environment) (bool, error) { return !env.Spec().Continuing, nil }, without,
			"episode_return needs episodes that end, and all tasks here continue: record reward or discounted_return")
	case (m == result.ExplorationShare || m == result.MixingTime) && !x.Plan.Explores():
		return fmt.Errorf("%s needs an agent with exploration, and none has it: give an agent exploration, or record reward", m)
	}
	return nil
}

// anyEnvironment returns an error of a text if a function is true of no environment. without, unless nil, is
// called with those of which it is not.
func (x *Runner) anyEnvironment(ctx context.Context, is func(vector.Environment) (bool, error), without func(environment string), text string) error {
	some := false
	for _, c := range x.Plan.Environments {
		p, err := x.pool.keep(ctx, c)
		if err != nil {
			return err
		}
		env, err := p.OpenEnvironment(ctx, c.Params, 2)
		if err != nil {
			return err
		}
		yes, err := is(env)
		if err := errors.Join(err, env.Close()); err != nil || yes && without == nil {
			return err
		}
		if some = some || yes; !yes && without != nil {
			without(c.Name)
		}
	}
	if some {
		return nil
	}
	return errors.New(text)
}
