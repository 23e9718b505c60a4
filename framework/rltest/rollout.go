package rltest

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/rlrun/rlrun/framework"
	"github.com/rlrun/rlrun/framework/seed"
	"github.com/rlrun/rlrun/framework/space"
	"github.com/rlrun/rlrun/framework/vector"
)

// largestPolicy is the largest table, in entries, with which rollouts are checked.
const largestPolicy = 1 << 20

// rollouts compares lanes that are rolled out with the same lanes stepped.
// Environments without discrete observations and actions, or without a way of
// their own to make rollouts, pass.
func (c *vectorCheck) rollouts() error {
	observation, ok := c.spec.Observation.(space.Discrete)
	action, discrete := c.spec.Action.(space.Discrete)
	if !ok || !discrete || observation.N > largestPolicy/action.N || !c.sound(SameSeedSameEpisode) {
		return nil
	}
	own := true
	play := func(rolled bool) (log []string, err error) {
		err = c.with(lanes, func(env vector.Environment) error {
			rollOut := env.Abilities().RollOut
			if rollOut == nil {
				own = false
				return nil
			}
			if !rolled {
				env = vector.WithAbilities(env, vector.EnvironmentAbilities{})
			}
			in, out := c.rollout(int(observation.N), int(action.N)), vector.NewTrajectories(c.spec, lanes, c.size.calls)
			for k := range 3 {
				if err := c.bounds.late(c.size); err != nil {
					return err
				}
				if rolled {
					err := rollOut(c.ctx, in, out)
					if errors.Is(err, framework.ErrUnsupported) {
						own = false
						return nil
					}
					if err == nil {
						err = out.Check(&c.spec, in)
					}
					c.try(RolloutIsSteps, err)
					if err != nil {
						return nil
					}
				} else if err := vector.RollOut(c.ctx, env, in, out); err != nil {
					return err
				}
				entries := lanesOf(&out.TimeSteps, lanes*c.size.calls)
				for i, signal := range out.Signals {
					if signal != vector.Idle {
						log = append(log, fmt.Sprintf("rollout %d, lane %d, step %d: %d %s", k, i/c.size.calls, i%c.size.calls, signal, entries[i]))
					}
				}
				c.continueRollout(in, out, k)
			}
			return nil
		})
		return log, err
	}
	rolled, err := play(true)
	if err != nil || !own {
		return err
	}
	stepped, err := play(false)
	if err == nil && c.sound(RolloutIsSteps) {
		c.try(RolloutIsSteps, differ(stepped, rolled, "rolled out"))
	}
	return err
}

// rollout asks all lanes but the last to begin, under a random policy that avoids
// some actions.
func (c *vectorCheck) rollout(observations, actions int) *vector.Rollout {
	rng := rand.New(rand.NewPCG(3, 0))
	in := &vector.Rollout{
		Steps: c.size.calls, Episodes: 5, Signals: make([]vector.Signal, lanes),
		Observations: space.NewColumn(c.spec.Observation, lanes),
		Draws:        make([]uint64, lanes), Policy: make([]float64, observations*actions),
	}
	for s := range observations {
		row, sum := in.Policy[s*actions:(s+1)*actions], 0.0
		for a := range row {
			if row[a] = max(0, rng.Float64()-0.3); a == s%actions {
				row[a] += 0.1
			}
			sum += row[a]
		}
		for a := range row {
			row[a] /= sum
		}
	}
	for i := range lanes - 1 {
		in.Signals[i] = vector.NewRun
	}
	c.reseed(in, rng)
	return in
}

func (c *vectorCheck) reseed(in *vector.Rollout, rng *rand.Rand) {
	in.Seeds = make([]uint64, lanes*in.Episodes)
	for i := range in.Seeds {
		in.Seeds[i] = rng.Uint64()
	}
	for i := range in.Draws {
		in.Draws[i] = rng.Uint64()
	}
}

// continueRollout makes the request that follows rollout k: lanes go on where they are, or
// begin an episode where that has ended; the last lane joins in. Lanes run out of
// seeds in the first and the third, not in the second.
func (c *vectorCheck) continueRollout(in *vector.Rollout, out *vector.Trajectories, k int) {
	if in.Episodes = 5; k == 0 {
		in.Episodes = in.Steps
	}
	c.reseed(in, seed.Stream(uint64(k), seed.Environment))
	for i := range in.Signals {
		last := (i+1)*in.Steps - 1
		for last > i*in.Steps && out.Signals[last] == vector.Idle {
			last--
		}
		switch {
		case out.Signals[last] == vector.Idle:
			in.Signals[i] = vector.NewRun
		case out.Terminated[last] || out.Truncated[last]:
			in.Signals[i] = vector.NewEpisode
		default:
			in.Signals[i], in.Observations.Int64[i] = vector.Continue, out.Observations.Int64[last]
		}
	}
}
