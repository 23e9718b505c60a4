package catalog_test

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/mdp/catalog"
)

// Known is a number written with the digits that are known, such as "0.42862";
// empty when nothing is.
type Known string

// Check returns an error unless got agrees with k to within one unit of its last
// digit. An unknown value agrees with everything.
func (k Known) Check(got float64) error {
	if k == "" {
		return nil
	}
	want, err := strconv.ParseFloat(string(k), 64)
	if err != nil {
		return err
	}
	mantissa, exponent, _ := strings.Cut(string(k), "e")
	_, decimals, _ := strings.Cut(mantissa, ".")
	power, _ := strconv.Atoi(exponent) // 0 when there is none
	unit := math.Pow10(power - len(decimals))
	if !(math.Abs(got-want) <= unit) {
		return fmt.Errorf("got %.12g, want %s", got, k)
	}
	return nil
}

// Discounted is the optimal value under a discount, from the model's initial
// distribution.
type Discounted struct {
	Gamma float64 // discount, in [0,1)
	Value Known   // optimal value
}

// Finite is the optimal expected reward of some first steps, from the model's
// initial distribution.
type Finite struct {
	Horizon int   // number of steps
	Value   Known // optimal value of Horizon steps
}

// Problem is a model with what is known of it.
type Problem struct {
	Name  string       // of the problem, for messages
	Model *mdp.Tabular // whose answers are known

	Gain, UniformGain Known        // optimal, and of the uniform policy
	BiasSpan          Known        // of the gain-optimal policy
	Diameter          Known        // most expected steps that the fastest way between two states takes
	Total             Known        // optimal undiscounted reward of an episode
	Discounted        []Discounted // known optimal values, by discount
	Finite            []Finite     // known optimal values, by horizon
	// Steps within which every start is within total variation 1/4 of the
	// stationary distribution, under the optimal and the uniform policy; 0 unknown.
	MixOptimal, MixUniform int
}

// Problems returns the catalogue.
func Problems() []Problem {
	must := func(t *catalog.Task, err error) *mdp.Tabular {
		if err != nil {
			panic("mdptest: " + err.Error()) // the arguments below are constants
		}
		return t.Model
	}
	frozen := func(size int) *mdp.Tabular {
		rows, err := catalog.FrozenLakeMap(size)
		if err != nil {
			panic("mdptest: " + err.Error())
		}
		return must(catalog.FrozenLake(rows, 1.0/3))
	}
	return []Problem{
		{Name: "RiverSwim-6", Model: must(catalog.RiverSwim(6)),
			Gain: "0.4286224338", UniformGain: "0.0027785714", BiasSpan: "6.31032", Diameter: "14.72234", MixOptimal: 13, MixUniform: 10,
			Discounted: []Discounted{{0.95, "4.6693002"}, {0.99, "37.854701"}},
			Finite:     []Finite{{20, "3.397263959"}, {100, "37.50294661"}}},
		{Name: "RiverSwim-12", Model: must(catalog.RiverSwim(12)),
			Gain: "0.428571429", UniformGain: "0.0013481132", BiasSpan: "14.881", Diameter: "34.72222", MixOptimal: 36, MixUniform: 30,
			Finite: []Finite{{20, "0.1062742611"}}},
		{Name: "RiverSwim-20", Model: must(catalog.RiverSwim(20)),
			Gain: "0.4285714286", UniformGain: "0.0013461541", BiasSpan: "26.3095", Diameter: "61.38889", MixOptimal: 65, MixUniform: 55,
			Finite: []Finite{{20, "0.10000000000"}}},
		{Name: "RiverSwim-6 (Strehl & Littman)", Model: must(catalog.RiverSwimStrehl(6)),
			Gain: "668.8073394", UniformGain: "2.8855495", BiasSpan: "15055", Diameter: "22.51029", MixOptimal: 17, MixUniform: 10,
			Finite: []Finite{{5000, "3.33649e6"}}},
		{Name: "SixArms", Model: must(catalog.SixArms()),
			Gain: "6000", UniformGain: "23.367988", Diameter: "101", MixOptimal: 139,
			Discounted: []Discounted{{0.95, "19159.664"}}, Finite: []Finite{{5000, "2.9400000e7"}}},
		{Name: "Chain-5", Model: must(catalog.Chain(5)),
			Gain: "3.6768", UniformGain: "1.3125", BiasSpan: "23.616", Diameter: "7.20703",
			Discounted: []Discounted{{0.99, "354.768101"}}, Finite: []Finite{{1000, "3665.83"}}},
		{Name: "DoubleLoop", Model: must(catalog.DoubleLoop()),
			Gain: "0.4", UniformGain: "0.15873", Diameter: "8", Discounted: []Discounted{{0.99, "39.200040"}}},
		{Name: "Maze, absorbing", Model: must(catalog.Maze(catalog.MazeAbsorbing)), Discounted: []Discounted{{0.99, "11.00544408"}}},
		{Name: "Maze, restart", Model: must(catalog.Maze(catalog.MazeRestart)), Gain: "0.09133940", Discounted: []Discounted{{0.99, "7.761703"}}},
		{Name: "Maze, teleport", Model: must(catalog.Maze(catalog.MazeTeleport)), Gain: "0.09421837", Discounted: []Discounted{{0.99, "8.049372"}}},
		{Name: "DeepSea-10", Model: must(catalog.DeepSea(catalog.Sea{Size: 10})), Total: "0.990000000"},
		{Name: "DeepSea-50, mapped", Model: must(catalog.DeepSea(catalog.Sea{Size: 50, Mapped: true, MappingSeed: 42})), Total: "0.990000000"},
		{Name: "DeepSea-8, cost 0.3", Model: must(catalog.DeepSea(catalog.Sea{Size: 8, Cost: new(0.3)})), Total: "0.700000000"},
		{Name: "DeepSea-8, cost 1.5", Model: must(catalog.DeepSea(catalog.Sea{Size: 8, Cost: new(1.5)})), Total: "0.000000000"},
		{Name: "DeepSea-8, empty", Model: must(catalog.DeepSea(catalog.Sea{Size: 8, Empty: true})), Total: "0.000000000"},
		{Name: "FrozenLake-4", Model: frozen(4), Total: "0.82352941",
			Finite: []Finite{{100, "0.74419029"}}, Discounted: []Discounted{{0.99, "0.54202593"}}},
		{Name: "FrozenLake-8", Model: frozen(8), Total: "1.0000000",
			Finite: []Finite{{200, "0.91322015"}}, Discounted: []Discounted{{0.99, "0.41464036"}}},
		{Name: "Taxi", Model: must(catalog.Taxi()), Total: "7.93"},
		{Name: "CliffWalking", Model: must(catalog.CliffWalking()), Total: "-13.0000000"},
	}
}
