package result

import (
	"encoding/json"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/rlrun/rlrun/framework/stat"
)

// confidence is the level of every interval.
const confidence = 0.95

// Estimate is a mean over runs with its Student-t 95 % confidence interval. One run has
// none, and runs that all have the same value have none: it would have no width, and
// another run may differ all the same. Its ends are NaN then.
// What N runs cannot tell (all with none, the spread with one) is NaN, in JSON
// null.
type Estimate struct {
	N      int     // number of runs
	Mean   float64 // over the N runs
	StdErr float64 // standard error of Mean; NaN for one run
	Low    float64 // lower end of the 95 % interval
	High   float64 // upper end of the 95 % interval
}

type estimateJSON struct {
	N      int    `json:"n"`
	Mean   Number `json:"mean"`
	StdErr Number `json:"stderr"`
	Low    Number `json:"ci_low"`
	High   Number `json:"ci_high"`
}

func (e Estimate) json() estimateJSON {
	return estimateJSON{e.N, Number(e.Mean), Number(e.StdErr), Number(e.Low), Number(e.High)}
}

// MarshalJSON writes n, mean, stderr, ci_low and ci_high.
func (e Estimate) MarshalJSON() ([]byte, error) { return json.Marshal(e.json()) }

// UnmarshalJSON reads what MarshalJSON writes.
func (e *Estimate) UnmarshalJSON(data []byte) error {
	var w estimateJSON
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	*e = Estimate{w.N, float64(w.Mean), float64(w.StdErr), float64(w.Low), float64(w.High)}
	return nil
}

// estimate uses t, the quantile of Student's distribution for m.N values.
func estimate(m *stat.Moments, t *quantiles) Estimate {
	nan := math.NaN()
	switch m.N {
	case 0:
		return Estimate{0, nan, nan, nan, nan}
	case 1:
		return Estimate{1, m.Mean, nan, nan, nan}
	}
	stderr := m.StdErr()
	half := stderr * t.of(m.N)
	i := stat.NewInterval(m.Mean, m.Mean-half, m.Mean+half)
	return Estimate{m.N, m.Mean, stderr, i.Low, i.High}
}

// EstimateMean estimates the mean of what xs were drawn from; NaN is no value.
func EstimateMean(xs []float64) Estimate { return estimateOf(xs, new(quantiles)) }

func estimateOf(xs []float64, t *quantiles) Estimate {
	var m stat.Moments
	for _, x := range xs {
		m.Add(x)
	}
	return estimate(&m, t)
}

// quantiles caches the two-sided quantile of Student's distribution by the
// number of values.
type quantiles map[int]float64

func (q *quantiles) of(n int) float64 {
	if *q == nil {
		*q = quantiles{}
	}
	t, ok := (*q)[n]
	if !ok {
		t = distuv.StudentsT{Sigma: 1, Nu: float64(n - 1)}.Quantile((1 + confidence) / 2)
		(*q)[n] = t
	}
	return t
}
