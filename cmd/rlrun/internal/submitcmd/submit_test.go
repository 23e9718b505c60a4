package submitcmd

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rlrun/rlrun/internal/must"
)

var update = flag.Bool("update", false, "write the files of testdata")

// example is a submission with what is hard to quote.
func example(to string) *submission {
	return &submission{
		To: to, Name: "exp", Cpus: 4, Time: 2 * time.Hour, Dir: "/home/ada/50% done/it's", WorkDir: "/home/ada/my work",
		Env: []string{"RLRUN_PLUGIN_PATH=/opt/my plugins"}, Rlrun: "/opt/rlrun", Lock: "/home/ada/rlrun.lock.yaml", Slurm: []string{"partition=cpu", "exclusive"},
		Image: "registry.example/rlrun:1", Claim: "results", config: "name: exp\nruns: 3\n", kept: kept{Tasks: 50}, shards: []int{0, 1, 2, 3, 7}, largest: 1001,
	}
}

func TestGolden(t *testing.T) {
	for to, target := range targets {
		for _, f := range target.files(example(to)) {
			path := filepath.Join("testdata", to+"-"+f.name)
			if *update {
				must.Do(t, os.WriteFile(path, []byte(f.text), 0o644))
			}
			want := must.Get(os.ReadFile(path))(t)
			if f.text != string(want) {
				t.Errorf("%s is\n%s\nwant\n%s", path, f.text, want)
			}
		}
	}
}

// Objects have valid names, and other ones for other output directories.
func TestKubernetesNames(t *testing.T) {
	valid, taken := regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,60}[a-z0-9])?$`), map[string]string{}
	long := strings.Repeat("a", 45)
	for _, dir := range []string{"results/exp", "results/exp_2", "results/exp2", "results/実験", "results/実験2", "results/---", "results/é-", long, long + "b", "v1.2"} {
		label := (&submission{Dir: dir}).label()
		if !valid.MatchString(label) || taken[label] != "" {
			t.Errorf("%s is named %s; taken by %q", dir, label, taken[label])
		}
		taken[label] = dir
	}
	if got := (&submission{Dir: "results/exp-1"}).label(); got != "rlrun-exp-1" {
		t.Errorf("results/exp-1 is named %s", got)
	}
}

// Slurm cannot write logs to every directory.
func TestSlurmDirectories(t *testing.T) {
	for dir, ok := range map[string]bool{"/a b/it's 50% \"q\" $HOME": true, `/a\b`: false, "/a\nb": false} {
		if err := (slurm{}).check(t.Context(), &submission{Dir: dir, shards: []int{0}}); (err == nil) != ok {
			t.Errorf("%q: %v", dir, err)
		}
	}
}

// Values that sbatch would not understand are refused.
func TestSlurmOptions(t *testing.T) {
	for option, ok := range map[string]bool{
		"partition=cpu": true, "exclusive": true, "mem-per-cpu=2G": true, "array=0-3": false, "signal=TERM": false, "Partition=x": false, "a\nb=c": false, "a=b\nc": false, "": false,
	} {
		if err := (slurm{}).check(t.Context(), &submission{Slurm: []string{option}, shards: []int{0}}); (err == nil) != ok {
			t.Errorf("%q: %v", option, err)
		}
	}
	for d, want := range map[time.Duration]string{time.Minute: "00:01:00", 50*time.Hour + 90*time.Second: "50:01:30"} {
		if got := slurmTime(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}

// The forms of times in sbatch(1), and those of Go.
func TestTimeLimits(t *testing.T) {
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"2h": 2 * time.Hour, "1h30m": 90 * time.Minute, "90": 90 * time.Minute, "90:30": 90*time.Minute + 30*time.Second, "1:30:00": 90 * time.Minute,
		"36:00:00": 36 * time.Hour, "2-12": 2*day + 12*time.Hour, "2-12:30": 2*day + 12*time.Hour + 30*time.Minute, "1-0:0:1": day + time.Second, "0": unlimited, "0:00": unlimited, "UNLIMITED": unlimited, "infinite": unlimited, "365-0": 365 * day,
	} {
		var got timeLimit
		if err := got.Set(text); err != nil || time.Duration(got) != want {
			t.Errorf("%s: %v, %v, want %v", text, time.Duration(got), err, want)
		}
	}
	for _, text := range []string{"", "2 h", "1:2:3:4", "1-", "-5", "1-2-3", "1.5", "2d", "99999-0", "999999999:00:00", "1e3", "NONE"} {
		var got timeLimit
		if err := got.Set(text); err == nil {
			t.Errorf("%q: %v", text, time.Duration(got))
		}
	}
}

// Every shard is a task of one array, whose indices are below MaxArraySize, and its log has
// the number of the shard.
func TestArrays(t *testing.T) {
	logs := regexp.MustCompile(`^shard-([0-9]*)%([0-9]*)a\.log$`)
	for _, largest := range []int{10, 11, 99, 1000, 1001, 4000, 10001} {
		for _, tasks := range []int{1, largest, largest + 1, 3*largest + 7} {
			shards := slices.DeleteFunc(count(tasks), func(i int) bool { return i%3 == 1 && i > 1 }) // as with --missing
			s := &submission{shards: shards, largest: largest}
			var got []int
			for _, a := range s.arrays() {
				for _, i := range a.indices {
					log := logs.FindStringSubmatch(a.log)
					width, _ := strconv.Atoi(log[2])
					if name := fmt.Sprintf("%s%0*d", log[1], width, i); i >= largest || name != strconv.Itoa(a.first+i) {
						t.Fatalf("%d of %d: shard %d has index %d and log %s", tasks, largest, a.first+i, i, name)
					}
					got = append(got, a.first+i)
				}
			}
			if !slices.Equal(got, shards) || tasks <= largest && len(s.arrays()) != 1 {
				t.Fatalf("%d tasks, arrays of at most %d: %v", tasks, largest, s.arrays())
			}
		}
	}
}
