package loop

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
)

// sailor is a drifter that can be saved. Its greedy action is 2.
type sailor struct {
	drifter
	pcg rand.PCG
}

func newSailor(s uint64) (framework.Agent, error) {
	a := &sailor{}
	a.pcg.Seed(s, uint64(seed.Exploration))
	a.rng = rand.New(&a.pcg)
	return a, nil
}

func (a *sailor) SelectGreedyAction(context.Context, space.Value) (space.Value, error) {
	a.rng.Uint64() // what it draws changes nothing for the agent that learns
	return space.Value{Int: 2}, nil
}

func (a *sailor) Save(context.Context) ([]byte, error) {
	state, err := a.pcg.MarshalBinary()
	return binary.LittleEndian.AppendUint64(state, math.Float64bits(a.sum)), err
}

func (a *sailor) Load(_ context.Context, state []byte) error {
	n := len(state) - 8
	a.sum = math.Float64frombits(binary.LittleEndian.Uint64(state[n:]))
	return a.pcg.UnmarshalBinary(state[:n])
}

// sailing is a batch of sailors.
func sailing(t testing.TB, runs []int, steps int, grid []int) Batch {
	t.Helper()
	open := func() (vector.Environment, vector.Agent) {
		env := must.Get(vector.Vectorize(func() (framework.Environment, error) { return &walk{}, nil }, len(runs)))(t)
		agent := must.Get(vector.VectorizeAgent(newSailor, env.Spec(), len(runs)))(t)
		w := &walks{Environment: env}
		for range runs {
			w.walks = append(w.walks, &walk{})
		}
		return vector.WithAbilities(w, vector.EnvironmentAbilities{PlayLane: w.play}), agent
	}
	env, agent := open()
	b := Batch{
		Environment: env, Agent: agent, Runs: runs, Seeds: seed.NewSource(7, env.Spec().ID), Steps: steps, Grid: grid, Discount: 0.9,
		Metrics: []result.Metric{result.Reward, result.EpisodeReturn, result.DiscountedReturn},
	}
	env, agent = open()
	b.Evaluation = &Evaluation{Environment: env, Agent: agent, Every: 1, Episodes: 3, Limit: 4}
	return b
}

// Evaluations and kept agents leave the run as it is, whatever the grid, the lanes and
// the steps between them. They are the same for every grouping of runs, and whether
// lanes are stepped together or alone.
func TestEvaluationLeavesTheRunAlone(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.IntRange(1, 400).Draw(rt, "steps")
		grid := LogGrid(rapid.IntRange(1, 50).Draw(rt, "points"), steps)
		runs := rapid.SliceOfNDistinct(rapid.IntRange(0, 99), 1, 5, rapid.ID).Draw(rt, "runs")
		every, keep := rapid.IntRange(1, 150).Draw(rt, "every"), rapid.IntRange(0, 150).Draw(rt, "keep")
		type key struct{ run, step int }
		play := func(runs []int, alone, watched bool) ([]Outcome, map[key][]byte) {
			b := sailing(t, runs, steps, grid)
			kept := map[key][]byte{}
			if !alone {
				b.Environment = vector.WithAbilities(b.Environment, vector.EnvironmentAbilities{})
			}
			if b.Evaluation.Every = every; !watched {
				b.Evaluation = nil
			} else {
				b.KeepEvery, b.Keep = keep, func(run, _ int, s *Snapshot) error { kept[key{run, s.Step}] = s.State; return nil }
			}
			out := must.Get(Run(t.Context(), b))(rt)
			return out, kept
		}
		unseen, _ := play(runs, true, false)
		seen, kept := play(runs, true, true)
		want := (steps + keep - 1) / max(keep, 1)
		if keep == 0 {
			want = 1
		}
		if len(kept) != want*len(runs) {
			rt.Fatalf("%d agents are kept, want %d of each of %d runs", len(kept), want, len(runs))
		}
		for i, o := range seen {
			single, alone := play(runs[i:i+1], false, true)
			if fmt.Sprint(single[0]) != fmt.Sprint(o) { // NaN = NaN
				rt.Fatalf("by itself %v, in a batch %v", single[0], o)
			}
			for k, state := range alone {
				if !bytes.Equal(state, kept[k]) {
					rt.Fatalf("run %d, step %d: another agent is kept", k.run, k.step)
				}
			}
			curve := o.Curves[result.EvaluationReturn]
			if len(curve) != len(grid) || math.IsNaN(curve[len(grid)-1]) {
				rt.Fatalf("evaluations %v on the grid %v", curve, grid)
			}
			delete(o.Curves, result.EvaluationReturn)
			if fmt.Sprint(o) != fmt.Sprint(unseen[i]) {
				rt.Fatalf("evaluated %v, otherwise %v", o, unseen[i])
			}
		}
	})
}

// The value of an evaluation is the mean return of its episodes, which are cut short at
// the limit: a greedy action pays 2 and the noise.
func TestEvaluationCountsEpisodes(t *testing.T) {
	b := sailing(t, []int{3}, 10, []int{10})
	b.Evaluation.Episodes, b.Evaluation.Limit, b.Evaluation.Every = 5, 4, 10
	out := must.Get(Run(t.Context(), b))(t)
	total := 0.0
	for e := range uint64(5) {
		w := &walk{}
		must.Get(w.Reset(t.Context(), b.Seeds.Seed(3, seed.Evaluation, 10<<24+e)))(t)
		for range 4 {
			s := must.Get(w.Step(t.Context(), space.Value{Int: 2}))(t)
			if total += s.Reward; s.Terminated || s.Truncated {
				break
			}
		}
	}
	if got := out[0].Curves[result.EvaluationReturn][0]; math.Abs(got-total/5) > 1e-12 {
		t.Errorf("got %v, want %v", got, total/5)
	}
}

// A run that begins with a kept agent begins with what that has learned: the
// evaluation before the first step is the one after the last.
func TestRunsBeginWithKeptAgents(t *testing.T) {
	b := sailing(t, []int{0, 1}, 50, []int{50})
	kept := map[int]*Snapshot{}
	b.Evaluation, b.Keep = nil, func(run, _ int, s *Snapshot) error { kept[run] = s; return nil }
	must.Get(Run(t.Context(), b))(t)
	sum := func(state []byte) float64 {
		return math.Float64frombits(binary.LittleEndian.Uint64(state[len(state)-8:]))
	}
	next := sailing(t, []int{0, 1}, 1, []int{1})
	var first [2]float64
	next.Evaluation = nil
	next.Start = func(run int) (*Snapshot, error) { return kept[run], nil }
	must.Get(Run(t.Context(), next))(t)
	for i := range first {
		state := must.Get(vector.Save(t.Context(), next.Agent, i))(t)
		end := kept[i].Outcome
		want := sum(agentIn(t, kept[i].State)) + end.Reward
		if end.Terminated {
			want++
		}
		if got := sum(agentIn(t, state)); got != want {
			t.Errorf("run %d begins with %v, want %v", i, got, want)
		}
	}
	still := sailing(t, []int{0, 1}, 0, []int{0})
	still.Start = next.Start
	out := must.Get(Run(t.Context(), still))(t)
	for _, o := range out {
		if x := o.Curves[result.EvaluationReturn]; o.Steps != 0 || len(x) != 1 || !(x[0] > 2) {
			t.Errorf("%d steps, evaluation %v", o.Steps, x)
		}
	}
}

// agentIn finds what a sailor saved in the state of its lane: 28 bytes that begin
// as the state of a PCG.
func agentIn(t *testing.T, lane []byte) []byte {
	t.Helper()
	i := bytes.Index(lane, []byte("pcg:"))
	if i < 0 {
		t.Fatal("no agent in the state")
	}
	return lane[i : i+28]
}
