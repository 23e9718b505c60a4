package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rlrun/rlrun/cmd/rlrun/config"
	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/experiment"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/vector"
)

// Configure takes over what a config says of transports and limits.
func (c *Catalogue) Configure(file *config.File) error {
	c.transport, c.limits = file.Transport, file.Limits
	problems := checkLimits(file, &file.Limits, "limits")
	for i, comp := range file.Environments {
		problems = append(problems, checkLimits(file, comp.Limits, "environments", fmt.Sprint(i), "limits")...)
	}
	for i, comp := range file.Agents {
		problems = append(problems, checkLimits(file, comp.Limits, "agents", fmt.Sprint(i), "limits")...)
	}
	if problems != nil {
		return problems
	}
	return nil
}

// CheckAll makes sure, before anything runs, that every plugin is there, is of
// the right kind, accepts its parameters and goes with the others. It returns
// what provenance.json says of them, and what is known of the environments.
func (c *Catalogue) CheckAll(ctx context.Context, file *config.File, plan *experiment.Plan) ([]experiment.PluginProvenance, map[string]result.Task, error) {
	s := c.shared()
	defer s.close()
	var problems config.Problems
	for _, list := range []struct {
		key        string
		kind       vector.Kind
		components []experiment.Component
	}{{"environments", vector.KindEnvironment, file.Environments}, {"agents", vector.KindAgent, file.Agents}} {
		for i, comp := range list.components {
			err := s.checkOne(ctx, file, list.key, i, list.kind, comp)
			var ps config.Problems
			if errors.As(err, &ps) {
				problems = append(problems, ps...)
			} else if err != nil {
				return nil, nil, err
			}
		}
	}
	if problems != nil {
		return nil, nil, problems
	}
	if err := s.checkPairs(ctx, file, plan); err != nil {
		return nil, nil, cmp.Or(context.Cause(ctx), err)
	}
	tasks := s.tasks(ctx, plan)
	plugins, err := s.provenance(ctx, plan)
	return plugins, tasks, cmp.Or(context.Cause(ctx), err)
}

// checkPairs opens one lane of everything that the plan will open.
func (s *shared) checkPairs(ctx context.Context, file *config.File, plan *experiment.Plan) error {
	var problems config.Problems
	// refuse tells of parameters that do not fit; the rest is not the user's.
	refuse := func(list string, i int, label string, err error) error {
		if !errors.Is(err, framework.ErrInvalidParams) && !errors.Is(err, framework.ErrUnsupported) {
			return fmt.Errorf("%s %q: %w", strings.TrimSuffix(list, "s"), label, err)
		}
		text := err.Error()
		for _, e := range []error{framework.ErrInvalidParams, framework.ErrUnsupported} {
			text = strings.TrimSuffix(text, ": "+e.Error())
		}
		found := file.ParamsProblem(list, i, text)
		if errors.Is(err, experiment.ErrExploration) {
			found = file.Problem(strings.TrimPrefix(text, experiment.ErrExploration.Error()+": "), list, fmt.Sprint(i), "exploration")
		} else if errors.Is(err, framework.ErrUnsupported) {
			found = file.Problem(text, list, fmt.Sprint(i), "plugin")
		}
		for _, p := range found {
			if !slices.ContainsFunc(problems, func(q *config.Problem) bool { return *p == *q }) {
				problems = append(problems, p)
			}
		}
		return nil
	}
	environments, agents := file.Origins(file.Environments), file.Origins(file.Agents)
	for e, comp := range plan.Environments {
		env, err := s.environment(ctx, comp)
		if err != nil {
			if err := refuse("environments", environments[e], comp.Name, err); err != nil {
				return err
			}
			continue
		}
		spec := env.Spec()
		if err := env.Close(); err != nil {
			return err
		}
		for a, comp := range plan.Agents {
			agent, err := s.agent(ctx, plan, comp, spec)
			if err == nil {
				err = agent.Close()
			}
			if err != nil {
				if err := refuse("agents", agents[a], comp.Name, err); err != nil {
					return err
				}
			}
		}
	}
	if problems != nil {
		return problems
	}
	return nil
}

func (s *shared) environment(ctx context.Context, comp experiment.Component) (vector.Environment, error) {
	p, _, err := s.open(ctx, comp)
	if err != nil {
		return nil, err
	}
	return p.OpenEnvironment(ctx, comp.Params, 1)
}

func (s *shared) agent(ctx context.Context, plan *experiment.Plan, comp experiment.Component, spec framework.Spec) (vector.Agent, error) {
	p, _, err := s.open(ctx, comp)
	if err != nil {
		return nil, err
	}
	return plan.OpenAgent(ctx, p, comp, spec, 1)
}

func (s *shared) checkOne(ctx context.Context, file *config.File, list string, i int, kind vector.Kind, comp experiment.Component) error {
	index := fmt.Sprint(i)
	found, transport, err := s.catalogue.Resolve(comp)
	if err == nil {
		err = s.catalogue.checkPin(comp, found)
	}
	if err != nil {
		return file.Problem(err.Error(), list, index, "plugin")
	}
	if comp.Processes > 1 && transport == experiment.InProcess {
		return file.Problem(fmt.Sprintf("plugin %s is called in rlrun's own process; give it transport: process", comp.Plugin), list, index, "processes")
	}
	p, _, err := s.open(ctx, comp)
	if err != nil {
		return cmp.Or(context.Cause(ctx), file.Locate(fmt.Errorf("%s[%d]: %w", list, i, err)))
	}
	d, err := p.Describe(ctx)
	if err != nil {
		return err
	}
	if d.Kind != kind {
		article := map[vector.Kind]string{vector.KindEnvironment: "an environment", vector.KindAgent: "an agent"}
		return file.Problem(fmt.Sprintf("%s is %s, not %s", comp.Plugin, cmp.Or(article[d.Kind], string(d.Kind)), article[kind]), list, index, "plugin")
	}
	return file.CheckParams(list, i, d.Params)
}
