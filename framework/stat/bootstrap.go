package stat

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/rlrun/rlrun/internal/each"
)

// Resamples is the usual number of bootstrap samples of an interval.
const Resamples = 2000

// Interval is an estimate with its interval, in the unit of what is estimated.
type Interval struct {
	Value     float64 // the estimate
	Low, High float64 // ends of the interval; NaN where the runs are too few for one, or do not vary
}

// NewInterval is an interval with a width. One without would claim certainty, and another run
// may still differ: then the ends are NaN.
func NewInterval(value, low, high float64) Interval {
	if !(low < high) {
		return unknown(value)
	}
	return Interval{value, low, high}
}

// Resampler makes percentile bootstrap intervals (Efron 1979). Each sample draws,
// within every environment, as many runs as there are, with replacement. Environments
// are drawn independently, agents jointly. If two agents have the same number of runs
// in an environment, a sample holds the same runs of both. So intervals of
// differences make use of common random numbers.
type Resampler struct {
	level float64
	seeds []uint64
}

// NewResampler returns a resampler for intervals of the given level, such as 0.95.
// seeds has one seed an environment.
func NewResampler(level float64, seeds []uint64) *Resampler {
	return &Resampler{level: level, seeds: seeds}
}

// counts returns a function that returns, sample after sample, how often each of n runs
// was drawn from rng. Its result is valid until the next call.
func counts(rng *rand.Rand, n int) (next func() []uint32) {
	counts := make([]uint32, n)
	return func() []uint32 {
		clear(counts)
		for range n {
			counts[rng.IntN(n)]++
		}
		return counts
	}
}

// draws is counts from a seed.
func draws(seed uint64, n int) (next func() []uint32) {
	return counts(rand.New(rand.NewPCG(seed, uint64(n))), n)
}

// interval orders what was computed from the samples.
func (r *Resampler) interval(value float64, samples []float64) Interval {
	return NewInterval(value, quantile(samples, (1-r.level)/2), quantile(samples, (1+r.level)/2))
}

// quantile is Quantile of values in any order. It moves those of the ranks that count to their
// places, which takes less time than to sort all (Hoare 1961, "Find").
func quantile(values []float64, p float64) float64 {
	k := int(p * float64(len(values)-1))
	for low, high := 0, len(values)-1; low < high; {
		i, j, pivot := low, high, values[low+(high-low)/2]
		for i <= j {
			for values[i] < pivot {
				i++
			}
			for pivot < values[j] {
				j--
			}
			if i <= j {
				values[i], values[j] = values[j], values[i]
				i, j = i+1, j-1
			}
		}
		if k > j {
			low = i
		}
		if k < i {
			high = j
		}
	}
	if k+1 < len(values) {
		least := k + 1
		for i := k + 2; i < len(values); i++ {
			if values[i] < values[least] {
				least = i
			}
		}
		values[k+1], values[least] = values[least], values[k+1]
	}
	return Quantile(values, p)
}

func unknown(value float64) Interval { return Interval{value, math.NaN(), math.NaN()} }

// Enough tells whether runs are enough for a percentile bootstrap interval of a level. A
// resampled mean is never outside of the runs. The true mean of n runs is, with probability
// 2¹⁻ⁿ where they are symmetric about it, so that this must be at most 1 − level: at 95 % it
// takes six. Over environments the runs count that each has beyond its first.
func Enough(s Scores, level float64) bool {
	runs := 1
	for _, values := range s {
		if len(values) < 2 { // which have an unknown variance
			return false
		}
		runs += len(values) - 1
	}
	return runs >= Design{Alpha: 1 - level}.LeastRuns()
}

// Mean estimates the mean in environment e. For a difference of means of paired
// runs, values are the differences. The ends are NaN without Enough values, or if all are equal.
func (r *Resampler) Mean(e int, values []float64) Interval {
	n := len(values)
	if !Enough(Scores{values}, r.level) {
		return unknown(Mean(values))
	}
	next, sorted := draws(r.seeds[e], n), newRanked(values)
	samples := make([]float64, Resamples)
	for b := range samples {
		samples[b] = sorted.trimmed(next(), 0)
	}
	return r.interval(Mean(values), samples)
}

// Sampled holds a statistic and its value in every bootstrap sample.
type Sampled struct {
	Value   float64   // of the data themselves
	Samples []float64 // one per resample
}

// Interval is the percentile interval.
func (r *Resampler) Interval(s Sampled) Interval {
	if s.Samples == nil {
		return unknown(s.Value)
	}
	return r.interval(s.Value, slices.Clone(s.Samples))
}

// Difference is the interval of x − y, sample by sample.
func (r *Resampler) Difference(x, y Sampled) Interval {
	if x.Samples == nil || y.Samples == nil {
		return unknown(x.Value - y.Value)
	}
	d := make([]float64, len(x.Samples))
	for b := range d {
		d[b] = x.Samples[b] - y.Samples[b]
	}
	return r.interval(x.Value-y.Value, d)
}

// Aggregates are the statistics of one agent over environments, each with its
// samples.
type Aggregates struct {
	IQM, Mean, Median, OptimalityGap Sampled // as in Agarwal et al. (2021)
	// Profile is the performance profile at the taus asked for.
	Profile []Sampled
}

func (a *Aggregates) all() []*Sampled {
	all := []*Sampled{&a.IQM, &a.Mean, &a.Median, &a.OptimalityGap}
	for i := range a.Profile {
		all = append(all, &a.Profile[i])
	}
	return all
}

// Aggregate computes the statistics of normalised scores, with the target gamma of
// the optimality gap. There are no samples without Enough runs.
func (r *Resampler) Aggregate(s Scores, gamma float64, taus []float64) Aggregates {
	a := Aggregates{
		IQM: Sampled{Value: IQM(s)}, Mean: Sampled{Value: MeanOfMeans(s)}, Median: Sampled{Value: MedianOfMeans(s)},
		OptimalityGap: Sampled{Value: OptimalityGap(s, gamma)},
	}
	for _, share := range Profile(s, taus) {
		a.Profile = append(a.Profile, Sampled{Value: share})
	}
	if !Enough(s, r.level) {
		return a
	}
	for _, x := range a.all() {
		x.Samples = make([]float64, Resamples)
	}

	pooled := newRanked(s.pool())
	capped := newRanked(each.Of(s.pool(), func(x float64) float64 { return min(x, gamma) }))
	sorted := each.Of(s, newRanked)
	var pool []uint32 // counts of the pooled values
	above := make([]float64, len(taus))
	averages := make([]float64, len(s))
	next := make([]func() []uint32, len(s)) // of each environment
	for e, values := range s {
		next[e] = draws(r.seeds[e], len(values))
	}
	for b := range Resamples {
		pool = pool[:0]
		for e, values := range sorted {
			drawn := next[e]()
			pool = append(pool, drawn...)
			averages[e] = values.trimmed(drawn, 0)
		}
		a.Mean.Samples[b] = Mean(averages)
		a.Median.Samples[b] = median(averages)
		a.IQM.Samples[b] = pooled.iqm(pool)
		a.OptimalityGap.Samples[b] = gamma - capped.trimmed(pool, 0)
		pooled.tail(pool, taus, above)
		for i, share := range above {
			a.Profile[i].Samples[b] = share
		}
	}
	return a
}

// ProbabilityOfImprovement estimates P(X > Y) + P(X = Y)/2, averaged over
// environments. Here agents are drawn independently: the quantity is of any run of the
// one against any of the other, and joint draws would favour pairs of equal runs.
//
// If every run of the one is better than every run of the other, samples do not differ. Then
// the interval is that of Clopper & Pearson (1934) for disjoint pairs of runs, all of which
// are won. With common random numbers these are run 2k of the one and run 2k+1 of the other.
// Without Enough values the ends are NaN.
func (r *Resampler) ProbabilityOfImprovement(x, y Scores) Interval {
	value := ProbabilityOfImprovement(x, y)
	if !Enough(x, r.level) || !Enough(y, r.level) {
		return unknown(value)
	}
	if value == 0 || value == 1 {
		pairs := math.MaxInt
		for e := range x {
			pairs = min(pairs, len(x[e])/2, len(y[e])/2)
		}
		open := 1 - math.Pow((1-r.level)/2, 1/float64(pairs*len(x)))
		return Interval{value, max(0, value-open), min(1, value+open)}
	}
	samples := make([]float64, Resamples)
	for e := range x {
		xs, ys := newRanked(x[e]), newRanked(y[e])
		xc, yc := draws(r.seeds[e], len(x[e])), draws(^r.seeds[e], len(y[e]))
		for b := range samples {
			samples[b] += above(xs, ys, xc(), yc()) / float64(len(x))
		}
	}
	return r.interval(value, samples)
}

// ranked holds values in ascending order, with where each came from.
type ranked struct {
	values []float64
	index  []int
	last   []int // of equal values −1, all bits, and 0 of those before it
}

func newRanked(values []float64) ranked {
	r := ranked{slices.Clone(values), make([]int, len(values)), make([]int, len(values))}
	for i := range r.index {
		r.index[i] = i
	}
	slices.SortStableFunc(r.index, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	for i, k := range r.index {
		r.values[i] = values[k]
		if r.last[i] = -1; i > 0 && r.values[i-1] == r.values[i] {
			r.last[i-1] = 0
		}
	}
	return r
}

// count is how often value i is in a sample that holds value k counts[k] times, once if
// counts is nil.
func (r ranked) count(counts []uint32, i int) int {
	if counts == nil {
		return 1
	}
	return int(counts[r.index[i]])
}

// iqm is the interquartile mean of a sample.
func (r ranked) iqm(counts []uint32) float64 { return r.trimmed(counts, len(r.values)/4) }

// trimmed is the mean of a sample without its cut least and cut greatest values; none needs sorting.
// Equal values are added at once, so that the mean does not depend on which of them were drawn. Nor
// does rounding bring it out of the values' range.
func (r ranked) trimmed(counts []uint32, cut int) float64 {
	n := len(r.values)
	if n == 0 {
		return math.NaN()
	}
	if counts == nil {
		counts = slices.Repeat([]uint32{1}, n)
	}
	index, last := r.index[:n], r.last[:n] // so that no step asks whether there are as many
	sum, rank, before := 0.0, 0, cut
	for i, x := range r.values {
		rank += int(counts[index[i]])
		inside := (min(max(rank, cut), n-cut) - before) & last[i]
		sum += float64(float64(inside) * x) // mostly by nothing: a branch would be guessed wrongly
		before += inside
	}
	return min(max(sum/float64(n-2*cut), r.values[0]), r.values[n-1])
}

// tail sets above[i] to the share of the sample above taus[i], which increase.
func (r ranked) tail(counts []uint32, taus, above []float64) {
	i, below := 0, 0
	for t, tau := range taus {
		for ; i < len(r.values) && r.values[i] <= tau; i++ {
			below += r.count(counts, i)
		}
		above[t] = float64(len(r.values)-below) / float64(len(r.values))
	}
}

// above is P(X > Y) + P(X = Y)/2 of samples with the counts xc and yc.
func above(x, y ranked, xc, yc []uint32) float64 {
	wins, below := 0.0, 0 // below: weight of the values of y before j
	for i, j := 0, 0; i < len(x.values); {
		v := x.values[i]
		for ; j < len(y.values) && y.values[j] < v; j++ {
			below += y.count(yc, j)
		}
		equal, weight := 0, 0
		for k := j; k < len(y.values) && y.values[k] == v; k++ {
			equal += y.count(yc, k)
		}
		for ; i < len(x.values) && x.values[i] == v; i++ {
			weight += x.count(xc, i)
		}
		wins += float64(weight) * (float64(below) + float64(equal)/2)
	}
	return wins / float64(len(x.values)) / float64(len(y.values))
}

// BootstrapIQM returns the interquartile mean of each sample, with its percentile
// bootstrap interval of the given level. All samples have as many values. They share
// the draws from rng, so that a sample's interval is the same in any company. Of more
// than 10,000 values the interval is that of TrimmedInterval, which the bootstrap's
// approaches. The ends are NaN without Enough values, or if all are equal.
func BootstrapIQM(samples [][]float64, level float64, rng *rand.Rand) []Interval {
	out := make([]Interval, len(samples))
	if len(samples) == 0 {
		return out
	}
	n := len(samples[0])
	sorted := make([]ranked, len(samples))
	for i, values := range samples {
		sorted[i] = newRanked(values)
		switch {
		case !Enough(Scores{values}, level):
			out[i] = unknown(sorted[i].iqm(nil))
		case n > manyValues:
			out[i] = TrimmedInterval(sorted[i].values, n/4, level)
		default:
			out[i].Value = sorted[i].iqm(nil)
		}
	}
	if !Enough(Scores{samples[0]}, level) || n > manyValues {
		return out
	}
	next := counts(rng, n)
	drawn := make([]float64, Resamples*len(samples)) // of the first sample, then of the second, and so on
	for b := range Resamples {
		counts := next()
		for i := range sorted {
			drawn[i*Resamples+b] = sorted[i].iqm(counts)
		}
	}
	for i := range out {
		own := drawn[i*Resamples:][:Resamples]
		out[i] = NewInterval(out[i].Value, quantile(own, (1-level)/2), quantile(own, (1+level)/2))
	}
	return out
}
