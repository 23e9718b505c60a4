package seed_test

import (
	"fmt"

	"github.com/rlrun/rlrun/framework/seed"
)

// A seed is a function of what it is for. Run 7 meets the same draws, whichever agent
// acts and whatever ran before.
func ExampleSource() {
	source, again := seed.NewSource(1, "me/corridor@1"), seed.NewSource(1, "me/corridor@1")
	fmt.Println(source.Seed(7, seed.Environment, 0) == again.Seed(7, seed.Environment, 0))
	fmt.Println(source.Seed(7, seed.Environment, 0) == source.Seed(7, seed.Environment, 1)) // the next episode
	rng := seed.Stream(source.Seed(7, seed.Agent, 0), seed.Exploration)
	fmt.Printf("%.4f\n", rng.Float64())
	// Output:
	// true
	// false
	// 0.1648
}
