package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// Output is the standard output. It remembers its first error, so that no command
// has to look: a full disk does not go unnoticed.
type Output struct {
	W   io.Writer
	Err error // the first error, nil if there was none
}

func (o *Output) Write(p []byte) (int, error) {
	n, err := o.W.Write(p)
	if err != nil && o.Err == nil {
		var pe *os.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		o.Err = fmt.Errorf("writing the answer: %w", err)
	}
	return n, err
}

// WriteJSON writes an answer as JSON.
func WriteJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// Width returns the columns of a terminal, 0 if w is none.
func Width(w io.Writer) int {
	if o, ok := w.(*Output); ok {
		w = o.W
	}
	f, ok := w.(interface{ Fd() uintptr })
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	return width
}
