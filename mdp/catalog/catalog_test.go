package catalog

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mathext/prng"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/rlrun/rlrun/internal/must"
	"github.com/rlrun/rlrun/internal/vectors"
	"github.com/rlrun/rlrun/mdp"
)

func made(t *testing.T) func(*Task, error) *Task {
	return func(task *Task, err error) *Task {
		t.Helper()
		must.Do(t, err)
		return task
	}
}

// all returns one task of every kind.
func all(t *testing.T) map[string]*Task {
	frozen := must.Get(FrozenLakeMap(4))(t)
	made := made(t)
	return map[string]*Task{
		"RiverSwim": made(RiverSwim(6)), "RiverSwimStrehl": made(RiverSwimStrehl(6)), "SixArms": made(SixArms()),
		"Chain": made(Chain(5)), "DoubleLoop": made(DoubleLoop()), "Bandit": made(Bandit([]float64{.2, .7})),
		"Maze": made(Maze(MazeAbsorbing)), "DeepSea": made(DeepSea(Sea{Size: 6, Stochastic: true, Mapped: true, MappingSeed: 42})),
		"FourRooms": made(FourRooms(false)), "FrozenLake": made(FrozenLake(frozen, 1.0/3)), "Taxi": made(Taxi()),
		"CliffWalking": made(CliffWalking()), "Garnet": made(Garnet(10, 3, 4, 1)),
		"GridWorld": made(GridWorld(Grid{Map: []string{"S.#", "..G"}, Slip: 0.2})),
	}
}

// The models of the reference vectors are the catalogue's.
func TestAgainstReferenceModels(t *testing.T) {
	f := must.Get(vectors.Read())(t)
	made := made(t)
	for name, task := range map[string]*Task{
		"riverswim6": made(RiverSwim(6)), "chain5": made(Chain(5)), "fourrooms": made(FourRooms(true)),
		"deepsea4": made(DeepSea(Sea{Size: 4, Continuing: true})), "deepsea10": made(DeepSea(Sea{Size: 10, Continuing: true})),
		"deepsea5_stoch": made(DeepSea(Sea{Size: 5, Stochastic: true, Continuing: true})),
	} {
		raw, ok := f.MDPs[name]
		if !ok {
			continue // another file of vectors
		}
		want := must.Get(mdp.ParseModel(bytes.NewReader(raw)))(t)
		m := task.Model
		if m.NumStates() != want.NumStates() || m.NumActions() != want.NumActions() {
			t.Errorf("%s has %d states, %d actions; want %d, %d", name, m.NumStates(), m.NumActions(), want.NumStates(), want.NumActions())
			continue
		}
		for s := range m.NumStates() {
			for a := range m.NumActions() {
				next, prob := m.Transition(s, a)
				wantNext, wantProb := want.Transition(s, a)
				same := slices.Equal(next, wantNext) && math.Abs(m.Reward(s, a)-want.Reward(s, a)) < 1e-14
				for k := range prob {
					same = same && math.Abs(prob[k]-wantProb[k]) < 1e-14
				}
				if !same {
					t.Errorf("%s (%d,%d): %v %v %v, want %v %v %v", name, s, a, next, prob, m.Reward(s, a), wantNext, wantProb, want.Reward(s, a))
				}
			}
		}
	}
}

// Every task survives being written and read, has names for its actions and
// places for its states.
func TestTasksAreComplete(t *testing.T) {
	for name, task := range all(t) {
		m := task.Model
		raw := must.Get(json.Marshal(m))(t)
		var again mdp.Tabular
		if err := json.Unmarshal(raw, &again); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if second, err := json.Marshal(&again); err != nil || !bytes.Equal(raw, second) {
			t.Errorf("%s is not the same after writing and reading", name)
		}
		if l := task.Layout; l != nil && (len(l.Cell) != m.NumStates() || len(l.Wall) != l.Rows*l.Cols || slices.Max(l.Cell) >= len(l.Wall)) {
			t.Errorf("%s: layout of %d states on %d cells", name, len(l.Cell), len(l.Wall))
		}
	}
}

// Steps drawn from a task have the frequencies of its rows. Every row of every
// task has a chi-square test of 2000 draws at level 1e-6 / number of rows, so
// one seed in a million gives a false alarm.
func TestStepsFollowTheModel(t *testing.T) {
	const draws = 2000
	tasks := all(t)
	rows := 0
	for _, task := range tasks {
		rows += task.Model.NumStates() * task.Model.NumActions()
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for name, task := range tasks {
		m := task.Model
		for s := range m.NumStates() {
			for a := range m.NumActions() {
				next, prob := m.Transition(s, a)
				count := make([]float64, len(next))
				reward, square := 0.0, 0.0
				for range draws {
					u, r := m.Step(s, a, rng)
					k, ok := slices.BinarySearch(next, int32(u))
					if !ok {
						t.Fatalf("%s (%d,%d) leads to %d", name, s, a, u)
					}
					count[k]++
					reward += r / draws
					square += r * r / draws
				}
				chi := 0.0
				for k, p := range prob {
					chi += (count[k] - draws*p) * (count[k] - draws*p) / (draws * p)
				}
				level := 1e-6 / float64(rows)
				if len(next) > 1 && (distuv.ChiSquared{K: float64(len(next) - 1)}).Survival(chi) < level {
					t.Errorf("%s (%d,%d): counts %v of %v", name, s, a, count, prob)
				}
				// Six standard errors, 2e-9 per row.
				if sd := math.Sqrt(max(0, square-reward*reward) / draws); math.Abs(reward-m.Reward(s, a)) > 6*sd+1e-9 {
					t.Errorf("%s (%d,%d): mean reward %v, want %v ± %v", name, s, a, reward, m.Reward(s, a), sd)
				}
			}
		}
	}
}

// bsuite quotes the return of always going right, 0.99 or (1−1/N)^(N−1) − 0.01.
// If moves fail, that is not quite the optimum: a diver who has left the diagonal
// gains nothing from the moves' cost.
func TestDeepSeaReturns(t *testing.T) {
	for _, c := range []struct {
		n    int
		want float64
	}{{10, .37742049}, {20, .36735360}, {50, .36160171}} {
		task := made(t)(DeepSea(Sea{Size: c.n, Stochastic: true}))
		chain := must.Get(mdp.Induce(task.Model, mdp.Constant(task.Model.NumStates(), 1)))(t)
		if got := chain.EvaluateFinite(c.n)[0]; math.Abs(got-c.want) > 1e-8 {
			t.Errorf("always right in size %d returns %.9g, want %v", c.n, got, c.want)
		}
		value, _ := must.Get2(mdp.SolveHorizon(task.Model, c.n))(t)
		stay := 1 - 1/float64(c.n)
		tries := (1 - math.Pow(stay, float64(c.n))) / (1 - stay) // until a move fails, of N at most
		if want := math.Pow(stay, float64(c.n-1)) - 0.01/float64(c.n)*tries; math.Abs(value[0]-want) > 1e-6 {
			t.Errorf("optimum of size %d is %.9g, want %.9g", c.n, value[0], want)
		}
	}
}

// The Mersenne twister behind bsuite's action mapping: NumPy documents
// RandomState(42).random_sample() to begin with 0.3745401188473625.
func TestUniform53(t *testing.T) {
	twister := prng.NewMT19937()
	twister.Seed(42)
	if got := uniform53(twister); got != 0.3745401188473625 {
		t.Errorf("first uniform of seed 42 is %v", got)
	}
	if got := uniform53(twister); got != 0.9507143064099162 {
		t.Errorf("second uniform of seed 42 is %v", got)
	}
}

// Which actions the mapping permutes makes no difference to values.
func TestMappingOnlyRenamesActions(t *testing.T) {
	plain := made(t)(DeepSea(Sea{Size: 9, Stochastic: true}))
	mapped := made(t)(DeepSea(Sea{Size: 9, Stochastic: true, Mapped: true, MappingSeed: 42}))
	a, _ := must.Get2(mdp.SolveHorizon(plain.Model, 9))(t)
	b, policy := must.Get2(mdp.SolveHorizon(mapped.Model, 9))(t)
	for s := range a {
		if a[s] != b[s] {
			t.Errorf("state %d has value %v and, mapped, %v", s, a[s], b[s])
		}
	}
	if !slices.Contains(policy[:45], 0) || !slices.Contains(policy[:45], 1) {
		t.Error("the mapping permutes nothing")
	}
}

func TestBadParameters(t *testing.T) {
	for name, err := range map[string]error{
		"riverswim": second(RiverSwim(1)), "strehl": second(RiverSwimStrehl(2)), "chain": second(Chain(0)), "sea": second(DeepSea(Sea{})),
		"garnet": second(Garnet(3, 1, 4, 0)), "bandit": second(Bandit(nil)), "bandit mean": second(Bandit([]float64{1.5})),
		"grid": second(GridWorld(Grid{})), "ragged": second(GridWorld(Grid{Map: []string{"SG", "."}})),
		"no goal": second(GridWorld(Grid{Map: []string{"S."}})), "slip": second(GridWorld(Grid{Rows: 2, Cols: 2, Slip: math.NaN()})),
		"ice": second(FrozenLake([]string{"SG"}, 2)), "walls": second(GridWorld(Grid{Map: []string{"##"}})),
	} {
		if err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if _, err := FrozenLakeMap(5); err == nil {
		t.Error("a FrozenLake map of size 5")
	}
}

func second(_ *Task, err error) error { return err }

// A Garnet is named by its arguments, so its draws made not change: the first row
// as this generator has made it from the beginning.
func TestGarnetStaysTheSame(t *testing.T) {
	m := made(t)(Garnet(6, 2, 3, 1)).Model
	next, prob := m.Transition(0, 0)
	if !slices.Equal(next, []int32{1, 2, 4}) || !slices.Equal(prob, []float64{0.26249819705237554, 0.49907861207375004, 0.23842319087387442}) ||
		m.Reward(0, 0) != -0.37300956589935985 {
		t.Errorf("row %v %v, reward %v", next, prob, m.Reward(0, 0))
	}
}

// The paper divides the distance by the number of states, so its ε depends on
// this number. On the 104 states of FourRooms every T is 1 for ε = 0.02,
// although deviations last much longer in total variation (docs/theory.md §2.1,
// §3.6).
func TestFourRoomsScale(t *testing.T) {
	m := made(t)(FourRooms(true)).Model
	sol := must.Get(mdp.SolveAverage(m, mdp.SolverConfig{}))(t)
	for o, want := range map[mdp.MixingConfig]int{{Epsilon: 0.02}: 1, {Eta: 0.25}: 24, {Eta: 0.0512}: 38} {
		mix := must.Get(mdp.MixingTime(m, sol.Policy, o))(t)
		if mix.Max != want {
			t.Errorf("%+v: the largest T is %d, want %d", o, mix.Max, want)
		}
		if math.Abs(mix.Epsilon-2*mix.Eta/104) > 1e-15 {
			t.Errorf("η = %v and ε = %v are not the same threshold", mix.Eta, mix.Epsilon)
		}
	}
}

// The optimal policy of DoubleLoop goes round for ever in step: its chain has an
// eigenvalue of modulus one besides 1, and no mixing time.
func TestDoubleLoopIsPeriodic(t *testing.T) {
	m := made(t)(DoubleLoop()).Model
	sol := must.Get(mdp.SolveAverage(m, mdp.SolverConfig{}))(t)
	c := must.Get(mdp.Induce(m, sol.Policy))(t)
	sp := must.Get(c.Spectrum())(t)
	if math.Abs(sp.Lambda2-1) > 1e-9 {
		t.Errorf("second eigenvalue of modulus %v", sp.Lambda2)
	}
	if st := c.Structure(); st.Period[st.Closed[0]] != 5 {
		t.Errorf("period %d", st.Period[st.Closed[0]])
	}
	if T, err := c.WorstMixing(0.25); T != mdp.Never || err == nil {
		t.Errorf("mixing time %d, %v", T, err)
	}
}

// What is known of the tasks besides their values, which known_test.go has: sizes,
// starts, and which policies are worth what.
func TestTaskFacts(t *testing.T) {
	made := made(t)
	gain := func(m *mdp.Tabular, pi mdp.Policy) float64 {
		c := must.Get(mdp.Induce(m, pi))(t)
		g, _ := must.Get2(c.EvaluateAverage())(t)
		return g[0]
	}
	maze := made(Maze(MazeRestart))
	open := map[int]bool{}
	for _, cell := range maze.Layout.Cell {
		open[cell] = true
	}
	if len(open) != 33 || maze.Model.NumStates() != 33*8 {
		t.Errorf("the maze has %d cells, %d states", len(open), maze.Model.NumStates())
	}
	for goal, want := range map[MazeGoal]float64{MazeRestart: 1826.8, MazeTeleport: 1884.4} { // per 20,000 steps
		sol, err := mdp.SolveAverage(made(Maze(goal)).Model, mdp.SolverConfig{})
		if err != nil || math.Abs(20_000*sol.Gain[0]-want) > 0.05 {
			t.Errorf("the maze pays %v in 20,000 steps (%v), want %v", 20_000*sol.Gain[0], err, want)
		}
	}
	chain := made(Chain(5)).Model
	sol, err := mdp.SolveAverage(chain, mdp.SolverConfig{})
	if err != nil || !slices.Equal(sol.Policy, mdp.Constant(5, 0)) || math.Abs(1000*gain(chain, mdp.Constant(5, 0))-3676.8) > 1e-9 {
		t.Errorf("the optimal policy of the chain is %v (%v), forward everywhere pays %v", sol.Policy, err, gain(chain, mdp.Constant(5, 0)))
	}
	loop := made(DoubleLoop()).Model
	if a, b := gain(loop, mdp.Constant(9, 0)), gain(loop, mdp.Constant(9, 1)); math.Abs(a-0.2) > 1e-12 || math.Abs(b-0.4) > 1e-12 {
		t.Errorf("the loops pay %v and %v, want 0.2 and 0.4", a, b)
	}
	if n := made(FourRooms(false)).Model.NumStates(); n != 104 {
		t.Errorf("FourRooms has %d states", n)
	}
	taxi := made(Taxi()).Model
	states, prob := taxi.Initial()
	if taxi.NumStates() != 500 || len(states) != 300 || math.Abs(slices.Max(prob)-1./300) > 1e-15 || math.Abs(slices.Min(prob)-1./300) > 1e-15 {
		t.Errorf("Taxi has %d states and %d starts", taxi.NumStates(), len(states))
	}
	// At TabulaRL's episodes of 20 steps, 20 states are too many: drifting left pays
	// the whole optimum.
	river := made(RiverSwim(20)).Model
	v, first, err := mdp.SolveHorizon(river, 20)
	if err != nil || first[0] != 0 || math.Abs(v[0]-0.1) > 1e-12 {
		t.Errorf("20 steps in a river of 20 states are worth %v by action %d, %v", v[0], first[0], err)
	}
}
