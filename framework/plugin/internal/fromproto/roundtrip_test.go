package fromproto_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/plugin/internal/fromproto"
	pb "github.com/rlrun/rlrun/framework/plugin/internal/proto"
	"github.com/rlrun/rlrun/framework/plugin/internal/toproto"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/options"
)

// over sends a message through its bytes.
func over[M proto.Message](t rapid.TB, m M) M {
	t.Helper()
	data, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	got := m.ProtoReflect().New().Interface()
	if err := proto.Unmarshal(data, got); err != nil {
		t.Fatal(err)
	}
	return got.(M)
}

// A column of integers takes as few bytes as its largest element needs, and is what
// it was; nothing of another length or size is read.
func TestIntegers(t *testing.T) {
	integers := func(xs ...int64) *space.Column { return &space.Column{Type: space.Int64, Width: 1, Int64: xs} }
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int{1, 2, 4, 8}).Draw(t, "size")
		bound := int64(1)<<(8*size-1) - 1
		xs := append(rapid.SliceOf(rapid.Int64Range(-bound-1, bound)).Draw(t, "xs"), rapid.SampledFrom([]int64{bound, -bound - 1}).Draw(t, "extreme"))
		data := toproto.Column([]byte{7}, integers(xs...))
		if want := 2 + size*len(xs); len(data) != want || data[0] != 7 || int(data[1]) != size {
			t.Fatalf("%d integers, the largest of %d bytes: got % x, want %d bytes", len(xs), size, data, want)
		}
		got := integers(make([]int64, len(xs))...)
		if err := fromproto.Column(got, data[1:]); err != nil || !slices.Equal(got.Int64, xs) {
			t.Fatalf("got %v (%v), want %v", got.Int64, err, xs)
		}
		for _, wrong := range [][]byte{nil, data[1 : len(data)-1], append(slices.Clone(data[1:]), 0), append([]byte{3}, data[2:]...)} {
			if err := fromproto.Column(got, wrong); err == nil {
				t.Fatalf("% x was read as %d integers", wrong, len(xs))
			}
		}
	})
	for _, tt := range []struct {
		xs   []int64
		want []byte
	}{
		{[]int64{1, -2}, []byte{1, 1, 0xfe}},
		{[]int64{1, 128}, []byte{2, 1, 0, 128, 0}},
		{[]int64{-40000}, []byte{4, 0xc0, 0x63, 0xff, 0xff}},
		{[]int64{1 << 40}, []byte{8, 0, 0, 0, 0, 0, 1, 0, 0}},
	} {
		if got := toproto.Column(nil, integers(tt.xs...)); !slices.Equal(got, tt.want) {
			t.Errorf("%d: got % x, want % x", tt.xs, got, tt.want)
		}
	}
}

func BenchmarkIntegers(b *testing.B) {
	for _, largest := range []int64{100, 1e3, 1e5, 1e15} {
		c := space.NewColumn(space.Discrete{N: largest + 1}, 1024)
		c.Int64[500] = largest
		data := toproto.Column(nil, &c)
		b.Run(fmt.Sprintf("write/bytes=%d", data[0]), func(b *testing.B) {
			for b.Loop() {
				data = toproto.Column(data[:0], &c)
			}
		})
		b.Run(fmt.Sprintf("read/bytes=%d", data[0]), func(b *testing.B) {
			for b.Loop() {
				if err := fromproto.Column(&c, data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Every sentinel of framework/errors.go crosses the wire, bare, wrapped, and in a
// lane; every code of the protocol but the unspecified one stands for a sentinel.
func TestErrors(t *testing.T) {
	sentinels := []error{
		framework.ErrNeedsReset, framework.ErrInvalidAction, framework.ErrInvalidParams,
		framework.ErrUnsupported, framework.ErrInvalidAnswer,
	}
	source := must.Get(os.ReadFile("../../../errors.go"))(t)
	if got := strings.Count(string(source), " = errors.New("); got != len(sentinels) {
		t.Errorf("%d sentinels in framework/errors.go, %d here", got, len(sentinels))
	}
	if got, want := len(pb.Code_name), len(sentinels)+1; got != want {
		t.Errorf("%d codes, want %d", got, want)
	}
	for _, sentinel := range append(sentinels, errors.New("something else")) {
		t.Run(sentinel.Error(), func(t *testing.T) {
			known := slices.Contains(sentinels, sentinel)
			for _, sent := range []error{sentinel, fmt.Errorf("arm 7: %w", sentinel)} {
				got := fromproto.Error(over(t, toproto.Error(sent)))
				if got.Error() != sent.Error() {
					t.Errorf("got %q, want %q", got, sent)
				}
				for _, s := range sentinels {
					if errors.Is(got, s) != (known && s == sentinel) {
						t.Errorf("%v: errors.Is(%v) is %v", sent, s, errors.Is(got, s))
					}
				}
				var lane *vector.LaneError
				if errors.As(got, &lane) {
					t.Errorf("%v blames lane %d", sent, lane.Lane)
				}
				inLane := &vector.LaneError{Lane: 3, Err: sent}
				got = fromproto.Error(over(t, toproto.Error(inLane)))
				if got.Error() != inLane.Error() || errors.Is(got, sentinel) != known || !errors.As(got, &lane) || lane.Lane != 3 {
					t.Errorf("got %q, want %q", got, inLane)
				}
			}
		})
	}
	if got := fromproto.Error(toproto.Error(nil)); got != nil {
		t.Errorf("no error became %v", got)
	}
}

func anySpace(t *rapid.T, name string) space.Space {
	switch rapid.IntRange(0, 2).Draw(t, name) {
	case 0:
		return space.Discrete{N: rapid.Int64Range(1, 1000).Draw(t, "n"), Start: rapid.Int64Range(-5, 5).Draw(t, "start")}
	case 1:
		return space.MultiDiscrete{NVec: rapid.SliceOfN(rapid.Int64Range(1, 9), 1, 4).Draw(t, "nvec")}
	}
	b := space.Box{Type: rapid.SampledFrom([]space.DType{space.Float64, space.Float32, space.Uint8, space.Int64}).Draw(t, "dtype")}
	if rapid.Bool().Draw(t, "shaped") {
		b.Shape = rapid.SliceOfN(rapid.IntRange(1, 3), 1, 3).Draw(t, "shape")
	}
	bound := rapid.OneOf(rapid.Just(math.Inf(1)), rapid.Float64Range(0, 255))
	b.Low = []float64{-bound.Draw(t, "low")}
	if b.Type == space.Uint8 && !math.IsInf(b.Low[0], 0) {
		b.Low[0] = 0
	}
	for range b.Width() {
		b.High = append(b.High, bound.Draw(t, "high"))
	}
	return b
}

func TestSpec(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := framework.Spec{
			ID: "a/b@1", Observation: anySpace(t, "observation"), Action: anySpace(t, "action"),
			RewardLow: -rapid.OneOf(rapid.Just(math.Inf(1)), rapid.Float64Range(0, 1e300)).Draw(t, "low"), RewardHigh: math.Inf(1),
			Continuing: rapid.Bool().Draw(t, "continuing"), Steps: rapid.IntRange(0, 1<<40).Draw(t, "steps"), Episodes: rapid.IntRange(0, 1<<40).Draw(t, "episodes"),
		}
		m := must.Get(toproto.Spec(want))(t)
		got, err := fromproto.Spec(over(t, m))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v (%v), want %+v", got, err, want)
		}
	})
}

func TestSpecIsValidated(t *testing.T) {
	discrete := &pb.Space{Kind: &pb.Space_Discrete{Discrete: &pb.DiscreteSpace{N: 2}}}
	box := func(b *pb.BoxSpace) *pb.Space { return &pb.Space{Kind: &pb.Space_Box{Box: b}} }
	for _, tt := range []struct {
		name string
		spec *pb.Spec
		want string
	}{
		{"none", nil, "observation space: missing"},
		{"no id", &pb.Spec{Observation: discrete, Action: discrete}, "id"},
		{"no action space", &pb.Spec{Id: "a", Observation: discrete}, "action space: missing"},
		{"empty space", &pb.Spec{Id: "a", Observation: &pb.Space{Kind: &pb.Space_Discrete{}}, Action: discrete}, "n = 0"},
		{"no dtype", &pb.Spec{Id: "a", Observation: box(&pb.BoxSpace{Low: []float64{0}, High: []float64{1}}), Action: discrete}, "element type"},
		{"no bounds", &pb.Spec{Id: "a", Observation: box(&pb.BoxSpace{Dtype: pb.DType_DTYPE_UINT8}), Action: discrete}, "low"},
		{"vast shape", &pb.Spec{Id: "a", Observation: box(&pb.BoxSpace{Dtype: pb.DType_DTYPE_UINT8, Low: []float64{0}, High: []float64{1}, Shape: []int64{1 << 40, 1 << 40}}), Action: discrete}, "more than"},
		{"reward bounds", &pb.Spec{Id: "a", Observation: discrete, Action: discrete, RewardLow: 1}, "reward bounds"},
		{"reward bound NaN", &pb.Spec{Id: "a", Observation: discrete, Action: discrete, RewardHigh: math.NaN()}, "reward bounds"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := fromproto.Spec(tt.spec); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestDescription(t *testing.T) {
	want := vector.Description{ID: "a/b@1", Kind: vector.KindAgent, Doc: "d", Params: []byte(`{"type":"object"}`), Abilities: []string{"model"}}
	got, err := fromproto.Description(over(t, toproto.Description(want)))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v (%v), want %+v", got, err, want)
	}
	for _, bad := range []*pb.DescribeReply{
		{Kind: "agent"}, {Id: "a", Kind: "robot"}, {Id: "a", Kind: "agent", Params: []byte("{")},
	} {
		if _, err := fromproto.Description(bad); err == nil {
			t.Errorf("%v was accepted", bad)
		}
	}
}

func TestColumns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lanes := rapid.IntRange(1, 5).Draw(t, "lanes")
		signals := rapid.SliceOfN(rapid.SampledFrom([]vector.Signal{vector.Continue, vector.Continue, vector.Idle, vector.NewEpisode, vector.NewRun}), lanes, lanes).Draw(t, "signals")
		flags := rapid.SliceOfN(rapid.Bool(), lanes, lanes).Draw(t, "flags")
		seeds := rapid.SliceOfN(rapid.Uint64(), lanes, lanes).Draw(t, "seeds")

		gotSignals := make([]vector.Signal, lanes)
		data := toproto.Signals(nil, signals)
		if err := fromproto.Signals(gotSignals, data, vector.Evaluate); err != nil || !slices.Equal(gotSignals, signals) {
			t.Fatalf("signals: got %v (%v), want %v", gotSignals, err, signals)
		}
		if all := !slices.ContainsFunc(signals, func(s vector.Signal) bool { return s != vector.Continue }); all != (len(data) == 0) {
			t.Fatalf("%v became %d bytes", signals, len(data))
		}
		gotFlags := make([]bool, lanes)
		gotFlags[0] = true
		if err := fromproto.Flags(gotFlags, "f", toproto.Flags(nil, flags)); err != nil || !slices.Equal(gotFlags, flags) {
			t.Fatalf("flags: got %v (%v), want %v", gotFlags, err, flags)
		}
		gotSeeds := make([]uint64, lanes)
		must.Do(t, fromproto.Seeds(gotSeeds, toproto.Seeds(nil, seeds, signals, vector.NewRun), signals, vector.NewRun))
		for i, s := range signals {
			if s == vector.NewRun && gotSeeds[i] != seeds[i] {
				t.Fatalf("seed of lane %d: got %d, want %d", i, gotSeeds[i], seeds[i])
			}
		}
	})
}

func TestColumnsAreChecked(t *testing.T) {
	newRun := []vector.Signal{vector.Continue, vector.NewRun}
	for _, tt := range []struct {
		name string
		err  error
		want string
	}{
		{"short signals", fromproto.Signals(make([]vector.Signal, 2), []byte{1}, vector.NewRun), "signals: column of 1 bytes, want 2"},
		{"unknown signal", fromproto.Signals(make([]vector.Signal, 2), []byte{1, 4}, vector.NewRun), "lane 1: unknown signal 4"},
		{"short seeds", fromproto.Seeds(make([]uint64, 2), make([]byte, 8), newRun, vector.NewRun), "want 16"},
		{"no seeds", fromproto.Seeds(make([]uint64, 2), nil, newRun, vector.NewRun), "no seeds"},
		{"no rewards", fromproto.Numbers(make([]float64, 2), "rewards", nil), "want 16"},
		{"long flags", fromproto.Flags(make([]bool, 2), "truncated", make([]byte, 3)), "truncated: column of 3"},
		{"flag 2", fromproto.Flags(make([]bool, 2), "truncated", []byte{0, 2}), "lane 1: truncated is 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.err == nil || !strings.Contains(tt.err.Error(), tt.want) {
				t.Errorf("got %v, want %q", tt.err, tt.want)
			}
		})
	}
}

func TestModelsAreChecked(t *testing.T) {
	good := []byte(`{"S":1,"A":1,"transitions":[[0,0,0,1]],"rewards":[[0,0,0.5]]}`)
	for _, tt := range []struct {
		name  string
		reply *pb.ModelsReply
		want  string
	}{
		{"too few lanes", &pb.ModelsReply{Models: [][]byte{good}, Lanes: []uint32{0}}, "models for 1 lanes of 2"},
		{"no such model", &pb.ModelsReply{Models: [][]byte{good}, Lanes: []uint32{0, 1}}, "lane 1 has model 1 of 1"},
		{"not JSON", &pb.ModelsReply{Models: [][]byte{good, []byte("{")}, Lanes: []uint32{0, 1}}, "model 1:"},
		{"not a model", &pb.ModelsReply{Models: [][]byte{[]byte(`{"S":1,"A":1,"transitions":[[0,0,0,0.5]]}`)}, Lanes: []uint32{0, 0}}, "model 0:"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := fromproto.Models(tt.reply, 2); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	models, err := fromproto.Models(&pb.ModelsReply{Models: [][]byte{good}, Lanes: []uint32{0, 0}}, 2)
	if err != nil || len(models) != 2 || models[0] != models[1] || models[0].Reward(0, 0) != 0.5 {
		t.Errorf("got %v (%v)", models, err)
	}
}

// Decisions cross the wire bit for bit, names once a stream.
func TestDecisions(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		number := rapid.OneOf(rapid.Float64Range(-1e9, 1e9), rapid.SampledFrom([]float64{0, 5e-324, -1e308}))
		names := map[string]uint32{}
		var d fromproto.Decisions
		for range rapid.IntRange(1, 4).Draw(rt, "replies") {
			lanes := rapid.IntRange(1, 4).Draw(rt, "lanes")
			epochs, problems := make([]bool, lanes), make([]options.Problem, lanes)
			optimal := rapid.Bool().Draw(rt, "optimal")
			for i := range epochs {
				if epochs[i] = rapid.Bool().Draw(rt, "epoch"); !epochs[i] {
					continue
				}
				n, k := rapid.IntRange(1, 4).Draw(rt, "options"), rapid.IntRange(1, 3).Draw(rt, "members")
				p := options.Problem{Hold: 1, Values: rapid.SliceOfN(number, n*k, n*k).Draw(rt, "values"), Greedy: rapid.IntRange(0, n-1).Draw(rt, "greedy")}
				for x := range n {
					a := options.Arm{Name: rapid.SampledFrom([]string{"", "greedy", "α 1", "member 2"}).Draw(rt, "name")}
					if optimal && x != p.Greedy && rapid.Bool().Draw(rt, "uninformed") {
						a.Class, a.RevealProbability = options.Uninformed, rapid.Float64Range(0, 1).Draw(rt, "reveal")
					}
					p.Arms = append(p.Arms, a)
				}
				for range rapid.IntRange(0, 2).Draw(rt, "pairs") {
					p.Pairs = append(p.Pairs, options.Pair{State: rapid.IntRange(0, 1<<24).Draw(rt, "state"), Action: rapid.IntRange(0, 9).Draw(rt, "action"),
						Gain: number.Draw(rt, "gain"), Cost: number.Draw(rt, "cost"), Steps: 1 + rapid.Float64Range(0, 1e3).Draw(rt, "steps")})
				}
				if optimal {
					p.Optimal = rapid.SliceOfN(number, k, k).Draw(rt, "optima")
				}
				problems[i] = p
			}
			var reply pb.AgentReply
			must.Do(rt, toproto.Decisions(&reply, epochs, problems, names))
			got := make([]options.Problem, lanes)
			must.Do(rt, d.Problems(got, epochs, over(rt, &reply)))
			for i := range got {
				if fmt.Sprint(got[i]) != fmt.Sprint(problems[i]) {
					rt.Fatalf("lane %d: got %+v, want %+v", i, got[i], problems[i])
				}
			}
		}
	})
}

// Columns that do not fit each other are refused.
func TestDecisionsRefused(t *testing.T) {
	for _, tt := range []struct {
		want   string
		change func(*pb.AgentReply)
	}{
		{"", func(*pb.AgentReply) {}},
		{"sizes: column of 0 bytes, want 4", func(r *pb.AgentReply) { r.Sizes = nil }},
		{"members: column of 5 bytes, want 4", func(r *pb.AgentReply) { r.Members = append(r.Members, 0) }},
		{"options: column of 8 bytes, want 12", func(r *pb.AgentReply) { r.Sizes[0] = 3 }},
		{"sizes and members are beyond reason", func(r *pb.AgentReply) { r.Members[3], r.Sizes[3] = 255, 255 }},
		{"option number 1 of 1 names", func(r *pb.AgentReply) { r.Names = r.Names[:1] }},
		{"values: column of 24 bytes, want 32", func(r *pb.AgentReply) { r.Values = r.Values[8:] }},
		{"reveals: column of 8 bytes, want 16", func(r *pb.AgentReply) { r.Reveals = r.Reveals[8:] }},
		{"", func(r *pb.AgentReply) { r.Reveals = nil }},
		{"optimal: column of 8 bytes, want 16", func(r *pb.AgentReply) { r.Optimal = make([]byte, 8) }},
		{"lane 1: options: the greedy option is number 2 of 2", func(r *pb.AgentReply) { r.Greedy[0] = 2 }},
		{"lane 1: options: 0 values for 2 options", func(r *pb.AgentReply) { r.Members[0], r.Values = 0, nil }},
	} {
		var r pb.AgentReply
		problems := []options.Problem{{}, {Arms: []options.Arm{{Name: "greedy"}, {Name: "other"}}, Values: []float64{1, 2, 3, 4}}}
		must.Do(t, toproto.Decisions(&r, []bool{false, true}, problems, map[string]uint32{}))
		tt.change(&r)
		var d fromproto.Decisions
		err := d.Problems(make([]options.Problem, 2), []bool{false, true}, &r)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want %q", err, tt.want)
		}
	}
}
