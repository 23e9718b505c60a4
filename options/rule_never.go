package options

import "github.com/rlrun/rlrun/bandit"

// RuleNever always chooses the greedy option: the baseline without exploration.
var RuleNever Rule = ruleNever{}

type ruleNever struct{}

func (ruleNever) String() string { return "never" }

func (ruleNever) Doc() string { return "never explores: always the greedy option" }

func (ruleNever) Bounds() []bandit.IndexKind { return nil }

func (ruleNever) Begin(c *Comparison) { c.exact = true }

func (ruleNever) Compare(_ *Comparison, x int) ComparisonResult { return ComparisonResult{Option: x} }
