"""Rollouts: many steps of an environment in one call, under a policy that is a table.

What comes of one is, bit for bit, what the same steps would give one after the other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rlrun._lanes import ALL, CONTINUE, IDLE, NEW_EPISODE, EnvironmentLanes, Seeds, Signals, among
from rlrun.environment import Spec
from rlrun.errors import Unsupported
from rlrun.spaces import Discrete
from rlrun.streams import Streams


class Rollout(NamedTuple):
    """A request for T steps. ``signals`` says what the first step is."""

    steps: int
    signals: Signals
    observations: NDArray[np.int64]  # the last ones, of lanes that continue
    seeds: Seeds  # (lanes, E), of the episodes that a lane starts
    draws: Seeds  # the stream of each lane's actions
    policy: NDArray[np.float64]  # (observations, actions)


class Trajectories(NamedTuple):
    """What it yields: arrays (lanes, T), 0 from where a lane stopped."""

    signals: Signals
    actions: NDArray[np.int64]
    observations: NDArray[np.int64]
    rewards: NDArray[np.float64]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]


class StepError(Exception):
    """An exception of a step, with its number."""

    def __init__(self, step: int, cause: BaseException) -> None:
        super().__init__(step, cause)
        self.step, self.cause = step, cause


def roll_out(lanes: EnvironmentLanes, r: Rollout) -> Trajectories:
    """Step lanes under a policy."""
    n = lanes.lanes
    observation, action = discrete(lanes.spec)
    first, first_action = observation.start, action.start
    streams = Streams(n)
    streams.state[:] = r.draws
    cumulative, draws = cumulate(r.policy), np.ascontiguousarray(streams.random(ALL, r.steps).T)
    out = [np.zeros((r.steps, n), t) for t in (np.uint8, np.int64, np.int64, np.float64, np.bool_, np.bool_)]
    signals, observations = r.signals, r.observations - first
    started = np.zeros(n, np.int64)
    for t in range(r.steps):
        going, active = among(signals == CONTINUE), among(signals != IDLE)
        if active is None:
            break
        # The batch owns its arguments, as in a step.
        actions, seeds = np.full(n, first_action, np.int64), np.zeros(n, np.uint64)
        if going is not None:
            rows = cumulative[observations[going]]
            actions[going] += np.count_nonzero(rows <= draws[t, going, None], axis=1)
        if going is not active:
            starting = np.flatnonzero(signals > CONTINUE)
            seeds[starting] = r.seeds[starting, started[starting]]
            started[starting] += 1
        actions.flags.writeable = seeds.flags.writeable = False
        try:
            step = lanes.step(signals, seeds, actions)
        except BaseException as e:
            raise StepError(t, e) from e
        out[0][t] = signals
        for column, value in zip(out[1:], (actions, *step), strict=True):
            column[t, active] = value[active]
        observations = step.observations - first
        ended = step.terminated | step.truncated
        outside = (observations < 0) | (observations >= len(cumulative))
        if outside.any():  # the host will say so; the lane has no row in the policy, and stops
            observations[outside], ended, started[outside] = 0, ended | outside, r.seeds.shape[1]
        if ended.any() or going is not active:
            again = np.where(started < r.seeds.shape[1], NEW_EPISODE, IDLE)
            signals = np.where(signals == IDLE, IDLE, np.where(ended, again, CONTINUE)).astype(np.uint8)
    return Trajectories(*(column.T for column in out))


def discrete(spec: Spec) -> tuple[Discrete, Discrete]:
    """Return the spaces of observations and actions, or say that a policy cannot be a table."""
    if not isinstance(spec.observation, Discrete) or not isinstance(spec.action, Discrete):
        raise Unsupported(f"{spec.id}: a policy that is a table needs discrete observations and actions")
    return spec.observation, spec.action


def cumulate(policy: NDArray[np.float64]) -> NDArray[np.float64]:
    """Add up the probabilities of every row, from left to right.

    From the last action with a positive one on it is infinite: rounding loses no draw.
    """
    sums: NDArray[np.float64] = np.cumsum(policy, axis=1)
    actions = policy.shape[1]
    last = actions - 1 - np.argmax(policy[:, ::-1] > 0, axis=1)
    sums[np.arange(actions) >= last[:, None]] = np.inf
    return sums
