package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/rlrun/rlrun/framework/metric"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/stat"
	"github.com/rlrun/rlrun/internal/parallel"
)

// Overall is what is found over environments.
type Overall struct {
	// Scores are the scales by which environments were normalised, by label.
	Scores map[string]Scale
	// Unscored are the labels of environments without a scale. The aggregates leave
	// them out.
	Unscored []string
	// Incomplete are the labels of environments in which some agent has no values. The
	// aggregates and ranks leave them out.
	Incomplete []string
	// Tau are the normalised scores at which profiles have a point, in increasing order.
	// It is empty unless two environments have a scale.
	Tau []float64
	// Aggregates has an entry for each agent. It is empty unless two environments have a
	// scale.
	Aggregates   []Aggregate
	Improvements []Improvement // of every pair of agents that was compared
	Ranks        *Ranks        // nil unless all agents have values in two environments
}

// Scale is a range of values by which an environment is normalised.
type Scale struct {
	Range
	Source string `json:"source"` // where the range comes from: "given" or "model"
}

// Aggregate is one agent over environments, by normalised scores.
type Aggregate struct {
	Agent                            string          // label
	IQM, Mean, Median, OptimalityGap stat.Interval   // of normalised scores (Agarwal et al. 2021)
	Profile                          []stat.Interval // share of runs above each tau
	flat                             int             // how many of the four have no interval as they do not vary
}

// Improvement is the probability of improvement of agent A over agent B, over all
// environments (Agarwal et al. 2021).
type Improvement struct {
	A, B         string         // labels
	Environments int            // in which both have values
	Probability  stat.Interval  // that a run of A is better than one of B
	IQM          *stat.Interval // difference of the interquartile means, A minus B; nil without scores
	flat         int            // how many of the two have no interval as they do not vary
}

// Ranks are mean ranks over environments, 1 being best.
type Ranks struct {
	Environments []string  // in which all agents have values
	Agents       []string  // from best to worst
	Mean         []float64 // mean rank of each of Agents
	ChiSquared   float64   // Friedman's statistic
	F            float64   // that of Iman and Davenport; NaN where all environments rank the agents alike
	P            float64   // of stat.FriedmanPermutation
	Exact        bool      // P counts all arrangements of ranks, and not random ones
	// CriticalDifference is Nemenyi's, in ranks. It is NaN with fewer than six environments
	// or fewer than three agents.
	CriticalDifference float64
	// Cliques are groups of agents, each as the first and the last position in Agents.
	// Within a group no two agents differ by Wilcoxon's test with Holm's correction. It
	// is nil where CriticalDifference is NaN.
	Cliques [][2]int
}

// cdEnvironments is the number of environments from which on there is a
// critical-difference diagram.
const cdEnvironments = 6

// friedmanDraws is the number of random arrangements where all are too many to count.
const friedmanDraws = 9_999

// taus are the points of performance profiles: 101 from 0 to 1, or on to the largest
// score.
func taus(most float64) []float64 {
	top := max(1, most)
	out := make([]float64, 101)
	for i := range out {
		out[i] = float64(i) / 100 * top
	}
	return out
}

func (c *comparer) overall(pairs [][2]int) {
	o := &Overall{Scores: map[string]Scale{}}
	var scored []string
	for _, env := range c.Environments {
		if !c.complete(env) {
			o.Incomplete = append(o.Incomplete, env)
		} else if s, ok := c.scale(env); ok {
			o.Scores[env] = s
			scored = append(scored, env)
		} else {
			o.Unscored = append(o.Unscored, env)
		}
	}
	var iqm map[int]stat.Sampled
	if len(scored) > 1 {
		iqm = c.aggregate(o, scored)
	}
	o.Improvements = make([]Improvement, len(pairs))
	parallel.Each(len(pairs), func(k int) {
		defer c.tell()
		o.Improvements[k] = c.improvement(pairs[k], iqm, o.Scores)
	})
	o.Improvements = slices.DeleteFunc(o.Improvements, func(i Improvement) bool { return i.Environments == 0 })
	flat := 0
	for i := range o.Aggregates {
		flat += o.Aggregates[i].flat
	}
	for i := range o.Improvements {
		flat += o.Improvements[i].flat
	}
	if flat > 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("%d values over environments have no interval, as they are the same whichever runs are drawn, which does not mean that another run could not differ.", flat))
	}
	o.Ranks = c.ranks()
	c.Overall = o
}

// aggregate fills in the aggregates over environments that have a scale. It returns the
// resampled interquartile means of the agents, by their index.
func (c *comparer) aggregate(o *Overall, scored []string) map[int]stat.Sampled {
	scores := map[int]stat.Scores{}
	most := math.Inf(-1)
	for i := range c.Agents {
		if s := c.scores(i, scored, o.Scores); s != nil {
			scores[i] = s
			for _, values := range s {
				most = max(most, slices.Max(values))
			}
		}
	}
	if len(scores) > 0 {
		o.Tau = taus(most)
	}
	aggregates, iqms := make([]Aggregate, len(c.Agents)), make([]stat.Sampled, len(c.Agents))
	parallel.Each(len(c.Agents), func(i int) {
		s := scores[i]
		if s == nil { // nor anywhere else
			return
		}
		// The same seeds draw the same runs of all agents of an experiment.
		salt := ""
		if c.Config.Unpaired { // agents are independent
			salt = fmt.Sprint(i)
		}
		r := stat.NewResampler(1-c.Config.Alpha, c.seeds(&c.Agents[i], salt, scored))
		found := r.Aggregate(s, 1, o.Tau)
		a := Aggregate{Agent: c.Agents[i].Label, IQM: r.Interval(found.IQM), Mean: r.Interval(found.Mean),
			Median: r.Interval(found.Median), OptimalityGap: r.Interval(found.OptimalityGap)}
		a.flat = flat(found.IQM.Samples != nil, a.IQM, a.Mean, a.Median, a.OptimalityGap)
		for _, share := range found.Profile {
			a.Profile = append(a.Profile, r.Interval(share))
		}
		aggregates[i], iqms[i] = a, found.IQM
	})
	iqm := map[int]stat.Sampled{}
	for i := range c.Agents {
		if scores[i] != nil {
			iqm[i] = iqms[i]
			o.Aggregates = append(o.Aggregates, aggregates[i])
		}
	}
	return iqm
}

// improvement compares a pair of agents over the environments in which both have values;
// it is zero with fewer than two of these.
func (c *comparer) improvement(pair [2]int, iqm map[int]stat.Sampled, scales map[string]Scale) Improvement {
	var envs []string
	for _, env := range c.Environments {
		x, y := c.values[cell{env, pair[0]}], c.values[cell{env, pair[1]}]
		if x != nil && y != nil && len(x.values) > 0 && len(y.values) > 0 {
			envs = append(envs, env)
		}
	}
	if len(envs) < 2 {
		return Improvement{}
	}
	a := &c.Agents[pair[0]]
	r := stat.NewResampler(1-c.Config.Alpha, c.seeds(a, fmt.Sprint(pair), envs))
	sx, sy := c.scores(pair[0], envs, nil), c.scores(pair[1], envs, nil)
	imp := Improvement{A: a.Label, B: c.Agents[pair[1]].Label, Environments: len(envs), Probability: r.ProbabilityOfImprovement(sx, sy)}
	imp.flat = flat(stat.Enough(sx, 1-c.Config.Alpha) && stat.Enough(sy, 1-c.Config.Alpha), imp.Probability)
	x, hasX := iqm[pair[0]]
	y, hasY := iqm[pair[1]]
	if hasX && hasY {
		d := r.Difference(x, y)
		e := c.noise(pair[0], scales) + c.noise(pair[1], scales)
		if (result.Rounded{Value: d.High, Error: e}).Minus(result.Rounded{Value: d.Low, Error: e}).Value == 0 {
			d = stat.NewInterval(d.Value, d.Value, d.Value)
		}
		imp.IQM = &d
		imp.flat += flat(x.Samples != nil && y.Samples != nil, d)
	}
	return imp
}

// flat is how many intervals are left out though there are enough runs.
func flat(enough bool, of ...stat.Interval) (n int) {
	for _, i := range of {
		if enough && math.IsNaN(i.Low) {
			n++
		}
	}
	return n
}

// noise is how far rounding may have moved the normalised scores of an agent.
func (c *comparer) noise(agent int, scales map[string]Scale) float64 {
	most := 0.0
	for env, r := range scales {
		s := c.values[cell{env, agent}]
		for _, x := range s.values {
			most = max(most, s.rounding.Of(x).Error/math.Abs(r.High-r.Low))
		}
	}
	return most
}

// complete tells whether every agent that has values in some environment has them in
// this one.
func (c *comparer) complete(env string) bool {
	for i := range c.Agents {
		if s := c.values[cell{env, i}]; (s == nil || len(s.values) == 0) && c.present(i) {
			return false
		}
	}
	return true
}

// present tells whether an agent has values anywhere.
func (c *comparer) present(agent int) bool {
	return slices.ContainsFunc(c.Environments, func(env string) bool {
		s := c.values[cell{env, agent}]
		return s != nil && len(s.values) > 0
	})
}

// seeds gives every environment a seed of its own, the same for agents whose runs are
// paired there.
func (c *comparer) seeds(a *ComparedAgent, salt string, envs []string) []uint64 {
	out := make([]uint64, len(envs))
	for e, env := range envs {
		stream := a.input.Streams[env]
		text := fmt.Sprintf("%q %q %q {Seed:%d Steps:%d Discount:%v Plugin:%s Params:%s Digest:}", env, c.Config.Metric, salt,
			stream.Seed, stream.Steps, stream.Discount, stream.Plugin, stream.Params)
		out[e] = seed.NewSource(stream.Seed, text).Seed(0, seed.Statistics, 0)
	}
	return out
}

// scores returns the values of an agent by environment, better ones larger, normalised
// where scales are given; nil if it has none in some environment.
func (c *comparer) scores(agent int, envs []string, scales map[string]Scale) stat.Scores {
	var out stat.Scores
	for _, env := range envs {
		s := c.values[cell{env, agent}]
		if s == nil || len(s.values) == 0 {
			return nil
		}
		values := slices.Clone(s.values)
		for i := range values {
			if r, ok := scales[env]; ok {
				values[i] = (values[i] - r.Low) / (r.High - r.Low)
			} else if c.LowerIsBetter {
				values[i] = -values[i]
			}
		}
		out = append(out, values)
	}
	return out
}

// scale finds the scale of an environment: as given, or from its model.
func (c *comparer) scale(env string) (Scale, bool) {
	if r, ok := c.Config.Scores[env]; ok {
		return Scale{r, "given"}, true
	}
	for i := range c.Agents {
		meta := &c.Agents[i].input.Summary.Meta
		if t, ok := meta.Tasks[env]; ok {
			if r, ok := modelRange(&t, c.Definition, float64(meta.Steps)); ok && !(meta.Episodes > 0 && c.Definition.Cumulative()) { // of unknown steps
				return Scale{r, "model"}, true
			}
		}
	}
	return Scale{}, false
}

// narrow is how far apart optimal and random rewards per step must be for a scale,
// relative to the largest reward: ten times what solvers of models may be off. Where
// actions make no difference, scores would be rounding.
const narrow = 1e-8

// modelRange is from the uniformly random policy to the optimal one, by their rewards
// per step.
func modelRange(t *result.Task, d *metric.Definition, steps float64) (r Range, ok bool) {
	if d.Scale == nil || t.Gain == nil || t.RandomGain == nil {
		return r, false
	}
	low, high := *t.RandomGain, *t.Gain
	largest := max(math.Abs(low), math.Abs(high))
	for _, bound := range []*float64{t.RewardLow, t.RewardHigh} {
		if bound != nil {
			largest = max(largest, math.Abs(*bound))
		}
	}
	if !(high-low > narrow*largest) {
		return r, false
	}
	return Range{d.Scale(low, high, steps), d.Scale(high, high, steps)}, true
}

// ranks ranks agents by their means in the environments in which all have values.
func (c *comparer) ranks() *Ranks {
	var agents []int
	for i := range c.Agents {
		if c.present(i) {
			agents = append(agents, i)
		}
	}
	k := len(agents)
	r := &Ranks{CriticalDifference: math.NaN()}
	var table [][]float64 // by environment, larger is better
	for _, env := range c.Environments {
		var means []*sample // of one value each
		for _, i := range agents {
			if s := c.scores(i, []string{env}, nil); s != nil {
				means = append(means, &sample{values: []float64{stat.Mean(s[0])}, rounding: c.values[cell{env, i}].rounding})
			}
		}
		if len(means) < k {
			continue
		}
		merge(means)
		row := make([]float64, k)
		for i, m := range means {
			row[i] = m.values[0]
		}
		table = append(table, row)
		r.Environments = append(r.Environments, env)
	}
	if len(table) < 2 {
		return nil
	}
	f := stat.Friedman(table)
	r.ChiSquared, r.F = f.ChiSquared, f.F
	source := seed.NewSource(c.Agents[0].input.Streams[c.Environments[0]].Seed, "Friedman")
	r.P, r.Exact = stat.FriedmanPermutation(table, friedmanDraws, source.Seed(0, seed.Statistics, 0))
	order := make([]int, k)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(f.MeanRanks[a], f.MeanRanks[b]) })
	for _, i := range order {
		r.Agents, r.Mean = append(r.Agents, c.Agents[agents[i]].Label), append(r.Mean, f.MeanRanks[i])
	}
	if len(table) < cdEnvironments || k < 3 {
		return r
	}
	r.CriticalDifference = stat.NemenyiCD(k, len(table), c.Config.Alpha)
	// Wilcoxon between all pairs, by positions in the order.
	var ps []float64
	d := make([]float64, len(table))
	for i := range order {
		for j := i + 1; j < k; j++ {
			for e, row := range table {
				d[e] = row[order[i]] - row[order[j]]
			}
			_, p := stat.Wilcoxon(d)
			ps = append(ps, p)
		}
	}
	holm := stat.Holm(ps)
	positions := make([]int, k)
	for i := range positions {
		positions[i] = i
	}
	r.Cliques = stat.Cliques(positions, func(a, b int) bool {
		i, j := min(a, b), max(a, b)
		return holm[i*k-i*(i+1)/2+j-i-1] <= c.Config.Alpha
	})
	return r
}
