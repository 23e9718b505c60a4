package subprocess

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// However the output is cut and whatever surrounds it, the handshake comes
// through alone and everything else is noise.
func TestHandshakeFilter(t *testing.T) {
	const line = "1|1|unix|/tmp/x/plugin1|grpc|MIIB+/a="
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-z|\n ]{0,40}`)
		before := text.Draw(t, "before")
		if rapid.Bool().Draw(t, "long") {
			before += strings.Repeat("z", 5*maxHandshake)
		}
		after := text.Draw(t, "after")
		output := before + line + "\n" + after
		r, w := io.Pipe()
		noise := &bytes.Buffer{}
		versions := make(chan string, 1)
		f := &handshakeFilter{line: w, noise: noise, version: versions}
		go func() {
			for len(output) > 0 {
				n := rapid.IntRange(1, len(output)).Draw(t, "cut")
				if _, err := f.Write([]byte(output[:n])); err != nil {
					w.CloseWithError(err)
				}
				output = output[n:]
			}
			w.Close()
		}()
		got, err := io.ReadAll(r)
		if err != nil || string(got) != line+"\n" {
			t.Fatalf("got %q (%v), want %q", got, err, line)
		}
		if noise.String() != before+after {
			t.Fatalf("noise %q, want %q", noise, before+after)
		}
		if v := <-versions; v != "1" {
			t.Fatalf("version %q", v)
		}
	})
}
