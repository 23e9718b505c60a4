package options

// Pair is an option that is aimed at one state and action: go there by the cheapest way,
// take the action once, then follow the greedy policy. It needs no values in K models,
// since both sides of the threshold are known: the gain of trying, and the cost
// including the way back (docs/theory.md §3.8). All amounts are sums of rewards over the
// rest of the run, discounted as the agent's criterion discounts.
type Pair struct {
	State, Action int // counted from 0, as in the agent's observation and action spaces
	// Gain is E[γ^τ g], g ≥ 0 being the value of what trying the pair may show, and τ
	// the time until it is tried.
	Gain float64
	// Cost is the expected sum of discounted gaps V(s) − Q(s,a) ≥ 0 from now on until
	// the pair has been tried, including the gap of the pair itself.
	Cost float64
	// Steps is the expected number of steps until the pair has been tried, at least 1.
	Steps float64
}

// Advantage returns Gain − Cost: exploring pays if it is positive, by condition (T).
func (p Pair) Advantage() float64 { return p.Gain - p.Cost }

// Rate returns the advantage per expected step. Among pairs that pay, the one of the
// largest rate comes first (Smith 1956).
func (p Pair) Rate() float64 { return p.Advantage() / p.Steps }
