package result

// vainRow is the number of decisions in a row that is looked at.
const vainRow = 20

// inVain reports whether a run explored without learning: in that many decisions in a row, of
// those kept, it explored in the same state with the same action, and δP, what was hoped for,
// has not fallen by a tenth from the first to the last. Where nothing but the option tells
// decisions apart, since states or actions are not Discrete, the option must be the same.
func inVain(decisions []Decision) bool {
	first := 0
	for i := range decisions {
		a, b := &decisions[first], &decisions[i]
		if !b.Explore || a.State != b.State || a.Action != b.Action || (b.State < 0 || b.Action < 0) && a.Option != b.Option {
			first = i
			if !b.Explore {
				first++
			}
			continue
		}
		if n := i + 1 - first; n >= vainRow {
			if a := &decisions[i+1-vainRow]; b.Delta*b.P >= 0.9*a.Delta*a.P && b.Delta > 0 {
				return true
			}
		}
	}
	return false
}
