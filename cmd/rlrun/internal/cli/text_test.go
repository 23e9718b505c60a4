package cli

import (
	"testing"
	"time"
)

func TestClockAndRate(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 ms", 340 * time.Millisecond: "340 ms", 3400 * time.Millisecond: "3.4 s", 59 * time.Second: "59 s",
		61 * time.Second: "1 min 01 s", 2*time.Hour + 3*time.Minute: "2 h 03 min",
	} {
		if got := Clock(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
	for r, want := range map[float64]string{12.34: "12.3 steps/s", 1234: "1.23 k steps/s", 2.5e6: "2.5 M steps/s", 3e9: "3 G steps/s"} {
		if got := Rate(r); got != want {
			t.Errorf("%v: %q, want %q", r, got, want)
		}
	}
}

func TestShellQuote(t *testing.T) {
	got := ShellQuote([]string{"run", "a b.yaml", "--set", "x='y'", "$HOME", ""})
	if want := `run 'a b.yaml' --set 'x='\''y'\''' '$HOME' ''`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
