package modelagents

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/plugins/internal/agenttest"
	"github.com/rlrun/rlrun/plugins/internal/argmax"
	"github.com/rlrun/rlrun/plugins/internal/finite"
	"github.com/rlrun/rlrun/plugins/internal/modelbased"
)

// textbook is UCRL2 for episodes as TabulaRL has it, with dense rows and nearly flat
// priors. TabulaRL writes each optimistic row over the estimate that it comes from. So a
// row moves on with every backup of a plan, well beyond its confidence set. compound does
// the same.
type textbook struct {
	compound                 bool
	horizon, states, actions int
	next                     [][]float64 // transitions of pairs, counted
	n, mean                  []float64   // rewards of pairs
	plans                    float64
	q                        [][]float64 // of pairs, by steps to go
	rng                      *rand.Rand
	left, last               int
}

// textbookPlugin makes an agent of it.
func textbookPlugin(compound bool) vector.Plugin {
	return finite.Plugin("test/textbook@1", "", struct{}{}, func(_ struct{}, t finite.Task) (func() finite.Learner, error) {
		return func() finite.Learner {
			return &textbook{compound: compound, horizon: 20, states: t.States, actions: t.Actions}
		}, nil
	})
}

func (x *textbook) Start(s uint64) {
	x.rng = rand.New(rand.NewPCG(s, 1))
	pairs := x.states * x.actions
	x.next, x.n, x.mean, x.plans = make([][]float64, pairs), make([]float64, pairs), make([]float64, pairs), 0
	for i := range x.next {
		x.next[i] = make([]float64, x.states)
	}
}

func (x *textbook) Begin(s int) int {
	x.plan()
	x.left = x.horizon
	return x.Act(s)
}

func (x *textbook) Act(s int) int {
	a := argmax.Any(x.q[x.left][s*x.actions:(s+1)*x.actions], x.rng)
	x.left--
	x.last = s*x.actions + a
	return a
}

func (x *textbook) Step(r float64, next int) int {
	x.End(r, next, false)
	x.next[x.last][next]++
	return x.Act(next)
}

// end does not learn where the last step of an episode leads.
func (x *textbook) End(r float64, _ int, _ bool) {
	x.n[x.last]++
	x.mean[x.last] += (r - x.mean[x.last]) / x.n[x.last]
}

func (x *textbook) plan() {
	x.plans++
	l := math.Log(2 * float64(len(x.n)) * (x.plans + 1) / 0.05)
	rows, reward, width := make([][]float64, len(x.n)), make([]float64, len(x.n)), make([]float64, len(x.n))
	for i := range rows {
		n := 0.0
		for _, c := range x.next[i] {
			n += c
		}
		for _, c := range x.next[i] {
			rows[i] = append(rows[i], (c+1e-5)/(n+1e-5*float64(x.states)))
		}
		reward[i] = x.n[i]*x.mean[i]/(x.n[i]+1e-4) + math.Sqrt(4*l/max(1, x.n[i]))
		width[i] = math.Sqrt(4 * float64(x.states) * l / max(1, n))
	}
	v, order := make([]float64, x.states), make([]int, x.states)
	x.q = [][]float64{nil}
	for range x.horizon {
		for s := range order {
			order[s] = s
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(v[a], v[b]) })
		best := order[x.states-1]
		q := slices.Clone(reward)
		for i, row := range rows {
			if !x.compound {
				row = slices.Clone(row)
			}
			if row[best]+width[i]/2 > 1 {
				row = make([]float64, x.states)
				row[best] = 1
			} else {
				row[best] += width[i] / 2
			}
			for _, u := range order {
				sum := 0.0
				for _, p := range row {
					sum += p
				}
				row[u] = max(0, min(row[u], row[u]+1-sum))
			}
			for u, p := range row {
				q[i] += p * v[u]
			}
		}
		for s := range v {
			v[s] = argmax.Max(q[s*x.actions : (s+1)*x.actions])
		}
		x.q = append(x.q, q)
	}
}

// TabulaRL's UCRL2, rows written over and all, has the regret of the original
// program; and ours plans as it does if rows are left alone. (On RiverSwim writing
// over them more than doubles the regret of 1000 episodes.)
func TestUCRL2IsTabulaRLs(t *testing.T) {
	want := []published{{336.30, 8.92, 12}, {1677.64, 16.90, 12}, {3356.54, 19.75, 12}}
	at := []int{100, 500, 1000}
	for k, regrets := range swimAs(t, textbookPlugin(true), `{}`, 24, at...) {
		agrees(t, fmt.Sprintf("%d episodes", at[k]), regrets, want[k])
	}
	if !raced {
		for _, r := range swimAs(t, textbookPlugin(false), `{}`, 4, 1000)[0] {
			if r > 3356.54/2 {
				t.Errorf("regret %.0f with rows left alone", r)
			}
		}
	}

	endless := agenttest.Finite
	endless.Continuing = true
	x := newAgent(t, "ucrl2", `{"horizon":20,"widths":"tabularl","reward_low":0,"reward_high":1}`, endless)
	y := &textbook{horizon: 20, states: 3, actions: 2}
	y.Start(1)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		a := x.Begin(0)
		y.Begin(0)
		if float64(x.Plans) != y.plans {
			t.Fatalf("%v plans, want %v", x.Plans, y.plans)
		}
		for h := 1; h <= 20; h++ {
			for i, want := range y.q[h] {
				// Except for the priors of TabulaRL, of 1e-4 and 1e-5 observations.
				if got := x.Planner.(*modelbased.Induction).Q[h*6+i]; math.Abs(got-want) > 5e-3 {
					t.Fatalf("plan %v, pair %d with %d steps to go: %v, want %v", x.Plans, i, h, got, want)
				}
			}
		}
		s := 0
		for range 10 {
			r, next := rng.Float64(), int(math.Sqrt(float64(rng.IntN(9))))
			y.last = s*2 + a
			y.next[y.last][next]++
			y.End(r, next, false)
			a, s = x.Step(r, next), next
		}
	}
}
