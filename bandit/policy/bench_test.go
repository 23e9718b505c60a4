package policy

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/rlrun/rlrun/internal/cputime"
	"github.com/rlrun/rlrun/internal/must"
)

// benchmark is a policy of benchmarks and its belief.
type benchmark struct {
	name   string
	spec   Spec
	belief BeliefSpec
	plain  bool // take the plain version of the policy
}

// plainly returns the plain version of a policy that has a fast one, with its beliefs.
func plainly(p Policy) Policy {
	switch p := p.(type) {
	case *thompsonPopulation:
		return &thompson{p.beliefs}
	case *thompsonBeta:
		var b beliefs
		for i := range p.betas {
			b.learners = append(b.learners, &p.betas[i])
		}
		return &thompson{b}
	case *stochasticPopulation:
		return &stochastic{p.timed, p.low}
	}
	panic("policy: there is no plain version")
}

var (
	benchUCB1 = benchmark{"ucb1", UCB1{}, nil, false}
	benchBeta = benchmark{"thompson-beta", Thompson{}, BetaBelief{}, false}
)

// run plays whole runs of 10,000 steps, each from a fresh start. Bandits take turns, and
// the means of their arms are uniform on [0,1]. It returns the nanoseconds of a step:
// selection, a Bernoulli reward and the update.
func (c benchmark) run(b *testing.B, arms, bandits int) float64 {
	const steps = 10_000
	maker := must.Get(NewMaker(c.spec, c.belief, Task{Arms: arms, Low: 0, High: 1}))(b)
	rngs := make([]*rand.Rand, bandits)
	for k := range rngs {
		rngs[k] = rand.New(rand.NewPCG(1, uint64(k)+2))
	}
	means := make([]float64, bandits*arms)
	policies := make([]Policy, bandits)
	var spent time.Duration
	for b.Loop() {
		for k, rng := range rngs {
			if policies[k] = maker.New(rng); c.plain {
				policies[k] = plainly(policies[k])
			}
		}
		for i := range means {
			means[i] = rngs[0].Float64()
		}
		start := cputime.Whole()
		for range steps {
			for k, p := range policies {
				arm := p.SelectArm(rngs[k])
				reward := 0.0
				if rngs[k].Float64() < means[k*arms+arm] {
					reward = 1
				}
				p.Update(arm, reward, rngs[k])
			}
		}
		spent += cputime.Whole() - start
	}
	return float64(spent.Nanoseconds()) / float64(b.N) / steps / float64(bandits)
}

// BenchmarkStep is a step of one bandit; beliefs have the defaults, populations of
// 16 among them.
func BenchmarkStep(b *testing.B) {
	for _, c := range []benchmark{
		{"epsilon-greedy", EpsilonGreedy{}, nil, false},
		{"thompson", Thompson{}, nil, false},
		{"optimistic-stochastic", OptimisticStochastic{}, nil, false},
		{"vpi", VPI{}, nil, false},
		benchUCB1,
		benchBeta,
		{"index-v", Index{}, nil, false},
		{"optimistic", Optimistic{}, nil, false},
		{"kl-ucb", KLUCB{}, nil, false},
	} {
		for _, arms := range []int{16, 128, 256} {
			b.Run(fmt.Sprintf("%s/arms=%d", c.name, arms), func(b *testing.B) {
				ns := c.run(b, arms, 1)
				b.ReportMetric(ns, "ns/step")
				b.ReportMetric(1e3/ns, "Msteps/s")
			})
		}
	}
}

// BenchmarkTurns is BenchmarkStep with so many bandits that take turns, as lanes of
// the framework do: each finds the branches and cache lines of another.
func BenchmarkTurns(b *testing.B) {
	for _, c := range []benchmark{benchUCB1, benchBeta} {
		for _, arms := range []int{16, 128} {
			for _, bandits := range []int{1, 4} {
				b.Run(fmt.Sprintf("%s/arms=%d/bandits=%d", c.name, arms, bandits), func(b *testing.B) {
					b.ReportMetric(c.run(b, arms, bandits), "ns/step")
				})
			}
		}
	}
}

// BenchmarkPlain compares the fast versions of policies with the plain ones.
func BenchmarkPlain(b *testing.B) {
	for _, c := range []benchmark{
		benchBeta,
		{"thompson", Thompson{}, nil, false},
		{"optimistic-stochastic", OptimisticStochastic{}, nil, false},
	} {
		for _, arms := range []int{2, 16, 128} {
			for _, c.plain = range []bool{false, true} {
				b.Run(fmt.Sprintf("%s/arms=%d/plain=%v", c.name, arms, c.plain), func(b *testing.B) {
					b.ReportMetric(c.run(b, arms, 1), "ns/step")
				})
			}
		}
	}
}

// BenchmarkUCB1Peer is UCB1 and a program in C++ that looks at all arms.
func BenchmarkUCB1Peer(b *testing.B) {
	peer := filepath.Join(b.TempDir(), "ucb1")
	if said, err := exec.Command("g++", "-O2", "-march=native", "-o", peer, "testdata/ucb1.cc").CombinedOutput(); err != nil {
		b.Skipf("g++: %v: %s", err, said)
	}
	for _, arms := range []int{16, 128, 256} {
		b.Run(fmt.Sprintf("arms=%d", arms), func(b *testing.B) {
			own, other := benchUCB1.run(b, arms, 1), 0.0
			must.Get(fmt.Sscan(string(must.Get(exec.Command(peer, fmt.Sprint(arms)).Output())(b)), &other))(b)
			b.ReportMetric(own, "ns/step")
			b.ReportMetric(other, "C++-ns/step")
			b.ReportMetric(own/other, "times-C++")
		})
	}
}
