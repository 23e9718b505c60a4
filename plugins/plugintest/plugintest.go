// Package plugintest checks plugins as they will be used: called directly, and
// through the seam between processes. It is for tests, but imports no testing
// package.
package plugintest

import (
	"context"
	"encoding/json"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/framework/rltest"
	"github.com/rlrun/rlrun/framework/vector"
)

// T has the methods of a *testing.T or *testing.B that this package needs.
type T interface {
	Helper()
	Context() context.Context
	Cleanup(func())
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Loopback returns p as seen through the seam: over a real gRPC connection within
// this process, closed when the test ends.
func Loopback(t T, p vector.Plugin) *plugin.Process {
	t.Helper()
	remote, err := plugin.Loopback(p)
	if err != nil {
		t.Fatalf("loopback: %v", err)
	}
	t.Cleanup(func() {
		if err := remote.Close(); err != nil {
			t.Errorf("loopback: %v", err)
		}
	})
	return remote
}

// Conform runs the conformance suite over p twice: directly, and through
// Loopback. For params and specs see rltest.CheckPlugin.
func Conform(t T, p vector.Plugin, params json.RawMessage, specs ...framework.Spec) {
	t.Helper()
	if err := rltest.CheckPlugin(t.Context(), p, params, specs...); err != nil {
		t.Errorf("called directly:\n%v", err)
	}
	if err := rltest.CheckPlugin(t.Context(), Loopback(t, p), params, specs...); err != nil {
		t.Errorf("through the seam:\n%v", err)
	}
}
