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
		case NearestUnknown.Name:
			up(source.Name, list[0])
			if list[0].Actions[n-1] != 1 || list[0].End[n-1] != 1 || !list[0].Initiation[n-1] {
				t.Errorf("%s does not try what is unknown", source.Name)
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
