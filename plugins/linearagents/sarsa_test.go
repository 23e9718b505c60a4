package linearagents

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
)

// dense is SARSA(λ) as in the box of Sutton & Barto (2018, §12.7), written out over
// full vectors.
type dense struct {
	w, z             []float64
	alpha, fade, cut float64
	replacing        bool
}

func (d *dense) value(features []int) (q float64) {
	for _, i := range features {
		q += d.w[i]
	}
	return q
}

func (d *dense) learn(features []int, target float64) {
	delta := target - d.value(features)
	for _, i := range features {
		if d.replacing {
			d.z[i] = 1
		} else {
			d.z[i]++
		}
	}
	for i := range d.w {
		d.w[i] += d.alpha * delta * d.z[i]
		if d.z[i] *= d.fade; d.z[i] < d.cut {
			d.z[i] = 0
		}
	}
}

// The agent's weights are those of the box, along any path: two routes, one answer.
func TestSARSAIsTheBox(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := sarsaParams{
			Features: Features{Tilings: rapid.IntRange(1, 4).Draw(t, "tilings"), Tiles: 3, Memory: rapid.SampledFrom([]int{16, 1 << 10}).Draw(t, "memory")},
			Gamma:    rapid.Float64Range(0.01, 1).Draw(t, "gamma"), Step: rapid.Float64Range(0.01, 1).Draw(t, "step"),
			Lambda: rapid.SampledFrom([]float64{0, 0.5, 0.9}).Draw(t, "lambda"), Traces: rapid.SampledFrom([]string{"replacing", "accumulating"}).Draw(t, "traces"),
			Epsilon: 0.5,
		}
		var none []string
		if p.Lambda == 0 {
			none = []string{"traces"}
		}
		raw := effective(t, p, none...)
		a := must.Get(SARSA().OpenAgent(t.Context(), raw, boxed, 1))(t)
		x := lanes.Learners[[]float64](a)[0].(*sarsa)
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		want := dense{
			w: make([]float64, len(x.weights.w)), z: make([]float64, len(x.weights.w)),
			alpha: p.Step / float64(p.Features.Tilings), fade: p.Gamma * p.Lambda, cut: negligibleTrace,
		}
		// Without traces, a feature that two tilings share moves twice: the gradient.
		want.replacing = p.Traces == "replacing" && want.fade > 0
		features := func(o []float64, a int) (list []int) {
			here := newPlace(x.here.coder)
			here.set(o)
			for _, f := range here.active {
				list = append(list, int(f)*3+a)
			}
			return list
		}
		point := func() []float64 { return []float64{2*rng.Float64() - 1, 2*rng.Float64() - 1} }
		x.Start(1)
		for range 3 {
			clear(want.z)
			o := point()
			action := x.Begin(o)
			for range 12 {
				r, next := rng.NormFloat64(), point()
				after := x.Step(r, next)
				want.learn(features(o, action), r+p.Gamma*want.value(features(next, after)))
				o, action = next, after
			}
			x.End(1, point(), true)
			want.learn(features(o, action), 1)
		}
		for i, w := range want.w {
			if math.Abs(w-x.weights.w[i]) > 1e-9*(1+math.Abs(w)) {
				t.Fatalf("weight %d is %v, want %v", i, x.weights.w[i], w)
			}
		}
	})
}

// A truncated episode bootstraps from where it led.
func TestTruncation(t *testing.T) {
	for _, agent := range []string{"sarsa-linear", "bootstrap-linear"} {
		for _, terminated := range []bool{true, false} {
			a := must.Get(find(t, agent).OpenAgent(t.Context(), json.RawMessage(map[string]string{
				"sarsa-linear":     `{"features":{"tilings":1,"tiles":1},"initial":10,"gamma":0.5,"step":1,"epsilon":0}`,
				"bootstrap-linear": `{"features":{"tilings":1,"tiles":1},"mean":10,"sd":0,"gamma":0.5,"step":1,"members":2}`,
			}[agent]), boxed, 1))(t)
			var value func() float64
			x := lanes.Learners[[]float64](a)[0]
			switch y := x.(type) {
			case *sarsa:
				value = func() float64 { return y.weights.w[y.last] }
			case *bootstrap:
				value = func() float64 { return y.w[y.last*2] }
			}
			x.Start(1)
			x.Begin([]float64{0, 0})
			x.End(3, []float64{0, 0}, terminated)
			if want := map[bool]float64{true: 3, false: 8}[terminated]; math.Abs(value()-want) > 1e-12 {
				t.Errorf("%s, terminated %v: value %v, want %v", agent, terminated, value(), want)
			}
		}
	}
}
