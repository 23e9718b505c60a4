package mdp

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// Gamma variates are those of gonum, draw by draw.
func TestGamma(t *testing.T) {
	a, b := rand.New(rand.NewPCG(1, 0)), rand.New(rand.NewPCG(1, 0))
	for k := range 100_000 {
		shape := 1 + float64(k%7)*float64(k%11)/10
		if got, want := gamma(shape, a), (distuv.Gamma{Alpha: shape, Beta: 1, Src: b}).Rand(); got != want {
			t.Fatalf("draw %d of shape %v is %v, gonum's is %v", k, shape, got, want)
		}
	}
}
