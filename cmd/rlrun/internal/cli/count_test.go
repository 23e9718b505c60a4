package cli

import (
	"testing"

	"github.com/spf13/pflag"
)

func TestCount(t *testing.T) {
	for text, want := range map[string]int{"7": 7, "1e12": 1e12, "-3": -3, "1.5e1": 15, "9223372036854775807": 1<<63 - 1} {
		var n int
		fs := pflag.NewFlagSet("", pflag.ContinueOnError)
		CountVar(fs, &n, "n", 1, "")
		if err := fs.Parse([]string{"--n=" + text}); err != nil || n != want {
			t.Errorf("%s: %d, %v", text, n, err)
		}
	}
	for _, text := range []string{"", "1.5", "1e19", "x", "1e999999999", "Inf"} {
		var n int
		fs := pflag.NewFlagSet("", pflag.ContinueOnError)
		CountVar(fs, &n, "n", 1, "")
		if err := fs.Parse([]string{"--n=" + text}); err == nil {
			t.Errorf("%q was read as %d", text, n)
		}
	}
}
