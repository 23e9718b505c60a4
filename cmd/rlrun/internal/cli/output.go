package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/rlrun/rlrun/internal/inputfile"
	"github.com/rlrun/rlrun/internal/printable"
)

// Output is the standard output or the standard error. Its output is Printable: names
// and texts of plugins and of other people's results cannot command the terminal. It
// remembers its first error, so commands need not check every write, and a full disk
// is noticed.
type Output struct {
	W   io.Writer // where the output goes
	Err error     // the first error, nil if there was none

	partial []byte // begins a character that the next call ends
}

// Write writes p to W, made printable. It returns the first error of any write.
func (o *Output) Write(p []byte) (int, error) {
	text := append(o.partial, p...)
	whole := len(text)
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if tail := text[len(text)-n:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				whole -= n
			}
			break
		}
	}
	o.partial = slices.Clone(text[whole:])
	if _, err := io.WriteString(o.W, Printable(string(text[:whole]))); err != nil {
		if o.Err == nil {
			o.Err = fmt.Errorf("writing the answer: %w", inputfile.Cause(err))
		}
		return 0, err
	}
	return len(p), nil
}

// Raw returns what an Output writes to, for those who draw on a terminal; any other
// writer as it is.
func Raw(w io.Writer) io.Writer {
	if o, ok := w.(*Output); ok {
		return o.W
	}
	return w
}

// WriteJSON writes an answer as JSON. Characters that Printable would replace are
// escaped.
func WriteJSON(w io.Writer, v any) error {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	var out strings.Builder
	for _, r := range text.String() {
		switch {
		case !printable.Hidden(r):
			out.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, "\\u%04x\\u%04x", high, low)
		default:
			fmt.Fprintf(&out, "\\u%04x", r)
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// Width returns the columns of a terminal, 80 if it does not tell them, and 0 if w is none.
func Width(w io.Writer) int {
	f, ok := Raw(w).(interface{ Fd() uintptr })
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	return cmp.Or(width, 80)
}
