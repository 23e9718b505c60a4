package result

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/rlrun/rlrun/internal/must"
)

// number draws any finite float64 or NaN; small and awkward ones often.
func anyNumber() *rapid.Generator[float64] {
	return rapid.OneOf(
		rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1, -1, 0.1, 1e-7, 1e21, math.MaxFloat64, math.SmallestNonzeroFloat64, math.NaN()}),
		rapid.Custom(func(t *rapid.T) float64 {
			x := math.Float64frombits(rapid.Uint64().Draw(t, "bits"))
			if math.IsInf(x, 0) {
				return 0
			}
			return x
		}),
	)
}

func anyRecord(t *rapid.T) Record {
	r := Record{
		Environment: rapid.String().Draw(t, "environment"),
		Agent:       rapid.String().Draw(t, "agent"),
		Run:         rapid.IntRange(0, 1<<40).Draw(t, "run"),
		Status:      rapid.SampledFrom([]Status{OK, Failed}).Draw(t, "status"),
		Error:       rapid.String().Draw(t, "error"),
		Steps:       rapid.IntRange(0, 1<<50).Draw(t, "steps"),
		Episodes:    rapid.IntRange(0, 100).Draw(t, "episodes"),
	}
	curves := rapid.MapOfN(rapid.SampledFrom(Metrics()), rapid.SliceOfN(anyNumber(), 0, 6), 0, 4).Draw(t, "curves")
	if len(curves) > 0 {
		r.Curves = curves
	}
	for range rapid.IntRange(0, 3).Draw(t, "decisions") {
		r.Decisions = append(r.Decisions, Decision{
			Step: rapid.Int().Draw(t, "step"), Episode: rapid.Int().Draw(t, "episode"), State: rapid.Int().Draw(t, "state"),
			Capped: rapid.Bool().Draw(t, "capped"), Option: rapid.String().Draw(t, "option"), Explore: rapid.Bool().Draw(t, "explore"),
			Hold: rapid.Int().Draw(t, "hold"), Delta: anyNumber().Draw(t, "delta"), P: anyNumber().Draw(t, "p"),
			Share: anyNumber().Draw(t, "share"), Advantage: anyNumber().Draw(t, "advantage"),
		})
	}
	return r
}

// same compares floats by bits, all NaN being one.
func same(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || (math.IsNaN(a) && math.IsNaN(b))
}

func sameRecord(a, b *Record) bool {
	if a.Key() != b.Key() || a.Status != b.Status || a.Error != b.Error || a.Steps != b.Steps || a.Episodes != b.Episodes ||
		len(a.Curves) != len(b.Curves) || len(a.Decisions) != len(b.Decisions) {
		return false
	}
	for m, x := range a.Curves {
		y, ok := b.Curves[m]
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !same(x[i], y[i]) {
				return false
			}
		}
	}
	for i, x := range a.Decisions {
		y := b.Decisions[i]
		if x.Step != y.Step || x.Episode != y.Episode || x.State != y.State || x.Capped != y.Capped || x.Option != y.Option || x.Explore != y.Explore || x.Hold != y.Hold ||
			!same(x.Delta, y.Delta) || !same(x.P, y.P) || !same(x.Share, y.Share) || !same(x.Advantage, y.Advantage) {
			return false
		}
	}
	return true
}

func TestRecordRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := anyRecord(t)
		line := want.AppendJSON(nil)
		if bytes.ContainsRune(line, '\n') || !json.Valid(line) {
			t.Fatalf("not one line of JSON: %q", line)
		}
		var got Record
		must.Do(t, json.Unmarshal(line, &got))
		if !sameRecord(&got, &want) {
			t.Fatalf("wrote %+v, read %+v", want, got)
		}
		if again := got.AppendJSON(nil); !bytes.Equal(again, line) {
			t.Fatalf("wrote %s, then %s", line, again)
		}
	})
}

// For finite values the fast encoder writes the same as encoding/json.
func TestNumbersAreWrittenAsEncodingJSONWritesThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := anyNumber().Filter(func(x float64) bool { return !math.IsNaN(x) }).Draw(t, "x")
		want := must.Get(json.Marshal(x))(t)
		var a, b float64
		if json.Unmarshal(want, &a) != nil || json.Unmarshal(appendFloat(nil, x), &b) != nil || a != b {
			t.Fatalf("%s and %s differ", want, appendFloat(nil, x))
		}
	})
}

func TestNotFiniteIsNull(t *testing.T) {
	r := Record{Status: OK, Curves: map[Metric][]float64{Reward: {math.Inf(1), math.NaN(), math.Inf(-1), 2}}}
	const want = `{"environment":"","agent":"","run":0,"status":"ok","steps":0,"episodes":0,"curves":{"reward":[null,null,null,2]},"infinite":["reward"]}`
	if got := string(r.AppendJSON(nil)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	var back Record
	if err := json.Unmarshal([]byte(want), &back); err != nil || string(back.AppendJSON(nil)) != want {
		t.Errorf("%v: back as %s", err, back.AppendJSON(nil))
	}
}

func TestUnmarshalRejects(t *testing.T) {
	for _, line := range []string{
		`{"environment":1}`, `{"curves":{"reward":3}}`, `{"curves":{"reward":[true]}}`, `{"curves":{"reward":["a"]}}`,
		`{"curves":{"reward":[[1]]}}`, `{"curves":{"reward":[1e999]}}`, `{"run":1.5}`, `[]`, `{`,
	} {
		var r Record
		if err := json.Unmarshal([]byte(line), &r); err == nil {
			t.Errorf("%s was read as %+v", line, r)
		}
	}
}

func benchmarkRecord() Record {
	rng := rand.New(rand.NewPCG(1, 2))
	r := Record{Environment: "bernoulli", Agent: "Thompson", Run: 7, Status: OK, Steps: 10000, Curves: map[Metric][]float64{}}
	curve := make([]float64, 1000)
	for i := range curve {
		curve[i] = rng.Float64()
	}
	r.Curves[Reward] = curve
	return r
}

func BenchmarkAppendJSON(b *testing.B) {
	r := benchmarkRecord()
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = r.AppendJSON(buf[:0])
	}
	b.SetBytes(int64(len(buf)))
}

func BenchmarkUnmarshal(b *testing.B) {
	r := benchmarkRecord()
	line := r.AppendJSON(nil)
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		var got Record
		if err := got.UnmarshalJSON(line); err != nil {
			b.Fatal(err)
		}
	}
}
