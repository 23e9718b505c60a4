package plugins

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/explore"
	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/metric"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/options"
)

// Runs of every bundled agent, alone and where the host decides, go on from a checkpoint in the middle of an episode as
// if nothing had happened: curves, the metrics of their own and decisions are the same to the bit.
func TestRunsOfEveryAgentGoOn(t *testing.T) {
	const steps, every = 120, 25
	metrics := []result.Metric{"agent.*", "environment.*"}
	for _, d := range metric.Builtin() {
		if d.Derive == nil && !d.Sparse {
			metrics = append(metrics, d.Name)
		}
	}
	host := explore.Config{Decider: options.DeciderConfig{Horizon: bandit.Discounted(0.9)}, Log: 10}
	resumed := 0
	for _, name := range agents(t, "checkpoint") {
		for _, env := range []string{"bernoulli-bandit", "riverswim", "cartpole"} {
			for _, hostDecides := range []bool{false, true} {
				_, params := taskOf(name)
				play := func(runs []int, c *loop.Checkpoints) ([]loop.Outcome, error) {
					e := must.Get(bundled(env).OpenEnvironment(t.Context(), nil, len(runs)))(t)
					p := bundled(name)
					if hostDecides {
						p = hosted(p, host)
					}
					a, err := p.OpenAgent(t.Context(), []byte(params), e.Spec(), len(runs))
					if err != nil {
						return nil, err
					}
					return loop.Run(t.Context(), loop.Batch{
						Environment: e, Agent: a, Runs: runs, Seeds: seed.NewSource(3, e.Spec().ID), Steps: steps,
						Grid: loop.EveryGrid(11, steps), Discount: 0.9, Metrics: metrics, Checkpoints: c,
					})
				}
				if d := must.Get(bundled(name).Describe(context.Background()))(t); hostDecides && !slices.Contains(d.Abilities, "options") {
					continue
				}
				want, err := play([]int{0, 1}, nil)
				if errors.Is(err, framework.ErrUnsupported) || errors.Is(err, framework.ErrInvalidParams) {
					continue
				}
				what := fmt.Sprintf("%s in %s, the host decides: %v", name, env, hostDecides)
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				kept := map[int][][]byte{}
				must.Get(play([]int{0, 1}, &loop.Checkpoints{Units: every, From: func(int) *loop.Checkpoint { return nil }, Keep: func(run int, c *loop.Checkpoint) {
					var b bytes.Buffer
					must.Do(t, gob.NewEncoder(&b).Encode(c))
					kept[run] = append(kept[run], b.Bytes())
				}}))(t)
				got := must.Get(play([]int{1}, &loop.Checkpoints{Units: steps, Keep: func(int, *loop.Checkpoint) {}, From: func(run int) *loop.Checkpoint {
					var c loop.Checkpoint
					must.Do(t, gob.NewDecoder(bytes.NewReader(kept[run][1])).Decode(&c))
					return &c
				}}))(t)
				if resumed++; fmt.Sprint(got[0]) != fmt.Sprint(want[1]) {
					t.Errorf("%s: went on to\n%v, want\n%v", what, got[0], want[1])
				}
			}
		}
	}
	if resumed < 40 {
		t.Errorf("only %d pairs can be run", resumed)
	}
}
