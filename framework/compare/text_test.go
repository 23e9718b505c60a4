package compare

import "testing"

// A p value below the smallest number is not printed as nothing.
func TestTinyP(t *testing.T) {
	for p, want := range map[float64]string{0: "< 1e-300", 1.5e-200: "1.5e-200", 0.25: "0.2500"} {
		if got := P(p); got != want {
			t.Errorf("%g: %q, want %q", p, got, want)
		}
	}
	if got := latexP(0); got != `$< 1\times10^{-300}$` {
		t.Error(got)
	}
}
