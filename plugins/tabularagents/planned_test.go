package tabularagents

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
	"github.com/rlrun/rlrun/options"
	"github.com/rlrun/rlrun/plugins/internal/agenttest"
)

// Following a policy from a state on gives, in every member, the value that solves the
// member's equations for the policy: V = (w₀ prior + Σw(r + γV'))/(w₀ + Σw). The tail
// after two horizons, e⁻² of the weight, is estimated, so the values agree to 3 % of their
// range.
func TestPlannedValues(t *testing.T) {
	const gamma, w0, members = 0.9, 0.05, 3
	for _, end := range []bool{false, true} {
		x := newReplayQ(t, fmt.Sprintf(`{"members":%d,"gamma":%v,"prior_weight":%v,"replays":20,"low":0,"high":10}`, members, gamma, w0), agenttest.Finite)
		must.Do(t, x.SetOptionKinds([]options.Kind{options.DrawnMember, options.Constants, options.Uniform, options.Deviations}))
		rng := rand.New(rand.NewPCG(1, 1))
		for range 80 {
			pair, next := rng.IntN(12), rng.IntN(5) // nothing is tried in state 4
			if end && next == 3 {
				next = -1
			}
			x.replay.learn(pair, rng.Float64(), next, -1, true)
		}
		y := x.planned
		for here := range 5 {
			x.executor.DrawMember()
			e := y.state(here)
			for p := range y.policies {
				v := make([]float64, 5*members)
				dst := make([]float64, members)
				backup := func(pair int) {
					row, prior := y.pair(pair)
					for m := range members {
						sum, n := w0*prior[m], w0
						if row.sums != nil {
							sum, n = sum+row.sums[members+m], n+row.sums[m]
							for j, u := range row.next {
								sum += gamma * row.weight(j, members)[m] * v[int(u)*members+m]
							}
						}
						dst[m] = sum / n
					}
				}
				for range 400 {
					for s := range 5 {
						if a := y.act(p, s); a != uniformly {
							backup(s*3 + a)
							copy(v[s*members:], dst)
							continue
						}
						mean := make([]float64, members)
						for a := range 3 {
							backup(s*3 + a)
							for m, q := range dst {
								mean[m] += q / 3
							}
						}
						copy(v[s*members:], mean)
					}
				}
				for a := range 3 {
					if first := y.act(p, here); a != first && first != uniformly && p != 0 {
						continue
					}
					backup(here*3 + a)
					for m, want := range dst {
						if got := e[(a*len(y.policies)+p)*members+m]; math.Abs(got-want) > 0.3 {
							t.Errorf("end %t, state %d, policy %v, action %d, member %d: %v, want %v", end, here, y.policies[p], a, m, got, want)
						}
					}
				}
			}
		}
	}
}

// swimmer is a learner in RiverSwim under the host's kind DrawnMember.
func swimmer(t testing.TB, seed uint64) (*bootstrapQ, *mdp.Tabular, *rand.Rand) {
	task := must.Get(catalog.RiverSwim(6))(t)
	x := newBootstrapQ(t, `{"replays":100}`, agenttest.Finite, task.Model.NumStates(), task.Model.NumActions(), []options.Kind{options.DrawnMember})
	x.Start(seed)
	return x, task.Model, rand.New(rand.NewPCG(seed, 1))
}

// An untried pair shows at once all that it is to pay. So how long an option is held does not change if
// rewards are shifted or scaled.
func TestShowsUntriedPairs(t *testing.T) {
	const gamma = 0.9
	hold := func(shift, scale float64) (steps []int) {
		config := fmt.Sprintf(`{"members":4,"gamma":%v,"prior_weight":0.05,"replays":20,"low":%v,"high":%v}`, gamma, shift/(1-gamma), (scale+shift)/(1-gamma))
		x := newReplayQ(t, config, agenttest.Finite)
		must.Do(t, x.SetOptionKinds([]options.Kind{options.DrawnMember}))
		rng := rand.New(rand.NewPCG(1, 1))
		for n := range 40 {
			if n%8 == 0 {
				for here := range 5 {
					for range 4 {
						x.executor.DrawMember()
						x.planned.state(here)
						steps = append(steps, x.planned.shows(1, here, x.planned.policies[1].Of))
					}
				}
			}
			x.replay.learn(rng.IntN(9), shift+scale*float64(rng.IntN(9))/8, rng.IntN(4), -1, true)
		}
		return steps
	}
	want := hold(0, 1)
	if slices.ContainsFunc(want[:20], func(n int) bool { return n != 1 }) {
		t.Errorf("if no pair was tried: %v, want 1 step", want[:20])
	}
	if !slices.ContainsFunc(want[20:], func(n int) bool { return n > 1 }) {
		t.Errorf("all take a step: %v", want)
	}
	for _, x := range [][2]float64{{-1, 1}, {8, 1}, {-16, 4}} {
		if got := hold(x[0], x[1]); !slices.Equal(got, want) {
			t.Errorf("rewards %v + %v r: %v, want %v", x[0], x[1], got, want)
		}
	}
}

// The law of a belief: along a held option its gain E(v(x)−v(y))⁺ does not grow in the
// mean, since what is expected to be learned is expected already, and the options that are held
// were chosen for a large gain. Holds of one run depend on each other, so the standard error
// is that of the means of 20 runs; a supermartingale fails at 3 of them in one of 700 sets of seeds.
// And what is believed moves: in a run no gain of a held option stays the same to the digit.
func TestGainsOfHeldOptionsFall(t *testing.T) {
	var changes []float64
	for seed := range uint64(20) {
		x, model, rng := swimmer(t, seed)
		gain := func(l, s int) float64 {
			x.planned.policies[1].Of = l
			e, k := x.planned.state(s), x.Members
			sum := 0.0
			for m := range k {
				v := e[(x.prefers(l, s)*2+1)*k+m] - e[x.greedy(s)*2*k+m]
				sum += max(0, v) * (1 - x.Gamma) / float64(k)
			}
			return sum
		}
		s, total, holds := 0, 0.0, 0
		x.SetObservation(s)
		for steps := 0; steps < 300; {
			var p options.Problem
			must.Do(t, x.DescribeDecision(&p))
			l, hold := x.executor.Option(1).Of, max(p.Arms[1].Steps, 1)
			from, before := s, gain(l, s)
			a := x.Choose(1)
			for range hold {
				next := drawNext(model, s, a, rng)
				x.Learn(model.Reward(s, a), next)
				s = next
				a = x.Act(s)
				steps++
			}
			after := gain(l, from)
			if before > 1e-6 && after == before {
				t.Errorf("seed %d: the gain of member %d stays %v", seed, l, before)
			}
			total += after - before
			holds++
		}
		changes = append(changes, total/float64(holds))
	}
	mean, square := 0.0, 0.0
	for _, c := range changes {
		mean += c / float64(len(changes))
	}
	for _, c := range changes {
		square += (c - mean) * (c - mean)
	}
	n := float64(len(changes))
	if se := math.Sqrt(square / n / (n - 1)); mean > 3*se {
		t.Errorf("gains grow by %v ± %v in a hold", mean, se)
	}
}

func drawNext(m *mdp.Tabular, s, a int, rng *rand.Rand) int {
	next, prob := m.Transition(s, a)
	u := rng.Float64()
	for i, p := range prob {
		if u -= p; u < 0 {
			return int(next[i])
		}
	}
	return int(next[len(next)-1])
}

// While one member is followed the others learn, too: after 200 steps in RiverSwim the values of
// no member are further from its equations than those of the one that was followed.
func TestOthersLearnWhileOneIsFollowed(t *testing.T) {
	x, model, rng := swimmer(t, 3)
	s := 0
	x.SetObservation(s)
	var p options.Problem
	must.Do(t, x.DescribeDecision(&p))
	a := x.Choose(1)
	for range 200 {
		next := drawNext(model, s, a, rng)
		x.Learn(model.Reward(s, a), next)
		s = next
		a = x.Act(s)
	}
	k := x.Members
	dst := make([]float64, k)
	for i := range len(x.q) / k {
		row, prior := x.replay.pair(i)
		if row.sums == nil {
			continue
		}
		for m := range k {
			sum := *x.PriorWeight*prior[m] + row.sums[k+m]
			for j, u := range row.next {
				sum += x.Gamma * row.weight(j, k)[m] * x.best(int(u)*x.actions, m)
			}
			dst[m] = sum / (*x.PriorWeight + row.sums[m])
			if d := math.Abs(dst[m] - x.q[i*k+m]); d > 0.5 { // of 100
				t.Errorf("pair %d, member %d is off by %v", i, m, d)
			}
		}
	}
}
