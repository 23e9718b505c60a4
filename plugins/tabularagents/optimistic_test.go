package tabularagents

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/rlrun/rlrun/framework/result"
)

// After sweeps the values solve the equation of docs/theory.md §3.7 for what was
// seen, which is counted anew here from the list of all steps; to twice the residual.
func TestOptimisticModelSolvesItsEquation(t *testing.T) {
	const gamma, unseen, retry, beta, low, high = 0.9, 20.0, 0.7, 0.3, -1.0, 1.0
	type step struct {
		s, a, next int
		r          float64
	}
	for _, spec := range []bool{true, false} {
		task := finite
		task.Continuing = spec
		x := newLane[*optimisticModel](t, "optimistic-model", `{"gamma":0.9,"unseen":20,"retry":0.7,"beta":0.3}`, task)
		rng := rand.New(rand.NewPCG(1, 1))
		best := high / (1 - gamma)
		if !task.Continuing {
			best = high
		}
		var steps []step
		episode := 0.0
		check := func() {
			tries, outcomes := map[[2]int]float64{}, map[[2]int]map[step]bool{}
			visited := map[int]bool{}
			found, exposed, earned := 0.0, 0.0, 0.0
			sums := map[[2]int]float64{}
			for _, e := range steps {
				pair := [2]int{e.s, e.a}
				visited[e.s] = true
				if n := tries[pair]; n > 0 {
					exposed += 1 / n
					if !visited[e.next] {
						found++
					}
				} else {
					outcomes[pair] = map[step]bool{}
				}
				visited[e.next] = true
				tries[pair]++
				outcomes[pair][e] = true
				sums[pair] += e.r
				earned += e.r
			}
			repeated, noisy := 0.0, 0.0
			for pair, n := range tries {
				if n > 1 {
					repeated++
				}
				if len(outcomes[pair]) > 1 {
					noisy++
				}
			}
			w := 0.0
			if len(visited) < 3 {
				w = unseen * (1 + found) / (1 + exposed) / float64(1+len(visited))
			}
			share := (1 + noisy) / (1 + repeated)
			mean := earned / float64(len(steps))
			for s := range 3 {
				if x.terminal[s] {
					continue
				}
				for a := range 2 {
					pair := [2]int{s, a}
					n, want := tries[pair], best
					if n > 0 {
						v := 0.0
						for _, e := range steps {
							if e.s == s && e.a == a {
								v += x.value[e.next] / n
							}
						}
						want = (n*(sums[pair]/n+gamma*v)+w*best)/(n+w) +
							share*(beta*(high-low)/math.Sqrt(n)+retry*max(0, min(mean-low, high-mean))/n)
						want = min(want, high/(1-gamma))
					}
					if got := x.q[2*s+a]; math.Abs(got-want) > 4e-3 {
						t.Fatalf("%d steps, state %d, action %d: %v, want %v", len(steps), s, a, got, want)
					}
				}
			}
		}
		x.Begin(0)
		for k := range 400 {
			next, r := rng.IntN(2), []float64{-1, 0.25, 1}[rng.IntN(3)]
			if k > 30 {
				next = rng.IntN(3)
			}
			steps = append(steps, step{x.state, x.action, next, r})
			episode += r
			if !task.Continuing && k%10 == 9 {
				x.End(r, next, false)
				best = max(best, min(high/(1-gamma), episode))
				episode = 0
				x.sweep()
				check()
				x.Begin(next)
			} else {
				x.Step(r, next)
				x.sweep()
				check()
			}
		}
		if best == high {
			t.Error("no episode earned more than the largest reward: the test shows less than it should")
		}
	}
}

// Where nothing is random, trying again says so: bonuses vanish.
func TestOptimisticModelLearnsThatNothingIsRandom(t *testing.T) {
	u := unknown{p: &optimisticParams{Retry: 1}, low: 0, high: 1, states: 3, top: 10}
	u.start()
	first := u.value(1, 0.5, 0.1)
	for range 50 {
		u.step(1, false, false, 0.5, 0)
	}
	quiet := u.value(1, 0.5, 0.1)
	for range 50 {
		u.step(5, false, true, 0.5, 0)
	}
	loud := u.value(1, 0.5, 0.1)
	if math.Abs(first-0.6) > 1e-12 || math.Abs(quiet-(0.5+0.6/51)) > 1e-12 || math.Abs(loud-1.1) > 1e-12 {
		t.Errorf("%v, %v, %v, want 0.6, %v, 1.1", first, quiet, loud, 0.5+0.6/51)
	}
}

// SixArms' best arm leads on once in a hundred tries. In 20 runs of 5,000 steps the
// default has found it at least 4 times, and without belief in states never
// visited hardly ever (at most twice). If the chance to find it is 0.4, the former
// fails in 1.6 % of all seeds; the seed is fixed.
func TestOptimisticModelInsists(t *testing.T) {
	for params, test := range map[string]func(found int) bool{
		``:             func(found int) bool { return found >= 4 },
		`{"unseen":0}`: func(found int) bool { return found <= 2 },
	} {
		found := 0
		for _, o := range play(t, "sixarms", `{}`, "optimistic-model", params, 0, 20, 5000, []int{4000, 5000}, result.Reward) {
			if o.Curves[result.Reward][1] > 5000 {
				found++
			}
		}
		if !test(found) {
			t.Errorf("%s: found in %d of 20 runs", params, found)
		}
	}
}
