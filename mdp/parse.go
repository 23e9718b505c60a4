package mdp

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// parser reads the JSON key by key and entry by entry, so that a fault has a position.
type parser struct {
	data   []byte
	dec    *json.Decoder
	d      Definition
	offset int              // where the value that was read last begins
	at     map[string][]int // where the entries of each list begin, or the value of another key
}

func (p *parser) model() error {
	if t, err := p.token(); err != nil {
		return err
	} else if t != json.Delim('{') {
		return fmt.Errorf("want an object, got %s", describe(t))
	}
	for p.dec.More() {
		t, err := p.token()
		if err != nil {
			return err
		}
		key := t.(string)
		if _, again := p.at[key]; again {
			return fmt.Errorf("key %q is given twice", key)
		}
		p.at[key] = nil
		if err := p.value(key); err != nil {
			return err
		}
	}
	if _, err := p.token(); err != nil {
		return err
	}
	for _, key := range []string{"S", "A", "transitions"} {
		if _, ok := p.at[key]; !ok {
			return fmt.Errorf("key %q is missing", key)
		}
	}
	if t, err := p.token(); err == nil {
		return fmt.Errorf("%s follows the model", describe(t))
	} else if !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// value reads what belongs to key into the definition.
func (p *parser) value(key string) error {
	switch key {
	case "name":
		return one(p, key, &p.d.Name, text)
	case "description":
		return one(p, key, &p.d.Description, text)
	case "S":
		return one(p, key, &p.d.States, integer)
	case "A":
		return one(p, key, &p.d.Actions, integer)
	case "episode_steps":
		return one(p, key, &p.d.EpisodeSteps, integer)
	case "actions":
		return list(p, key, &p.d.ActionNames, text)
	case "notes":
		return list(p, key, &p.d.Notes, func(x any, note *string) error {
			err := text(x, note)
			*note = strings.Join(strings.Fields(*note), " ")
			return err
		})
	case "terminal":
		return list(p, key, &p.d.Terminal, integer)
	case "transitions":
		return list(p, key, &p.d.Transitions, func(x any, t *Transition) error { return entry(x, &t.P, &t.S, &t.A, &t.Next) })
	case "rewards":
		return list(p, key, &p.d.Rewards, func(x any, r *Reward) error { return entry(x, &r.R, &r.S, &r.A) })
	case "noise":
		return list(p, key, &p.d.GaussianNoise, func(x any, r *Reward) error { return entry(x, &r.R, &r.S, &r.A) })
	case "successor_rewards":
		return list(p, key, &p.d.SuccessorRewards, func(x any, r *SuccessorReward) error { return entry(x, &r.R, &r.S, &r.A, &r.Next) })
	case "bernoulli":
		return list(p, key, &p.d.Bernoulli, func(x any, b *Pair) error { return entry(x, nil, &b.S, &b.A) })
	case "initial": // entries are pairs [s,p], or the probabilities of all states in turn
		return list(p, key, &p.d.Initial, func(x any, w *Weight) error {
			if _, pair := x.([]any); pair {
				return entry(x, &w.P, &w.S)
			}
			w.S = len(p.d.Initial)
			return number(x, &w.P)
		})
	}
	return fmt.Errorf("unknown key %q", key)
}

// one reads a value.
func one[T any](p *parser, key string, to *T, convert func(any, *T) error) error {
	x, err := p.read()
	p.at[key] = []int{p.offset}
	if err == nil {
		err = convert(x, to)
	}
	return err
}

// list reads a list, and notes where its entries begin.
func list[T any](p *parser, key string, to *[]T, convert func(any, *T) error) error {
	if t, err := p.token(); err != nil {
		return err
	} else if t != json.Delim('[') {
		return fmt.Errorf("%s: want a list, got %s", key, describe(t))
	}
	for i := 0; p.dec.More(); i++ {
		var e T
		x, err := p.read()
		if err == nil {
			err = convert(x, &e)
		}
		if err != nil {
			return fmt.Errorf("%s[%d]: %w", key, i, err)
		}
		*to, p.at[key] = append(*to, e), append(p.at[key], p.offset)
	}
	_, err := p.token()
	return err
}

// begin moves to the next token.
func (p *parser) begin() {
	p.offset = int(p.dec.InputOffset())
	for p.offset < len(p.data) && strings.IndexByte(" \t\r\n,:", p.data[p.offset]) >= 0 {
		p.offset++
	}
}

func (p *parser) token() (json.Token, error) {
	p.begin()
	return p.dec.Token()
}

func (p *parser) read() (x any, err error) {
	p.begin()
	return x, p.dec.Decode(&x)
}

// entry reads a list of whole numbers, and a number after them unless last is nil.
func entry(x any, last *float64, indices ...*int) error {
	given, ok := x.([]any)
	if !ok {
		return fmt.Errorf("want a list, got %s", describe(x))
	}
	want := len(indices)
	if last != nil {
		want++
	}
	if len(given) != want {
		return fmt.Errorf("want %d numbers, got %d", want, len(given))
	}
	for i, to := range indices {
		if err := integer(given[i], to); err != nil {
			return err
		}
	}
	if last != nil {
		return number(given[want-1], last)
	}
	return nil
}

func text(x any, to *string) (err error) {
	s, ok := x.(string)
	if *to = s; !ok {
		err = fmt.Errorf("want a string, got %s", describe(x))
	}
	return err
}

func integer(x any, to *int) (err error) {
	n, _ := x.(json.Number)
	if *to, err = strconv.Atoi(string(n)); err != nil {
		err = fmt.Errorf("want a whole number, got %s", describe(x))
	}
	return err
}

func number(x any, to *float64) (err error) {
	n, ok := x.(json.Number)
	if !ok {
		return fmt.Errorf("want a number, got %s", describe(x))
	}
	if *to, err = n.Float64(); err != nil {
		err = fmt.Errorf("%s is too large a number", describe(x))
	}
	return err
}

// describe shows a value or token in an error, cut to a readable length.
func describe(x any) string {
	s := fmt.Sprint(x)
	switch x := x.(type) {
	case json.Delim:
		s = strconv.Quote(x.String())
	case string:
		s = "the string " + strconv.Quote(x)
	case []any:
		s = "a list"
	case map[string]any:
		s = "an object"
	case nil:
		s = "null"
	}
	if len(s) > 60 {
		s = s[:60] + "…"
	}
	return s
}

// locate sets the position of a fault that NewModel found: the entry, the first
// transition of the row or what else is said of it, or the size.
func (p *parser) locate(err error) error {
	var bad *invalid
	if !errors.As(err, &bad) {
		return err
	}
	p.offset = p.at["S"][0]
	switch {
	case bad.list != "":
		if at := p.at[bad.list]; bad.index < len(at) {
			p.offset = at[bad.index]
		}
		return fmt.Errorf("%s[%d]: %w", bad.list, bad.index, bad.err)
	case bad.s >= 0:
		found := func(list string, i int) bool {
			if i >= 0 {
				p.offset = p.at[list][i]
			}
			return i >= 0
		}
		reward := func(r Reward) bool { return r.S == bad.s && r.A == bad.a }
		_ = found("transitions", slices.IndexFunc(p.d.Transitions, func(t Transition) bool { return t.S == bad.s && t.A == bad.a })) ||
			found("rewards", slices.IndexFunc(p.d.Rewards, reward)) || found("noise", slices.IndexFunc(p.d.GaussianNoise, reward)) ||
			found("bernoulli", slices.Index(p.d.Bernoulli, Pair{bad.s, bad.a}))
		return fmt.Errorf("state %d, action %d: %w", bad.s, bad.a, bad.err)
	}
	return bad.err
}
