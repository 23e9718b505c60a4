package plugin

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"golang.org/x/mod/semver"

	"github.com/rlrun/rlrun/framework/vector"
)

// Release is the version of rlrun that this source is, or will be released as.
// Requirements of plugins are compared with it.
const Release = "0.1.0"

// ErrTooOld: the plugin requires a newer rlrun.
var ErrTooOld = errors.New("a newer rlrun is needed")

// Requires returns p with a requirement: the oldest rlrun that it works with, as
// "rlrun >= 0.2.0". An older rlrun refuses to start the plugin:
//
//	func main() { plugin.Serve(plugin.Requires("rlrun >= 0.2.0", plugin.NewAgent(id, doc, defaults, newAgent))) }
//
// A requirement of any other form is refused, too.
func Requires(requirement string, p vector.Plugin) vector.Plugin {
	return &requiring{p, requirement}
}

type requiring struct {
	vector.Plugin
	requirement string
}

// Describe implements vector.Plugin.
func (r *requiring) Describe(ctx context.Context) (vector.Description, error) {
	d, err := r.Plugin.Describe(ctx)
	d.Requires = r.requirement
	return d, err
}

var requirement = regexp.MustCompile(`^rlrun\s*>=\s*(\d+(?:\.\d+){0,2})$`)

// checkRequires refuses a plugin that requires a newer release than the given one.
func checkRequires(required, release string) error {
	if required == "" {
		return nil
	}
	m := requirement.FindStringSubmatch(required)
	if m == nil {
		return fmt.Errorf(`%w: the plugin requires %q: it must read "rlrun >= 0.2.0"`, ErrProtocol, required)
	}
	if semver.Compare("v"+m[1], "v"+release) > 0 {
		return fmt.Errorf("%w: the plugin requires %s, this is rlrun %s: install a newer rlrun, or an older version of the plugin", ErrTooOld, required, release)
	}
	return nil
}
