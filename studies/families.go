package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/rlrun/rlrun/framework/output/plots"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/stat"
	"github.com/rlrun/rlrun/framework/store"
	"github.com/rlrun/rlrun/mdp"
	"github.com/rlrun/rlrun/plugins/families"
)

// scale maps rewards to scores: uniformly random actions score 0, the optimum 1.
type scale struct{ zero, one float64 }

func (s scale) score(x float64) float64 { return (x - s.zero) / (s.one - s.zero) }

// familyTask is a task of a family with the scales by which runs are scored.
type familyTask struct {
	name string // in the experiment
	kind families.Name
	step scale // reward per step, episodes following each other
	// episode is the scale of the return of an episode; nil if the task continues.
	episode *scale
}

// worstEpisodes is the least score per episode: an agent that never ends an
// episode would have −∞ or near it.
const worstEpisodes = -1

// board holds the scores of agents over families: scores[agent][kind][task], each
// the mean over runs.
type board struct {
	agents          []string
	kinds           []families.Name
	episodic        []bool // by kind
	steps, episodes []stat.Scores
}

// familiesBoard prints the scores of agents over families, and their
// comparisons. The agents are those of the experiment and of the same
// experiment with "-ours" in its name.
func familiesBoard(s *study) error {
	b, err := s.familyBoard()
	if err != nil {
		return err
	}
	other, err := execute(s.name + "-ours")
	if err != nil {
		return err
	}
	ours, err := other.familyBoard()
	if err != nil {
		return err
	}
	if err := sameTasks(s, other); err != nil {
		return err
	}
	b.agents = append(b.agents, ours.agents...)
	b.steps, b.episodes = append(b.steps, ours.steps...), append(b.episodes, ours.episodes...)
	return b.show(s)
}

// familiesAgainstFirst prints the scores, and how the first agent compares with each
// other one in every family.
func familiesAgainstFirst(s *study) error {
	b, err := s.familyBoard()
	if err != nil {
		return err
	}
	b.print(s, b.order(b.steps))
	fmt.Fprintf(s.w, "%s less each other agent, points of the score per step: the mean difference over the tasks of a kind, paired by task, ± half of its 95 %% interval (t).\n\n", b.agents[0])
	head := append([]string{"kind"}, b.agents[1:]...)
	var rows [][]string
	for k, kind := range b.kinds {
		row := []string{string(kind)}
		for a := 1; a < len(b.agents); a++ {
			d := minus(b.steps[0], b.steps[a])
			row = append(row, percent(stratified(d[k:k+1])))
		}
		rows = append(rows, row)
	}
	row := []string{"**mean**"}
	for a := 1; a < len(b.agents); a++ {
		row = append(row, percent(stratified(minus(b.steps[0], b.steps[a]))))
	}
	s.table(head, append(rows, row))
	return nil
}

// show prints the tables of a board and draws its figure.
func (b *board) show(s *study) error {
	order := b.order(b.steps)
	b.print(s, order)
	b.printEpisodes(s, order)
	b.compare(s, order)
	figure := &plots.Figure{Title: fmt.Sprintf("Share of tasks with a score above x, %s steps", humanize.Comma(int64(s.Meta.Steps))), XLabel: "score, percent", YLabel: "share of tasks"}
	taus, xs := make([]float64, 101), make([]float64, 101)
	for x := range taus {
		taus[x], xs[x] = float64(x)/100, float64(x)
	}
	for _, a := range order[:min(8, len(order))] {
		figure.Lines = append(figure.Lines, plots.Line{Label: b.agents[a], X: xs, Y: stat.Profile(b.steps[a], taus)})
	}
	return s.figure("", figure)
}

// sameTasks refuses to compare agents that did not meet the same tasks and draws.
func sameTasks(a, b *study) error {
	x, y := a.Meta, b.Meta
	if !slices.Equal(x.Environments, y.Environments) || x.Steps != y.Steps || x.Runs != y.Runs || x.Seed != y.Seed {
		return fmt.Errorf("%s and %s differ in tasks, steps, runs or seed", a.name, b.name)
	}
	return nil
}

// familiesSettings prints the scores of settings, the best first.
func familiesSettings(s *study) error {
	b, err := s.familyBoard()
	if err != nil {
		return err
	}
	b.print(s, b.order(b.steps))
	return nil
}

// bestSettings is the number of settings of a learner that familiesDefaults prints.
const bestSettings = 3

// familiesDefaults prints the best settings of each learner, by the mean of the scores in
// runs of 1,000 and 10,000 steps, and the number of settings that were tried. Labels of
// agents begin with the learner's name and a comma.
func familiesDefaults(s *study) error {
	long, err := s.familyBoard()
	if err != nil {
		return err
	}
	other, err := execute(s.name + "-short")
	if err != nil {
		return err
	}
	short, err := other.familyBoard()
	if err != nil {
		return err
	}
	if !slices.Equal(short.agents, long.agents) {
		return fmt.Errorf("%s and %s differ in agents", s.name, other.name)
	}
	type setting struct {
		name        string
		short, long stat.TTest
	}
	both := func(x setting) float64 { return (x.short.Value + x.long.Value) / 2 }
	settings := map[string][]setting{}
	var learners []string
	for i, agent := range long.agents {
		learner, name, _ := strings.Cut(agent, ", ")
		if settings[learner] == nil {
			learners = append(learners, learner)
		}
		settings[learner] = append(settings[learner], setting{name, stratified(short.steps[i]), stratified(long.steps[i])})
	}
	var rows [][]string
	for _, learner := range learners {
		all := settings[learner]
		slices.SortStableFunc(all, func(a, b setting) int { return cmp.Compare(both(b), both(a)) })
		for _, x := range all[:min(bestSettings, len(all))] {
			rows = append(rows, []string{"`" + learner + "`", fmt.Sprint(len(all)), x.name, percent(x.short), percent(x.long), fmt.Sprintf("%.1f", 100*both(x))})
		}
	}
	s.table([]string{"learner", "settings tried", "setting", "1,000 steps", "10,000 steps", "mean"}, rows)
	return nil
}

// familyBoard scores every run of the study.
func (s *study) familyBoard() (*board, error) {
	tasks, err := s.familyTasks()
	if err != nil {
		return nil, err
	}
	b := &board{agents: s.Meta.Agents}
	for _, t := range tasks {
		if !slices.Contains(b.kinds, t.kind) {
			b.kinds, b.episodic = append(b.kinds, t.kind), append(b.episodic, t.episode != nil)
		}
	}
	for _, agent := range b.agents {
		steps, episodes := make(stat.Scores, len(b.kinds)), make(stat.Scores, len(b.kinds))
		for _, t := range tasks {
			if _, err := s.curves(t.name, agent, result.Reward); err != nil { // reads the records
				return nil, err
			}
			var byStep, byEpisode []float64
			for _, r := range s.records[[2]string{t.name, agent}] {
				total := s.total(r)
				byStep = append(byStep, t.step.score(total/float64(r.Steps)))
				if t.episode != nil {
					byEpisode = append(byEpisode, max(worstEpisodes, t.episode.score(total/float64(max(1, r.Episodes)))))
				}
			}
			k := slices.Index(b.kinds, t.kind)
			steps[k] = append(steps[k], stat.Mean(byStep))
			if t.episode == nil {
				byEpisode = byStep
			}
			episodes[k] = append(episodes[k], stat.Mean(byEpisode))
		}
		b.steps, b.episodes = append(b.steps, steps), append(b.episodes, episodes)
	}
	return b, nil
}

// total returns the sum of the rewards of a run.
func (s *study) total(r result.Record) (sum float64) {
	before := 0
	for k, t := range s.Meta.Grid {
		sum += r.Curves[result.Reward][k] * float64(t-before)
		before = t
	}
	return sum
}

// familyTasks returns the tasks of the experiment, whose environments are all of the
// plugin family.
func (s *study) familyTasks() ([]familyTask, error) {
	cfg, err := store.ReadConfig(filepath.Join(s.dir, "experiment.yaml"))
	if err != nil {
		return nil, err
	}
	p, err := plan.Compile(cfg)
	if err != nil {
		return nil, err
	}
	var tasks []familyTask
	for _, c := range p.Environments {
		var p families.Params
		if err := json.Unmarshal(c.Params, &p); err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name, err)
		}
		t, err := newFamilyTask(c.Name, p, cfg.Steps)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name, err)
		}
		tasks = append(tasks, t)
	}
	return tasks, nil
}

func newFamilyTask(name string, p families.Params, steps int) (familyTask, error) {
	t := familyTask{name: name, kind: p.Kind}
	task, err := families.Task(p)
	if err != nil {
		return t, err
	}
	if t.step, err = stepScale(task.Model, steps); err != nil {
		return t, err
	}
	if !task.Model.HasTerminal() {
		return t, nil
	}
	episode, err := episodeScale(task.Model)
	t.episode = &episode
	return t, err
}

// episodeScale returns the scale of the return of an episode of a task.
func episodeScale(m *mdp.Tabular) (scale, error) {
	total, _, err := mdp.SolveHorizon(m, 100_000) // no episode of a good policy is as long
	if err != nil {
		return scale{}, err
	}
	x := scale{zero: uniformReturn(m)}
	starts, prob := m.Initial()
	for i, s := range starts {
		x.one += prob[i] * total[s]
	}
	return x, nil
}

// uniformReward returns the expected mean reward of a number of steps with uniformly
// random actions.
func uniformReward(m *mdp.Tabular, steps int) float64 {
	w := newWalk(m)
	sum := 0.0
	for n := range steps {
		r, moved := w.step()
		sum += r
		if moved < 1e-13 { // it stays so
			sum += r * float64(steps-1-n)
			break
		}
	}
	return sum / float64(steps)
}

// uniformReturn returns the expected return of an episode with uniformly random
// actions, which end it sooner or later.
func uniformReturn(m *mdp.Tabular) (sum float64) {
	w := newWalk(m)
	for alive := 1.0; alive > 1e-13; {
		r, _ := w.step()
		sum += r
		alive = 0
		for s, p := range w.at {
			if !m.Terminal(s) {
				alive += p
			}
		}
	}
	return sum
}

// walk is the distribution over states under uniformly random actions.
type walk struct {
	m        *mdp.Tabular
	at, next []float64
}

func newWalk(m *mdp.Tabular) *walk {
	w := &walk{m, make([]float64, m.NumStates()), make([]float64, m.NumStates())}
	starts, prob := m.Initial()
	if starts == nil {
		w.at[0] = 1
	}
	for i, s := range starts {
		w.at[s] = prob[i]
	}
	return w
}

// step returns the expected reward of a step, and by how much the distribution
// changed.
func (w *walk) step() (reward, moved float64) {
	clear(w.next)
	each := 1 / float64(w.m.NumActions())
	for s, p := range w.at {
		if p == 0 {
			continue
		}
		for a := range w.m.NumActions() {
			reward += p * each * w.m.Reward(s, a)
			next, prob := w.m.Transition(s, a)
			for k, y := range next {
				w.next[y] += p * each * prob[k]
			}
		}
	}
	for s, p := range w.next {
		moved += math.Abs(p - w.at[s])
	}
	w.at, w.next = w.next, w.at
	return reward, moved
}

// order returns the agents by mean score, the best first.
func (b *board) order(scores []stat.Scores) []int {
	order := make([]int, len(b.agents))
	for a := range order {
		order[a] = a
	}
	slices.SortStableFunc(order, func(x, y int) int {
		return cmp.Compare(stratified(scores[y]).Value, stratified(scores[x]).Value)
	})
	return order
}

// stratified estimates the mean over kinds of the mean over tasks of each kind, as a
// t test does against zero. Kinds are given, tasks are drawn: so the standard error comes
// from the tasks within their kinds (Cochran 1977, §5.6, with Satterthwaite's degrees of
// freedom).
func stratified(scores stat.Scores) stat.TTest {
	k := float64(len(scores))
	mean, variance, below := 0.0, 0.0, 0.0
	for _, xs := range scores {
		n := float64(len(xs))
		m, squares := stat.Mean(xs), 0.0
		for _, x := range xs {
			squares += (x - m) * (x - m)
		}
		v := squares / (n - 1) / n / k / k
		mean += m / k
		variance += v
		below += v * v / (n - 1)
	}
	t := stat.TTest{DF: variance * variance / below, Interval: stat.Interval{Value: mean, Low: mean, High: mean}, P: 1}
	if !(variance > 0) {
		return t
	}
	student := distuv.StudentsT{Sigma: 1, Nu: t.DF}
	t.T = mean / math.Sqrt(variance)
	t.P = 2 * student.CDF(-math.Abs(t.T))
	half := student.Quantile(0.975) * math.Sqrt(variance)
	t.Low, t.High = mean-half, mean+half
	return t
}

// percent writes an estimate in percent with half of its 95 % interval.
func percent(t stat.TTest) string {
	return strings.ReplaceAll(fmt.Sprintf("%.1f ± %.1f", 100*t.Value, 50*(t.High-t.Low)), "-", "−")
}

// print prints the scores per step.
func (b *board) print(s *study, order []int) {
	b.printScores(s, order, "Reward per step over the whole run", b.steps)
}

// printScores prints scores by a measure.
func (b *board) printScores(s *study, order []int, measure string, scores []stat.Scores) {
	fmt.Fprintf(s.w, "%s of %s steps, learning included, in percent of the way from uniformly random (0) to optimal (100). The table has the mean over %d kinds with half of its 95 %% interval, and the mean of each kind, %d tasks each, runs a task: %d.\n\n", measure, humanize.Comma(int64(s.Meta.Steps)), len(b.kinds), len(scores[0][0]), s.Meta.Runs)
	head := []string{"agent", "mean"}
	for _, k := range b.kinds {
		head = append(head, string(k))
	}
	var rows [][]string
	for _, a := range order {
		row := []string{b.agents[a], percent(stratified(scores[a]))}
		for _, xs := range scores[a] {
			row = append(row, strings.ReplaceAll(fmt.Sprintf("%.0f", 100*stat.Mean(xs)), "-", "−"))
		}
		rows = append(rows, row)
	}
	s.table(head, rows)
}

// printEpisodes prints the scores per episode of the kinds with episodes.
func (b *board) printEpisodes(s *study, order []int) {
	fmt.Fprintf(s.w, "The same per episode, where tasks have episodes: the reward of the run divided by the number of episodes that ended. Random episodes have 0 and optimal ones 100. %d is the least. The mean is over all kinds, per episode where there are episodes.\n\n", int(100*worstEpisodes))
	head := []string{"agent", "mean"}
	for k, kind := range b.kinds {
		if b.episodic[k] {
			head = append(head, string(kind)+" per step", "per episode")
		}
	}
	var rows [][]string
	for _, a := range order {
		row := []string{b.agents[a], percent(stratified(b.episodes[a]))}
		for k := range b.kinds {
			if b.episodic[k] {
				for _, x := range []stat.Scores{b.steps[a], b.episodes[a]} {
					row = append(row, strings.ReplaceAll(fmt.Sprintf("%.0f", 100*stat.Mean(x[k])), "-", "−"))
				}
			}
		}
		rows = append(rows, row)
	}
	s.table(head, rows)
}

// shown is how many agents the table of all pairs shows.
const shown = 10

// compare prints the differences of pairs of agents, task by task.
func (b *board) compare(s *study, order []int) {
	type pair struct{ x, y int }
	var pairs []pair
	var tests []stat.TTest
	var ps []float64
	for i, x := range order {
		for _, y := range order[i+1:] {
			t := stratified(minus(b.steps[x], b.steps[y]))
			pairs, tests, ps = append(pairs, pair{x, y}), append(tests, t), append(ps, t.P)
		}
	}
	adjusted := stat.Holm(ps)
	fmt.Fprintf(s.w, "Differences of scores per step in points, row minus column, paired by task: all agents meet the same tasks and draws. An asterisk marks p < 0.05 after Holm's correction over all %d pairs of the table above. The table shows those of the first %d agents.\n\n", len(pairs), min(shown, len(order)))
	cells := map[pair]string{}
	for i, p := range pairs {
		for sign, q := range map[float64]pair{1: p, -1: {p.y, p.x}} {
			cells[q] = strings.ReplaceAll(fmt.Sprintf("%+.0f", sign*100*tests[i].Value), "-", "−")
			if adjusted[i] < 0.05 {
				cells[q] += "\\*"
			}
		}
	}
	head := []string{"agent"}
	best := order[:min(shown, len(order))]
	for _, a := range best {
		head = append(head, b.agents[a])
	}
	var rows [][]string
	for _, x := range best {
		row := []string{b.agents[x]}
		for _, y := range best {
			row = append(row, cells[pair{x, y}])
		}
		rows = append(rows, row)
	}
	s.table(head, rows)
	fmt.Fprintf(s.w, "The first agent against the others: difference ± half of its 95 %% interval, p after Holm's correction.\n\n")
	rows = nil
	for i, p := range pairs {
		if p.x == order[0] {
			rows = append(rows, []string{b.agents[p.y], percent(tests[i]), fmt.Sprintf("%.2g", adjusted[i])})
		}
	}
	s.table([]string{b.agents[order[0]] + " against", "difference", "p, Holm"}, rows)
}

// minus returns the differences of two agents' scores, task by task.
func minus(x, y stat.Scores) stat.Scores {
	d := make(stat.Scores, len(x))
	for k := range x {
		for i := range x[k] {
			d[k] = append(d[k], x[k][i]-y[k][i])
		}
	}
	return d
}
