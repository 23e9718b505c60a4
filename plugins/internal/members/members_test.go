package members

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/params"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/options"
)

// fixed is an agent of three members: the mean prefers action 0, member k action k.
// Action 2 has never been taken.
type fixed struct{ visits *options.Visits }

func (fixed) Greedy() int                      { return 0 }
func (fixed) Prefers(k int) int                { return k }
func (fixed) Means() []float64                 { return make([]float64, 3) }
func (x fixed) Visits() (*options.Visits, int) { return x.visits, 0 }

func agent(t *testing.T) fixed {
	v := must.Get(options.NewVisits(1, 3))(t)
	v.Update(0, 0)
	v.Update(0, 1)
	return fixed{v}
}

func executor(p Params, discount float64) *Executor {
	f := NewExecutor(&p, 3, discount, false, rand.New(rand.NewPCG(1, 1)))
	return &f
}

// Each kind of option acts as it should.
func TestFollow(t *testing.T) {
	for _, tt := range []struct {
		option options.TableOption
		want   []int
		member int
	}{
		{options.TableOption{Kind: options.Greedy}, []int{0, 0, 0}, -1},
		{options.TableOption{Kind: options.Members, Of: 1}, []int{1, 1, 1}, 1},
		{options.TableOption{Kind: options.Constants, Of: 2}, []int{2, 2, 2}, -1},
		{options.TableOption{Kind: options.Deviations, Of: 2}, []int{2, 0, 0}, -1},
		{options.TableOption{Kind: options.RecencyBonus}, []int{2, 2, 2}, -1},
		{options.TableOption{Kind: options.CountBonus}, []int{2, 2, 2}, -1},
	} {
		p, agent := Defaults(), agent(t)
		f := executor(p, 0.9)
		must.Do(t, f.SetOptionKinds(3, options.TableConfig{Kinds: options.Kinds[:8], Kappa: 1}))
		f.BeginEpisode()
		for range 2 { // choosing it again begins it again
			f.ExecuteOption(tt.option)
			if got := []int{f.Action(agent), f.Action(agent), f.Action(agent)}; !slices.Equal(got, tt.want) || f.Member() != tt.member || !f.Hosted() {
				t.Errorf("%v: %v by member %d, want %v by %d", tt.option, got, f.Member(), tt.want, tt.member)
			}
		}
		if f.BeginRun(); f.Hosted() || f.Member() != -1 {
			t.Errorf("%v: a new run still follows it", tt.option)
		}
	}
}

// Without the host it follows a member, which is drawn when an episode begins or,
// geometrically, after a step with probability 1−γ. A draw gives another member in two of
// three cases. So 9,000 steps have 600 changes, up to 5 standard deviations, except with
// a probability below 1e-5.
func TestDraws(t *testing.T) {
	for _, tt := range []struct {
		behaviour, redraw string
		want              float64
	}{{"thompson", "episode", 0}, {"thompson", "geometric", 600}, {"mean", "geometric", 0}} {
		p := Defaults()
		p.Behaviour, p.Redraw = tt.behaviour, tt.redraw
		f := executor(p, 0.9)
		f.BeginEpisode()
		if (f.Member() >= 0) != (tt.behaviour == "thompson") {
			t.Errorf("%s follows member %d", tt.behaviour, f.Member())
		}
		changes := 0.0
		for range 9000 {
			before := f.Member()
			if f.Step(); f.Member() != before {
				changes++
			}
		}
		if math.Abs(changes-tt.want) > 5*math.Sqrt(tt.want) {
			t.Errorf("%s, %s: %v changes, want %v", tt.behaviour, tt.redraw, changes, tt.want)
		}
	}
}

// The tables are those of the values asked for, and before an offer there are none.
func TestTables(t *testing.T) {
	var p options.Problem
	q := []float64{3, 4, 9, 5, 0, 2, 1, 6, 0}
	for _, values := range []string{"actions", "policies"} {
		config := func(kinds []options.Kind) options.TableConfig {
			return options.TableConfig{Kinds: kinds, Policies: values == "policies", NoVisits: true}
		}
		f := executor(Defaults(), 0.9)
		if err := f.Describe(&p, q, nil, nil); !errors.Is(err, framework.ErrUnsupported) {
			t.Errorf("before an offer: %v", err)
		}
		must.Do(t, f.SetOptionKinds(3, config([]options.Kind{options.Constants, options.Repeats})))
		policies := f.EvaluatedPolicies()
		if (policies == nil) != (values == "actions") {
			t.Errorf("%s: policies %v", values, policies)
		}
		e := make([]float64, len(q)*len(policies))
		if err := f.Describe(&p, q, e, agent(t)); err != nil || len(p.Arms) < 3 || f.Option(0).Kind != options.Greedy {
			t.Errorf("%s: %+v, %v", values, p, err)
		}
		f.ExecuteOption(options.TableOption{Kind: options.Repeats})
		if a := f.Action(agent(t)); a < 0 || a > 2 {
			t.Errorf("repeats action %d", a)
		}
		for _, bad := range [][]options.Kind{{nil}, {options.Members, options.Members}, {options.RecencyBonus}, {options.Pairs}} {
			if err := f.SetOptionKinds(3, config(bad)); !errors.Is(err, framework.ErrUnsupported) {
				t.Errorf("an offer of %v: %v", bad, err)
			}
		}
		if err := executor(Defaults(), 1).SetOptionKinds(3, config(nil)); !errors.Is(err, framework.ErrUnsupported) {
			t.Errorf("undiscounted: %v", err)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, bad := range []func(*Params){
		func(p *Params) { p.Behaviour = "x" }, func(p *Params) { p.Redraw = "x" }, func(p *Params) { p.Epsilon = 2 },
		func(p *Params) { p.Reveal = 0 },
	} {
		p := Defaults()
		bad(&p)
		if err := params.Check(&p); !errors.Is(err, framework.ErrInvalidParams) {
			t.Errorf("%+v is accepted", p)
		}
	}
}
