package plots

import (
	"math"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"gonum.org/v1/plot"
)

// linearTicks places four to eight labels at multiples of 1, 2 or 5 times a power
// of ten.
func linearTicks(lo, hi float64) []plot.Tick {
	if !(hi > lo) {
		return nil
	}
	step := niceStep((hi - lo) / 8)
	digits := -int(math.Floor(math.Log10(step) + 1e-9))
	var ticks []plot.Tick
	first := math.Ceil(lo/step - 1e-9)
	for k := range 10 { // more would be steps that rounding makes 0
		if x := (first + float64(k)) * step; x <= hi+1e-9*step {
			ticks = append(ticks, plot.Tick{Value: x, Label: formatTick(x, digits)})
		}
	}
	return ticks
}

// niceStep is the least of 1, 2, 5 times a power of ten that is at least x.
func niceStep(x float64) float64 {
	p := math.Pow(10, math.Floor(math.Log10(x)))
	for _, m := range []float64{1, 2, 5} {
		if m*p >= x*(1-1e-9) {
			return m * p
		}
	}
	return 10 * p
}

// logTicks labels powers of ten, at most about eight of them, and a whole number
// at the end if it is far enough from the last one. It marks the multiples of
// powers if they have room.
func logTicks(lo, hi float64) []plot.Tick {
	first, last := int(math.Floor(math.Log10(lo)+1e-9)), int(math.Ceil(math.Log10(hi)-1e-9))
	every := (last-first)/8 + 1
	var ticks []plot.Tick
	labels := 0
	add := func(v float64, label string) {
		if v >= lo*(1-1e-9) && v <= hi*(1+1e-9) {
			ticks = append(ticks, plot.Tick{Value: v, Label: label})
			if label != "" {
				labels++
			}
		}
	}
	for k := first; k <= last; k++ {
		p := math.Pow(10, float64(k))
		label := ""
		if (k-first)%every == 0 {
			label = formatTick(p, -k)
		}
		add(p, label)
		for m := 2.0; m <= 9 && every == 1; m++ {
			add(m*p, "")
		}
	}
	if labels < 2 { // less than two powers of ten in the range
		return linearTicks(lo, hi)
	}
	past := math.Log10(hi) - float64(last-1) // decades beyond the last power of ten
	if every == 1 && hi == math.Round(hi) && past < 1-1e-9 && past > 0.08*math.Log10(hi/lo) {
		ticks = append(ticks, plot.Tick{Value: hi, Label: formatTick(hi, 0)})
	}
	return ticks
}

// formatTick groups thousands, and writes long numbers with an exponent, as 1e9: the font of
// pictures lacks superscripts. Ticks differ in the first digits places after the point. If
// digits is negative, they are multiples of 10 to the power of −digits.
func formatTick(x float64, digits int) string {
	a := math.Abs(x)
	switch {
	case a < math.Pow(10, -float64(digits))/2: // 0, or what rounding made of it
		a, x = 0, 0
		if digits > 5 {
			return "0"
		}
	case a >= 1e7 || digits > 5 && a < 1e-3:
		exp := int(math.Floor(math.Log10(a) + 1e-9))
		m := strconv.FormatFloat(x/math.Pow(10, float64(exp)), 'f', min(15, max(0, exp+digits)), 64)
		if strings.Contains(m, ".") {
			m = strings.TrimRight(strings.TrimRight(m, "0"), ".")
		}
		return strings.ReplaceAll(m+"e"+strconv.Itoa(exp), "-", "−")
	}
	s := strconv.FormatFloat(a, 'f', max(0, digits), 64)
	whole, fraction, _ := strings.Cut(s, ".")
	n, _ := strconv.Atoi(whole)
	whole = humanize.Comma(int64(n))
	if fraction != "" {
		whole += "." + fraction
	}
	if x < 0 {
		return "−" + whole
	}
	return whole
}
