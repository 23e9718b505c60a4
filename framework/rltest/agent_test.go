package rltest

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
)

// learner is a correct agent: it acts from a random stream that everything it
// learns stirs. A bug breaks one rule.
type learner struct {
	bug  string
	spec framework.Spec
	rng  *rand.PCG
	seen space.Value
	mask []bool
	made int // updates, which are not saved
}

func (l *learner) SetActionMask(allowed []bool) { l.mask = allowed }

func (l *learner) SelectAction(_ context.Context, observation space.Value) (space.Value, error) {
	switch l.bug {
	case "panics":
		panic("a bug")
	case "uses the global stream":
		return space.Sample(l.spec.Action, rand.New(rand.NewPCG(rand.Uint64(), 0))), nil
	case "writes to observations":
		if observation.Float64 != nil {
			observation.Float64[0]++
		}
	case "keeps observations":
		l.rng.Seed(l.rng.Uint64()+digest(l.seen), 1)
		l.seen = observation
	}
	a := space.SampleMasked(l.spec.Action, l.mask, rand.New(rand.NewPCG(l.rng.Uint64(), digest(observation))))
	if l.bug == "ignores masks" {
		return space.Sample(l.spec.Action, rand.New(rand.NewPCG(l.rng.Uint64(), digest(observation)))), nil
	}
	if l.bug == "leaves its space" && l.rng.Uint64()%8 == 0 {
		return outside(l.spec.Action)[0], nil
	}
	return a, nil
}

func (l *learner) Update(_ context.Context, t framework.Transition) error {
	if l.bug == "cannot learn" {
		return errors.New("too hard")
	}
	if l.bug == "writes to transitions" {
		if t.Observation.Float64 != nil {
			t.Observation.Float64[0]++
		}
	}
	l.made++
	l.rng.Seed(l.rng.Uint64()^digest(t.Observation)+digest(t.NextObservation), digest(t.Action)^uint64(t.Reward*1e6))
	return nil
}

// Metrics returns one in a learner whose bug concerns it.
func (l *learner) Metrics() []framework.Metric { return pace(l.bug) }

func (l *learner) Measure(_ context.Context, dst []float64) error {
	switch l.bug {
	case "learns when it is measured":
		dst[0] = float64(l.rng.Uint64())
	case "fails to measure":
		return errors.New("no ruler")
	case "is measured by what it forgets":
		dst[0] = float64(l.made)
	}
	return nil
}

// Save stores the random stream, which is all there is.
func (l *learner) Save(context.Context) ([]byte, error) {
	switch l.bug {
	case "cannot be saved":
		return nil, framework.ErrUnsupported
	case "saves nothing":
		return nil, nil
	case "fails to save":
		return nil, errors.New("full")
	case "draws when it is saved":
		l.rng.Uint64()
	}
	return l.rng.MarshalBinary()
}

func (l *learner) Load(_ context.Context, state []byte) error {
	switch l.bug {
	case "saves nothing":
		return nil
	case "fails to load":
		return errors.New("empty")
	case "loads into itself":
		var other rand.PCG
		if err := other.UnmarshalBinary(state); err != nil {
			return err
		}
		l.rng.Seed(l.rng.Uint64(), other.Uint64())
		return nil
	}
	return l.rng.UnmarshalBinary(state)
}

func digest(v space.Value) uint64 {
	h := fnv.New64()
	fmt.Fprint(h, v)
	return h.Sum64()
}

var brokenAgents = map[string][]Rule{
	"":                           nil,
	"panics":                     {Works},
	"cannot learn":               {Works},
	"uses the global stream":     {SameSeedSameActions},
	"leaves its space":           {ActionInSpace},
	"writes to observations":     {InputUnchanged},
	"writes to transitions":      nil,          // the lane keeps what it needs
	"keeps observations":         {RoundTrips}, // the slices it keeps are not saved
	"cannot be saved":            nil,
	"is measured":                nil,
	"fails to measure":           {MeasureChangesNothing},
	"learns when it is measured": {MeasureChangesNothing},
	"saves nothing":              {RoundTrips},
	"fails to save":              {RoundTrips},
	"fails to load":              {RoundTrips},
	"loads into itself":          {RoundTrips},
	"draws when it is saved":     {RoundTrips},

	"is measured by what it forgets": {RoundTrips},
}

// checkAgentCopies checks the lanes that are made of copies.
func checkAgentCopies(t *testing.T, newAgent func(seed uint64) (framework.Agent, error), spec framework.Spec) error {
	return Bounds{}.checkVectorAgent(t.Context(), func(lanes int) (vector.Agent, error) {
		return vector.VectorizeAgent(newAgent, spec, lanes)
	}, spec)
}

// With slices in observations and actions, every bug shows.
func TestCheckAgent(t *testing.T) {
	spec := Specs()[5]
	for bug, want := range brokenAgents {
		t.Run(bug, func(t *testing.T) {
			err := checkAgentCopies(t, func(seed uint64) (framework.Agent, error) {
				return &learner{bug: bug, spec: spec, rng: rand.NewPCG(seed, 0)}, nil
			}, spec)
			if got := found(err); !slices.Equal(got, want) {
				t.Errorf("got %v, want %v:\n%v", got, want, err)
			}
			if want == nil && err != nil {
				t.Error(err)
			}
		})
	}
}

func TestCheckAgentOnEverySpec(t *testing.T) {
	for _, spec := range Specs() {
		t.Run(spec.ID, func(t *testing.T) {
			err := checkAgentCopies(t, func(seed uint64) (framework.Agent, error) {
				return &learner{spec: spec, rng: rand.NewPCG(seed, 0)}, nil
			}, spec)
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// learners is a correct batch of learners; a bug breaks one rule.
type learners struct {
	vector.Agent
	bug    string
	spec   framework.Spec
	memory []int64
}

func newLearners(bug string, spec framework.Spec, lanes int) *learners {
	newAgent := func(seed uint64) (framework.Agent, error) {
		return &learner{spec: spec, rng: rand.NewPCG(seed, 0)}, nil
	}
	agent, err := vector.VectorizeAgent(newAgent, spec, lanes)
	if err != nil {
		panic(err) // newAgent returns none
	}
	return &learners{Agent: agent, bug: bug, spec: spec, memory: make([]int64, lanes)}
}

// Abilities are none, so those of the lanes within are hidden, except where a bug concerns them.
func (l *learners) Abilities() vector.AgentAbilities {
	save := func(ctx context.Context, lane int) ([]byte, error) { return vector.Save(ctx, l.Agent, lane) }
	load := func(ctx context.Context, lane int, state []byte) error { return vector.Load(ctx, l.Agent, lane, state) }
	switch l.bug {
	case "saves its first lane":
		return vector.AgentAbilities{Calls: vector.Checkpoint(func(ctx context.Context, _ int) ([]byte, error) { return save(ctx, 0) }, load)}
	case "loads into all lanes":
		return vector.AgentAbilities{Calls: vector.Checkpoint(save, func(ctx context.Context, lane int, state []byte) error {
			for i := range l.memory {
				if err := load(ctx, i, state); err != nil {
					return err
				}
			}
			return nil
		})}
	}
	return vector.AgentAbilities{}
}

func (l *learners) Close() error {
	if l.bug == "cannot close" {
		return errors.New("stuck")
	}
	return nil
}

func (l *learners) Step(ctx context.Context, in *vector.Feedback, actions *space.Column) error {
	old := slices.Clone(actions.Int64)
	if l.bug == "learns from evaluation" {
		told := *in
		told.Signals = slices.Clone(in.Signals)
		for i, s := range told.Signals {
			if s == vector.Evaluate {
				told.Signals[i] = vector.Continue
			}
		}
		in = &told
	}
	if err := l.Agent.Step(ctx, in, actions); err != nil {
		return err
	}
	first, n := int64(1), int64(3)
	active := int64(0)
	for i, s := range in.Signals {
		if s != vector.Idle {
			active++
		}
		used := s != vector.Idle && !(s == vector.Continue && (in.Terminated[i] || in.Truncated[i]))
		switch {
		case l.bug == "touches idle lanes" && s == vector.Idle:
			actions.Int64[i] = first
		case l.bug == "learns from a new episode" && used:
			if s == vector.NewEpisode && in.Terminated[i] {
				l.memory[i]++
			}
			actions.Int64[i] = first + (actions.Int64[i]+l.memory[i])%n
		case l.bug == "remembers the last run" && used:
			l.memory[i]++
			actions.Int64[i] = first + (actions.Int64[i]+l.memory[i]/int64(calls/2))%n
		case l.bug == "fills no action" && s == vector.NewEpisode:
			actions.Int64[i] = old[i]
		}
	}
	switch l.bug {
	case "mixes its lanes":
		for i, s := range in.Signals {
			if s != vector.Idle {
				actions.Int64[i] = first + active%n
			}
		}
	case "writes to its input":
		in.Rewards[0] = 7
	case "shortens a column":
		actions.Int64 = actions.Int64[:0]
	}
	return nil
}

var brokenLearners = map[string][]Rule{
	"":                          nil,
	"cannot close":              {Works},
	"shortens a column":         {Works},
	"touches idle lanes":        {IdleUntouched},
	"mixes its lanes":           {LanesIndependent},
	"writes to its input":       {InputUnchanged},
	"learns from a new episode": {NewEpisodeTeachesNothing},
	"learns from evaluation":    {LearningOff},
	"remembers the last run":    {NewRunForgets},
	"fills no action":           {ActionInSpace, FillsColumns},
	"saves its first lane":      {RoundTrips},
	"loads into all lanes":      {RoundTrips},
}

func TestCheckVectorAgent(t *testing.T) {
	spec := Specs()[2]
	for bug, want := range brokenLearners {
		t.Run(bug, func(t *testing.T) {
			err := Bounds{}.checkVectorAgent(t.Context(), func(lanes int) (vector.Agent, error) { return newLearners(bug, spec, lanes), nil }, spec)
			if got := found(err); !slices.Equal(got, want) {
				t.Errorf("got %v, want %v:\n%v", got, want, err)
			}
			if want == nil && err != nil {
				t.Error(err)
			}
		})
	}
}

// Every rule has something deliberately broken that must fail by its name.
func TestEveryRuleIsBroken(t *testing.T) {
	source := must.Get(os.ReadFile("rules.go"))(t)
	rules := regexp.MustCompile(`(?m)^\t\w+ Rule = "([a-z-]+)"`).FindAllStringSubmatch(string(source), -1)
	if len(rules) < 20 {
		t.Fatalf("found only %d rules in rules.go", len(rules))
	}
	var broken []Rule
	for _, cases := range []map[string][]Rule{brokenEnvironments, brokenBatches, brokenAgents, brokenLearners, brokenChoosers, brokenPlugins, brokenMasks} {
		for _, rules := range cases {
			broken = append(broken, rules...)
		}
	}
	for _, rule := range rules {
		if !slices.Contains(broken, Rule(rule[1])) {
			t.Errorf("nothing breaks %s", rule[1])
		}
	}
}
