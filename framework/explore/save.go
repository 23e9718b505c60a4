package explore

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/options"
)

// saved is the state of a lane: the agent's, and what the host knows of its run.
type saved struct {
	Host  string // how the host decides
	Agent []byte

	Left, Since, Own, Pair, Steps, Explored, Data, Due, Aim, Episode int
	Explores, Pending                                                bool
	Commitment                                                       options.Commitment
	Counts                                                           []savedCount // by their keys
	Series, All                                                      savedSeries
	Random                                                           []byte
	Seen, Stride                                                     int
	Decisions                                                        []savedDecision
	Decided                                                          int                       `json:",omitempty"`
	Trials                                                           map[string]*options.Trial `json:",omitempty"`
	Trial                                                            string                    `json:",omitempty"` // name of the option in force
	Declared                                                         *savedDeclared            `json:",omitempty"`
	Promises                                                         promises
}

// savedDeclared are the declared options of a lane.
type savedDeclared struct {
	List                    []options.DeclaredOption
	Files                   []int
	Current, Entered, Offer int
	Paid                    float64
}

// savedDecision is a decision. Some of its numbers may be infinite, which JSON cannot
// say, so it holds their bits.
type savedDecision struct {
	result.Decision
	Bits [7]uint64
}

func numbers(d *result.Decision) []*float64 {
	return []*float64{&d.Delta, &d.P, &d.Share, &d.Advantage, &d.Greedy, &d.Gain, &d.Cost}
}

type savedCount struct {
	Key, N uint64
	Reward float64 `json:",omitempty"`
}

type savedSeries struct {
	Values     []byte // float64, little-endian
	Stretch    []int
	Now, Total int
}

func (s *series) save() savedSeries {
	return savedSeries{space.AppendNumbers(nil, s.values), s.stretch, s.now, s.total}
}

// load restores a series. Its rows must have as many columns as this one's.
func (s *series) load(from savedSeries) error {
	rows := len(from.Stretch)
	if len(from.Values) != 8*rows*(1+s.features()) || rows != min(from.Total, remembered) {
		return fmt.Errorf("%d bytes in %d rows of %d seen do not fit", len(from.Values), rows, from.Total)
	}
	s.values = make([]float64, len(from.Values)/8)
	space.SetNumbers(s.values, from.Values)
	s.stretch, s.now, s.total = from.Stretch, from.Now, from.Total
	return nil
}

// host describes how the host decides. Only a host that decides alike can go on. The
// horizon may be another, as it is that of the run.
func (a *explorer) host() string {
	c := &a.config
	theirs := ""
	if c.Rule != nil {
		theirs = fmt.Sprintf(", rule of a plugin %s", c.RuleName)
	}
	for _, s := range c.Sources {
		theirs += ", options of " + s.File
	}
	return fmt.Sprintf("rule %s, bound %s, common %t, lower bound %v, options %v, estimator %d, window %+v, quantile %v, mean %t, log %d",
		c.Decider.Rule, c.Decider.Bound, c.Decider.Common, c.Decider.LowerBound, c.Kinds, a.estimator, c.Commitment, c.Quantile, c.Mean, c.Log) + theirs
}

// save implements AgentAbilities.Save.
func (a *explorer) save(ctx context.Context, i int) ([]byte, error) {
	state, err := vector.Save(ctx, a.agent, i)
	if err != nil {
		return nil, err
	}
	l := &a.lanes[i]
	s := saved{
		Host: a.host(), Agent: state,
		Left: l.left, Since: l.since, Own: l.own, Pair: l.pair, Steps: l.steps, Explored: l.explored, Data: l.data, Due: l.due, Aim: l.aim, Episode: l.episode,
		Explores: l.explores, Pending: l.pending, Commitment: l.commitment, Series: l.series.save(), All: l.all.save(),
		Seen: l.log.seen, Stride: l.log.stride, Promises: l.promises,
	}
	if a.trials {
		s.Decided, s.Trials = l.decided, l.trials
		for name, t := range l.trials {
			if t == l.trial {
				s.Trial = name
			}
		}
	}
	if a.declares != nil {
		s.Declared = &savedDeclared{l.list, l.files, l.current, l.entered, l.offer, l.paid}
	}
	for _, d := range l.log.kept {
		kept := savedDecision{Decision: d}
		for k, x := range numbers(&kept.Decision) {
			kept.Bits[k], *x = math.Float64bits(*x), 0
		}
		s.Decisions = append(s.Decisions, kept)
	}
	for _, x := range l.counts.slots {
		if x.key != 0 {
			s.Counts = append(s.Counts, savedCount{x.key, x.n, x.reward})
		}
	}
	slices.SortFunc(s.Counts, func(a, b savedCount) int { return cmp.Compare(a.Key, b.Key) })
	if s.Random, err = l.pcg.MarshalBinary(); err != nil {
		return nil, err
	}
	return json.Marshal(s)
}

// load implements AgentAbilities.Load. If the state is refused, the lane is as it was.
func (a *explorer) load(ctx context.Context, i int, state []byte) error {
	if i < 0 || i >= len(a.lanes) {
		return fmt.Errorf("no lane %d of %d", i, len(a.lanes))
	}
	var s saved
	if err := json.Unmarshal(state, &s); err != nil {
		return fmt.Errorf("not the state of an agent whose exploration the host decides, or damaged: %w", err)
	}
	if host := a.host(); s.Host != host {
		return fmt.Errorf("the state is of another exploration: %s, where this is %s", s.Host, host)
	}
	old := &a.lanes[i]
	l := lane{
		left: s.Left, since: s.Since, own: s.Own, pair: s.Pair, steps: s.Steps, explored: s.Explored, data: s.Data, due: s.Due, aim: s.Aim, episode: s.Episode,
		explores: s.Explores, pending: s.Pending, commitment: s.Commitment,
		series: series{width: old.series.width}, all: series{width: old.all.width},
		log: decisions{most: old.log.most, seen: s.Seen, stride: s.Stride}, promises: s.Promises,
	}
	for _, d := range s.Decisions {
		for k, x := range numbers(&d.Decision) {
			*x = math.Float64frombits(d.Bits[k])
		}
		l.log.kept = append(l.log.kept, d.Decision)
	}
	damaged := func(err error) error { return fmt.Errorf("the state of the host's decisions is damaged: %w", err) }
	if err := l.pcg.UnmarshalBinary(s.Random); err != nil {
		return damaged(err)
	}
	if pairs := max(a.finite.states, 1) * max(a.finite.actions, 1); l.pair < 0 || l.pair >= pairs || l.aim < -1 || l.aim >= pairs {
		return damaged(fmt.Errorf("pair %d, aim %d of %d pairs", l.pair, l.aim, pairs))
	}
	if l.log.stride < 1 || len(l.log.kept) > l.log.most {
		return damaged(fmt.Errorf("%d decisions, every %dth", len(l.log.kept), l.log.stride))
	}
	for _, x := range s.Counts {
		if x.Key == 0 || x.Key > uint64(a.finite.states)*uint64(a.finite.actions)*uint64(a.finite.states) {
			return damaged(fmt.Errorf("transition %d: %w", x.Key, framework.ErrInvalidAnswer))
		}
		l.counts.set(x.Key, x.N, x.Reward)
	}
	for _, x := range []struct {
		to   *series
		from savedSeries
	}{{&l.series, s.Series}, {&l.all, s.All}} {
		if a.estimator != Autocorrelation {
			break
		}
		if err := x.to.load(x.from); err != nil {
			return damaged(err)
		}
	}
	l.decided, l.trials, l.trial, l.current = s.Decided, s.Trials, s.Trials[s.Trial], -1
	if d := s.Declared; a.declares != nil {
		if d == nil || len(d.Files) != len(d.List) || d.Current < -1 || d.Current >= len(d.List) || slices.ContainsFunc(d.Files, func(f int) bool { return f < 0 || f >= len(a.config.Sources) }) {
			return damaged(errors.New("its declared options are not there, or not all"))
		}
		if err := options.CheckDeclared(d.List, a.finite.states, a.finite.actions); err != nil {
			return damaged(err)
		}
		l.declared, l.paid = declared{d.List, d.Files, d.Current, d.Entered, d.Offer}, d.Paid
		if err := a.declares.Declare(ctx, i, l.list); err != nil {
			return err
		}
	}
	if err := vector.Load(ctx, a.agent, i, s.Agent); err != nil {
		return err
	}
	*old = l
	old.rng = rand.New(&old.pcg)
	return nil
}
