package thresholdcmd

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/rlrun/rlrun/bandit"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
)

// print writes the answer for people.
func (q *comparison) print(w io.Writer) error {
	var t cli.Table
	t.Row("δ*", cli.Num(q.DeltaStar), "improvement over Q that maximises φ = δ·p/(1−p)")
	t.Row("p", cli.Num(q.PStar), "probability of this improvement or more, P(q ≥ Q+δ*)")
	t.Row("φ*", cli.Num(q.PhiStar), "exploring pays if it exceeds ρ·(Q−b)")
	t.Row("γ*", q.gammaStar(), "smallest discount at which exploring pays, with an infinite horizon")
	t.Row("N*", q.nStar(), "smallest N at which exploring pays, with undiscounted rewards 0..N")
	t.Row("VPI", cli.Num(q.vpi), "E(q−Q)⁺, the gain from knowing q now")
	if d := q.decision; d != nil {
		if d.gammaWithin != nil {
			t.Row("γ* (N)", cli.Num(*d.gammaWithin), fmt.Sprintf("smallest discount at which exploring pays within N = %d", *q.horizon))
		}
		t.Gap()
		t.Row("ρ", cli.Num(d.rho), "share of the horizon that exploring takes ("+q.horizonText()+")")
		t.Row("U", cli.Num(d.u), fmt.Sprintf("value of exploring at δ = %s; the value of the greedy arm is %s", cli.Num(d.delta), cli.Num(d.h.Total()*q.against.Known)))
		t.Row("λU", cli.Num(d.index[bandit.U]), "index: exploring pays against a known arm with a smaller mean")
		t.Row("λU+", cli.Num(d.index[bandit.UPlus]), "the same, with the arm's mean instead of b while trying")
		t.Row("λV", cli.Num(d.index[bandit.V]), "the same, with perfect information afterwards")
		switch {
		case d.gittins != nil:
			t.Row("Gittins", cli.Num(*d.gittins), "the exact index, for Bernoulli rewards")
		case d.gittinsIsFar:
			t.Row("Gittins", "-", "not computed above γ = 0.9995: it takes too long")
		}
	}
	sd := "infinite sd"
	if !math.IsInf(q.sd, 1) {
		sd = "sd " + cli.Num(q.sd)
	}
	fmt.Fprintf(w, "An arm with belief %s (mean %s, %s) against a greedy arm of mean Q = %s;\nlower bound b = %s, exploring takes T = %d %s.\n\n%s\n",
		q.belief, cli.Num(q.belief.is.Mean()), sd, cli.Given(q.against.Known), cli.Given(q.against.LowerBound),
		q.against.Hold, cli.Plural(q.against.Hold, "pull", "pulls"), t.Text(cli.Width(w)))
	for _, n := range q.notes {
		fmt.Fprintf(w, "Note: %s.\n", n)
	}
	_, err := fmt.Fprintln(w, q.sentence())
	return err
}

// gammaStar writes γ*, by its distance from 1 where that is small.
func (q *comparison) gammaStar() string {
	if q.GammaStar < 0.999 || q.Never {
		return cli.Num(q.GammaStar)
	}
	if q.ShareStar == 0 { // below the smallest number
		return "≈ 1"
	}
	return "1−" + cli.Num(-math.Expm1(math.Log1p(-q.ShareStar)/float64(q.against.Hold)))
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
		return fmt.Sprintf("γ = %s", cli.Given(*q.gamma))
	case q.gamma == nil:
		return fmt.Sprintf("N = %d", *q.horizon)
	}
	return fmt.Sprintf("γ = %s, N = %d", cli.Given(*q.gamma), *q.horizon)
}

// always says that exploring pays whatever the horizon.
func (q *comparison) always() bool { return q.GammaStar == 0 && q.NStar == 0 && !q.Never }

// sentence is the decision and its reason.
func (q *comparison) sentence() string {
	var what string
	switch {
	case q.Never:
		what = "under the belief the arm cannot be better than Q, so exploring does not pay at any horizon"
	case q.always():
		what = "exploring pays at any horizon"
	case q.NStarOverflow && q.ShareStar == 0:
		what = "exploring pays only for γ closer to 1, or for N larger, than a computer's numbers can say"
	case q.NStarOverflow:
		what = fmt.Sprintf("exploring pays only if γ > %s, or N > 9e18 (undiscounted)", q.gammaStar())
	default:
		what = fmt.Sprintf("exploring pays if γ > %s (infinite horizon) or N ≥ %s (undiscounted)", q.gammaStar(), q.nStar())
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
	return fmt.Sprintf("%s: φ* = %s %s the cost of exploring, ρ·(Q−b) = %s;\n%s.", verdict, cli.Num(q.PhiStar), sign, cli.Num(price), what)
}

// json is the answer as JSON; the keys are documented in thresholdKeys.
func (q *comparison) json() map[string]any {
	about := map[string]any{"kind": q.belief.kind.name}
	if p := q.belief.params(); p != nil {
		about["params"] = p
	} else {
		about["members"] = q.belief.v
	}
	out := map[string]any{
		"belief": about, "mean": q.belief.is.Mean(), "sd": cli.Number(q.sd),
		"against": q.against.Known, "lower_bound": q.against.LowerBound, "hold": q.against.Hold,
		"delta_star": cli.Number(q.DeltaStar), "p_star": cli.Number(q.PStar), "phi_star": cli.Number(q.PhiStar),
		"always": q.always(), "never": q.Never, "share_star": cli.Number(q.ShareStar),
		"gamma_star": cli.Number(q.GammaStar), "n_star": q.NStar, "n_star_overflow": q.NStarOverflow,
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
		bandit.U.String():     cli.Number(d.index[bandit.U]),
		bandit.UPlus.String(): cli.Number(d.index[bandit.UPlus]),
		bandit.V.String():     cli.Number(d.index[bandit.V]),
	}
	out["gittins"] = d.gittins
	out["explore"] = d.explore
	if q.gamma != nil && q.horizon != nil {
		out["gamma_star_within"] = d.gammaWithin
	}
	return out
}
