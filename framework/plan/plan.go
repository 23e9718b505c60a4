package plan

import (
	"iter"
	"slices"
	"strings"

	"github.com/rlrun/rlrun/framework/result"
)

// Plan is a compiled config: every default filled in, every sweep expanded. It is a value
// that does not change.
type Plan struct {
	Config       Config      // resolved; Environments and Agents still hold their sweeps
	Environments []Component // with sweeps expanded, in the config's order
	Agents       []Component // with sweeps expanded, in the config's order
	Grid         []int       // steps at which curves have a point, increasing; with Config.Episodes, episodes
	Cells        []Cell      // the pairs that are run, environment by environment
	// EnvironmentEntries and AgentEntries are the entries of the config that Environments
	// and Agents are variants of, as indices into the config's lists.
	EnvironmentEntries, AgentEntries []int
}

// Cell is one environment × agent pair of a plan.
type Cell struct {
	Environment, Agent int // indices into the plan
}

// Without returns the plan without some pairs, which are named by their labels.
func (p *Plan) Without(skipped []result.Skipped) *Plan {
	less := *p
	less.Cells = slices.DeleteFunc(slices.Clone(p.Cells), func(c Cell) bool {
		key := p.Key(c)
		return slices.ContainsFunc(skipped, func(s result.Skipped) bool { return s.Environment == key.Environment && s.Agent == key.Agent })
	})
	return &less
}

// Key names run 0 of a cell.
func (p *Plan) Key(c Cell) result.Key {
	return result.Key{Environment: p.Environments[c.Environment].Name, Agent: p.Agents[c.Agent].Name}
}

// PluginNames returns what the components call their plugins.
func (p *Plan) PluginNames() (names []string) {
	for _, comp := range slices.Concat(p.Environments, p.Agents) {
		names = append(names, comp.Plugin)
		for _, part := range comp.Parts() {
			names = append(names, part.Plugin)
		}
	}
	return names
}

// Meta returns what statistics need to know of the plan.
func (p *Plan) Meta() result.Meta {
	m := result.Meta{
		Name: p.Config.Name, Description: p.Config.Description, Steps: p.Config.Steps, Episodes: p.Config.Episodes, Grid: p.Grid,
		Discount: p.Config.MetricDiscount(), Runs: p.Config.Runs, Seed: *p.Config.Seed, Recorded: p.Config.Record.Metrics, Asked: p.Config.Asked(),
		Experiments:  p.Identities(),
		Environments: Labels(p.Environments), Agents: Labels(p.Agents),
	}
	if c := p.Config.Compare; c != nil {
		m.Compared = c.Metric
	}
	for _, c := range p.Environments {
		m.EnvironmentPlugins = append(m.EnvironmentPlugins, c.CommandLine())
	}
	for _, c := range p.Agents {
		m.AgentPlugins = append(m.AgentPlugins, c.CommandLine())
	}
	return m
}

// firstNumbers returns, by environment and agent, the number of run 0 (see Shard.runs).
func (p *Plan) FirstNumbers() map[result.Key]int {
	numbers := map[result.Key]int{}
	for i, c := range p.Cells {
		numbers[p.Key(c)] = i * p.Config.Runs
	}
	return numbers
}

// Components are the environments and agents, with the key that each is under.
func (p *Plan) Components() iter.Seq2[string, Component] {
	return func(yield func(string, Component) bool) {
		for i, c := range slices.Concat(p.Environments, p.Agents) {
			key := EnvironmentsKey
			if i >= len(p.Environments) {
				key = AgentsKey
			}
			if !yield(key, c) {
				return
			}
		}
	}
}

// Component is the environment or the agent of a cell, by the key that it is under.
func (p *Plan) Component(key string, c Cell) Component {
	if key == EnvironmentsKey {
		return p.Environments[c.Environment]
	}
	return p.Agents[c.Agent]
}

// CommandLine is what the config says of a component's plugin, in one string.
func (c Component) CommandLine() string {
	return strings.Join(append([]string{c.Plugin}, c.Args...), " ")
}

// Labels are the names of components.
func Labels(list []Component) (names []string) {
	for _, c := range list {
		names = append(names, c.Name)
	}
	return names
}

// Slugs names components in names of files.
func Slugs(list []Component) []string { return result.Slugs(Labels(list)) }
