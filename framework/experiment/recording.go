package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/metric"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/vector"
)

// everyMetric is recorded if a config names none: what an environment or an agent cannot
// give is left out of their records.
func everyMetric() []result.Metric {
	return append(metric.Select(func(d *metric.Definition) bool { return d.Default }),
		metric.AllOf(result.EnvironmentMetrics), metric.AllOf(result.AgentMetrics))
}

// asked returns the metrics that a config names; nil if it leaves the choice to rlrun, or
// names what rlrun would choose, as a config that rlrun has written does. evaluate adds
// its own.
func (c *Config) asked() []result.Metric {
	list := slices.DeleteFunc(slices.Clone(c.Record.Metrics), func(m result.Metric) bool { return c.Evaluate != nil && metric.Define(m).Sparse })
	if slices.Equal(list, everyMetric()) {
		return nil
	}
	return c.Record.Metrics
}

// recordable refuses a metric that no run can have, whatever the plugins.
func (c *Config) recordable(m result.Metric) error {
	d := metric.Define(m)
	switch e := c.Evaluate; {
	case m.OfPlugin():
		if side, _, _ := strings.Cut(string(m), "."); side != result.EnvironmentMetrics && side != result.AgentMetrics {
			return fmt.Errorf("%.80q names no plugin's metric: these are %s.NAME and %s.NAME", m, result.AgentMetrics, result.EnvironmentMetrics)
		}
	case m == result.EvaluationReturn && e != nil && e.Episodes == 0:
		return errors.New("evaluation_return is of evaluations that count episodes, and these count steps: give evaluate.episodes, or record evaluation_reward")
	case m == result.EvaluationReward && e != nil && e.Steps == 0:
		return errors.New("evaluation_reward is of evaluations that count steps, and these count episodes: give evaluate.steps, or record evaluation_return")
	case d.At == nil && !d.Sparse && d.From != "":
		return fmt.Errorf("%s is made from %s, which comes with it: record %s", m, d.From, d.From)
	default:
		return knownMetric(m)
	}
	return nil
}

// has refuses a metric that is not recorded.
func (r *Recording) has(m result.Metric) error {
	if !m.In(r.Metrics) && !m.RecordedAs().In(r.Metrics) {
		return fmt.Errorf("%s is not recorded; add %s to record.metrics", m, m.RecordedAs())
	}
	return nil
}

// checkGiven refuses metrics that the config names and no environment or agent gives, before
// anything runs.
func (x *Runner) checkGiven(ctx context.Context) error {
	c := &x.Plan.Config
	var found problems
	check := func(m result.Metric, path ...any) {
		if err := x.given(ctx, m.RecordedAs()); err != nil {
			found.list = append(found.list, At(err, path...))
		}
	}
	for i, m := range c.asked() {
		check(m, "record", "metrics", i)
	}
	for i, m := range c.Report.Metrics {
		check(m, "report", "metrics", i)
	}
	if c.Compare != nil {
		check(c.Compare.Metric, "compare", "metric")
	}
	return found.err()
}

// given says why no environment or agent gives a metric; nil if one does.
func (x *Runner) given(ctx context.Context, m result.Metric) error {
	switch {
	case m == result.Regret || m == result.OptimalAction:
		return x.anyEnvironment(ctx, func(env vector.Environment) (bool, error) {
			models, err := modelsOf(ctx, env)
			if err != nil || models == nil {
				return false, err
			}
			regret, action := loop.KnowsOptimum(models[0], env.Spec().Continuing)
			return m == result.Regret && regret || m == result.OptimalAction && action, nil
		}, map[result.Metric]string{
			result.Regret:        "regret needs the optimal reward, which is known of tasks with one state and of continuing tasks whose model the environment gives, and no environment here is such a task: record reward, or cumulative_reward for a sum",
			result.OptimalAction: "optimal_action needs a task with one state whose model the environment gives, and no environment here is such a task: record reward",
		}[m])
	case m == result.EpisodeReturn:
		return x.anyEnvironment(ctx, func(env vector.Environment) (bool, error) { return !env.Spec().Continuing, nil },
			"episode_return needs episodes that end, and all tasks here continue: record reward or discounted_return")
	case (m == result.ExplorationShare || m == result.MixingTime) && !x.Plan.Explores():
		return fmt.Errorf("%s needs an agent with exploration, and none has it: give an agent exploration, or record reward", m)
	}
	return nil
}

// anyEnvironment returns an error of a text if a function is true of no environment.
func (x *Runner) anyEnvironment(ctx context.Context, is func(vector.Environment) (bool, error), text string) error {
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
		if err := errors.Join(err, env.Close()); err != nil || yes {
			return err
		}
	}
	return errors.New(text)
}
