package linearagents

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"

	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
	"github.com/rlrun/rlrun/plugins/internal/members"
)

// open returns a lane of bootstrap-linear in boxed.
func open(t interface {
	Fatal(...any)
	Helper()
}, params string) *bootstrap {
	t.Helper()
	a := must.Get(Bootstrap().OpenAgent(context.Background(), json.RawMessage(params), boxed, 1))(t)
	return lanes.Learners[[]float64](a)[0].(*bootstrap)
}

// effective encodes parameters without those that have no effect.
func effective(t *rapid.T, p any, none ...string) json.RawMessage {
	var all map[string]json.RawMessage
	must.Do(t, json.Unmarshal(must.Get(json.Marshal(p))(t), &all))
	for _, name := range none {
		delete(all, name)
	}
	return must.Get(json.Marshal(all))(t)
}

// Each member learns as Q(λ) over full vectors does, from the shares that it drew:
// uncut as Harutyunyan et al. (2016), cut as Watkins (1989).
func TestMembersAreQLambda(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cut := rapid.Bool().Draw(t, "cut")
		p := bootstrapParams{Ensemble: defaultEnsemble(), Params: members.Params{Behaviour: "thompson", Redraw: "episode", Epsilon: 0.5, Reveal: 1}}
		p.Features = Features{Tilings: rapid.IntRange(1, 4).Draw(t, "tilings"), Tiles: 3, Memory: rapid.SampledFrom([]int{16, 1 << 10}).Draw(t, "memory")}
		p.Members, p.Gamma, p.Step = 3, rapid.Float64Range(0.01, 1).Draw(t, "gamma"), rapid.Float64Range(0.01, 0.5).Draw(t, "step")
		p.Lambda = rapid.SampledFrom([]float64{0, 0.5, 0.9}).Draw(t, "lambda")
		p.Update = rapid.SampledFrom([]string{"all", "bernoulli", "exponential", "poisson"}).Draw(t, "update")
		if p.Traces = "uncut"; cut {
			p.Traces = "cut"
		}
		none := []string{"evaluated"}
		if p.Lambda == 0 {
			none = append(none, "traces")
		}
		if p.Update != "bernoulli" {
			none = append(none, "mask")
		}
		raw := effective(t, p, none...)
		x, twin := open(t, string(raw)), open(t, string(raw))
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		x.Start(1)
		members := make([]dense, p.Members)
		for k := range members {
			n := len(x.w) / p.Members
			members[k] = dense{w: make([]float64, n), z: make([]float64, n), fade: p.Gamma * p.Lambda, cut: negligibleTrace, replacing: p.Gamma*p.Lambda > 0}
			for i := range n {
				members[k].w[i] = x.w[i*p.Members+k]
			}
		}
		features := func(o []float64, a int) (list []int) {
			here := newPlace(x.here.coder)
			here.set(o)
			for _, f := range here.active {
				list = append(list, int(f)*3+a)
			}
			return list
		}
		best := func(d *dense, o []float64) float64 {
			return max(d.value(features(o, 0)), d.value(features(o, 1)), d.value(features(o, 2)))
		}
		// learn repeats what the last call taught x: its random weights are drawn
		// anew from a copy of the generator.
		learn := func(before rand.PCG, o []float64, action int, r, gamma float64, next []float64) {
			twin.pcg = before
			twin.chance.Draw(twin.share, x.executor.Member(), twin.rng, &twin.pcg)
			for k := range members {
				d := &members[k]
				if cut && d.value(features(o, action)) < best(d, o)-1e-9 {
					clear(d.z)
				}
				d.alpha = twin.share[k] / float64(p.Features.Tilings)
				d.learn(features(o, action), r+gamma*best(d, next))
			}
		}
		point := func() []float64 { return []float64{2*rng.Float64() - 1, 2*rng.Float64() - 1} }
		for range 3 {
			for k := range members {
				clear(members[k].z)
			}
			o := point()
			action := x.Begin(o)
			for range 10 {
				r, next, before := rng.NormFloat64(), point(), x.pcg
				after := x.Step(r, next)
				learn(before, o, action, r, p.Gamma, next)
				o, action = next, after
			}
			before := x.pcg
			x.End(1, point(), true)
			learn(before, o, action, 1, 0, o)
		}
		for k, d := range members {
			for i, w := range d.w {
				if got := x.w[i*p.Members+k]; math.Abs(got-w) > 1e-8*(1+math.Abs(w)) {
					t.Fatalf("member %d: weight %d is %v, want %v", k, i, got, w)
				}
			}
		}
		values := make([]float64, 9)
		x.SetObservation(point())
		x.values(values, &x.here)
		for i, v := range values {
			if x.q[i] != v {
				t.Fatalf("value %d is kept as %v, and is %v", i, x.q[i], v)
			}
		}
	})
}

// The values kept for where the agent is are those of the weights, after steps too.
func TestValuesAreUpToDate(t *testing.T) {
	for _, params := range []string{`{"lambda":0}`, `{}`, `{"lambda":0,"features":{"memory":16}}`, `{"traces":"cut","features":{"memory":16}}`} {
		x := open(t, params)
		rng := rand.New(rand.NewPCG(1, 1))
		x.Start(1)
		x.Begin([]float64{0, 0})
		want := make([]float64, len(x.q))
		for range 200 {
			x.Step(rng.NormFloat64(), []float64{0.2 * rng.NormFloat64(), 0.2 * rng.NormFloat64()})
			x.values(want, &x.here)
			for i, v := range want {
				if math.Abs(v-x.q[i]) > 1e-9*(1+math.Abs(v)) {
					t.Fatalf("%s: value %d is kept as %v, and is %v", params, i, x.q[i], v)
				}
			}
		}
	}
}

// Shares have the mean and variance of their distributions: tests on 40,000 draws,
// each failing by chance with probability below 1e-5 (4.5 standard errors).
func TestShares(t *testing.T) {
	for _, tt := range []struct {
		params         string
		mean, variance float64
	}{
		{`{"update":"all","step":0.25}`, 0.25, 0},
		{`{"update":"bernoulli","step":0.25}`, 0.125, 0.25 * 0.25 / 4},
		{`{"update":"bernoulli","mask":0.2,"step":0.5}`, 0.1, 0.25 * 0.16},
		{`{"update":"drawn","members":4,"step":1}`, 0.25, 0.1875},
		// min(E/10, 1) and 1 − (3/4)^N have the moments that integration gives.
		{`{"update":"exponential","step":0.1}`, 0.1 * (1 - math.Exp(-10)), 0.01 * (2 - 22*math.Exp(-10) - math.Pow(1-math.Exp(-10), 2))},
		{`{"update":"poisson","step":0.25}`, 1 - math.Exp(-0.25), math.Exp(-1+0.5625) - math.Exp(-0.5)},
	} {
		x := open(t, tt.params)
		x.Start(7)
		var draws []float64
		for len(draws) < 40_000 {
			x.chance.Draw(x.share, -1, x.rng, &x.pcg)
			draws = append(draws, x.share...)
		}
		mean, variance := stat.MeanVariance(draws, nil)
		n := float64(len(draws))
		if math.Abs(mean-tt.mean) > 4.5*math.Sqrt(tt.variance/n)+1e-12 {
			t.Errorf("%s: mean %v, want %v", tt.params, mean, tt.mean)
		}
		if m4 := stat.MomentAbout(4, draws, mean, nil); math.Abs(variance-tt.variance) > 4.5*math.Sqrt(max(m4-variance*variance, 0)/n)+1e-9 {
			t.Errorf("%s: variance %v, want %v", tt.params, variance, tt.variance)
		}
	}
}

// Prior values have the mean and deviation asked for, or the documented defaults, in
// every state. The standard errors are those of sums of 4,000 independent weights. A
// false alarm has probability below 1e-5.
func TestPrior(t *testing.T) {
	for _, tt := range []struct {
		params   string
		mean, sd float64
	}{
		{`{"members":1000,"mean":-3,"sd":2}`, -3, 2},
		{`{"members":1000,"gamma":0.9}`, 10, 0.2},
		{`{"members":1000,"gamma":1}`, 0, 1},
	} {
		x := open(t, tt.params)
		x.Start(3)
		x.SetObservation([]float64{0.3, -0.7})
		mean, sd := stat.MeanStdDev(x.q, nil)
		n := float64(len(x.q))
		if math.Abs(mean-tt.mean) > 4.5*tt.sd/math.Sqrt(n) || math.Abs(sd-tt.sd) > 4.5*tt.sd/math.Sqrt(2*n) {
			t.Errorf("%s: %v ± %v, want %v ± %v", tt.params, mean, sd, tt.mean, tt.sd)
		}
	}
}
