package snapshot

import (
	"bytes"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rlrun/rlrun/internal/must"
)

// agent has everything that a walk through memory may meet.
type agent struct {
	params  *int // shared by all
	pcg     rand.PCG
	rng     *rand.Rand // over pcg
	flag    bool
	name    string
	small   int8
	words   [2]uint32
	single  float32
	q       []float64
	same    []float64 // as q, sometimes
	nothing []int
	rows    []row
	first   *row // of rows
	policy  any
	trials  map[string]*row
	trial   *row // of trials
	raw     []byte
	twins   [2]*row
	double  func(int) int // by params
	scratch []float64     `snapshot:"-"`
	holder  interface{ get() int }
}

type row struct {
	id   int
	next *row
}

type held struct{ x int }

func (h held) get() int { return h.x }

type table []int

// types are those that the policy may have.
var types = []reflect.Type{reflect.TypeFor[held](), reflect.TypeFor[table]()}

var shared = 2

// newAgent returns a fresh agent.
func newAgent() *agent {
	a := &agent{params: &shared, q: make([]float64, 3), rows: make([]row, 2), scratch: []float64{9}, holder: held{1}, twins: [2]*row{{id: 1}, {id: 2}}}
	a.rng = rand.New(&a.pcg)
	a.first = &a.rows[0]
	a.double = func(x int) int { return *a.params * x }
	return a
}

// grown returns an agent after some time.
func grown(t *rapid.T) *agent {
	a := newAgent()
	a.pcg.Seed(rapid.Uint64().Draw(t, "seed"), 1)
	a.flag, a.name = rapid.Bool().Draw(t, "flag"), rapid.String().Draw(t, "name")
	a.small, a.words[1], a.single = rapid.Int8().Draw(t, "small"), rapid.Uint32().Draw(t, "word"), rapid.Float32().Draw(t, "single")
	a.q = rapid.SliceOfN(rapid.SampledFrom([]float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), 1e-310, 3.5}), 0, 9).Draw(t, "q")
	if rapid.Bool().Draw(t, "shared") {
		a.same = a.q
	}
	if rapid.Bool().Draw(t, "empty") {
		a.nothing = []int{}
	}
	for i := range rapid.IntRange(0, 5).Draw(t, "rows") {
		a.rows = append(a.rows, row{id: i})
	}
	a.first = &a.rows[0]
	a.rows[1].next = a.first
	a.first.id = rapid.Int().Draw(t, "id")
	a.policy = []any{nil, held{3}, table{1, 0}}[rapid.IntRange(0, 2).Draw(t, "policy")]
	if a.raw = rapid.SliceOf(rapid.Byte()).Draw(t, "raw"); len(a.raw) > 0 {
		a.trial = &row{id: len(a.raw)}
		a.trials = map[string]*row{"b": a.trial, "a": {id: 9}}
	}
	a.holder, a.scratch = held{rapid.Int().Draw(t, "held")}, []float64{7, 7}
	if rapid.Bool().Draw(t, "one") {
		a.twins[1] = a.twins[0]
	}
	return a
}

var of = Of{{"agent", "a"}, {"task", "t"}}

// The loaded value equals the saved one, keeps shared references shared, and changes
// independently.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := grown(t), newAgent()
		state := must.Get(of.Save(a, newAgent(), types...))(t)
		if again, err := of.Save(a, newAgent(), types...); err != nil || !bytes.Equal(state, again) {
			t.Fatal("saving changes the agent")
		}
		given := slices.Clone(state)
		must.Do(t, of.Load(b, given, types...))
		clear(given) // it is not kept
		if again, err := of.Save(b, newAgent(), types...); err != nil || !bytes.Equal(state, again) {
			t.Fatalf("%+v came back as %+v", a, b)
		}
		if b.params != &shared || b.scratch[0] != 9 || b.double(3) != 6 {
			t.Fatal("what is shared, scratch or a function did not stay")
		}
		if a.rng.Uint64() != b.rng.Uint64() || a.pcg != b.pcg {
			t.Fatal("the random stream is another, or not the agent's")
		}
		if len(a.q) > 0 && (&a.q[0] == &b.q[0] || (a.same != nil) != (b.same != nil && &b.same[0] == &b.q[0])) {
			t.Fatal("slices that were equal are not, or two agents share one")
		}
		if (a.nothing == nil) != (b.nothing == nil) || (a.twins[0] == a.twins[1]) != (b.twins[0] == b.twins[1]) {
			t.Fatal("nil, or equal, is something else afterwards")
		}
		if !bytes.Equal(a.raw, b.raw) || len(a.raw) > 0 && (b.trial != b.trials["b"] || b.trial.id != len(a.raw) || b.trials["a"].id != 9 || &a.raw[0] == &b.raw[0]) {
			t.Fatal("bytes, or the entries of a map, are others")
		}
		if !reflect.DeepEqual(a.policy, b.policy) || b.rows[1].next.id != a.first.id || b.holder.get() != a.holder.get() {
			t.Fatalf("%+v came back as %+v", a, b)
		}
	})
}

// Whatever is loaded, the answer is an error, not a panic.
func TestDamaged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		state := must.Get(of.Save(grown(t), newAgent(), types...))(t)
		whole := slices.Clone(state)
		switch rapid.IntRange(0, 2).Draw(t, "how") {
		case 0:
			state = state[:rapid.IntRange(0, len(state)-1).Draw(t, "length")]
		case 1:
			for range rapid.IntRange(1, 3).Draw(t, "changes") {
				state[rapid.IntRange(0, len(state)-1).Draw(t, "at")] ^= byte(rapid.IntRange(1, 255).Draw(t, "by"))
			}
		case 2:
			state = rapid.SliceOf(rapid.Byte()).Draw(t, "garbage")
		}
		if err := of.Load(newAgent(), state, types...); !bytes.Equal(state, whole) && (err == nil || strings.Contains(err.Error(), "\n")) {
			t.Fatalf("%d bytes of %d: %v", len(state), len(whole), err)
		}
		// Nor behind a check sum that holds.
		body := must.Get(take(nil, grown(t), newAgent(), types))(t)
		for range rapid.IntRange(0, 5).Draw(t, "more changes") {
			body[rapid.IntRange(0, len(body)-1).Draw(t, "place")] = rapid.Byte().Draw(t, "byte")
		}
		forged := newAgent()
		forged.params = new(int) // it may write anywhere
		_ = restore(forged, body[:rapid.IntRange(0, len(body)).Draw(t, "cut")], types)
	})
}

func TestOfAnother(t *testing.T) {
	state := must.Get(of.Save(newAgent(), newAgent()))(t)
	for _, tt := range []struct {
		of   Of
		want string
	}{
		{Of{{"agent", "b"}, {"task", "t"}}, "another agent: a, where this is b"},
		{Of{{"agent", "a"}, {"task", "u"}}, "another task: t, where this is u"},
	} {
		if err := tt.of.Load(newAgent(), state); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v", err)
		}
	}
	// A struct with other fields.
	type first struct{ X, Y int }
	type second struct{ X, Z int }
	state = must.Get(of.Save(&first{1, 2}, &first{}))(t)
	if err := of.Load(&second{}, state); err == nil || !strings.Contains(err.Error(), "another version") {
		t.Errorf("%v", err)
	}
}

// A value that cannot be stored is reported when it is saved.
func TestUnknown(t *testing.T) {
	for _, v := range []any{&struct{ m map[float64]int }{map[float64]int{1: 1}}, &struct{ c chan int }{}, &struct{ x any }{5}} {
		if _, err := of.Save(v, reflect.New(reflect.TypeOf(v).Elem()).Interface()); err == nil {
			t.Errorf("%T was saved", v)
		}
	}
}
