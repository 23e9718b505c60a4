package tabular

import (
	"encoding/json"
	"fmt"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/params"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/mdp/catalog"
)

// Plugins returns every task of the catalogue as an environment plugin. Tasks
// that circulate in variants have an id for each.
func Plugins() []vector.Plugin {
	return []vector.Plugin{
		plugin("rlrun/riverswim@1", "RiverSwim with the numbers of Osband's TabulaRL: swim right against the current for reward 1, or drift left for 0.005.",
			chain{Limit{}, 6}, func(p chain) (*catalog.Task, error) { return catalog.RiverSwim(p.States) }),
		plugin("rlrun/riverswim-strehl@1", "RiverSwim with the numbers of Strehl & Littman (2008): rewards 5 and 10000, for staying at an end.",
			chain{Limit{}, 6}, func(p chain) (*catalog.Task, error) { return catalog.RiverSwimStrehl(p.States) }),
		plugin("rlrun/sixarms@1", "SixArms (Strehl & Littman 2004): the better an arm pays, the less likely it is to be reached.",
			Limit{}, func(Limit) (*catalog.Task, error) { return catalog.SixArms() }),
		plugin("rlrun/chain@1", "Chain (Dearden, Friedman & Russell 1998; Strens 2000): forward for 10 at the end, back for 2 now, and a slip of 0.2.",
			chain{Limit{}, 5}, func(p chain) (*catalog.Task, error) { return catalog.Chain(p.States) }),
		plugin("rlrun/doubleloop@1", "Double loop (Watkins 1989): an easy loop for reward 1, a harder one for 2. Periodic.",
			Limit{}, func(Limit) (*catalog.Task, error) { return catalog.DoubleLoop() }),
		plugin("rlrun/maze@1", "The maze with three flags of Dearden, Friedman & Russell (1998), 264 states.",
			maze{Goal: "restart"}, maze.task),
		plugin("rlrun/deepsea@1", "DeepSea (bsuite): a reward at the bottom right, which needs N moves right in a row.",
			deepSea{Sea: catalog.Sea{Size: 10, MappingSeed: 42}}, deepSea.task),
		plugin("rlrun/fourrooms@1", "FourRooms (Sutton, Precup & Singh 1999), 104 cells.",
			fourRooms{}, func(p fourRooms) (*catalog.Task, error) { return catalog.FourRooms(p.Continuing) }),
		plugin("rlrun/frozenlake@1", "FrozenLake with Gymnasium's dynamics: cross the ice from S to G without falling into a hole H.",
			frozenLake{Size: 4, Success: 1. / 3}, frozenLake.task),
		plugin("rlrun/taxi@1", "Taxi with Gymnasium's dynamics, 500 states.",
			Limit{}, func(Limit) (*catalog.Task, error) { return catalog.Taxi() }),
		plugin("rlrun/cliffwalking@1", "CliffWalking with Gymnasium's dynamics: a short way along a cliff, or a longer safe way.",
			Limit{}, func(Limit) (*catalog.Task, error) { return catalog.CliffWalking() }),
		plugin("rlrun/garnet@1", "Garnet: a random model (Archibald, McKinnon & Thomas 1995).",
			garnet{States: 10, Actions: 2, Branching: 3}, garnet.task),
		plugin("rlrun/gridworld@1", "A grid with walls, slip and a map that you define.",
			gridWorld{Grid: catalog.Grid{Rows: 5, Cols: 5, GoalReward: 1}}, gridWorld.task),
	}
}

// largest is how many transitions the model of an environment may have: a few
// gigabytes.
const largest = 120_000_000

// Limit is the parameter that all tasks share.
type Limit struct {
	Limit *int `json:"limit,omitempty" jsonschema:"minimum=0" jsonschema_description:"Steps after which an episode is truncated; 0 for none. Default: the usual limit of the task."`
}

func (l Limit) of(t *catalog.Task) int {
	if l.Limit == nil {
		return t.Limit
	}
	return *l.Limit
}

type chain struct {
	Limit
	States int `json:"states,omitempty" jsonschema:"minimum=2,maximum=1000000" jsonschema_description:"Length of the chain."`
}

type maze struct {
	Limit
	Goal string `json:"goal,omitempty" jsonschema:"enum=restart,enum=teleport,enum=absorbing,default=restart" jsonschema_description:"restart: any action in the goal pays 1 per flag and leads back to the start (Dearden et al.). teleport: the same on entering the goal. absorbing: entering ends the episode with 0, 1, 3 or 15 (Asadi & Littman 2017)."`
}

func (p maze) task() (*catalog.Task, error) {
	goals := map[string]catalog.MazeGoal{"restart": catalog.MazeRestart, "teleport": catalog.MazeTeleport, "absorbing": catalog.MazeAbsorbing}
	return catalog.Maze(goals[p.Goal])
}

type deepSea struct {
	Limit
	catalog.Sea
}

func (p deepSea) task() (*catalog.Task, error) { return catalog.DeepSea(p.Sea) }

type fourRooms struct {
	Limit
	Continuing bool `json:"continuing,omitempty" jsonschema:"default=false" jsonschema_description:"Any action in the goal pays 1 and leads to the start, in place of ending the episode."`
}

type frozenLake struct {
	Limit
	Size    int      `json:"size,omitempty" when:"map=none" jsonschema:"enum=4,enum=8,default=4" jsonschema_description:"Side of one of Gymnasium's two maps."`
	Map     []string `json:"map,omitempty" jsonschema:"minItems=1" jsonschema_description:"A map, a string per row of S, F, H and G; replaces size."`
	Success float64  `json:"success,omitempty" jsonschema:"minimum=0,maximum=1" jsonschema_description:"Probability that a move goes where intended."`
}

func (p frozenLake) task() (*catalog.Task, error) {
	rows := p.Map
	if len(rows) == 0 {
		var err error
		if rows, err = catalog.FrozenLakeMap(p.Size); err != nil {
			return nil, err
		}
	}
	return catalog.FrozenLake(rows, p.Success)
}

type garnet struct {
	Limit
	States    int    `json:"states,omitempty" jsonschema:"minimum=1,maximum=10000000,default=10" jsonschema_description:"Number of states."`
	Actions   int    `json:"actions,omitempty" jsonschema:"minimum=1,maximum=1000,default=2" jsonschema_description:"Number of actions."`
	Branching int    `json:"branching,omitempty" jsonschema:"minimum=1,default=3" jsonschema_description:"Successors of each state and action."`
	Seed      uint64 `json:"seed,omitempty" jsonschema:"default=0" jsonschema_description:"Seed of the model. The model depends only on it, and not on the run."`
}

func (p garnet) task() (*catalog.Task, error) {
	if p.States > largest/p.Actions/p.Branching {
		return nil, fmt.Errorf("%d states × %d actions × branching %d is too large, at most %d transitions", p.States, p.Actions, p.Branching, largest)
	}
	return catalog.Garnet(p.States, p.Actions, p.Branching, p.Seed)
}

type gridWorld struct {
	Limit
	catalog.Grid
}

func (p gridWorld) task() (*catalog.Task, error) {
	if len(p.Map) == 0 && p.Cols > largest/4/3/p.Rows { // four actions that lead to up to three cells
		return nil, fmt.Errorf("a grid of %d × %d cells is too large, at most %d cells", p.Rows, p.Cols, largest/4/3)
	}
	return catalog.GridWorld(p.Grid)
}

// plugin makes a plugin of a task whose parameters are a P. defaults holds their
// default values.
func plugin[P interface{ of(*catalog.Task) int }](id, doc string, defaults P, build func(P) (*catalog.Task, error)) vector.Plugin {
	return &vector.EnvironmentPlugin{
		Description: vector.Description{
			ID: id, Kind: vector.KindEnvironment, Doc: doc,
			Params: params.Schema(&defaults), Abilities: []string{"model", "frames"}, FramesPerSecond: FramesPerSecond,
		},
		Open: func(raw json.RawMessage, n int) (vector.Environment, error) {
			p := defaults
			if err := params.Decode(raw, &p); err != nil {
				return nil, err
			}
			if err := params.Check(&p); err != nil {
				return nil, err
			}
			t, err := build(p)
			if err != nil {
				return nil, fmt.Errorf("%w: %w", err, framework.ErrInvalidParams)
			}
			return New(id, t, p.of(t), n), nil
		},
	}
}
