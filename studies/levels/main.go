// Command levels simulates how often rlrun's tests decide: without a difference, which
// must be at most 5 % of the time, and with one. It prints the tables of
// docs/statistics.md.
//
//	go run -C studies ./levels
package main

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"github.com/rlrun/rlrun/framework/stat"
)

// population draws differences of paired runs; their mean is the effect.
type population struct {
	name string
	draw func(rng *rand.Rand) float64
}

func normal(effect float64) population {
	return population{fmt.Sprintf("normal, mean %g σ", effect), func(rng *rand.Rand) float64 { return rng.NormFloat64() + effect }}
}

var (
	cauchy = population{"Cauchy", func(rng *rand.Rand) float64 { return math.Tan(math.Pi * (rng.Float64() - 0.5)) }}
	ties   = population{"0 nine times in ten, else ±1", func(rng *rand.Rand) float64 {
		switch rng.IntN(20) {
		case 0:
			return 1
		case 1:
			return -1
		}
		return 0
	}}
	skewed = population{"exponential less its mean", func(rng *rand.Rand) float64 { return rng.ExpFloat64() - 1 }}
)

// simulate counts the trials, out of n, that test decides, and the mean number of runs
// that it takes. A trial's draws depend on its number alone.
func simulate(n int, test func(rng *rand.Rand, trial uint64) (decided bool, runs int)) (share, runs float64) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	next := make(chan uint64)
	decided, total := 0, 0
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for trial := range next {
				d, r := test(rand.New(rand.NewPCG(trial, 1)), trial)
				mu.Lock()
				if total += r; d {
					decided++
				}
				mu.Unlock()
			}
		})
	}
	for trial := range uint64(n) {
		next <- trial
	}
	close(next)
	wg.Wait()
	return float64(decided) / float64(n), float64(total) / float64(n)
}

func sample(p population, n int, rng *rand.Rand) []float64 {
	d := make([]float64, n)
	for i := range d {
		d[i] = p.draw(rng)
	}
	return d
}

func main() {
	trials := flag.Int("trials", 2000, "simulated experiments a row")
	flag.Parse()
	fmt.Printf("%d trials per row; a share of 5 %% has a standard error of %.1f %%.\n\n", *trials, 100*math.Sqrt(0.05*0.95/float64(*trials)))

	fmt.Println("Sign flips at level 5 %:")
	fmt.Println()
	fmt.Println("| differences | runs | decided |\n|---|---|---|")
	for _, c := range []struct {
		p    population
		runs int
	}{{normal(0), 10}, {normal(0), 50}, {skewed, 10}, {skewed, 20}, {skewed, 50}, {skewed, 200}} {
		share, _ := simulate(*trials, func(rng *rand.Rand, trial uint64) (bool, int) {
			p, _ := stat.SignFlip(sample(c.p, c.runs, rng), 9999, trial)
			return p <= 0.05, c.runs
		})
		fmt.Printf("| %s | %d | %.1f %% |\n", c.p.name, c.runs, 100*share)
	}

	fmt.Println("\nUntil decided, at level 5 %:")
	fmt.Println()
	fmt.Println("| differences | runs × looks | decided | mean runs |\n|---|---|---|---|")
	for _, c := range []struct {
		p            population
		block, looks int
	}{
		{normal(0), 10, 5}, {normal(0), 20, 10}, {cauchy, 10, 5}, {ties, 10, 5}, {skewed, 10, 5},
		{normal(0.25), 10, 5}, {normal(0.5), 10, 5}, {normal(1), 10, 5}, {normal(0.25), 20, 10}, {normal(0.5), 20, 10},
	} {
		design := stat.Design{Runs: c.block * c.looks, Block: c.block, Alpha: 0.05}
		share, runs := simulate(*trials, func(rng *rand.Rand, trial uint64) (bool, int) {
			v := design.Test(slices.Collect(slices.Chunk(sample(c.p, design.Runs, rng), c.block)), trial)
			return v.Decision != stat.Undecided, v.Runs()
		})
		fmt.Printf("| %s | %d × %d | %.1f %% | %.0f of %d |\n", c.p.name, c.block, c.looks, 100*share, runs, design.Runs)
	}
}
