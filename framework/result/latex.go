package result

import "strings"

var latexSpecial = strings.NewReplacer(`\`, `\textbackslash{}`, `&`, `\&`, `%`, `\%`, `$`, `\$`, `#`, `\#`, `_`, `\_`,
	`{`, `\{`, `}`, `\}`, `~`, `\textasciitilde{}`, `^`, `\textasciicircum{}`, `–`, `--`, `±`, `$\pm$`, `×`, `$\times$`, `−`, `$-$`, `Δ`, `$\Delta$`,
	`ε`, `$\varepsilon$`, `γ`, `$\gamma$`, `α`, `$\alpha$`, `β`, `$\beta$`, `δ`, `$\delta$`, `λ`, `$\lambda$`, `η`, `$\eta$`)

// LaTeX escapes text for LaTeX, and sets the minus of a number as one.
func LaTeX(cell string) string {
	out := latexSpecial.Replace(cell)
	if len(cell) > 1 && cell[0] == '-' && cell[1] >= '0' && cell[1] <= '9' {
		out = "$-$" + out[1:]
	}
	out = strings.ReplaceAll(out, "[-", "[$-$")
	return strings.ReplaceAll(out, ", -", ", $-$")
}
