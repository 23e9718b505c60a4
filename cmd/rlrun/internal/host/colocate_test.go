package host

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/run"
	"github.com/rlrun/rlrun/framework/store"
	"github.com/rlrun/rlrun/internal/must"
)

// An experiment in which environment and agent share a process leaves the same files as one in which
// they do not: records, failures, saved agents, and the provenance of the plugins. Agents may fail, die,
// hang, break what they share with the environment, or import what is the environment's. An experiment
// may begin in one way and go on in the other.
func TestTogetherAsApart(t *testing.T) {
	python := os.Getenv("RLRUN_PYTHON")
	if python == "" || testing.Short() {
		t.Skip("starts many interpreters; needs RLRUN_PYTHON")
	}
	script := must.Get(filepath.Abs("../../../../framework/plugin/testdata/mixed.py"))(t)
	parted := map[string]string{"raise": "no update 57", "die": "the process died", "hang": "no answer within", "break": "not callable",
		"import": "import of gymnasium"}
	none := 0
	play := func(dir string, runs int, agents []string, colocate plan.Colocation, existing store.Existing) (choices []string) {
		config := plan.Config{Runs: runs, Steps: 240, Output: dir, Workers: 1, Colocate: colocate, Save: &plan.Save{Every: 90},
			Evaluate: &plan.Evaluation{Every: 110, Episodes: 1, Limit: 20}, Limits: plan.Limits{Call: "2s", Retries: &none},
			Environments: []plan.Component{{Plugin: "gymnasium:CartPole-v1"}}}
		for _, how := range agents {
			config.Agents = append(config.Agents, plan.Component{Name: how, Plugin: python, Args: []string{script},
				Params: json.RawMessage(fmt.Sprintf(`{"fail_at": 57, "how": %q}`, how))})
		}
		c := must.Get(NewCatalogue(nil, hclog.NewNullLogger()))(t)
		must.Do(t, c.Configure(config))
		x := run.New(must.Get(plan.Compile(config))(t), c)
		defer x.Close()
		must.Do(t, x.Check(t.Context(), nil))
		must.Do(t, x.Run(t.Context(), existing, run.Settings{Event: func(e run.Event) {
			if e.Choice != "" {
				choices = append(choices, e.Choice)
			}
			if e.Notice != "" {
				t.Errorf("%s: %s", colocate, e.Notice)
			}
		}}))
		return choices
	}
	same := func(agents []string, apart, together string) {
		want, got := files(t, apart), files(t, together)
		if len(want) < 2*len(agents) {
			t.Errorf("only %q", slices.Sorted(maps.Keys(want)))
		}
		for name := range want {
			if want[name] != got[name] {
				t.Errorf("%s:\napart %.2000s\ntogether %.2000s", name, want[name], got[name])
			}
		}
		if len(got) != len(want) {
			t.Errorf("apart %q, together %q", slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got)))
		}
	}
	agents := append(slices.Sorted(maps.Keys(parted)), "fine")
	apart, together := t.TempDir(), t.TempDir()
	if got := play(apart, 1, agents, "never", store.Refuse); len(got) > 0 {
		t.Errorf("apart: %q", got)
	}
	got := play(together, 1, agents, plan.Together, store.Refuse)
	same(agents, apart, together)
	for i, how := range agents {
		begins := "gymnasium:CartPole-v1 and " + how
		if len(got) != 2*len(agents)-1 || got[2*i] != begins+" share a process" ||
			how != "fine" && (!strings.HasPrefix(got[2*i+1], begins+" do not share a process: ") || !strings.Contains(got[2*i+1], parted[how])) {
			t.Errorf("%s: %q", how, got)
		}
	}
	apart, together = t.TempDir(), t.TempDir()
	play(apart, 1, agents[len(agents)-1:], "never", store.Refuse)
	play(apart, 3, agents[len(agents)-1:], "never", store.Resume)
	play(together, 1, agents[len(agents)-1:], "never", store.Refuse)
	play(together, 3, agents[len(agents)-1:], plan.Together, store.Resume)
	same(agents[len(agents)-1:], apart, together)
}

var times = regexp.MustCompile(`"(started|ended|time)": *"[^"]*"`)

// files returns what is in a directory, without the settings, the times and the costs.
func files(t *testing.T, dir string) map[string]string {
	found := map[string]string{}
	must.Do(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		name := must.Get(filepath.Rel(dir, path))(t)
		if err == nil && !d.IsDir() && name != "experiment.yaml" && filepath.Dir(name) != ".costs" {
			found[name] = times.ReplaceAllString(string(must.Get(os.ReadFile(path))(t)), "")
		}
		return err
	}))
	return found
}
