package explore

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
)

// The table of transitions holds what a map would.
func TestCountsAreAMap(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var c counts
		for range 2 { // cleared, it starts anew
			c = counts{}
			want := map[uint64]uint64{}
			keys := rapid.SliceOfN(rapid.Uint64Range(1, 300), 0, 1000).Draw(rt, "keys")
			for _, k := range keys {
				c.add(k*977, 0)
				want[k*977]++
			}
			got := map[uint64]uint64{}
			for _, s := range c.slots {
				if s.key != 0 {
					got[s.key] = s.n
				}
			}
			if len(got) != len(want) || c.used != len(want) {
				rt.Fatalf("%d keys, %d by its own count, want %d", len(got), c.used, len(want))
			}
			for k, n := range want {
				if got[k] != n {
					rt.Fatalf("key %d: %d, want %d", k, got[k], n)
				}
			}
		}
	})
}

// A second route: the mixing times of a model over all states that is made here,
// from a plain table of counts.
func TestMixingIsThatOfTheModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		states, actions := rapid.IntRange(1, 6).Draw(rt, "states"), rapid.IntRange(1, 3).Draw(rt, "actions")
		f := finite{states: states, actions: actions, firstState: -3, firstAction: 7}
		var c counts
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		seen := map[[3]int]float64{}
		visits := make([]float64, states)
		for range rapid.IntRange(1, 100).Draw(rt, "steps") {
			s, a, next := rng.IntN(states), rng.IntN(actions), rng.IntN(states)
			if next > s+1 {
				next = s
			}
			c.add(f.transition(f.pair(int64(s-3), int64(a+7)), int64(next-3)), 0)
			seen[[3]int{s, a, next}]++
			visits[s]++
		}
		m := must.Get(mdp.Generate(mdp.Definition{States: states, Actions: actions}, func(s, a int, row *mdp.Row) {
			own, all := make([]float64, states), make([]float64, states)
			sum, total := 0.0, 0.0
			for next := range states {
				for b := range actions {
					if n := seen[[3]int{s, b, next}]; visits[next] > 0 && n > 0 {
						all[next] += n
						total += n
						if b == a {
							own[next] += n
							sum += n
						}
					}
				}
			}
			switch {
			case sum > 0:
				for next, n := range own {
					row.Add(next, n/sum)
				}
			case total > 0:
				for next, n := range all {
					row.Add(next, n/total)
				}
			default:
				row.Add(s, 1)
			}
		}))(rt)
		greedy := make(mdp.Deterministic, states)
		for s := range greedy {
			greedy[s] = rng.IntN(actions)
		}
		mix := must.Get(mdp.MixingTime(m, greedy, mdp.MixingConfig{}))(rt)
		longest := 1
		for s, times := range mix.T {
			for a, t := range times {
				if visits[s] > 0 && a != greedy[s] {
					longest = max(longest, t)
				}
			}
		}
		var w scratch
		got, err := f.mixing(&c, greedy, (&Config{Quantile: 1}).statistic(), mdp.MixingConfig{}, &w, nil)
		if err != nil || got != longest {
			rt.Fatalf("T = %d, %v, want %d", got, err, longest)
		}
		half, err := f.mixing(&c, greedy, (&Config{Quantile: 0.5}).statistic(), mdp.MixingConfig{}, &w, nil)
		if err != nil || half > got {
			rt.Fatalf("median %d of times of at most %d, %v", half, got, err)
		}
	})
}

// Data of a chain's lower end only must not look like two places that cannot be
// left. The greedy action, untried in 1, leads where the other one led.
func TestUntriedActionsForget(t *testing.T) {
	f := finite{states: 6, actions: 2}
	var c counts
	for _, x := range [][3]int64{{0, 0, 0}, {0, 1, 0}, {0, 1, 1}, {1, 1, 0}, {1, 1, 1}, {1, 1, 2}} {
		c.add(f.transition(f.pair(x[0], x[1]), x[2]), 0)
	}
	got, err := f.mixing(&c, make([]int, 6), (&Config{Quantile: 1}).statistic(), mdp.MixingConfig{}, new(scratch), nil)
	// From 0, action 1 leads to 1 with probability ½, which is left half of the time.
	if err != nil || got != 3 {
		t.Errorf("T = %d, %v, want 3, for ½·½·½ is below ¼", got, err)
	}
}

// Times in models of the belief surround the true one, and come to it as data grow. There are two places. The greedy
// action 0 changes the place with probability 0.1, and a deviation, action 1, for sure.
func TestPosteriorTimes(t *testing.T) {
	f := finite{states: 2, actions: 2}
	greedy, all := []int{0, 0}, (&Config{Quantile: 1}).statistic()
	truth := must.Get(mdp.MixingTime(must.Get(mdp.Generate(mdp.Definition{States: 2, Actions: 2}, func(s, a int, row *mdp.Row) {
		row.Add(s, []float64{0.9, 0}[a])
		row.Add(1-s, []float64{0.1, 1}[a])
	}))(t), mdp.Deterministic{0, 0}, mdp.MixingConfig{}))(t).T[0][1]
	times := func(n int, tried bool) []int {
		var c counts
		for s := range int64(2) {
			for i := range int64(n) {
				c.add(f.transition(f.pair(s, 0), (s+(i%10)/9)%2), 0)
				if tried {
					c.add(f.transition(f.pair(s, 1), 1-s), 0)
				}
			}
		}
		return must.Get(f.posterior(&c, greedy, all, mdp.MixingConfig{MaxSteps: 1001}, new(scratch), rand.New(rand.NewPCG(1, 1))))(t)
	}
	if got := times(100_000, true); got[0] != truth || got[len(got)-1] != truth {
		t.Errorf("of many data %v, want %d", got, truth)
	}
	if got := times(20, true); !(got[0] < truth && truth < got[len(got)-1]) {
		t.Errorf("of 20 steps of each pair %v, want some on either side of %d", got, truth)
	}
	// What was never tried may lead anywhere: by the counts alone it leads where the greedy action leads, and
	// nothing has to be forgotten.
	if got := times(1000, false); got[0] != 1 || got[len(got)-1] < truth {
		t.Errorf("if the deviation is untried %v, want 1 to %d or more", got, truth)
	}
}

func TestQuantile(t *testing.T) {
	times := func() []weighed { return []weighed{{mdp.Never, 1}, {3, 2}, {1, 4}, {9, 3}, {2, 0}} }
	for _, tt := range []struct {
		q    float64
		want int
	}{{0.1, 1}, {0.4, 1}, {0.41, 3}, {0.6, 3}, {0.61, 9}, {0.9, 9}, {0.91, mdp.Never}, {1, mdp.Never}} {
		if got := quantile(times(), tt.q); got != tt.want {
			t.Errorf("the %v-quantile is %d, want %d", tt.q, got, tt.want)
		}
	}
	if got := quantile(nil, 1); got != 1 {
		t.Errorf("of nothing, the quantile is %d", got)
	}
}

// Many states are sampled: a walk around a ring is forgotten after a time that
// grows with the square of its length, whichever way it is found.
func TestMixingOfManyStates(t *testing.T) {
	const n = exactStates + 1
	f := finite{states: n, actions: 2}
	var c counts
	for s := range int64(n) {
		for _, next := range []int64{s, (s + 1) % n, (s + 2) % n} {
			c.add(f.transition(f.pair(s, 0), next), 0)
		}
		c.add(f.transition(f.pair(s, 1), (s+5)%n), 0)
	}
	got := must.Get(f.mixing(&c, make([]int, n), (&Config{Quantile: 1}).statistic(), mdp.MixingConfig{}, new(scratch), nil))(t)
	// A deviation is 4 steps ahead. After T−1 more steps both are nearly normal
	// with variance 2/3·T, a distance of 2Φ(4/(2σ))−1 apart: below 1/4 from σ =
	// 2/0.3186 on, that is at T = 59.
	if math.Abs(float64(got)-59) > 2 {
		t.Errorf("T = %d, want about 59", got)
	}
}

// An AR(1) process x' = φx + noise has the integrated time (1+φ)/(1−φ), and
// correlations φ^T below 1/4 from the T given on. Of 2048 rows, the time has a
// standard error of about τ·sqrt(2(2m+1)/2048) for a sum over m ≈ 3τ lags (Sokal
// 1997, eq. 3.19): 12 % at φ = 0.5, 35 % at φ = 0.9. The seeds are fixed.
func TestAutocorrelation(t *testing.T) {
	spec := framework.Spec{Observation: space.Box{Shape: []int{2}, Low: []float64{-100}, High: []float64{100}}}
	for _, tt := range []struct {
		phi    float64
		lo, hi int // of T; exactly floor(ln ¼/ln φ)+1
	}{{0, 1, 1}, {0.5, 2, 4}, {0.9, 8, 23}} {
		for _, column := range []int{0, 2} { // the reward, or an element of the observation
			s := newSeries(spec)
			rng := rand.New(rand.NewPCG(1, uint64(column)))
			in := vector.NewFeedback(spec, 3)
			x := 0.0
			for range 3 * remembered {
				x = tt.phi*x + rng.NormFloat64()
				in.Rewards[1], in.Observations.Float64[2], in.Observations.Float64[3] = rng.NormFloat64(), rng.NormFloat64(), 7
				if column == 0 {
					in.Rewards[1] = x
				} else {
					in.Observations.Float64[3] = x
				}
				s.add(in, 1)
			}
			if got := s.mixing(mdp.MixingConfig{}); got < tt.lo || got > tt.hi {
				t.Errorf("φ = %v, column %d: T = %d, want %d to %d", tt.phi, column, got, tt.lo, tt.hi)
			}
		}
	}
}

// Of an observation with more elements than there are features each element counts:
// whichever of 100 it is that stays correlated, T shows it.
func TestAutocorrelationOfWideObservations(t *testing.T) {
	for _, typ := range []space.DType{space.Float64, space.Float32, space.Uint8, space.Int64} {
		spec := framework.Spec{Observation: space.Box{Shape: []int{10, 10}, Low: []float64{0}, High: []float64{255}, Type: typ}}
		in := vector.NewFeedback(spec, 2)
		rng := rand.New(rand.NewPCG(1, 1))
		for element := range 100 {
			s := newSeries(spec)
			for k := range 400 {
				in.Rewards[1] = rng.NormFloat64()
				x, at := float64(k/20%2)*200, 100+element
				switch typ {
				case space.Float64:
					in.Observations.Float64[at] = x
				case space.Float32:
					in.Observations.Float32[at] = float32(x)
				case space.Uint8:
					in.Observations.Uint8[at] = uint8(x)
				default:
					in.Observations.Int64[at] = int64(x)
				}
				s.add(in, 1)
			}
			if got := s.mixing(mdp.MixingConfig{}); got < 5 {
				t.Errorf("%v, element %d in blocks of twenty steps: T = %d", typ, element, got)
			}
			in = vector.NewFeedback(spec, 2)
		}
	}
}

// What cannot vary says nothing, and stretches are not read across their ends.
func TestAutocorrelationOfStretches(t *testing.T) {
	spec := framework.Spec{Observation: space.Discrete{N: 2}}
	in := vector.NewFeedback(spec, 1)
	var constant, apart, whole series
	for k := range 1000 {
		in.Rewards[0] = 3
		constant.add(in, 0)
		in.Rewards[0] = float64(k / 10 % 2)
		whole.add(in, 0)
		apart.add(in, 0)
		apart.cut()
	}
	if got := constant.mixing(mdp.MixingConfig{}); got != 1 {
		t.Errorf("a constant reward: T = %d", got)
	}
	if got := apart.mixing(mdp.MixingConfig{}); got != 1 {
		t.Errorf("stretches of one step: T = %d", got)
	}
	if got := whole.mixing(mdp.MixingConfig{}); got < 3 {
		t.Errorf("rewards in blocks of ten: T = %d", got)
	}
	whole = series{width: whole.width}
	if got := whole.mixing(mdp.MixingConfig{}); got != 1 {
		t.Errorf("nothing seen: T = %d", got)
	}
}

// The mean of times is that of the definition: weighted, rounded up, and Never if one is.
func TestMeanTime(t *testing.T) {
	for _, tt := range []struct {
		times []weighed
		want  int
	}{
		{[]weighed{{1, 3}, {9, 1}}, 3}, {[]weighed{{1, 1}, {2, 1}}, 2}, {[]weighed{{4, 2}}, 4}, {nil, 1},
		{[]weighed{{mdp.Never, 0}, {2, 1}}, 2}, {[]weighed{{mdp.Never, 0.1}, {2, 1}}, mdp.Never},
	} {
		if got := (&Config{Mean: true}).statistic()(tt.times); got != tt.want {
			t.Errorf("%v: %d, want %d", tt.times, got, tt.want)
		}
	}
	if got := (&Config{Quantile: 0.5}).statistic()([]weighed{{1, 3}, {9, 1}}); got != 1 {
		t.Errorf("the median is %d", got)
	}
}
