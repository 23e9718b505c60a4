package banditagent

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/rlrun/rlrun/bandit/policy"
	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
)

// cases are parameters of every policy that reach all it may keep.
var cases = map[string][]string{
	"greedy":                 {``},
	"uniform":                {``},
	"epsilon-greedy":         {`,"epsilon":0.2,"decay":0.01`},
	"softmax":                {`,"decay":0.01`},
	"boltzmann-gumbel":       {``},
	"thompson":               {``, `,"draw":"common"`},
	"optimistic":             {``, `,"bound":"U+"`, `,"bound":"V","horizon":150`, `,"order":"gamma"`, `,"compare":"pairs"`, `,"compare":"all-pairs","horizon":300`},
	"optimistic-stochastic":  {``, `,"horizon":150`, `,"compare":"pairs","draw":"common"`, `,"choice":"program"`},
	"vpi":                    {``},
	"index":                  {``, `,"bound":"U","horizon":300`},
	"e3":                     {`,"accuracy":100,"gamma":0.5`},
	"e3-overflow":            {``},
	"ucb1":                   {``},
	"kl-ucb":                 {``},
	"discounted-ucb":         {``, `,"discount":0.9`},
	"moss":                   {``, `,"horizon":300`},
	"ucb-v":                  {``},
	"exp3":                   {``, `,"horizon":300`},
	"besa":                   {``},
	"bayes-ucb":              {``, `,"confidence":1,"horizon":300`},
	"gittins":                {`,"gamma":0.9`},
	"knowledge-gradient":     {``, `,"horizon":300`},
	"ids":                    {``},
	"successive-elimination": {`,"failure":0.9`},
	"median-elimination":     {`,"accuracy":0.9,"failure":0.9`},
	"budgeted":               {`,"budget":90`, `,"budget":90,"allocation":"biased-robin"`, `,"budget":20,"allocation":"lookahead"`, `,"budget":40,"allocation":"vpi"`, `,"budget":90,"allocation":"vpi","cost":0.001`, `,"budget":70,"allocation":"lookahead","cost":0.0001`},
	"backward-induction":     {`,"horizon":9`},
}

var someBeliefs = []string{`null`, `{"kind":"forgetting"}`, `{"kind":"point"}`, `{"kind":"beta"}`, `{"kind":"gaussian"}`, `{"kind":"normal-gamma"}`, `{"kind":"gamma-poisson"}`,
	`{"kind":"population","members":6,"update":"poisson","schedule":"harmonic"}`, `{"kind":"population","members":8,"update":"drawn"}`, `{"kind":"population","update":"bernoulli"}`}

// bernoulli describes a bandit of five arms.
var bernoulli = framework.Spec{ID: "test/bandit@1", Observation: space.Discrete{N: 1}, Action: space.Discrete{N: 5}, RewardHigh: 1, Continuing: true}

// pull makes steps of a lane of two, whose rewards are a function of their number and
// the arm, and returns the arms.
func pull(t *testing.T, a vector.Agent, lane, from, to int) (arms []int64) {
	t.Helper()
	in, actions := vector.NewFeedback(bernoulli, 2), space.NewColumn(bernoulli.Action, 2)
	for n := from; n < to; n++ {
		in.Signals[lane] = vector.Continue
		if n == 0 {
			in.Signals[lane], in.Seeds[lane] = vector.NewRun, uint64(7+lane)
		}
		must.Do(t, a.Step(t.Context(), in, &actions))
		arms = append(arms, actions.Int64[lane])
		rng := rand.New(rand.NewPCG(uint64(n), uint64(actions.Int64[lane])))
		in.Rewards[lane] = float64(rng.IntN(7) / (6 - int(actions.Int64[lane])))
		in.Rewards[lane] = min(in.Rewards[lane], 1)
	}
	return arms
}

// Every policy on every belief that it works with continues from a saved state as it
// would have done, in a lane that has had another run. Saving changes nothing.
func TestEveryPolicyCanBeSaved(t *testing.T) {
	for _, kind := range policy.Kinds() {
		tried := 0
		for _, more := range cases[kind.Name] {
			for _, belief := range someBeliefs {
				params := json.RawMessage(fmt.Sprintf(`{"policy":{"kind":%q%s},"belief":%s}`, kind.Name, more, belief))
				open := func() vector.Agent {
					a, err := Plugin().OpenAgent(t.Context(), params, bernoulli, 2)
					if err != nil {
						return nil
					}
					return a
				}
				a, unseen, b := open(), open(), open()
				if a == nil { // the policy does not work with the belief
					continue
				}
				tried++
				t.Run(string(params), func(t *testing.T) {
					pull(t, a, 0, 0, 60)
					state := must.Get(vector.Save(t.Context(), a, 0))(t)
					pull(t, b, 1, 0, 37)
					must.Do(t, vector.Load(t.Context(), b, 1, state))
					again, err := vector.Save(t.Context(), b, 1)
					if err != nil || !slices.Equal(state, again) {
						t.Errorf("a state of %d bytes comes back as one of %d, %v", len(state), len(again), err)
					}
					pull(t, unseen, 0, 0, 60)
					want := pull(t, unseen, 0, 60, 180)
					if got := pull(t, a, 0, 60, 180); !slices.Equal(got, want) {
						t.Errorf("saved at 60, it goes on with\n%v, else with\n%v", got, want)
					}
					if got := pull(t, b, 1, 60, 180); !slices.Equal(got, want) {
						t.Errorf("loaded, it goes on with\n%v, not\n%v", got, want)
					}
				})
			}
		}
		if tried < len(cases[kind.Name]) || tried == 0 {
			t.Errorf("%s: only %d of the parameters suit it", kind.Name, tried)
		}
	}
}

func TestNothingToSave(t *testing.T) {
	a := must.Get(Plugin().OpenAgent(t.Context(), json.RawMessage(`{"policy":{"kind":"greedy"}}`), bernoulli, 2))(t)
	if _, err := vector.Save(t.Context(), a, 0); !errors.Is(err, framework.ErrNeedsReset) {
		t.Errorf("before a run: %v", err)
	}
	for _, lane := range []int{-1, 2} {
		if _, err := vector.Save(t.Context(), a, lane); err == nil {
			t.Errorf("there is no lane %d to save", lane)
		}
		if err := vector.Load(t.Context(), a, lane, nil); err == nil {
			t.Errorf("there is no lane %d to load", lane)
		}
	}
}
