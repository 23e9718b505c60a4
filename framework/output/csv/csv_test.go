package csv_test

import (
	"bytes"
	"errors"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/rlrun/rlrun/framework/metric"
	"github.com/rlrun/rlrun/framework/output/csv"
	"github.com/rlrun/rlrun/framework/output/outputtest"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/internal/must"
)

func TestDecisionsCSV(t *testing.T) {
	s, recs := outputtest.Tiny(t)
	var buf bytes.Buffer
	must.Do(t, csv.WriteDecisions(&buf, s, result.Sorted(recs)))
	const want = `environment,agent,run,step,episode,state,option,explore,hold,capped,delta,p,share,advantage,action,other,greedy,gain,cost,leads,numbers
"e, f",a,0,0,4,-1,uniform,true,3,true,0.5,0.25,0.1,0.01,0,,0,0,0,,
`
	if got := buf.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestCurvesCSV(t *testing.T) {
	s, _ := outputtest.Tiny(t)
	var buf bytes.Buffer
	must.Do(t, csv.WriteCurves(&buf, s))
	// 2 ± 12.7062047361747, the 0.975 quantile of Student's t at one degree of
	// freedom: tan(0.475π).
	const want = `environment,agent,step,runs,metric,mean,stderr,ci_low,ci_high
"e, f",a,1,2,reward,2,1,-10.70620473617,14.70620473617
"e, f",a,1,2,cumulative_reward,2,1,-10.70620473617,14.70620473617
"e, f",b,1,2,reward,5,0,NaN,NaN
"e, f",b,1,2,cumulative_reward,5,0,NaN,NaN
`
	if got := shorten(buf.String()); got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
}

// shorten cuts numbers after eleven decimals: the last ones of a quantile depend
// on how it is computed.
func shorten(s string) string {
	return regexp.MustCompile(`(\.\d{11})\d+`).ReplaceAllString(s, "$1")
}

// An agent whose runs all failed has its lines too, with how many failed.
func TestSummaryOfFailedRuns(t *testing.T) {
	s, _ := outputtest.Tiny(t)
	c := s.Counts[len(s.Counts)-1]
	c.Agent, c.OK, c.Failed = "broken", 0, 3
	s.Counts = append(s.Counts, c)
	var buf bytes.Buffer
	must.Do(t, csv.WriteSummary(&buf, s))
	if want := `"e, f",broken,reward,0,3,NaN,NaN,NaN,NaN,NaN,NaN,NaN,,,,NaN,0,` + "\n"; !strings.Contains(buf.String(), want) {
		t.Errorf("no line %q in\n%s", want, buf.String())
	}
}

func TestSummaryCSV(t *testing.T) {
	s, _ := outputtest.Tiny(t)
	s.Rows = s.Rows[3:4] // b, reward
	var buf bytes.Buffer
	must.Do(t, csv.WriteSummary(&buf, s))
	// b minus a: 4 and 2, mean 3, standard error 1.
	const want = `environment,agent,metric,n,failed,mean,stderr,ci_low,ci_high,iqm,iqm_ci_low,iqm_ci_high,difference,difference_ci_low,difference_ci_high,median,censored,difference_n
"e, f",b,reward,2,1,5,0,NaN,NaN,5,NaN,NaN,3,-9.70620473617,15.70620473617,5,0,2
`
	if got := shorten(buf.String()); got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
}

func TestCSVWritesNaN(t *testing.T) {
	meta := result.Meta{Grid: []int{1}, Environments: []string{"e"}, Agents: []string{"a"}}
	s := outputtest.Aggregate(t, meta, []result.Record{outputtest.OK("e", "a", 0, 1)})
	var buf bytes.Buffer
	must.Do(t, csv.WriteCurves(&buf, s))
	if want := "e,a,1,1,reward,1,NaN,NaN,NaN\n"; !strings.Contains(buf.String(), want) {
		t.Errorf("got %s, want a line %s", &buf, want)
	}
}

type fullWriter struct{}

func (fullWriter) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestCSVReportsErrors(t *testing.T) {
	s, _ := outputtest.Tiny(t)
	if csv.WriteCurves(fullWriter{}, s) == nil || csv.WriteSummary(fullWriter{}, s) == nil {
		t.Error("a full disk was not reported")
	}
}

// unknown has metrics that a cell does not have.
func unknown(t *testing.T) (*result.Summary, func(func(result.Record, error) bool)) {
	t.Helper()
	meta := result.Meta{Name: "x", Steps: 2, Grid: []int{1, 2}, Environments: []string{"e", "f"}, Agents: []string{"a"}, Runs: 2,
		Metrics: nil, Recorded: []result.Metric{result.Reward, result.Regret, result.EpisodeReturn, "agent.*"}, Asked: []result.Metric{result.Reward, result.Regret, result.EpisodeReturn, "agent.*"},
		Definitions: []metric.Definition{{Name: "agent.loss", Title: "agent loss"}}}
	nan := math.NaN()
	records := func(yield func(result.Record, error) bool) {
		for _, r := range []result.Record{
			{Environment: "e", Run: 0, Curves: map[result.Metric][]float64{result.Reward: {1, 2}, result.Regret: {1, 1}, result.EpisodeReturn: {nan, 4}, "agent.loss": {math.Inf(1), 3}}},
			{Environment: "e", Run: 1, Curves: map[result.Metric][]float64{result.Reward: {1, 2}, result.Regret: {1, 2}, "agent.loss": {5, 3}}},
			{Environment: "f", Run: 0, Curves: map[result.Metric][]float64{result.Reward: {1e308, nan}}, Infinite: []result.Metric{result.Reward}},
			{Environment: "f", Run: 1, Curves: map[result.Metric][]float64{result.Reward: {1e308, 1e308}}},
		} {
			r.Agent, r.Status, r.Steps, r.Episodes = "a", result.OK, 2, 1
			if !yield(r, nil) {
				return
			}
		}
	}
	s := must.Get(result.Aggregate(meta, records))(t)
	return s, records
}

// A metric that is not known is NaN.
func TestCSVOfUnknownMetrics(t *testing.T) {
	s, _ := unknown(t)
	var b bytes.Buffer
	must.Do(t, csv.WriteSummary(&b, s))
	if !strings.Contains(b.String(), "\nf,a,regret,0,0,NaN,NaN,NaN,NaN,NaN,NaN,NaN") {
		t.Errorf("summary.csv: %s", &b)
	}
}
