package explore

import "github.com/rlrun/rlrun/options"

// promises are what trials of a run were to yield, and did. Data are expected to lower the value of
// perfect information by what they are worth (docs/theory.md §3.2).
type promises struct {
	First, Sum float64 // the first value of perfect information, and the sum of those of all trials that are over
	Fallen     float64 // by how much it fell in all of them
	Last       float64 // the value at the beginning of the trial that is not over
	Trying     bool
}

// doubt ends a trial, if there was one, and returns 1−ζ. One trial more counts than there were, which
// yielded all. Trials that raised the value, by a discovery or since the belief was wrong, yielded nothing
// and not less. Else ζ could be 0, no trial would follow, and ζ would stay 0 for the rest of the run.
func (x *promises) doubt(p *options.Problem) float64 {
	if x.Trying && len(p.Arms) > 1 {
		x.Trying = false
		left := 0.0
		for o := range p.Arms {
			if o != p.Greedy {
				left = max(left, p.PerfectInformation(o))
			}
		}
		x.Sum += x.Last
		x.Fallen += x.Last - left
	}
	if x.Sum == 0 {
		return 0
	}
	return 1 - min(1, (x.First+max(0, x.Fallen))/(x.First+x.Sum))
}

// take begins a trial, if the decision explores.
func (x *promises) take(p *options.Problem, d options.Decision) {
	if !d.Explore || d.Choice >= len(p.Arms) {
		return
	}
	x.Trying, x.Last = true, p.PerfectInformation(d.Choice)
	if x.First == 0 {
		x.First = x.Last
	}
}
