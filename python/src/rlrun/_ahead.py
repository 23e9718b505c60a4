"""Steps of an environment and an agent of one process against each other, without a message each."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from rlrun import spaces
from rlrun._lanes import AgentCopies, AgentLanes, Copies, EnvironmentLanes, Seeds, time_step
from rlrun._pb import plugin_pb2 as pb
from rlrun.agent import Transition
from rlrun.environment import TimeSteps
from rlrun.errors import InvalidAction
from rlrun.spaces import Discrete

LONGEST = 0.005
"""After so many seconds no further step is made, so that the host learns of those that were."""


def play(env: EnvironmentLanes, agent: AgentLanes, outcome: TimeSteps, steps: int, seeds: Seeds) -> pb.AheadReply:
    """Make steps that begin with all lanes in an episode: the agent's, then the environment's.

    seeds has a row a lane: those of its next episodes. There are no more steps where they do not suffice. Batches make
    none: they serve many lanes, which share the cost of a message.
    """
    if not (env.single and agent.single):
        return pb.AheadReply()
    pairs = _Pairs(env, agent, outcome, steps)
    left = [iter(row) for row in seeds.tolist()]
    until = time.monotonic() + LONGEST
    while pairs.made < steps:
        starts = {lane: next(left[lane], -1) for lane in pairs.lanes if pairs.ended[lane]} if pairs.any_ended else {}
        if -1 in starts.values() or (pairs.made and time.monotonic() > until):
            break
        pairs.step(starts)
    return pairs.reply()


class _Pairs:
    """Single copies of both, lane by lane: what is one lane's goes through no column of all lanes."""

    def __init__(self, env: EnvironmentLanes, agent: AgentLanes, outcome: TimeSteps, steps: int) -> None:
        assert isinstance(env.env, Copies)
        assert isinstance(agent.agent, AgentCopies)
        self.env, self.agent, self.lanes = env, agent, range(env.lanes)
        self.reset, self.envs, self.agents = env.env.reset_one, env.env.each, agent.agent.each
        self.seen_in, self.acts_in = env.spec.observation, env.spec.action
        self.before, self.took, self.now = (
            column.tolist() if column.ndim == 1 else list(column) for column in (*agent.last, outcome.observations)
        )
        self.reward, self.terminated, self.truncated = (column.tolist() for column in outcome[1:])
        self.ended = [a or b for a, b in zip(self.terminated, self.truncated, strict=True)]
        self.any_ended = True in self.ended
        self.fresh = [False] * env.lanes  # an episode that has begun: there is nothing to learn from
        # What the steps yield: columns of all of them in a row.
        self.made = 0
        n = steps * env.lanes
        self.actions, self.observations = spaces.blank(self.acts_in, n), spaces.blank(self.seen_in, n)
        self.rewards: list[float] = []
        self.flags: tuple[list[bool], list[bool]] = [], []

    def step(self, starts: dict[int, int]) -> None:
        """Make a step of every lane; those that start get these seeds."""
        seen_in, acts_in = self.seen_in, self.acts_in
        see, act = _copier(seen_in), _copier(acts_in)
        as_entry, as_number, as_flag = spaces.as_entry, spaces.as_number, spaces.as_flag
        agents, envs, before, took, now = self.agents, self.envs, self.before, self.took, self.now
        at = self.made * len(self.lanes)
        for lane in self.lanes:
            if not self.fresh[lane]:
                outcome = self.reward[lane], see(now[lane]), self.terminated[lane], self.truncated[lane]
                agents[lane].update(Transition(see(before[lane]), act(took[lane]), *outcome))
        for lane in self.lanes:
            if lane not in starts:
                self.actions[at + lane] = as_entry(acts_in, agents[lane].select_action(see(now[lane])), "the action")
                took[lane], before[lane] = self.actions[at + lane], now[lane]
            else:
                self.actions[at + lane] = took[lane]
        for lane in self.lanes:
            if lane not in starts and _outside(acts_in, took[lane]):
                raise InvalidAction(f"{took[lane]} is not in {acts_in}")
        for lane in self.lanes:
            if lane in starts:
                continue
            step = time_step(envs[lane].step(act(took[lane])))
            self.observations[at + lane] = as_entry(seen_in, step.observation, "the observation")
            self.reward[lane] = as_number(step.reward, "the reward")
            self.terminated[lane] = as_flag(step.terminated, "terminated")
            self.truncated[lane] = as_flag(step.truncated, "truncated")
            self.ended[lane], self.fresh[lane] = self.terminated[lane] or self.truncated[lane], False
            now[lane] = self.observations[at + lane]
        for lane, seed in starts.items():
            self.observations[at + lane] = self.reset(lane, seed)
            self.reward[lane], self.terminated[lane], self.truncated[lane] = 0.0, False, False
            self.ended[lane], self.fresh[lane] = False, True
            now[lane] = self.observations[at + lane]
        self.any_ended = True in self.ended
        self.made += 1
        self.rewards += self.reward
        self.flags[0].extend(self.terminated)
        self.flags[1].extend(self.truncated)

    def reply(self) -> pb.AheadReply:
        """Give the lanes their state, and return what the steps yielded."""
        self.env.ended(np.array(self.ended))
        self.agent.last = np.array(self.before, self.seen_in.dtype), np.array(self.took, self.acts_in.dtype)
        n = self.made * len(self.lanes)
        terminated, truncated = (bytes(column) if True in column else b"" for column in self.flags)
        return pb.AheadReply(
            steps=self.made,
            actions=spaces.to_bytes(self.actions[:n]),
            observations=spaces.to_bytes(self.observations[:n]),
            rewards=spaces.to_bytes(np.array(self.rewards)),
            terminated=terminated,
            truncated=truncated,
        )


def _copier(space: spaces.Space) -> Callable[[Any], Any]:
    """Return space.value, as fast as it can be."""
    return int if isinstance(space, Discrete) else np.array


def _outside(space: spaces.Space, action: Any) -> bool:
    if isinstance(space, Discrete):
        return not space.start <= action < space.start + space.n
    return bool(space.outside(np.array([action], space.dtype)).any())
