package linearagents

import (
	"math"

	"github.com/rlrun/rlrun/plugins/internal/lanes"
	"github.com/rlrun/rlrun/plugins/internal/tiles"
)

// Features are the parameters of tile coding.
type Features struct {
	Tilings int       `json:"tilings" jsonschema:"minimum=1,maximum=1024" jsonschema_description:"Number of grids. For evenly spread displacements it is a power of two and at least 4 times the number of dimensions (Sutton & Barto 2018, §9.5.4). The default is that of Sutton & Barto (2018, §10.1) for two dimensions."`
	Tiles   int       `json:"tiles" jsonschema:"minimum=1,maximum=1024" jsonschema_description:"Tiles along each dimension of a grid; the default is that of Sutton & Barto (2018, §10.1)."`
	Memory  int       `json:"memory" jsonschema:"minimum=1,maximum=16777216" jsonschema_description:"Largest number of features, a power of two. If there are more tiles, they share features by hashing. The default is a choice of ours."`
	Low     []float64 `json:"low,omitempty" jsonschema:"minItems=1" jsonschema_description:"Smallest value of each element of an observation, at which the grids begin. Lower values are raised to it. Default: the environment's bounds. Without bounds (infinite, or from 1e9 on) an element x is compressed to x/(1+|x|), so tiles are narrow near 0 and wide far away."`
	High    []float64 `json:"high,omitempty" jsonschema:"minItems=1" jsonschema_description:"Largest value of each element. Default: the environment's bounds; see low."`
}

// unbounded is the least size of a bound that says nothing, such as the largest number of 32 bits.
const unbounded = 1e9

func defaultFeatures() Features { return Features{Tilings: 8, Tiles: 8, Memory: 1 << 16} }

// coder makes the coder of a task's observations.
func (f *Features) coder(t task) (*tiles.Coder, error) {
	if f.Memory&(f.Memory-1) != 0 {
		return nil, lanes.Invalid("features: memory is %d, must be a power of two", f.Memory)
	}
	d := t.box.Width()
	var bounds [2][]float64
	for i, side := range [...]struct {
		name          string
		given, stated []float64
	}{{"low", f.Low, t.box.Low}, {"high", f.High, t.box.High}} {
		if len(side.given) != 0 && len(side.given) != d {
			return nil, lanes.Invalid("features: %s has %d elements, but an observation of %s has %d", side.name, len(side.given), t.spec.ID, d)
		}
		for k := range d {
			b := side.stated[0]
			if len(side.stated) > 1 {
				b = side.stated[k]
			}
			if len(side.given) > 0 {
				b = side.given[k]
			}
			if len(side.given) == 0 && math.Abs(b) >= unbounded {
				b = math.Inf(2*i - 1)
			}
			bounds[i] = append(bounds[i], b)
		}
	}
	for k, low := range bounds[0] {
		if high := bounds[1][k]; !(low < high) {
			return nil, lanes.Invalid("features: element %d of an observation is between low %v and high %v; low must be below high", k, low, high)
		}
	}
	return tiles.New(bounds[0], bounds[1], f.Tilings, f.Tiles, f.Memory), nil
}
