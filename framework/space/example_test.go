package space_test

import (
	"fmt"

	"github.com/rlrun/rlrun/framework/space"
)

// Spaces are those of Gymnasium, and their JSON is what plugins exchange.
func ExampleMarshal() {
	text, err := space.Marshal(space.Discrete{N: 3, Start: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(text))
	s, err := space.Unmarshal(text)
	fmt.Println(s, err)
	// Output:
	// {"kind":"discrete","n":3,"start":1}
	// {3 1} <nil>
}
