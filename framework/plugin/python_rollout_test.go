package plugin_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
)

// made describes the steps of a rollout, bit for bit, lane by lane.
func made(out *vector.Trajectories) (steps []string) {
	for k, signal := range out.Signals {
		text := fmt.Sprint(signal)
		if signal == vector.Continue {
			text += fmt.Sprint(" action ", out.Actions.Int64[k])
		}
		if signal != vector.Idle {
			text += fmt.Sprintf(" %d %x %v %v", out.Observations.Int64[k], out.Rewards[k], out.Terminated[k], out.Truncated[k])
		}
		steps = append(steps, text)
	}
	return steps
}

// What is rolled out in Python, in one call, is what is stepped, of copies and of
// batches; and so is what follows.
func TestPythonRollout(t *testing.T) {
	if testing.Short() {
		t.Skip("starts dozens of interpreters; make ci does it")
	}
	python := pythonCommand(t)
	for name, args := range map[string][]string{"copies": {"testdata/wander.py"}, "batch": {"testdata/wander.py", "batch"}} {
		t.Run(name, func(t *testing.T) {
			p := must.Get(plugin.Launch(t.Context(), plugin.LaunchOptions{Name: name, Command: python, Args: args}))(t)
			defer p.Close()
			for _, tt := range []struct{ lanes, steps, episodes, idle int }{
				{1, 1, 1, -1}, {1, 60, 60, -1}, {2, 60, 1, -1}, {3, 40, 3, 1}, {5, 200, 20, 4},
			} {
				play := func(wrap func(vector.Environment) vector.Environment) (log []string) {
					env := must.Get(p.OpenEnvironment(t.Context(), nil, tt.lanes))(t)
					defer env.Close()
					spec := env.Spec()
					env = wrap(env)
					in, out := rolloutOf(spec, tt.lanes, tt.steps, tt.episodes), vector.NewTrajectories(spec, tt.lanes, tt.steps)
					if tt.idle >= 0 {
						in.Signals[tt.idle] = vector.Idle
					}
					for range 3 {
						must.Do(t, vector.RollOut(t.Context(), env, in, out))
						must.Do(t, out.Check(&spec, in))
						log = append(log, made(out)...)
						for i := range tt.lanes { // goes on, if it can
							last := (i+1)*tt.steps - 1
							in.Signals[i], in.Observations.Int64[i] = vector.Continue, out.Observations.Int64[last]
							if out.Signals[last] == vector.Idle || out.Terminated[last] || out.Truncated[last] {
								in.Signals[i] = vector.NewRun
							}
						}
					}
					return log
				}
				rolled := play(func(env vector.Environment) vector.Environment { return onlyRolled{env} })
				stepped := play(func(env vector.Environment) vector.Environment {
					return vector.WithAbilities(env, vector.EnvironmentAbilities{})
				})
				for k := range stepped {
					if rolled[k] != stepped[k] {
						t.Fatalf("%+v: entry %d: rolled out %s, stepped %s", tt, k, rolled[k], stepped[k])
					}
				}
			}
		})
	}
}

// onlyRolled is never stepped.
type onlyRolled struct{ vector.Environment }

func (onlyRolled) Step(context.Context, *vector.Actions, *vector.TimeSteps) error {
	return errors.New("it is stepped")
}

// Errors of a rollout in Python are reported like those in Go.
func TestPythonRolloutFails(t *testing.T) {
	if testing.Short() {
		t.Skip("starts dozens of interpreters; make ci does it")
	}
	for _, f := range []rolloutFault{
		{"exception", "lane 2: step 3 of the rollout: RuntimeError: out of cheese", nil, 2},
		{"error", "lane 2: step 3 of the rollout: no luck", framework.ErrInvalidAction, 2},
		{"nan", "lane 2: step 3 of the rollout: invalid answer: reward is NaN", framework.ErrInvalidAnswer, 2},
		{"outside", "lane 2: step 3 of the rollout: invalid answer: observation: ", framework.ErrInvalidAnswer, 2},
		{"exit", "lane 2: the process died (exit status 3", plugin.ErrDied, 2},
		{"loop", "lane 2: no answer within 1s", plugin.ErrTimeout, 2},
	} {
		f.test(t, func(t *testing.T, o plugin.LaunchOptions) *plugin.Process { return launchPython(t, o, faultyPython) })
	}
}

// BenchmarkPythonRollout makes 256 steps of some lanes in Python, in one call and step
// by step.
func BenchmarkPythonRollout(b *testing.B) {
	for _, name := range []string{"river", "vector_river"} {
		p := launchPython(b, plugin.LaunchOptions{}, filepath.Join("../../python/examples", name+".py"))
		for _, lanes := range []int{1, 16, 256} {
			for _, way := range []string{"stepped", "rolled"} {
				b.Run(fmt.Sprintf("%s/lanes=%d/%s", name, lanes, way), func(b *testing.B) {
					env, err := p.OpenEnvironment(b.Context(), nil, lanes)
					if err != nil {
						b.Fatal(err)
					}
					defer env.Close()
					if way == "stepped" {
						env = vector.WithAbilities(env, vector.EnvironmentAbilities{})
					}
					in, out := rolloutOf(env.Spec(), lanes, 256, 1), vector.NewTrajectories(env.Spec(), lanes, 256)
					for b.Loop() {
						if err := vector.RollOut(b.Context(), env, in, out); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*lanes*256), "ns/step")
				})
			}
		}
	}
}
