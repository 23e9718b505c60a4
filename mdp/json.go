package mdp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// ParseModel reads one model in JSON and validates it:
//
//	{"S": n, "A": m,
//	 "transitions": [[s,a,s',p], …],       one entry per positive probability
//	 "rewards": [[s,a,r], …],              expected rewards, 0 when absent
//	 "successor_rewards": [[s,a,s',r], …], optional, added to rewards
//	 "noise": [[s,a,sd], …],               optional, Gaussian reward noise
//	 "bernoulli": [[s,a], …],              optional, rewards that are 0 or 1
//	 "initial": [[s,p], …],                optional; or a list of all S probabilities
//	 "terminal": [s, …],                   optional; rows of these may be absent
//	 "episode_steps": n,                   optional, steps after which an episode is truncated
//	 "notes": ["…", …],                    optional; programs print them with the model
//	 "actions": ["…", …],                  optional, a name for each action
//	 "name": "…", "description": "…"}      optional
//
// If no transition of an action is given in a state, the state lacks the action. The keys
// may come in any order. An error begins with the line and column it
// is about. Memory grows with the length of the input, never with what it claims
// its size to be.
func ParseModel(r io.Reader) (*Tabular, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("mdp: %w", err)
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // with which some editors begin UTF-8
	p := parser{data: data, dec: json.NewDecoder(bytes.NewReader(data)), at: map[string][]int{}}
	p.dec.UseNumber()
	if err = p.model(); err == nil {
		m, bad := NewModel(p.d)
		if bad == nil {
			return m, nil
		}
		err = p.locate(bad)
	}
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		p.offset, err = len(data), errors.New("the input ends inside the model")
	case errors.As(err, &syntax):
		p.offset = max(p.offset, int(syntax.Offset)-1)
	}
	before := data[:p.offset]
	return nil, fmt.Errorf("mdp: line %d, column %d: %w", bytes.Count(before, []byte("\n"))+1, len(before)-bytes.LastIndexByte(before, '\n'), err)
}

// UnmarshalJSON reads what ParseModel reads, and fails as it does.
func (m *Tabular) UnmarshalJSON(data []byte) error {
	read, err := ParseModel(bytes.NewReader(data))
	if err == nil {
		*m = *read
	}
	return err
}

// MarshalJSON writes the model in the format that ParseModel reads.
func (m *Tabular) MarshalJSON() ([]byte, error) {
	out := struct {
		Name             string   `json:"name,omitempty"`
		Description      string   `json:"description,omitempty"`
		S                int      `json:"S"`
		A                int      `json:"A"`
		Actions          []string `json:"actions,omitempty"`
		Transitions      [][4]any `json:"transitions"`
		Rewards          [][3]any `json:"rewards"`
		SuccessorRewards [][4]any `json:"successor_rewards,omitempty"`
		Noise            [][3]any `json:"noise,omitempty"`
		Bernoulli        [][2]int `json:"bernoulli,omitempty"`
		Initial          [][2]any `json:"initial,omitempty"`
		Terminal         []int    `json:"terminal,omitempty"`
		EpisodeSteps     int      `json:"episode_steps,omitempty"`
		Notes            []string `json:"notes,omitempty"`
	}{EpisodeSteps: m.episodeSteps, Notes: m.notes, Name: m.name, Description: m.description, S: m.states, A: m.actions, Actions: m.actionNames, Rewards: [][3]any{}}
	for s := range m.states {
		if m.Terminal(s) {
			out.Terminal = append(out.Terminal, s)
		}
		for a := range m.actions {
			if !m.Available(s, a) {
				continue
			}
			next, prob := m.Transition(s, a)
			rewards := m.SuccessorRewards(s, a)
			for k := range next {
				out.Transitions = append(out.Transitions, [4]any{s, a, next[k], prob[k]})
				if rewards != nil && rewards[k] != 0 {
					out.SuccessorRewards = append(out.SuccessorRewards, [4]any{s, a, next[k], rewards[k]})
				}
			}
			if r := m.Reward(s, a); r != 0 && rewards == nil {
				out.Rewards = append(out.Rewards, [3]any{s, a, r})
			}
			switch noise := m.Noise(s, a); {
			case noise.Bernoulli:
				out.Bernoulli = append(out.Bernoulli, [2]int{s, a})
			case noise.SD > 0:
				out.Noise = append(out.Noise, [3]any{s, a, noise.SD})
			}
		}
	}
	for k, s := range m.initial {
		out.Initial = append(out.Initial, [2]any{s, m.initialProb[k]})
	}
	return json.Marshal(out)
}
