package families

import (
	"fmt"
	"math/rand/v2"

	"github.com/invopop/jsonschema"

	"github.com/rlrun/rlrun/mdp/catalog"
)

// Name is the name of a family.
type Name string

// kind is one family. Its tasks are weakly communicating once episodes follow
// each other, so that each has one optimal reward per step.
type kind struct {
	name     Name
	doc      string // ends the sentence "a task is …"
	episodic bool   // its tasks end; the others continue
	generate func(*rand.Rand) (*catalog.Task, error)
}

// kinds are all families.
var kinds = []kind{
	{"low-bandit", "8 to 16 Bernoulli arms of low means, most below 0.1", false, lowBandit},
	{"many-arms", "30 to 60 Bernoulli arms with means up to 0.8", false, manyArms},
	{"garnet-dense", "a random model of 10 to 20 states, in which an action has six successors", false, garnetDense},
	{"garnet-sparse", "a random model of 25 to 45 states, in which an action has two successors and five pairs pay", false, garnetSparse},
	{"river", "a swim of 6 to 12 states against the current, for a reward 50 to 200 times the reward of drifting", false, river},
	{"lock", "a combination lock of 6 to 12 digits that falls back to the start on an error", false, lock},
	{"grid", "a slippery grid of 5 to 8 cells a side with a goal in the far corner and small rewards on the way", false, grid},
	{"queue", "a queue of up to 10 to 20 customers with three speeds of service; all rewards are costs", false, queue},
	{"inventory", "a store of 8 to 14 items with Poisson demand and orders of up to four", false, inventory},
	{"goals", "a slippery corridor with a small goal nearby and a large one far away", false, goals},
	{"rings", "a short round, and a long one that pays more per step but is easily left", false, rings},
	{"trap-short", "rooms to choose from, and an action in each that may lead into a trap for 20 to 50 steps", false, trapShort},
	{"trap-long", "rooms to choose from, and actions that may lead into a trap for 150 to 400 steps", false, trapLong},
	{"rare", "a hall with four to six rooms; the more a room pays, the more rarely its door opens", false, rare},
	{"cost", "a way of 12 to 20 states to an end, where every step costs", true, cost},
	{"pits", "a slippery grid of 4 to 7 cells a side with a goal and pits that end the episode", true, pits},
	{"sea", "a dive of 6 to 10 rows, where the reward is found by moving right in every row", true, sea},
}

// JSONSchemaExtend writes the families into the schema of the parameters.
func (Params) JSONSchemaExtend(s *jsonschema.Schema) {
	kind, _ := s.Properties.Get("kind")
	kind.Description = "The family."
	for _, k := range kinds {
		kind.Enum = append(kind.Enum, k.name)
		kind.Description += fmt.Sprintf(" %s: %s", k.name, k.doc)
		if k.episodic {
			kind.Description += ", in episodes"
		}
		kind.Description += "."
	}
}
