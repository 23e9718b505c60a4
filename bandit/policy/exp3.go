package policy

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Exp3 selects arm i with probability p_i ∝ exp(−η·L_i) (Auer, Cesa-Bianchi, Freund & Schapire 2002), in the form of
// Bubeck & Cesa-Bianchi (2012, Fig. 3.1), for any sequence of rewards. A reward r of arm i adds
// (high − r)/(w·p_i) to L_i, where w is the width of the range of rewards and high its end. Of K arms η = √(ln K/(K·t))
// in the t-th step, or √(2·ln K/(K·H)) for H pulls.
type Exp3 struct {
	Horizon *int `json:"horizon,omitempty" jsonschema:"minimum=1,maximum=1000000000000" jsonschema_description:"H, the number of pulls. Default: not known, and the rate falls with every pull, as in Bubeck & Cesa-Bianchi (2012, §3.1)."`
}

func (p Exp3) build(t *setting) (maker, error) {
	width, err := t.width()
	return func(beliefs) Policy {
		e := &exp3{tally: newTally(t.Arms, 0), losses: make([]float64, t.Arms), weights: make([]float64, t.Arms), high: t.High, width: width, now: 1}
		if p.Horizon != nil {
			e.half = float64(*p.Horizon) / 2
		}
		return e
	}, err
}

type exp3 struct {
	tally
	losses, weights []float64 // L; scratch
	high, width     float64   // of the range of rewards
	half            float64   // of the horizon; 0: it is not known
	now             float64   // number of the step
}

// weigh fills weights and returns their sum. The largest is 1.
func (e *exp3) weigh() (sum float64) {
	t, n := e.now, float64(len(e.losses))
	if e.half > 0 {
		t = e.half
	}
	rate, least := math.Sqrt(math.Log(n)/(n*t)), slices.Min(e.losses)
	for i, loss := range e.losses {
		e.weights[i] = math.Exp(rate * (least - loss))
		sum += e.weights[i]
	}
	return sum
}

func (e *exp3) SelectArm(rng *rand.Rand) int {
	u := rng.Float64() * e.weigh()
	for i, w := range e.weights {
		if u -= w; u < 0 {
			return i
		}
	}
	return slices.Index(e.weights, 1) // rounding has used up the sum
}

func (e *exp3) Update(arm int, reward float64, _ *rand.Rand) {
	sum := e.weigh()
	e.losses[arm] += (e.high - reward) / e.width * sum / max(e.weights[arm], 1e-300)
	e.now++
	e.add(arm, reward)
}
