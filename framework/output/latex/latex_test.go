package latex

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework/output/outputtest"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/internal/must"
)

func TestLaTeX(t *testing.T) {
	dir := t.TempDir()
	must.Get(Output.Write(outputtest.Small(t), dir))(t)
	text := must.Get(os.ReadFile(filepath.Join(dir, "summary.tex")))(t)
	if !strings.Contains(string(text), `a\_1 & 2 & 0 & 0 & 0.`) || !strings.Contains(string(text), `$\pm$`) || !strings.Contains(string(text), "\nb & 0 & 1 & 1 &") {
		t.Errorf("%s", text)
	}
	// After \\, LaTeX takes [ or * at the beginning of a row for an argument. It reads [up] as a
	// distance, and hangs.
	for cell, want := range map[string]string{
		"[up]": "{}[up]", "*": "{}*", "a [b] *": "a [b] *", `<b> "γ≥0.9|σ"`: "$<$b$>$ ''$\\gamma$$\\ge$0.9$|$$\\sigma$''", "-1": "$-$1",
	} {
		if got := result.LaTeX(cell); got != want {
			t.Errorf("%s became %s, want %s", cell, got, want)
		}
	}
	if got := result.LaTeX("a\n\\input{x}\x1b"); got != `a \textbackslash{}input\{x\} ` {
		t.Errorf("a label becomes %q", got)
	}
	evil := outputtest.Small(t)
	evil.Summary.Meta.Environments[0] = "e\n\\input{/etc/passwd}"
	must.Get(Output.Write(evil, dir))(t)
	if text, err := os.ReadFile(filepath.Join(dir, "summary.tex")); err != nil || strings.Contains(string(text), "\n\\input") {
		t.Errorf("a label ends a comment: %s, %v", text, err)
	}
}
