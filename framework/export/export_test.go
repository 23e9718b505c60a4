package export

import (
	"encoding/binary"
	"encoding/csv"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/internal/must"
)

func source(t *testing.T) *Source {
	t.Helper()
	nan := math.NaN()
	records := []result.Record{
		{Environment: "two arms", Agent: "a_1", Run: 0, Status: result.OK, Steps: 4, Episodes: 1,
			Curves: map[result.Metric][]float64{result.Reward: {1, 0.5}, result.EpisodeReturn: {nan, 2}}},
		{Environment: "two arms", Agent: "a_1", Run: 1, Status: result.OK, Steps: 4,
			Curves:    map[result.Metric][]float64{result.Reward: {0.25, 1. / 3}},
			Decisions: []result.Decision{{Step: 1, State: -1, Option: "greedy, at last", Hold: 2, Delta: 0.5}}},
		{Environment: "two arms", Agent: "b", Run: 0, Status: result.Failed, Steps: 2, Error: "broke, \"badly\""},
	}
	meta := result.Meta{Environments: []string{"two arms"}, Agents: []string{"a_1", "b"}, Grid: []int{1, 4}, Steps: 4, Runs: 2, Seed: 1}
	s := must.Get(result.Aggregate(meta, result.Sorted(records)))(t)
	return &Source{Summary: s, Records: func() iter.Seq2[result.Record, error] { return result.Sorted(records) }, Started: time.Unix(1700000000, 0)}
}

func TestParquetHoldsEverything(t *testing.T) {
	dir := t.TempDir()
	files := must.Get(Write("parquet", dir, source(t)))(t)
	if !slices.Equal(files, []string{"runs.parquet", "outcomes.parquet", "curves.parquet", "decisions.parquet"}) {
		t.Errorf("files %v", files)
	}
	runs, err := parquet.ReadFile[runRow](filepath.Join(dir, "runs.parquet"))
	if err != nil || len(runs) != 3 || runs[2].Error != `broke, "badly"` || runs[0].Episodes != 1 {
		t.Errorf("runs %+v, %v", runs, err)
	}
	curves, err := parquet.ReadFile[curveRow](filepath.Join(dir, "curves.parquet"))
	want := []curveRow{
		{"two arms", "a_1", 0, "episode_return", 4, 2}, {"two arms", "a_1", 0, "reward", 1, 1}, {"two arms", "a_1", 0, "reward", 4, 0.5},
		{"two arms", "a_1", 1, "reward", 1, 0.25}, {"two arms", "a_1", 1, "reward", 4, 1. / 3},
	}
	if err != nil || !slices.Equal(curves, want) {
		t.Errorf("curves %+v, %v", curves, err)
	}
	outcomes, err := parquet.ReadFile[outcomeRow](filepath.Join(dir, "outcomes.parquet"))
	if err != nil || !slices.Contains(outcomes, outcomeRow{"two arms", "a_1", 0, "cumulative_reward", 2.5}) {
		t.Errorf("outcomes %+v, %v", outcomes, err)
	}
	decisions, err := parquet.ReadFile[decisionRow](filepath.Join(dir, "decisions.parquet"))
	if err != nil || len(decisions) != 1 || decisions[0].Option != "greedy, at last" || decisions[0].State != -1 {
		t.Errorf("decisions %+v, %v", decisions, err)
	}
}

func TestCSV(t *testing.T) {
	dir := t.TempDir()
	must.Get(Write("csv", dir, source(t)))(t)
	f := must.Get(os.Open(filepath.Join(dir, "decisions.csv")))(t)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) != 2 || strings.Join(rows[1], "|") != "two arms|a_1|1|1|0|-1|greedy, at last|false|2|false|0.5|0|0|0|0||0|0|0|" {
		t.Errorf("%v, %v", rows, err)
	}
}

// The checksum of the nine digits is the check value of CRC-32C in every catalogue.
func TestChecksum(t *testing.T) {
	const check = uint32(0xe3069283)
	const mask = uint32(0xa282ead8)
	unmasked := masked([]byte("123456789")) - mask
	if got := unmasked>>17 | unmasked<<15; got != check {
		t.Errorf("CRC-32C is %x, want %x", got, check)
	}
}

// Event files are TFRecords of Event messages, as a decoder that is not ours sees them.
func TestTensorBoard(t *testing.T) {
	dir := t.TempDir()
	files := must.Get(Write("tensorboard", dir, source(t)))(t)
	want := filepath.Join("two-arms", "a_1", "run-0", "events.out.tfevents.1700000000.rlrun")
	if len(files) != 2 || files[0] != want { // a failed run has no events
		t.Fatalf("files %v", files)
	}
	data := must.Get(os.ReadFile(filepath.Join(dir, want)))(t)
	type scalar struct {
		step  uint64
		tag   string
		value float32
	}
	var got []scalar
	for len(data) > 0 {
		n := binary.LittleEndian.Uint64(data)
		event := data[12 : 12+n]
		if masked(data[:8]) != binary.LittleEndian.Uint32(data[8:]) || masked(event) != binary.LittleEndian.Uint32(data[12+n:]) {
			t.Fatal("a checksum is wrong")
		}
		data = data[16+n:]
		var step uint64
		fields(t, event, func(num protowire.Number, number uint64, bytes []byte) {
			switch num {
			case 1:
				if math.Float64frombits(number) != 1.7e9 {
					t.Errorf("wall time %g", math.Float64frombits(number))
				}
			case 2:
				step = number
			case 5:
				fields(t, bytes, func(_ protowire.Number, _ uint64, value []byte) {
					s := scalar{step: step}
					fields(t, value, func(num protowire.Number, number uint64, tag []byte) {
						if num == 1 {
							s.tag = string(tag)
						} else {
							s.value = math.Float32frombits(uint32(number))
						}
					})
					got = append(got, s)
				})
			}
		})
	}
	if !slices.Equal(got, []scalar{{1, "reward", 1}, {4, "episode_return", 2}, {4, "reward", 0.5}}) {
		t.Errorf("scalars %v", got)
	}
}

// fields calls f with every field of a message: its number or its bytes.
func fields(t *testing.T, message []byte, f func(num protowire.Number, number uint64, bytes []byte)) {
	t.Helper()
	for len(message) > 0 {
		num, kind, n := protowire.ConsumeTag(message)
		message = message[max(n, 0):]
		var number uint64
		var bytes []byte
		switch kind {
		case protowire.VarintType:
			number, n = protowire.ConsumeVarint(message)
		case protowire.Fixed32Type:
			var x uint32
			x, n = protowire.ConsumeFixed32(message)
			number = uint64(x)
		case protowire.Fixed64Type:
			number, n = protowire.ConsumeFixed64(message)
		case protowire.BytesType:
			bytes, n = protowire.ConsumeBytes(message)
		}
		if n <= 0 {
			t.Fatalf("cannot decode %x", message)
		}
		f(num, number, bytes)
		message = message[n:]
	}
}

func TestLaTeX(t *testing.T) {
	dir := t.TempDir()
	must.Get(Write("latex", dir, source(t)))(t)
	text := must.Get(os.ReadFile(filepath.Join(dir, "summary.tex")))(t)
	if !strings.Contains(string(text), `a\_1 & 2 & 0.`) || !strings.Contains(string(text), `$\pm$`) || !strings.Contains(string(text), "\nb & 0 &") {
		t.Errorf("%s", text)
	}
	// After \\, LaTeX takes [ or * at the beginning of a row for an argument. It reads [up] as a
	// distance, and hangs.
	for cell, want := range map[string]string{
		"[up]": "{}[up]", "*": "{}*", "a [b] *": "a [b] *", `<b> "γ≥0.9|σ"`: "$<$b$>$ ''$\\gamma$$\\ge$0.9$|$$\\sigma$''", "-1": "$-$1",
	} {
		if got := result.LaTeX(cell); got != want {
			t.Errorf("%s became %s, want %s", cell, got, want)
		}
	}
	if got := result.LaTeX("a\n\\input{x}\x1b"); got != `a \textbackslash{}input\{x\} ` {
		t.Errorf("a label becomes %q", got)
	}
	evil := source(t)
	evil.Summary.Meta.Environments[0] = "e\n\\input{/etc/passwd}"
	must.Get(Write("latex", dir, evil))(t)
	if text, err := os.ReadFile(filepath.Join(dir, "summary.tex")); err != nil || strings.Contains(string(text), "\n\\input") {
		t.Errorf("a label ends a comment: %s, %v", text, err)
	}
	if _, err := Write("excel", dir, source(t)); err == nil {
		t.Error("an unknown format is written")
	}
}

// A metric that no run of an agent has is a row without a value in tables, and a point without
// one in events.
func TestUnknownMetrics(t *testing.T) {
	meta := result.Meta{Name: "x", Steps: 2, Grid: []int{1, 2}, Environments: []string{"e"}, Agents: []string{"a"}, Runs: 1, Asked: []result.Metric{result.Reward, result.Regret}}
	records := func(yield func(result.Record, error) bool) {
		yield(result.Record{Environment: "e", Agent: "a", Status: result.OK, Steps: 2, Curves: map[result.Metric][]float64{result.Reward: {1, 2}}}, nil)
	}
	s := &Source{Summary: must.Get(result.Aggregate(meta, records))(t), Records: func() iter.Seq2[result.Record, error] { return records }}
	dir := t.TempDir()
	for _, format := range []string{"csv", "latex", "tensorboard", "parquet"} {
		must.Get(Write(format, dir, s))(t)
	}
	if text := string(must.Get(os.ReadFile(filepath.Join(dir, "outcomes.csv")))(t)); !strings.Contains(text, "e,a,0,regret,NaN") {
		t.Error(text)
	}
	if text := string(must.Get(os.ReadFile(filepath.Join(dir, "summary.tex")))(t)); !strings.Contains(text, "not known") {
		t.Error(text)
	}
	events := must.Get(filepath.Glob(filepath.Join(dir, "e", "a", "run-0", "*")))(t)
	if len(events) != 1 || !strings.Contains(string(must.Get(os.ReadFile(events[0]))(t)), "regret\x15\x00\x00\xc0\x7f") { // a quiet NaN
		t.Errorf("events %q", events)
	}
}
