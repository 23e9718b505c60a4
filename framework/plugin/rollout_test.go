package plugin_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"pgregory.net/rapid"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/plugin"
	pb "github.com/rlrun/rlrun/framework/plugin/internal/proto"
	"github.com/rlrun/rlrun/framework/plugin/internal/server"
	"github.com/rlrun/rlrun/framework/plugin/internal/wire"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
)

// rolloutOf asks for a rollout of fresh counters under a policy without pattern.
func rolloutOf(spec framework.Spec, lanes, steps, episodes int) *vector.Rollout {
	n, m := int(spec.Observation.(space.Discrete).N), int(spec.Action.(space.Discrete).N)
	in := &vector.Rollout{
		Steps: steps, Episodes: episodes, Signals: make([]vector.Signal, lanes), Draws: make([]uint64, lanes),
		Observations: space.NewColumn(spec.Observation, lanes), Seeds: make([]uint64, lanes*episodes), Policy: make([]float64, n*m),
	}
	for i := range lanes {
		in.Signals[i], in.Draws[i] = vector.NewRun, uint64(1000+i)
	}
	for k := range in.Seeds {
		in.Seeds[k] = uint64(k * 31)
	}
	for s := range n {
		in.Policy[s*m+s%m], in.Policy[s*m+(s+1)%m] = 0.3, 0.7
	}
	return in
}

// Rolled-out steps equal single steps, with one process, several, and a plugin
// that does not know the call.
func TestRollout(t *testing.T) {
	ways := []vector.Plugin{
		faultyEnvironment(), shards(t, 2, "serve-environment"),
		launch(t, plugin.LaunchOptions{}, "serve-environment"), launch(t, plugin.LaunchOptions{}, "serve-old-environment"),
	}
	rapid.Check(t, func(t *rapid.T) {
		lanes, steps := rapid.IntRange(1, 5).Draw(t, "lanes"), rapid.IntRange(1, 20).Draw(t, "steps")
		episodes := rapid.IntRange(1, steps).Draw(t, "episodes")
		idle := rapid.IntRange(0, lanes).Draw(t, "idle lane")
		roll := func(p vector.Plugin, wrap func(vector.Environment) vector.Environment) *vector.Trajectories {
			env := must.Get(p.OpenEnvironment(context.Background(), []byte(`{"lane":-1,"name":"test/counters@1"}`), lanes))(t)
			defer env.Close()
			spec := env.Spec()
			in, out := rolloutOf(spec, lanes, steps, episodes), vector.NewTrajectories(spec, lanes, steps)
			if idle < lanes {
				in.Signals[idle] = vector.Idle
			}
			must.Do(t, vector.RollOut(context.Background(), wrap(env), in, out))
			must.Do(t, out.Check(&spec, in))
			return out
		}
		want := roll(faultyEnvironment(), func(e vector.Environment) vector.Environment {
			return vector.WithAbilities(e, vector.EnvironmentAbilities{})
		})
		for k, way := range ways {
			if got := roll(way, func(e vector.Environment) vector.Environment { return e }); !reflect.DeepEqual(got, want) {
				t.Fatalf("way %d: got %v, want %v", k, got, want)
			}
		}
	})
}

// oldServer is of a time when there were no rollouts.
type oldServer struct{ pb.PluginServer }

func (oldServer) Rollout(context.Context, *pb.RolloutRequest) (*pb.RolloutReply, error) {
	return nil, status.Error(codes.Unimplemented, "unknown method Rollout")
}

func serveOld(p vector.Plugin) {
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig:  wire.Handshake(),
		VersionedPlugins: wire.Versions(plugin.ProtocolVersion, oldServer{server.New(p)}),
		GRPCServer:       goplugin.DefaultGRPCServer,
	})
}

// rolloutFault is a fault that strikes lane 2 of 4 at step 3 of a rollout, and what is
// said of it.
type rolloutFault struct {
	fault, text string
	is          error
	lane        int // −1: none can be named
}

// test lets the fault strike in a process that launch starts. The instance then ends.
func (f rolloutFault) test(t *testing.T, launch func(*testing.T, plugin.LaunchOptions) *plugin.Process) {
	t.Run(f.fault, func(t *testing.T) {
		t.Parallel()
		o := plugin.LaunchOptions{}
		if f.is == plugin.ErrTimeout {
			o.CallTimeout = time.Second
		}
		env, err := launch(t, o).OpenEnvironment(t.Context(), params(t, f.fault), 4)
		if err != nil {
			t.Fatal(err)
		}
		in, out := rolloutOf(env.Spec(), 4, 8, 8), vector.NewTrajectories(env.Spec(), 4, 8)
		err = vector.RollOut(t.Context(), env, in, out)
		var lane *vector.LaneError
		blamed := "plugin faulty: lane 2: "
		if f.lane < 0 {
			blamed = "plugin faulty: lanes 0 to 3: "
		}
		switch text := fmt.Sprint(err); {
		case err == nil || f.is != nil && !errors.Is(err, f.is):
			t.Errorf("got %v, want %v", err, f.is)
		case !strings.HasPrefix(text, blamed) || !strings.Contains(text, f.text):
			t.Errorf("got %q, want %q and %q in it", text, blamed, f.text)
		case errors.As(err, &lane) != (f.lane >= 0) || lane != nil && lane.Lane != f.lane:
			t.Errorf("blames %v, want lane %d", lane, f.lane)
		}
		if again := vector.RollOut(t.Context(), env, in, out); again == nil {
			t.Error("the instance goes on")
		}
		steps, answer := start(env.Spec(), 4)
		if err := env.Step(t.Context(), steps, &answer); err == nil {
			t.Error("the instance is stepped on")
		}
	})
}

// Errors of a rollout are reported like those of a step, and the instance ends.
func TestRolloutFails(t *testing.T) {
	for _, f := range []rolloutFault{
		{"nan", "lane 2: step 3 of the rollout: invalid answer: reward is NaN", framework.ErrInvalidAnswer, 2},
		{"outside", "lane 2: step 3 of the rollout: invalid answer: observation: ", framework.ErrInvalidAnswer, 2},
		{"panic", "step 3 of the rollout: panic: out of cheese", nil, -1},
		{"error", "lane 2: step 3 of the rollout: no luck", framework.ErrInvalidAction, 2},
		{"exit", "the process died (exit status 3)", plugin.ErrDied, -1},
		{"loop", "no answer within 1s", plugin.ErrTimeout, -1},
	} {
		f.test(t, func(t *testing.T, o plugin.LaunchOptions) *plugin.Process { return launch(t, o, "serve-environment") })
	}
}

// A request that makes no sense does not reach the plugin, and costs nothing.
func TestRolloutIsRefused(t *testing.T) {
	p := launch(t, plugin.LaunchOptions{}, "serve-environment")
	env := must.Get(p.OpenEnvironment(t.Context(), nil, 2))(t)
	in, out := rolloutOf(env.Spec(), 2, 4, 4), vector.NewTrajectories(env.Spec(), 2, 4)
	in.Policy[0] = -1
	if err := vector.RollOut(t.Context(), env, in, out); err == nil || !strings.Contains(err.Error(), "probability -1") {
		t.Errorf("got %v", err)
	}
	in = rolloutOf(env.Spec(), 2, 4, 4)
	if err := vector.RollOut(t.Context(), env, in, out); err != nil {
		t.Error(err)
	}
}

// BenchmarkRollout makes T steps of 1 and of 64 lanes of an environment in another
// process, in one call and step by step. ns/step is the time of a step of a lane.
func BenchmarkRollout(b *testing.B) {
	p := launch(b, plugin.LaunchOptions{}, "serve-environment")
	for _, lanes := range []int{1, 64} {
		for _, way := range []string{"stepped", "rolled"} {
			for _, steps := range []int{16, 64, 256, 1024} {
				b.Run(fmt.Sprintf("lanes=%d/%s/T=%d", lanes, way, steps), func(b *testing.B) {
					env := must.Get(p.OpenEnvironment(b.Context(), []byte(`{"lane":-1,"fault":"endless"}`), lanes))(b)
					defer env.Close()
					if way == "stepped" {
						env = vector.WithAbilities(env, vector.EnvironmentAbilities{})
					}
					in, out := rolloutOf(env.Spec(), lanes, steps, 1), vector.NewTrajectories(env.Spec(), lanes, steps)
					b.ReportAllocs()
					for b.Loop() {
						must.Do(b, vector.RollOut(b.Context(), env, in, out))
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*lanes*steps), "ns/step")
				})
			}
		}
	}
}
