package tabularagents

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/plugins/internal/agenttest"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
)

// expect integrates f over Student's t: in pieces, by Gauss and Legendre, along the
// angle whose tangent is the argument in units of a width that is given.
func expect(d distuv.StudentsT, width float64, f func(x float64) float64) float64 {
	sum := 0.0
	const pieces = 400
	for i := range pieces {
		from, to := math.Pi*(float64(i)/pieces-0.5), math.Pi*(float64(i+1)/pieces-0.5)
		sum += quad.Fixed(func(a float64) float64 {
			c := math.Cos(a)
			x := d.Mu + width*math.Tan(a)
			return d.Prob(x) * f(x) * width / (c * c)
		}, from, to, 20, quad.Legendre{}, 0)
	}
	return sum
}

// marginal is the belief about μ, predictive that about a return.
func marginal(b bandit.NormalGamma) distuv.StudentsT {
	return distuv.StudentsT{Mu: b.Mu, Sigma: math.Sqrt(b.Beta / (b.Alpha * b.Lambda)), Nu: 2 * b.Alpha}
}

func predictive(b bandit.NormalGamma) distuv.StudentsT {
	return distuv.StudentsT{Mu: b.Mu, Sigma: math.Sqrt(b.Beta * (b.Lambda + 1) / (b.Alpha * b.Lambda)), Nu: 2 * b.Alpha}
}

func drawBelief(t *rapid.T, name string) bandit.NormalGamma {
	return bandit.NormalGamma{
		Mu:     rapid.Float64Range(-3, 3).Draw(t, name+" mu"),
		Lambda: math.Exp(rapid.Float64Range(-2, 4).Draw(t, name+" log lambda")),
		Alpha:  1.05 + math.Exp(rapid.Float64Range(-2, 4).Draw(t, name+" log alpha")),
		Beta:   math.Exp(rapid.Float64Range(-3, 3).Draw(t, name+" log beta")),
	}
}

// The mixture update has the moments Eτ, Eμτ, Eμ²τ and E log τ of the mixture, by a
// quadrature of another kind.
func TestMixtureUpdateByQuadrature(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, next := drawBelief(t, "b"), drawBelief(t, "next")
		r, gamma := rapid.Float64Range(-1, 1).Draw(t, "r"), rapid.Float64Range(0.1, 1).Draw(t, "gamma")
		d := predictive(next)
		average := func(f func(p bandit.NormalGamma) float64) float64 {
			return expect(d, d.Sigma*math.Sqrt(d.Nu), func(x float64) float64 {
				p := b
				p.Update(r+gamma*x, nil) // the belief after this return
				return f(p)
			})
		}
		tau := average(func(p bandit.NormalGamma) float64 { return p.Alpha / p.Beta })
		first := average(func(p bandit.NormalGamma) float64 { return p.Mu * p.Alpha / p.Beta })
		second := average(func(p bandit.NormalGamma) float64 { return 1/p.Lambda + p.Mu*p.Mu*p.Alpha/p.Beta })
		log := average(func(p bandit.NormalGamma) float64 { return mathext.Digamma(p.Alpha) - math.Log(p.Beta) })
		got := mixtureUpdate(b, next, r, gamma)
		check := func(name string, got, want, size float64) {
			if !(math.Abs(got-want) <= 1e-7*size) {
				t.Fatalf("%s is %v, of the mixture %v (%+v)", name, got, want, got)
			}
		}
		check("Eτ", got.Alpha/got.Beta, tau, tau)
		check("Eμτ", got.Mu*got.Alpha/got.Beta, first, math.Abs(first)+tau)
		check("Eμ²τ", 1/got.Lambda+got.Mu*got.Mu*got.Alpha/got.Beta, second, second)
		if got.Alpha > leastAlpha {
			check("E log τ", mathext.Digamma(got.Alpha)-math.Log(got.Beta), log, 1+math.Abs(log))
		} else if log > mathext.Digamma(leastAlpha)-math.Log(leastAlpha/tau)+1e-6 {
			t.Fatal("the least shape was taken without need")
		}
	})
}

// The moments of the return agree with quadrature. The moment update follows the paper's
// theorem with n = 1 and these moments.
func TestMomentUpdateByQuadrature(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, next := drawBelief(t, "b"), drawBelief(t, "next")
		next.Alpha += 1 // where a quadrature of x² converges well
		r, gamma := rapid.Float64Range(-1, 1).Draw(t, "r"), rapid.Float64Range(0, 1).Draw(t, "gamma")
		d := predictive(next)
		moment := func(n float64) float64 {
			return expect(d, d.Sigma*math.Sqrt(d.Nu), func(x float64) float64 { return math.Pow(r+gamma*x, n) })
		}
		m1, m2 := moment(1), moment(2)
		got := momentUpdate(b, next, r, gamma)
		want := bandit.NormalGamma{
			Mu: (b.Lambda*b.Mu + m1) / (b.Lambda + 1), Lambda: b.Lambda + 1, Alpha: b.Alpha + 0.5,
			Beta: b.Beta + (m2-m1*m1)/2 + b.Lambda*(m1-b.Mu)*(m1-b.Mu)/(2*(b.Lambda+1)),
		}
		near := func(x, y float64) bool { return math.Abs(x-y) <= 1e-5*(1+math.Abs(y)) }
		if !near(got.Mu, want.Mu) || got.Lambda != want.Lambda || got.Alpha != want.Alpha || !near(got.Beta, want.Beta) {
			t.Fatalf("%+v, want %+v", got, want)
		}
	})
}

// If what follows is known exactly, both updates are the update by a return that was
// seen.
func TestUpdatesOfAKnownReturn(t *testing.T) {
	b := bandit.NormalGamma{Mu: 0.3, Lambda: 2, Alpha: 3, Beta: 1.5}
	known := bandit.NormalGamma{Mu: 2, Lambda: 1e6, Alpha: 1e6, Beta: 1e-6}
	want := b
	want.Update(0.5+0.9*2, nil)
	for name, got := range map[string]bandit.NormalGamma{"moment": momentUpdate(b, known, 0.5, 0.9), "mixture": mixtureUpdate(b, known, 0.5, 0.9)} {
		for _, x := range [][2]float64{{got.Mu, want.Mu}, {got.Lambda, want.Lambda}, {got.Alpha, want.Alpha}, {got.Beta, want.Beta}} {
			if math.Abs(x[0]-x[1]) > 1e-5*x[1] {
				t.Errorf("%s: %+v, want %+v", name, got, want)
			}
		}
	}
}

// No sequence of updates leaves the beliefs that are proper.
func TestUpdatesStayProper(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := bandit.NormalGamma{Lambda: 1, Alpha: 2, Beta: math.Exp(rapid.Float64Range(-20, 20).Draw(t, "log beta"))}
		scale := math.Exp(rapid.Float64Range(-10, 10).Draw(t, "log scale"))
		for range rapid.IntRange(1, 30).Draw(t, "n") {
			next := drawBelief(t, "next")
			next.Beta *= scale * scale
			b = mixtureUpdate(b, next, scale*rapid.Float64Range(-1, 1).Draw(t, "r"), 0.99)
			if _, err := bandit.NewNormalGamma(b.Mu, b.Lambda, b.Alpha, b.Beta); err != nil || b.Alpha < leastAlpha {
				t.Fatalf("%+v: %v", b, err)
			}
		}
	})
}

// The value of perfect information is ∫ (x−m)⁺ p(x) dx of every action but the best,
// and ∫ (m₂−x)⁺ p(x) dx of that.
func TestVPIByQuadrature(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		beliefs := []bandit.NormalGamma{drawBelief(t, "0"), drawBelief(t, "1"), drawBelief(t, "2")}
		best := 0
		for a := range beliefs {
			beliefs[a].Alpha++
			if beliefs[a].Mu > beliefs[best].Mu {
				best = a
			}
		}
		got := make([]float64, 3)
		vpi(got, beliefs)
		for a, b := range beliefs {
			d := marginal(b)
			gain := func(x float64) float64 { return max(0, x-beliefs[best].Mu) }
			if a == best {
				second := math.Inf(-1)
				for o := range beliefs {
					if o != best {
						second = max(second, beliefs[o].Mu)
					}
				}
				gain = func(x float64) float64 { return max(0, second-x) }
			}
			if want := expect(d, d.Sigma*math.Sqrt(d.Nu), gain); math.Abs(got[a]-want) > 1e-4*(d.Sigma+want) {
				t.Fatalf("action %d: %v, want %v", a, got[a], want)
			}
		}
	})
	one := []float64{1}
	if vpi(one, []bandit.NormalGamma{{Lambda: 1, Alpha: 2, Beta: 1}}); one[0] != 0 {
		t.Errorf("the only action's value of information is %v", one[0])
	}
}

func TestInverseLogMinusDigamma(t *testing.T) {
	for _, x := range []float64{0.02, 0.5, 1, 1.01, 2, 10, 5000, 9999, 10001, 1e6, 1e10} {
		if got := inverseLogMinusDigamma(logMinusDigamma(x)); math.Abs(got-x) > 1e-6*x {
			t.Errorf("of %v: %v", x, got)
		}
	}
	if a, b := logMinusDigamma(1e4), logMinusDigamma(1.0000001e4); math.Abs(a-b) > 1e-10 {
		t.Errorf("the expansion differs by %v", a-b)
	}
}

// Two steps by hand, as in Q-learning's test: only the pair that acted learns, from
// the best action of what follows, and from nothing after termination.
func TestBayesianQByHand(t *testing.T) {
	for _, terminated := range []bool{false, true} {
		c := agenttest.NewCaller(t, find(t, "bayesian-q"), `{"gamma":0.5,"mean":1,"sd":2,"update":"moment"}`)
		x := lanes.Learners[int](c.Agent)[0].(*bayesQ)
		must.Do(t, c.Step(vector.NewRun, 5, 0, false, false))
		a := int(c.Actions.Int64[0]) - 1
		prior := bandit.NormalGamma{Mu: 1, Lambda: 1, Alpha: 2, Beta: 4}
		x.beliefs[4].Mu = 3 // the best of state 2
		want := momentUpdate(prior, x.beliefs[4], 0.25, 0.5)
		if terminated {
			want = prior
			want.Update(0.25, nil)
		}
		must.Do(t, c.Step(vector.Continue, 7, 0.25, terminated, false))
		for i, b := range x.beliefs {
			switch {
			case i == a && b != want:
				t.Errorf("belief %+v, want %+v", b, want)
			case i != a && i != 4 && b != prior:
				t.Errorf("belief %d has become %+v", i, b)
			}
		}
	}
}

// On the chain, value of information with mixture updates is published with 2417 ± 217 in
// the second 1,000 steps of 10 runs (Dearden, Friedman & Russell 1998). The prior is not
// published. Always going back to the start earns about 1,600. Ours must earn as much, up
// to three standard errors of the difference, ± taken for a deviation.
func TestBayesianQExplores(t *testing.T) {
	sum, squares := 0.0, 0.0
	const runs = 20
	for _, o := range play(t, "chain", `{"limit":0}`, "bayesian-q", ``, 0, runs, 2000, []int{1000, 2000}, result.CumulativeReward) {
		r := o.Curves[result.CumulativeReward][1] - o.Curves[result.CumulativeReward][0]
		sum += r / runs
		squares += r * r / runs
	}
	se := math.Sqrt((squares - sum*sum) / runs)
	t.Logf("%.0f ± %.0f", sum, se)
	if sum < 2417-3*math.Hypot(217/math.Sqrt(10), se) {
		t.Errorf("reward in the second 1000 steps is %.0f ± %.0f", sum, se)
	}
}

func TestBayesianQRefusals(t *testing.T) {
	for _, tt := range []struct{ params, want string }{
		{`{"gamma":2}`, "gamma"}, {`{"select":"x"}`, "select"}, {`{"update":"x"}`, "update"}, {`{"sd":0}`, "sd"},
		{`{"lambda":0}`, "lambda"}, {`{"alpha":1}`, "alpha"},
	} {
		_, err := BayesianQ().OpenAgent(t.Context(), json.RawMessage(tt.params), agenttest.Finite, 1)
		if !errors.Is(err, framework.ErrInvalidParams) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.params, err)
		}
	}
	endless := agenttest.Finite
	endless.Continuing = true
	if _, err := BayesianQ().OpenAgent(t.Context(), json.RawMessage(`{"gamma":1}`), endless, 1); !errors.Is(err, framework.ErrUnsupported) {
		t.Errorf("no discount in a task that continues: %v", err)
	}
}
