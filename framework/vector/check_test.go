package vector

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/space"
)

func testSpec() framework.Spec {
	return framework.Spec{
		ID: "test/x@1", Observation: space.Box{Low: []float64{0}, High: []float64{1}}, Action: space.Discrete{N: 3, Start: 1},
		RewardLow: math.Inf(-1), RewardHigh: 1,
	}
}

func TestSpecValidate(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*framework.Spec)
		want   string // part of the error; empty: none
	}{
		{"valid", func(*framework.Spec) {}, ""},
		{"no id", func(s *framework.Spec) { s.ID = "" }, "id"},
		{"no observation space", func(s *framework.Spec) { s.Observation = nil }, "without"},
		{"no action space", func(s *framework.Spec) { s.Action = nil }, "without"},
		{"bad observation space", func(s *framework.Spec) { s.Observation = space.Box{} }, "observation space"},
		{"bad action space", func(s *framework.Spec) { s.Action = space.Discrete{} }, "action space"},
		{"bounds in the wrong order", func(s *framework.Spec) { s.RewardLow = 2 }, "reward bounds"},
		{"a lower bound of infinity", func(s *framework.Spec) { s.RewardLow, s.RewardHigh = math.Inf(1), math.Inf(1) }, "reward bounds"},
		{"a bound that is no number", func(s *framework.Spec) { s.RewardHigh = math.NaN() }, "reward bounds"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := testSpec()
			tt.change(&s)
			err := s.Validate()
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestTimeStepsCheck(t *testing.T) {
	for _, tt := range []struct {
		name   string
		signal Signal
		change func(*TimeSteps, *framework.Spec) // of lane 1
		want   string
	}{
		{"fine", Continue, func(*TimeSteps, *framework.Spec) {}, ""},
		{"the end of an episode", Continue, func(o *TimeSteps, _ *framework.Spec) { o.Terminated[1], o.Truncated[1] = true, true }, ""},
		{"NaN", Continue, func(o *TimeSteps, _ *framework.Spec) { o.Rewards[1] = math.NaN() }, "reward is NaN"},
		{"infinite", Continue, func(o *TimeSteps, _ *framework.Spec) { o.Rewards[1] = math.Inf(-1) }, "reward is -Inf"},
		{"the largest reward", Continue, func(o *TimeSteps, s *framework.Spec) { o.Rewards[1], s.RewardHigh = math.MaxFloat64, math.Inf(1) }, ""},
		{"the smallest reward", Continue, func(o *TimeSteps, _ *framework.Spec) { o.Rewards[1] = -math.MaxFloat64 }, ""},
		{"above the bounds", Continue, func(o *TimeSteps, _ *framework.Spec) { o.Rewards[1] = 1.001 }, "reward is 1.001, outside the bounds [-Inf, 1]"},
		{"below the bounds", Continue, func(o *TimeSteps, s *framework.Spec) { o.Rewards[1], s.RewardLow = -0.25, 0 }, "reward is -0.25, outside the bounds [0, 1]"},
		{"a bound in float32", Continue, func(o *TimeSteps, s *framework.Spec) { o.Rewards[1], s.RewardHigh = float64(float32(0.1)), 0.1 }, ""},
		{"the sum of ten tenths", Continue, func(o *TimeSteps, _ *framework.Spec) {
			for range 10 {
				o.Rewards[1] += 0.1000000000000001
			}
		}, ""},
		{"no bounds are declared", Continue, func(o *TimeSteps, s *framework.Spec) {
			o.Rewards[1], s.RewardLow, s.RewardHigh = 7, 0, 0
			*s = s.Normalized()
		}, ""},
		{"an idle lane outside", Idle, func(o *TimeSteps, _ *framework.Spec) { o.Rewards[1] = 2 }, ""},
		{"outside", Continue, func(o *TimeSteps, _ *framework.Spec) { o.Observations.Float64[1] = 2 }, "observation: element 0 is 2"},
		{"idle", Idle, func(o *TimeSteps, _ *framework.Spec) { o.Rewards[1], o.Observations.Float64[1] = math.NaN(), 9 }, ""},
		{"a first step with a reward", NewRun, func(o *TimeSteps, _ *framework.Spec) { o.Rewards[1] = 1 }, "a new episode with reward 1"},
		{"a first step that is the last", NewEpisode, func(o *TimeSteps, _ *framework.Spec) { o.Truncated[1] = true }, "a new episode with"},
		{"the end of what never ends", Continue, func(o *TimeSteps, s *framework.Spec) { o.Truncated[1], s.Continuing = true, true }, "the episode ended"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			spec := testSpec()
			out := NewTimeSteps(spec, 2)
			tt.change(&out, &spec)
			checkBlame(t, out.Check(&spec, []Signal{Continue, tt.signal}), tt.want)
		})
	}
}

// checkBlame checks that err is nil or an invalid answer of lane 1.
func checkBlame(t *testing.T, err error, want string) {
	t.Helper()
	if want == "" {
		if err != nil {
			t.Errorf("got %v", err)
		}
		return
	}
	var lane *LaneError
	if !errors.As(err, &lane) || lane.Lane != 1 || !errors.Is(err, framework.ErrInvalidAnswer) || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q in lane 1", err, want)
	}
}

func TestCheckActions(t *testing.T) {
	for _, tt := range []struct {
		name   string
		signal Signal
		ended  bool
		action int64
		want   string
	}{
		{"first", Continue, false, 1, ""},
		{"last", NewRun, false, 3, ""},
		{"below", Continue, false, 0, "action: 0 is not in"},
		{"above", NewEpisode, false, 4, "action: 4 is not in"},
		{"idle", Idle, false, 9, ""},
		{"not used", Continue, true, 9, ""},
		{"used though a flag is set", NewEpisode, true, 9, "action: 9"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			spec := testSpec()
			f := NewFeedback(spec, 2)
			f.Signals[0], f.Signals[1], f.Terminated[1] = Continue, tt.signal, tt.ended
			actions := space.NewColumn(spec.Action, 2)
			actions.Int64[0], actions.Int64[1] = 2, tt.action
			checkBlame(t, f.CheckActions(&spec, &actions), tt.want)
		})
	}
}

func TestGuard(t *testing.T) {
	if err := Guard(func() error { return nil }); err != nil {
		t.Errorf("got %v", err)
	}
	if err := Guard(func() error { return framework.ErrUnsupported }); err != framework.ErrUnsupported {
		t.Errorf("got %v", err)
	}
	err := Guard(func() error { return divide(0) })
	var p *PanicError
	if !errors.As(err, &p) || err.Error() != "panic: runtime error: integer divide by zero" {
		t.Fatalf("got %v", err)
	}
	// The author's calls, from the one that panicked, without the runtime's.
	if !strings.HasPrefix(p.Stack, "github.com/rlrun/rlrun/framework/vector.divide\n") || !strings.Contains(p.Stack, "TestGuard") || strings.Contains(p.Stack, "runtime.") {
		t.Errorf("stack:\n%s", p.Stack)
	}
}

//go:noinline
func divide(by int) error {
	if 1/by > 0 {
		return nil
	}
	return nil
}
