package transitions_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/transitions"
	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
)

// The task of the tests: places 0 to 3. Action 1 goes on with probability 0.8,
// action 0 back to place 0 with 0.5; the step out of place 3 ends the episode with
// reward 1. Episodes start in place 0 or 1. Numbers of observations begin with 10,
// of actions with 5.
type places struct {
	rng *rand.Rand
	at  int64
}

func (p *places) Spec() framework.Spec {
	return framework.Spec{ID: "test/places@1", Observation: space.Discrete{N: 5, Start: 10}, Action: space.Discrete{N: 2, Start: 5}, RewardHigh: 1}
}

func (p *places) Reset(_ context.Context, seed uint64) (space.Value, error) {
	p.rng = rand.New(rand.NewPCG(seed, 0))
	p.at = p.rng.Int64N(2)
	return space.Value{Int: 10 + p.at}, nil
}

func (p *places) Step(_ context.Context, a space.Value) (framework.TimeStep, error) {
	u := p.rng.Float64()
	switch {
	case a.Int == 6 && u < 0.8:
		p.at++
	case a.Int == 5 && u < 0.5:
		p.at = 0
	}
	ended := p.at == 4
	ts := framework.TimeStep{Observation: space.Value{Int: 10 + p.at}, Terminated: ended}
	if ended {
		ts.Reward = 1
	}
	return ts, nil
}

// model is the same task with episodes that follow each other.
func model(t *testing.T) *mdp.Tabular {
	t.Helper()
	d := mdp.Definition{States: 4, Actions: 2}
	for s := range 4 {
		next := []mdp.Transition{{S: s, A: 1, Next: s + 1, P: 0.8}}
		if s == 3 {
			next = []mdp.Transition{{S: s, A: 1, Next: 0, P: 0.4}, {S: s, A: 1, Next: 1, P: 0.4}}
			d.Rewards = append(d.Rewards, mdp.Reward{S: s, A: 1, R: 0.8})
		}
		d.Transitions = append(d.Transitions, append(next, mdp.Transition{S: s, A: 1, Next: s, P: 0.2})...)
		if s == 0 {
			d.Transitions = append(d.Transitions, mdp.Transition{S: 0, A: 0, Next: 0, P: 1})
		} else {
			d.Transitions = append(d.Transitions, mdp.Transition{S: s, A: 0, Next: 0, P: 0.5}, mdp.Transition{S: s, A: 0, Next: s, P: 0.5})
		}
	}
	return must.Get(mdp.NewModel(d))(t)
}

func open(t *testing.T, lanes int) vector.Environment {
	t.Helper()
	return must.Get(vector.Vectorize(func() (framework.Environment, error) { return &places{}, nil }, lanes))(t)
}

// Frequencies, rewards and visits are those of the model, within 5 standard errors
// (a false alarm in 50,000 seeds for all of them together). The band for the
// mixing times, which may fail once in 20 seeds, holds the true ones.
func TestTake(t *testing.T) {
	const lanes, steps = 32, 4096
	pi := mdp.Uniform{}
	got := must.Get(transitions.Collect(t.Context(), open(t, lanes), lanes, pi, transitions.Config{Root: 1, Steps: steps}))(t)
	m := model(t)
	if total := got.Counts.Total(); int(total) != got.Steps || got.Steps < lanes*steps*3/4 {
		t.Errorf("%v counted, %d taken", total, got.Steps)
	}
	for s := range 4 {
		for a := range 2 {
			to, prob := m.Transition(s, a)
			row := make([]float64, 4)
			for k, u := range to {
				row[u] = prob[k]
			}
			n := got.Counts.N(s, a)
			next, count := got.Counts.Row(s, a)
			seen := make([]float64, 5)
			for k, u := range next {
				seen[u] = count[k]
			}
			for u, p := range row {
				// a last step of each run may lead to another start than it would
				if off := math.Abs(seen[u] - n*p); off > 5*math.Sqrt(n*p*(1-p))+lanes {
					t.Errorf("%d steps from %d by %d to %d, want %v", int(seen[u]), s, a, u, n*p)
				}
			}
			if seen[4] > 0 {
				t.Errorf("the end is no state: %v", seen)
			}
		}
	}
	mu, _ := must.Get2(mdp.Stationary(m, pi))(t)
	within := func(what string, want float64, of func(i int) float64) {
		mean, square := 0.0, 0.0
		for i := range lanes {
			mean += of(i) / lanes
			square += of(i) * of(i) / lanes
		}
		if off := math.Abs(mean - want); off > 5*math.Sqrt((square-mean*mean)/(lanes-1))+1e-12 {
			t.Errorf("%s: got %v, want %v", what, mean, want)
		}
	}
	for s := range 4 {
		within("visits", mu[s], func(i int) float64 { return got.Visits[i][s] })
	}
	within("reward", mu[3]*0.4, func(i int) float64 { return got.Rewards[i] })
	band := must.Get(got.Counts.MixingBand(pi, mdp.BandOptions{}))(t)
	exact := must.Get(mdp.MixingTime(m, pi, mdp.MixingOptions{Eta: band.Eta}))(t)
	for s := range 4 {
		for a := range 2 {
			if want := exact.T[s][a]; want < band.Low[s][a] || want > band.High[s][a] || band.Plugin.T[s][a] != want {
				t.Errorf("T of %d, %d: %d in [%d, %d], want %d", s, a, band.Plugin.T[s][a], band.Low[s][a], band.High[s][a], want)
			}
		}
	}
}

// It is the same through another process, whatever the number of lanes: run 3 is
// run 3. Every observation that is reached is left, even in short runs.
func TestTakeIsOfRuns(t *testing.T) {
	take := func(env vector.Environment, lanes, first, steps int) *transitions.Sample {
		return must.Get(transitions.Collect(t.Context(), env, lanes, mdp.Constant(5, 1), transitions.Config{Root: 7, First: first, Steps: steps}))(t)
	}
	p := must.Get(plugin.Loopback(plugin.NewEnvironment("test/places@1", "Places.", struct{}{}, func(struct{}) (*places, error) { return &places{}, nil })))(t)
	defer p.Close()
	remote := must.Get(p.OpenEnvironment(t.Context(), nil, 5))(t)
	many := take(remote, 5, 0, 700)
	if here := take(open(t, 5), 5, 0, 700); !reflect.DeepEqual(here, many) {
		t.Error("the sample is another in this process")
	}
	if one := take(open(t, 1), 1, 3, 700); one.Rewards[0] != many.Rewards[3] || !reflect.DeepEqual(one.Visits[0], many.Visits[3]) {
		t.Errorf("run 3 alone: %v %v, want %v %v", one.Rewards, one.Visits, many.Rewards[3], many.Visits[3])
	}
	for steps := 2; steps < 40; steps++ {
		c := take(open(t, 3), 3, 0, steps).Counts
		for s := range 5 {
			for a := range 2 {
				next, _ := c.Row(s, a)
				for _, u := range next {
					if c.N(int(u), 0)+c.N(int(u), 1) == 0 {
						t.Fatalf("%d steps: %d is reached and not left", steps, u)
					}
				}
			}
		}
	}
}

func TestTakeRefuses(t *testing.T) {
	if _, err := transitions.Collect(t.Context(), open(t, 2), 2, mdp.Uniform{}, transitions.Config{}); err == nil {
		t.Error("no steps are no error")
	}
	env := must.Get(vector.Vectorize(func() (framework.Environment, error) { return boxed{}, nil }, 1))(t)
	if _, err := transitions.Collect(t.Context(), env, 1, mdp.Uniform{}, transitions.Config{Steps: 1}); !errors.Is(err, framework.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
}

// boxed is a task whose observations cannot be counted.
type boxed struct{ framework.Environment }

func (boxed) Spec() framework.Spec {
	return framework.Spec{ID: "test/boxed@1", Observation: space.Box{Shape: []int{1}, Low: []float64{0}, High: []float64{1}}, Action: space.Discrete{N: 2}, RewardHigh: 1}
}
