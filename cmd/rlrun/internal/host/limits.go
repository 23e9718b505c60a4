package host

import (
	"errors"
	"fmt"
	"time"

	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/plugin"
)

// launchOptions reads limits. Its error is a *plan.FieldError.
func launchOptions(l plan.Limits) (o plugin.LaunchConfig, err error) {
	for _, t := range []struct {
		key, text string
		to        *time.Duration
	}{{"start", l.Start, &o.StartTimeout}, {"open", l.Open, &o.OpenTimeout}, {"call", l.Call, &o.CallTimeout}} {
		if t.text == "" {
			continue
		}
		if *t.to, err = time.ParseDuration(t.text); err != nil || *t.to <= 0 {
			return o, plan.At(fmt.Errorf("must be a time such as 10s or 2m, not %q", t.text), t.key)
		}
	}
	return o, nil
}

// Configure takes over what a config says of transports and limits. Its error joins
// *plan.FieldErrors.
func (c *Catalogue) Configure(config plan.Config) error {
	c.transport, c.limits = config.Transport, config.Limits
	check := func(l *plan.Limits, path ...any) error {
		_, err := launchOptions(l.Over(plan.Limits{}))
		return plan.At(err, append(path, "limits")...)
	}
	errs := []error{check(&config.Limits)}
	for i, comp := range config.Environments {
		errs = append(errs, check(comp.Limits, "environments", i))
	}
	for i, comp := range config.Agents {
		errs = append(errs, check(comp.Limits, "agents", i))
	}
	return errors.Join(errs...)
}
