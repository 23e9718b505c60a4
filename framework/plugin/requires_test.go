package plugin

import (
	"errors"
	"os"
	"regexp"
	"testing"

	"github.com/rlrun/rlrun/internal/must"
)

func TestCheckRequires(t *testing.T) {
	for _, tt := range []struct {
		required, release string
		want              error
	}{
		{"", "0.1.0", nil},
		{"rlrun >= 0.1.0", "0.1.0", nil},
		{"rlrun >= 0.1", "0.1.3", nil},
		{"rlrun>=1", "1.0.0", nil},
		{"rlrun >= 0.9.0", "0.10.0", nil}, // numbers, not texts
		{"rlrun >= 0.10.0", "0.9.9", ErrTooOld},
		{"rlrun >= 2", "1.99.99", ErrTooOld},
		{"rlrun < 2", "1.0.0", ErrProtocol},
		{"0.1.0", "1.0.0", ErrProtocol},
		{"rlrun >= 0.1.0.0", "1.0.0", ErrProtocol},
	} {
		if err := checkRequires(tt.required, tt.release); !errors.Is(err, tt.want) {
			t.Errorf("%q for %s: %v, want %v", tt.required, tt.release, err, tt.want)
		}
	}
}

// The version stands in several files. They agree.
func TestReleaseIsOne(t *testing.T) {
	for file, pattern := range map[string]string{
		"../../python/pyproject.toml":        `(?m)^version = "(.*)"$`,
		"../../python/src/rlrun/__init__.py": `(?m)^__version__ = "(.*)"$`,
		"../../CITATION.cff":                 `(?m)^version: (.*)$`,
	} {
		data := must.Get(os.ReadFile(file))(t)
		if m := regexp.MustCompile(pattern).FindSubmatch(data); m == nil || string(m[1]) != Release {
			t.Errorf("%s has the version %q, Release is %s", file, m, Release)
		}
	}
}
