package plan

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/rlrun/rlrun/framework/compare"
	"github.com/rlrun/rlrun/framework/metric"
	"github.com/rlrun/rlrun/framework/result"
)

// Compare says how agents are compared, declared before anything runs
// (docs/statistics.md).
type Compare struct {
	// Metric to compare. Lower is better for regret. Default: reward.
	Metric result.Metric `json:"metric,omitempty"`
	// Pairs to compare: first compares all agents with the first, all compares all
	// pairs. Default: first.
	Pairs string `json:"pairs,omitempty" jsonschema:"enum=first,enum=all,default=first"`
	// Alpha is the level of all tests together: the probability of any wrong
	// verdict. Default: 0.05.
	Alpha float64 `json:"alpha,omitempty" jsonschema:"exclusiveMinimum=0,exclusiveMaximum=1,default=0.05"`
	// Until, if it is decided, stops agents whose comparisons are all decided. It looks
	// after every block of runs. Then runs is the largest number of runs that are made.
	// Default: all runs are made.
	Until string `json:"until,omitempty" jsonschema:"enum=decided"`
	// Block is the number of runs between looks. Default: 20.
	Block int `json:"block,omitempty" jsonschema:"minimum=1,default=20"`
	// Scores gives, by the label of an environment, the values of the metric that
	// count as 0 (low) and 1 (high). Default: uniformly random and optimal, where
	// the model is known.
	Scores map[string]compare.Range `json:"scores,omitempty"`
}

const untilDecided = "decided"

// compare fills in the defaults of Config.Compare and checks it; environments and
// agents are expanded.
func (p *Plan) compare() error {
	if p.Config.Compare == nil {
		return nil
	}
	c := *p.Config.Compare
	p.Config.Compare = &c
	if c.Metric == "" {
		c.Metric = result.Reward
	}
	if c.Pairs == "" {
		c.Pairs = "first"
	}
	if c.Alpha == 0 {
		c.Alpha = compare.DefaultAlpha
	}
	if c.Block == 0 {
		c.Block = defaultBlock
	}
	if err := knownMetric(c.Metric); err != nil {
		return At(err, "compare", "metric")
	}
	if !c.Metric.OfPlugin() { // Check knows its definition
		if err := compare.CheckMetric(metric.Define(c.Metric)); err != nil {
			return At(err, "compare", "metric")
		}
	}
	if c.Metric.OfPlugin() && c.Until != "" {
		return At(fmt.Errorf("until %s needs a metric of rlrun's own, and %s is a plugin's", c.Until, c.Metric), "compare", "metric")
	}
	if err := p.Config.Record.has(c.Metric); err != nil {
		return At(err, "compare", "metric")
	}
	for name, r := range c.Scores {
		if !slices.ContainsFunc(p.Environments, func(e Component) bool { return e.Name == name }) {
			return At(fmt.Errorf("no environment is called %q", name), "compare", "scores")
		}
		if !c.Metric.OfPlugin() {
			if err := r.Check(metric.Define(c.Metric)); err != nil {
				return At(err, "compare", "scores", name)
			}
		}
	}
	switch c.Until {
	case "":
		return nil
	case untilDecided:
	default:
		return At(fmt.Errorf("must be %s, not %.80q", untilDecided, c.Until), "compare", "until")
	}
	return At(p.Sequential().Check(), "compare")
}

// Sequential returns the test that stops the experiment; nil if all runs are made.
func (p *Plan) Sequential() *compare.Sequential {
	c := p.Config.Compare
	if c == nil || c.Until != untilDecided {
		return nil
	}
	s := &compare.Sequential{Metric: c.Metric, Pairs: c.Pairs, Alpha: c.Alpha, Block: c.Block, Runs: p.Config.Runs, Seed: *p.Config.Seed}
	s.Environments, s.Agents = Labels(p.Environments), Labels(p.Agents)
	run := make(map[[2]string]bool, len(p.Cells))
	for _, c := range p.Cells {
		run[[2]string{p.Environments[c.Environment].Name, p.Agents[c.Agent].Name}] = true
	}
	s.Skips = func(environment, agent string) bool { return !run[[2]string{environment, agent}] }
	return s
}

// Streams returns, by label, what identifies the random numbers and the task of
// each environment's runs, besides the program of the environment.
func (p *Plan) Streams() map[string]compare.Stream {
	out := map[string]compare.Stream{}
	evaluate := cmp.Or(p.Config.Evaluate, &Evaluation{})
	for _, e := range p.Environments {
		out[e.Name] = compare.Stream{
			Limit: evaluate.Limit, Evaluated: evaluate.Steps,
			Seed: *p.Config.Seed, Steps: p.Config.Steps, Episodes: p.Config.Episodes, Discount: p.Config.MetricDiscount(),
			Plugin: e.CommandLine(), Params: meaning(e.Params),
		}
	}
	return out
}
