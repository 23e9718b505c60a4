package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rlrun/rlrun/framework/loop"
	"github.com/rlrun/rlrun/framework/metric"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/internal/spelling"
)

// Compile fills in the defaults of a config, expands its sweeps and checks what
// a schema cannot. Its errors say which key is wrong and what is allowed.
func Compile(cfg Config) (*Plan, error) {
	if cfg.Runs < 1 {
		return nil, FieldErrorf("runs", "must be at least 1, not %d", cfg.Runs)
	}
	if cfg.Steps < 0 || cfg.Steps == 0 && cfg.Evaluate == nil {
		return nil, FieldErrorf("steps", "must be at least 1, not %d", cfg.Steps)
	}
	switch {
	case cfg.Episodes < 0:
		return nil, FieldErrorf("episodes", "must be at least 1, not %d", cfg.Episodes)
	case cfg.Episodes > 0 && cfg.Steps == 0:
		return nil, FieldErrorf("episodes", "has no effect with steps: 0, as agents do not learn: leave it out, or give the most steps that a run may make")
	case cfg.Episodes > cfg.Steps:
		return nil, FieldErrorf("episodes", "is %d, and an episode has at least one step: give steps, the most that a run may make, of %[1]d or more", cfg.Episodes)
	}
	if cfg.Tune != nil {
		return nil, FieldErrorf("tune", "has no effect here: rlrun tune searches for settings, and its result is a config without this key")
	}
	if cfg.Name == "" {
		cfg.Name = "experiment"
	}
	if cfg.Seed == nil {
		cfg.Seed = new(uint64(1))
	}
	if d := cfg.MetricDiscount(); !(d >= 0 && d <= 1) {
		return nil, FieldErrorf("discount", "must be in [0,1], not %v", d)
	}
	if cfg.Output == "" {
		cfg.Output = "results/" + result.Slug(cfg.Name)
	}
	if strings.HasPrefix(cfg.Output, "~/") {
		return nil, FieldErrorf("output", "is %q, and no shell has replaced ~: write the whole path", cfg.Output)
	}
	if len(cfg.Record.Metrics) == 0 {
		cfg.Record.Metrics = everyMetric()
	}
	if cfg.Episodes > 0 && !slices.Contains(cfg.Record.Metrics, result.StepsMade) {
		cfg.Record.Metrics = append(slices.Clip(cfg.Record.Metrics), result.StepsMade)
	}
	for i, m := range cfg.Record.Metrics {
		if err := cfg.recordable(m); err != nil {
			return nil, At(err, "record", "metrics", i)
		}
	}
	if cfg.Record.Decisions == nil {
		cfg.Record.Decisions = new(defaultDecisions)
	}
	if err := cfg.compileSaving(); err != nil {
		return nil, err
	}
	for i, m := range cfg.Report.Metrics {
		err := knownMetric(m)
		if err == nil {
			err = cfg.Record.has(m)
		}
		if err != nil {
			return nil, At(err, "report", "metrics", i)
		}
	}
	p := &Plan{Config: cfg}
	var err error
	if p.Grid, err = cfg.Record.grid(cfg.Budget(), cfg.Unit()); err != nil {
		return nil, At(err, "record")
	}
	variants, agentVariants := cfg.Variants() // counted before they are made
	pairs := variants * agentVariants
	if pairs > mostPairs {
		return nil, fmt.Errorf("the config makes %.0f pairs of environment and agent, and an experiment has at most %.0f: sweep over fewer values", pairs, float64(mostPairs))
	}
	if n := float64(cfg.Runs) * float64(len(p.Grid)) * pairs; n > mostKept {
		return nil, fmt.Errorf("%d runs with %d points of %.0f pairs of environment and agent are %.3g points, at most %.3g can be kept: make fewer runs, or record at fewer points", cfg.Runs, len(p.Grid), pairs, n, float64(mostKept))
	}
	if p.Environments, p.EnvironmentEntries, err = expand(EnvironmentsKey, cfg.Environments); err != nil {
		return nil, err
	}
	if p.Agents, p.AgentEntries, err = expand(AgentsKey, cfg.Agents); err != nil {
		return nil, err
	}
	for i, c := range p.Agents {
		if cfg.Steps == 0 && c.WarmStart == nil {
			return nil, At(errors.New("is missing: with steps: 0 agents do not learn, so each needs one to begin with"), AgentsKey, p.AgentEntries[i], "warm_start")
		}
	}
	for e := range p.Environments {
		for a := range p.Agents {
			p.Cells = append(p.Cells, Cell{e, a})
		}
	}
	if err := p.checkNames(); err != nil {
		return nil, err
	}
	if err := p.compare(); err != nil {
		return nil, err
	}
	return p, p.checkEffects()
}

// What fits in memory: a point is 8 bytes a metric, and a report has those of all runs
// before it.
const (
	mostPairs  = 10_000_000
	mostPoints = 1_000_000 // of a run
	mostKept   = 500_000_000
)

// Unit is what Budget counts, in the plural.
func (c *Config) Unit() string {
	if c.Episodes > 0 {
		return "episodes"
	}
	return "steps"
}

func (r *Recording) grid(budget int, unit string) ([]int, error) {
	if budget == 0 {
		return []int{0}, nil
	}
	points := 200
	if r.Points > 0 {
		points = r.Points
	}
	every := 10
	if r.Every > 0 {
		every = r.Every
	}
	if r.Every > 0 && r.Grid != "every" {
		return nil, FieldErrorf("every", "needs grid: every")
	}
	if r.Points > 0 && r.Grid != "" && r.Grid != "log" {
		return nil, FieldErrorf("points", "needs grid: log")
	}
	switch r.Grid {
	case "", "log":
		return loop.LogGrid(points, budget), nil
	case "every", "all":
		if r.Grid == "all" {
			every = 1
		}
		if n := budget / every; n > mostPoints {
			return nil, FieldErrorf("grid", "%s gives each run %d points, at most %d can be kept: record every %d %s, or use grid: log", r.Grid, n, mostPoints, (budget+mostPoints-1)/mostPoints, unit)
		}
		return loop.EveryGrid(every, budget), nil
	}
	return nil, FieldErrorf("grid", "must be log, every or all, not %q", r.Grid)
}

// knownMetric refuses a metric that is neither rlrun's own nor named as a plugin's.
func knownMetric(m result.Metric) error {
	if known := result.Metrics(); !m.OfPlugin() && !slices.Contains(known, m) {
		hint := ""
		if c := spelling.Closest(string(m), strings.Split(metric.Names(known), ", ")); c != "" {
			hint = fmt.Sprintf("did you mean %s? ", c)
		}
		return fmt.Errorf("%.80q is no metric: %sThe metrics are %s, and those of plugins, agent.NAME and environment.NAME", m, hint, metric.Names(known))
	}
	return nil
}

// expand turns a component with sweeps into one component for each combination of values,
// and makes sure that labels are distinct. For each result entries holds the index in
// list of the component that it is a variant of.
func expand(key string, list []Component) (out []Component, entries []int, err error) {
	if len(list) == 0 {
		return nil, nil, FieldErrorf(key, "is empty: name at least one")
	}
	seen := map[string]int{}
	for i, c := range list {
		if c.Plugin == "" {
			return nil, nil, At(errors.New("is missing"), key, i, "plugin")
		}
		swept, err := c.sweep()
		if err != nil {
			return nil, nil, At(err, key, i)
		}
		for _, s := range swept {
			if s.Exploration != nil {
				if key != AgentsKey {
					return nil, nil, At(errors.New("environments do not explore; it belongs to an agent"), key, i, "exploration")
				}
				if err := s.Exploration.check(); err != nil {
					return nil, nil, At(err, key, i, "exploration")
				}
			}
			if err := s.checkActors(key); err != nil {
				return nil, nil, At(err, key, i, "actors")
			}
			if s.Actors == 1 {
				s.Actors = 0
			}
			if s.WarmStart != nil && key != AgentsKey {
				return nil, nil, At(errors.New("environments learn nothing; it belongs to an agent"), key, i, "warm_start")
			}
			if strings.ContainsAny(s.Name, "\n\v\f\r\u0085\u2028\u2029") {
				return nil, nil, At(fmt.Errorf("the name %q has a line break, which tables cannot show; give it a name of one line", s.Name), key, i)
			}
			shown := spelling.Shown(s.Name)
			if j, dup := seen[shown]; dup {
				return nil, nil, At(fmt.Errorf("the name %q is taken by %s[%d], or looks like it; give each a name of its own", s.Name, key, j), key, i)
			}
			seen[shown] = i
			out, entries = append(out, s), append(entries, i)
		}
	}
	return out, entries, nil
}

// checkActors refuses several actors where there can be none.
func (c *Component) checkActors(list string) error {
	switch {
	case c.Actors < 0:
		return fmt.Errorf("must be at least 1, not %d", c.Actors)
	case c.Actors == 0:
		return nil
	case list != AgentsKey:
		return errors.New("environments do not act; it belongs to an agent")
	case c.Actors > 1 && c.Exploration != nil:
		return errors.New("needs an agent that explores in its own way: leave it out, or exploration")
	}
	return nil
}

// sets says whether parameters have a value at a path.
func sets(params json.RawMessage, path []string) bool {
	for _, key := range path {
		var inside map[string]json.RawMessage
		if json.Unmarshal(params, &inside) != nil || inside[key] == nil {
			return false
		}
		params = inside[key]
	}
	return true
}

// sweep returns the component once a combination of its swept values, the last
// key (in alphabetical order) changing fastest.
func (c Component) sweep() ([]Component, error) {
	keys := slices.Sorted(maps.Keys(c.Sweep))
	plain := c
	plain.Sweep = nil
	out := []Component{plain}
	for i, key := range keys {
		values := c.Sweep[key]
		if len(values) == 0 {
			return nil, At(errors.New("has no values"), "sweep", key)
		}
		if !swept.MatchString(key) {
			return nil, At(errors.New("is no path to a parameter: write it as step, policy.kind or means[0]"), "sweep", key)
		}
		first := map[string]int{}
		for i, v := range values {
			if j, dup := first[meaning(v)]; dup {
				return nil, At(fmt.Errorf("%s equals %s, the value at [%d]: leave one out", v, values[j], j), "sweep", key, i)
			}
			first[meaning(v)] = i
		}
		set, where, path := c.Params, "params", key
		if inside, ok := strings.CutPrefix(key, SweptExploration); ok {
			set, _ = json.Marshal(c.Exploration) // it was read from JSON
			where, path = "exploration", inside
		}
		if sets(set, SweptPath(path)) {
			return nil, At(fmt.Errorf("replaces what %s sets: leave it out there", where), "sweep", key)
		}
		for _, other := range keys[:i] {
			a, b := SweptPath(other), SweptPath(key)
			if n := min(len(a), len(b)); slices.Equal(a[:n], b[:n]) {
				return nil, At(fmt.Errorf("sets what %s sets as well, and one would be lost; sweep over one of them", other), "sweep", key)
			}
		}
		var next []Component
		for _, base := range out {
			for _, v := range values {
				s := base
				var err error
				if inside, ok := strings.CutPrefix(key, SweptExploration); ok {
					s.Exploration, err = base.Exploration.with(SweptPath(inside), v)
				} else {
					s.Params, err = SetParam(base.Params, SweptPath(key), v)
				}
				if err != nil {
					return nil, At(err, "sweep", key)
				}
				text := ClassOf(strings.Trim(string(v), `"`))
				switch hole := "{" + key + "}"; {
				case strings.Contains(c.Name, hole):
					s.Name = strings.ReplaceAll(base.Name, hole, text)
				case base.Name == "":
					s.Name = fmt.Sprintf("%s %s=%s", c.Label(), key, text)
				default:
					s.Name = fmt.Sprintf("%s %s=%s", base.Name, key, text)
				}
				next = append(next, s)
			}
		}
		out = next
	}
	if out[0].Name == "" {
		out[0].Name = c.Label()
	}
	if hole := holes.FindString(out[0].Name); hole != "" && strings.Contains(c.Name, hole) {
		swept := "they are " + strings.Join(keys, ", ")
		if len(keys) == 0 {
			swept = "there is none"
		}
		return nil, At(fmt.Errorf("%s stands for no key of the sweep; %s", hole, swept), "name")
	}
	return out, nil
}

// holes are the places of swept values in a name.
var holes = regexp.MustCompile(`\{[A-Za-z_][A-Za-z0-9_.]*\}`)

// longestSlug is the largest length that the names of environment and agent may have
// together in the name of a file. A name may have 255 bytes; run numbers, programs and a
// temporary suffix take up to 90.
const longestSlug = 160

// checkNames refuses names that make the names of files too long.
func (p *Plan) checkNames() error {
	longest := func(list []Component) (at int, bytes int) {
		for i, slug := range Slugs(list) {
			if len(slug) > bytes {
				at, bytes = i, len(slug)
			}
		}
		return at, bytes
	}
	e, environment := longest(p.Environments)
	a, agent := longest(p.Agents)
	if environment+agent <= longestSlug {
		return nil
	}
	list, i, name := AgentsKey, p.AgentEntries[a], p.Agents[a].Name
	if environment > agent {
		list, i, name = EnvironmentsKey, p.EnvironmentEntries[e], p.Environments[e].Name
	}
	return At(fmt.Errorf("the name %.40q… is too long for names of files: those of environment and agent may have %d bytes together, not %d; give it a shorter name",
		name, longestSlug, environment+agent), list, i)
}

// Label is the name of a component that has none.
func (c *Component) Label() string {
	if c.Exploration == nil {
		return c.Plugin
	}
	return c.Plugin + " " + c.Exploration.Label()
}

// swept are the keys of a sweep.
var swept = regexp.MustCompile(`^[^.\[\]]+(\.[^.\[\]]+|\[[0-9]+\])*$`)

// SweptPath divides a key of a sweep, such as options[1].params.k.
func SweptPath(key string) []string {
	return strings.FieldsFunc(key, func(r rune) bool { return strings.ContainsRune(".[]", r) })
}

// SetParam returns params, an object, a list or empty, with the value at path replaced, as a sweep
// does. Everything else is kept byte for byte.
func SetParam(params json.RawMessage, path []string, v json.RawMessage) (json.RawMessage, error) {
	if len(path) == 0 {
		return nil, errors.New("is no path to a parameter")
	}
	object := map[string]json.RawMessage{}
	var list []json.RawMessage
	if json.Unmarshal(params, &list) == nil && list != nil {
		i, err := strconv.Atoi(path[0])
		if err != nil || i < 0 || i >= len(list) {
			return nil, fmt.Errorf("%q is no entry of a list of %d; they count from 0", path[0], len(list))
		}
		if len(path) > 1 {
			if bytes.HasPrefix(list[i], []byte(`"`)) { // a plugin of options without params
				list[i] = slices.Concat([]byte(`{"plugin":`), list[i], []byte("}"))
			}
			if v, err = SetParam(list[i], path[1:], v); err != nil {
				return nil, err
			}
		}
		list[i] = v
		return json.Marshal(list)
	}
	if len(bytes.TrimSpace(params)) > 0 {
		if err := json.Unmarshal(params, &object); err != nil || object == nil { // null
			return nil, fmt.Errorf("%q is not inside a mapping", path[0])
		}
	}
	if len(path) > 1 {
		inner, err := SetParam(object[path[0]], path[1:], v)
		if err != nil {
			return nil, err
		}
		v = inner
	}
	object[path[0]] = v
	return json.Marshal(object)
}
