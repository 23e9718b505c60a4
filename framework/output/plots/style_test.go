package plots

import (
	"encoding/hex"
	"image/color"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
)

// An agent has one colour in figures, on the page and in Python.
func TestColoursAreTheSameEverywhere(t *testing.T) {
	quoted := regexp.MustCompile(`#[0-9a-fA-F]{6}`)
	var want []string
	for _, c := range palette {
		want = append(want, "#"+hex.EncodeToString([]byte{c.R, c.G, c.B}))
	}
	for file, list := range map[string]*regexp.Regexp{
		"../page/assets/report.js":              regexp.MustCompile(`(?s)const palette = \[(.*?)\]`),
		"../../../python/src/rlrun/_figures.py": regexp.MustCompile(`(?s)_COLOURS = \((.*?)\)`),
	} {
		found := list.FindSubmatch(must.Get(os.ReadFile(file))(t))
		if found == nil {
			t.Errorf("%s has no colours", file)
			continue
		}
		if got := quoted.FindAllString(strings.ToLower(string(found[1])), -1); strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%s has the colours %v, want %v", file, got, want)
		}
	}
	dark := regexp.MustCompile(`const paletteDark = \[(.*?)\]`).FindSubmatch(must.Get(os.ReadFile("../page/assets/report.js"))(t))
	var darker []color.NRGBA
	for _, text := range quoted.FindAllString(string(dark[1]), -1) {
		rgb := must.Get(hex.DecodeString(text[1:]))(t)
		darker = append(darker, color.NRGBA{rgb[0], rgb[1], rgb[2], 0xFF})
	}
	if len(darker) != len(palette) {
		t.Fatalf("%d dark colours, want %d", len(darker), len(palette))
	}
	apart(t, "light", palette[:], color.NRGBA{0xFF, 0xFF, 0xFF, 0xFF}, 0.08, 0.05)
	apart(t, "dark", darker, color.NRGBA{0x14, 0x17, 0x1B, 0xFF}, 0.06, 0.04)
}

// apart checks the distances of colours from each other and from the ground, in Oklab (Ottosson 2020): 0.02 is a
// difference that is just seen. Without red or green cones colours are as Machado et al. (2009) simulate them.
func apart(t *testing.T, name string, colours []color.NRGBA, ground color.NRGBA, normal, deficient float64) {
	for sight, m := range map[string][3][3]float64{
		"normal":       {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
		"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
		"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	} {
		least := deficient
		if sight == "normal" {
			least = normal
		}
		all := append([]color.NRGBA{ground}, colours...)
		for i, a := range all {
			for _, b := range all[:i] {
				p, q := oklab(a, m), oklab(b, m)
				if d := math.Hypot(math.Hypot(p[0]-q[0], p[1]-q[1]), p[2]-q[2]); d < least {
					t.Errorf("%s, %s: %x and %x have the distance %.3f, want at least %g", name, sight, a, b, d, least)
				}
			}
		}
	}
}

func oklab(c color.NRGBA, sight [3][3]float64) [3]float64 {
	times := func(m [3][3]float64, v [3]float64) (out [3]float64) {
		for i, row := range m {
			out[i] = row[0]*v[0] + row[1]*v[1] + row[2]*v[2]
		}
		return out
	}
	var v [3]float64
	for i, x := range []uint8{c.R, c.G, c.B} {
		if v[i] = float64(x) / 255; v[i] <= 0.04045 {
			v[i] /= 12.92
		} else {
			v[i] = math.Pow((v[i]+0.055)/1.055, 2.4)
		}
	}
	v = times(sight, v)
	for i := range v {
		v[i] = min(max(v[i], 0), 1)
	}
	v = times([3][3]float64{{0.4122214708, 0.5363325363, 0.0514459929}, {0.2119034982, 0.6806995451, 0.1073969566}, {0.0883024619, 0.2817188376, 0.6299787005}}, v)
	for i := range v {
		v[i] = math.Cbrt(v[i])
	}
	return times([3][3]float64{{0.2104542553, 0.7936177850, -0.0040720468}, {1.9779984951, -2.4285922050, 0.4505937099}, {0.0259040371, 0.7827717662, -0.8086757660}}, v)
}

// Dash and mark together tell 20 lines apart without colour, and colour and dash 80.
func TestDashesAndMarks(t *testing.T) {
	grey, coloured := map[[2]int]int{}, map[[2]int]int{}
	for i := range 80 {
		dash, shape := (i+i/len(palette))%len(dashes), (i+i/len(marks))%len(marks)
		if _, d := lineStyle(i); len(d) != len(dashes[dash]) || mark(i).Shape != marks[shape] {
			t.Fatalf("line %d has another dash or mark than this test", i)
		}
		if was, there := coloured[[2]int{i % len(palette), dash}]; there {
			t.Errorf("lines %d and %d have one colour and dash", was, i)
		}
		coloured[[2]int{i % len(palette), dash}] = i
		if was, there := grey[[2]int{dash, shape}]; there && i < len(palette) {
			t.Errorf("lines %d and %d have one dash and mark", was, i)
		}
		grey[[2]int{dash, shape}] = i
	}
}
