package main

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/rlrun/rlrun/framework/plugin"
	"github.com/rlrun/rlrun/framework/rltest"
	"github.com/rlrun/rlrun/mdp"
)

func TestConformance(t *testing.T) {
	for _, p := range []string{`{}`, `{"king":true,"gusts":true}`} {
		if err := rltest.CheckPlugin(t.Context(), plugin.NewEnvironment(id, doc, params{}, newGrid), json.RawMessage(p)); err != nil {
			t.Errorf("%s: %v", p, err)
		}
	}
}

// Sutton & Barto (2018, Example 6.5 and Exercise 6.9): 15 steps with four moves, 7
// with eight.
func TestShortestWay(t *testing.T) {
	for want, p := range map[float64]params{15: {}, 7: {King: true}} {
		g, err := newGrid(p)
		if err != nil {
			t.Fatal(err)
		}
		m, err := g.Model(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		value, _, err := mdp.SolveHorizon(m, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if got := -value[start]; math.Abs(got-want) > 1e-9 {
			t.Errorf("%+v: %v steps, want %v", p, got, want)
		}
	}
}

// The steps taken follow the model.
func TestModelIsTheGrid(t *testing.T) {
	g, err := newGrid(params{King: true, Gusts: true})
	if err != nil {
		t.Fatal(err)
	}
	m, err := g.Model(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(50) {
		if _, err := g.Reset(t.Context(), seed); err != nil {
			t.Fatal(err)
		}
		for k := range 40 {
			from, action := g.cell, int(seed+uint64(k))%8
			ts, err := g.Step(t.Context(), plugin.Value{Int: int64(action)})
			if err != nil {
				t.Fatal(err)
			}
			next, _ := m.Transition(from, action)
			if !slices.Contains(next, int32(g.cell)) || ts.Observation.Int != int64(g.cell) {
				t.Fatalf("%d after %d in %d", g.cell, action, from)
			}
			if ts.Terminated {
				break
			}
		}
	}
}
