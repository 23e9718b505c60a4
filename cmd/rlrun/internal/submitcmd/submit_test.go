package submitcmd

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rlrun/rlrun/internal/must"
)

var update = flag.Bool("update", false, "write the files of testdata")

// example is a submission with what is hard to quote.
func example(to string) *submission {
	return &submission{
		To: to, Name: "exp", Tasks: 50, Cpus: 4, Time: 2 * time.Hour, Dir: "/home/ada/50% done/it's", WorkDir: "/home/ada/my work",
		Env: []string{"RLRUN_PLUGIN_PATH=/opt/my plugins"}, Rlrun: "/opt/rlrun", Lock: "/home/ada/rlrun.lock.yaml", Scratch: "/scratch", Slurm: []string{"partition=cpu", "exclusive"},
		Image: "registry.example/rlrun:1", Claim: "results", config: "name: exp\nruns: 3\n", shards: "0-3,7",
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
		if err := (slurm{}).check(&submission{Dir: dir}); (err == nil) != ok {
			t.Errorf("%q: %v", dir, err)
		}
	}
}

// Values that sbatch would not understand are refused.
func TestSlurmOptions(t *testing.T) {
	for option, ok := range map[string]bool{
		"partition=cpu": true, "exclusive": true, "mem-per-cpu=2G": true, "array=0-3": false, "signal=TERM": false, "Partition=x": false, "a\nb=c": false, "a=b\nc": false, "": false,
	} {
		if err := (slurm{}).check(&submission{Slurm: []string{option}}); (err == nil) != ok {
			t.Errorf("%q: %v", option, err)
		}
	}
	for d, want := range map[time.Duration]string{time.Minute: "00:01:00", 50*time.Hour + 90*time.Second: "50:01:30"} {
		if got := slurmTime(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}
