"""Steps of an environment and an agent of one process against each other, without a message each."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from rlrun import spaces
from rlrun._lanes import AgentCopies, AgentLanes, Copies, EnvironmentLanes, Seeds, time_step
from rlrun._pb import plugin_pb2 as pb
from rlrun.agent import Transition
from rlrun.environment import TimeStep, TimeSteps
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
        self.env, self.agent, self.lanes = env, agent, range(env.lanes)
        self.reset, self.envs, self.agents = env.env.reset_one, env.env.each, agent.agent.each
        self.seen_in, self.acts_in = env.spec.observation, env.spec.action
        self.see, self.take, self.read = _copier(self.seen_in), _copier(self.acts_in), _reader(self.acts_in)
        self.before, self.took, self.now = (
            column.tolist() if column.ndim == 1 else list(column) for column in (*agent.last, outcome.observations)
        )
        self.reward, self.terminated, self.truncated = (column.tolist() for column in outcome[1:])
        self.ended = [a or b for a, b in zip(self.terminated, self.truncated, strict=True)]
        self.fresh = [False] * env.lanes  # an episode that has begun: there is nothing to learn from
        # What the steps yield: columns of all of them in a row.
        self.made = 0
        n = steps * env.lanes
        self.actions, self.observations = spaces.blank(self.acts_in, n), spaces.blank(self.seen_in, n)
        self.rewards, self.flags = [0.0] * n, (bytearray(n), bytearray(n))

    def play(self, steps: int, seeds: list[Iterator[int]]) -> None:
        """Make steps, until an episode has no seed or it takes long."""
        lanes, ended, clock, until = self.lanes, self.ended, time.monotonic, time.monotonic() + LONGEST
        while self.made < steps:
            starts = {lane: next(seeds[lane], -1) for lane in lanes if ended[lane]} if True in ended else {}
            if -1 in starts.values() or (self.made and clock() > until):
                return
            going: Sequence[int] = [lane for lane in lanes if lane not in starts] if starts else lanes
            at = self.made * len(lanes)
            self.act(going, at)
            self.step(going, at)
            for lane, seed in starts.items():
                self.actions[at + lane] = self.took[lane]
                self.observations[at + lane] = self.reset(lane, seed)
                self.now[lane] = self.observations[at + lane]
                self.reward[lane], self.terminated[lane], self.truncated[lane] = 0.0, False, False
                self.ended[lane], self.fresh[lane] = False, True
            self.made += 1

    def act(self, going: Sequence[int], at: int) -> None:
        """Let every lane learn, and those that go on select an action."""
        see, take, read, agents, actions = self.see, self.take, self.read, self.agents, self.actions
        before, took, now, fresh = self.before, self.took, self.now, self.fresh
        for lane in self.lanes:
            if not fresh[lane]:
                reward, terminated, truncated = self.reward[lane], self.terminated[lane], self.truncated[lane]
                agents[lane].update(
                    Transition(see(before[lane]), take(took[lane]), reward, see(now[lane]), terminated, truncated)
                )
        for lane in going:
            actions[at + lane] = read(agents[lane].select_action(see(now[lane])))
            took[lane], before[lane] = actions[at + lane], now[lane]

    def step(self, going: Sequence[int], at: int) -> None:
        """Take the actions."""
        space, observations, take = self.seen_in, self.observations, self.take
        for lane in going:
            step = self.envs[lane].step(take(self.took[lane]))
            observation, reward, terminated, truncated = step if type(step) is TimeStep else time_step(step)
            if type(reward) is not float:
                reward = spaces.as_number(reward, "the reward")
            if type(terminated) is not bool:
                terminated = spaces.as_flag(terminated, "terminated")
            if type(truncated) is not bool:
                truncated = spaces.as_flag(truncated, "truncated")
            observations[at + lane] = spaces.as_entry(space, observation, "the observation")
            self.now[lane], self.reward[lane] = observations[at + lane], reward
            self.rewards[at + lane], self.fresh[lane] = reward, False
            self.terminated[lane], self.truncated[lane] = terminated, truncated
            if terminated or truncated:
                self.flags[0][at + lane], self.flags[1][at + lane], self.ended[lane] = terminated, truncated, True

    def reply(self) -> pb.AheadReply:
        """Give the lanes their state, and return what the steps yielded."""
        self.env.ended(np.array(self.ended))
        self.agent.last = np.array(self.before, self.seen_in.dtype), np.array(self.took, self.acts_in.dtype)
        n = self.made * len(self.lanes)
        terminated, truncated = (bytes(column[:n]) if any(column) else b"" for column in self.flags)
        return pb.AheadReply(
            steps=self.made,
            actions=spaces.to_bytes(self.actions[:n]),
            observations=spaces.to_bytes(self.observations[:n]),
            rewards=spaces.to_bytes(np.array(self.rewards[:n])),
            terminated=terminated,
            truncated=truncated,
        )


def _copier(space: spaces.Space) -> Callable[[Any], Any]:
    """Return space.value, as fast as it can be."""
    return int if isinstance(space, Discrete) else np.array


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
