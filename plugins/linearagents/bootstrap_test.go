package linearagents

import (
	"math"
	"slices"
	"testing"

	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/options"
	"github.com/rlrun/rlrun/plugins/internal/lanes"
)

// Three members have the same action values everywhere, given by hand. The mean prefers
// action 0, member 0 action 1, member 1 action 2, member 2 action 0.
var held = []float64{3, 4, 9, 5, 0, 2, 1, 6, 0} // at a*3+k

// opinionated returns an agent that holds them, whose host has offered all kinds it
// can make.
func opinionated(t *testing.T) *bootstrap {
	t.Helper()
	x := open(t, `{"members":3,"features":{"tilings":1,"tiles":1},"step":1e-9}`)
	must.Do(t, x.SetOptionKinds([]options.Kind{options.Members, options.Constants, options.Deviations, options.Uniform, options.Repeats}))
	x.Start(1)
	for i := range x.w {
		x.w[i] = held[i%9]
	}
	return x
}

// Each kind of option acts as it should.
func TestOptions(t *testing.T) {
	acts := func(x *bootstrap, n int) (list []int) {
		for range n {
			list = append(list, x.Act([]float64{0, 0}))
		}
		return list
	}
	for _, tt := range []struct {
		option options.TableOption
		want   []int
	}{
		{options.TableOption{Kind: options.Greedy}, []int{0, 0, 0}},
		{options.TableOption{Kind: options.Members, Of: 0}, []int{1, 1, 1}},
		{options.TableOption{Kind: options.Members, Of: 1}, []int{2, 2, 2}},
		{options.TableOption{Kind: options.Constants, Of: 2}, []int{2, 2, 2}},
		{options.TableOption{Kind: options.Deviations, Of: 2}, []int{2, 0, 0}},
	} {
		x := opinionated(t)
		x.executor.ExecuteOption(tt.option)
		if got := acts(x, 3); !slices.Equal(got, tt.want) {
			t.Errorf("%v: %v, want %v", tt.option, got, tt.want)
		}
	}

	// Uniform: with 3,000 draws a count is within 5 deviations of 1,000, except with a
	// chance below 1e-5.
	x := opinionated(t)
	x.executor.ExecuteOption(options.TableOption{Kind: options.Uniform})
	counts := [3]float64{}
	for _, a := range acts(x, 3000) {
		counts[a]++
	}
	for a, n := range counts {
		if math.Abs(n-1000) > 5*math.Sqrt(3000*2./9) {
			t.Errorf("uniform: action %d %v times of 3000", a, n)
		}
	}

	// Repeats: runs of n steps with probability in proportion to n^-2, cut at 100. A run
	// ends where the action changes, which a new draw does in two of three cases. So
	// P(change) per step is 2/3 over the mean length, and 5 deviations are allowed. The
	// variance of the number of draws in n steps is at most that of independent draws
	// times the squared coefficient of variation of a length.
	x.executor.ExecuteOption(options.TableOption{Kind: options.Repeats})
	list := acts(x, 200_000)
	changes := 0.0
	for i := range list[1:] {
		if list[i] != list[i+1] {
			changes++
		}
	}
	weight, mean, square := 0.0, 0.0, 0.0
	for n := 1.0; n <= 100; n++ {
		w := 1 / n / n
		weight, mean, square = weight+w, mean+n*w, square+n*n*w
	}
	mean, square = mean/weight, square/weight
	draws := 200_000 / mean
	deviation := math.Sqrt(draws*(square/mean/mean-1))*2/3 + math.Sqrt(draws*2/9)
	if want := draws * 2 / 3; math.Abs(changes-want) > 5*deviation {
		t.Errorf("repeats: %v changes, want %v ± %v", changes, want, deviation)
	}
}

// A host's problem is that of options.Tables, and its choice is obeyed until
// the next.
func TestFaceAndFollow(t *testing.T) {
	x := opinionated(t)
	x.SetObservation([]float64{0, 0})
	var p options.Problem
	must.Do(t, x.DescribeDecision(&p))
	tables := must.Get(options.NewTables(3, 3, 0.99, options.TableConfig{Kinds: []options.Kind{options.Members, options.Constants, options.Deviations, options.Uniform, options.Repeats}}))(t)
	var want options.Problem
	must.Do(t, tables.At(&want, held, nil, nil))
	if !slices.Equal(p.Values, want.Values) || !slices.Equal(p.Arms, want.Arms) || !slices.Equal(p.Optimal, want.Optimal) {
		t.Fatalf("%+v, want %+v", p, want)
	}
	for i, arm := range p.Arms {
		if arm.Name == "member 1" {
			if a := x.Choose(i); a != 2 {
				t.Errorf("member 1 takes action %d", a)
			}
		}
	}
	for range 5 {
		if a := x.Step(0, []float64{0.5, 0.5}); a != 2 || x.executor.Member() != 1 {
			t.Errorf("action %d of member %d, want 2 of 1", a, x.executor.Member())
		}
	}
	if x.Start(1); x.executor.Hosted() || x.executor.Member() != -1 {
		t.Error("a new run still follows an option")
	}
}

// By itself it follows a member for an episode, or draws again at random, or uses
// the mean.
func TestBehaviours(t *testing.T) {
	for _, tt := range []struct {
		params   string
		between  [2]int // of 500 steps, how many may change the member
		episodes bool   // or does a new episode
	}{
		{`{}`, [2]int{0, 0}, true},
		{`{"redraw":"geometric","gamma":0.9}`, [2]int{20, 80}, true},
		{`{"behaviour":"mean"}`, [2]int{0, 0}, false},
	} {
		x := open(t, tt.params)
		x.Start(5)
		changes, seen := 0, map[int]bool{}
		for range 20 {
			x.Begin([]float64{0, 0})
			seen[x.executor.Member()] = true
		}
		for range 500 {
			before := x.executor.Member()
			x.Step(0, []float64{0, 0})
			if x.executor.Member() != before {
				changes++
			}
		}
		if changes < tt.between[0] || changes > tt.between[1] || tt.episodes != (len(seen) > 5) {
			t.Errorf("%s: %d changes within an episode, %d members in 20", tt.params, changes, len(seen))
		}
	}
}

// Evaluate selects actions and changes no weight.
func TestEvaluate(t *testing.T) {
	every(t, func(t *testing.T, p vector.Plugin, params string) {
		a := must.Get(p.OpenAgent(t.Context(), []byte(params), boxed, 1))(t)
		var w []float64
		switch x := lanes.Learners[[]float64](a)[0].(type) {
		case *sarsa:
			w = x.weights.w
		case *bootstrap:
			w = x.w
		}
		in, actions := vector.NewFeedback(boxed, 1), space.NewColumn(boxed.Action, 1)
		step := func(s vector.Signal, ended bool) (moved bool) {
			before := slices.Clone(w)
			in.Signals[0], in.Rewards[0], in.Terminated[0] = s, 1, ended
			actions.Int64[0] = 0
			must.Do(t, a.Step(t.Context(), in, &actions))
			if !ended && (actions.Int64[0] < 1 || actions.Int64[0] > 3) {
				t.Fatalf("action %d", actions.Int64[0])
			}
			return !slices.Equal(before, w)
		}
		step(vector.NewRun, false)
		for range 20 {
			if step(vector.Evaluate, false) {
				t.Fatal("it learned while evaluated")
			}
		}
		learned := false
		for range 20 { // a random mask may leave a step out
			learned = step(vector.Continue, false) || learned
		}
		if !learned {
			t.Error("it did not learn afterwards")
		}
		if step(vector.Evaluate, true) {
			t.Error("it learned from the end of an evaluated episode")
		}
	})
}
