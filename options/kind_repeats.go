package options

// Repeats repeat a random action for a random number of steps, one after the other,
// as εz-greedy does while it explores (Dabney, Ostrovski & Barreto 2021). They are
// uninformed, and tables value them like Uniform.
var Repeats Kind = repeatsKind{named: named{"repeats", "random actions, each repeated for a random number of steps (εz-greedy)"}}

type repeatsKind struct {
	named
	uninformed
}

func (k repeatsKind) FromModels(b *Belief) error {
	b.Uninformed(newRepeats(b.MeanModel.NumActions(), repeatLongest))
	return nil
}

// An action is repeated for n ≤ repeatLongest steps with a probability in proportion to
// n^−repeatExponent, the exponent of Dabney, Ostrovski & Barreto (2021).
const (
	repeatExponent = 2
	repeatLongest  = 100
)

func (repeatsKind) Prepare(t *Tables) error {
	t.NeedUniform()
	return nil
}

func (k repeatsKind) FromTables(t *Tables) { t.Mixed(k.String()) }

func (repeatsKind) Action(t *Tables) int {
	if t.left == 0 {
		t.following.Of, t.left = t.RNG.IntN(t.Actions()), t.duration.Uint64()+1
	}
	t.left--
	return t.following.Of
}

// newRepeats returns the candidate of repeating random actions for up to longest steps.
func newRepeats(actions, longest int) Candidate {
	c := Candidate{Arm: Arm{Name: Repeats.String()}}
	for a := range actions {
		c.repeats = append(c.repeats, newRepeat(a, repeatExponent, longest))
	}
	return c
}
