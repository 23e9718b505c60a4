package result

import (
	"strings"
	"unicode"
)

var latexSpecial = strings.NewReplacer(`\`, `\textbackslash{}`, `&`, `\&`, `%`, `\%`, `$`, `\$`, `#`, `\#`, `_`, `\_`,
	`{`, `\{`, `}`, `\}`, `~`, `\textasciitilde{}`, `^`, `\textasciicircum{}`, `–`, `--`, `±`, `$\pm$`, `×`, `$\times$`, `−`, `$-$`, `Δ`, `$\Delta$`,
	`ε`, `$\varepsilon$`, `γ`, `$\gamma$`, `α`, `$\alpha$`, `β`, `$\beta$`, `δ`, `$\delta$`, `λ`, `$\lambda$`, `η`, `$\eta$`)

// LaTeX escapes text for LaTeX, and sets the minus of a number as one. What cannot be
// seen, such as the end of a line, which would end a comment, becomes a space.
func LaTeX(cell string) string {
	out := latexSpecial.Replace(strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) {
			return ' '
		}
		return r
	}, cell))
	if len(cell) > 1 && cell[0] == '-' && cell[1] >= '0' && cell[1] <= '9' {
		out = "$-$" + out[1:]
	}
	out = strings.ReplaceAll(out, "[-", "[$-$")
	return strings.ReplaceAll(out, ", -", ", $-$")
}
