package output_test

import (
	"fmt"

	"github.com/rlrun/rlrun/framework/output"
)

// The outputs that a config can name, with what each makes.
func ExampleOutputs() {
	for _, o := range output.Outputs() {
		fmt.Println(o.Name())
	}
	// Output:
	// csv
	// sqlite
	// comparisons
	// plots
	// report
}
