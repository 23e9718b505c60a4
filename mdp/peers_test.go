package mdp_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rlrun/rlrun/internal/cputime"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/mdp"
)

// BenchmarkPeers solves models of four sizes, γ = 0.99, to 1e-9 of the largest reward over
// 1−γ, with this package, and with scipy and QuantEcon through python/peers/solvers.py. It
// needs the Python that RLRUN_PYTHON names, with python/peers/requirements/solvers.txt. It
// reports processor milliseconds, medians of three, of all that do not take minutes, and fails
// if the values differ by more than the tolerances allow.
func BenchmarkPeers(b *testing.B) {
	python := os.Getenv("RLRUN_PYTHON")
	if python == "" {
		b.Skip("RLRUN_PYTHON is not set")
	}
	const gamma, rounds = 0.99, 3
	for _, n := range []int{1000, 10_000, 100_000, 1_000_000} {
		for _, name := range []string{"garnet", "grid", "absorbs", "queue", "chain"} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				m := models(b, n)[name]
				tolerance := 1e-9 * largestReward(m) / (1 - gamma)
				var own []float64
				var sol *mdp.Solution
				for b.Loop() {
					own = own[:0]
					for range rounds {
						before := cputime.Whole()
						sol = must.Get(mdp.SolveDiscounted(m, gamma, mdp.SolverConfig{}))(b)
						own = append(own, milliseconds(cputime.Whole()-before))
					}
				}
				slices.Sort(own)
				b.ReportMetric(own[rounds/2], "rlrun-ms")
				b.ReportMetric(float64(sol.Sweeps), "sweeps")
				least := math.Inf(1)
				for method, p := range peers(b, python, m, gamma, tolerance, rounds, suitable(name, n)) {
					b.ReportMetric(p.milliseconds, method+"-ms")
					least = min(least, p.milliseconds)
					for s, v := range sol.Value {
						if d := math.Abs(v - p.value[s]); d > 3*tolerance {
							b.Fatalf("%s: state %d is worth %v, not %v: %v", method, s, p.value[s], v, d/tolerance)
						}
					}
				}
				b.ReportMetric(own[rounds/2]/least, "times-best-peer")
			})
		}
	}
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1e3 }

func largestReward(m *mdp.Tabular) float64 {
	largest := 0.0
	for s := range m.NumStates() {
		for a := range m.NumActions() {
			largest = max(largest, math.Abs(m.Reward(s, a)))
		}
	}
	return largest
}

// suitable are the methods of peers that solve a model of n states within minutes. Elimination
// fills the matrices of Garnets, and in part those of grids. Plain value iteration takes some
// 2,000 sweeps where the model mixes slowly.
func suitable(model string, n int) []string {
	methods := []string{"quantecon-modified"}
	if model == "garnet" || n <= 10_000 {
		methods = append(methods, "scipy-value")
	}
	if limit := map[string]int{"garnet": 1000, "grid": 10_000, "absorbs": 10_000}[model]; limit == 0 || n <= limit {
		methods = append(methods, "scipy-policy", "quantecon-policy")
	}
	return methods
}

type peer struct {
	milliseconds float64
	value        []float64
}

// peers solves a model with methods of python/peers/solvers.py.
func peers(b *testing.B, python string, m *mdp.Tabular, gamma, tolerance float64, rounds int, methods []string) map[string]peer {
	b.Helper()
	directory := b.TempDir()
	start, next, prob, reward := []int64{0}, []int32{}, []float64{}, []float64{}
	for s := range m.NumStates() {
		for a := range m.NumActions() {
			to, p := m.Transition(s, a)
			next, prob, reward = append(next, to...), append(prob, p...), append(reward, m.Reward(s, a))
			start = append(start, int64(len(next)))
		}
	}
	for name, array := range map[string]any{"start": start, "next": next, "prob": prob, "reward": reward} {
		raw := must.Get(binary.Append(nil, binary.LittleEndian, array))(b)
		if err := os.WriteFile(filepath.Join(directory, name), raw, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	arguments := append([]string{"../python/peers/solvers.py", directory}, strings.Fields(fmt.Sprint(m.NumStates(), m.NumActions(), gamma, tolerance, rounds))...)
	command := exec.Command(python, append(arguments, methods...)...)
	command.Env = append(os.Environ(), "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "NUMBA_NUM_THREADS=1")
	command.Stderr = os.Stderr
	found := map[string]peer{}
	for line := range strings.Lines(string(must.Get(command.Output())(b))) {
		var method string
		var seconds float64
		var sweeps int
		if _, err := fmt.Sscan(line, &method, &seconds, &sweeps); err != nil {
			b.Fatalf("%q: %v", line, err)
		}
		p := peer{1e3 * seconds, make([]float64, m.NumStates())}
		raw := must.Get(os.ReadFile(filepath.Join(directory, method+".value")))(b)
		if _, err := binary.Decode(raw, binary.LittleEndian, p.value); err != nil {
			b.Fatal(err)
		}
		found[method] = p
	}
	return found
}
