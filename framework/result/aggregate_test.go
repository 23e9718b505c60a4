package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"

	"github.com/rlrun/rlrun/internal/must"
)

func smallMeta() Meta {
	return Meta{Name: "small", Steps: 20, Grid: []int{1, 4, 10, 18, 20}, Environments: []string{"e", "f"}, Agents: []string{"b", "a"}, Runs: 4, Seed: 3}
}

// smallRecords are complete except for two runs of a in f: run 2 failed, and
// run 3 is missing.
func smallRecords() []Record {
	rng := rand.New(rand.NewPCG(9, 9))
	var recs []Record
	for _, env := range []string{"e", "f"} {
		for _, agent := range []string{"a", "b"} {
			for run := range 4 {
				r := Record{Environment: env, Agent: agent, Run: run, Status: OK, Steps: 20, Curves: map[Metric][]float64{}}
				for _, m := range []Metric{Reward, Regret, EpisodeReturn} {
					r.Curves[m] = make([]float64, 5)
					for i := range 5 {
						r.Curves[m][i] = rng.NormFloat64()
					}
				}
				r.Curves[EpisodeReturn][0] = math.NaN()
				if env == "f" && agent == "a" && run >= 2 {
					if run == 3 {
						continue
					}
					r = Record{Environment: env, Agent: agent, Run: run, Status: Failed, Steps: 7, Error: "plugin died"}
				}
				recs = append(recs, r)
			}
		}
	}
	return recs
}

func mustAggregate(t testing.TB, meta Meta, recs []Record) *Summary {
	t.Helper()
	return must.Get(Aggregate(meta, Sorted(recs)))(t)
}

// valuesOf collects a value of every ok record of one agent in one environment.
func valuesOf(recs []Record, env, agent string, f func(*Record) float64) (xs []float64) {
	for i := range recs {
		if r := &recs[i]; r.Environment == env && r.Agent == agent && r.Status == OK {
			xs = append(xs, f(r))
		}
	}
	return xs
}

func TestCurvesAgainstGonum(t *testing.T) {
	recs := smallRecords()
	s := mustAggregate(t, smallMeta(), recs)
	for _, env := range []string{"e", "f"} {
		for _, agent := range []string{"a", "b"} {
			for k := range 5 {
				xs := valuesOf(recs, env, agent, func(r *Record) float64 { return r.Curves[Regret][k] })
				mean, sd := stat.MeanStdDev(xs, nil)
				c := s.Curve(env, agent, Regret)
				if c.Runs[k] != len(xs) || !near(c.Mean[k], mean, 1e-12) || !near(c.StdErr[k], sd/math.Sqrt(float64(len(xs))), 1e-12) {
					t.Errorf("%s in %s, point %d: got %d, %g, %g, want mean %g", agent, env, k, c.Runs[k], c.Mean[k], c.StdErr[k], mean)
				}
			}
		}
	}
	if c := s.Curve("e", "a", EpisodeReturn); c.Runs[0] != 0 || !math.IsNaN(c.Mean[0]) || c.Runs[1] != 4 {
		t.Errorf("episode returns: %+v", c)
	}
}

// Each metric's value of a run, worked out with the windows written out.
func TestOutcomes(t *testing.T) {
	recs := smallRecords()
	s := mustAggregate(t, smallMeta(), recs)
	sum := func(c []float64) float64 { return 1*c[0] + 3*c[1] + 6*c[2] + 8*c[3] + 2*c[4] }
	for m, f := range map[Metric]func(*Record) float64{
		Reward:           func(r *Record) float64 { return sum(r.Curves[Reward]) / 20 },
		FinalReward:      func(r *Record) float64 { return r.Curves[Reward][4] }, // steps 19 and 20
		CumulativeReward: func(r *Record) float64 { return sum(r.Curves[Reward]) },
		Regret:           func(r *Record) float64 { return r.Curves[Regret][4] },
		EpisodeReturn: func(r *Record) float64 {
			c := r.Curves[EpisodeReturn]
			return (3*c[1] + 6*c[2] + 8*c[3] + 2*c[4]) / 19
		},
	} {
		want := valuesOf(recs, "e", "a", f)
		row := s.Row("e", "a", m)
		for i := range want {
			if math.Abs(row.Values[i]-want[i]) > 1e-12 {
				t.Errorf("%s of run %d: got %g, want %g", m, i, row.Values[i], want[i])
			}
		}
		if math.Abs(row.Mean-stat.Mean(want, nil)) > 1e-12 {
			t.Errorf("%s: mean %g, want %g", m, row.Mean, stat.Mean(want, nil))
		}
	}
	// The curve of cumulative reward at its last point is its outcome.
	if got, want := s.Curve("e", "a", CumulativeReward).Mean[4], s.Row("e", "a", CumulativeReward).Mean; got != want {
		t.Errorf("cumulative reward: %g and %g", got, want)
	}
}

func TestRecordedCumulativeRewardIsKept(t *testing.T) {
	r := okRecord("e", "a", 0, 1, 2)
	r.Curves[CumulativeReward] = []float64{10, 20}
	s := mustAggregate(t, Meta{Grid: []int{1, 2}, Environments: []string{"e"}, Agents: []string{"a"}, Runs: 1}, []Record{r})
	if got := s.Row("e", "a", CumulativeReward).Mean; got != 20 {
		t.Errorf("got %g, want 20", got)
	}
}

func TestFinalReward(t *testing.T) {
	for _, tt := range []struct {
		grid []int
		want float64
	}{
		{[]int{10, 90, 95, 100}, (5*3 + 5*4) / 10.}, // windows that begin at 90 and 95
		{[]int{10, 80, 89, 100}, 4},                 // none: the last window
		{[]int{100}, 1},
	} {
		reward := []float64{1, 2, 3, 4}[:len(tt.grid)]
		s := mustAggregate(t, Meta{Grid: tt.grid, Environments: []string{"e"}, Agents: []string{"a"}}, []Record{okRecord("e", "a", 0, reward...)})
		if got := s.Row("e", "a", FinalReward).Mean; math.Abs(got-tt.want) > 1e-15 {
			t.Errorf("%v: got %g, want %g", tt.grid, got, tt.want)
		}
	}
}

func TestPairedDifference(t *testing.T) {
	recs := smallRecords()
	s := mustAggregate(t, smallMeta(), recs)
	if d := s.Row("e", "b", Regret).Difference; d != nil {
		t.Errorf("the first agent differs from itself by %+v", d)
	}
	regret := func(r *Record) float64 { return r.Curves[Regret][4] }
	a, b := valuesOf(recs, "f", "a", regret), valuesOf(recs, "f", "b", regret)
	want := estimateOf([]float64{a[0] - b[0], a[1] - b[1]}, &quantiles{}) // runs 2 and 3 have no pair
	if got := s.Row("f", "a", Regret).Difference; got == nil || *got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// An agent that earns the same rewards in another order has the difference 0, though
// sums differ in the last bit.
func TestDifferenceByRounding(t *testing.T) {
	up, down := 0.0, 0.0
	for i, rewards := 0, []float64{0.1, 0.2, 0.3}; i < 3; i++ {
		up, down = up+rewards[i], down+rewards[2-i]
	}
	var recs []Record
	for run := range 2 {
		recs = append(recs, okRecord("e", "a", run, up), okRecord("e", "b", run, down))
	}
	s := mustAggregate(t, Meta{Steps: 1, Grid: []int{1}, Environments: []string{"e"}, Agents: []string{"a", "b"}, Runs: 2}, recs)
	a, b := s.Row("e", "a", Reward), s.Row("e", "b", Reward)
	if a.Mean == b.Mean {
		t.Fatal("the two means are equal, so that this tests nothing")
	}
	if d := b.Difference; d == nil || d.Mean != 0 || !math.IsNaN(d.High) {
		t.Errorf("got %+v", d)
	}
}

// Where every run of b is 0.1 above that of a but for rounding, the difference has no interval. Where
// the runs of c are one value but for rounding, neither its mean nor its interquartile mean has one.
func TestIntervalByRounding(t *testing.T) {
	var recs []Record
	for run := range 9 {
		x := float64(run*run%7) / 7
		recs = append(recs, okRecord("e", "a", run, x), okRecord("e", "b", run, x+0.1), okRecord("e", "c", run, 0.1+x-x))
	}
	s := mustAggregate(t, Meta{Steps: 1, Grid: []int{1}, Environments: []string{"e"}, Agents: []string{"a", "b", "c"}, Runs: 9}, recs)
	b, c := s.Row("e", "b", Reward), s.Row("e", "c", Reward)
	if slices.Min(c.Values) == slices.Max(c.Values) {
		t.Fatal("the values of c are equal, so that this tests nothing")
	}
	if d := b.Difference; math.Abs(d.Mean-0.1) > 1e-15 || d.StdErr != 0 || !math.IsNaN(d.Low) || math.IsNaN(b.Low) {
		t.Errorf("the difference %+v of %+v", d, b)
	}
	if c.StdErr != 0 || !math.IsNaN(c.Low) || !math.IsNaN(c.IQMLow) {
		t.Errorf("equal values: %+v", c)
	}
}

func TestCountsAndFailures(t *testing.T) {
	s := mustAggregate(t, smallMeta(), smallRecords())
	want := []Count{{"e", "b", Ended{OK: 4}}, {"e", "a", Ended{OK: 4}}, {"f", "b", Ended{OK: 4}}, {"f", "a", Ended{OK: 2, Failed: 1, Missing: 1}}}
	if !slices.Equal(s.Counts, want) {
		t.Errorf("got %v, want %v", s.Counts, want)
	}
	if want := []Failure{{Key{"f", "a", 2}, 7, "plugin died"}}; !slices.Equal(s.Failures, want) {
		t.Errorf("got %v, want %v", s.Failures, want)
	}
	if r := s.Row("f", "a", Regret); r.N != 2 || r.Failed != 1 {
		t.Errorf("row of a in f: n %d, failed %d", r.N, r.Failed)
	}
}

// Whatever files the records are in, the statistics have the same bits.
func TestOrderDoesNotMatter(t *testing.T) {
	want := must.Get(json.Marshal(mustAggregate(t, smallMeta(), smallRecords())))(t)
	dirs := 0
	base := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		dirs++
		dir := fmt.Sprintf("%s/%d", base, dirs)
		files := map[string][]Record{}
		for _, r := range rapid.Permutation(smallRecords()).Draw(t, "records") {
			name := rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "file")
			files[name] = append(files[name], r)
		}
		for name, recs := range files {
			must.Do(t, WriteRecords(dir, name, recs))
		}
		s := must.Get(Aggregate(smallMeta(), ReadRecords(dir)))(t)
		got := must.Get(json.Marshal(s))(t)
		if !bytes.Equal(got, want) {
			t.Fatalf("got %s, want %s", got, want)
		}
	})
}

func TestMetricsAreChosenAndOrdered(t *testing.T) {
	meta := smallMeta()
	if got, want := fmt.Sprint(mustAggregate(t, meta, smallRecords()).MetricsOf("e", true)), "[reward cumulative_reward episode_return regret]"; got != want {
		t.Errorf("all: got %s, want %s", got, want)
	}
	meta.Metrics = []Metric{Regret, Reward}
	if got, want := fmt.Sprint(mustAggregate(t, meta, smallRecords()).MetricsOf("e", false)), "[regret reward final_reward cumulative_reward]"; got != want {
		t.Errorf("chosen: got %s, want %s", got, want)
	}
	meta.Metrics = []Metric{Regret}
	if got, want := fmt.Sprint(mustAggregate(t, meta, smallRecords()).MetricsOf("e", false)), "[regret]"; got != want {
		t.Errorf("one: got %s, want %s", got, want)
	}
}

func TestAggregateRefuses(t *testing.T) {
	meta := Meta{Grid: []int{1, 2}, Environments: []string{"e"}, Agents: []string{"a"}}
	for name, tt := range map[string]struct {
		recs []Record
		want string
	}{
		"unknown agent":       {[]Record{okRecord("e", "x", 0, 1, 2)}, "run 0 of x in e: the experiment has no such agent"},
		"unknown environment": {[]Record{okRecord("x", "a", 0, 1, 2)}, "run 0 of a in x: the experiment has no such agent"},
		"short curve":         {[]Record{okRecord("e", "a", 5, 1)}, "run 5 of a in e: curve reward has 1 values, the recording grid 2"},
		"same run twice":      {[]Record{okRecord("e", "a", 5, 1, 2), okRecord("e", "a", 5, 1, 2)}, "comes after run 5"},
	} {
		if _, err := Aggregate(meta, Sorted(tt.recs)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error is %v", name, err)
		}
	}
	if _, err := Aggregate(Meta{Grid: []int{1, 1}}, Sorted(nil)); err == nil {
		t.Error("a grid that does not increase was accepted")
	}
	broken := errors.New("disk on fire")
	records := func(yield func(Record, error) bool) { yield(Record{}, broken) }
	if _, err := Aggregate(meta, records); !errors.Is(err, broken) {
		t.Errorf("error is %v", err)
	}
}

func TestSummaryJSONRoundTrip(t *testing.T) {
	s := mustAggregate(t, smallMeta(), smallRecords())
	first := must.Get(json.Marshal(s))(t)
	var back Summary
	must.Do(t, json.Unmarshal(first, &back))
	second, err := json.Marshal(&back)
	if err != nil || !bytes.Equal(first, second) {
		t.Errorf("%v: %s became %s", err, first, second)
	}
	if back.Row("e", "a", Reward).Mean != s.Row("e", "a", Reward).Mean {
		t.Error("a mean was lost")
	}
}

// Nothing recorded at all is no error: an experiment may have been stopped at
// once.
func TestAggregateNothing(t *testing.T) {
	s := mustAggregate(t, smallMeta(), nil)
	if len(s.Rows) != 0 || len(s.Counts) != 4 || s.Counts[0].Missing != 4 {
		t.Errorf("got %+v", s)
	}
}

// A run in which no episode ends has no curve of episode returns. The runs of one
// agent may differ in that, in either order.
func TestRunsWithoutAnEpisode(t *testing.T) {
	for _, without := range []int{0, 2} {
		recs := smallRecords()
		for i := range recs {
			if recs[i].Environment == "e" && recs[i].Agent == "a" && recs[i].Run == without {
				delete(recs[i].Curves, EpisodeReturn)
			}
		}
		s := mustAggregate(t, smallMeta(), recs)
		if got := s.Curve("e", "a", EpisodeReturn); got == nil || got.Runs[4] != 3 {
			t.Errorf("without run %d: %+v", without, got)
		}
		if got := s.Curve("e", "a", Reward); got == nil || got.Runs[4] != 4 {
			t.Errorf("without run %d: %+v", without, got)
		}
	}
}

// Sums of rewards of 1e16 are rounded to more than the rewards differ by, which is said.
func TestLostDigits(t *testing.T) {
	sum := func(mean float64) *Summary {
		return &Summary{Meta: Meta{Steps: 50}, Rows: []Row{{Environment: "e", Agent: "a", Metric: CumulativeReward, Estimate: Estimate{Mean: mean}}}}
	}
	if got := sum(5e17).LostDigits(); len(got) != 1 || !strings.Contains(got[0], "cumulative_reward of a in e to multiples of 64") {
		t.Error(got)
	}
	if got := sum(-5e14).LostDigits(); got != nil {
		t.Error(got)
	}
}

// The mean of vast rewards overflows. Infinite values are none: their differences are not
// numbers, and each test would call one agent better.
func TestValuesAreFinite(t *testing.T) {
	meta := Meta{Steps: 4, Grid: []int{2, 4}, Environments: []string{"e"}, Agents: []string{"a"}, Runs: 4, Discount: 1}
	var recs []Record
	for run, x := range []float64{1.7e308, -1.7e308, math.Inf(1), 1} {
		recs = append(recs, Record{Environment: "e", Agent: "a", Run: run, Status: OK, Steps: 4, Curves: map[Metric][]float64{Reward: {x, x}}})
	}
	s := must.Get(Aggregate(meta, Sorted(recs)))(t)
	for _, m := range []Metric{Reward, CumulativeReward} {
		if row := s.Row("e", "a", m); len(row.Values) != 1 || row.Runs[0] != 3 {
			t.Errorf("%s: runs %v have values %v", m, row.Runs, row.Values)
		}
	}
	vast := must.Get(Aggregate(meta, Sorted(recs[:3])))(t)
	for _, m := range []Metric{Reward, CumulativeReward, FinalReward} { // the last is made from the first
		if got := vast.Cell("e", "a", m); got != "overflow" {
			t.Errorf("%s is shown as %q", m, got)
		}
	}
}

// Where runs count episodes, windows have the steps of each run. A run that reached its most steps before its last
// episode ended has no value.
func TestBudgetInEpisodes(t *testing.T) {
	meta := Meta{Steps: 100, Episodes: 2, Grid: []int{1, 2}, Environments: []string{"e"}, Agents: []string{"a"}, Runs: 3, Discount: 1, Recorded: []Metric{Reward, StepsMade}}
	nan := math.NaN()
	recs := []Record{
		{Environment: "e", Agent: "a", Run: 0, Status: OK, Steps: 10, Episodes: 2, Curves: map[Metric][]float64{Reward: {1, 3}, StepsMade: {2, 10}}},
		{Environment: "e", Agent: "a", Run: 1, Status: OK, Steps: 100, Episodes: 2, Curves: map[Metric][]float64{Reward: {1, 0.5}, StepsMade: {20, 100}}},
		{Environment: "e", Agent: "a", Run: 2, Status: OK, Steps: 100, Episodes: 1, Curves: map[Metric][]float64{Reward: {7, nan}, StepsMade: {50, nan}}},
	}
	s := must.Get(Aggregate(meta, Sorted(recs)))(t)
	for m, want := range map[Metric][]float64{
		Reward: {(1*2 + 3*8) / 10.0, (1*20 + 0.5*80) / 100}, CumulativeReward: {26, 60}, FinalReward: {3, 0.5}, StepsMade: {10, 100},
	} {
		if row := s.Row("e", "a", m); !slices.Equal(row.Values, want) || !slices.Equal(row.Runs, []int{0, 1}) {
			t.Errorf("%s: runs %v have values %v, want %v", m, row.Runs, row.Values, want)
		}
	}
	// The curve is of all runs, so it ends where the first run has no further point.
	if c := s.Curve("e", "a", Reward); c.Mean[0] != 3 || !math.IsNaN(c.Mean[1]) || !slices.Equal(c.Runs, []int{3, 0}) {
		t.Errorf("curve %v of %v runs", c.Mean, c.Runs)
	}
	if want := "1 of 3 runs of a in e made 100 steps before 2 episodes had ended"; !slices.ContainsFunc(s.Notices, func(n string) bool { return strings.HasPrefix(n, want) }) {
		t.Errorf("no notice %q in %q", want, s.Notices)
	}
	for _, spoil := range []func(*Record){
		func(r *Record) { r.Episodes = 3 },
		func(r *Record) { r.Episodes = 1 },
		func(r *Record) { r.Steps = 101 },
		func(r *Record) { delete(r.Curves, Reward) },
	} {
		r := recs[0]
		r.Curves = maps.Clone(r.Curves)
		if spoil(&r); Check(t.Context(), meta, Sorted([]Record{r})) == nil {
			t.Errorf("a run of %d steps and %d episodes with %v is accepted", r.Steps, r.Episodes, r.Curves)
		}
	}
}
