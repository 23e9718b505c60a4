// Package json measures JSON libraries on the records of runs: whether rlrun needs a
// reader and a writer of its own (docs/performance.md).
//
//	go test -C studies ./json -bench . -cpu 1 -count 8
package json

import (
	"bytes"
	std "encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/bytedance/sonic"
	v2 "github.com/go-json-experiment/json"
	goccy "github.com/goccy/go-json"
	segmentio "github.com/segmentio/encoding/json"

	"github.com/rlrun/rlrun/framework/result"
)

// plain is result.Record for a library. A number that is not finite is null, so elements
// are pointers; own reads null as NaN.
type plain struct {
	Environment string                       `json:"environment"`
	Agent       string                       `json:"agent"`
	Run         int                          `json:"run"`
	Status      string                       `json:"status"`
	Steps       int                          `json:"steps"`
	Episodes    int                          `json:"episodes"`
	Curves      map[result.Metric][]*float64 `json:"curves"`
	Decisions   []result.Decision            `json:"decisions"`
	Experiment  string                       `json:"experiment"`
}

// record is one of two metrics at 200 points, with 20 decisions.
func record() (result.Record, plain) {
	rng := rand.New(rand.NewPCG(1, 2))
	r := result.Record{Environment: "river", Agent: "threshold model", Run: 123456, Status: result.OK, Steps: 10000,
		Experiment: "0123456789", Curves: map[result.Metric][]float64{}}
	p := plain{Environment: r.Environment, Agent: r.Agent, Run: r.Run, Status: "ok", Steps: r.Steps,
		Experiment: r.Experiment, Curves: map[result.Metric][]*float64{}}
	for _, m := range []result.Metric{result.Reward, result.Regret} {
		for range 200 {
			x := math.Round(rng.Float64()*500) / 41
			r.Curves[m], p.Curves[m] = append(r.Curves[m], x), append(p.Curves[m], &x)
		}
	}
	for i := range 20 {
		r.Decisions = append(r.Decisions, result.Decision{Step: 17 * i, State: i % 6, Option: "member 3", Explore: i%2 == 0, Hold: 12,
			Delta: rng.Float64(), P: rng.Float64(), Share: rng.Float64(), Advantage: rng.NormFloat64()})
	}
	p.Decisions = r.Decisions
	return r, p
}

func BenchmarkWrite(b *testing.B) {
	r, p := record()
	var line []byte
	for name, write := range map[string]func() error{
		"own":           func() error { line = r.AppendJSON(line[:0]); return nil },
		"encoding/json": func() (err error) { line, err = std.Marshal(&p); return err },
		"go-json-experiment": func() (err error) {
			line, err = v2.Marshal(&p, v2.Deterministic(true))
			return err
		},
		"sonic":     func() (err error) { line, err = sonic.ConfigStd.Marshal(&p); return err },
		"segmentio": func() (err error) { line, err = segmentio.Append(line[:0], &p, segmentio.SortMapKeys); return err },
		"goccy":     func() (err error) { line, err = goccy.Marshal(&p); return err },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := write(); err != nil {
					b.Fatal(err)
				}
			}
			if want := r.AppendJSON(nil); !bytes.Equal(line, want) {
				b.Logf("other bytes: %.60q…, not %.60q…", line, want)
			}
		})
	}
}

func BenchmarkRead(b *testing.B) {
	r, _ := record()
	line := r.AppendJSON(nil)
	want := r.Curves[result.Reward][199]
	b.Run("own", func(b *testing.B) {
		var got result.Record
		for b.Loop() {
			if err := got.UnmarshalJSON(line); err != nil || got.Curves[result.Reward][199] != want {
				b.Fatal(err)
			}
		}
	})
	for name, read := range map[string]func([]byte, any) error{
		"encoding/json":      std.Unmarshal,
		"go-json-experiment": func(data []byte, to any) error { return v2.Unmarshal(data, to) },
		"sonic":              sonic.ConfigStd.Unmarshal,
		"segmentio":          segmentio.Unmarshal,
		"goccy":              goccy.Unmarshal,
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				var got plain
				if err := read(line, &got); err != nil || *got.Curves[result.Reward][199] != want {
					b.Fatal(err)
				}
			}
		})
	}
}
