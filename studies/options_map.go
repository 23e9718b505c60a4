package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rlrun/rlrun/framework/output/plots"
	"github.com/rlrun/rlrun/framework/stat"
	"github.com/rlrun/rlrun/plugins/families"
)

// mapRules and mapOptions are the rules and the kinds of options that the study options-map crosses.
var (
	mapRules = []way{
		{"posterior sampling", map[string]any{"rule": "posterior-sampling"}},
		{"Algorithm 1", map[string]any{"rule": "optimistic"}},
		{"Algorithm 2", map[string]any{"rule": "optimistic-stochastic"}},
		{"pairwise V", map[string]any{"rule": "common-model", "bound": "V"}},
		{"index U", map[string]any{"rule": "index"}},
		{"VPI", map[string]any{"rule": "vpi"}},
		{"UCB1 on options", map[string]any{"rule": "upper-confidence"}},
	}
	mapOptions = []string{"drawn-member", "members", "constants", "uniform", "count-bonus", "nearest-unknown"}
)

// mapGroups are the kinds of tasks by what exploring needs or costs there. They were made before any run.
var mapGroups = []struct {
	name  string
	kinds []string
}{
	{"bandits", []string{"low-bandit"}},
	{"dense", []string{"garnet-dense", "garnet-sparse", "queue", "inventory"}},
	{"far rewards", []string{"river", "lock", "grid", "goals", "rings", "rare", "sea"}},
	{"traps and costs", []string{"trap-short", "trap-long", "cost", "pits"}},
}

// mapWays are the ways of the study options, and then every rule with every kind of options.
func mapWays() []way {
	ways := slices.Clone(optionWays)
	for _, r := range mapRules {
		for _, k := range mapOptions {
			ways = append(ways, r.offering(k))
		}
	}
	return ways
}

// fewMapWays are the ways of options-map that bootstrap-q takes at 10,000 steps. All 42 would take most
// of an hour of one core. One rule draws and two select. Each has the best kind of options, the second
// best, and the kind that the paper proposes. They were chosen before any run of that length.
func fewMapWays() []way {
	ways := slices.Clone(optionWays)
	for _, r := range mapRules {
		if slices.Contains([]string{"posterior sampling", "Algorithm 1", "pairwise V"}, r.name) {
			for _, k := range []string{"drawn-member", "members", "uniform"} {
				ways = append(ways, r.offering(k))
			}
		}
	}
	return ways
}

// mapTasks are two tasks of each family. First come those of the first seed.
func mapTasks() ([]task, error) {
	first, err := optionFamilies(families.Test, 84, 1)()
	if err != nil {
		return nil, err
	}
	second, err := optionFamilies(families.Test, 85, 1)()
	return append(first, second...), err
}

// optionsMap prints what each rule and each kind of options is better than the learner on its own, and
// what it is worth to choose them by the group of a task.
func optionsMap(s *study) error {
	boards, err := s.optionBoards()
	if err != nil {
		return err
	}
	for _, b := range boards {
		fmt.Fprintf(s.w, "`%s`, %d steps:\n\n", b.learner, s.Meta.Steps)
		s.mapEffects(b.kinds, b.scores, b.shares)
		s.mapCells(b.scores)
		s.mapValue(b.kinds, b.scores)
		if err := s.mapFigure(b.learner, b.scores, b.shares); err != nil {
			return err
		}
	}
	return nil
}

// mapFigure draws what each way is better than the learner on its own, over its share of exploratory steps.
func (s *study) mapFigure(learner string, scores []stat.Scores, shares []float64) error {
	figure := plots.Figure{Title: learner + ": every rule with every kind of options", XLabel: "exploratory share of the steps (%)",
		YLabel: "score less that of the learner on its own", Levels: []plots.Level{{Label: "on its own", Y: 0}}}
	for o, name := range mapOptions {
		line := plots.Line{Label: name, Points: true}
		for _, way := range crossed(-1, o) {
			line.X = append(line.X, 100*shares[way])
			line.Y = append(line.Y, 100*stat.Mean(slices.Concat(minus(scores[way], scores[0])...)))
		}
		figure.Lines = append(figure.Lines, line)
	}
	return s.figure(learner, &figure)
}

// crossed returns the numbers of the ways of a rule and a kind of options; −1 is all of them.
func crossed(rule, option int) (ways []int) {
	for r := range mapRules {
		for o := range mapOptions {
			if (rule < 0 || r == rule) && (option < 0 || o == option) {
				ways = append(ways, len(optionWays)+r*len(mapOptions)+o)
			}
		}
	}
	return ways
}

// meanOver returns the mean over ways of the score of each task.
func meanOver(scores []stat.Scores, ways []int) stat.Scores {
	mean := make(stat.Scores, len(scores[0]))
	for k := range mean {
		mean[k] = make([]float64, len(scores[0][k]))
		for _, w := range ways {
			for i, y := range scores[w][k] {
				mean[k][i] += y / float64(len(ways))
			}
		}
	}
	return mean
}

// ofGroup returns the scores of the kinds of tasks in a group.
func ofGroup(scores stat.Scores, kinds []string, group int) (out stat.Scores) {
	for k, xs := range scores {
		if slices.Contains(mapGroups[group].kinds, kinds[k]) {
			out = append(out, xs)
		}
	}
	return out
}

// wayMean is a row of a table: the mean over some ways.
type wayMean struct {
	name string
	ways []int
}

// mapEffects prints the mean of each rule over the kinds of options, and of each kind over the rules.
func (s *study) mapEffects(kinds []string, scores []stat.Scores, shares []float64) {
	var rules, options []wayMean
	for i, w := range optionWays[1:] {
		rules = append(rules, wayMean{w.name, []int{i + 1}})
	}
	for r, w := range mapRules {
		rules = append(rules, wayMean{w.name, crossed(r, -1)})
	}
	for o, name := range mapOptions {
		options = append(options, wayMean{name, crossed(-1, o)})
	}
	s.effectsTable("rule, mean over kinds of options", rules, kinds, scores, shares)
	s.effectsTable("kind of options, mean over rules", options, kinds, scores, shares)
}

// effectsTable prints scores, and their differences from the learner on its own, over all tasks and by group.
func (s *study) effectsTable(title string, rows []wayMean, kinds []string, scores []stat.Scores, shares []float64) {
	var ps []float64
	var out [][]string
	for _, r := range rows {
		mean, share := meanOver(scores, r.ways), 0.0
		for _, w := range r.ways {
			share += shares[w] / float64(len(r.ways))
		}
		d := minus(mean, scores[0])
		plain := stratified(stat.Scores{slices.Concat(d...)})
		ps = append(ps, plain.P)
		line := []string{r.name, percent(stratified(stat.Scores{slices.Concat(mean...)})), percent(plain), "", fmt.Sprintf("%.0f %%", 100*share)}
		for g := range mapGroups {
			line = append(line, points(stat.Mean(slices.Concat(ofGroup(d, kinds, g)...))))
		}
		out = append(out, line)
	}
	for i, p := range stat.Holm(ps) {
		out[i][3] = fmt.Sprintf("%.2g", p)
	}
	head := []string{title, "score", "difference", "p, Holm", "exploratory"}
	for _, g := range mapGroups {
		head = append(head, g.name)
	}
	s.table(head, out)
}

// literatureWays are the ways of the study options, then two rules with three kinds of options, and four
// kinds of options with three rules. None is in the study options-map.
func literatureWays() []way {
	ways := slices.Clone(optionWays)
	for _, rule := range []string{"information-directed", "knowledge-gradient"} {
		for _, kind := range []string{"drawn-member", "members", "nearest-unknown"} {
			ways = append(ways, way{rule, map[string]any{"rule": rule}}.offering(kind))
		}
	}
	for _, kind := range []string{"information-gain", "successor-counts", "action-repeats", "random-policies"} {
		for _, r := range mapRules {
			if slices.Contains([]string{"posterior sampling", "Algorithm 2", "pairwise V"}, r.name) {
				ways = append(ways, r.offering(kind))
			}
		}
	}
	return ways
}

// optionsLiterature prints what ways of the literature are better than the learner on its own.
func optionsLiterature(s *study) error {
	boards, err := s.optionBoards()
	if err != nil {
		return err
	}
	for _, b := range boards {
		var rows []wayMean
		for i, w := range b.ways[1:] {
			rows = append(rows, wayMean{w.name, []int{i + 1}})
		}
		s.effectsTable(b.learner, rows, b.kinds, b.scores, b.shares)
	}
	return nil
}

// mapCells prints the mean difference of every rule with every kind of options.
func (s *study) mapCells(scores []stat.Scores) {
	head := []string{"difference"}
	for _, r := range mapRules {
		head = append(head, r.name)
	}
	var rows [][]string
	for o, name := range mapOptions {
		line := []string{name}
		for r := range mapRules {
			line = append(line, points(stat.Mean(slices.Concat(minus(scores[crossed(r, o)[0]], scores[0])...))))
		}
		rows = append(rows, line)
	}
	s.table(head, rows)
}

// bestWay returns the rule and the kind of options of the largest mean in one task of each of some kinds.
// Their effects are added up, since a way has one run of a task only.
func bestWay(scores []stat.Scores, kinds []int, seed int) (rule, option int) {
	mean := func(ways []int) (sum float64) {
		m := meanOver(scores, ways)
		for _, k := range kinds {
			sum += m[k][seed]
		}
		return sum
	}
	for r := range mapRules {
		if mean(crossed(r, -1)) > mean(crossed(rule, -1)) {
			rule = r
		}
	}
	for o := range mapOptions {
		if mean(crossed(-1, o)) > mean(crossed(-1, option)) {
			option = o
		}
	}
	return rule, option
}

// mapValue prints which way is best in a group by the tasks of one seed, and what it is worth on those of the
// other seed: the value of a map that was made on other tasks.
func (s *study) mapValue(kinds []string, scores []stat.Scores) {
	all := make([]int, len(kinds))
	mapped, one := make(stat.Scores, len(kinds)), make(stat.Scores, len(kinds))
	for k := range kinds {
		all[k] = k
		mapped[k], one[k] = make([]float64, 2), make([]float64, 2)
	}
	name := func(rule, option int) string { return mapRules[rule].name + ", " + mapOptions[option] }
	var rows [][]string
	var overall []string
	for seed := range 2 {
		r, o := bestWay(scores, all, seed)
		overall = append(overall, name(r, o))
		for k := range kinds {
			one[k][1-seed] = scores[crossed(r, o)[0]][k][1-seed]
		}
	}
	for g, group := range mapGroups {
		var in []int
		for k, kind := range kinds {
			if slices.Contains(group.kinds, kind) {
				in = append(in, k)
			}
		}
		line := []string{group.name}
		for seed := range 2 {
			r, o := bestWay(scores, in, seed)
			line = append(line, name(r, o))
			for _, k := range in {
				mapped[k][1-seed] = scores[crossed(r, o)[0]][k][1-seed]
			}
		}
		for _, x := range []stat.Scores{mapped, one, scores[2], scores[0]} {
			line = append(line, points(stat.Mean(slices.Concat(ofGroup(x, kinds, g)...))))
		}
		rows = append(rows, line)
	}
	s.table([]string{"group", "best by seed 84", "best by seed 85", "map, other seed", "one way for all, other seed", "{}", "on its own"}, rows)
	compared := []struct {
		name string
		d    stat.Scores
	}{
		{"map less on its own", minus(mapped, scores[0])},
		{"map less {}", minus(mapped, scores[2])},
		{"one way for all less on its own", minus(one, scores[0])},
		{"map less one way for all", minus(mapped, one)},
	}
	var ps []float64
	rows = nil
	for _, c := range compared {
		t := stratified(stat.Scores{slices.Concat(c.d...)})
		ps = append(ps, t.P)
		rows = append(rows, []string{c.name, percent(t), ""})
	}
	for i, p := range stat.Holm(ps) {
		rows[i][2] = fmt.Sprintf("%.2g", p)
	}
	fmt.Fprintf(s.w, "One way for all: %s by seed 84, %s by seed 85.\n\n", overall[0], overall[1])
	s.table([]string{"difference on the other seed", "points", "p, Holm"}, rows)
}

// points prints a score without decimals.
func points(x float64) string { return strings.ReplaceAll(fmt.Sprintf("%.0f", 100*x), "-", "−") }
