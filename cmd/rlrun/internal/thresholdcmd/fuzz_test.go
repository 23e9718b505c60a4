package thresholdcmd

import (
	"math"
	"strings"
	"testing"
)

// A belief is read or refused in one line. One that was read has a mean, and a deviation that
// is not negative.
func FuzzBelief(f *testing.F) {
	for _, text := range examples() {
		f.Add(text)
	}
	for _, text := range []string{"beta:1e308,1e308", "uniform:-1e308,1e308", "uniform:3,1e308", "uniform:-1e100,1e100", "normal-gamma:1e100,1e-100,1e-100,1e100", "two-point:0,1,1", "population:1e308,1e308", "gaussian:sd=0,mean=0", "normal-gamma:0,1,1,1e-320", "beta:", "gamma:1,2", "beta:a=1,a=2"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "@") {
			return // a file
		}
		b, err := parseBelief(text)
		if err != nil {
			if err.Error() == "" {
				t.Fatal("an error without a text")
			}
			return
		}
		if mean, sd := b.is.Mean(), b.sd(); math.IsNaN(mean) || math.IsNaN(sd) || sd < 0 {
			t.Fatalf("%s (%v): mean %v, deviation %v", text, b, mean, sd)
		}
		if gain := b.is.Gain(0); math.IsNaN(gain) || gain < 0 {
			t.Fatalf("%s (%v): a gain of %v", text, b, gain)
		}
		b.params()
		b.scaled(0.5)
	})
}
