package lanes

import (
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
)

// Numbers returns what reads observations of a box with so many elements, for a Kind.
func Numbers(width int) func([][]float64, *vector.Feedback) error {
	var scratch []float64
	return func(dst [][]float64, in *vector.Feedback) error {
		c, x := &in.Observations, in.Observations.Float64
		if c.Type != space.Float64 {
			x = scratch[:0]
			for _, v := range c.Float32 {
				x = append(x, float64(v))
			}
			for _, v := range c.Uint8 {
				x = append(x, float64(v))
			}
			for _, v := range c.Int64 {
				x = append(x, float64(v))
			}
			scratch = x
		}
		for i := range dst {
			dst[i] = x[i*width : (i+1)*width]
		}
		return nil
	}
}
