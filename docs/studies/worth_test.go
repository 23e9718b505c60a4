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
