package thresholdcmd

import (
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rlrun/rlrun/bandit"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/host"
)

const thresholdHelp = `Say whether an uncertain arm is worth exploring against a greedy arm with a known
mean reward, and which horizon exploring needs.

--belief is the belief about the arm's unknown mean q, and --against the mean Q of the
greedy arm. To explore is to pull the uncertain arm --hold times, and then to stay with
it if its mean is at least δ above Q. Its mean may be as low as --lower-bound, b.
Exploring pays if φ* = sup δ·p/(1−p), with p = P(q ≥ Q+δ), exceeds ρ·(Q−b). Here ρ is
the share of the horizon that exploring takes (docs/theory.md, §1.1).

The horizon is --gamma (discounted, infinite), --horizon (N+1 rewards of equal weight)
or both (N+1 discounted rewards). The decision and the indices need a horizon. Without
one, only the thresholds are printed.

Beliefs:
`

const thresholdKeys = `
--json (absent keys need a horizon; null: does not exist or is not finite):
  belief {kind, params or members}, mean, sd (null: infinite), against,
  lower_bound, hold
  delta_star, p_star   the δ that maximises φ, and its p
  phi_star             null if infinite
  always, never        exploring pays, or does not pay, at any horizon
  share_star           exploring pays if ρ is below
  gamma_star           the smallest discount at which exploring pays, infinite horizon
  n_star               the smallest N for which it pays undiscounted; null if never or
                       beyond 2^63 (n_star_overflow)
  vpi                  E(q−Q)⁺, the value of perfect information
  gamma, horizon       as given (null: not given)
  rho                  the share of the horizon that exploring takes
  gamma_star_within    with --gamma and --horizon: the smallest discount within N
  U {delta, p, value, greedy, advantage}   the bound of Lemma 1 at δ*, and G·Q
  index {U, U+, V}     the value of a known arm at which trying this one no longer pays
  gittins              for beta with --gamma alone, up to γ = 0.9995; else null
  explore              the decision
  reason               the decision in words
  notes                warnings, such as a lower bound that the belief contradicts`

// comparison is the question and its answer.
type comparison struct {
	belief  *belief
	against bandit.Comparison
	gamma   *float64
	horizon *int

	bandit.Thresholds
	vpi, sd float64
	*decision
	notes []string
}

// decision is the part of the answer that needs a horizon.
type decision struct {
	h            bandit.Horizon
	rho          float64
	gammaWithin  *float64
	delta, p     float64 // at which U is given
	u            float64
	index        [3]float64
	gittins      *float64
	gittinsIsFar bool // γ too near 1 to compute it at once
	explore      bool
}

// New returns the command rlrun threshold.
func New(*host.App) *cobra.Command {
	var beliefText, plot string
	var against, gamma, lower float64
	var horizon, hold int
	var asJSON bool
	kinds := &strings.Builder{}
	for _, k := range beliefKinds() {
		kinds.WriteString("  " + k.doc + "\n")
	}
	cmd := &cobra.Command{
		Use:   "threshold --belief KIND:ARGS --against Q [--gamma G] [--horizon N]",
		Short: "Say when trying an uncertain arm is worth it",
		Long:  thresholdHelp + kinds.String() + thresholdKeys,
		Example: `  rlrun threshold --belief beta:3,4 --against 0.6 --gamma 0.99
  rlrun threshold --belief exponential:mu=0.1,rate=4 --against 0.5 --horizon 100 --hold 5
  rlrun threshold --belief uniform:0,1 --against 0.6 --gamma 0.95 --plot decision.svg
  rlrun threshold --belief population:@members.txt --against 0.5 --json`,
		Args: cli.Arguments(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			fs := cmd.Flags()
			for _, name := range []string{"belief", "against"} {
				if !fs.Changed(name) {
					return cli.Usagef("rlrun threshold needs --%s (see rlrun threshold --help)", name)
				}
			}
			b, err := parseBelief(beliefText)
			if err != nil {
				return err
			}
			q := &comparison{belief: b, against: bandit.Comparison{Known: against, LowerBound: lower, Hold: hold}}
			if fs.Changed("gamma") {
				q.gamma = &gamma
			}
			if fs.Changed("horizon") {
				q.horizon = &horizon
			}
			if err := q.check(); err != nil {
				return err
			}
			if plot != "" && q.gamma == nil && q.horizon == nil {
				return cli.Usagef("--plot needs --gamma or --horizon: without a horizon there is no U to draw")
			}
			q.answer()
			if plot != "" {
				if err := q.plot(plot); err != nil {
					return err
				}
			}
			if asJSON {
				return cli.WriteJSON(cmd.OutOrStdout(), q.json())
			}
			return q.print(cmd.OutOrStdout())
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&beliefText, "belief", "", "belief about the uncertain arm's mean, `KIND:ARGS`")
	fs.Float64Var(&against, "against", 0, "mean reward `Q` of the greedy arm")
	fs.Float64Var(&gamma, "gamma", 0, "discount `G` of later rewards, 0 ≤ G < 1 (G ≤ 1 with --horizon)")
	cli.CountVar(fs, &horizon, "horizon", 0, "last reward that counts: rewards 0 to `N`")
	fs.IntVar(&hold, "hold", 1, "number `T` of pulls of one exploration")
	fs.Float64Var(&lower, "lower-bound", 0, "lower bound `B` on the mean of an arm")
	fs.BoolVar(&asJSON, "json", false, "print JSON")
	fs.StringVar(&plot, "plot", "", "draw U over δ, and the decision over horizon × uncertainty, to `FILE` (.svg, .png, .pdf)")
	return cmd
}

// check refuses what has no answer.
func (q *comparison) check() error {
	finite := func(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
	c := q.against
	switch {
	case !finite(c.Known):
		return cli.Usagef("--against must be a finite number")
	case !finite(c.LowerBound):
		return cli.Usagef("--lower-bound must be a finite number")
	case c.Known < c.LowerBound:
		return cli.Usagef("--against %s is below the lower bound %s, which no arm's mean can be; give a --lower-bound of %[1]s or less", cli.Given(c.Known), cli.Given(c.LowerBound))
	case c.Hold < 1:
		return cli.Usagef("--hold must be at least 1, not %d", c.Hold)
	case q.horizon != nil && *q.horizon < 0:
		return cli.Usagef("--horizon must be at least 0, not %d", *q.horizon)
	case q.gamma != nil && !(*q.gamma >= 0 && *q.gamma <= 1):
		return cli.Usagef("--gamma must be in [0,1), or 1 with --horizon, not %s", cli.Given(*q.gamma))
	case q.gamma != nil && *q.gamma == 1 && q.horizon == nil:
		return cli.Usagef("--gamma 1 weighs infinitely many rewards alike: add --horizon N, or give a discount below 1")
	}
	return nil
}

// answer fills in everything.
func (q *comparison) answer() {
	q.Thresholds = bandit.Threshold(q.belief.is, q.against)
	q.vpi = q.belief.is.Gain(q.against.Known)
	q.sd = q.belief.sd()
	q.noteBound()
	if q.gamma == nil && q.horizon == nil {
		return
	}
	d := &decision{}
	q.decision = d
	switch {
	case q.horizon == nil:
		d.h = bandit.Discounted(*q.gamma)
	case q.gamma == nil:
		d.h = bandit.Finite(*q.horizon)
	default:
		d.h = bandit.DiscountedFinite(*q.gamma, *q.horizon)
		if g, ok := q.GammaStarWithin(*q.horizon); ok {
			d.gammaWithin = &g
		}
	}
	d.rho = d.h.Share(q.against.Hold)
	d.explore = q.Explore(d.rho)
	d.delta, d.p = q.DeltaStar, q.PStar
	if math.IsNaN(d.delta) { // φ* is infinite or zero: the best δ at this ρ
		d.delta, _ = bandit.BestDelta(q.belief.is, q.against, d.rho)
		d.p = q.belief.is.Exceed(q.against.Known + d.delta)
	}
	d.u = bandit.ExplorationBound(d.h, q.against, d.delta, d.p)
	for _, k := range []bandit.IndexKind{bandit.U, bandit.UPlus, bandit.V} {
		d.index[k] = bandit.Index(k, q.belief.is, d.rho, q.against.LowerBound)
	}
	if beta, ok := q.belief.is.(bandit.Beta); ok && q.horizon == nil {
		if *q.gamma <= 0.9995 { // a fifth of a second; the time grows with 1/(1−γ)²
			g := bandit.Gittins(beta.A, beta.B, *q.gamma)
			d.gittins = &g
		} else {
			d.gittinsIsFar = true
		}
	}
}

// noteBound says so if the belief contradicts the lower bound: Lemma 1 needs
// E[q | q < Q+δ] ≥ b.
func (q *comparison) noteBound() {
	b, x := q.against.LowerBound, q.against.Known
	if !math.IsNaN(q.DeltaStar) {
		x += q.DeltaStar
	}
	p := q.belief.is.Exceed(x)
	if p >= 1 {
		return
	}
	mean := (q.belief.is.Mean() - q.belief.is.Gain(x) - x*p) / (1 - p)
	if mean < b-1e-12*math.Abs(b) {
		q.notes = append(q.notes, "if the arm disappoints, the belief expects "+cli.Num(mean)+" of it, less than the lower bound "+cli.Given(b)+": give a lower --lower-bound")
	}
}
