package result

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// benchRuns are the runs of the benchmarks below: one agent, five curves of 20
// points. Divide by it for the cost of a run; 1,000,000 take ten times as long.
const benchRuns = 100_000

func benchMeta() Meta {
	meta := Meta{Name: "bench", Environments: []string{"e"}, Agents: []string{"a"}, Runs: benchRuns, Discount: 0.99}
	for i := range 20 {
		meta.Grid = append(meta.Grid, 50*(i+1))
	}
	meta.Steps = 1000
	return meta
}

// writeBench records benchRuns runs, a thousand to a file.
func writeBench(b *testing.B, dir string, recs []Record) {
	rng := rand.New(rand.NewPCG(1, 2))
	for first := 0; first < benchRuns; first += len(recs) {
		for i := range recs {
			recs[i] = Record{Environment: "e", Agent: "a", Run: first + i, Status: OK, Steps: 1000, Curves: map[Metric][]float64{}}
			for _, m := range []Metric{Reward, DiscountedReturn, Regret, OptimalAction, EpisodeReturn} {
				curve := make([]float64, 20)
				for k := range curve {
					curve[k] = rng.NormFloat64()
				}
				recs[i].Curves[m] = curve
			}
		}
		if err := WriteRecords(dir, fmt.Sprintf("e.a.%d-%d", first, first+len(recs)-1), recs); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWrite100k(b *testing.B) {
	for b.Loop() {
		writeBench(b, b.TempDir(), make([]Record, 1000))
	}
}

func BenchmarkRead100k(b *testing.B) {
	dir := b.TempDir()
	writeBench(b, dir, make([]Record, 1000))
	b.Run("index", func(b *testing.B) {
		for b.Loop() {
			if r, err := OpenRuns(dir); err != nil || len(r.Entries) != benchRuns {
				b.Fatal(err)
			}
		}
	})
	runs, err := OpenRuns(dir)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("aggregate", func(b *testing.B) {
		for b.Loop() {
			if _, err := runs.Aggregate(benchMeta()); err != nil {
				b.Fatal(err)
			}
		}
	})
}
