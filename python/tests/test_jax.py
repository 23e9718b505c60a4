"""Environments in JAX: their lanes, what they refuse, and gymnax's interface."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

import rlrun

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402

import rlrun.jax as rj  # noqa: E402

ALL = slice(None)


@dataclass
class Swing(rj.Environment):
    """A noisy pendulum whose episodes end by chance, or after six steps."""

    id = "test/swing@1"
    block = 2
    noise: float = 0.5

    @property
    def spec(self) -> rlrun.Spec:
        return rlrun.Spec(rlrun.Box(-np.inf, np.inf, (2,), "float32"), rlrun.Discrete(3))

    def reset_env(self, key):
        x = jax.random.normal(key, (2,))
        return x, {"x": x, "time": 0}

    def step_env(self, key, state, action):
        x = state["x"] + 0.1 * jnp.array([state["x"][1], -jnp.sin(state["x"][0]) + action - 1])
        x += self.noise * jax.random.normal(key, (2,))
        time = state["time"] + 1
        return x, {"x": x, "time": time}, -(x[0] ** 2), x[0] > 1, time >= 6


def play(env, seeds, steps=20):
    """Play lanes of these seeds, each by actions and resets of its own, and return what each saw."""
    seeds = np.array(seeds, np.uint64)
    env.open(len(seeds))
    seen = [[row] for row in env.reset(ALL, seeds)]
    ended = np.zeros(len(seeds), np.bool_)
    for n in range(steps):
        going, new = np.flatnonzero(~ended), np.flatnonzero(ended)
        if len(new):
            for lane, row in zip(new, env.reset(new, seeds[new] + np.uint64(n << 40)), strict=True):
                seen[lane].append(row)
        ended[:] = False
        if len(going):
            t = env.step(going if len(new) else ALL, ((seeds[going] + np.uint64(n)) % np.uint64(3)).astype(np.int64))
            assert t.rewards.dtype == np.float64
            for lane, *outcome in zip(going, *t, strict=True):
                seen[lane] += outcome
            ended[going] = t.terminated | t.truncated
    return [np.concatenate([np.ravel(x) for x in lane]) for lane in seen]


def test_a_lane_depends_on_its_own_seed_alone() -> None:
    seeds = [5, 2**63 + 1, 7, 5 + 2**32, 9]
    together = play(Swing(), seeds)
    for i, seed in enumerate(seeds):
        np.testing.assert_array_equal(play(Swing(), [seed])[0], together[i])
    np.testing.assert_array_equal(play(Swing(), seeds[2::-1])[0], together[2])
    assert len({lane.tobytes() for lane in together}) == len(seeds)  # all 64 bits count


def test_keys_are_those_of_the_seed() -> None:
    env, own = Swing(), Swing()
    env.open(3)
    seen = [env.reset(ALL, np.array([1, 2, 3], np.uint64))[1]]
    seen += [env.step(ALL, np.array([0, 2, 1])).observations[1] for _ in range(3)]
    key, now = jax.random.split(jax.random.key(2, impl="threefry2x32"))
    observation, state = own.reset_env(now)
    told = [observation]
    for _ in range(3):
        key, now = jax.random.split(key)
        observation, state, *_ = own.step_env(now, state, 2)
        told.append(observation)
    np.testing.assert_allclose(seen, told, rtol=1e-5)
    np.testing.assert_allclose(env.state(1)["x"], state["x"], rtol=1e-5)
    assert env.state(1)["time"] == 3


def test_equal_parameters_are_compiled_once() -> None:
    a, b, c = Swing(), Swing(), Swing(noise=0.0)
    for env in (a, b, c):
        env.open(1)
    assert a._advance is b._advance
    assert a._advance is not c._advance


class Three(Swing):
    def reset_env(self, key):
        return (*super().reset_env(key), {})


class Old(Swing):
    def step_env(self, key, state, action):
        return super().step_env(key, state, action)[:4]


class Drift(Swing):
    def step_env(self, key, state, action):
        observation, state, *rest = super().step_env(key, state, action)
        return observation, state | {"time": state["time"] * 1.0}, *rest


class Grows(Swing):
    def step_env(self, key, state, action):
        observation, state, *rest = super().step_env(key, state, action)
        return observation, state | {"more": 0}, *rest


@pytest.mark.parametrize(
    ("env", "says"),
    [
        (Three(), "reset_env returned a tuple of 3, must return a tuple of 2: observation, state"),
        (Old(), "step_env returned a tuple of 4, must return a tuple of 5: observation, state, reward"),
        (Drift(), r"whose part \['time'\] is float32\[\], and that of reset_env is int32\[\]"),
        (Grows(), "step_env returned a state of the form"),
    ],
)
def test_answers_of_another_form_are_refused(env, says: str) -> None:
    with pytest.raises(rlrun.InvalidAnswer, match=says):
        env.open(1)


@dataclass
class Params:
    max_steps_in_episode: int = 3
    push: float = 1.0


class Line:
    """An environment with gymnax's interface: one number, which the action moves."""

    default_params = Params()

    def __init__(self, width: float = 5.0) -> None:
        self.width = width

    def observation_space(self, params):
        return SimpleNamespace(low=-self.width, high=jnp.array([self.width]), shape=(), dtype=jnp.float32)

    def action_space(self, params):
        return SimpleNamespace(low=-1, high=1, shape=(1,), dtype=jnp.float32)

    def reset_env(self, key, params):
        return jnp.float32(0), (jnp.float32(0), 0)

    def step_env(self, key, state, action, params):
        x = state[0] + params.push * action[0]
        return x, (x, state[1] + 1), x, x > 1.5, {}

    def is_truncated(self, state, params):
        return state[1] >= params.max_steps_in_episode


@pytest.fixture
def gymnax(monkeypatch: pytest.MonkeyPatch) -> None:
    def make(env_id: str, **kwargs):
        env = Line(**kwargs) if env_id == "Line" else SimpleNamespace(reset=0)
        return env, Params()

    monkeypatch.setitem(sys.modules, "gymnax", SimpleNamespace(make=make, registered_envs=["Line", "Old"]))


@pytest.mark.usefixtures("gymnax")
def test_an_environment_of_gymnax() -> None:
    env = rj.Gymnax("Line", {"width": 4.0}, {"push": 0.5})
    assert env.spec == rlrun.Spec(rlrun.Box(-4, 4, (1,), "float32"), rlrun.Box(-1, 1, (1,), "float32"))
    env.open(2)
    assert env.reset(ALL, np.zeros(2, np.uint64)).tolist() == [[0], [0]]
    steps = [env.step(ALL, np.array([[1], [-1]], np.float32)) for _ in range(2)]
    assert steps[1].observations.tolist() == [[1], [-1]]
    last = env.step(ALL, np.array([[1.25], [-1]], np.float32))
    assert last.rewards.tolist() == [1.625, -1.5]
    assert last.terminated.tolist() == [True, False]
    assert last.truncated.tolist() == [True, True]


@pytest.mark.usefixtures("gymnax")
@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        (("Lin",), rlrun.InvalidParams, "gymnax has no environment 'Lin'; there are Line, Old"),
        (("Line", {"w": 1}), rlrun.InvalidParams, "Line does not take {'w': 1}: TypeError"),
        (("Line", {}, {"pull": 1}), rlrun.InvalidParams, "env_params of Line have no 'pull'; there are max_steps"),
        (("Line", {}, {"push": "no"}), rlrun.InvalidParams, "env_params.push is 'no', must be a number"),
        (("Old",), rlrun.Unsupported, "has no reset_env and no step_env and no is_truncated"),
    ],
)
def test_what_gymnax_does_not_have_is_refused(arguments, error, says: str) -> None:
    with pytest.raises(error, match=says):
        _ = rj.Gymnax(*arguments).spec


def test_spaces_of_several_parts_are_refused() -> None:
    with pytest.raises(rlrun.Unsupported, match="no place for the space SimpleNamespace"):
        rj._space(SimpleNamespace(spaces={}), np.dtype(np.float32))


def test_without_gymnax_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gymnax", None)
    with pytest.raises(rlrun.Unsupported, match=r"pip install 'rlrun\[gymnax\]'"):
        _ = rj.Gymnax("CartPole-v1").spec
