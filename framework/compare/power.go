package compare

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/stat"
)

// Power says how many runs decide a difference between two agents in an environment. Its numbers
// are those of t tests at level Alpha: differences of runs are taken as normal.
type Power struct {
	Environment string        `json:"environment"`      // label
	A           string        `json:"a"`                // label
	B           string        `json:"b"`                // label
	Paired      bool          `json:"paired"`           // whether run k of A and of B meet the same draws
	Runs        int           `json:"runs"`             // of each agent in the pilot; pairs if paired
	SD          result.Number `json:"sd"`               // standard deviation of the differences; unpaired: root of the sum of both variances. NaN of fewer than two runs
	Alpha       float64       `json:"alpha"`            // level of the test, divided by the number of comparisons
	Detectable  result.Number `json:"detectable"`       // difference that the pilot's number of runs decides; NaN if it can decide none
	Difference  float64       `json:"difference"`       // that is to be decided
	Needed      int           `json:"needed,omitempty"` // runs of each agent that decide it; 0: not known
	// Cautious is Needed with the upper 80 % limit of the standard deviation in place of its
	// estimate, which is uncertain (Browne 1995).
	Cautious int `json:"cautious,omitempty"`
	// Programs is "mixed" if different programs made the runs of a directory.
	Programs string `json:"programs,omitempty"`
}

// Powers says for each comparison of Compare how many runs decide a difference with the given
// power, in (0,1) and above the level of one comparison. differences are by environment; "" is of all others. All comparisons are
// corrected for by Bonferroni's bound, which is that of Holm's first step. notes say what limits the
// numbers.
func Powers(inputs []*Input, o Config, differences map[string]float64, power float64) (out []Power, notes []string, err error) {
	if !(power > 0 && power < 1) {
		return nil, nil, fmt.Errorf("power must be in (0,1), not %v", power)
	}
	o.Margins = differences // they are checked alike
	c, pairs, err := prepare(inputs, o)
	if err != nil {
		return nil, nil, err
	}
	for _, env := range c.Environments {
		for _, p := range pairs {
			a, b := &c.Agents[p[0]], &c.Agents[p[1]]
			x, y := c.values[cell{env, p[0]}], c.values[cell{env, p[1]}]
			if x == nil || y == nil || a.input.Summary.Meta.Skips(env, a.Agent) || b.input.Summary.Meta.Skips(env, b.Agent) {
				continue
			}
			s := Power{Environment: env, A: a.Label, B: b.Label, Difference: c.margin(env)}
			if math.IsNaN(s.Difference) {
				return nil, nil, fmt.Errorf("no difference is given for %s", env)
			}
			how, err := c.pairing(env, p)
			if err != nil {
				return nil, nil, err
			}
			c.note(how.notes)
			if a.input.Summary.Mixed != "" || b.input.Summary.Mixed != "" {
				s.Programs = "mixed"
			}
			if s.Paired = how.paired; s.Paired {
				d, _, _ := pair(how.x, how.y)
				s.Runs, s.SD = len(d), result.Number(deviation(result.Level(d)))
			} else {
				s.Runs, s.SD = min(len(x.values), len(y.values)), result.Number(math.Hypot(deviation(x.values), deviation(y.values)))
			}
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		return nil, nil, errors.New("no two of these agents are run in one environment")
	}
	for i := range out {
		s := &out[i]
		if s.Alpha = o.Alpha / float64(len(out)); power <= s.Alpha {
			return nil, nil, fmt.Errorf("power %v is not above the level of a comparison, %.4g: tests decide as often where there is no difference", power, s.Alpha)
		}
		s.plan(power)
	}
	c.say()
	c.otherPrograms()
	return out, c.Notes, nil
}

func deviation(values []float64) float64 {
	return result.EstimateMean(values).StdErr * math.Sqrt(float64(len(values)))
}

// mostNeeded is the number of runs above which it is not counted any more.
const mostNeeded = 1 << 30

// plan fills in what follows from SD and Alpha.
func (s *Power) plan(power float64) {
	sd := float64(s.SD)
	s.Detectable = result.Number(s.detectable(sd, s.Runs, power))
	if math.IsNaN(sd) || sd == 0 { // runs that do not differ say nothing of those that may
		s.Detectable = result.Number(math.NaN())
		return
	}
	degrees := float64(s.Runs - 1)
	if !s.Paired {
		degrees *= 2
	}
	upper := sd * math.Sqrt(degrees/distuv.ChiSquared{K: degrees}.Quantile(0.2))
	s.Needed, s.Cautious = s.needed(sd, power), s.needed(upper, power)
}

// detectable is the difference that n runs decide.
func (s *Power) detectable(sd float64, n int, power float64) float64 {
	if n < (stat.Design{Alpha: s.Alpha}).LeastRuns() {
		return math.NaN() // sign flips decide nothing
	}
	degrees := float64(n - 1)
	if !s.Paired {
		degrees *= 2
	}
	t := distuv.StudentsT{Sigma: 1, Nu: degrees}
	return (t.Quantile(1-s.Alpha/2) + t.Quantile(power)) * sd / math.Sqrt(float64(n))
}

// needed is the least number of runs that decide Difference, 0 if it is above mostNeeded.
func (s *Power) needed(sd, power float64) int {
	decides := func(n int) bool { return s.detectable(sd, n, power) <= s.Difference }
	low, high := 1, 2 // low does not decide
	for !decides(high) {
		if low, high = high, 2*high; high > mostNeeded {
			return 0
		}
	}
	for high-low > 1 {
		if middle := (low + high) / 2; decides(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}
