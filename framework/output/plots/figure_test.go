package plots

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"github.com/rlrun/rlrun/internal/must"
)

func svg(t *testing.T, f *Figure) string {
	t.Helper()
	var buf bytes.Buffer
	must.Do(t, f.WriteSVG(&buf))
	return buf.String()
}

// texts returns the texts of an SVG file, and fails where it is not XML.
func texts(t *testing.T, file string) []string {
	t.Helper()
	var out []string
	d := xml.NewDecoder(strings.NewReader(file))
	inText := false
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			inText = tok.Name.Local == "text"
		case xml.CharData:
			if inText {
				out = append(out, string(tok))
			}
		case xml.EndElement:
			inText = false
		}
	}
}

func ramp(label string, n int, slope float64) Line {
	l := Line{Label: label}
	for i := 1; i <= n; i++ {
		y := slope * float64(i)
		l.X, l.Y = append(l.X, float64(i)), append(l.Y, y)
		l.Low, l.High = append(l.Low, y-1), append(l.High, y+1)
	}
	return l
}

func TestFigureIsDrawn(t *testing.T) {
	f := &Figure{Title: `a < b & "c"`, XLabel: "steps", YLabel: "regret", LogX: true,
		Lines: []Line{ramp("ε-greedy", 100, 1), ramp("</text><b>", 100, 2)}, Levels: []Level{{"optimum", 50}}}
	first := svg(t, f)
	got := strings.Join(texts(t, first), "|")
	for _, want := range []string{f.Title, "steps", "regret", "ε-greedy", "</text><b>", "optimum", "100"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %s", want, got)
		}
	}
	// Two lines: each has a band and a stroke in the axes and in the legend.
	for style, want := range map[string]int{"stroke:#0072B2": 2, "stroke:#D55E00": 2, ";fill-opacity:": 4} {
		if n := strings.Count(first, style); n != want {
			t.Errorf("%s is there %d times, want %d", style, n, want)
		}
	}
	if svg(t, f) != first {
		t.Error("two drawings as SVG differ")
	}
	var a, b bytes.Buffer
	must.Do(t, errors.Join(f.WritePNG(&a), f.WritePNG(&b)))
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Error("two drawings as PNG differ")
	}
	img := must.Get(png.Decode(&a))(t)
	colors := map[[3]uint32]bool{}
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			r, g, b, _ := img.At(x, y).RGBA()
			colors[[3]uint32{r >> 8, g >> 8, b >> 8}] = true
		}
	}
	for _, c := range palette[:2] {
		if !colors[[3]uint32{uint32(c.R), uint32(c.G), uint32(c.B)}] {
			t.Errorf("no pixel has the colour %v", c)
		}
	}
}

// Gaps, single points, flat lines, one point of x and bands without bounds are
// drawn without complaint and without a NaN in the file.
func TestOddFigures(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for name, f := range map[string]*Figure{
		"gap":        {Lines: []Line{{X: []float64{1, 2, 3, 4}, Y: []float64{1, nan, 3, 4}, Low: []float64{0, nan, nan, 3}, High: []float64{2, nan, nan, 5}}}},
		"isolated":   {Lines: []Line{{X: []float64{1, 2, 3}, Y: []float64{nan, 2, nan}}}},
		"flat":       {Lines: []Line{{X: []float64{1, 2}, Y: []float64{3, 3}}}},
		"zero":       {Lines: []Line{{X: []float64{1, 2}, Y: []float64{0, 0}, Low: []float64{0, 0}, High: []float64{0, 0}}}},
		"one x":      {Lines: []Line{{X: []float64{5}, Y: []float64{3}}}},
		"one x, log": {LogX: true, Lines: []Line{{X: []float64{5}, Y: []float64{3}}}},
		"infinite":   {Lines: []Line{{X: []float64{1, 2, 3}, Y: []float64{1, inf, 2}}}},
		"huge":       {Lines: []Line{{X: []float64{1, 2, 3}, Y: []float64{1e300, 1, 2e300}}}},
		"no label":   {Lines: []Line{{X: []float64{1, 2}, Y: []float64{1, 2}}}, Levels: []Level{{"", 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			file := svg(t, f)
			texts(t, file)
			if strings.Contains(file, "NaN") || strings.Contains(file, "Inf") {
				t.Error("NaN or Inf in the file")
			}
		})
	}
}

func TestFigureRefuses(t *testing.T) {
	for name, f := range map[string]*Figure{
		"nothing":        {},
		"only NaN":       {Lines: []Line{{X: []float64{1}, Y: []float64{math.NaN()}}}},
		"lengths":        {Lines: []Line{{X: []float64{1}, Y: []float64{1, 2}}}},
		"band lengths":   {Lines: []Line{{X: []float64{1}, Y: []float64{1}, Low: []float64{1}}}},
		"zero on log":    {LogX: true, Lines: []Line{{X: []float64{0}, Y: []float64{1}}}},
		"x not a number": {Lines: []Line{{X: []float64{math.NaN()}, Y: []float64{1}}}},
	} {
		if err := f.WriteSVG(io.Discard); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// The legend stands outside the axes and inside the picture, however many and
// long the names.
func TestLegendCoversNothing(t *testing.T) {
	for _, n := range []int{1, 3, 12, 40} {
		for _, length := range []int{3, 25, 60, 300} {
			f := &Figure{Title: strings.Repeat("title ", 40), XLabel: "steps", YLabel: "y"}
			for range n {
				f.Lines = append(f.Lines, ramp(strings.Repeat("m", length), 3, 1))
			}
			l := must.Get(f.layout())(t)
			c := draw.New(vgimg.New(l.width, l.height))
			axes, at := l.place(c)
			box := vg.Rectangle{Min: vg.Point{X: at.X, Y: at.Y - l.legend.height}, Max: vg.Point{X: at.X + l.legend.width, Y: at.Y}}
			const slack = 0.01
			if box.Min.X < c.Min.X-slack || box.Max.X > c.Max.X+slack || box.Min.Y < c.Min.Y-slack || box.Max.Y > c.Max.Y+slack {
				t.Errorf("%d names of %d: legend %v leaves the picture %v", n, length, box, c.Rectangle)
			}
			if box.Min.X < axes.Max.X && box.Max.Y > axes.Min.Y {
				t.Errorf("%d names of %d: legend %v covers the axes %v", n, length, box, axes.Rectangle)
			}
		}
	}
}

// A band far wider than the lines does not flatten them.
func TestWideBandsAreCut(t *testing.T) {
	f := &Figure{Lines: []Line{{X: []float64{1, 2, 3}, Y: []float64{0, 1, 2}, Low: []float64{-1000, 0.9, 1.9}, High: []float64{1000, 1.1, 2.1}}}}
	if _, _, lo, hi := f.ranges(); lo < -3 || hi > 5 || lo > -2 || hi < 4 {
		t.Errorf("range is %g to %g, want the line's height on either side", lo, hi)
	}
	f.Lines[0].Low[0], f.Lines[0].High[0] = -0.5, 0.5
	if _, _, lo, hi := f.ranges(); lo > -0.5 || hi < 2.1 {
		t.Errorf("range is %g to %g, want all of the band", lo, hi)
	}
}

// On two logarithmic axes a power law is drawn as on linear ones its logarithms
// would be; bounds of a band that have none are cut off.
func TestLogarithmicY(t *testing.T) {
	power := Figure{LogY: true, Lines: []Line{{Label: "n²", X: []float64{1, 2, 3}, Y: []float64{10, 100, 1000}, Low: []float64{-1, 0, 900}, High: []float64{20, 200, 1100}}}}
	same := Figure{Lines: []Line{{Label: "n²", X: []float64{1, 2, 3}, Y: []float64{1, 2, 3}, Low: []float64{-99, -98, math.Log10(900)}, High: []float64{math.Log10(20), math.Log10(200), math.Log10(1100)}}}}
	a, b := svg(t, &power), svg(t, &same)
	path := func(s string) string { return s[strings.LastIndex(s, "<path"):] }
	if path(a) != path(b) {
		t.Errorf("the lines differ:\n%s\n%s", path(a), path(b))
	}
	if labels := strings.Join(texts(t, a), " "); !strings.Contains(labels, "100") || !strings.Contains(labels, "1,000") {
		t.Errorf("labels %s, want 100 and 1,000 among them", labels)
	}
	for _, f := range []Figure{
		{LogY: true, Lines: []Line{{X: []float64{1}, Y: []float64{0}}}},
		{LogY: true, Lines: []Line{{X: []float64{1}, Y: []float64{1}}}, Levels: []Level{{Y: -1}}},
	} {
		if err := f.WriteSVG(io.Discard); err == nil || !strings.Contains(err.Error(), "y is") {
			t.Errorf("got %v, want an error about y", err)
		}
	}
}

// A reference line is drawn as a level is, and takes no colour from the palette.
func TestReferenceLine(t *testing.T) {
	flat := Line{Label: "optimum", X: []float64{0, 5}, Y: []float64{2, 2}, Reference: true}
	drawn := svg(t, &Figure{Lines: []Line{ramp("agent", 5, 1), flat}})
	if strings.Contains(drawn, "stroke:#D55E00") {
		t.Error("it has the colour of the second line")
	}
	level := svg(t, &Figure{Lines: []Line{ramp("agent", 5, 1)}, Levels: []Level{{Label: "optimum", Y: 2}}})
	style := regexp.MustCompile(`style="[^"]*stroke-dasharray[^"]*"`)
	if a, b := style.FindAllString(drawn, -1), style.FindAllString(level, -1); len(a) == 0 || !slices.Equal(a, b) {
		t.Errorf("styles %q, those of a level are %q", a, b)
	}
}

// A line without a value, like a metric that an agent does not have, is not in the
// legend; the others keep their colours.
func TestLegendNamesWhatIsDrawn(t *testing.T) {
	empty := ramp("nothing", 5, 1)
	for k := range empty.Y {
		empty.Y[k] = math.NaN()
	}
	with, alone := svg(t, &Figure{Lines: []Line{empty, ramp("something", 5, 1)}}), svg(t, &Figure{Lines: []Line{ramp("something", 5, 1)}})
	if strings.Contains(with, "nothing") || !strings.Contains(with, "something") {
		t.Errorf("texts %q", texts(t, with))
	}
	if with == alone {
		t.Error("the second line has the first one's colour")
	}
}

// Every text of an SVG has the width that its font gives it, whatever font a reader has:
// no legend is cut off.
func TestTextsHaveWidths(t *testing.T) {
	f := &Figure{Title: "16 arms", XLabel: "steps", YLabel: "reward", Lines: []Line{ramp("a & b, optimistic γ=0.99", 3, 1), ramp(strings.Repeat("m", 25), 3, 2)}}
	l := must.Get(f.layout())(t)
	text := svg(t, f)
	within := regexp.MustCompile(`<text textLength="([0-9.]+)" lengthAdjust="spacingAndGlyphs" x="([0-9.]+)" y="[-0-9.]+" transform="scale\(1, -1\)"`)
	found := within.FindAllStringSubmatch(text, -1)
	if all := strings.Count(text, "<text "); all != len(found) {
		t.Errorf("%d of %d texts have a width", len(found), all)
	}
	end := 0.0
	for _, m := range found {
		width, _ := strconv.ParseFloat(m[1], 64)
		x, _ := strconv.ParseFloat(m[2], 64)
		end = max(end, x+width)
	}
	if right := l.width.Points(); end > right || end < right-20 {
		t.Errorf("the longest name ends at %v of %v", end, right)
	}
	if !strings.Contains(text, "a &amp; b") {
		t.Error("the name is not escaped")
	}
}

// Every character of a name leaves a mark in a PNG, also those that the font lacks.
func TestMissingCharactersAreBoxes(t *testing.T) {
	ink := func(text string) (dark int) {
		c := vgimg.New(60, 20)
		(&pixels{Canvas: c}).FillString(font.DefaultCache.Lookup(sans(12), 12), vg.Point{X: 5, Y: 5}, text)
		b := c.Image().Bounds()
		for y := range b.Dy() {
			for x := range b.Dx() {
				if r, _, _, _ := c.Image().At(x, y).RGBA(); r < 0x8000 {
					dark++
				}
			}
		}
		return dark
	}
	if one, two := ink("日"), ink("日⁹"); ink(" ") != 0 || one == 0 || two <= one || ink("a") == ink("b") {
		t.Errorf("one missing character has %d dark pixels, two have %d", one, two)
	}
}
