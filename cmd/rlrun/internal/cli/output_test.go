package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
)

// Nothing that a plugin or a foreign file says commands a terminal: OSC 52 sets the
// clipboard, ESC]0; the title, U+202E reverses what follows.
func TestOutputIsPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"\x1b]52;c;aGk=\x07x":          "�]52;c;aGk=�x",
		"\x1b]0;owned\x07":             "�]0;owned�",
		"a\u202eb\u009bc":              "a�b�c",
		"a\x1b[1;31mred\x1b[0m":        "ared",
		"γ = ½\tφ*\nnext\r":            "γ = ½\tφ*\nnext�",
		"bad \xff byte":                "bad � byte",
		"ends within a character \xce": "ends within a character ",
	} {
		var out bytes.Buffer
		o := Output{W: &out}
		for _, b := range []byte(in) { // characters are cut anywhere
			if n, err := o.Write([]byte{b}); n != 1 || err != nil {
				t.Fatal(n, err)
			}
		}
		if in == "a\x1b[1;31mred\x1b[0m" {
			out.Reset() // colours are known in one piece only
			must.Get(o.Write([]byte(in)))(t)
		}
		if out.String() != want {
			t.Errorf("%q became %q, want %q", in, out.String(), want)
		}
	}
}

// JSON keeps every character, escaped.
func TestJSONIsPrintable(t *testing.T) {
	const name = "a\u202eb\x1b\U000e0001<ü>"
	var out bytes.Buffer
	must.Do(t, WriteJSON(&out, name))
	var back string
	if err := json.Unmarshal(out.Bytes(), &back); err != nil || back != name {
		t.Errorf("%s is read as %q, %v", out.Bytes(), back, err)
	}
	if Printable(out.String()) != out.String() {
		t.Errorf("%q is not printable", out.String())
	}
}

// Abandon does not wait for work that ignores its context. It returns the result of work
// that ends by itself.
func TestAbandon(t *testing.T) {
	never := make(chan struct{})
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(ErrInterrupted)
	if err := Abandon(ctx, func() error { <-never; return nil }); !errors.Is(err, ErrInterrupted) {
		t.Errorf("got %v", err)
	}
	want := errors.New("bad input")
	if err := Abandon(t.Context(), func() error { return want }); err != want {
		t.Errorf("got %v", err)
	}
}
