package options

// Repeats repeat a random action for a random number of steps, one after the other,
// as εz-greedy does while it explores (Dabney, Ostrovski & Barreto 2021). They are
// uninformed, and tables value them like Uniform.
var Repeats Kind = repeatsKind{}

type repeatsKind struct{}

func (repeatsKind) String() string { return "repeats" }

func (repeatsKind) Doc() string {
	return "random actions, each repeated for a random number of steps (εz-greedy)"
}

func (k repeatsKind) FromModels(b *Belief) error {
	c, err := newRepeats(b.MeanModel.NumActions(), b.Exponent, b.Longest, b.RevealProbability)
	if err == nil {
		b.Uninformed(c)
	}
	return err
}

// Of tables, the exponent of the durations is that of Dabney, Ostrovski & Barreto
// (2021); both are the defaults of ReduceConfig.
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

// newRepeats returns the candidate of repeating random actions, each for a
// number of steps n with probability proportional to n^−exponent, n ≤ longest.
func newRepeats(actions int, exponent float64, longest int, reveal float64) (Candidate, error) {
	c := Candidate{Arm: Arm{Name: Repeats.String(), Class: Uninformed, RevealProbability: reveal}}
	for a := range actions {
		o, err := newRepeat(a, exponent, longest)
		if err != nil {
			return c, err
		}
		c.repeats = append(c.repeats, o)
	}
	return c, nil
}
