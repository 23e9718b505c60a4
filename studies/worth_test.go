package main

import (
	"math"
	"testing"
)

// Two pulls of a known and a uniform arm, by hand: the unknown one first, then the
// better one, are worth 1/2 + (2/3 + 1/2)/2 = 13/12.
func TestOptimumByHand(t *testing.T) {
	if got := walkTask(0, 1, 1).evaluator(nil, 2).value(situation{left: 2}); math.Abs(got-13.0/12) > 1e-12 {
		t.Errorf("%v, want 13/12", got)
	}
}

// The optima of docs/studies/worth.md, by recursion over the tasks as the page describes them.
func TestOptimumByRecursion(t *testing.T) {
	type key struct {
		left, at int
		c        [3][2]int // successes and failures
	}
	// walk is worth the optimum of two arms with a way of 4 steps between them.
	seen := map[key]float64{}
	var walk func(k key) float64
	walk = func(k key) float64 {
		if v, ok := seen[k]; ok || k.left == 0 {
			return v
		}
		step := func(k key, to int) key { k.left--; k.at = to; return k }
		best := 0.0
		if k.at == 0 {
			best = 0.5 + walk(step(k, 0))
		}
		if k.at < 4 {
			best = max(best, walk(step(k, k.at+1)))
		} else {
			p := (0.45 + float64(k.c[0][0])) / (1 + float64(k.c[0][0]+k.c[0][1]))
			yes, no := step(k, 4), step(k, 4)
			yes.c[0][0]++
			no.c[0][1]++
			best = max(best, p*(1+walk(yes))+(1-p)*walk(no))
		}
		if k.at > 0 {
			best = max(best, walk(step(k, k.at-1)))
		}
		seen[k] = best
		return best
	}
	drift := map[key]float64{}
	var river func(k key) float64
	river = func(k key) float64 {
		if v, ok := drift[k]; ok || k.left == 0 {
			return v
		}
		left := k
		left.left, left.at = k.left-1, max(0, k.at-1)
		best := river(left)
		if k.at == 0 {
			best += 0.25
		}
		p := (1 + float64(k.c[k.at][0])) / (3 + float64(k.c[k.at][0]+k.c[k.at][1]))
		yes, no := k, k
		yes.left, yes.at = k.left-1, min(2, k.at+1)
		yes.c[k.at][0]++
		no.left, no.at = k.left-1, k.at
		no.c[k.at][1]++
		paid := 0.0
		if k.at == 2 {
			paid, no.at = 1, 1
		}
		best = max(best, paid+p*river(yes)+(1-p)*river(no))
		drift[k] = best
		return best
	}
	for _, tt := range []struct {
		task  *bayesTask
		steps int
		by    func(key) float64
		want  float64 // of the page
	}{{walkTask(4, 0.45, 0.55), 35, walk, 17.820}, {walkTask(4, 0.45, 0.55), 60, walk, 33.509}, {riverTask(0.25), 12, river, 3.000}, {riverTask(0.25), 14, river, 3.505}} {
		got, want := tt.task.evaluator(nil, tt.steps).value(situation{left: uint8(tt.steps)}), tt.by(key{left: tt.steps})
		if math.Abs(got-want) > 1e-9 || math.Abs(got-tt.want) > 5e-4 {
			t.Errorf("%d steps: %v, by recursion %v, on the page %v", tt.steps, got, want, tt.want)
		}
	}
}

// No rule is better than the optimum, and with little time left none explores in
// vain: all are optimal.
func TestRulesAgainstTheOptimum(t *testing.T) {
	for name, task := range map[string]*bayesTask{"walk": walkTask(2, 0.45, 0.55), "river": riverTask(0.25)} {
		best := task.evaluator(nil, 10)
		rules := []bayesRule{never, threshold(false), threshold(true)}
		if name == "walk" {
			rules = append(rules, paper)
		}
		for i, rule := range rules {
			e := task.evaluator(rule, 10)
			for h := uint8(1); h <= 10; h++ {
				x := situation{left: h}
				if loss := best.value(x) - e.value(x); loss < -1e-9 || h <= 3 && loss > 1e-9 {
					t.Errorf("%s, rule %d, %d steps: loses %v", name, i, h, loss)
				}
			}
		}
	}
}

// The mean is the area under a curve, and the threshold the largest rectangle under it.
// So the threshold is never above the mean.
func TestRectangleIsBelowTheMean(t *testing.T) {
	w := betaBinomial(4, 1, 3)
	sum := 0.0
	for _, p := range w {
		sum += p
	}
	if math.Abs(sum-1) > 1e-12 || math.Abs(w[0]-3.0/7) > 1e-12 { // B(1,7)/B(1,3)
		t.Errorf("beta-binomial %v", w)
	}
	d := []float64{0, 0, 0.5, 1, 2}
	if sup, mean := rectangle(w, d, false), rectangle(w, d, true); !(sup > 0 && sup <= mean) {
		t.Errorf("sup %v, mean %v", sup, mean)
	}
}
