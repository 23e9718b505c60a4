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

// ErrTooOld says that the plugin requires a newer rlrun.
var ErrTooOld = errors.New("a newer rlrun is needed")

// Requires returns p with a requirement: the oldest rlrun that it works with, as
// "rlrun >= 0.2.0". An older rlrun refuses to start the plugin:
//
//	func main() { plugin.Serve(plugin.Requires("rlrun >= 0.2.0", plugin.NewAgent(id, doc, defaults, newAgent))) }
//
// A requirement of any other form is also refused.
func Requires(requirement string, p vector.Plugin) vector.Plugin {
	return &described{p, func(d *vector.Description) { d.Requires = requirement }}
}

// PreferLanes returns p with the largest number of lanes that suits it. For
// instance, more than 16 lanes of an agent with networks may not fit into the
// memory of a GPU. rlrun opens at most this number, unless the config sets
// lanes. 0: any number.
func PreferLanes(lanes int, p vector.Plugin) vector.Plugin {
	return &described{p, func(d *vector.Description) { d.PreferredLanes = max(lanes, 0) }}
}

// MaxActors returns p, an agent that is a vector.AgentBatcher, with the largest number of actors
// that a run of it may have: see Spec.Actors.
func MaxActors(actors int, p vector.Plugin) vector.Plugin {
	return &described{p, func(d *vector.Description) { d.MaxActors = max(actors, 0) }}
}

// FramesPerSecond returns p with the pace at which frames of successive steps look
// natural, for environments that are framework.FrameRenderers. See rlrun plugin play.
func FramesPerSecond(fps float64, p vector.Plugin) vector.Plugin {
	return &described{p, func(d *vector.Description) { d.FramesPerSecond = fps }}
}

// described is a plugin whose description says more.
type described struct {
	vector.Plugin
	add func(*vector.Description)
}

// Describe implements vector.Plugin.
func (p *described) Describe(ctx context.Context) (vector.Description, error) {
	d, err := p.Plugin.Describe(ctx)
	p.add(&d)
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
		return fmt.Errorf("%w: the plugin requires rlrun >= %s, this is rlrun %s: install a newer rlrun, or an older version of the plugin", ErrTooOld, m[1], release)
	}
	return nil
}
