// Package handmade has tasks that were written by hand, of kinds that the plugin family
// does not have. Agents that were made while the families were looked at are judged on
// them. The 24 of Development, the twelve of HeldOut and the 13 of Second may be looked
// at while an agent is changed. The twelve of Last are run when the changes are made.
// The 25 of Fresh were written by another author, who had read no agent and seen no score.
package handmade

import (
	"math/rand/v2"

	"github.com/rlrun/rlrun/mdp"
)

// Task is a task: its name, and the function that makes its model.
type Task struct {
	Name string
	make func(*rand.Rand) (*mdp.Tabular, error)
}

// Model makes the model of the task. Its actions are numbered in random order, which is
// the same in all states and always the same, so that agents that try the first action
// first gain nothing.
func (t Task) Model() (*mdp.Tabular, error) {
	h := uint64(14695981039346656037) // FNV-1a of the name
	for _, c := range []byte(t.Name) {
		h = (h ^ uint64(c)) * 1099511628211
	}
	rng := rand.New(rand.NewPCG(h, 0))
	m, err := t.make(rng)
	if err != nil {
		return nil, err
	}
	return m.Reordered(t.Name, rng.Perm(m.NumActions()))
}

// Development are the tasks to look at.
var Development = []Task{
	{"tower", tower},
	{"stock", stock},
	{"ads", ads},
	{"doses", doses},
	{"prices", prices},
	{"taxi", taxi},
	{"two rooms", twoRooms},
	{"lock", lock},
	{"maze", maze},
	{"exits", exits},
	{"two ends", twoEnds},
	{"swamp", swamp},
	{"market", market},
	{"delivery", delivery},
	{"gambler", gambler},
	{"repair", repair},
	{"key ring", keyRing},
	{"tandem", tandem},
	{"cards", cards},
	{"scree", scree},
	{"two goods", twoGoods},
	{"ice", ice},
	{"orchard", orchard},
	{"rooms of arms", roomsOfArms},
}

// HeldOut are tasks that were held out until the twelfth round of threshold-model.
var HeldOut = []Task{
	{"fishery", fishery},
	{"routing", routing},
	{"house", house},
	{"admission", admission},
	{"nim", nim},
	{"antibiotics", antibiotics},
	{"berries", berries},
	{"chase", chase},
	{"darts", darts},
	{"pendulum", pendulum},
	{"discs", discs},
	{"jammer", jammer},
}

// Second are more tasks to look at, written before the thirteenth round, and fire, written in it.
var Second = []Task{
	{"machine", machine},
	{"clinic", clinic},
	{"glucose", glucose},
	{"patrol", patrol},
	{"auction", auction},
	{"epidemic", epidemic},
	{"dice", dice},
	{"workshop", workshop},
	{"elevator", elevator},
	{"crops", crops},
	{"dam", dam},
	{"parking", parking},
	{"fire", fire},
}

// Last are the tasks that are run once, after the thirteenth round. They were written before it.
var Last = []Task{
	{"forest", forest},
	{"turbine", turbine},
	{"radio", radio},
	{"trader", trader},
	{"thermostat", thermostat},
	{"forager", forager},
	{"staffing", staffing},
	{"tennis", tennis},
	{"ferry", ferry},
	{"rescue", rescue},
	{"songs", songs},
	{"blood", blood},
}

// Fresh are tasks by an author who had read no agent and seen no score. They were written before any run on them.
var Fresh = []Task{
	{"beehives", beehives},
	{"spare engines", spareEngines},
	{"ski lift", skiLift},
	{"exam", exam},
	{"battery", battery},
	{"transplant", transplant},
	{"fare", fare},
	{"wells", wells},
	{"summit", summit},
	{"inning", inning},
	{"sailing", sailing},
	{"poker", poker},
	{"debtor", debtor},
	{"congestion", congestion},
	{"paint shop", paintShop},
	{"bikes", bikes},
	{"insurance", insurance},
	{"trials", trials},
	{"satellite", satellite},
	{"crawler", crawler},
	{"pasture", pasture},
	{"wolves", wolves},
	{"cache", cache},
	{"sensor", sensor},
	{"traffic lights", trafficLights},
}

// define returns the definition of a task that begins in one state.
func define(states, actions, start int, terminal ...int) mdp.Definition {
	return mdp.Definition{States: states, Actions: actions, Initial: []mdp.Weight{{S: start, P: 1}}, Terminal: terminal}
}

// within limits x to the numbers from 0 to top.
func within(x, top int) int { return min(max(x, 0), top) }

// poisson calls f with every demand below most and its probability, and with most and
// the rest.
func poisson(mean float64, most int, f func(demand int, p float64)) {
	p, rest := expNeg(mean), 1.0
	for k := range most {
		f(k, p)
		rest -= p
		p *= mean / float64(k+1)
	}
	f(most, max(0, rest))
}
