package thresholdmodel

import (
	"errors"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/bandit"
	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/explore"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/options"
	"github.com/rlrun/rlrun/plugins/internal/agenttest"
)

// The rule gain of the host finds the far end of RiverSwim. The log has the pairs with what they
// cost. In five runs of 4,000 steps the second half earns 0.4286 per step at best. Under the rule
// never some runs stay at the near end, which pays 0.005.
func TestHostDecides(t *testing.T) {
	play := func(rule *options.Rule) (reward float64, decisions []result.Decision) {
		host := &explore.Config{Decider: options.DeciderConfig{Rule: rule, Horizon: bandit.Finite(4000)}, Kinds: []options.Kind{options.Pairs}, Log: 10_000}
		for _, o := range plugins().PlayHosted(t, "riverswim", `{"limit":0}`, "threshold-model", `{"gamma":0.9999}`, host, 0, 5, 4000, []int{2000, 4000}, result.Reward) {
			reward += o.Curves[result.Reward][1] / 5
			decisions = append(decisions, o.Decisions...)
		}
		return reward, decisions
	}
	reward, decisions := play(options.RuleGain)
	if reward < 0.37 || reward > 0.48 {
		t.Errorf("%.4f per step", reward)
	}
	explored := 0
	for _, d := range decisions {
		if d.Explore != strings.HasPrefix(d.Option, "pair ") || d.Explore && !(d.Advantage > 0 && d.Delta >= d.Advantage) {
			t.Fatalf("%+v", d)
		}
		if d.Explore {
			explored++
		}
	}
	if explored < 50 || explored > len(decisions)/2 {
		t.Errorf("explored in %d of %d decisions", explored, len(decisions))
	}
	if never, _ := play(options.RuleNever); never > 0.7*reward {
		t.Errorf("never exploring earns %.4f, exploring %.4f", never, reward)
	}
}

// An option aimed at the state where the agent is takes the action that it names, whatever numbers
// the planner knows actions by.
func TestOptionsNameTheirActions(t *testing.T) {
	x := agenttest.Lane[*agent](t, Plugin(), `{"gamma":0.999}`, agenttest.Finite)
	here, meanings := 0, map[int]bool{}
	for seed := range uint64(20) {
		x.Start(seed)
		meanings[x.meaning[0]] = true
		x.SetObservation(0)
		for k := range 20 {
			var p options.Problem
			must.Do(t, x.DescribeDecision(&p))
			option := 0
			for i, y := range p.Pairs {
				if y.State == k%3 {
					option = i + 1
				}
			}
			a := x.Choose(option)
			if option > 0 {
				here++
				if want := p.Pairs[option-1].Action; a != want {
					t.Fatalf("seed %d, step %d: took action %d, want %d", seed, k, a, want)
				}
			}
			x.Learn(float64(a)/2, (k+1)%3)
		}
	}
	if here < 50 || len(meanings) < 2 {
		t.Errorf("%d options aimed at the state where the agent was, numbers %v", here, meanings)
	}
}

// It offers single pairs and nothing else.
func TestOffersPairsOnly(t *testing.T) {
	x := agenttest.Lane[*agent](t, Plugin(), ``, agenttest.Finite)
	for _, kinds := range [][]options.Kind{{}, {options.Greedy}, {options.Pairs, options.Members}, {options.Constants}} {
		if err := x.SetOptionKinds(kinds); !errors.Is(err, framework.ErrUnsupported) {
			t.Errorf("%v: %v", kinds, err)
		}
	}
}
