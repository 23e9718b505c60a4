package explore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/vector"
	"github.com/rlrun/rlrun/options"
)

// Source makes options of kind options.Declared.
type Source struct {
	// File is its name in errors.
	File string
	// Fixed are the options of a file; else Source makes options from what was seen, at the
	// first decision of a run and at the next one after the data have doubled.
	Fixed  []options.DeclaredOption
	Source vector.OptionSource
}

// Bundled is the Source of one of options.Sources.
func Bundled(s options.NamedSource) Source {
	return Source{File: s.Name, Source: vector.EachOptions(s.Make)}
}

// LongestOption is the largest number of steps that a declared option may take.
const LongestOption = 10_000

// declared is what a lane knows of its declared options.
type declared struct {
	list    []options.DeclaredOption
	files   []int // the source of each
	current int   // the one in force, −1 if there is none
	entered int   // the state in which it began
	offer   int   // number of data at which the sources are asked again
}

// ended reports whether the declared option in force ends where the lane has come.
func (a *explorer) ended(l *lane, in *vector.Feedback, i int) (bool, error) {
	if l.current < 0 || in.Terminated[i] || in.Truncated[i] {
		return false, nil
	}
	o := &l.list[l.current]
	if o.Ends(int(in.Observations.Int64[i]-a.finite.firstState), l.rng) {
		return true, nil
	}
	if l.left <= 0 {
		return false, &vector.LaneError{Lane: i, Err: fmt.Errorf("%w: %s: option %q, which began in state %d at step %d, has not ended after %d steps",
			framework.ErrInvalidAnswer, a.config.Sources[l.files[l.current]].File, o.Name, l.entered, l.since, LongestOption)}
	}
	return false, nil
}

// follow notes that a lane follows an option from now on.
func (a *explorer) follow(l *lane, in *vector.Feedback, i int, arm options.Arm) error {
	l.current = -1
	if !arm.Ends {
		return nil
	}
	l.current = slices.IndexFunc(l.list, func(o options.DeclaredOption) bool { return o.Name == arm.Name })
	if l.current < 0 {
		return fmt.Errorf("%w: option %s, which ends by itself, is none of those that were declared", framework.ErrInvalidAnswer, arm.Name)
	}
	l.entered = int(in.Observations.Int64[i] - a.finite.firstState)
	l.left = LongestOption
	return nil
}

// offer tells the agent the declared options of lanes that are about to decide.
func (a *explorer) offer(ctx context.Context, in *vector.Feedback) error {
	var lanes []int
	for i, epoch := range a.epochs {
		if epoch && in.Signals[i] != vector.EvaluateEpisode && a.lanes[i].data >= a.lanes[i].offer {
			lanes = append(lanes, i)
		}
	}
	if len(lanes) == 0 {
		return nil
	}
	seen := make([]options.Experience, len(lanes))
	for k, i := range lanes {
		l := &a.lanes[i]
		x := options.Experience{States: a.finite.states, Actions: a.finite.actions, Steps: l.data}
		l.offer = math.MaxInt
		if slices.ContainsFunc(a.config.Sources, func(s Source) bool { return s.Source != nil }) {
			l.offer = max(1, 2*l.data)
			x.Seed = l.rng.Uint64()
			a.scratch.collect(&a.finite, &l.counts)
			for _, t := range a.scratch.seen {
				x.Seen = append(x.Seen, options.Seen{State: t.s, Action: t.a, Next: t.next, Count: int(t.n), Reward: t.reward})
			}
		}
		seen[k] = x
	}
	lists, files := make([][]options.DeclaredOption, len(lanes)), make([][]int, len(lanes))
	for f, source := range a.config.Sources {
		made, again := make([][]options.DeclaredOption, len(lanes)), make([][]options.DeclaredOption, len(lanes))
		for _, answer := range [][][]options.DeclaredOption{made, again} { // a source is asked too seldom to trust it with one answer
			if source.Source == nil {
				break
			}
			if err := source.Source.Options(ctx, seen, answer); err != nil {
				return a.named(err, "options of "+source.File+",", lanes)
			}
		}
		for k, i := range lanes {
			list := made[k]
			if source.Source == nil {
				list = source.Fixed
			} else if err := options.CheckDeclared(list, a.finite.states, a.finite.actions); err != nil {
				return a.refuse(i, source.File, err)
			} else if len(list)+len(again[k]) > 0 && !reflect.DeepEqual(list, again[k]) {
				return a.refuse(i, source.File, errors.New("the source was asked twice, and the options differ: they must depend on what was seen alone; draw from its seed"))
			}
			lists[k] = append(lists[k], list...)
			for range list {
				files[k] = append(files[k], f)
			}
		}
	}
	for k, i := range lanes {
		l := &a.lanes[i]
		if len(a.config.Sources) > 1 {
			if err := options.CheckDeclared(lists[k], a.finite.states, a.finite.actions); err != nil {
				return a.refuse(i, a.config.Sources[len(a.config.Sources)-1].File, err)
			}
		}
		if l.files != nil && reflect.DeepEqual(l.list, lists[k]) {
			continue
		}
		l.list, l.files = lists[k], append([]int{}, files[k]...)
		if err := a.declares.Declare(ctx, i, l.list); err != nil {
			return blame(i, err)
		}
	}
	return nil
}

func (a *explorer) refuse(lane int, file string, err error) error {
	return &vector.LaneError{Lane: lane, Err: fmt.Errorf("%w: options of %s, after step %d: %w", framework.ErrInvalidAnswer, file, a.lanes[lane].steps, err)}
}

// checkSources makes sure that sources can be used in a task, and the options of files.
func (a *explorer) checkSources(id string, finiteErr error) error {
	if finiteErr != nil {
		return fmt.Errorf("options of %s: %w: %w", a.config.Sources[0].File, finiteErr, framework.ErrUnsupported)
	}
	declares, ok := a.agent.(vector.Declarer)
	if !ok {
		why := ""
		if _, remote := a.agent.(interface{ Remote() }); remote {
			why = "; it is in a process of its own (transport: process), and such agents take none. Call bootstrap-q or bootstrap-model in process (transport: inprocess)"
		}
		return fmt.Errorf("options of %s: the agent takes no declared options%s: %w", a.config.Sources[0].File, why, framework.ErrUnsupported)
	}
	a.declares = declares
	var all []options.DeclaredOption
	for _, s := range a.config.Sources {
		if err := options.CheckDeclared(append(all, s.Fixed...), a.finite.states, a.finite.actions); err != nil {
			return fmt.Errorf("%s is not for %s: %w: %w", s.File, id, err, framework.ErrUnsupported)
		}
		all = append(all, s.Fixed...)
	}
	return nil
}
