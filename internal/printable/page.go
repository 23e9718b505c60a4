package printable

import (
	"html/template"
	"io"
	"strings"
)

// Page writes a template of a page, filled with v, as Text.
func Page(w io.Writer, t *template.Template, v any) error {
	var b strings.Builder
	if err := t.Execute(&b, v); err != nil {
		return err
	}
	_, err := io.WriteString(w, Text(b.String()))
	return err
}
