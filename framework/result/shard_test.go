package result

import (
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
	has := func(shard int) func(Key) bool {
		return func(k Key) bool { return (k.Run+len(k.Agent))%shards == shard }
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
			for run := range runs / 3 {
				if has(shard)(Key{Agent: agent, Run: run}) {
					recs = append(recs, record(agent, run))
				}
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
			got := must.Get(OpenShard(t.Context(), dir, shard, shards, has(shard)))(t)
			want := slices.DeleteFunc(slices.Clone(all.Entries), func(e Entry) bool { return !has(shard)(e.Key) })
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

	// It does not read files of other shards, so it does not find damage there.
	write(RecordsFile{Shard: 6, Shards: shards}, record("a", 5))
	for _, name := range must.Get(RecordFiles(dir))(t) {
		if o, _ := ParseRecordsName(name); o.Shards > 0 {
			data := must.Get(os.ReadFile(name))(t)
			data[len(data)/3] ^= 1
			must.Do(t, os.WriteFile(name, data, 0o600))
		}
	}
	if _, err := OpenRuns(dir); err == nil {
		t.Error("damage is not found")
	}
	if _, err := OpenShard(t.Context(), dir, 0, shards, has(0)); err != nil {
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
