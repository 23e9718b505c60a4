package mdpcmd

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

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

func openPlaces(t *testing.T, lanes int) vector.Environment {
	t.Helper()
	return must.Get(vector.Vectorize(func() (framework.Environment, error) { return &places{}, nil }, lanes))(t)
}

// Frequencies and rewards are those of the model, within 5 standard errors
// (a false alarm in 50,000 seeds for all of them together). The band for the
// mixing times, which may fail once in 20 seeds, holds the true ones.
func TestCollect(t *testing.T) {
	const lanes, steps = 32, 4096
	pi := mdp.Uniform{}
	got := must.Get(collect(t.Context(), openPlaces(t, lanes), lanes, pi, 1, steps))(t)
	m := model(t)
	if total := got.counts.Total(); int(total) != got.steps || got.steps < lanes*steps*3/4 {
		t.Errorf("%v counted, %d taken", total, got.steps)
	}
	for s := range 4 {
		for a := range 2 {
			to, prob := m.Transition(s, a)
			row := make([]float64, 4)
			for k, u := range to {
				row[u] = prob[k]
			}
			n := got.counts.N(s, a)
			next, count := got.counts.Row(s, a)
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
	estimated := must.Get(got.model("places", 5, 2, []string{"estimated"}))(t)
	for s := range 4 {
		for a := range 2 {
			want := m.Reward(s, a)
			if off := math.Abs(estimated.Reward(s, a) - want); off > 5*math.Sqrt(want*(1-want)/got.counts.N(s, a))+1e-12 {
				t.Errorf("reward of %d, %d: %v, want %v", s, a, estimated.Reward(s, a), want)
			}
		}
	}
	if !estimated.Terminal(4) || estimated.Terminal(3) {
		t.Error("the place after the end must be terminal, and no other")
	}
	band := must.Get(got.counts.MixingBand(pi, mdp.MixingConfig{}))(t)
	exact := must.Get(mdp.MixingTime(m, pi, mdp.MixingConfig{Eta: band.Eta}))(t)
	for s := range 4 {
		for a := range 2 {
			if want := exact.T[s][a]; want < band.Low[s][a] || want > band.High[s][a] || band.Plugin.T[s][a] != want {
				t.Errorf("T of %d, %d: %d in [%d, %d], want %d", s, a, band.Plugin.T[s][a], band.Low[s][a], band.High[s][a], want)
			}
		}
	}
}

// It is the same through another process. Every observation that is reached is left, even in
// short runs.
func TestCollectThroughAProcess(t *testing.T) {
	take := func(env vector.Environment, lanes, steps int) *sample {
		return must.Get(collect(t.Context(), env, lanes, mdp.Constant(5, 1), 7, steps))(t)
	}
	p := must.Get(plugin.Loopback(plugin.NewEnvironment("test/places@1", "Places.", struct{}{}, func(struct{}) (*places, error) { return &places{}, nil })))(t)
	defer p.Close()
	remote := must.Get(p.OpenEnvironment(t.Context(), nil, 5))(t)
	if !reflect.DeepEqual(take(openPlaces(t, 5), 5, 700), take(remote, 5, 700)) {
		t.Error("the sample is another in this process")
	}
	for steps := 2; steps < 40; steps++ {
		x := take(openPlaces(t, 3), 3, steps)
		for s := range 5 {
			for a := range 2 {
				next, _ := x.counts.Row(s, a)
				for _, u := range next {
					if !x.left(int(u), 2) {
						t.Fatalf("%d steps: %d is reached and not left", steps, u)
					}
				}
			}
		}
		if _, err := x.model("places", 5, 2, []string{"estimated"}); err != nil {
			t.Errorf("%d steps: %v", steps, err)
		}
	}
}
