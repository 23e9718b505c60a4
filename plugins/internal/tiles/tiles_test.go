package tiles

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// drawCoder draws a coder of a small box.
func drawCoder(t *rapid.T) (c *Coder, low, high []float64, tiles int) {
	d := rapid.IntRange(1, 3).Draw(t, "dimensions")
	for range d {
		l := rapid.Float64Range(-10, 10).Draw(t, "low")
		low, high = append(low, l), append(high, l+rapid.Float64Range(0.1, 10).Draw(t, "width"))
	}
	tiles = rapid.IntRange(1, 6).Draw(t, "tiles")
	c = New(low, high, rapid.IntRange(1, 16).Draw(t, "tilings"), tiles, 1<<20)
	return c, low, high, tiles
}

func drawPoint(t *rapid.T, low, high []float64) []float64 {
	x := make([]float64, len(low))
	for i := range x {
		x[i] = rapid.Float64Range(low[i], high[i]).Draw(t, "x")
	}
	return x
}

func active(c *Coder, x []float64) []int32 {
	dst := make([]int32, c.Tilings())
	c.Active(dst, x, make([]float64, len(x)))
	return dst
}

// Every tiling has exactly one active feature, of its own.
func TestOneFeatureATiling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, low, high, _ := drawCoder(t)
		each := c.Features() / c.Tilings()
		for k, f := range active(c, drawPoint(t, low, high)) {
			if int(f) < k*each || int(f) >= (k+1)*each {
				t.Fatalf("tiling %d has feature %d, want one of [%d, %d)", k, f, k*each, (k+1)*each)
			}
		}
	})
}

// Points share a tile only if they are less than its width apart in every
// dimension; and moving by one width in one dimension changes every tiling.
func TestTilesAreLocal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, low, high, tiles := drawCoder(t)
		x, y := drawPoint(t, low, high), drawPoint(t, low, high)
		far := false
		for i := range x {
			far = far || math.Abs(x[i]-y[i]) > (high[i]-low[i])/float64(tiles)*(1+1e-9)
		}
		if a, b := active(c, x), active(c, y); far && shared(a, b) > 0 {
			t.Fatalf("%v and %v share tiles", x, y)
		}
	})
}

func shared(a, b []int32) (n int) {
	for k := range a {
		if a[k] == b[k] {
			n++
		}
	}
	return n
}

// If the number of tilings is a power of two, tiles divide the width of a tile along one
// dimension into as many parts as there are tilings. Moving by n parts changes n tilings.
func TestResolution(t *testing.T) {
	for d := 1; d <= 3; d++ {
		for i := range d {
			low, high := make([]float64, d), make([]float64, d)
			for k := range high {
				high[k] = 8
			}
			c := New(low, high, 8, 8, 1<<20)
			x := slices.Repeat([]float64{3.0625}, d) // the middle of a part
			from := active(c, x)
			for n := range 9 {
				y := slices.Clone(x)
				y[i] += float64(n) / 8
				if got := 8 - shared(from, active(c, y)); got != n {
					t.Errorf("dimension %d of %d: %d parts change %d tilings", i, d, n, got)
				}
			}
		}
	}
}

// Points outside count as the nearest ones inside, NaN as the low bound.
func TestOutside(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, low, high, _ := drawCoder(t)
		x := drawPoint(t, low, high)
		i := rapid.IntRange(0, len(x)-1).Draw(t, "dimension")
		for _, tt := range []struct{ out, in float64 }{
			{high[i] + 1, high[i]}, {math.Inf(1), high[i]}, {low[i] - 1, low[i]}, {math.Inf(-1), low[i]}, {math.NaN(), low[i]},
		} {
			x[i] = tt.out
			got := active(c, x)
			x[i] = tt.in
			if want := active(c, x); !slices.Equal(got, want) {
				t.Fatalf("%v: %v, want %v as at %v", tt.out, got, want, tt.in)
			}
		}
	})
}

// Hashing shares a small memory among the tiles of six dimensions, evenly: the
// chi-square of 2^16 tiles in 256 places is within five deviations of its mean.
func TestHashing(t *testing.T) {
	low, high := make([]float64, 6), slices.Repeat([]float64{8}, 6)
	c := New(low, high, 1, 8, 256)
	if !c.hash || c.Features() != 256 {
		t.Fatalf("hashed %v, %d features", c.hash, c.Features())
	}
	var counts [256]float64
	n := 0
	x := make([]float64, 6)
	for k := range 1 << 16 {
		for i := range x {
			x[i] = float64(k>>(3*i)&7) + 0.5
		}
		counts[active(c, x)[0]]++
		n++
	}
	chi := 0.0
	for _, k := range counts {
		e := float64(n) / 256
		chi += (k - e) * (k - e) / e
	}
	if math.Abs(chi-255) > 5*math.Sqrt(2*255) {
		t.Errorf("chi-square %v, want about 255", chi)
	}
}

func BenchmarkActive(b *testing.B) {
	for _, d := range []int{2, 4, 6} {
		b.Run(string(rune('0'+d)), func(b *testing.B) {
			c := New(make([]float64, d), slices.Repeat([]float64{1}, d), 16, 8, 1<<17)
			dst, x, point := make([]int32, 16), slices.Repeat([]float64{0.3}, d), make([]float64, d)
			b.ReportAllocs()
			for b.Loop() {
				c.Active(dst, x, point)
			}
		})
	}
}

// Eight tiles without bounds on either side have their edges at 0, ±1/3, ±1 and ±3, where
// |x|/(1+|x|) is 0, 1/4, 1/2 and 3/4. Four tiles of a bound and no other have the same ones
// beyond it.
func TestTilesWithoutBounds(t *testing.T) {
	inf := math.Inf(1)
	for _, tt := range []struct {
		low, high float64
		tiles     int
		edges     []float64
	}{
		{-inf, inf, 8, []float64{-3, -1, -1. / 3, 0, 1. / 3, 1, 3}},
		{-math.MaxFloat64, math.MaxFloat64, 8, []float64{-3, -1, -1. / 3, 0, 1. / 3, 1, 3}},
		{10, inf, 4, []float64{10 + 1./3, 11, 13}},
		{-inf, 10, 4, []float64{7, 9, 10 - 1./3}},
	} {
		c := New([]float64{tt.low}, []float64{tt.high}, 1, tt.tiles, 100)
		for k, edge := range tt.edges {
			below, above := active(c, []float64{edge - 1e-6})[0], active(c, []float64{edge + 1e-6})[0]
			if int(below) != k || int(above) != k+1 {
				t.Errorf("[%v, %v]: tiles %d and %d beside %v, want %d and %d", tt.low, tt.high, below, above, edge, k, k+1)
			}
		}
		if first := active(c, []float64{-inf})[0]; first != 0 {
			t.Errorf("[%v, %v]: -Inf is in tile %d", tt.low, tt.high, first)
		}
		if last := active(c, []float64{1e300})[0]; int(last) < len(tt.edges) {
			t.Errorf("[%v, %v]: 1e300 is in tile %d", tt.low, tt.high, last)
		}
	}
}
