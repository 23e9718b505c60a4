package explore

import (
	"math"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/mdp"
)

// rarely is the share of greedy steps below which the correlations are those of all
// steps. Otherwise a lane that always explores would never learn for how long to
// explore. It may explore always just because it decides again at every step.
const rarely = 0.1

// patience is the number of steps before this is reported.
const patience = 1000

// series are the last rewards and observations of a lane, in stretches that nothing
// interrupted.
type series struct {
	width   int       // elements of an observation
	values  []float64 // rows of the reward and those features; a ring
	stretch []int     // that a row belongs to
	now     int       // the present stretch
	total   int       // rows ever added
}

// remembered is the number of rows that are kept: times of up to a few hundred
// steps can be told from them.
const remembered = 2048

// maxWatched is the largest number of features of an observation.
const maxWatched = 16

// newSeries returns a series of rewards and features of an environment's
// observations, and of rewards alone where these are labels, which have no order.
func newSeries(spec framework.Spec) series {
	if b, ok := spec.Observation.(space.Box); ok {
		return series{width: b.Width()}
	}
	return series{}
}

// features returns the number of features of an observation: up to maxWatched elements
// each by itself, of more the means of as many stretches of neighbours.
func (s *series) features() int { return min(s.width, maxWatched) }

// cut ends a stretch: later values do not follow from earlier ones.
func (s *series) cut() { s.now++ }

// add records the outcome of a step of lane i.
func (s *series) add(in *vector.Feedback, i int) {
	width := 1 + s.features()
	at := s.total % remembered
	if s.total < remembered {
		s.values = append(s.values, make([]float64, width)...)
		s.stretch = append(s.stretch, 0)
	}
	row := s.values[at*width : (at+1)*width]
	s.stretch[at] = s.now
	s.total++
	row[0] = in.Rewards[i]
	o, begin, end := &in.Observations, i*s.width, (i+1)*s.width
	switch {
	case s.width == 0:
	case o.Type == space.Float64:
		means(row[1:], o.Float64[begin:end])
	case o.Type == space.Float32:
		means(row[1:], o.Float32[begin:end])
	case o.Type == space.Uint8:
		means(row[1:], o.Uint8[begin:end])
	case o.Type == space.Int64:
		means(row[1:], o.Int64[begin:end])
	}
}

// means fills dst with the means of as many stretches of x, of nearly equal length.
func means[T float32 | float64 | uint8 | int64](dst []float64, x []T) {
	for d := range dst {
		part := x[d*len(x)/len(dst) : (d+1)*len(x)/len(dst)]
		sum := 0.0
		for _, v := range part {
			sum += float64(v)
		}
		dst[d] = sum / float64(len(part))
	}
}

// mixing returns the time after which correlations have fallen below the
// threshold η: the longest of the reward's and of those of the observation's
// features. If a correlation falls like φ^k, its integrated time is τ = 1 + 2Σφ^k
// = (1+φ)/(1−φ) (Sokal 1997, §2). mixing returns the first T ≥ 1 with φ^T < η,
// for the φ that follows from τ. It is a diagnostic, not a bound: it misses what
// neither the reward nor the observation shows.
func (s *series) mixing(o mdp.MixingConfig) int {
	eta := o.Eta
	if eta == 0 {
		eta = 0.25
	}
	longest := 1
	for column := range 1 + s.features() {
		tau := s.integrated(column)
		phi := (tau - 1) / (tau + 1)
		if phi > eta {
			longest = max(longest, int(math.Log(eta)/math.Log(phi))+1)
		}
	}
	return longest
}

// integrated returns the integrated autocorrelation time of a column, at least 1. The sum
// over lags ends by the rule of the initial monotone sequence (Geyer 1992, §3.3). In a
// reversible chain sums of two neighbouring autocovariances are positive and fall. Any
// other sum is noise. It ends at the latest at the lag that less than a tenth of the data
// have.
func (s *series) integrated(column int) float64 {
	width, n := 1+s.features(), len(s.stretch)
	x := make([]float64, n)
	first := 0
	if s.total > n { // the ring's oldest row
		first = s.total % n
	}
	where := make([]int, n)
	mean := 0.0
	for k := range n {
		at := (first + k) % n
		x[k], where[k] = s.values[at*width+column], s.stretch[at]
		mean += x[k] / float64(n)
	}
	for k := range x {
		x[k] -= mean
	}
	covariance := func(lag int) (c float64, ok bool) {
		pairs := 0
		for k := range n - lag {
			if where[k] == where[k+lag] {
				c += x[k] * x[k+lag]
				pairs++
			}
		}
		return c / float64(pairs), pairs > 0 && 10*pairs >= n
	}
	variance, ok := covariance(0)
	if !ok || !(variance > 1e-24*(1+mean*mean)) {
		return 1
	}
	sum, before := -variance, math.Inf(1)
	for lag := 0; lag+1 < n; lag += 2 {
		even, _ := covariance(lag)
		odd, ok := covariance(lag + 1)
		gamma := min(even+odd, before)
		if !ok || gamma <= 0 {
			break
		}
		sum += 2 * gamma
		before = gamma
	}
	return max(1, sum/variance)
}
