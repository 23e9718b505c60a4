package mdpcmd

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rlrun/rlrun/mdp"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/host"
)

const solveHelp = `Solve a finite model: the optimal policy by the criterion with its value, or the
value of a given policy.

For the average: the gain (reward per step for ever), and the bias (the extra value
of starting in a state). Otherwise: the value of each state.

--plot draws the value, the policy, and the visits to each cell for tasks on a grid.
For other tasks it draws value and visits over the states.

Model, criterion and policy: rlrun mdp --help.

--json:` + mdpKeys + `
  policy               the action of each state, or the probabilities of all
  gain, bias           by state, for the average
  value                by state, for the other criteria
  start                gain or value from the start
  bound                greatest possible distance of gain or value from the optimum
                       in any state; null: not computed
  improvements, sweeps of the solver; absent if the policy was given
  stationary           share of each state in the long run; null if that depends
                       on the start, or with --horizon`

// solution is the worth of a policy.
type solution struct {
	*process
	value      []float64 // or bias
	gain       []float64 // nil unless the average is asked for
	stationary []float64 // nil if not unique
}

func newSolve(app *host.App) *cobra.Command {
	var f mdpFlags
	cmd := &cobra.Command{
		Use:   "solve (--model FILE | --env NAME)",
		Short: "Compute the optimal policy and its value",
		Long:  solveHelp,
		Example: `  rlrun mdp solve --env riverswim
  rlrun mdp solve --env frozenlake --param size=8 --gamma 0.99 --plot lake.svg
  rlrun mdp solve --model model.json --policy uniform --json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.answer(app, cmd, func(p *process) (answer, error) { return p.evaluate() })
		},
	}
	f.add(app, cmd)
	f.addOutput(cmd, "draw value, policy and visits to `FILE` (.svg, .png, .pdf)")
	return cmd
}

// evaluate finds what the policy is worth by the criterion.
func (p *process) evaluate() (*solution, error) {
	q := &solution{process: p}
	c, err := mdp.Induce(p.model, p.policy)
	if err != nil {
		return nil, refused(err)
	}
	switch s := p.solution; {
	case s != nil && s.Value != nil:
		q.value = s.Value
	case s != nil:
		q.gain, q.value = s.Gain, s.Bias
	case p.gamma != nil:
		q.value, err = c.EvaluateDiscounted(*p.gamma)
	case p.horizon != nil:
		q.value = c.EvaluateFinite(*p.horizon)
	default:
		q.gain, q.value, err = c.EvaluateAverage()
	}
	if err != nil {
		return nil, refused(err)
	}
	if slices.ContainsFunc(slices.Concat(q.gain, q.value), func(x float64) bool { return x-x != 0 }) {
		return nil, cli.Usagef("the values are too large for numbers of 64 bits: divide the rewards of the model by a constant")
	}
	if p.horizon != nil && p.solution != nil {
		return q, nil // the policy changes as the end comes near
	}
	mu, _, err := c.Stationary()
	var missing *mdp.MissingError
	if err == nil || errors.Is(err, mdp.ErrNotConverged) {
		q.stationary = mu
	} else if !errors.As(err, &missing) {
		return nil, err
	}
	return q, nil
}

// criterion in words.
func (p *process) criterion() string {
	switch {
	case p.gamma != nil:
		return fmt.Sprintf("reward discounted with γ = %s", cli.Given(*p.gamma))
	case p.horizon != nil:
		return fmt.Sprintf("sum of the next %d rewards", *p.horizon)
	}
	return "average reward per step"
}

// head says what the model is.
func (p *process) head() string {
	m := p.model
	text := fmt.Sprintf("%s: %d %s, %d %s, %d %s", p.label, m.NumStates(), cli.Plural(m.NumStates(), "state", "states"),
		m.NumActions(), cli.Plural(m.NumActions(), "action", "actions"), m.NumTransitions(), cli.Plural(m.NumTransitions(), "transition", "transitions"))
	switch {
	case p.restart:
		text += "; episodes follow each other"
	case m.HasTerminal():
		text += "; episodes end"
	}
	if p.solution != nil {
		return text + ".\nOptimal policy, " + p.criterion() + ".\n"
	}
	return text + ".\nPolicy " + p.policyName + ", " + p.criterion() + ".\n"
}

// rowsOf is of how many states tables have a row: all, or the first.
func rowsOf(states int) int {
	if states <= 32 {
		return states
	}
	return 10
}

func (q *solution) print(w io.Writer) error {
	var t cli.Table
	low, high := extremes(q.value)
	if q.gain != nil {
		if a, b := extremes(q.gain); b-a > 1e-9*max(1, math.Abs(b)) {
			t.Row("gain", cli.Num(q.start(q.gain)), fmt.Sprintf("reward per step from the start; by state %s to %s", cli.Num(a), cli.Num(b)))
		} else {
			t.Row("gain", cli.Num(q.gain[0]), "reward per step in the long run, from every state")
		}
		t.Row("span", cli.Num(high-low), "largest difference of the bias h between two states")
	} else {
		t.Row("start", cli.Num(q.start(q.value)), "value from the start")
		t.Row("values", cli.Num(low)+" to "+cli.Num(high), "least and greatest of all states")
	}
	if s := q.solution; s != nil && s.Bound < math.Inf(1) {
		work := fmt.Sprintf("%d %s", s.Sweeps, cli.Plural(s.Sweeps, "sweep", "sweeps"))
		if s.Improvements > 0 {
			work = fmt.Sprintf("%d policy %s", s.Improvements, cli.Plural(s.Improvements, "improvement", "improvements"))
		}
		t.Row("error", fmt.Sprintf("≤ %.0e", math.Pow(10, math.Ceil(math.Log10(max(s.Bound, 1e-16))))), "certified; "+work)
	}
	fmt.Fprintf(w, "%s\n%s\n", q.head(), t.Text(cli.Width(w)))
	if text, ok := q.map_(); ok {
		_, err := fmt.Fprint(w, text)
		return err
	}
	name := "value"
	if q.gain != nil {
		name = "bias"
	}
	rows := [][]string{{"state", "action", name, "visits"}}
	for s := range rowsOf(q.model.NumStates()) {
		row := []string{fmt.Sprint(s), q.does(s), cli.Num(q.value[s]), ""}
		if q.stationary != nil {
			row[3] = cli.Num(q.stationary[s])
		}
		rows = append(rows, row)
	}
	_, err := fmt.Fprint(w, cli.Columns(rows, cli.Width(w))+more(q.model.NumStates()))
	return err
}

// more says that a table does not list all states.
func more(states int) string {
	if rest := states - rowsOf(states); rest > 0 {
		return fmt.Sprintf("  … and %d more states; --json has them all\n", rest)
	}
	return ""
}

func extremes(x []float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, v := range x {
		low, high = min(low, v), max(high, v)
	}
	return low, high
}

// does says what the policy does in a state.
func (p *process) does(s int) string {
	if a := p.taken(s); a >= 0 {
		return p.actions[a]
	}
	var parts []string
	for a, x := range p.distribution(s) {
		if x > 0 && len(parts) < 4 {
			parts = append(parts, fmt.Sprintf("%s %.3g", p.actions[a], x))
		}
	}
	return strings.Join(parts, ", ")
}

// arrows are signs for actions that move on a map.
var arrows = map[string]string{"up": "↑", "down": "↓", "left": "←", "right": "→"}

// sign is a character for what the policy does in a state, or "".
func (p *process) sign(s int) string {
	a := p.taken(s)
	if a < 0 || p.over[s] {
		return ""
	}
	return arrows[p.actions[a]]
}

// map_ draws the policy on the map, for deterministic policies that move and
// maps with one state a cell.
func (q *solution) map_() (string, bool) {
	l := q.layout
	if l == nil || l.Cols > 60 || l.Rows > 60 {
		return "", false
	}
	cells := make([]string, l.Rows*l.Cols)
	for s, cell := range l.Cell {
		if cell < 0 {
			continue
		}
		sign := q.sign(s)
		switch {
		case cells[cell] != "":
			return "", false
		case q.over[s]:
			sign = "·"
		case sign == "":
			return "", false
		}
		cells[cell] = sign
	}
	var b strings.Builder
	for i, sign := range cells {
		if i%l.Cols == 0 {
			b.WriteString("  ")
		}
		switch {
		case l.Wall[i]:
			sign = "█"
		case sign == "":
			sign = " "
		}
		b.WriteString(sign)
		if i%l.Cols == l.Cols-1 {
			b.WriteString("\n")
		}
	}
	return b.String() + "\n  (█ wall, · end of an episode; --json and --plot have the values)\n", true
}

func (q *solution) json() map[string]any {
	out := q.process.json()
	out["policy"] = q.policyJSON()
	out["start"], out["bound"] = q.start(q.value), nil
	if q.gain != nil {
		out["gain"], out["bias"], out["start"] = q.gain, q.value, q.start(q.gain)
	} else {
		out["value"] = q.value
	}
	if s := q.solution; s != nil {
		out["bound"], out["improvements"], out["sweeps"] = cli.Number(s.Bound), s.Improvements, s.Sweeps
	}
	out["stationary"] = q.stationary
	return out
}

// json is what the answers of all commands begin with.
func (p *process) json() map[string]any {
	terminal := []int{}
	for s, over := range p.over {
		if over {
			terminal = append(terminal, s)
		}
	}
	out := map[string]any{
		"model": map[string]any{
			"name": p.label, "description": p.model.Description(), "states": p.model.NumStates(), "actions": p.model.NumActions(),
			"action_names": p.actions, "transitions": p.model.NumTransitions(), "terminal": terminal, "restarting": p.restart,
		},
		"criterion": "average", "policy_name": p.policyName,
	}
	switch {
	case p.gamma != nil:
		out["criterion"], out["gamma"] = "discounted", *p.gamma
	case p.horizon != nil:
		out["criterion"], out["horizon"] = "horizon", *p.horizon
	}
	return out
}

func (p *process) policyJSON() any {
	if d, ok := p.policy.(mdp.Deterministic); ok {
		return d
	}
	rows := make([][]float64, p.model.NumStates())
	for s := range rows {
		rows[s] = p.distribution(s)
	}
	return rows
}
