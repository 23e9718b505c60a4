package config

import (
	"testing"

	"github.com/rlrun/rlrun/framework/plan"
)

// Flags and --set win over environment variables, these over the file.
func TestLayers(t *testing.T) {
	runs := func(args ...string) int {
		t.Helper()
		f, problem := load(t, good, args...)
		if problem != "" {
			t.Fatal(problem)
		}
		return f.Runs
	}
	if got := runs(); got != 10 {
		t.Errorf("file alone gives %d", got)
	}
	t.Setenv("RLRUN_RUNS", "")
	if got := runs(); got != 10 {
		t.Errorf("an empty variable gives %d", got)
	}
	t.Setenv("RLRUN_RUNS", "7")
	if got := runs(); got != 7 {
		t.Errorf("variable over file gives %d", got)
	}
	if got := runs("--runs=8"); got != 8 {
		t.Errorf("flag over variable gives %d", got)
	}
	if got := runs("--set", "runs=9"); got != 9 {
		t.Errorf("--set over variable gives %d", got)
	}
}

// A variable that is nearly one of a setting is refused, and no other one of rlrun's is.
func TestMisspeltVariables(t *testing.T) {
	for name, meant := range map[string]string{
		"RLRUN_RUN": "RLRUN_RUNS", "RLRUN_OUT": "RLRUN_OUTPUT", "RLRUN_STEP": "RLRUN_STEPS", "RLRUN_sed": "RLRUN_SEED",
		"RLRUN_LOG": "", "RLRUN_TRUST": "", "RLRUN_GUEST": "", "RLRUN_PYTHON": "", "RLRUN_PLUGIN": "", "RLRUN_PLUGIN_PATH": "", "RLRUN_STEP_FD": "",
		"RLRUN_BINARY": "", "RLRUN_VECTORS": "", "RLRUN_SERVE_TOKEN": "", "RLRUN_GUARDIAN": "", "RLRUN_RUNS": "", "RUNS": "",
	} {
		found := misspelt([]string{name + "=1"})
		if meant == "" && found != nil {
			t.Error(found)
		}
		if want := "environment variable " + name + ": is unknown; did you mean " + meant + "?"; meant != "" && (found == nil || found.Error() != want) {
			t.Errorf("%s: %v, want %s", name, found, want)
		}
	}
	found := misspelt([]string{"RLRUN_EPISODES=5"})
	if want := "environment variable RLRUN_EPISODES: is unknown: give episodes in the config, or with --set episodes=VALUE"; found == nil || found.Error() != want {
		t.Errorf("%v, want %s", found, want)
	}
}

func TestEverySetting(t *testing.T) {
	check := func(args ...string) {
		t.Helper()
		f, problem := load(t, good, args...)
		if problem != "" {
			t.Fatal(problem)
		}
		want := f.Config
		want.Runs, want.Steps, want.Seed, want.Workers, want.Lanes = 2, 3, new(uint64(18446744073709551615)), 5, 6
		want.Transport, want.Output = plan.Process, "a: b"
		if got := f.Config; got.Runs != want.Runs || got.Steps != want.Steps || *got.Seed != *want.Seed ||
			got.Workers != want.Workers || got.Lanes != want.Lanes || got.Transport != want.Transport || got.Output != want.Output {
			t.Errorf("got %+v", got)
		}
	}
	check("--runs=2", "--steps=3", "--seed=18446744073709551615", "--workers=5", "--lanes=6", "--transport=process", "--out=a: b")
	for name, value := range map[string]string{
		"RUNS": "2", "STEPS": "3", "SEED": "18446744073709551615", "WORKERS": "5", "LANES": "6", "TRANSPORT": "process", "OUTPUT": "a: b",
	} {
		t.Setenv("RLRUN_"+name, value)
	}
	check()
}

func TestSettingProblems(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"--runs=x"}, `--runs: must be a whole number, not the text "x"`},
		{[]string{"--runs=-3"}, "--runs: must be at least 1, not -3"},
		{[]string{"--runs="}, "--runs: has no value"},
		{[]string{"--out="}, "--out: has no value"},
		{[]string{"--out=a\xff"}, `--out: "a\xff" is not text in UTF-8`},
		{[]string{"--lanes=1.5"}, "--lanes: must be a whole number, not the number 1.5"},
		{[]string{"--transport=proces"}, `--transport: must be inprocess or process, not the text "proces"; did you mean process?`},
		{[]string{"--seed=99999999999999999999"}, "--seed: must be at most 18446744073709551615, not 99999999999999999999"},
		{[]string{"--runs=3", "--set", "runs=4"}, "--set runs=4: --runs sets the same key; give one of the two"},
	} {
		if _, got := load(t, good, tt.args...); got != tt.want {
			t.Errorf("%q: got\n%s\nwant\n%s", tt.args, got, tt.want)
		}
	}
	t.Setenv("RLRUN_STEPS", "many")
	want := `environment variable RLRUN_STEPS: must be a whole number, not the text "many"`
	if _, got := load(t, good); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
