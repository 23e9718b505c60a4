package space_test

import (
	"fmt"

	"github.com/rlrun/rlrun/framework/space"
)

// Spaces are those of Gymnasium, and their JSON names them in saved agents.
func ExampleMarshal() {
	text, err := space.Marshal(space.Discrete{N: 3, Start: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(text))
	// Output:
	// {"kind":"discrete","n":3,"start":1}
}
