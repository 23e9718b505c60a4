package result

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
)

// A shard finds the records of its runs, and those alone, wherever they are: in files of its
// own, of another division, of one process, and packed.
func TestOpenShard(t *testing.T) {
	const runs, shards = 3000, 300
	dir := t.TempDir()
	own := func(shard int) ShardRuns {
		return ShardRuns{Shard: shard, Shards: shards, Of: func(_, agent string, first, last int) (list []int) {
			for run := max(first, 0); run <= min(last, runs-1); run++ {
				if (run+len(agent))%shards == shard {
					list = append(list, run)
				}
			}
			return list
		}}
	}
	record := func(agent string, run int) Record {
		return Record{Environment: "e", Agent: agent, Run: run, Status: OK, Steps: 3, Curves: map[Metric][]float64{Reward: append([]float64{float64(run)}, make([]float64, 150)...)}}
	}
	write := func(name RecordsFile, recs ...Record) {
		t.Helper()
		name.Environment, name.Agent, name.First, name.Last = "e", recs[0].Agent, recs[0].Run, recs[len(recs)-1].Run
		must.Do(t, WriteRecords(dir, RecordsName(name), recs))
	}
	for _, agent := range []string{"a", "bb"} {
		for shard := range shards { // the first third by shards of this division
			var recs []Record
			for _, run := range own(shard).Of("e", agent, 0, runs/3) {
				recs = append(recs, record(agent, run))
			}
			write(RecordsFile{Shard: shard, Shards: shards}, recs...)
		}
		var whole []Record // the second third by one process
		for run := runs / 3; run < 2*runs/3; run++ {
			whole = append(whole, record(agent, run))
		}
		write(RecordsFile{}, whole...)
		for run := 2 * runs / 3; run < runs; run += 100 { // some by another division
			write(RecordsFile{Shard: 1, Shards: 7}, record(agent, run))
		}
	}
	check := func(t *testing.T) {
		t.Helper()
		all := must.Get(OpenRuns(dir))(t)
		for shard := 0; shard < shards; shard += 31 {
			of := own(shard)
			got := must.Get(OpenShard(t.Context(), dir, of))(t)
			want := slices.DeleteFunc(slices.Clone(all.Entries), func(e Entry) bool { return len(of.Of(e.Environment, e.Agent, e.Run, e.Run)) == 0 })
			if !slices.EqualFunc(got.Entries, want, func(a, b Entry) bool { return a.Key == b.Key && a.Status == b.Status && a.length == b.length }) {
				t.Fatalf("shard %d has %d records, want %d", shard, len(got.Entries), len(want))
			}
			i := 0
			for rec, err := range got.All() {
				if err != nil || rec.Run != want[i].Run || rec.Curves[Reward][0] != float64(rec.Run) {
					t.Fatalf("record %d: %+v, %v", i, rec, err)
				}
				i++
			}
		}
	}
	t.Run("spread", check)
	if _, _, err := Compact(t.Context(), Meta{Environments: []string{"e", "f"}, Agents: []string{"a", "bb"}}, dir); err != nil {
		t.Fatal(err)
	}
	t.Run("packed", check)

	// It does not read records of other shards, so it does not find damage
	// there.
	other := record("a", 5)
	write(RecordsFile{Shard: 6, Shards: shards}, other)
	files := must.Get(RecordFiles(dir))(t)
	for _, name := range files {
		data := must.Get(os.ReadFile(name))(t)
		at := len(data) / 3
		if o, _ := ParseRecordsName(name); o.Shards == 0 { // far from runs 299 and 599, which shard 0 looks for
			at = bytes.Index(data, []byte(`"run":450,`)) + 100
		}
		data[at] ^= 1
		must.Do(t, os.WriteFile(name, data, 0o600))
	}
	if _, err := OpenRuns(dir); err == nil {
		t.Error("damage is not found")
	}
	if _, err := OpenShard(t.Context(), dir, own(0)); err != nil {
		t.Error(err)
	}
}

// A name tells where records come from, also where labels look like a shard.
func TestOriginOf(t *testing.T) {
	programs := Programs{"aa", "bb", "cc"}
	for _, want := range []RecordsFile{
		{Environment: "e", Agent: "a", First: 3, Last: 103, Shard: 3, Shards: 50, Programs: programs},
		{Environment: "s1-2", Agent: "s3-4", Last: 7, Programs: Programs{"aa", "aa", "aa"}},
		{Environment: "e", Agent: "p1"},
	} {
		for _, number := range []string{"", ".2"} { // where the name was taken
			if got, ok := ParseRecordsName(filepath.Join("x.s1-9", RecordsName(want)+number+runsExt)); !ok || got != want {
				t.Errorf("%+v, want %+v", got, want)
			}
		}
	}
	if got, _ := ParseRecordsName("e.a.0-7.s9-9.jsonl"); got.Shards != 0 {
		t.Errorf("there is no shard 9 of 9: %+v", got)
	}
	for _, name := range []string{"mine.jsonl", "e.a.b.jsonl", "e.a.1.jsonl", "e.a.-1-2.jsonl"} {
		if got, ok := ParseRecordsName(name); ok {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
