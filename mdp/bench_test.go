package mdp_test

import (
	"testing"

	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
)

func million(b *testing.B) *mdp.Tabular { return square(b, 1000) }

func square(b *testing.B, n int) *mdp.Tabular {
	b.Helper()
	task, err := catalog.GridWorld(catalog.Grid{Rows: n, Cols: n, Slip: 0.1, Continuing: true})
	if err != nil {
		b.Fatal(err)
	}
	return task.Model
}

// rowBytes is what a backup of every row reads: successors, probabilities, row
// starts and rewards.
func rowBytes(m *mdp.Tabular) float64 {
	return float64(12*m.NumTransitions() + 16*m.NumStates()*m.NumActions())
}

// BenchmarkGridWorldMillion solves 1000×1000 cells, γ = 0.99, to 1e-6.
func BenchmarkGridWorldMillion(b *testing.B) {
	m := million(b)
	for name, method := range map[string]mdp.Method{"value": mdp.ValueIteration, "modified": mdp.ModifiedPolicyIteration, "prioritised": mdp.PrioritisedSweeping} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var sol *mdp.Solution
			var err error
			for b.Loop() {
				if sol, err = mdp.SolveDiscounted(m, 0.99, mdp.Options{Method: method, Tolerance: 1e-6}); err != nil {
					b.Fatal(err)
				}
			}
			rows := float64(m.NumStates() * m.NumActions())
			moved := float64(sol.Backups) / rows * rowBytes(m)
			b.ReportMetric(float64(sol.Sweeps), "sweeps")
			b.ReportMetric(moved/1e9, "GB-moved")
			b.ReportMetric(moved/1e9/(b.Elapsed().Seconds()/float64(b.N)), "GB/s")
			b.ReportMetric(sol.Bound, "bound")
		})
	}
}

// BenchmarkMemory is the traffic that the sweeps are measured against: reading
// the same number of bytes in order.
func BenchmarkMemory(b *testing.B) {
	m := million(b)
	words := make([]uint64, int(rowBytes(m)/8))
	for i := range words {
		words[i] = uint64(i)
	}
	sum := uint64(0)
	for b.Loop() {
		for _, w := range words {
			sum += w
		}
	}
	if sum == 1 {
		b.Fatal("cannot be")
	}
	b.SetBytes(int64(8 * len(words)))
}

// BenchmarkSampleMixingMillion estimates T of the greedy policy of 1000×1000 cells
// from 256 pairs.
func BenchmarkSampleMixingMillion(b *testing.B) {
	m := million(b)
	sol, err := mdp.SolveDiscounted(m, 0.99, mdp.Options{Tolerance: 1e-6})
	if err != nil {
		b.Fatal(err)
	}
	var s *mdp.MixingSample
	for b.Loop() {
		if s, err = mdp.SampleMixing(m, sol.Policy, mdp.SampleOptions{Seed: 1}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(s.Mean, "mean-T")
	b.ReportMetric(s.High-s.Low, "interval")
	b.ReportMetric(float64(s.Touched), "rows")
}

// BenchmarkRiverSwimAverage solves RiverSwim-6 for the average optimum again and
// again, as an agent does.
func BenchmarkRiverSwimAverage(b *testing.B) {
	task, err := catalog.RiverSwim(6)
	if err != nil {
		b.Fatal(err)
	}
	var solver mdp.AverageSolver
	if _, err := solver.Solve(task.Model, mdp.Options{}); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := solver.Solve(task.Model, mdp.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRiverSwimMixing finds all T of RiverSwim-6.
func BenchmarkRiverSwimMixing(b *testing.B) {
	task, err := catalog.RiverSwim(6)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := mdp.MixingTime(task.Model, mdp.Constant(6, 1), mdp.MixingOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}
