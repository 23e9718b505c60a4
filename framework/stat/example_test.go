package stat_test

import (
	"fmt"

	"github.com/rlrun/rlrun/framework/stat"
)

// Two agents met the same draws in eight runs. The differences decide.
func ExampleSignFlip() {
	differences := []float64{3, 1, 4, 1, 5, 9, 2, 6}
	p, exact := stat.SignFlip(differences, 9999, 1)
	t := stat.PairedT(differences, 0.95)
	fmt.Printf("p = %.4f, from all sign flips: %v\n", p, exact)
	fmt.Printf("mean difference %.2f, 95 %% interval [%.2f, %.2f]\n", t.Value, t.Low, t.High)
	// Output:
	// p = 0.0078, from all sign flips: true
	// mean difference 3.88, 95 % interval [1.58, 6.17]
}

// With many tests some reject by chance. Holm's correction bounds the probability
// that any does.
func ExampleHolm() {
	fmt.Println(stat.Holm([]float64{0.01, 0.04, 0.03}))
	// Output:
	// [0.03 0.06 0.06]
}

// The interquartile mean of normalised scores, two environments with four runs each:
// the best and the worst quarter of all runs do not count.
func ExampleIQM() {
	scores := stat.Scores{{0.1, 0.2, 0.3, 0.4}, {0.5, 0.6, 0.7, 9}}
	fmt.Printf("IQM %.2f, mean %.2f\n", stat.IQM(scores), stat.MeanOfMeans(scores))
	// Output:
	// IQM 0.45, mean 1.48
}
