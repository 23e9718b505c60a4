package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/internal/must"
)

// Whatever a config holds, it is compiled or refused with an error that has a text. A
// compiled config is written so that it compiles again, to the same plan.
func FuzzConfig(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte("runs: 1\nsteps: 1\nseed: 0\nenvironments: [{plugin: a, sweep: {x.y: [1, 2]}}]\nagents: [{plugin: b, name: '{p}', sweep: {p: [{q: 1}]}, exploration: {}}]\n"))
	f.Add([]byte("environments: [{plugin: a, sweep: {.: [1]}}]\nagents: [{plugin: b}]\n"))
	f.Add([]byte("a: &a [*a]\nb: {<<: *a}"))
	f.Add([]byte("? [x]\n: !!binary aGVsbG8=\n---\n- 1"))
	f.Add([]byte("runs: 1e400\nsteps: .nan\nenvironments: {}\nagents: ~\nlimits: {open: soon, call: -1s}\n\x1b]0;x\a"))
	configs, err := filepath.Glob("../../../configs/*.yaml")
	if err != nil || len(configs) == 0 {
		f.Fatal("no configs: ", err)
	}
	for _, path := range configs {
		if data := must.Get(os.ReadFile(path))(f); len(data) < 1300 { // longer ones make mutations slow
			f.Add(data)
		}
	}
	flags := parseFlags(f, nil)
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Parse("exp.yaml", data, flags)
		if err != nil {
			if err.Error() == "" {
				t.Fatal("an error without a text")
			}
			return
		}
		// Sizes that rlrun run asks about, and grids that are only large.
		if e, a := file.Config.Variants(); e*a > 100 || file.Config.Steps > 1e5 {
			return
		}
		first, err := plan.Compile(file.Config)
		if err != nil {
			if file.Locate(err).Error() == "" {
				t.Fatal("an error without a text")
			}
			return
		}
		text := must.Get(first.Config.YAML())(t)
		c, err := plan.ParseConfig(text)
		if err != nil {
			t.Fatalf("the config that was written: %v\n%s", err, text)
		}
		again, err := plan.Compile(c)
		if err != nil || len(again.Cells) != len(first.Cells) {
			t.Fatalf("the config that was written: %v\n%s", err, text)
		}
	})
}
