package linearagents

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/options"
	"github.com/rlrun/rlrun/plugins/internal/members"
)

// The values of policies are learned as expected Sarsa with traces over full
// vectors learns them, traces ending where a policy would have acted otherwise.
func TestPoliciesAreEvaluated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := bootstrapParams{Ensemble: defaultEnsemble(), Params: members.Params{Behaviour: "mean", Redraw: "auto", Epsilon: 0.3, Values: "policies", Evaluated: 1, Reveal: 1}}
		p.Features = Features{Tilings: rapid.IntRange(1, 3).Draw(t, "tilings"), Tiles: 2, Memory: 1 << 10}
		p.Members, p.Gamma, p.Step = 2, 0.9, 0.3
		p.Lambda = rapid.SampledFrom([]float64{0, 0.8}).Draw(t, "lambda")
		raw := effective(t, p, "mask", "redraw", "traces")
		x := open(t, string(raw))
		must.Do(t, x.SetOptionKinds([]options.Kind{options.Members, options.Constants, options.Uniform}))
		v := x.evaluation
		n := len(v.policies) // greedy, a member, three constants, uniform
		if n != 6 {
			t.Fatalf("policies %v", v.policies)
		}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		x.Start(1)
		want := make([]dense, 2*n) // member k's policy q at k*n+q
		for i := range want {
			want[i] = dense{w: make([]float64, len(x.w)/2), z: make([]float64, len(x.w)/2),
				alpha: p.Step / float64(p.Features.Tilings), fade: p.Gamma * p.Lambda, cut: negligibleTrace, replacing: true}
			for f := range want[i].w {
				want[i].w[f] = x.w[f*2+i/n]
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
		point := func() []float64 { return []float64{2*rng.Float64() - 1, 2*rng.Float64() - 1} }
		for range 3 {
			o := point()
			action := x.Begin(o)
			for i := range want {
				clear(want[i].z)
			}
			for step := range 10 {
				acted := slices.Clone(v.acts)
				r, next, gamma, after := rng.NormFloat64(), point(), p.Gamma, 0
				if step == 9 {
					gamma = 0
					x.End(r, next, true)
				} else {
					after = x.Step(r, next)
				}
				for i := range want {
					d, q := &want[i], i%n
					if acted[q] != action {
						clear(d.z)
					}
					worth := (d.value(features(next, 0)) + d.value(features(next, 1)) + d.value(features(next, 2))) / 3
					if b := v.acts[q]; b >= 0 {
						worth = d.value(features(next, b))
					}
					d.learn(features(o, action), r+gamma*worth)
				}
				o, action = next, after
			}
		}
		for i, d := range want {
			for f, w := range d.w {
				if got := v.weights.w[f*2*n+i]; math.Abs(got-w) > 1e-9*(1+math.Abs(w)) {
					t.Fatalf("member %d, policy %v: weight %d is %v, want %v", i/n, v.policies[i%n], f, got, w)
				}
			}
		}
	})
}

// Policies do what options of their kinds do, and their values are kept for where the
// agent is.
func TestPoliciesActAsOptions(t *testing.T) {
	x := open(t, `{"values":"policies","evaluated":3,"sd":2}`)
	must.Do(t, x.SetOptionKinds([]options.Kind{options.Members, options.Constants}))
	rng := rand.New(rand.NewPCG(1, 1))
	x.Start(1)
	x.Begin([]float64{0, 0})
	e := make([]float64, len(x.evaluation.e))
	for range 100 {
		x.Step(rng.NormFloat64(), []float64{rng.Float64(), rng.Float64()})
		for p, o := range x.evaluation.policies {
			f := x.executor
			f.ExecuteOption(o)
			if a := f.Action(x); a != x.evaluation.acts[p] {
				t.Fatalf("policy %v takes action %d, the option %d", o, x.evaluation.acts[p], a)
			}
		}
		x.evaluation.weights.values(e, &x.here)
		if !slices.Equal(e, x.evaluation.e) {
			t.Fatal("values are out of date")
		}
	}
	p := options.Problem{Hold: 1} // the host's part
	if err := x.DescribeDecision(&p); err != nil || p.Check() != nil || len(p.Arms) < 1+3+3 {
		t.Fatalf("%v, %d options", err, len(p.Arms))
	}
}
