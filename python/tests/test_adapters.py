"""Training loops of libraries as agents of rlrun."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import rlrun.testing
from rlrun import adapters
from rlrun.agent import Transition

TOY = '''
import numpy as np

import rlrun
import rlrun.adapters


class Library:
    """Q-learning with a loop of its own, on numpy's shared random numbers."""

    def __init__(self, env):
        self.env, self.q = env, np.zeros((env.observation_space.n, env.action_space.n))
        self.first = env.observation_space.start, env.action_space.start

    def predict(self, observation):
        return self.q[observation - self.first[0]].argmax() + self.first[1]

    def learn(self, steps):
        observation, _ = self.env.reset()
        for _ in range(steps):
            action = self.predict(observation)
            if np.random.random() < 0.2:
                action = np.random.randint(self.q.shape[1]) + self.first[1]
            after, reward, terminated, truncated, _ = self.env.step(np.int64(action))
            at = observation - self.first[0], action - self.first[1]
            self.q[at] += 0.1 * (reward + 0.9 * (not terminated) * self.q[after - self.first[0]].max() - self.q[at])
            observation = after
            if terminated or truncated:
                observation, _ = self.env.reset()


class Adapted(rlrun.adapters.Learner):
    """Q-learning of a library."""

    id = "test/adapted@1"

    def begin(self, spec, seed):
        if not isinstance(spec.observation, rlrun.Discrete) or not isinstance(spec.action, rlrun.Discrete):
            raise rlrun.Unsupported("observations and actions must be discrete")
        super().begin(spec, seed)

    def learn(self, env, seed, steps):
        self.model = Library(env)
        self.model.learn(steps)

    def act(self, observation):
        return self.model.predict(observation)


if __name__ == "__main__":
    rlrun.serve(Adapted)
'''


# Among the rules: lanes do not depend on each other, though they share numpy's random
# numbers; evaluation teaches nothing.
@pytest.mark.slow
def test_a_library_keeps_every_rule(program: str, tmp_path: Path) -> None:
    (tmp_path / "toy.py").write_text(TOY)
    rlrun.testing.check(tmp_path / "toy.py")


@pytest.mark.slow
def test_a_library_is_recorded(run, tmp_path: Path) -> None:
    (tmp_path / "toy.py").write_text(TOY)
    config = f"""
runs: 2
steps: 300
record: {{metrics: [reward]}}
outputs: [csv]
environments: [{{name: chain, plugin: chain}}, {{name: lake, plugin: frozenlake}}]
agents: [{{name: library, plugin: '{sys.executable}', args: [toy.py]}}]
"""
    (tmp_path / "toy.yaml").write_text(config)
    run("run", "toy.yaml", "--quiet")
    assert ",library," in (tmp_path / "results" / "toy" / "summary.csv").read_text()


SPEC = rlrun.Spec(rlrun.Discrete(2), rlrun.Discrete(2), id="test/two@1", reward_low=0, reward_high=1)


def transition(action: int, *, ends: bool = False) -> Transition:
    return Transition(0, action, 1.0, 1, terminated=ends, truncated=False)


def loop(body):
    class Looped(adapters.Learner):
        id = "test/looped@1"

        def learn(self, env, seed, steps):
            return body(env)

    return Looped()


def test_the_loop_gets_what_happened() -> None:
    log = []

    def body(env):
        while True:
            log.append(env.reset()[0])
            over = False
            while not over:
                outcome = env.step(1)
                log.append(outcome[:4])
                over = outcome[2] or outcome[3]

    agent = loop(body)
    agent.begin(SPEC, 1)
    assert agent.select_action(0) == 1
    agent.update(transition(1))
    assert agent.select_action(1) == 1
    agent.update(transition(1, ends=True))
    assert agent.select_action(0) == 1
    agent.close()
    assert log == [0, (1, 1.0, False, False), (1, 1.0, True, False), 0]


def test_a_loop_that_fails_or_returns_is_told() -> None:
    def fails(env):
        env.reset()
        raise ValueError("no such network")

    agent = loop(fails)
    agent.begin(SPEC, 1)
    with pytest.raises(ValueError, match="no such network"):
        agent.select_action(0)
    agent.close()
    with pytest.raises(ZeroDivisionError):
        loop(lambda env: 1 // 0).begin(SPEC, 1)

    def returns(env):
        env.reset()
        env.step(0)

    agent = loop(returns)
    agent.begin(SPEC, 1)
    agent.select_action(0)
    agent.update(transition(0))
    with pytest.raises(rlrun.Error, match="learn returned"):
        agent.select_action(1)
    agent.close()


def test_shared_random_numbers_are_each_runs_own() -> None:
    def body(env):
        env.reset()
        while True:
            env.step(np.int64(np.random.randint(2)))

    def actions(agent, n: int) -> list[int]:
        out = []
        for _ in range(n):
            out.append(agent.select_action(0))
            agent.update(transition(out[-1]))
        return out

    alone = loop(body)
    alone.begin(SPEC, 7)
    want = actions(alone, 40)
    beside, other = loop(body), loop(body)
    beside.begin(SPEC, 7)
    other.begin(SPEC, 8)
    got = []
    for _ in range(40):
        got += actions(beside, 1)
        actions(other, 1)
        np.random.seed(0)
    assert got == want
    assert len(set(want)) == 2
    for agent in (alone, beside, other):
        agent.close()


@pytest.mark.slow
def test_stable_baselines3(program: str, tmp_path: Path) -> None:
    pytest.importorskip("stable_baselines3")
    (tmp_path / "dqn.py").write_text("""
import stable_baselines3

import rlrun
import rlrun.adapters


class DQN(rlrun.adapters.Learner):
    "DQN of Stable-Baselines3."

    id = "test/sb3-dqn@1"

    def begin(self, spec, seed):
        if not isinstance(spec.action, rlrun.Discrete) or spec.action.start:
            raise rlrun.Unsupported("actions must be discrete, from 0 on")
        super().begin(spec, seed)

    def learn(self, env, seed, steps):
        self.model = stable_baselines3.DQN("MlpPolicy", env, seed=seed, learning_starts=20, device="cpu")
        self.model.learn(steps)

    def act(self, observation):
        return self.model.predict(observation, deterministic=True)[0]


rlrun.serve(DQN)
""")
    rlrun.testing.check(tmp_path / "dqn.py")
