package options

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/internal/must"
)

// drawProblem draws values in [0,1] of a few directed options and, last, an
// uninformed one, in a few models. The greedy option is the first and, as a greedy
// option is, not worse on average than the other directed ones if best is set.
func drawProblem(t *rapid.T, best bool) *Problem {
	n, k := rapid.IntRange(2, 5).Draw(t, "options"), rapid.IntRange(1, 12).Draw(t, "models")
	p := &Problem{Hold: 1}
	for range n {
		p.Arms = append(p.Arms, Arm{Name: "x"})
	}
	p.Arms[n-1] = Arm{Name: "uninformed", Class: Uninformed, RevealProbability: rapid.Float64Range(0.1, 1).Draw(t, "ζ")}
	p.Values = rapid.SliceOfN(rapid.Float64Range(0, 1), n*k, n*k).Draw(t, "values")
	if best {
		top := 0
		for x := range n - 1 {
			if mean(p.row(x)) > mean(p.row(top)) {
				top = x
			}
		}
		for i, v := range p.row(0) {
			p.row(0)[i], p.row(top)[i] = p.row(top)[i], v
		}
	}
	for i := range k {
		v := 0.0
		for x := range n {
			v = max(v, p.row(x)[i])
		}
		p.Optimal = append(p.Optimal, v+rapid.Float64Range(0, 0.2).Draw(t, "more"))
	}
	return p
}

// two is the problem of the greedy option and option x alone.
func (p *Problem) two(x int) *Problem {
	q := *p
	q.Arms = []Arm{p.Arms[0], p.Arms[x]}
	q.Values = append(append([]float64{}, p.row(0)...), p.row(x)...)
	return &q
}

// pairwise are the rules that compare each option with the greedy one only.
var pairwise = []DeciderConfig{
	{Rule: RuleCommonModel}, {Rule: RuleCommonModel, Bound: bandit.UPlus}, {Rule: RuleCommonModel, Bound: bandit.V},
	{Rule: RuleOptimistic}, {Rule: RuleOptimistic, Bound: bandit.UPlus}, {Rule: RuleOptimistic, Bound: bandit.V},
}

func decide(t interface{ Fatal(...any) }, r DeciderConfig, gamma float64, p *Problem) Decision {
	r.Horizon = bandit.Discounted(gamma)
	d, err := Decide(r, p, newRNG(1))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// around checks that a rule explores above a discount and not below it, except
// where the advantage is no more than rounding.
func around(t *rapid.T, r DeciderConfig, p *Problem, gammaStar float64) {
	for _, gamma := range []float64{gammaStar - 1e-6, gammaStar + 1e-6, gammaStar / 2, (1 + gammaStar) / 2} {
		if gamma < 0 || gamma >= 1 || gamma == gammaStar {
			continue
		}
		if d := decide(t, r, gamma, p); d.Explore != (gamma > gammaStar) && math.Abs(d.Advantage) > 1e-12 {
			t.Fatalf("%v %v: explore %v at γ = %v, γ* = %v, T = %d: %+v", r.Rule, r.Bound, d.Explore, gamma, gammaStar, p.Hold, d)
		}
	}
}

// docs/theory.md §3.6, claim 2.
func TestThresholdFallsAsTheRootOfT(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t, false)
		r := rapid.SampledFrom(pairwise).Draw(t, "rule")
		lo, hi := 0.0, 1.0 // γ*(1) by bisection
		for hi-lo > 1e-15 {
			if mid := (lo + hi) / 2; decide(t, r, mid, p).Explore {
				hi = mid
			} else {
				lo = mid
			}
		}
		if hi < 1e-12 {
			hi = 0
		}
		p.Hold = rapid.IntRange(2, 500).Draw(t, "T")
		around(t, r, p, math.Pow(hi, 1/float64(p.Hold)))
	})
}

// At a given belief longer commitments explore less and longer horizons more.
func TestExplorationIsMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t, false)
		r := rapid.SampledFrom(pairwise).Draw(t, "rule")
		p.Hold = rapid.IntRange(1, 50).Draw(t, "T")
		gamma := rapid.Float64Range(0, 0.999).Draw(t, "γ")
		here := decide(t, r, gamma, p).Explore
		more := decide(t, r, gamma+(1-gamma)*rapid.Float64Range(0, 0.99).Draw(t, "longer"), p).Explore
		p.Hold += rapid.IntRange(0, 50).Draw(t, "more steps")
		less := decide(t, r, gamma, p).Explore
		if here && !more || less && !here {
			t.Fatalf("explores: %v, with a larger γ %v, with a larger T %v", here, more, less)
		}
	})
}

// The comparison model by model is jointThreshold, the comparison with the mean
// bandit.Threshold, and the one of an uninformed option gammaPlus.
func TestThresholdsAreTheBandits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t, false)
		p.Hold = rapid.IntRange(1, 20).Draw(t, "T")
		y, last := p.row(0), len(p.Arms)-1
		for x := 1; x < last; x++ {
			v, q := p.row(x), p.two(x)
			pop := must.Get(bandit.NewPopulation(v, bandit.PopulationConfig{}))(t)
			pair := jointThreshold(v, y, 0)
			th := bandit.Threshold(pop, bandit.Comparison{Known: mean(y), Hold: p.Hold})
			_, supDeltaP := bandit.BestDelta(pop, bandit.Comparison{Known: mean(y)}, 0)
			for i, want := range []float64{
				pair.GammaStar(p.Hold), gammaPlus(pair.Gap, pair.SupDeltaP, p.Hold), gammaPlus(pair.Gap, pair.Gain, p.Hold),
				th.GammaStar, gammaPlus(pair.Gap, supDeltaP, p.Hold), gammaPlus(pair.Gap, pop.Gain(mean(y)), p.Hold),
			} {
				around(t, pairwise[i], q, want)
			}
		}
		q := p.two(last)
		info := jointThreshold(p.Optimal, y, 0)
		gap, reveal := mean(y)-mean(p.row(last)), p.Arms[last].RevealProbability
		for i, want := range []float64{
			1: gammaPlus(gap, reveal*info.SupDeltaP, p.Hold), 2: gammaPlus(gap, reveal*info.Gain, p.Hold)} {
			if i > 0 && info.Gain > 0 {
				around(t, pairwise[i], q, want)
			}
		}
	})
}

// U ≤ U⁺ ≤ V (docs/theory.md §1.8), with b = 0 below all values.
func TestBoundsAreOrdered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t, false)
		gamma := rapid.Float64Range(0, 0.999).Draw(t, "γ")
		for x := 1; x < len(p.Arms); x++ {
			for i := 0; i < len(pairwise); i += 3 {
				u, plus, v := decide(t, pairwise[i], gamma, p.two(x)), decide(t, pairwise[i+1], gamma, p.two(x)), decide(t, pairwise[i+2], gamma, p.two(x))
				if u.Advantage > plus.Advantage+1e-12 || plus.Advantage > v.Advantage+1e-12 {
					t.Fatalf("%v: option %d has the advantages %v, %v, %v", pairwise[i].Rule, x, u.Advantage, plus.Advantage, v.Advantage)
				}
			}
		}
	})
}

// An index is the known value of the greedy option at which exploring breaks even,
// for uninformed options too.
func TestIndicesBreakEven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t, false)
		gamma := rapid.Float64Range(0, 0.999).Draw(t, "γ")
		known := func(q *Problem, v float64) *Problem {
			for i := range q.row(0) {
				q.row(0)[i] = v
			}
			return q
		}
		for x := 1; x < len(p.Arms); x++ {
			for _, kind := range []bandit.IndexKind{bandit.U, bandit.UPlus, bandit.V} {
				// The index of a known value is that value.
				index := decide(t, DeciderConfig{Rule: RuleIndex, Bound: kind}, gamma, known(p.two(x), 0.5)).Advantage + 0.5
				for _, off := range []float64{-1e-6, 1e-6} {
					if index+off < 0 {
						continue // below b
					}
					d := decide(t, DeciderConfig{Rule: RuleCommonModel, Bound: kind}, gamma, known(p.two(x), index+off))
					if d.Explore != (off < 0) && math.Abs(d.Advantage) > 1e-12 {
						t.Fatalf("option %d has the index %v of %v, but against %+g more: %+v", x, index, kind, off, d)
					}
				}
			}
		}
	})
}

// The unit of reward, and where it is zero, do not matter if b moves along.
func TestDecisionsAreInvariant(t *testing.T) {
	rules := append([]DeciderConfig{{Rule: RuleIndex}, {Rule: RuleIndex, Bound: bandit.UPlus}, {Rule: RuleIndex, Bound: bandit.V},
		{Rule: RuleOptimisticStochastic}, {Rule: RuleOptimisticStochastic, Common: true}, {Rule: RuleNever}, {Rule: RuleKnowledgeGradient}}, pairwise...)
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t, false)
		gamma := rapid.Float64Range(0, 0.999).Draw(t, "γ")
		shift := float64(rapid.IntRange(-3, 3).Draw(t, "shift"))
		scale := rapid.SampledFrom([]float64{0.125, 0.5, 1, 4}).Draw(t, "scale")
		for _, r := range rules {
			a := decide(t, r, gamma, p)
			if r.LowerBound = shift; r.Rule == RuleOptimisticStochastic {
				r.LowerBound = 0 // a shift rounds, and breaks the ties of what is drawn
			}
			q := *p
			q.Values, q.Optimal = slices.Clone(p.Values), slices.Clone(p.Optimal)
			for _, s := range [][]float64{q.Values, q.Optimal} {
				for i := range s {
					s[i] = r.LowerBound + scale*s[i]
				}
			}
			b := decide(t, r, gamma, &q)
			if math.Abs(b.Advantage-scale*a.Advantage) > 1e-12*(1+scale) || math.Abs(a.Advantage) > 1e-12 && a.Explore != b.Explore {
				t.Fatalf("%v %v: %+v, in other units %+v", r.Rule, r.Bound, a, b)
			}
		}
	})
}

// The log holds terms that make up the advantage.
func TestDecisionTerms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t, false)
		p.Hold = rapid.IntRange(1, 9).Draw(t, "T")
		gamma := rapid.Float64Range(0, 0.999).Draw(t, "γ")
		y := mean(p.row(0))
		for x := 1; x < len(p.Arms)-1; x++ {
			q := p.two(x)
			for _, r := range []DeciderConfig{{Rule: RuleOptimistic}, {Rule: RuleOptimisticStochastic}} {
				d := decide(t, r, gamma, q)
				if rho := 1 - math.Pow(gamma, float64(p.Hold)); math.Abs(d.Share-rho) > 1e-12 {
					t.Fatalf("share %v, want %v", d.Share, rho)
				}
				if want := d.Delta*d.P - (1-d.P)*d.Share*y; math.Abs(d.Advantage-want) > 1e-12 {
					t.Fatalf("%v: %+v does not add up to %v", r.Rule, d, want)
				}
			}
			d := decide(t, DeciderConfig{Rule: RuleCommonModel}, gamma, q)
			want, k := d.Delta*d.P, float64(len(q.row(0)))
			for i, v := range q.row(1) {
				if lead := v - q.row(0)[i]; d.P == 0 || lead < d.Delta {
					want -= d.Share * q.row(0)[i] / k
				}
			}
			if math.Abs(d.Advantage-want) > 1e-12 {
				t.Fatalf("common-model: %+v does not add up to %v", d, want)
			}
		}
		last := len(p.Arms) - 1
		q := p.two(last)
		for _, r := range []DeciderConfig{{Rule: RuleCommonModel}, {Rule: RuleOptimistic}, {Rule: RuleOptimisticStochastic}, {Rule: RuleOptimisticStochastic, Common: true}} {
			d := decide(t, r, gamma, q)
			n := 0.0
			for i, v := range p.Optimal {
				if v-p.row(0)[i] >= d.Delta {
					n++
				}
			}
			if d.Delta > 0 && d.P != n/float64(len(p.Optimal)) {
				t.Fatalf("%v: %+v, but δ is exceeded %v times of %d", r.Rule, d, n, len(p.Optimal))
			}
			want := (1-d.Share)*p.Arms[last].RevealProbability*d.Delta*d.P - d.Share*(y-mean(p.row(last)))
			if math.Abs(d.Advantage-want) > 1e-12 {
				t.Fatalf("uninformed, %v: %+v does not add up to %v", r.Rule, d, want)
			}
		}
	})
}

// The horizon counts steps: what is left of a finite one shrinks, and Charge
// replaces Hold.
func TestShareOfHorizon(t *testing.T) {
	p := &Problem{Arms: []Arm{{Name: "greedy"}, {Name: "other"}}, Values: []float64{0.5, 0.5, 0, 1}, Hold: 5}
	for _, c := range []struct {
		step, charge int
		want         float64
	}{{0, 0, 0.05}, {50, 0, 0.1}, {98, 0, 1}, {1000, 0, 1}, {0, 20, 0.2}} {
		p.Step, p.ExplorationCost = c.step, c.charge
		d := must.Get(Decide(DeciderConfig{Horizon: bandit.Finite(99)}, p, nil))(t)
		if math.Abs(d.Share-c.want) > 1e-15 || d.Hold != 5 || d.Step != c.step {
			t.Errorf("%+v: %+v", c, d)
		}
		if d.Explore != (0.25 > c.want*0.25) { // δp = 1/4 against the cost of the bad half
			t.Errorf("%+v: %+v", c, d)
		}
	}
}

func TestDecideRefuses(t *testing.T) {
	nan := math.NaN()
	good := func() *Problem {
		return &Problem{Arms: []Arm{{Name: "greedy"}, {Name: "other"}}, Values: []float64{0.5, 0.5, 0, 1}, Hold: 1}
	}
	info := Arm{Name: "info", Class: Uninformed, RevealProbability: 1}
	for want, spoil := range map[string]func(p *Problem){
		"greedy option is number 0 of 0":    func(p *Problem) { p.Arms = nil },
		"greedy option is number 2":         func(p *Problem) { p.Greedy = 2 },
		"greedy option is number -1":        func(p *Problem) { p.Greedy = -1 },
		"not as many for each":              func(p *Problem) { p.Values = p.Values[:3] },
		"0 values":                          func(p *Problem) { p.Values = nil },
		"held for 0 steps":                  func(p *Problem) { p.Hold = 0 },
		"charged as -1":                     func(p *Problem) { p.ExplorationCost = -1 },
		"after step -1":                     func(p *Problem) { p.Step = -1 },
		"option other in model 1 is NaN":    func(p *Problem) { p.Values[3] = nan },
		"option greedy in model 0 is +Inf":  func(p *Problem) { p.Values[0] = math.Inf(1) },
		"greedy option info is uninformed":  func(p *Problem) { p.Arms[0] = info },
		"optimal values of 2 models":        func(p *Problem) { p.Arms[1] = info },
		"the optimal value in model 1 is":   func(p *Problem) { p.Optimal = []float64{1, nan} },
		"reveals the model with probabilit": func(p *Problem) { p.Arms[1] = info; p.Arms[1].RevealProbability = nan; p.Optimal = []float64{1, 1} },
	} {
		p := good()
		spoil(p)
		if _, err := Decide(DeciderConfig{}, p, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	for want, r := range map[string]DeciderConfig{
		"unknown bound":         {Bound: -1},
		"lower bound of values": {LowerBound: nan},
		"has no bound V":        {Rule: RuleOptimisticStochastic, Bound: bandit.V},
		"common applies to":     {Rule: RuleIndex, Common: true},
	} {
		if _, err := Decide(r, good(), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	if _, err := Decide(DeciderConfig{}, good(), nil); err != nil {
		t.Error(err)
	}
}

// A decider that has seen other problems decides as a new one.
func TestDeciderForgets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := DeciderConfig{Rule: rapid.SampledFrom([]*Rule{RuleCommonModel, RuleOptimistic, RuleIndex, RuleOptimisticStochastic}).Draw(t, "rule"),
			Horizon: bandit.DiscountedFinite(0.99, 100)}
		old := must.Get(NewDecider(r))(t)
		for i := range uint64(4) {
			p := drawProblem(t, false)
			p.Step = int(i)
			a := must.Get(old.Decide(p, newRNG(i)))(t)
			if b, err := Decide(r, p, newRNG(i)); err != nil || a != b {
				t.Fatalf("%+v, a new decider %+v, %v", a, b, err)
			}
		}
	})
}

// Names read back, and are told in errors.
func TestNames(t *testing.T) {
	for _, r := range Rules {
		if got, err := RuleNamed(r.String()); err != nil || got != r || r.Doc == "" {
			t.Errorf("rule %s reads back as %v, %v", r.String(), got, err)
		}
	}
	for _, k := range Kinds {
		if got, err := KindNamed(k.String()); err != nil || got != k || k.Doc() == "" {
			t.Errorf("kind %s reads back as %v, %v", k.String(), got, err)
		}
	}
	if _, err := RuleNamed("best"); err == nil || !strings.Contains(err.Error(), "common-model") {
		t.Errorf("an unknown rule: %v", err)
	}
	if _, err := KindNamed("best"); err == nil || !strings.Contains(err.Error(), "recency-bonus") {
		t.Errorf("an unknown kind: %v", err)
	}
}

// Condition (T), by hand: pairs whose gain is above their cost are explored, the one
// of the largest advantage per step first, and none if no gain is.
func TestPairs(t *testing.T) {
	pays, more, free := Pair{State: 3, Action: 1, Gain: 5, Cost: 2, Steps: 2.5}, Pair{State: 4, Gain: 9, Cost: 1, Steps: 10}, Pair{Gain: 1, Cost: 1, Steps: 1}
	greedy := []Arm{{Name: "greedy"}}
	for _, tt := range []struct {
		pairs []Pair
		rule  *Rule
		want  Decision
	}{
		{[]Pair{free, more, pays}, RuleGain, Decision{Choice: 3, Explore: true, Hold: 3, Delta: 5, P: 1, Advantage: 3, Share: 0.03, Other: 3}},
		{[]Pair{more, free}, RuleGain, Decision{Choice: 1, Explore: true, Hold: 10, Delta: 9, P: 1, Advantage: 8, Share: 0.1, Other: 1}},
		{[]Pair{free}, RuleGain, Decision{Option: "greedy", Hold: 1, Delta: 1, P: 1, Share: 0.01, Other: 1}},
		{nil, RuleGain, Decision{Option: "greedy", Hold: 1, Share: 0.01, Other: -1}},
		{[]Pair{more}, RuleNever, Decision{Option: "greedy", Hold: 1, Share: 0.01, Other: -1}},
	} {
		p := Problem{Arms: greedy, Pairs: tt.pairs, Hold: 1}
		if tt.pairs == nil {
			p.Values = []float64{0}
		}
		got, err := Decide(DeciderConfig{Rule: tt.rule, Horizon: bandit.Finite(99)}, &p, nil)
		if got.Share = math.Round(1e9*got.Share) / 1e9; err != nil || got != tt.want {
			t.Errorf("%v: %+v, %v; want %+v", tt.pairs, got, err, tt.want)
		}
		if tt.want.Choice == 3 && p.Name(got.Choice) != "pair 3 1" {
			t.Errorf("its name is %q", p.Name(got.Choice))
		}
	}
	two := []Arm{{Name: "greedy"}, {Name: "other"}}
	for want, tt := range map[string]struct {
		rule *Rule
		p    Problem
	}{
		"use the rule gain":   {RuleOptimistic, Problem{Arms: greedy, Pairs: []Pair{pays}}},
		"option other is":     {RuleGain, Problem{Arms: two, Values: []float64{1, 2}}},
		"steps at least 1":    {RuleGain, Problem{Arms: greedy, Pairs: []Pair{{Gain: 1}}}},
		"gain NaN":            {RuleGain, Problem{Arms: greedy, Pairs: []Pair{{Gain: math.NaN(), Steps: 1}}}},
		"of state -1":         {RuleGain, Problem{Arms: greedy, Pairs: []Pair{{State: -1, Steps: 1}}}},
		"0 values for 2":      {RuleGain, Problem{Arms: two, Pairs: []Pair{pays}}},
		"cost -Inf":           {RuleGain, Problem{Arms: greedy, Pairs: []Pair{{Cost: math.Inf(-1), Steps: 1}}}},
		"0 values for 1 opti": {RuleGain, Problem{Arms: greedy}},
	} {
		tt.p.Hold = 1
		if _, err := Decide(DeciderConfig{Rule: tt.rule}, &tt.p, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}
