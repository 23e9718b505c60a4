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

// parser reads the JSON token by token, so that a fault has a position and
// nothing is allocated but what the input holds.
type parser struct {
	dec    *json.Decoder
	d      Definition
	offset int64              // where the last token begins
	first  int64              // where the first token since it was set to -1 begins
	at     map[string][]int64 // where the entries of each list begin, or the value of another key
}

func (p *parser) model() error {
	if err := p.delim('{'); err != nil {
		return err
	}
	for p.dec.More() {
		key, err := p.text()
		if err != nil {
			return err
		}
		if _, again := p.at[key]; again {
			return fmt.Errorf("key %q is given twice", key)
		}
		p.at[key] = nil
		if err := p.value(key); err != nil {
			return err
		}
	}
	if err := p.delim('}'); err != nil {
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
func (p *parser) value(key string) (err error) {
	switch key {
	case "name":
		p.d.Name, err = p.text()
	case "description":
		p.d.Description, err = p.text()
	case "S":
		p.d.States, err = p.integer()
		p.at[key] = []int64{p.offset}
	case "A":
		p.d.Actions, err = p.integer()
		p.at[key] = []int64{p.offset}
	case "actions":
		err = p.list(key, read(&p.d.ActionNames, func(name *string) (err error) { *name, err = p.text(); return err }))
	case "transitions":
		err = p.list(key, read(&p.d.Transitions, func(t *Transition) error { return p.entry(&t.P, &t.S, &t.A, &t.Next) }))
	case "rewards":
		err = p.list(key, read(&p.d.Rewards, func(r *Reward) error { return p.entry(&r.R, &r.S, &r.A) }))
	case "noise":
		err = p.list(key, read(&p.d.GaussianNoise, func(r *Reward) error { return p.entry(&r.R, &r.S, &r.A) }))
	case "successor_rewards":
		err = p.list(key, read(&p.d.SuccessorRewards, func(r *SuccessorReward) error { return p.entry(&r.R, &r.S, &r.A, &r.Next) }))
	case "bernoulli":
		err = p.list(key, read(&p.d.Bernoulli, func(x *Pair) error { return p.entry(nil, &x.S, &x.A) }))
	case "initial":
		err = p.list(key, read(&p.d.Initial, p.initial))
	case "episode_steps":
		p.d.EpisodeSteps, err = p.integer()
	case "notes":
		err = p.list(key, read(&p.d.Notes, func(note *string) error {
			text, err := p.text()
			*note = strings.Join(strings.Fields(text), " ")
			return err
		}))
	case "terminal":
		err = p.list(key, read(&p.d.Terminal, func(s *int) (err error) { *s, err = p.integer(); return err }))
	default:
		err = fmt.Errorf("unknown key %q", key)
	}
	return err
}

// read returns what reads an entry and appends it to a list.
func read[T any](list *[]T, entry func(*T) error) func() error {
	return func() error {
		var e T
		err := entry(&e)
		*list = append(*list, e)
		return err
	}
}

// initial reads one entry of the initial distribution: a pair [s,p], or the
// probability of the state that the entry's place names.
func (p *parser) initial(w *Weight) error {
	t, err := p.token()
	if err != nil {
		return err
	}
	if t == json.Delim('[') {
		return p.rest(&w.P, &w.S)
	}
	w.S = len(p.d.Initial)
	w.P, err = number(t)
	return err
}

// list reads an array whose entries are read by entry, noting where each begins.
func (p *parser) list(key string, entry func() error) error {
	if err := p.delim('['); err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	p.at[key] = []int64{}
	for i := 0; p.dec.More(); i++ {
		p.first = -1
		if err := entry(); err != nil {
			return fmt.Errorf("%s[%d]: %w", key, i, err)
		}
		p.at[key] = append(p.at[key], p.first)
	}
	return p.delim(']')
}

// entry reads an array of integers, then a number unless x is nil.
func (p *parser) entry(x *float64, indices ...*int) error {
	if err := p.delim('['); err != nil {
		return err
	}
	return p.rest(x, indices...)
}

func (p *parser) rest(x *float64, indices ...*int) error {
	for _, i := range indices {
		var err error
		if *i, err = p.integer(); err != nil {
			return err
		}
	}
	if x != nil {
		t, err := p.token()
		if err != nil {
			return err
		}
		if *x, err = number(t); err != nil {
			return err
		}
	}
	return p.delim(']')
}

func (p *parser) token() (json.Token, error) {
	t, err := p.dec.Token()
	p.offset = p.dec.InputOffset()
	if err == nil {
		switch t := t.(type) {
		case json.Delim:
			p.offset--
		case json.Number:
			p.offset -= int64(len(t))
		case string:
			p.offset -= int64(len(t)) + 2
		default: // null, true, false
			p.offset -= int64(len(describe(t)))
		}
		if p.first < 0 {
			p.first = p.offset
		}
	}
	return t, err
}

func (p *parser) delim(want json.Delim) error {
	t, err := p.token()
	if err == nil && t != want {
		err = fmt.Errorf("want %q, got %s", rune(want), describe(t))
	}
	return err
}

func (p *parser) text() (string, error) {
	t, err := p.token()
	if err != nil {
		return "", err
	}
	s, ok := t.(string)
	if !ok {
		return "", fmt.Errorf("want a string, got %s", describe(t))
	}
	return s, nil
}

func (p *parser) integer() (int, error) {
	t, err := p.token()
	if err != nil {
		return 0, err
	}
	n, ok := t.(json.Number)
	if !ok {
		return 0, fmt.Errorf("want a whole number, got %s", describe(t))
	}
	i, err := strconv.Atoi(string(n))
	if err != nil {
		return 0, fmt.Errorf("want a whole number, got %s", describe(t))
	}
	return i, nil
}

func number(t json.Token) (float64, error) {
	n, ok := t.(json.Number)
	if !ok {
		return 0, fmt.Errorf("want a number, got %s", describe(t))
	}
	x, err := n.Float64()
	if err != nil {
		return 0, fmt.Errorf("%s is too large a number", describe(t))
	}
	return x, nil
}

// describe shows a token in an error, cut to a readable length.
func describe(t json.Token) string {
	var s string
	switch t := t.(type) {
	case json.Delim:
		s = strconv.Quote(t.String())
	case json.Number:
		s = t.String()
	case string:
		s = "the string " + strconv.Quote(t)
	case nil:
		s = "null"
	default:
		s = fmt.Sprint(t)
	}
	if len(s) > 60 {
		s = s[:60] + "…"
	}
	return s
}

// locate sets the position of a fault that NewModel found: the entry, the first
// transition of the row, or the size.
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
		list, i := "transitions", slices.IndexFunc(p.d.Transitions, func(t Transition) bool { return t.S == bad.s && t.A == bad.a })
		if k, ok := p.faulty(bad); ok {
			list, i = bad.err.(*rowFault).list, k
		}
		if i >= 0 {
			p.offset = p.at[list][i]
		}
		return fmt.Errorf("state %d, action %d: %w", bad.s, bad.a, bad.err)
	}
	return bad.err
}

// lineCounter remembers where the lines of what it passes on begin.
type lineCounter struct {
	r      io.Reader
	read   int64
	starts []int64
}

func (l *lineCounter) Read(b []byte) (int, error) {
	n, err := l.r.Read(b)
	for i, c := range b[:n] {
		if c == '\n' {
			l.starts = append(l.starts, l.read+int64(i)+1)
		}
	}
	l.read += int64(n)
	return n, err
}

// position returns the line and column, from one, of a byte offset.
func (l *lineCounter) position(offset int64) (line, column int64) {
	i, _ := slices.BinarySearch(l.starts, offset+1)
	begin := int64(0)
	if i > 0 {
		begin = l.starts[i-1]
	}
	return int64(i) + 1, offset - begin + 1
}

// faulty returns the index of the entry that a fault of a row is about, if it is one of
// a list other than the transitions.
func (p *parser) faulty(bad *invalid) (int, bool) {
	fault, ok := bad.err.(*rowFault)
	if !ok {
		return 0, false
	}
	i := -1
	ofPair := func(r Reward) bool { return r.S == bad.s && r.A == bad.a }
	switch fault.list {
	case "rewards":
		i = slices.IndexFunc(p.d.Rewards, ofPair)
	case "noise":
		i = slices.IndexFunc(p.d.GaussianNoise, ofPair)
	case "bernoulli":
		i = slices.Index(p.d.Bernoulli, Pair{bad.s, bad.a})
	}
	return i, i >= 0
}
