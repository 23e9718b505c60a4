package catalog

import (
	"strings"
	"testing"
)

// A map is a task or is refused. Every state of a task is a cell of its map.
func FuzzMap(f *testing.F) {
	for _, text := range []string{"SFFF\nFHFH\nFFFH\nHFFG", "S.\n#G", "SSGG", "###\n#S#\n###", "S", "", "\n", "S\n..", "wSw\nw w\nwGw", "Sé\nG."} {
		f.Add(text, 0.5, true)
		f.Add(text, 0.0, false)
	}
	f.Fuzz(func(t *testing.T, text string, p float64, continuing bool) {
		rows := strings.Split(text, "\n")
		if len(text) > 1000 {
			return
		}
		lake, err := FrozenLake(rows, p)
		grid, err2 := GridWorld(Grid{Map: rows, Slip: p, Continuing: continuing})
		for _, made := range []struct {
			task *Task
			err  error
		}{{lake, err}, {grid, err2}} {
			switch {
			case made.err != nil && made.err.Error() == "":
				t.Fatal("an error without a text")
			case made.err == nil && (len(made.task.Layout.Cell) != made.task.Model.NumStates() || made.task.Model.NumStates() > len(text)):
				t.Fatalf("%q: %d states in %d cells", text, made.task.Model.NumStates(), len(made.task.Layout.Cell))
			}
		}
	})
}
