package mdpcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rlrun/rlrun/mdp"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/host"
)

const mixingHelp = `Compute the exploration mixing time T_ε of a policy (docs/theory.md, §2.1; docs/mixing.md):
the number of steps after which one action a in state s, taken instead of following
the policy, is forgotten. With P the policy's chain and Δ the total variation
between the two distributions over states,

  Δ_T(s,a) = ½‖(P(·|s,a) − P(s,·)) P^(T−1)‖₁,   T_ε(s,a) = first T ≥ 1 with Δ_T < η.

--tv sets η. The paper divides by the number of states, d_T = 2Δ_T/|S| < ε, so
that ε = 2η/|S|; --epsilon sets ε. Whether T_ε is infinite is decided exactly, and the
reason is printed. Models of more than 2000 states are sampled: the mean T_ε with a 95%
interval.

--plot draws d_T over T for each action, in the state where its T_ε is largest,
and for tasks on a grid the largest T_ε of each cell.

If the model is estimated (rlrun mdp --help), the largest T_ε has a 95% interval, which
holds if observations are Markov states.

Model, criterion and policy: rlrun mdp --help.

--json:` + mdpKeys + `
  eta, epsilon         both scales
  max, max_at          largest T_ε and its {state, action}; null: never forgotten
  mean                 of T_ε over states as often as the policy visits them and
                       the actions that it does not take (the paper's)
                       (null: infinite or not defined)
  T, limit             T_ε and d_∞ by state and action; null: never; T is 0 where the
                       state lacks the action
  infinite, why        number of infinite T; the reason of the first
  converged            false: some T were not computed, as they are too long
  chain {ergodic, unichain, aperiodic, periods}
  worst_case           steps after which the chain is within η of its stationary
                       distribution from any start; null: never, or more than 512
                       states
  bias_span            sp(h): T_ε steps hold a deviation's effect up to η·sp(h)
  spectrum {lambda2, dobrushin, doeblin, sigma2, pseudo_gap, pseudo_k, reversible,
            bound_dobrushin, bound_spectral}   up to 512 states; the bounds are of
                       max
  sample {pairs, low, high, extrapolated}   of sampled models; then max, T, limit
                       and the following keys are null
  estimate {low, high} of estimated models: the 95% interval of max`

// forgetting is the exploration mixing time of a policy, and what belongs to it.
type forgetting struct {
	*process
	*mdp.Mixing
	sample    *mdp.MixingSample // in place of Mixing
	converged bool
	chain     *mdp.Structure
	worst     int // -1: not computed
	span      float64
	spectrum  *mdp.Spectrum
	bounds    mdp.MixingBounds
	low, high int // the interval of Max, if the model is estimated
}

func newMixing(app *host.App) *cobra.Command {
	var f mdpFlags
	var o mdp.MixingConfig
	cmd := &cobra.Command{
		Use:   "mixing (--model FILE | --env NAME) [--tv η | --epsilon ε]",
		Short: "Compute the exploration mixing time of a policy",
		Long:  mixingHelp,
		Example: `  rlrun mdp mixing --env riverswim --plot mixing.svg
  rlrun mdp mixing --env deepsea --param size=5 --policy right
  rlrun mdp mixing --env fourrooms --epsilon 0.02 --json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			fs := cmd.Flags()
			switch {
			case fs.Changed("tv") && fs.Changed("epsilon"):
				return cli.Usagef("--tv and --epsilon are the same threshold in two scales: give one")
			case fs.Changed("tv") && !(o.Eta >= 1e-12 && o.Eta <= 1):
				return cli.Usagef("--tv must be in (0,1], and not below 1e-12, not %s", cli.Given(o.Eta))
			case fs.Changed("epsilon") && !(o.Epsilon > 0 && !math.IsInf(o.Epsilon, 0)):
				return cli.Usagef("--epsilon must be a positive number, not %s", cli.Given(o.Epsilon))
			}
			return f.answer(app, cmd, func(p *process) (answer, error) { return p.forgetting(cmd.Context(), o) })
		},
	}
	f.add(app, cmd)
	cmd.Flags().Float64Var(&o.Eta, "tv", 0, "total variation `η` below which a deviation counts as forgotten (default 0.25)")
	cmd.Flags().Float64Var(&o.Epsilon, "epsilon", 0, "the same on the paper's scale, `ε` = 2η/|S|")
	f.addOutput(cmd, "draw d_T over T, and T_ε on the map, to `FILE` (.svg, .png, .pdf)")
	return cmd
}

const (
	exactStates    = 2000 // of all mixing times
	spectrumStates = 512
)

func (p *process) forgetting(ctx context.Context, o mdp.MixingConfig) (*forgetting, error) {
	q := &forgetting{process: p, converged: true, worst: -1, span: math.NaN()}
	c, err := mdp.Induce(p.model, p.policy)
	if err != nil {
		return nil, refused(err)
	}
	q.chain = c.Structure()
	if p.model.NumStates() > exactStates {
		q.sample, err = mdp.SampleMixing(p.model, p.policy, mdp.SampleConfig{MixingConfig: o, Seed: 1})
		if err != nil {
			return nil, refused(err)
		}
		return q, ctx.Err()
	}
	q.Mixing, err = mdp.MixingTime(p.model, p.policy, o)
	if q.converged = !errors.Is(err, mdp.ErrNotConverged); err != nil && q.converged {
		return nil, refused(err)
	}
	if err := q.interval(o); err != nil {
		return nil, refused(err)
	}
	if _, bias, err := c.EvaluateAverage(); err == nil {
		low, high := extremes(bias)
		q.span = high - low
	}
	if p.model.NumStates() > spectrumStates {
		return q, ctx.Err()
	}
	var missing *mdp.MissingError
	if q.worst, err = c.WorstMixing(q.Eta); errors.As(err, &missing) || errors.Is(err, mdp.ErrNotConverged) {
		q.worst = mdp.Never
	} else if err != nil {
		return nil, refused(err)
	}
	if q.spectrum, err = c.Spectrum(); err != nil {
		return nil, refused(err)
	}
	q.bounds = q.spectrum.Bounds(1, q.Eta)
	return q, ctx.Err()
}

// interval finds the interval of the largest time of an estimated model: that of the
// largest of the pairs that occurred.
func (q *forgetting) interval(o mdp.MixingConfig) error {
	if q.counts == nil {
		return nil
	}
	band, err := q.counts.MixingBand(q.policy, o)
	if err != nil {
		return err
	}
	for s := range band.Low {
		for a := range band.Low[s] {
			if q.counts.N(s, a) == 0 {
				continue
			}
			q.low, q.high = max(q.low, band.Low[s][a]), max(q.high, band.High[s][a])
		}
	}
	return nil
}

// mean writes a mean, "-" if it is not defined.
func mean(x float64) string {
	if math.IsNaN(x) {
		return "-"
	}
	return cli.Num(x)
}

func (q *forgetting) print(w io.Writer) error {
	var t cli.Table
	n := q.model.NumStates()
	if q.sample != nil {
		return q.printSample(w)
	}
	t.Row("η", cli.Num(q.Eta), "a deviation is forgotten when the total variation is below")
	t.Row("ε", cli.Num(q.Epsilon), fmt.Sprintf("the same in the paper's scale, ε = 2η/|S| = 2η/%d", n))
	t.Gap()
	t.Row("T_ε", steps(q.Max), fmt.Sprintf("largest, for action %s in state %d", q.actions[q.MaxAt.A], q.MaxAt.S))
	if q.counts != nil {
		t.Row("95%", steps(q.low)+" to "+steps(q.high), "interval of the largest, as the model is estimated; more --steps make it narrower")
	}
	if !math.IsNaN(q.MeanNonGreedy) {
		t.Row("mean T_ε", mean(q.MeanNonGreedy), "over states, weighted by visits, and actions that the policy does not take")
	}
	if !math.IsNaN(q.span) {
		t.Row("η·sp(h)", cli.Num(q.Eta*q.span), "bound on the effect of a deviation on the return after T_ε steps")
	}
	t.Gap()
	t.Row("chain", "", q.chainText())
	if q.worst >= 0 {
		t.Row("t_mix", steps(q.worst), "steps to within η of the stationary distribution from any start")
	}
	if s := q.spectrum; s != nil {
		t.Row("|λ₂|", cli.Num(s.Lambda2), "second largest modulus of an eigenvalue: the asymptotic rate, no bound")
		t.Row("τ", cli.Num(s.Dobrushin), "Dobrushin: a step shrinks differences at least by this factor; "+boundText(min(q.bounds.Dobrushin, q.bounds.DobrushinPower)))
		if !math.IsNaN(s.PseudoGap) {
			t.Row("γ_ps", cli.Num(s.PseudoGap), fmt.Sprintf("pseudo-spectral gap, σ₂ of P^%d; %s", s.PseudoK, boundText(q.bounds.Spectral)))
		}
	}
	fmt.Fprintf(w, "%s\n%s", q.head(), t.Text(cli.Width(w)))
	for _, note := range q.notes() {
		fmt.Fprintf(w, "\n%s\n", note)
	}
	rows := [][]string{append([]string{"T_ε in state"}, first(q.actions, 12)...)}
	for s := range rowsOf(n) {
		row := []string{fmt.Sprint(s)}
		for a := range min(len(q.actions), 12) {
			text := steps(q.T[s][a])
			if !q.model.Available(s, a) {
				text = "-"
			}
			if q.taken(s) == a {
				text += " *"
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	_, err := fmt.Fprintf(w, "\n%s%s", cli.Columns(rows, cli.Width(w)), more(n))
	if _, ok := q.policy.(mdp.Uniform); !ok && err == nil {
		_, err = fmt.Fprintln(w, "  (* action of the policy: no deviation)")
	}
	return err
}

func boundText(t int) string {
	if t == mdp.Never {
		return "no bound on T_ε"
	}
	return fmt.Sprintf("T_ε ≤ %d", t)
}

func (q *forgetting) chainText() string {
	switch {
	case q.chain.Ergodic():
		return "ergodic: one class, aperiodic"
	case !q.chain.Unichain():
		return fmt.Sprintf("not unichain: %d closed classes", len(q.chain.Closed))
	}
	class := q.chain.Closed[0]
	text := "unichain"
	if gone := q.model.NumStates() - len(q.chain.Classes[class]); gone > 0 {
		text += fmt.Sprintf(", %d transient %s", gone, cli.Plural(gone, "state", "states"))
	}
	if q.chain.Period[class] > 1 {
		return text + fmt.Sprintf(", period %d: never near a stationary distribution", q.chain.Period[class])
	}
	return text + ", aperiodic"
}

// atOnce says of a threshold that no deviation exceeds it.
func (q *forgetting) atOnce(eta float64) string {
	return fmt.Sprintf("η = %s: two distributions differ by at most 1, so every deviation counts as forgotten\nat once. In the paper's scale distances are at most 2/|S| = %s; give --tv.", cli.Num(eta), cli.Num(2/float64(q.model.NumStates())))
}

// notes explain what is infinite or trivial.
func (q *forgetting) notes() (notes []string) {
	if q.Eta >= 1 {
		notes = append(notes, q.atOnce(q.Eta))
	}
	if q.Why != nil {
		why := strings.TrimPrefix(q.Why.Error(), "mdp: not ")
		need, why, _ := strings.Cut(why, ": ")
		limit, pairs := 0.0, 0
		for s, row := range q.Limit {
			_, high := extremes(row)
			limit = max(limit, high)
			for a := range row {
				if q.model.Available(s, a) {
					pairs++
				}
			}
		}
		notes = append(notes, fmt.Sprintf("T_ε is infinite for %d of %d states and actions, because the chain is not %s:\n%s.\nThe distance in the limit, d_∞, is up to %s, not below ε = %s.", q.Infinite, pairs, need, why, cli.Num(limit), cli.Num(q.Epsilon)))
	}
	if q.spectrum == nil {
		notes = append(notes, fmt.Sprintf("t_mix and the spectrum are computed for up to %d states.", spectrumStates))
	}
	if !q.converged {
		notes = append(notes, "Some T_ε are finite, but longer than can be computed exactly; they are shown as ∞.")
	}
	return notes
}

func (q *forgetting) printSample(w io.Writer) error {
	var t cli.Table
	x := q.sample
	t.Row("η", cli.Num(x.Eta), "a deviation is forgotten when the total variation is below")
	t.Row("ε", cli.Num(x.Epsilon), fmt.Sprintf("the same in the paper's scale, ε = 2η/|S| = 2η/%d", q.model.NumStates()))
	t.Gap()
	t.Row("mean T_ε", mean(x.Mean), fmt.Sprintf("over states, weighted by visits, and actions that the policy does not take: %d pairs", len(x.Pairs)))
	t.Row("95%", cli.Num(x.Low)+" to "+cli.Num(x.High), "bootstrap interval of the mean")
	t.Row("chain", "", q.chainText())
	fmt.Fprintf(w, "%s\n%s", q.head(), t.Text(cli.Width(w)))
	if x.Eta >= 1 {
		fmt.Fprintf(w, "\n%s\n", q.atOnce(x.Eta))
	}
	if x.Why != nil {
		fmt.Fprintf(w, "\nSome T_ε is infinite: %s.\n", strings.TrimPrefix(x.Why.Error(), "mdp: "))
	}
	if k := count(x.Extrapolated); k > 0 {
		fmt.Fprintf(w, "\n%d of them took too long and were extrapolated.\n", k)
	}
	_, err := fmt.Fprintln(w, "\nThe model has too many states for all pairs, and a largest T_ε cannot be sampled.")
	return err
}

func count(xs []bool) (n int) {
	for _, x := range xs {
		if x {
			n++
		}
	}
	return n
}

func (q *forgetting) json() map[string]any {
	out := q.process.json()
	periods := []int{}
	for _, class := range q.chain.Closed {
		periods = append(periods, q.chain.Period[class])
	}
	out["chain"] = map[string]any{"ergodic": q.chain.Ergodic(), "unichain": q.chain.Unichain(), "aperiodic": q.chain.Aperiodic(), "periods": periods}
	for _, key := range []string{"max", "max_at", "mean", "T", "limit", "infinite", "why", "worst_case", "bias_span", "spectrum", "sample", "estimate"} {
		out[key] = nil
	}
	out["converged"] = q.converged
	if x := q.sample; x != nil {
		out["eta"], out["epsilon"], out["mean"] = x.Eta, x.Epsilon, cli.Number(x.Mean)
		out["sample"] = map[string]any{"pairs": len(x.Pairs), "low": cli.Number(x.Low), "high": cli.Number(x.High), "extrapolated": count(x.Extrapolated)}
		if x.Why != nil {
			out["why"] = strings.TrimPrefix(x.Why.Error(), "mdp: ")
		}
		return out
	}
	times := make([][]any, len(q.T))
	for s, row := range q.T {
		for _, t := range row {
			times[s] = append(times[s], never(t))
		}
	}
	out["eta"], out["epsilon"] = q.Eta, q.Epsilon
	out["max"], out["max_at"] = never(q.Max), map[string]int{"state": q.MaxAt.S, "action": q.MaxAt.A}
	out["mean"] = cli.Number(q.MeanNonGreedy)
	if q.counts != nil {
		out["estimate"] = map[string]any{"low": never(q.low), "high": never(q.high)}
	}
	if q.worst >= 0 {
		out["worst_case"] = never(q.worst)
	}
	out["T"], out["limit"], out["infinite"], out["bias_span"] = times, q.Limit, q.Infinite, cli.Number(q.span)
	if q.Why != nil {
		out["why"] = strings.TrimPrefix(q.Why.Error(), "mdp: ")
	}
	if s := q.spectrum; s != nil {
		out["spectrum"] = map[string]any{
			"lambda2": cli.Number(s.Lambda2), "dobrushin": cli.Number(s.Dobrushin), "doeblin": cli.Number(s.Doeblin), "sigma2": cli.Number(s.Sigma2),
			"pseudo_gap": cli.Number(s.PseudoGap), "pseudo_k": s.PseudoK, "reversible": s.Reversible,
			"bound_dobrushin": never(min(q.bounds.Dobrushin, q.bounds.DobrushinPower)), "bound_spectral": never(q.bounds.Spectral),
		}
	}
	return out
}
