package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rlrun/rlrun/framework/output/plots"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/stat"
	"github.com/rlrun/rlrun/mdp/catalog"
	"github.com/rlrun/rlrun/plugins/families"
)

// optionsStudies are the experiments in which learners explore on their own and as rules of the
// host decide: by the name of the experiment its tasks, and the ways in which each learner explores.
var optionsStudies = map[string]struct {
	tasks    func() ([]task, error)
	learners []string
	ways     []way
	runs     int
}{
	"options-development": {optionFamilies(families.Development, 400, 3), optionLearners, optionWays, 1},
	"options-fewer":       {optionFamilies(families.Test, 104, 2), optionLearners, []way{optionWays[0], optionWays[2]}, 1},
	"options-literature":  {withoutManyArms(optionFamilies(families.Test, 178, 4)), optionLearners, literatureWays(), 1},
	"options-many":        {withoutManyArms(optionFamilies(families.Test, 162, 16)), optionLearners, optionWays, 1},
	"options-map":         {withoutManyArms(mapTasks), optionLearners, mapWays(), 1},
	"options-map-model":   {withoutManyArms(mapTasks), optionLearners[1:], mapWays(), 1},
	"options-map-q":       {withoutManyArms(mapTasks), optionLearners[:1], fewMapWays(), 1},
	"options-more":        {optionFamilies(families.Test, 95, 8), optionLearners, []way{optionWays[0], optionWays[2]}, 1},
	"options-one":         {optionFamilies(families.Test, 103, 1), optionLearners, []way{optionWays[0], optionWays[2]}, 1},
	"options-classic":     {withTaxi(classicTasks), optionLearners, optionWays, 3},
	"options-estimators":  {withoutManyArms(optionFamilies(families.Test, 114, 3)), optionLearners, estimatorWays(), 1},
	"options-model":       {withoutManyArms(optionFamilies(families.Test, 158, 4)), optionLearners[1:], optionWays, 1},
	"options-q":           {withoutManyArms(optionFamilies(families.Test, 158, 4)), optionLearners[:1], optionWays, 1},
	"options-network":     {withoutManyArms(optionFamilies(families.Test, 182, 2)), []string{network}, optionWays, 2},
	"options-wider":       {withoutManyArms(optionFamilies(families.Test, 152, 6)), optionLearners, optionWays, 1},
	"options-queue":       {ofKind("queue", optionFamilies(families.Test, 120, 32)), optionLearners, []way{optionWays[0], optionWays[2]}, 1},
	"proposal":            {withoutManyArms(optionFamilies(families.Test, 106, 2)), optionLearners, proposalWays(), 1},
	"proposal-classic":    {classicTasks, optionLearners, proposalWays(), 20},
}

// presentDefaults are the studies whose tables were made with the present defaults of the learners.
var presentDefaults = []string{"options-literature", "options-many", "options-model", "options-wider", "proposal-classic"}

// optionLearners are the learners of finite tasks that offer options with values in members.
var optionLearners = []string{"bootstrap-q", "bootstrap-model"}

// way is a way in which a learner explores: as the host's config says, or on its own.
type way struct {
	name   string
	config map[string]any // nil: on its own
}

// optionWays are the ways of the study options. All are compared with the first.
var optionWays = []way{
	{"on its own", nil},
	{"{rule: never}", map[string]any{"rule": "never"}},
	{"{}", map[string]any{}},
}

// offering returns the way with one kind of options.
func (w way) offering(kind string) way {
	config := maps.Clone(w.config)
	config["options"] = []string{kind}
	return way{w.name + ", " + kind, config}
}

// proposalWays are the paper's own proposal: the uniform and the greedy option, held for the mean
// of the exploration mixing times, with a discount or for the steps of the run.
func proposalWays() []way {
	ways := []way{optionWays[0], optionWays[1]}
	for i, rule := range []string{"optimistic", "optimistic-stochastic"} {
		for _, gamma := range []float64{0.9, 0.99, 0.999, 1} {
			w := way{fmt.Sprintf("Algorithm %d, γ = %v", i+1, gamma), map[string]any{
				"rule": rule, "options": []string{"uniform"}, "commitment": map[string]any{"statistic": "mean"}}}
			if gamma < 1 {
				w.config["horizon"] = map[string]any{"gamma": gamma}
			} else {
				w.name = fmt.Sprintf("Algorithm %d, steps left", i+1)
			}
			ways = append(ways, w)
		}
	}
	return ways
}

// optionFamilies returns a function that returns tasks of each family, by their first seed and
// their number.
func optionFamilies(split string, first, n uint64) func() ([]task, error) {
	return func() (tasks []task, err error) {
		for _, kind := range families.Kinds() {
			for seed := first; seed < first+n; seed++ {
				t, err := families.Task(families.Params{Kind: kind, Split: split, Seed: seed})
				if err != nil {
					return nil, err
				}
				tasks = append(tasks, task{fmt.Sprintf("%s %d", kind, seed), string(kind), map[string]any{"plugin": "family",
					"params": map[string]any{"kind": kind, "split": split, "seed": seed}}, t.Model})
			}
		}
		return tasks, nil
	}
}

// withoutManyArms leaves out the family whose options would take most of the processor time.
func withoutManyArms(tasks func() ([]task, error)) func() ([]task, error) {
	return func() ([]task, error) {
		all, err := tasks()
		return slices.DeleteFunc(all, func(t task) bool { return t.kind == "many-arms" }), err
	}
}

// ofKind leaves only one kind of tasks.
func ofKind(kind string, tasks func() ([]task, error)) func() ([]task, error) {
	return func() ([]task, error) {
		all, err := tasks()
		return slices.DeleteFunc(all, func(t task) bool { return t.kind != kind }), err
	}
}

// withTaxi adds Taxi, whose 500 states take most of the processor time.
func withTaxi(tasks func() ([]task, error)) func() ([]task, error) {
	return func() ([]task, error) {
		all, err := tasks()
		if err != nil {
			return nil, err
		}
		taxi, err := catalog.Taxi()
		if err != nil {
			return nil, err
		}
		return append(all, task{"Taxi", "Taxi", map[string]any{"plugin": "taxi", "params": map[string]any{}}, taxi.Model}), nil
	}
}

// classicTasks returns tasks of the literature.
func classicTasks() (tasks []task, err error) {
	add := func(name, plugin string, params map[string]any, t *catalog.Task, failed error) {
		if failed != nil {
			err = failed
			return
		}
		tasks = append(tasks, task{name, name, map[string]any{"plugin": plugin, "params": params}, t.Model})
	}
	river, failed := catalog.RiverSwim(6)
	add("RiverSwim", "riverswim", map[string]any{}, river, failed)
	sea, failed := catalog.DeepSea(catalog.Sea{Size: 10})
	add("DeepSea", "deepsea", map[string]any{"size": 10}, sea, failed)
	rooms, failed := catalog.FourRooms(false)
	add("FourRooms", "fourrooms", map[string]any{}, rooms, failed)
	chain, failed := catalog.Chain(5)
	add("Chain", "chain", map[string]any{}, chain, failed)
	arms, failed := catalog.SixArms()
	add("SixArms", "sixarms", map[string]any{}, arms, failed)
	cliff, failed := catalog.CliffWalking()
	add("CliffWalking", "cliffwalking", map[string]any{}, cliff, failed)
	return tasks, err
}

// writeOptions writes the config of a study of options, and returns its path.
func writeOptions(name string) (string, error) {
	x := optionsStudies[name]
	tasks, err := x.tasks()
	if err != nil {
		return "", err
	}
	var agents []map[string]any
	for _, learner := range x.learners {
		for _, w := range x.ways {
			a := map[string]any{"name": learner + ", " + w.name, "plugin": learner}
			if w.config != nil {
				a["exploration"] = w.config
			}
			if learner == network {
				a["params"] = map[string]any{"members": 10, "batch": 64, "updates": 1} // updates take nearly all processor time
			}
			if learner == "bootstrap-model" && !slices.Contains(presentDefaults, name) {
				a["params"] = map[string]any{"weight": 1} // the default when the table was made
			}
			agents = append(agents, a)
		}
	}
	return writeExperiment(name, "Learners that explore on their own, and as rules of the host decide.", x.runs, tasks, agents, "exploration_share")
}

// optionsBoard prints the scores of each learner by the way in which it explores, and what each
// way is better than the learner on its own.
func optionsBoard(s *study) error {
	boards, err := s.optionBoards()
	if err != nil {
		return err
	}
	for _, b := range boards {
		s.optionsTable(b.learner, b.ways, b.kinds, b.scores, b.shares)
		if len(b.kinds) > 1 && len(b.kinds) < len(b.tasks) {
			s.groupsTable(b.ways, b.kinds, b.scores)
		}
		if err := s.withinTable(b.learner, b.ways, b.tasks); err != nil {
			return err
		}
	}
	return nil
}

// optionBoard has the scores of a learner, and its share of exploratory steps, by the ways in which it explores.
type optionBoard struct {
	learner string
	ways    []way
	tasks   []task
	kinds   []string // of tasks
	scores  []stat.Scores
	shares  []float64
}

// optionBoards returns the boards of all learners of a study of options.
func (s *study) optionBoards() (boards []optionBoard, err error) {
	x := optionsStudies[baseName(s.name)]
	tasks, err := x.tasks()
	if err != nil {
		return nil, err
	}
	for _, learner := range x.learners {
		b := optionBoard{learner: learner, ways: x.ways, tasks: tasks}
		if b.kinds, b.scores, b.shares, err = s.optionScores(learner, x.ways, tasks); err != nil {
			return nil, err
		}
		boards = append(boards, b)
	}
	return boards, nil
}

// groupsTable prints the difference from the learner on its own in each group of the study options-map.
func (s *study) groupsTable(ways []way, kinds []string, scores []stat.Scores) {
	for a := 1; a < len(ways); a++ {
		var ps []float64
		var rows [][]string
		for g, group := range mapGroups {
			d := ofGroup(minus(scores[a], scores[0]), kinds, g)
			t := overTasks(d)
			ps = append(ps, t.P)
			rows = append(rows, []string{group.name, fmt.Sprint(len(slices.Concat(d...))), percent(overTasks(ofGroup(scores[0], kinds, g))), percent(overTasks(ofGroup(scores[a], kinds, g))), percent(t)})
		}
		for i, p := range stat.Holm(ps) {
			rows[i] = append(rows[i], fmt.Sprintf("%.2g", p))
		}
		s.table([]string{"group", "tasks", ways[0].name, ways[a].name, "difference", "p, Holm"}, rows)
	}
}

// withinTable prints for each way when runs are within 10 % of the optimum: the first point of the grid after
// which the rest of the run has a score of 90 per step. Runs that are never have the length of the run.
func (s *study) withinTable(learner string, ways []way, tasks []task) error {
	times := make([][]float64, len(ways))
	for _, t := range tasks {
		scale, err := stepScale(t.model, s.Meta.Steps)
		if err != nil {
			return err
		}
		for a, w := range ways {
			runs, err := s.curves(t.name, learner+", "+w.name, result.Reward)
			if err != nil {
				return err
			}
			for _, curve := range runs {
				times[a] = append(times[a], s.within(curve, scale))
			}
		}
	}
	var rows [][]string
	for a, w := range ways {
		reached, earlier, later := 0, 0, 0
		for i, t := range times[a] {
			if t < float64(s.Meta.Steps) {
				reached++
			}
			switch own := times[0][i]; {
			case t < own:
				earlier++
			case t > own:
				later++
			}
		}
		sorted := slices.Sorted(slices.Values(times[a]))
		rows = append(rows, []string{w.name, fmt.Sprintf("%d of %d", reached, len(sorted)), fmt.Sprintf("%.0f", (sorted[(len(sorted)-1)/2]+sorted[len(sorted)/2])/2), fmt.Sprint(earlier), fmt.Sprint(later)})
	}
	s.table([]string{"`" + learner + "`", "runs within 10 %", "median of steps until then", "earlier than on its own", "later"}, rows)
	return nil
}

// within is the first point of the grid after which the rest of a run has a score of 90 per step.
func (s *study) within(curve []float64, x scale) float64 {
	at, sum := float64(s.Meta.Steps), 0.0
	for k := len(curve) - 1; k >= 0; k-- {
		from := 0
		if k > 0 {
			from = s.Meta.Grid[k-1]
		}
		sum += curve[k] * float64(s.Meta.Grid[k]-from)
		if x.score(sum/float64(s.Meta.Steps-from)) >= 0.9 {
			at = float64(from)
		}
	}
	return at
}

// optionScores returns the kinds of tasks, and of each way to explore the scores of the tasks by their
// kind and its share of exploratory steps. If there are no kinds, the runs of a task take the place of tasks.
func (s *study) optionScores(learner string, ways []way, tasks []task) (kinds []string, scores []stat.Scores, shares []float64, err error) {
	scales := make([]scale, len(tasks))
	for i, t := range tasks {
		if !slices.Contains(kinds, t.kind) {
			kinds = append(kinds, t.kind)
		}
		if scales[i], err = stepScale(t.model, s.Meta.Steps); err != nil {
			return nil, nil, nil, fmt.Errorf("%s: %w", t.name, err)
		}
	}
	drawn := len(kinds) < len(tasks) // the tasks of a kind are drawn; without kinds, their runs are
	scores, shares = make([]stat.Scores, len(ways)), make([]float64, len(ways))
	for a, w := range ways {
		scores[a] = make(stat.Scores, len(kinds))
		agent := learner + ", " + w.name
		for i, t := range tasks {
			if _, err := s.curves(t.name, agent, result.Reward); err != nil { // reads the records
				return nil, nil, nil, err
			}
			runs := make([]float64, s.Meta.Runs)
			for _, r := range s.records[[2]string{t.name, agent}] {
				runs[r.Run] = scales[i].score(s.total(r) / float64(r.Steps))
			}
			k := slices.Index(kinds, t.kind)
			if drawn {
				scores[a][k] = append(scores[a][k], stat.Mean(runs))
			} else {
				scores[a][k] = runs
			}
			if w.config != nil {
				share, err := s.last(t.name, agent, result.ExplorationShare)
				if err != nil {
					return nil, nil, nil, err
				}
				shares[a] += share.Mean / float64(len(tasks))
			}
		}
	}
	return kinds, scores, shares, nil
}

// optionsLong prints the board, and draws the score per step over the steps of the runs: the mean over
// tasks with its 95 % interval.
func optionsLong(s *study) error {
	if err := optionsBoard(s); err != nil {
		return err
	}
	x := optionsStudies[baseName(s.name)]
	tasks, err := x.tasks()
	if err != nil {
		return err
	}
	figure := plots.Figure{Title: "Learners on their own and hosted", XLabel: "steps", YLabel: "score per step since the point before", LogX: true}
	for _, learner := range x.learners {
		for _, w := range x.ways {
			byPoint := make([][]float64, len(s.Meta.Grid))
			for _, t := range tasks {
				scale, err := stepScale(t.model, s.Meta.Steps)
				if err != nil {
					return err
				}
				runs, err := s.curves(t.name, learner+", "+w.name, result.Reward)
				if err != nil {
					return err
				}
				for k, reward := range runs[0] {
					byPoint[k] = append(byPoint[k], 100*scale.score(reward))
				}
			}
			line := plots.Line{Label: learner + ", " + w.name}
			for k, step := range s.Meta.Grid {
				if step < 100 {
					continue // of few steps the score is noise
				}
				t := stratified(stat.Scores{byPoint[k]})
				line.X, line.Y = append(line.X, float64(step)), append(line.Y, t.Value)
				line.Low, line.High = append(line.Low, t.Low), append(line.High, t.High)
			}
			figure.Lines = append(figure.Lines, line)
		}
	}
	return s.figure("", &figure)
}

// optionsLengths draws the score of each learner on its own, never exploring and with the default, over the
// length of the run: one figure for each learner.
func optionsLengths() error {
	figures := map[string]*plots.Figure{}
	for _, name := range []string{"options-many-brief", "options-many-short", "options-wider", "options-model-long", "options-q-long"} {
		s, err := execute(name)
		if err != nil {
			return err
		}
		boards, err := s.optionBoards()
		if err != nil {
			return err
		}
		for _, b := range boards {
			f := figures[b.learner]
			if f == nil {
				f = &plots.Figure{Title: b.learner, XLabel: "steps of the run", YLabel: "score per step over the run", LogX: true}
				f.Lines = make([]plots.Line, len(b.ways))
				figures[b.learner] = f
			}
			for a, w := range b.ways {
				t, line := overTasks(b.scores[a]), &f.Lines[a]
				line.Label, line.X = w.name, append(line.X, float64(s.Meta.Steps))
				line.Y, line.Low, line.High = append(line.Y, 100*t.Value), append(line.Low, 100*t.Low), append(line.High, 100*t.High)
			}
		}
	}
	for learner, f := range figures {
		if err := (&study{name: "options-lengths"}).figure(learner, f); err != nil {
			return err
		}
	}
	return nil
}

// overTasks is the test of tasks within kinds, or of all tasks as one kind where a kind has one task.
func overTasks(x stat.Scores) stat.TTest {
	if len(x[0]) == 1 {
		x = stat.Scores{slices.Concat(x...)}
	}
	return stratified(x)
}

func (s *study) optionsTable(learner string, ways []way, kinds []string, scores []stat.Scores, shares []float64) {
	var differences, plain []stat.TTest
	var ahead []int
	var ps []float64
	for a := 1; a < len(ways); a++ {
		d := minus(scores[a], scores[0])
		t, all := overTasks(d), slices.Concat(d...)
		differences, plain, ps = append(differences, t), append(plain, stratified(stat.Scores{all})), append(ps, t.P)
		ahead = append(ahead, 0)
		for _, x := range all {
			if x > 0 {
				ahead[a-1]++
			}
		}
	}
	adjusted := stat.Holm(ps)
	fmt.Fprintf(s.w, "`%s`, %d steps: score ± half of the 95 %% interval, difference from the learner on its own, paired by task, p after Holm's correction over the rows. *Plain* is half of the 95 %% interval of the difference by the t test of all tasks as one kind, and *ahead* the share of tasks (or runs) on which it is above 0. Then come the share of exploratory steps and the score of each kind.\n\n", learner, s.Meta.Steps)
	head := append([]string{"exploration", "score", "difference", "p, Holm", "plain", "ahead", "exploratory"}, kinds...)
	var rows [][]string
	for a, w := range ways {
		row := []string{w.name, percent(overTasks(scores[a])), "", "", "", "", ""}
		if a > 0 {
			row[2], row[3] = percent(differences[a-1]), fmt.Sprintf("%.2g", adjusted[a-1])
			row[4] = fmt.Sprintf("± %.1f", 50*(plain[a-1].High-plain[a-1].Low))
			row[5] = fmt.Sprintf("%d of %d", ahead[a-1], int(plain[a-1].DF+1.5))
			row[6] = fmt.Sprintf("%.0f %%", 100*shares[a])
		}
		for _, xs := range scores[a] {
			row = append(row, strings.ReplaceAll(fmt.Sprintf("%.0f", 100*stat.Mean(xs)), "-", "−"))
		}
		rows = append(rows, row)
	}
	s.table(head, rows)
	if last := len(ways) - 1; last > 1 {
		t := overTasks(minus(scores[last], scores[last-1]))
		fmt.Fprintf(s.w, "%s less %s: %s, p = %.2g.\n\n", ways[last].name, ways[last-1].name, percent(t), t.P)
	}
}
