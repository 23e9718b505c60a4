package plugin

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestTail(t *testing.T) {
	long := strings.Repeat("x", 3*maxLine)
	for _, tt := range []struct {
		name string
		text string
		want []string
	}{
		{"nothing", "", nil},
		{"few lines", "a\nb\n", []string{"a", "b"}},
		{"the last ones", "a\nb\nc\nd\n", []string{"b", "c", "d"}},
		{"no end", "a\nb", []string{"a", "b"}},
		{"empty lines", "a\n\n \nb\r\n", []string{"a", "b"}},
		{"a long line", "a\n" + long + "\nb\n", []string{"a", long[:maxLine], "b"}},
		{"a panic in sight", "panic: oh\nb\n", []string{"panic: oh", "b"}},
		{"a panic out of sight", "a\npanic: oh\n\ngoroutine 1 [running]:\nb\nc\n", []string{"panic: oh", "…", "goroutine 1 [running]:", "b", "c"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			whole, bytewise := &tail{size: 3}, &tail{size: 3}
			fmt.Fprint(whole.stream(), tt.text)
			stream := bytewise.stream()
			for i := range len(tt.text) {
				fmt.Fprint(stream, tt.text[i:i+1])
			}
			for _, got := range [][]string{whole.last(), bytewise.last()} {
				if !slices.Equal(got, tt.want) {
					t.Errorf("got %q, want %q", got, tt.want)
				}
			}
		})
	}
}

func TestTailOfSeveralStreams(t *testing.T) {
	both := &tail{size: 3}
	a, b := both.stream(), both.stream()
	fmt.Fprint(a, "on")
	fmt.Fprint(b, "tw")
	fmt.Fprint(a, "e\n")
	if got, want := both.last(), []string{"one", "tw"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

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
