package options

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/rlrun/rlrun/internal/must"
)

// path is what is seen of a path of n states: action 1 goes up and action 0 down. In the last
// state action 1 was never tried.
func path(n int) *Experience {
	x := &Experience{States: n, Actions: 2}
	for s := range n {
		x.Seen = append(x.Seen, Seen{State: s, Action: 0, Next: max(s-1, 0), Count: 3})
		if s < n-1 {
			x.Seen = append(x.Seen, Seen{State: s, Action: 1, Next: s + 1, Count: 2})
		}
	}
	return x
}

// On a path of n states the eigenvectors of the Laplacian are those of the discrete cosine
// transform, cos(πk(s+½)/n), in either sign (Strang 1999).
func TestSpectrumOfAPath(t *testing.T) {
	const n = 9
	states, vectors := newGraph(path(n)).spectrum()
	if len(states) != n {
		t.Fatalf("states %v", states)
	}
	for k := 1; k < n; k++ {
		got := mat.Col(nil, k, vectors)
		scale := got[0] / math.Cos(math.Pi*float64(k)/2/n)
		for s, x := range got {
			if want := scale * math.Cos(math.Pi*float64(k)*(float64(s)+0.5)/n); math.Abs(x-want) > 1e-9 {
				t.Errorf("vector %d in state %d is %v, want %v", k, s, x, want)
			}
		}
	}
}

// On a path, covering options go to its ends, the first eigenoptions too, and the nearest
// unknown is at its end.
func TestSourcesOnAPath(t *testing.T) {
	const n = 9
	up := func(name string, o DeclaredOption) {
		for s := range n - 1 {
			if o.Actions[s] != 1 || o.End[s] != 0 {
				t.Errorf("%s: action %d in state %d, ends with %v", name, o.Actions[s], s, o.End[s])
			}
		}
	}
	for _, source := range Sources {
		x := path(n)
		list := must.Get(source.Make(x))(t)
		must.Do(t, CheckDeclared(list, n, 2))
		if again := must.Get(source.Make(x))(t); len(list) == 0 || !slices.EqualFunc(list, again, func(a, b DeclaredOption) bool {
			return slices.Equal(a.Actions, b.Actions) && slices.Equal(a.End, b.End)
		}) {
			t.Errorf("%s: %d options, or others for the same experience", source.Name, len(list))
		}
		switch source.Name {
		case NearestUnknown.Name, InformationGain.Name, SuccessorCounts.Name: // the last state was left least, and its untried action tells most
			up(source.Name, list[0])
			if list[0].Actions[n-1] != 1 || list[0].End[n-1] != 1 || !list[0].Initiation[n-1] {
				t.Errorf("%s does not try what is unknown: %+v", source.Name, list)
			}
		case ActionRepeats.Name, RandomPolicies.Name:
			for s := range n {
				if len(list) != 2 || list[0].Actions[s]+list[1].Actions[s] != 1 || list[0].End[s] != 0.1 || !list[1].Initiation[s] {
					t.Errorf("%s in state %d: %+v", source.Name, s, list)
				}
			}
			if x.Seed++; (source.Name == RandomPolicies.Name) == slices.Equal(list[0].Actions, must.Get(source.Make(x))(t)[0].Actions) {
				t.Errorf("%s of another seed", source.Name)
			}
		case CoveringOptions.Name:
			if list[0].End[0] != 1 || list[0].Actions[5] != 0 || list[1].End[n-1] != 1 {
				t.Errorf("%s: %+v", source.Name, list)
			}
			up(source.Name, list[1])
		case Eigenoptions.Name:
			if len(list) != 8 || list[0].End[n-1] != 1 {
				t.Errorf("%s: %d options, the first %+v", source.Name, len(list), list[0])
			}
			up(source.Name, list[0])
		}
		for _, empty := range []*Experience{{States: 3, Actions: 2}, {States: 3, Actions: 2, Seen: []Seen{{State: 1, Next: 1, Count: 1}}}} {
			must.Get(source.Make(empty))(t)
		}
	}
}

// Machado, Bellemare & Bowling (2020), theorem 1: the norm of a state that was left n times is 1 + γ − γ/(n+1), up to γ²/(1−γ) above it.
func TestSuccessorNormsCount(t *testing.T) {
	x := path(9)
	g := newGraph(x)
	for _, gamma := range []float64{0.01, 0.1, 0.5, 0.95} {
		for i, norm := range g.successors(x, gamma) {
			n := 5.0
			if i == 8 {
				n = 3
			}
			if least := 1 + gamma - gamma/(n+1); norm < least-1e-12 || norm > least+gamma*gamma/(1-gamma) {
				t.Errorf("γ = %v, state %d: norm %v, want at least %v", gamma, i, norm, least)
			}
		}
	}
}

// Of two outcomes the gain is H(p̄) − E H(p), here with p = sin²θ, for which Beta(½+i, ½+j) has the density sin²ⁱθ cos²ʲθ.
func TestInformationGainOfTwoOutcomes(t *testing.T) {
	entropy := func(p float64) float64 { return -p*math.Log(p) - (1-p)*math.Log(1-p) }
	for _, counts := range [][]int{{}, {1}, {2, 1}, {0, 7}, {20, 30}} {
		padded := append(slices.Clone(counts), 0, 0)
		sum, total := 0.0, 0.0
		const points = 100_000
		for k := range points {
			sine, cosine := math.Sincos(math.Pi / 2 * (float64(k) + 0.5) / points)
			w := math.Pow(sine, 2*float64(padded[0])) * math.Pow(cosine, 2*float64(padded[1]))
			sum, total = sum+w*entropy(sine*sine), total+w
		}
		mean := (0.5 + float64(padded[0])) / (1 + float64(padded[0]+padded[1]))
		if got, want := informationGain(counts, 2), entropy(mean)-sum/total; math.Abs(got-want) > 1e-6 {
			t.Errorf("counts %v: %v, want %v", counts, got, want)
		}
	}
}
