package mdp_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rlrun/rlrun/internal/cputime"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
)

func million(b *testing.B) *mdp.Tabular { return square(b, 1000) }

func square(b *testing.B, n int) *mdp.Tabular {
	b.Helper()
	task := must.Get(catalog.GridWorld(catalog.Grid{Rows: n, Cols: n, Slip: 0.1, Continuing: true}))(b)
	return task.Model
}

// rowBytes is what a backup of every row reads: successors, probabilities, row
// starts and rewards.
func rowBytes(m *mdp.Tabular) float64 {
	return float64(12*m.NumTransitions() + 16*m.NumStates()*m.NumActions())
}

// BenchmarkGridWorldMillion solves 1000×1000 cells, γ = 0.99, to 1e-6. It reports
// the bytes that its backups read and how much longer it takes than to read as
// many in order.
func BenchmarkGridWorldMillion(b *testing.B) {
	m := million(b)
	for name, method := range map[string]mdp.Method{"value": mdp.ValueIteration, "modified": mdp.ModifiedPolicyIteration} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var sol *mdp.Solution
			var err error
			for b.Loop() {
				if sol, err = mdp.SolveDiscounted(m, 0.99, mdp.SolverConfig{Method: method, Tolerance: 1e-6}); err != nil {
					b.Fatal(err)
				}
			}
			rows := float64(m.NumStates() * m.NumActions())
			moved := float64(sol.Backups) / rows * rowBytes(m)
			took := b.Elapsed().Seconds() / float64(b.N)
			memory(b)
			words := make([]uint64, int(rowBytes(m)/8))
			for i := range words {
				words[i] = uint64(i)
			}
			b.ReportMetric(float64(sol.Sweeps), "sweeps")
			b.ReportMetric(moved/1e9, "GB-moved")
			b.ReportMetric(took/(moved/bandwidth(words)), "times-its-traffic")
			b.ReportMetric(sol.Bound, "bound")
		})
	}
}

// bandwidth is the number of bytes per second that all processors together read in order.
// The traffic of sweeps is compared with it.
func bandwidth(words []uint64) float64 {
	workers := runtime.GOMAXPROCS(0)
	sums := make([]uint64, workers)
	begin := time.Now()
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			sum := uint64(0)
			for _, x := range words[len(words)*w/workers : len(words)*(w+1)/workers] {
				sum += x
			}
			sums[w] = sum
		})
	}
	wg.Wait()
	return float64(8*len(words)) / time.Since(begin).Seconds()
}

// memory reports what the process has taken from the system so far.
func memory(b *testing.B) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.Sys)/1e6, "MB-of-process")
}

// BenchmarkSampleMixingMillion estimates T of the greedy policy of 1000×1000 cells
// from 256 pairs.
func BenchmarkSampleMixingMillion(b *testing.B) {
	m := million(b)
	sol, err := mdp.SolveDiscounted(m, 0.99, mdp.SolverConfig{Tolerance: 1e-6})
	if err != nil {
		b.Fatal(err)
	}
	var s *mdp.MixingSample
	for b.Loop() {
		if s, err = mdp.SampleMixing(m, sol.Policy, mdp.SampleConfig{Seed: 1}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(s.Mean, "mean-T")
	b.ReportMetric(s.High-s.Low, "interval")
	memory(b)
}

// BenchmarkRiverSwimAverage solves RiverSwim-6 for the average optimum again and
// again, as an agent does.
func BenchmarkRiverSwimAverage(b *testing.B) {
	task, err := catalog.RiverSwim(6)
	if err != nil {
		b.Fatal(err)
	}
	var solver mdp.AverageSolver
	must.Get(solver.Solve(task.Model, mdp.SolverConfig{}))(b)
	b.ReportAllocs()
	var sol *mdp.Solution
	for b.Loop() {
		if sol, err = solver.Solve(task.Model, mdp.SolverConfig{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(sol.Sweeps), "sweeps")
	b.ReportMetric(float64(sol.Backups)*rowBytes(task.Model)/12, "B-moved") // of 12 rows
}

// BenchmarkRiverSwimMixing finds all T of RiverSwim-6.
func BenchmarkRiverSwimMixing(b *testing.B) {
	task := must.Get(catalog.RiverSwim(6))(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := mdp.MixingTime(task.Model, mdp.Constant(6, 1), mdp.MixingConfig{}); err != nil {
			b.Fatal(err)
		}
	}
}

// models are models of several shapes, with about n states.
func models(b testing.TB, n int) map[string]*mdp.Tabular {
	side := int(math.Sqrt(float64(n)))
	grid := func(continuing bool) *mdp.Tabular {
		return must.Get(catalog.GridWorld(catalog.Grid{Rows: side, Cols: side, Slip: 0.1, Continuing: continuing}))(b).Model
	}
	// A queue of at most n−1 jobs: slow or fast service, a price for fast, a cost per job.
	queue := must.Get(mdp.Generate(mdp.Definition{States: n, Actions: 2}, func(s, a int, row *mdp.Row) {
		arrive, serve := 0.4, 0.3+0.3*float64(a)
		row.Add(min(s+1, n-1), arrive*(1-serve))
		row.Add(max(s-1, 0), serve*(1-arrive))
		row.Add(s, arrive*serve+(1-arrive)*(1-serve))
		row.Reward(-float64(s)/float64(n) - 0.1*float64(a))
	}))(b)
	return map[string]*mdp.Tabular{
		"garnet":  must.Get(catalog.Garnet(n, 4, 5, 1))(b).Model,
		"grid":    grid(true),
		"absorbs": grid(false),
		"queue":   queue,
		"chain":   must.Get(catalog.Chain(n))(b).Model,
	}
}

// BenchmarkPlan draws models from the posterior after so many steps from random pairs, with a
// Dirichlet parameter of 1 for each successor, and solves them, as psrl does: with the size of Taxi, and
// larger. It reports medians of processor milliseconds. If RLRUN_PYTHON names a Python with
// numpy, python/peers/plan.py does as much.
func BenchmarkPlan(b *testing.B) {
	for _, tt := range []struct{ states, actions, terminal, steps, rounds int }{{500, 6, 0, 0, 21}, {500, 6, 4, 200, 21}, {500, 6, 4, 5000, 21}, {2000, 4, 4, 200, 5}} {
		b.Run(fmt.Sprintf("%dx%d/%d", tt.states, tt.actions, tt.steps), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 0))
			d := must.Get(mdp.NewDirichlet(mdp.DirichletPrior{States: tt.states, Actions: tt.actions, Alpha: 1}))(b)
			terminal := make([]bool, tt.states)
			for s := range tt.terminal {
				terminal[s] = true
			}
			for range tt.steps {
				d.Update(rng.IntN(tt.states), rng.IntN(tt.actions), rng.Float64(), rng.IntN(tt.states))
			}
			var drawn, marked *mdp.Tabular
			var draw, solve []float64
			for b.Loop() {
				draw, solve = draw[:0], solve[:0]
				for range tt.rounds {
					before := cputime.Whole()
					drawn = d.SampleInto(drawn, rng)
					marked = drawn.Terminating(marked, terminal)
					between := cputime.Whole()
					must.Get(mdp.SolveDiscounted(marked, 0.99, mdp.SolverConfig{}))(b)
					draw, solve = append(draw, milliseconds(between-before)), append(solve, milliseconds(cputime.Whole()-between))
				}
			}
			slices.Sort(draw)
			slices.Sort(solve)
			b.ReportMetric(draw[tt.rounds/2], "draw-ms")
			b.ReportMetric(solve[tt.rounds/2], "solve-ms")
			python := os.Getenv("RLRUN_PYTHON")
			if python == "" {
				return
			}
			command := exec.Command(python, append([]string{"../python/peers/plan.py"}, strings.Fields(strings.Trim(fmt.Sprint(tt), "{}"))...)...)
			command.Env = append(os.Environ(), "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1")
			var drawing, solving float64
			must.Get(fmt.Sscan(string(must.Get(command.Output())(b)), &drawing, &solving))(b)
			b.ReportMetric(drawing, "numpy-draw-ms")
			b.ReportMetric(solving, "numpy-solve-ms")
			b.ReportMetric((draw[tt.rounds/2]+solve[tt.rounds/2])/(drawing+solving), "times-numpy")
		})
	}
}

// BenchmarkDiscounted solves models of four sizes, γ = 0.99, to 1e-9 of the largest reward over 1−γ.
func BenchmarkDiscounted(b *testing.B) {
	benchmarkSolver(b, 1_000_000, func(m *mdp.Tabular) (*mdp.Solution, error) {
		return mdp.SolveDiscounted(m, 0.99, mdp.SolverConfig{})
	})
}

// BenchmarkAverage solves such models for the reward per step, to 1e-9 of the largest reward.
func BenchmarkAverage(b *testing.B) {
	benchmarkSolver(b, 10_000, func(m *mdp.Tabular) (*mdp.Solution, error) {
		return mdp.SolveAverage(m, mdp.SolverConfig{})
	})
}

// benchmarkSolver solves models of several shapes and sizes. cpu-ms is processor time.
func benchmarkSolver(b *testing.B, most int, solve func(m *mdp.Tabular) (*mdp.Solution, error)) {
	for n := 1000; n <= most; n *= 10 {
		for name, m := range models(b, n) {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				before := cputime.Whole()
				for b.Loop() {
					sol, err := solve(m)
					if err != nil {
						b.Skip(err)
					}
					b.ReportMetric(float64(sol.Sweeps), "sweeps")
				}
				b.ReportMetric(milliseconds(cputime.Whole()-before)/float64(b.N), "cpu-ms")
			})
		}
	}
}
