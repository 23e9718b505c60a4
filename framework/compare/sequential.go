package compare

import (
	"fmt"
	"slices"

	"github.com/rlrun/rlrun/framework/metric"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/stat"
)

// Sequential compares agents of one experiment while it runs: after every block of
// runs it tests the pairs that are open, and says which runs are still needed. Its
// answer is a function of the records in the order of blocks, and does not depend on who
// made them or when.
type Sequential struct {
	Metric       result.Metric // that is compared
	Pairs        string        // first or all
	Alpha        float64       // level of the tests, in (0,1)
	Block        int           // runs between looks
	Runs         int           // planned
	Seed         uint64        // of random sign flips
	Environments []string      // labels
	Agents       []string      // labels, in the order of the config
	// Skips says whether an agent is not run in an environment, by their labels, as it is
	// not made for it. Nil: none is.
	Skips func(environment, agent string) bool
}

// Progress is one comparison of a sequential test: A minus B in an environment.
type Progress struct {
	Environment string // label
	A, B        string // labels
	stat.Verdict
	Dropped int    // pairs left out because a run failed or has no value
	Better  string // "" if not decided
	blocks  int    // that are complete for both agents
}

// Open tells whether more runs are needed.
func (p *Progress) Open() bool { return p.Decision == stat.Open }

// String says the comparison in words.
func (p *Progress) String() string {
	switch {
	case p.Better != "":
		worse := p.A
		if worse == p.Better {
			worse = p.B
		}
		return fmt.Sprintf("%s: %s is better than %s (decided after %s)", p.Environment, p.Better, worse, p.pairs())
	case p.Open():
		return fmt.Sprintf("%s: %s against %s is open after %s", p.Environment, p.A, p.B, p.pairs())
	}
	return fmt.Sprintf("%s: %s against %s is not decided by all %s", p.Environment, p.A, p.B, p.pairs())
}

func (p *Progress) pairs() string {
	text := fmt.Sprintf("%d runs", p.Runs())
	if p.Dropped > 0 {
		text += fmt.Sprintf("; %d left out, as a run failed or has no value", p.Dropped)
	}
	return text
}

// pairs are indices of agents, A and B, in the order of Compare.
func (s *Sequential) pairs() (out [][2]int) {
	for j := range s.Agents {
		if j > 0 && s.Pairs != "all" {
			break
		}
		for i := j + 1; i < len(s.Agents); i++ {
			out = append(out, [2]int{i, j})
		}
	}
	return out
}

// Compares tells whether it compares agents in an environment.
func (s *Sequential) Compares(environment string) bool { return len(s.compared(environment)) > 0 }

// compared are the pairs that can be compared in an environment.
func (s *Sequential) compared(environment string) [][2]int {
	return slices.DeleteFunc(s.pairs(), func(pair [2]int) bool { return s.skips(environment, pair[0]) || s.skips(environment, pair[1]) })
}

func (s *Sequential) skips(environment string, agent int) bool {
	return s.Skips != nil && s.Skips(environment, s.Agents[agent])
}

// design is that of one comparison: the level is shared out among all.
func (s *Sequential) design() stat.Design {
	m := max(1, len(s.Environments)*len(s.pairs()))
	return stat.Design{Runs: s.Runs, Block: s.Block, Alpha: s.Alpha / float64(m)}
}

// Check refuses a test that can never decide, and names the least number of runs.
func (s *Sequential) Check() error {
	if !s.Metric.OfPlugin() { // its plugin is not known yet
		if err := CheckMetric(metric.Define(s.Metric)); err != nil {
			return err
		}
	}
	switch {
	case len(s.Agents) < 2:
		return fmt.Errorf("a comparison needs two agents")
	case s.Pairs != "first" && s.Pairs != "all":
		return fmt.Errorf("pairs must be first or all, not %q", s.Pairs)
	case !(s.Alpha > 0 && s.Alpha < 1):
		return fmt.Errorf("alpha must be in (0,1), not %v", s.Alpha)
	}
	return s.design().Check()
}

// Decide looks at what is recorded. recorded has the runs with a record, ok or
// failed; values are those of the summary.
func (s *Sequential) Decide(summary *result.Summary, recorded map[result.Key]bool) []Progress {
	lower := summary.Meta.Define(s.Metric).Better == metric.Lower
	design := s.design()
	var out []Progress
	for _, env := range s.Environments {
		rounding := result.RoundingOf(&summary.Meta, env, s.Metric)
		values, programs := make([]map[int]float64, len(s.Agents)), make([]result.Spans, len(s.Agents))
		complete := make([]int, len(s.Agents)) // blocks
		for i, agent := range s.Agents {
			values[i] = map[int]float64{}
			if row := summary.Row(env, agent, s.Metric); row != nil {
				programs[i] = row.Programs
				for k, run := range row.Runs {
					values[i][run] = row.Values[k]
				}
			}
			run := 0
			for run < s.Runs && recorded[result.Key{Environment: env, Agent: agent, Run: run}] {
				run++
			}
			if complete[i] = run / s.Block; run == s.Runs {
				complete[i] = design.Looks()
			}
		}
		for _, pair := range s.compared(env) {
			a, b := pair[0], pair[1]
			p := Progress{Environment: env, A: s.Agents[a], B: s.Agents[b], blocks: min(complete[a], complete[b])}
			var blocks [][]float64
			for k := range p.blocks {
				var block []float64
				for run := k * s.Block; run < min((k+1)*s.Block, s.Runs); run++ {
					x, hasX := values[a][run]
					y, hasY := values[b][run]
					switch {
					case programs[a].In(run) != programs[b].In(run): // no pair
					case hasX && hasY:
						block = append(block, rounding.Of(x).Minus(rounding.Of(y)).Value)
					}
				}
				blocks = append(blocks, block)
			}
			source := seed.NewSource(s.Seed, fmt.Sprintf("sequential %q %q %q %q", env, p.A, p.B, s.Metric))
			p.Verdict = design.Test(blocks, source.Seed(0, seed.Statistics, 0))
			p.Dropped = min(len(p.Looks)*s.Block, s.Runs) - p.Runs()
			switch {
			case p.Decision == stat.Larger && !lower, p.Decision == stat.Smaller && lower:
				p.Better = p.A
			case p.Decision == stat.Larger, p.Decision == stat.Smaller:
				p.Better = p.B
			}
			out = append(out, p)
		}
	}
	return out
}

// Needed returns the number of runs that each agent needs next in an environment, by
// label. It is 0 if all comparisons of the agent are decided. Otherwise it reaches
// the end of the next block of its open comparisons. An agent that is compared with no
// other one there needs all runs until they are recorded.
func (s *Sequential) Needed(progress []Progress, recorded map[result.Key]bool) map[result.Key]int {
	out := map[result.Key]int{}
	for i := range progress {
		p := &progress[i]
		if !p.Open() {
			continue
		}
		for _, agent := range []string{p.A, p.B} {
			key := result.Key{Environment: p.Environment, Agent: agent}
			out[key] = max(out[key], min((p.blocks+1)*s.Block, s.Runs))
		}
	}
	for _, env := range s.Environments {
		pairs := s.compared(env)
		for i, agent := range s.Agents {
			alone := !slices.ContainsFunc(pairs, func(pair [2]int) bool { return pair[0] == i || pair[1] == i })
			if !alone || s.skips(env, i) {
				continue
			}
			key := result.Key{Environment: env, Agent: agent}
			for run := range s.Runs {
				if !recorded[result.Key{Environment: env, Agent: agent, Run: run}] {
					out[key] = s.Runs
					break
				}
			}
		}
	}
	return out
}

// Looked tells whether any comparison was tested.
func Looked(progress []Progress) bool {
	return slices.ContainsFunc(progress, func(p Progress) bool { return len(p.Looks) > 0 })
}
