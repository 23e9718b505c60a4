package main

import (
	"maps"
	"slices"
	"testing"

	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/framework/store"
	"github.com/rlrun/rlrun/internal/must"
)

// Generated configs are valid.
func TestGeneratedConfigs(t *testing.T) {
	t.Chdir(t.TempDir())
	check := func(path string, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := plan.Compile(must.Get(store.ReadConfig(path))(t)); err != nil {
			t.Error(err)
		}
	}
	check(writeGains())
	for _, write := range []struct {
		names []string
		path  func(name string) (string, error)
	}{
		{slices.Sorted(maps.Keys(handmadeHalves)), writeHandmade},
		{slices.Sorted(maps.Keys(changingHalves)), writeChanging},
		{slices.Sorted(maps.Keys(episodesOf)), writeEpisodes},
		{slices.Sorted(maps.Keys(optionsStudies)), writeOptions},
		{slices.Sorted(maps.Keys(deepStudies)), writeDeep},
	} {
		for _, name := range write.names {
			check(write.path(name))
		}
	}
}
