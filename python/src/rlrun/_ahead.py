"""Steps of an environment and an agent of one process against each other, without a message each."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Generator, Iterator
from typing import Any

import numpy as np

from rlrun import spaces
from rlrun._lanes import AgentCopies, AgentLanes, Copies, EnvironmentLanes, Seeds, as_transition, read_step
from rlrun._pb import plugin_pb2 as pb
from rlrun.environment import TimeSteps
from rlrun.errors import InvalidAction
from rlrun.spaces import Discrete

LONGEST = 0.02
"""After so many seconds no further step is made, so that the host learns of those that were."""


def play(env: EnvironmentLanes, agent: AgentLanes, outcome: TimeSteps, steps: int, seeds: Seeds) -> pb.AheadReply:
    """Make steps that begin with all lanes in an episode: the agent's, then the environment's.

    seeds has a row a lane: those of its next episodes. There are no more steps where they do not suffice. Batches make
    none: they serve many lanes, which share the cost of a message.
    """
    if not (env.single and agent.single):
        return pb.AheadReply()
    pairs = _Pairs(env, agent, outcome, steps)
    pairs.play(steps, [iter(row) for row in seeds.tolist()])
    return pairs.reply()


class _Pairs:
    """Single copies of both, lane by lane: what is one lane's goes through no column of all lanes."""

    def __init__(self, env: EnvironmentLanes, agent: AgentLanes, outcome: TimeSteps, steps: int) -> None:
        assert isinstance(env.env, Copies)
        assert isinstance(agent.agent, AgentCopies)
        self.env, self.agent, self.lanes, self.outcome = env, agent, env.lanes, outcome
        self.reset, self.envs, self.agents = env.env.reset_one, env.env.each, agent.agent.each
        self.seen_in, self.acts_in = env.spec.observation, env.spec.action
        self.before, self.took = agent.last[0].copy(), agent.last[1].copy()
        self.starts: dict[int, int] = {}
        """The lanes whose episode has ended, with the seeds of their next ones."""
        # What the steps yield: columns of all of them in a row.
        self.made = 0
        n = steps * env.lanes
        self.actions, self.observations = spaces.blank(self.acts_in, n), spaces.blank(self.seen_in, n)
        self.rewards, self.flags = [0.0] * n, (bytearray(n), bytearray(n))

    def play(self, steps: int, seeds: list[Iterator[int]]) -> None:
        """Make steps, until an episode has no seed or it takes long."""
        starts, clock, until = self.starts, time.monotonic, time.monotonic() + LONGEST
        with contextlib.ExitStack() as stack:
            lanes = [stack.enter_context(contextlib.closing(self.lane(lane))) for lane in range(self.lanes)]
            for lane in lanes:
                next(lane)
            while self.made < steps:
                if starts:
                    for number in starts:
                        starts[number] = next(seeds[number], -1)
                    if -1 in starts.values():
                        return
                if clock() > until and self.made:
                    return
                for lane in lanes:
                    next(lane)
                self.made += 1

    def lane(self, lane: int) -> Generator[None, None, None]:
        """Prepare a lane, then make a step of it each time: the agent's, then the environment's."""
        update, select, step = self.agents[lane].update, self.agents[lane].select_action, self.envs[lane].step
        space, see, take = self.seen_in, spaces.copier(self.seen_in), spaces.copier(self.acts_in)
        read = _reader(self.acts_in)
        actions, observations, rewards, starts = self.actions, self.observations, self.rewards, self.starts
        before, took, now, reward, terminated, truncated = (
            column[lane] if column.ndim > 1 else column[lane].item()
            for column in (self.before, self.took, *self.outcome)
        )
        if terminated or truncated:
            starts[lane] = -1
        fresh = False  # an episode that has begun: there is nothing to learn from
        try:
            for at in range(lane, len(rewards), self.lanes):
                yield
                if not fresh:
                    update(as_transition((see(before), take(took), reward, see(now), terminated, truncated)))
                if lane in starts:
                    actions[at], observations[at] = took, self.reset(lane, starts.pop(lane))
                    now, reward, terminated, truncated, fresh = observations[at], 0.0, False, False, True
                    continue
                actions[at] = read(select(see(now)))
                before, took = now, actions[at]
                observations[at], reward, terminated, truncated = read_step(space, step(take(took)))
                now, rewards[at], fresh = observations[at], reward, False
                if terminated or truncated:
                    self.flags[0][at], self.flags[1][at], starts[lane] = terminated, truncated, -1
            yield
        finally:
            self.before[lane], self.took[lane] = before, took

    def reply(self) -> pb.AheadReply:
        """Give the lanes their state, and return what the steps yielded."""
        self.env.ended(np.isin(np.arange(self.lanes), list(self.starts)))
        self.agent.last = self.before, self.took
        n = self.made * self.lanes
        terminated, truncated = (bytes(column[:n]) if any(column) else b"" for column in self.flags)
        return pb.AheadReply(
            steps=self.made,
            actions=spaces.to_bytes(self.actions[:n]),
            observations=spaces.to_bytes(self.observations[:n]),
            rewards=spaces.to_bytes(np.array(self.rewards[:n])),
            terminated=terminated,
            truncated=truncated,
        )


def _reader(space: spaces.Space) -> Callable[[Any], Any]:
    """Return what makes an entry of a column of what an agent selects."""

    def read(action: Any) -> Any:
        entry = spaces.as_entry(space, action, "the action")
        if space.outside(np.array([entry], space.dtype)).any():
            raise InvalidAction(f"{entry} is not in {space}")
        return entry

    if not isinstance(space, Discrete):
        return read
    low, high = space.start, space.start + space.n - 1
    return lambda action: action if type(action) is int and low <= action <= high else read(action)
