package mdpcmd

import (
	"fmt"
	"image"
	"image/color"
	stddraw "image/draw"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/rlrun/rlrun/mdp/catalog"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/plotting"
)

// figure is a picture of panels side by side.
type figure struct {
	title  string
	panels []plotting.Drawer
}

func (f figure) save(file string) error {
	width, more := 24*vg.Centimeter, vg.Length(0)
	if len(f.panels) == 1 {
		width = 16 * vg.Centimeter
	}
	for _, p := range f.panels {
		if c, ok := p.(*plotting.Panel); ok { // legends leave the drawings their room
			more = max(more, vg.Length(c.Strips-2)*0.5*vg.Centimeter)
		}
	}
	const ends = 1.4 * vg.Centimeter // above and below the panels
	height := min(11.5*vg.Centimeter+more, ends+f.tallest(plotting.PanelWidth(width, len(f.panels))))
	return plotting.Figure{Title: f.title, Width: width, Height: height, Panels: f.panels}.Save(file)
}

// tallest is the room that panels of a width take up: flat maps need little.
func (f figure) tallest(width vg.Length) vg.Length {
	out := vg.Length(0)
	for _, p := range f.panels {
		h, ok := p.(*heatMap)
		if !ok {
			return math.MaxFloat64
		}
		flat := (width - barSpace) * vg.Length(h.layout.Rows) / vg.Length(h.layout.Cols)
		out = max(out, max(flat, leastBar)+titleSpace+0.3*vg.Centimeter)
	}
	return out
}

// heatMap is numbers in the cells of a map.
type heatMap struct {
	title, unit string
	layout      *catalog.Layout
	value       []float64 // by cell; NaN: none, +Inf: never
	empty       string    // what the cells without a value are, if there are any
	sign        []string  // by cell, written into it; may be nil
	log         bool      // values are decimal logarithms once drawn
}

// newHeatMap puts the numbers of states into their cells, by add where a cell has
// several.
func newHeatMap(title, unit string, l *catalog.Layout, value []float64, add func(a, b float64) float64) *heatMap {
	h := &heatMap{title: title, unit: unit, layout: l, value: make([]float64, l.Rows*l.Cols)}
	for i := range h.value {
		h.value[i] = math.NaN()
	}
	for s, cell := range l.Cell {
		if cell < 0 || math.IsNaN(value[s]) {
			continue
		}
		if math.IsNaN(h.value[cell]) {
			h.value[cell] = value[s]
		} else {
			h.value[cell] = add(h.value[cell], value[s])
		}
	}
	return h
}

var (
	inkWall  = color.RGBA{0x9a, 0x9a, 0x9a, 0xff}
	inkNever = color.RGBA{0xd5, 0x5e, 0x00, 0xff}
)

// heat goes from dark blue over green to yellow. Its luminance is in proportion
// to the value (Moreland 2016), so the order is visible to readers with any
// colour vision, and in grey prints. The colours in between are those of
// matplotlib's viridis (Smith & van der Walt 2015).
func heat(low, high float64) palette.ColorMap {
	m, err := moreland.NewLuminance([]color.Color{
		color.RGBA{0x44, 0x01, 0x54, 0xff}, color.RGBA{0x3b, 0x52, 0x8b, 0xff}, color.RGBA{0x21, 0x91, 0x8c, 0xff},
		color.RGBA{0x5e, 0xc9, 0x62, 0xff}, color.RGBA{0xfd, 0xe7, 0x25, 0xff},
	})
	cli.Must(err)
	m.SetMin(low)
	m.SetMax(high)
	return m
}

// shade is the colour of a cell.
func (h *heatMap) shade(m palette.ColorMap, i int) color.Color {
	switch x := h.value[i]; {
	case h.layout.Wall[i]:
		return inkWall
	case math.IsNaN(x):
		return color.White
	case math.IsInf(x, 1):
		return inkNever
	default:
		c, err := m.At(min(max(x, m.Min()), m.Max()))
		cli.Must(err)
		return c
	}
}

// bright reports whether a colour wants dark ink on it.
func bright(c color.Color) bool { return color.GrayModel.Convert(c).(color.Gray).Y > 0x80 }

// drawnSigns is up to how many cells have signs.
const drawnSigns = 10_000

// scale returns the ends of the colour bar, and whether some value is infinite.
func (h *heatMap) scale() (low, high float64, never bool) {
	low, high = math.Inf(1), math.Inf(-1)
	var positive []float64
	for _, x := range h.value {
		switch {
		case math.IsInf(x, 1):
			never = true
		case !math.IsNaN(x):
			low, high = min(low, x), max(high, x)
			if x > 0 {
				positive = append(positive, x)
			}
		}
	}
	if low > high {
		low, high = 0, 1
	}
	// Values over many orders of magnitude, or most of them close to zero, have a
	// logarithmic scale; zeros are at its end.
	least, middle := high, high // of the values above 0, but for the odd ones
	if len(positive) > 0 {
		slices.Sort(positive)
		least, middle = positive[len(positive)/100], positive[len(positive)/2]
	}
	h.log = low >= 0 && (high > 1e3*least || high > 20*middle)
	if h.log {
		low, high = math.Log10(max(least, 1e-9*high)), math.Log10(high)
		for i, x := range h.value {
			if !math.IsInf(x, 1) {
				h.value[i] = max(math.Log10(x), low) // NaN stays
			}
		}
	} else if high-low < 1e-9*max(1, math.Abs(high)) {
		low, high = min(low, 0), max(high, low+1)
	}
	return low, high, never
}

// Draw implements plotting.Drawer.
func (h *heatMap) Draw(c draw.Canvas) error {
	low, high, never := h.scale()
	colours := heat(low, high)
	whole := c
	c = draw.Crop(c, 0, 0, 0, -titleSpace)

	l := h.layout
	side := min((c.Max.X-c.Min.X-barSpace)/vg.Length(l.Cols), (c.Max.Y-c.Min.Y)/vg.Length(l.Rows))
	wide, tall := side*vg.Length(l.Cols), side*vg.Length(l.Rows)
	box := vg.Rectangle{Min: vg.Point{X: (c.Min.X + c.Max.X - barSpace - wide) / 2, Y: (c.Min.Y + c.Max.Y - tall) / 2}}
	box.Max = vg.Point{X: box.Min.X + wide, Y: box.Min.Y + tall}
	_, top := barEnds(box)
	plotting.Write(c, (whole.Min.X+whole.Max.X)/2, min(top+0.4*vg.Centimeter, whole.Max.Y-0.4*vg.Centimeter), 11, text.XCenter, text.YBottom, plotting.Black, h.title)
	// One picture of all cells: light shines between polygons. It is large enough to have sharp edges.
	zoom := max(1, 1000/max(l.Cols, l.Rows))
	img := image.NewRGBA(image.Rect(0, 0, zoom*l.Cols, zoom*l.Rows))
	for i := range h.value {
		x, y := zoom*(i%l.Cols), zoom*(i/l.Cols)
		stddraw.Draw(img, image.Rect(x, y, x+zoom, y+zoom), image.NewUniform(h.shade(colours, i)), image.Point{}, stddraw.Src)
	}
	c.DrawImage(box, img)
	if len(h.value) <= drawnSigns {
		h.drawSigns(c, box, side, colours)
	}
	c.StrokeLines(draw.LineStyle{Color: plotting.Black, Width: vg.Points(0.8)}, []vg.Point{
		box.Min, {X: box.Max.X, Y: box.Min.Y}, box.Max, {X: box.Min.X, Y: box.Max.Y}, box.Min})
	h.drawBar(c, box, colours, never)
	return nil
}

// drawSigns writes into cells that have room for it.
func (h *heatMap) drawSigns(c draw.Canvas, box vg.Rectangle, side vg.Length, colours palette.ColorMap) {
	l := h.layout
	every := max(1, int(math.Ceil(float64(leastArrow/side)))) // of rows and columns have an arrow
	for i := range h.value {
		row, col, sign, on := i/l.Cols, i%l.Cols, "", inkWall
		if h.sign != nil {
			sign, on = h.sign[i], color.RGBA{0xff, 0xff, 0xff, 0xff}
			if bright(h.shade(colours, i)) {
				on = plotting.Black
			}
		}
		size := min(0.55*side, 1.3*side/vg.Length(max(1, utf8.RuneCountInString(sign))), 11)
		switch {
		case math.IsNaN(h.value[i]) && !l.Wall[i]:
			sign, size, on = h.empty, min(0.35*side, 10), inkWall
		case sign == "":
			continue
		case strings.Contains("↑↓←→", sign):
			if row%every != every/2 || col%every != every/2 {
				continue
			}
			size = 0.8 * side * vg.Length(every)
		}
		if size >= 5.5 { // else digits run into each other
			x, y := box.Min.X+side*(vg.Length(col)+0.5), box.Max.Y-side*(vg.Length(row)+0.5)
			plotting.Write(c, x, y, size, text.XCenter, text.YCenter, on, sign)
		}
	}
}

// leastArrow is the room that an arrow needs. If cells are smaller, only some of them
// have one.
const leastArrow = 11 * vg.Length(1)

// Room that a map needs: above it for its title, beside it for the bar of colours, and
// the least height of that.
const (
	titleSpace = 0.9 * vg.Centimeter
	barSpace   = 2.3 * vg.Centimeter
	leastBar   = 4 * vg.Centimeter
)

// barEnds returns where the colour bar beside a map begins and ends: beside a flat
// map it is higher than that.
func barEnds(box vg.Rectangle) (bottom, top vg.Length) {
	middle, half := (box.Min.Y+box.Max.Y)/2, max(box.Max.Y-box.Min.Y, leastBar)/2
	return middle - half, middle + half
}

// drawBar draws the colour bar beside the map.
func (h *heatMap) drawBar(c draw.Canvas, box vg.Rectangle, m palette.ColorMap, never bool) {
	left := box.Max.X + 0.35*vg.Centimeter
	bottom, top := barEnds(box)
	if never {
		const side = 0.35 * vg.Centimeter
		c.FillPolygon(inkNever, []vg.Point{{X: left, Y: bottom}, {X: left + side, Y: bottom}, {X: left + side, Y: bottom + side}, {X: left, Y: bottom + side}})
		plotting.Write(c, left+side+vg.Points(5), bottom+side/2, 10, text.XLeft, text.YCenter, plotting.Black, "∞, never")
		bottom += 0.6 * vg.Centimeter
	}
	p := plotting.NewPanel("", h.unit)
	p.HideX()
	p.Add(&plotter.ColorBar{ColorMap: m, Vertical: true})
	if h.log {
		p.Y.Tick.Marker = powers{}
	}
	p.Plot.Draw(draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{Min: vg.Point{X: left, Y: bottom}, Max: vg.Point{X: left + barSpace - 0.5*vg.Centimeter, Y: top}}})
}

// powers marks some powers of ten on an axis of logarithms.
type powers struct{}

func (powers) Ticks(low, high float64) (ticks []plot.Tick) {
	for e := int(math.Ceil(low)); float64(e) <= high; e += 1 + int((high-low)/6) {
		ticks = append(ticks, plot.Tick{Value: float64(e), Label: fmt.Sprintf("%.4g", math.Pow10(e))})
	}
	return ticks
}
