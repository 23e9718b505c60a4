package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/rlrun/rlrun/bandit"
)

// print writes the answer for people.
func (q *comparison) print(w io.Writer) error {
	var t table
	t.row("δ*", num(q.DeltaStar), "improvement over Q that maximises φ = δ·p/(1−p)")
	t.row("p", num(q.PStar), "probability of at least that, P(q ≥ Q+δ*)")
	t.row("φ*", num(q.PhiStar), "exploring pays if it exceeds ρ·(Q−b)")
	t.row("γ*", q.gammaStar(), "least discount at which exploring pays, for ever")
	t.row("N*", q.nStar(), "least N at which it pays if rewards 0..N count alike")
	t.row("VPI", num(q.vpi), "E(q−Q)⁺, the gain from knowing q now")
	if d := q.decision; d != nil {
		if d.gammaWithin != nil {
			t.row("γ* (N)", num(*d.gammaWithin), fmt.Sprintf("least discount at which exploring pays within N = %d", *q.horizon))
		}
		t.gap()
		t.row("ρ", num(d.rho), "share of the horizon that exploring takes ("+q.horizonText()+")")
		t.row("U", num(d.u), fmt.Sprintf("worth of exploring at δ = %s; staying is worth %s", num(d.delta), num(d.h.Total()*q.against.Known)))
		t.row("λU", num(d.index[bandit.U]), "index: trying the arm pays against a known arm worth less")
		t.row("λU+", num(d.index[bandit.UPlus]), "the same, with the arm's mean instead of b while trying")
		t.row("λV", num(d.index[bandit.V]), "the same, with perfect information afterwards")
		switch {
		case d.gittins != nil:
			t.row("Gittins", num(*d.gittins), "the exact index, for Bernoulli rewards")
		case d.gittinsIsFar:
			t.row("Gittins", "-", "not computed above γ = 0.9995: it takes too long")
		}
	}
	sd := "infinite sd"
	if !math.IsInf(q.sd, 1) {
		sd = "sd " + num(q.sd)
	}
	fmt.Fprintf(w, "An arm believed %s (mean %s, %s) against a greedy arm worth Q = %s;\nlower bound b = %s, exploring takes T = %d %s.\n\n%s\n",
		q.belief, num(q.belief.is.Mean()), sd, given(q.against.Known), given(q.against.LowerBound),
		q.against.Hold, plural(q.against.Hold, "pull", "pulls"), t.String())
	for _, n := range q.notes {
		fmt.Fprintf(w, "Note: %s.\n", n)
	}
	_, err := fmt.Fprintln(w, q.sentence())
	return err
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// gammaStar writes γ*, by its distance from 1 where that is small.
func (q *comparison) gammaStar() string {
	if q.GammaStar < 0.999 || q.Never {
		return num(q.GammaStar)
	}
	return "1−" + num(-math.Expm1(math.Log1p(-q.ShareStar)/float64(q.against.Hold)))
}

// nStar writes N*.
func (q *comparison) nStar() string {
	switch {
	case q.Never:
		return "∞"
	case q.NStarOverflow:
		return "> 9e18"
	}
	return fmt.Sprint(q.NStar)
}

func (q *comparison) horizonText() string {
	switch {
	case q.horizon == nil:
		return fmt.Sprintf("γ = %s", given(*q.gamma))
	case q.gamma == nil:
		return fmt.Sprintf("N = %d", *q.horizon)
	}
	return fmt.Sprintf("γ = %s, N = %d", given(*q.gamma), *q.horizon)
}

// always says that exploring pays whatever the horizon.
func (q *comparison) always() bool { return q.GammaStar == 0 && q.NStar == 0 && !q.Never }

// sentence is the decision and its reason.
func (q *comparison) sentence() string {
	var what string
	switch {
	case q.Never:
		what = "the belief gives the arm no chance of being better than Q, so exploring does not pay at any horizon"
	case q.always():
		what = "exploring pays at any horizon"
	case q.NStarOverflow:
		what = fmt.Sprintf("exploring pays only if γ > %s, or beyond any N that a computer counts to", q.gammaStar())
	default:
		what = fmt.Sprintf("exploring pays if γ > %s (for ever) or N ≥ %s (undiscounted)", q.gammaStar(), q.nStar())
	}
	d := q.decision
	if d == nil {
		return strings.ToUpper(what[:1]) + what[1:] + ". Give --gamma or --horizon for a decision."
	}
	price := d.rho * (q.against.Known - q.against.LowerBound)
	verdict, sign := "Stay greedy", "does not exceed"
	if d.explore {
		verdict, sign = "Explore", "exceeds"
	}
	return fmt.Sprintf("%s: φ* = %s %s the price of exploring, ρ·(Q−b) = %s;\n%s.", verdict, num(q.PhiStar), sign, num(price), what)
}

// table aligns three columns.
type table struct{ rows [][3]string }

func (t *table) row(name, value, meaning string) {
	if value == "NaN" {
		value = "-"
	}
	t.rows = append(t.rows, [3]string{name, value, meaning})
}

func (t *table) gap() { t.rows = append(t.rows, [3]string{}) }

func (t *table) String() string {
	var width [2]int
	for _, r := range t.rows {
		for i := range width {
			width[i] = max(width[i], utf8.RuneCountInString(r[i]))
		}
	}
	var b strings.Builder
	for _, r := range t.rows {
		line := "  "
		for i := range width {
			line += r[i] + strings.Repeat(" ", width[i]-utf8.RuneCountInString(r[i])+3)
		}
		b.WriteString(strings.TrimRight(line+r[2], " ") + "\n")
	}
	return b.String()
}

// json is the answer for machines; the keys are documented in thresholdKeys.
func (q *comparison) json() map[string]any {
	about := map[string]any{"kind": q.belief.kind.name}
	if p := q.belief.params(); p != nil {
		about["params"] = p
	} else {
		about["members"] = q.belief.v
	}
	out := map[string]any{
		"belief": about, "mean": q.belief.is.Mean(), "sd": number(q.sd),
		"against": q.against.Known, "lower_bound": q.against.LowerBound, "hold": q.against.Hold,
		"delta_star": number(q.DeltaStar), "p_star": number(q.PStar), "phi_star": number(q.PhiStar),
		"always": q.always(), "never": q.Never, "share_star": number(q.ShareStar),
		"gamma_star": number(q.GammaStar), "n_star": q.NStar, "n_star_overflow": q.NStarOverflow,
		"vpi": q.vpi, "gamma": q.gamma, "horizon": q.horizon, "reason": strings.ReplaceAll(q.sentence(), "\n", " "),
		"notes": append([]string{}, q.notes...),
	}
	if q.Never || q.NStarOverflow {
		out["n_star"] = nil
	}
	d := q.decision
	if d == nil {
		return out
	}
	out["rho"] = d.rho
	out["U"] = map[string]any{
		"delta": d.delta, "p": d.p, "value": d.u,
		"greedy":    d.h.Total() * q.against.Known,
		"advantage": bandit.Advantage(d.h, q.against, d.delta, d.p),
	}
	out["index"] = map[string]any{
		bandit.U.String():     number(d.index[bandit.U]),
		bandit.UPlus.String(): number(d.index[bandit.UPlus]),
		bandit.V.String():     number(d.index[bandit.V]),
	}
	out["gittins"] = d.gittins
	out["explore"] = d.explore
	if q.gamma != nil && q.horizon != nil {
		out["gamma_star_within"] = d.gammaWithin
	}
	return out
}

// number is x, or null where JSON has no word for it.
func number(x float64) any {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return x
}
