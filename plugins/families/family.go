// Package families generates finite tasks from seeds, for studies that must not
// be tuned to the tasks by which they judge. A family is one kind of task: rivers,
// combination locks, queues and so on. Its generator draws the sizes, the
// probabilities and the rewards of a task from a random stream.
//
// Every kind has two splits of its seeds. Constants of agents are chosen on the
// tasks of the split "development". Tables are made from those of the split "test",
// once, when everything is chosen. The two never share a task: the stream of a task
// begins at the SHA-256 digest of its kind, its split and its seed.
//
// A kind is a file with its generator and a line in kinds.go.
package families

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/params"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/internal/each"
	"github.com/rlrun/rlrun/mdp/catalog"
	"github.com/rlrun/rlrun/plugins/tabular"
)

// Params are the parameters of the environment: they name one task.
type Params struct {
	// Kind is the name of the family, one of Kinds.
	Kind Name `json:"kind"`
	// Seed numbers the tasks of a kind and split.
	Seed uint64 `json:"seed" jsonschema_description:"Seed of the task. The task depends on it, and not on the run."`
	// Split is Development or Test.
	Split string `json:"split" jsonschema:"enum=development,enum=test" jsonschema_description:"development: tasks on which constants are chosen. test: tasks for the tables of results, to be used once."`
}

// The splits of the seeds of every kind.
const (
	Development = "development" // to choose constants on
	Test        = "test"        // to make tables from, once
)

// Plugin returns the environment plugin of all families.
func Plugin() vector.Plugin {
	defaults := Params{Kind: "river", Split: Development}
	return &vector.EnvironmentPlugin{
		Description: vector.Description{
			ID: "rlrun/family@1", Kind: vector.KindEnvironment,
			Doc:       "A generated task of a family: bandits, Garnets, rivers, locks, grids, queues, traps and others, for development or for test.",
			Params:    params.Schema(&defaults),
			Abilities: []string{"model", "frames"}, FramesPerSecond: tabular.FramesPerSecond,
		},
		Open: func(raw json.RawMessage, n int) (vector.Environment, error) {
			p := defaults
			if err := params.Decode(raw, &p); err != nil {
				return nil, err
			}
			t, err := Task(p)
			if err != nil {
				return nil, fmt.Errorf("%w: %w", err, framework.ErrInvalidParams)
			}
			return tabular.New(fmt.Sprintf("rlrun/family-%s-%s-%d@1", p.Kind, p.Split, p.Seed), t, 0, n), nil
		},
	}
}

// Kinds returns the names of all families.
func Kinds() []Name {
	return each.Of(kinds, func(k kind) Name { return k.name })
}

// Task generates a task. The same parameters give the same task. Its actions are
// numbered in random order, so that agents that try the first action first gain
// nothing. Errors name the parameter that is wrong.
func Task(p Params) (*catalog.Task, error) {
	if p.Split != Development && p.Split != Test {
		return nil, fmt.Errorf("split is %q, must be %s or %s", p.Split, Development, Test)
	}
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == p.Kind })
	if i < 0 {
		return nil, fmt.Errorf("kind is %q, must be one of %v", p.Kind, Kinds())
	}
	rng := stream(p)
	t, err := kinds[i].generate(rng)
	if err != nil {
		return nil, fmt.Errorf("kind %s, split %s, seed %d: %w", p.Kind, p.Split, p.Seed, err)
	}
	return renumbered(t, rng)
}

// stream returns the random numbers that a task is drawn from: PCG at the first 16
// bytes of the SHA-256 digest of the task's name.
func stream(p Params) *rand.Rand {
	h := sha256.Sum256(fmt.Appendf(nil, "rlrun/family@1\x00%s\x00%s\x00%d", p.Kind, p.Split, p.Seed))
	return rand.New(rand.NewPCG(binary.LittleEndian.Uint64(h[:8]), binary.LittleEndian.Uint64(h[8:16])))
}
