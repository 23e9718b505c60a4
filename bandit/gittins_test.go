package bandit

import (
	"math"
	"testing"

	"github.com/rlrun/rlrun/internal/vectors"
	"pgregory.net/rapid"
)

// plainGittins is the index by bisection on the plain recursion over the whole
// triangle, playing on with the present mean at its end.
func plainGittins(a, b, gamma float64, depth int) float64 {
	d := make([]float64, depth+1)
	worth := func(lambda float64) bool {
		for n := depth; n >= 0; n-- {
			for s := 0; s <= n; s++ {
				q := (a + float64(s)) / (a + b + float64(n))
				v := (q - lambda) / (1 - gamma)
				if n < depth {
					v = q - lambda + gamma*(q*d[s+1]+(1-q)*d[s])
				}
				if n == 0 {
					return v > 0
				}
				d[s] = max(0, v)
			}
		}
		return false
	}
	lo, hi := 0.0, 1.0
	for range 50 {
		mid := (lo + hi) / 2
		if worth(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

func TestGittinsAgainstThePlainRecursion(t *testing.T) {
	for _, gamma := range []float64{0, 0.3, 0.9, 0.97} {
		for _, arm := range []Beta{{1, 1}, {0.05, 0.05}, {0.2, 5}, {9, 0.3}, {40, 60}, {1, 300}, {500, 2}} {
			depth := 10
			if gamma > 0 {
				depth += int(math.Log(1e-10) / math.Log(gamma))
			}
			vectors.Close(t, "index", Gittins(arm.A, arm.B, gamma), plainGittins(arm.A, arm.B, gamma, depth), 0, 2e-9)
		}
	}
}

func TestGittinsBrackets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := math.Pow(10, rapid.Float64Range(-1.5, 2).Draw(t, "log10 a"))
		b := math.Pow(10, rapid.Float64Range(-1.5, 2).Draw(t, "log10 b"))
		gamma := rapid.Float64Range(0, 0.98).Draw(t, "gamma")
		coarse, fine := NewGittinsSolver(gamma, 1e-3), NewGittinsSolver(gamma, 1e-8)
		lo, hi := coarse.bracket(a, b)
		index := fine.Index(a, b)
		if !(lo <= index+1e-8 && index <= hi+1e-8) || hi-lo > 1e-3 {
			t.Fatalf("index %v not in [%v, %v]", index, lo, hi)
		}
		rho := 1 - gamma
		if kg := knowledgeGradientIndex(a, b, gamma); kg > index+1e-8 || kg < a/(a+b)-1e-12 {
			t.Fatalf("knowledge gradient %v, mean %v, Gittins %v", kg, a/(a+b), index)
		}
		if v := Index(V, Beta{a, b}, rho, 0); v < index-1e-8 { // docs/theory.md §1.8
			t.Fatalf("λ^V = %v below the Gittins index %v", v, index)
		}
		// A success raises the index, a failure lowers it.
		if up, down := fine.Index(a+1, b), fine.Index(a, b+1); !(up > index && down < index) {
			t.Fatalf("index %v, %v after a success, %v after a failure", index, up, down)
		}
		if l2, h2 := coarse.bracket(a, b); l2 != lo || h2 != hi {
			t.Fatal("the remembered bracket differs")
		}
	})
}

func TestGittinsWithoutFutureIsTheMean(t *testing.T) {
	if got := Gittins(3, 9, 0); got != 0.25 {
		t.Errorf("index %v, want the mean", got)
	}
}

func TestGittinsPreconditions(t *testing.T) {
	for name, f := range map[string]func(){
		"gamma 1":     func() { Gittins(1, 1, 1) },
		"tolerance":   func() { NewGittinsSolver(0.5, 0) },
		"a":           func() { Gittins(0, 1, 0.5) },
		"b":           func() { Gittins(1, math.Inf(1), 0.5) },
		"KG gamma":    func() { knowledgeGradientIndex(1, 1, 1) },
		"KG a":        func() { knowledgeGradientIndex(0, 1, 0.5) },
		"gamma below": func() { NewGittinsSolver(-0.1, 1e-3) },
	} {
		mustPanic(t, name, f)
	}
}
