package result

import (
	"strings"
	"unicode"
)

// Characters that LaTeX treats as commands, or does not have in its usual fonts.
var latexSpecial = strings.NewReplacer(`\`, `\textbackslash{}`, `&`, `\&`, `%`, `\%`, `$`, `\$`, `#`, `\#`, `_`, `\_`,
	`{`, `\{`, `}`, `\}`, `~`, `\textasciitilde{}`, `^`, `\textasciicircum{}`, `<`, `$<$`, `>`, `$>$`, `|`, `$|$`, `"`, `''`,
	`–`, `--`, `±`, `$\pm$`, `×`, `$\times$`, `−`, `$-$`, `≤`, `$\le$`, `≥`, `$\ge$`, `≠`, `$\ne$`, `≈`, `$\approx$`, `∞`, `$\infty$`, `→`, `$\to$`,
	`α`, `$\alpha$`, `β`, `$\beta$`, `γ`, `$\gamma$`, `δ`, `$\delta$`, `ε`, `$\varepsilon$`, `ζ`, `$\zeta$`, `η`, `$\eta$`, `θ`, `$\theta$`,
	`κ`, `$\kappa$`, `λ`, `$\lambda$`, `μ`, `$\mu$`, `ν`, `$\nu$`, `ξ`, `$\xi$`, `π`, `$\pi$`, `ρ`, `$\rho$`, `σ`, `$\sigma$`, `τ`, `$\tau$`,
	`φ`, `$\varphi$`, `χ`, `$\chi$`, `ψ`, `$\psi$`, `ω`, `$\omega$`, `Γ`, `$\Gamma$`, `Δ`, `$\Delta$`, `Θ`, `$\Theta$`, `Λ`, `$\Lambda$`,
	`Σ`, `$\Sigma$`, `Φ`, `$\Phi$`, `Ψ`, `$\Psi$`, `Ω`, `$\Omega$`)

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
	if strings.HasPrefix(out, "[") || strings.HasPrefix(out, "*") { // after a line end they would be its arguments
		out = "{}" + out
	}
	out = strings.ReplaceAll(out, "[-", "[$-$")
	return strings.ReplaceAll(out, ", -", ", $-$")
}
