package options

// RuleNever always chooses the greedy option: the baseline without exploration.
var RuleNever = &Rule{
	Name:    "never",
	Doc:     "never explores: always the greedy option",
	begin:   func(c *Comparison) { c.exact = true },
	compare: func(_ *Comparison, x int) ComparisonResult { return ComparisonResult{Option: x} },
}
