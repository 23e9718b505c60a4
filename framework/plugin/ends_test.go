package plugin_test

import (
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/internal/must"
)

// The SDK's processes end as the protocol says. A shell that goes on after the plugin
// that it started does not, nor does a program that SIGINT or SIGTERM ends.
func TestCheckEnds(t *testing.T) {
	if !isDir("/proc/self") {
		t.Skip("needs a system with signals and a shell")
	}
	for _, tt := range []struct {
		name     string
		command  []string
		patience time.Duration
		broken   []string
	}{
		{"good", []string{os.Args[0], "serve-environment"}, 0, nil},
		{"interrupted", []string{os.Args[0], "serve-interruptibly"}, 0, []string{plugin.IgnoresInterrupts}},
		{"terminated", []string{os.Args[0], "serve-terminably"}, 0, []string{plugin.IgnoresInterrupts}},
		{"a shell that goes on", []string{"/bin/sh", "-c", `trap "" INT TERM; "$0" serve-environment; sleep 60`, os.Args[0]}, time.Second,
			[]string{plugin.EndsWhenTold, plugin.EndsWithConnection, plugin.EndsWithParent}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if testing.Short() && len(tt.broken) > 1 {
				t.Skip("waits for processes that do not end")
			}
			t.Parallel()
			faults := must.Get(plugin.CheckEnds(t.Context(), plugin.LaunchConfig{Command: tt.command[0], Args: tt.command[1:], CloseTimeout: tt.patience}))(t)
			var broken []string
			for _, fault := range faults {
				var end *plugin.EndFault
				if errors.As(fault, &end) {
					broken = append(broken, end.Rule)
				}
			}
			if !slices.Equal(broken, tt.broken) {
				t.Errorf("broken are %v, want %v: %v", broken, tt.broken, faults)
			}
		})
	}
}
