package mdpcmd

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/rlrun/rlrun/mdp"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/host"
)

const structureHelp = `Print the structure of a finite model: which states can be reached from which under
some policy. For the chain of --policy: its closed classes, their periods, and the
transient states. If the model is not ergodic, unichain, communicating and so on, the
output says why, with states that show it.

Model, criterion and policy: rlrun mdp --help.

--json:` + mdpKeys + `
  communicating        every state can be reached from every other
  weakly_communicating the same, ignoring states that are transient under all
                       policies
  end_components       sets of states that a policy can stay in for ever
  every_policy_irreducible, every_policy_unichain   (null: not decided)
  diameter {steps, from, to}   the largest expected number of steps from one state
                       to another, under the policy that gets there fastest; null:
                       infinite, or not computed
  chain {irreducible, unichain, aperiodic, ergodic, transient,
         closed [{states, period}]}
  missing              [{of (model or chain), property, why}]`

// connections is how the states of a model, and of the chain of a policy, are
// connected.
type connections struct {
	*process
	model    *mdp.Communication
	chain    *mdp.Structure
	diameter *diameter
	missing  []missing

	irreducible, unichain *bool // under every policy; nil: not decided
}

type diameter struct {
	Steps float64 `json:"steps"`
	From  int     `json:"from"`
	To    int     `json:"to"`
}

type missing struct {
	Of       string `json:"of"`
	Property string `json:"property"`
	Why      string `json:"why"`
}

// diameterStates is up to how many states the diameter is computed unasked: a
// second.
const diameterStates = 200

func newStructure(app *host.App) *cobra.Command {
	var f mdpFlags
	var far bool
	cmd := &cobra.Command{
		Use:   "structure (--model FILE | --env NAME)",
		Short: "Print classes and periods, and why a model is not ergodic",
		Long:  structureHelp,
		Example: `  rlrun mdp structure --env riverswim --policy uniform
  rlrun mdp structure --env doubleloop
  rlrun mdp structure --model model.json --json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.answer(app, cmd, func(p *process) (answer, error) { return p.connections(far) })
		},
	}
	f.add(app, cmd)
	cmd.Flags().BoolVar(&far, "diameter", false, fmt.Sprintf("also compute the diameter of models of more than %d states, up to 2000; this takes minutes", diameterStates))
	f.addOutput(cmd, "")
	return cmd
}

func (p *process) connections(far bool) (*connections, error) {
	c, err := mdp.Induce(p.model, p.policy)
	if err != nil {
		return nil, refused(err)
	}
	q := &connections{process: p, model: mdp.ModelStructure(p.model), chain: c.Structure()}
	for _, check := range []struct {
		of  string
		err error
	}{
		{"model", q.model.RequireWeaklyCommunicating()}, {"model", q.model.RequireCommunicating()},
		{"chain", q.chain.RequireUnichain()}, {"chain", q.chain.RequireIrreducible()}, {"chain", q.chain.RequireAperiodic()},
	} {
		var m *mdp.MissingError
		if errors.As(check.err, &m) {
			q.missing = append(q.missing, missing{check.of, m.Need, m.Why})
		}
	}
	if p.model.NumStates() <= 2000 {
		irreducible, state, from := q.model.EveryPolicyIrreducible()
		q.irreducible = &irreducible
		if !irreducible {
			q.missing = append(q.missing, missing{"model", "irreducible under every policy", fmt.Sprintf("one avoids state %d for ever from %s", state, stateList(from))})
		}
		if all := irreducible || q.model.Unavoidable() >= 0; all || !q.chain.Unichain() {
			q.unichain = &all
		}
	}
	if q.model.Communicating() && (far || p.model.NumStates() <= diameterStates) {
		d := diameter{}
		if d.Steps, d.From, d.To, err = mdp.Diameter(p.model); err != nil {
			return nil, refused(err)
		}
		q.diameter = &d
	}
	return q, nil
}

func (q *connections) print(w io.Writer) error {
	var t cli.Table
	yes := func(x bool) string {
		if x {
			return "yes"
		}
		return "no"
	}
	always := func(x *bool) string {
		if x == nil {
			return "not decided"
		}
		return yes(*x)
	}
	t.Row("model", "", "properties of the model:")
	t.Row("communicating", yes(q.model.Communicating()), "some policy leads from every state to every other")
	t.Row("weakly communicating", yes(q.model.WeaklyCommunicating()), "the same, ignoring states that are transient under all policies")
	t.Row("all irreducible", always(q.irreducible), "every policy leads from every state to every other")
	t.Row("all unichain", always(q.unichain), "every policy has one closed class")
	if q.diameter != nil {
		t.Row("diameter", cli.Num(q.diameter.Steps), fmt.Sprintf("expected steps from state %d to %d, the largest distance under the fastest policy", q.diameter.From, q.diameter.To))
	} else if q.model.Communicating() {
		t.Row("diameter", "not computed", fmt.Sprintf("give --diameter to compute it for more than %d states", diameterStates))
	}
	t.Gap()
	t.Row("chain", "", "properties of the policy's chain:")
	t.Row("unichain", yes(q.chain.Unichain()), "one closed class")
	t.Row("irreducible", yes(q.chain.Irreducible()), "one closed class, no transient states")
	t.Row("aperiodic", yes(q.chain.Aperiodic()), "all closed classes have period 1")
	t.Row("ergodic", yes(q.chain.Ergodic()), "irreducible and aperiodic")
	for i, class := range q.chain.Closed {
		if i == 8 {
			t.Row("", fmt.Sprint("… ", len(q.chain.Closed)), "closed classes in all")
			break
		}
		states := q.chain.Classes[class]
		t.Row("closed class", fmt.Sprint(len(states)), fmt.Sprintf("%s, period %d: %s", cli.Plural(len(states), "state", "states"), q.chain.Period[class], stateList(states)))
	}
	if transient := q.transient(); len(transient) > 0 {
		t.Row("transient", fmt.Sprint(len(transient)), fmt.Sprintf("%s: %s", cli.Plural(len(transient), "state", "states"), stateList(transient)))
	}
	fmt.Fprintf(w, "%s\n%s", q.head(), t.Text(cli.Width(w)))
	for i, m := range q.missing {
		if i == 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "The %s is not %s: %s.\n", m.Of, m.Property, m.Why)
	}
	return nil
}

func (q *connections) transient() []int {
	out := []int{}
	for s := range q.chain.Phase {
		if !q.chain.Recurrent(s) {
			out = append(out, s)
		}
	}
	return out
}

func (q *connections) json() map[string]any {
	closed := []map[string]any{}
	for _, class := range q.chain.Closed {
		closed = append(closed, map[string]any{"states": q.chain.Classes[class], "period": q.chain.Period[class]})
	}
	out := q.process.json()
	out["communicating"], out["weakly_communicating"] = q.model.Communicating(), q.model.WeaklyCommunicating()
	out["end_components"] = append([][]int{}, q.model.EndComponents...)
	out["every_policy_irreducible"], out["every_policy_unichain"] = q.irreducible, q.unichain
	out["diameter"] = q.diameter
	out["chain"] = map[string]any{
		"irreducible": q.chain.Irreducible(), "unichain": q.chain.Unichain(), "aperiodic": q.chain.Aperiodic(),
		"ergodic": q.chain.Ergodic(), "transient": q.transient(), "closed": closed,
	}
	out["missing"] = append([]missing{}, q.missing...)
	return out
}
