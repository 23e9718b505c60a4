package plugins

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/rlrun/rlrun/bandit/policy"
	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/run"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/cputime"
	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/plugins/banditagent"
)

const benchSteps = 10_000

// benchGrids are made once, as in an experiment, by the length of runs.
var benchGrids = map[int][]int{
	1:          loop.LogGrid(1, 1),
	benchSteps: loop.LogGrid(200, benchSteps),
}

var benchMetrics = []result.Metric{result.Reward, result.DiscountedReturn, result.Regret, result.OptimalAction}

// lanes holds opened instances; step runs whole runs of 10,000 steps in them.
type lanes struct {
	env   vector.Environment
	agent vector.Agent
	n     int
}

func openLanes(b *testing.B, open run.Opener, arms int, agentParams string, n int) *lanes {
	b.Helper()
	return openMixed(b, open, open, arms, agentParams, n)
}

// openMixed opens environment and agent by transports of their own.
func openMixed(b *testing.B, openEnv, openAgent run.Opener, arms int, agentParams string, n int) *lanes {
	b.Helper()
	e, a := openPlugins(b, openEnv, openAgent)
	return openIn(b, e, a, arms, agentParams, n)
}

func openPlugins(b *testing.B, openEnv, openAgent run.Opener) (env, agent vector.Plugin) {
	b.Helper()
	ctx := context.Background()
	env, closeEnv := must.Get2(openEnv(ctx, plan.Component{Plugin: "bernoulli-bandit"}))(b)
	agent, closeAgent := must.Get2(openAgent(ctx, plan.Component{Plugin: "bandit"}))(b)
	b.Cleanup(func() { closeEnv(); closeAgent() })
	return env, agent
}

// openIn opens n lanes in plugins that are open.
func openIn(b *testing.B, e, a vector.Plugin, arms int, agentParams string, n int) *lanes {
	b.Helper()
	ctx := context.Background()
	env := must.Get(e.OpenEnvironment(ctx, json.RawMessage(fmt.Sprintf(`{"arms":%d}`, arms)), n))(b)
	agent := must.Get(a.OpenAgent(ctx, json.RawMessage(agentParams), env.Spec(), n))(b)
	b.Cleanup(func() { agent.Close(); env.Close() })
	return &lanes{env, agent, n}
}

func (l *lanes) run(b *testing.B, first, steps int) []loop.Outcome {
	runs := make([]int, l.n)
	for i := range runs {
		runs[i] = first + i
	}
	outcomes, err := loop.Run(context.Background(), loop.Batch{
		Environment: l.env, Agent: l.agent, Runs: runs, Seeds: seed.NewSource(1, l.env.Spec().ID),
		Steps: steps, Grid: benchGrids[steps], Discount: 0.99, Metrics: benchMetrics,
	})
	if err != nil {
		b.Error(err)
	}
	return outcomes
}

func report(b *testing.B, steps int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(steps), "ns/step")
	b.ReportMetric(0, "ns/op")
}

// benchAgents are agents that BenchmarkLoop compares with the library.
var benchAgents = []struct{ name, params string }{
	{"epsilon-greedy", `{"policy":{"kind":"epsilon-greedy"},"belief":{"kind":"point"}}`},
	{"thompson", `{"policy":{"kind":"thompson"},"belief":{"kind":"population"}}`},
	{"optimistic-stochastic", `{"policy":{"kind":"optimistic-stochastic","gamma":0.99}}`},
	{"vpi", `{"policy":{"kind":"vpi"},"belief":{"kind":"population"}}`},
	{"ucb1", `{"policy":{"kind":"ucb1"}}`},
	{"thompson-beta", `{"policy":{"kind":"thompson"},"belief":{"kind":"beta"}}`},
}

// BenchmarkLoop measures what a step costs through the framework's loop: in process, on
// one core, four lanes at a time. It also measures the same four runs in the library
// right before, one after the other. It reports the median of the differences, which
// other load on the machine for a while does not distort. Beside it stands half the width
// of the median's 95 % confidence interval. It tells whether a difference of nanoseconds
// can be seen in steps of microseconds. There are 64 rounds at least. The start of a run
// (drawing arms and beliefs, the models for regret) is timed with runs of one step and
// reported by itself.
func BenchmarkLoop(b *testing.B) {
	const steps, rounds = benchSteps, 64
	for _, a := range benchAgents {
		for _, arms := range []int{16, 128, 256} {
			b.Run(fmt.Sprintf("%s/arms=%d", a.name, arms), func(b *testing.B) {
				l := openLanes(b, inProcess, arms, a.params, 4)
				library := openLibrary(b, arms, a.params, l.env.Spec())
				var alone, framework, starting, more []float64 // ns
				round := func() {
					first := l.n * len(more)
					spent, sum := 0.0, 0.0
					for i := range l.n {
						ns, paid := library.run(first+i, steps)
						spent, sum = spent+ns, sum+paid
					}
					begun := cputime.Whole()
					l.run(b, first, 1)
					start := float64((cputime.Whole() - begun).Nanoseconds())
					begun = cputime.Whole()
					outcomes := l.run(b, first, steps)
					whole := float64((cputime.Whole() - begun).Nanoseconds()) - start
					if got := rewards(outcomes); math.Abs(got-sum) > 0.5 {
						b.Fatalf("the framework's runs are not the library's: %v rewards, not %v", got, sum)
					}
					alone, framework = append(alone, spent), append(framework, whole)
					starting, more = append(starting, start), append(more, whole-spent)
				}
				for b.Loop() {
					for range rounds {
						round()
					}
				}
				perStep := 1 / float64(l.n*steps)
				b.ReportMetric(median(alone)*perStep, "library-ns/step")
				b.ReportMetric(median(framework)*perStep, "ns/step")
				b.ReportMetric(median(more)*perStep, "more-ns/step")
				b.ReportMetric(medianError(more)*perStep, "±more-ns/step")
				b.ReportMetric(median(starting)/1e3/float64(l.n), "µs/start")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// rewards returns the sum of all rewards, from the means of the windows.
func rewards(outcomes []loop.Outcome) (sum float64) {
	grid := benchGrids[benchSteps]
	for _, o := range outcomes {
		before := 0
		for k, end := range grid {
			sum += o.Curves[result.Reward][k] * float64(end-before)
			before = end
		}
	}
	return sum
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}

// medianError returns half the width of the 95 % confidence interval of the median of a
// distribution. x is a sample of it, which it sorts. The interval lies between the two
// order statistics √n places below and above the middle.
func medianError(x []float64) float64 {
	slices.Sort(x)
	n, d := len(x), int(math.Ceil(math.Sqrt(float64(len(x)))))
	return (x[min(n-1, n/2+d)] - x[max(0, n/2-d)]) / 2
}

// library is the same bandit and agent without the framework.
type library struct {
	maker *policy.Maker
	seeds seed.Source
	means []float64
}

func openLibrary(b *testing.B, arms int, agentParams string, env framework.Spec) *library {
	b.Helper()
	var p banditagent.Params
	must.Do(b, json.Unmarshal([]byte(agentParams), &p))
	s, belief, err := p.Specs()
	must.Do(b, err)
	maker := must.Get(policy.NewMaker(s, belief, policy.Task{Arms: arms, High: 1}))(b)
	return &library{maker, seed.NewSource(1, env.ID), make([]float64, arms)}
}

// run makes the steps of policy.BenchmarkStep with the random numbers of a lane's
// run, so that it is the same run. It returns the nanoseconds of the steps and the sum of
// their rewards.
func (l *library) run(number, steps int) (spent, sum float64) {
	bandit := rand.New(rand.NewPCG(l.seeds.Seed(number, seed.Environment, 0), uint64(seed.Environment)))
	mean := distuv.Uniform{Max: 1, Src: bandit}
	for i := range l.means {
		l.means[i] = mean.Rand()
	}
	agent := l.seeds.Seed(number, seed.Agent, 0)
	exploration, bootstrap := seed.Stream(agent, seed.Exploration), seed.Stream(agent, seed.Bootstrap)
	exploration.Shuffle(len(l.means), func(i, j int) { l.means[i], l.means[j] = l.means[j], l.means[i] }) // as the agent numbers arms
	p := l.maker.New(bootstrap)
	begun := cputime.Whole()
	for range steps {
		arm := p.SelectArm(exploration)
		reward := 0.0
		if float64(bandit.Uint64()>>11)*0x1p-53 < l.means[arm] {
			reward = 1
		}
		p.Update(arm, reward, bootstrap)
		sum += reward
	}
	return float64((cputime.Whole() - begun).Nanoseconds()), sum
}

// BenchmarkLanes is how the cost of a step depends on the number of lanes.
func BenchmarkLanes(b *testing.B) {
	for _, n := range []int{1, 2, 4, 8, 16, 64, 1000} {
		b.Run(fmt.Sprintf("thompson/arms=16/lanes=%d", n), func(b *testing.B) {
			l := openLanes(b, inProcess, 16, benchAgents[1].params, n)
			steps := 0
			for b.Loop() {
				l.run(b, steps, benchSteps)
				steps += n * benchSteps
			}
			report(b, steps)
		})
	}
}

// BenchmarkTransports measures a step at 1,000 lanes. In the first settings all is in
// process, or the environment, the agent or both have their own processes. In two more,
// two halves of the lanes are in flight at the same time, in the same two processes or in
// processes of their own. The last is the way in which an experiment makes 1,000 runs
// with two workers. All settings take turns, so that the medians of differences and
// ratios are those of a machine of constant speed.
func BenchmarkTransports(b *testing.B) {
	const steps, inprocess, environment, agent, both, halves, workers = benchSteps, 0, 1, 2, 3, 4, 5
	names := []string{"inprocess", "environment", "agent", "both", "halves", "two-workers"}
	params := benchAgents[1].params
	ls := make([][]*lanes, len(names))
	ls[inprocess] = []*lanes{openMixed(b, inProcess, inProcess, 16, params, 1000)}
	ls[environment] = []*lanes{openMixed(b, subprocess, inProcess, 16, params, 1000)}
	ls[agent] = []*lanes{openMixed(b, inProcess, subprocess, 16, params, 1000)}
	ls[both] = []*lanes{openMixed(b, subprocess, subprocess, 16, params, 1000)}
	e, a := openPlugins(b, subprocess, subprocess)
	for range 2 {
		ls[halves] = append(ls[halves], openIn(b, e, a, 16, params, 500))
		ls[workers] = append(ls[workers], openMixed(b, subprocess, subprocess, 16, params, 500))
	}
	ns := make([][]float64, len(names)) // a step
	var more, ratio []float64
	for b.Loop() {
		for i := range names {
			begun := time.Now()
			var wg sync.WaitGroup
			for w, l := range ls[i] {
				wg.Go(func() { l.run(b, l.n*w, steps) })
			}
			wg.Wait()
			ns[i] = append(ns[i], float64(time.Since(begun).Nanoseconds())/(1000*steps))
		}
		k := len(more)
		more = append(more, ns[both][k]-ns[inprocess][k])
		ratio = append(ratio, ns[halves][k]/max(ns[environment][k], ns[agent][k]))
	}
	b.ReportMetric(median(more), "more-ns/step")
	b.ReportMetric(median(ratio), "halves/slower-side")
	for i, name := range names {
		b.ReportMetric(median(ns[i]), name+"-ns")
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkCores measures the time of a step with one worker and with two, and their
// ratio. Workers take batches from a queue as in an experiment, under the garbage
// collector's setting of rlrun run. In turns with it, it measures the ratio for two
// goroutines that compute numbers in registers: the most that the machine can give.
func BenchmarkCores(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	const batches, lanesEach = 64, 4
	ls := []*lanes{openLanes(b, inProcess, 16, benchAgents[1].params, lanesEach), openLanes(b, inProcess, 16, benchAgents[1].params, lanesEach)}
	// spent is the time in which so many workers do all batches.
	spent := func(workers int, do func(worker, batch int)) float64 {
		begun := time.Now()
		var next atomic.Int64
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() {
				for k := next.Add(1); k <= batches; k = next.Add(1) {
					do(w, int(k))
				}
			})
		}
		wg.Wait()
		return float64(time.Since(begun).Nanoseconds())
	}
	var one, two, times, most []float64
	for b.Loop() {
		steps := func(w, k int) { ls[w].run(b, k*lanesEach, benchSteps) }
		numbers := func(_, k int) {
			rng := rand.NewPCG(uint64(k), 0)
			for range 200_000 {
				rng.Uint64()
			}
		}
		a, c := spent(1, steps), spent(2, steps)
		one, two, times = append(one, a/(batches*lanesEach*benchSteps)), append(two, c/(batches*lanesEach*benchSteps)), append(times, a/c)
		most = append(most, spent(1, numbers)/spent(2, numbers))
	}
	b.ReportMetric(median(one), "one-ns/step")
	b.ReportMetric(median(two), "two-ns/step")
	b.ReportMetric(median(times), "times")
	b.ReportMetric(median(most), "machine-times")
	b.ReportMetric(0, "ns/op")
}
