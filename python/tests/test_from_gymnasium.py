"""Gymnasium's environments as plugins."""

from __future__ import annotations

import enum
import itertools
import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces as gs
from gymnasium.envs.toy_text.frozen_lake import FrozenLakeEnv
from gymnasium.wrappers import TimeLimit
from scipy import stats

import rlrun
from rlrun import _gymnasium_spaces, spaces
from rlrun._foreign import fit
from rlrun._from_gymnasium_batches import CartPoleBatch, FunctionalBatch
from rlrun._from_gymnasium_seeds import narrow, seed_bits
from rlrun._gymnasium_spaces import decoder, from_gymnasium
from rlrun._lanes import CONTINUE, IDLE, NEW_EPISODE, NEW_RUN, Copies, EnvironmentLanes
from rlrun._server import FEW_LANES
from rlrun.client import EnvironmentClient, Process
from rlrun.environment import VectorEnvironment
from rlrun.from_gymnasium import GymnasiumPlugin, Painter, model_of, names_of

BIG = 2**64 - 1


@pytest.fixture
def bridge() -> Iterator[Any]:
    """Open lanes of a plugin, by name or of Gymnasium's."""
    opened: list[EnvironmentClient] = []

    def open_lanes(name: str, lanes: int, **params: Any) -> EnvironmentClient:
        plugin = [sys.executable, "-m", "rlrun.from_gymnasium", name] if "-v" in name else name
        opened.append(Process(plugin).open(params, lanes))
        return opened[-1]

    yield open_lanes
    for client in opened:
        client.close()


def episodes(client: EnvironmentClient, lane: int, n: int, calls: int) -> Iterator[tuple[Any, ...]]:
    """Step n lanes, which idle now and then, and yield what one of them is told and answers."""
    rng = np.random.default_rng(1)
    space = client.spec.action
    ended = np.ones(n, np.bool_)
    for call in range(calls):
        fresh = NEW_RUN if call == 0 else NEW_EPISODE
        signals = np.where(ended, fresh, CONTINUE).astype(np.uint8)
        if call > 0:
            signals[rng.random(n) < 0.2] = IDLE
        seeds = rng.integers(0, BIG, n, np.uint64, endpoint=True)
        actions = spaces.zeros(space, n)
        if isinstance(space, rlrun.Box):
            actions[:] = rng.uniform(space.low, space.high, actions.shape)
        elif isinstance(space, rlrun.Discrete):
            actions[:] = rng.integers(space.start, space.start + space.n, n)
        else:
            actions[:] = rng.integers(0, space.nvec, actions.shape)
        out = client.step(signals, seeds, actions)
        ended = np.where(signals == IDLE, ended, out.terminated | out.truncated)
        if signals[lane] != IDLE:
            yield signals[lane], int(seeds[lane]), actions[lane], *(c[lane] for c in out)


@pytest.mark.parametrize(
    ("name", "kwargs"),
    [
        ("FrozenLake-v1", {"is_slippery": True, "map_name": "8x8"}),
        ("Taxi-v4", {"is_rainy": True}),
        ("CliffWalking-v1", {"max_episode_steps": 30}),
        ("Blackjack-v1", {"sab": True}),
        ("CartPole-v1", {}),
        ("CartPole-v1", {"sutton_barto_reward": True, "max_episode_steps": 15}),
        ("MountainCar-v0", {}),
        ("Acrobot-v1", {}),
        ("Pendulum-v1", {"g": 9.0}),
        ("MountainCarContinuous-v0", {}),
    ],
    ids=str,
)
@pytest.mark.parametrize("lanes", [pytest.param(1, marks=pytest.mark.slow), FEW_LANES + 2])
def test_draw_for_draw(bridge, name: str, kwargs: dict[str, Any], lanes: int) -> None:
    """A lane is Gymnasium itself, bit for bit, the last observation of every episode included."""
    ends = follow(bridge, name, kwargs, lanes, calls=300, bits=64)
    assert ends > 0 or name in ("MountainCar-v0", "Acrobot-v1", "MountainCarContinuous-v0", "Pendulum-v1")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["phys2d/CartPole-v1", "phys2d/Pendulum-v0", "tabular/CliffWalking-v0"])
def test_draw_for_draw_in_jax(bridge, name: str) -> None:
    """So it is where an environment is written in JAX, whose steps take milliseconds and whose seeds have 32 bits."""
    assert follow(bridge, name, {"max_episode_steps": 11}, lanes=5, calls=40, bits=32) > 0


def follow(bridge, name: str, kwargs: dict[str, Any], lanes: int, calls: int, bits: int) -> int:
    """Step a plugin's lanes and Gymnasium beside the last of them, and return how many episodes ended."""
    env = gymnasium.make(name, **kwargs)
    _, encode = from_gymnasium(env.observation_space)
    decode = decoder(env.action_space)
    ends = 0
    for signal, seed, action, observation, reward, terminated, truncated in episodes(
        bridge(name, lanes, **kwargs), lanes - 1, lanes, calls
    ):
        if signal == CONTINUE:
            want = env.step(decode(action))[:4]
        else:
            want = env.reset(seed=narrow(seed, bits))[0], 0, False, False
        assert np.array_equal(encode(want[0]), observation)
        assert (float(want[1]), want[2], want[3]) == (reward, terminated, truncated)
        ends += terminated or truncated
    env.close()
    return ends


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("CartPole-v1", CartPoleBatch),
        ("phys2d/CartPole-v1", FunctionalBatch),
        ("phys2d/Pendulum-v0", FunctionalBatch),
        ("Taxi-v4", Copies),
        ("tabular/CliffWalking-v0", Copies),
    ],
)
def test_batches(name: str, kind: type[VectorEnvironment]) -> None:
    """Gymnasium's own batch is used where it has one, but where there are few lanes."""
    assert type(GymnasiumPlugin(name).environment(b"{}")) is kind


@pytest.mark.parametrize("params", [{"reset_options": {"low": -0.01, "high": 0.2}}, {"max_episode_steps": -1}])
def test_what_a_batch_does_not_take_is_left_to_copies(params: dict[str, Any]) -> None:
    """Gymnasium's batch of CartPole has no options of a reset, and ends every episode at once with a limit of -1."""
    assert type(GymnasiumPlugin("CartPole-v1").environment(json.dumps(params).encode())) is Copies


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_few_elements_are_read_as_many(dtype) -> None:
    """The fast way to read a small box judges every value as the slow one, which says what is wrong."""
    low, high = np.array([-1.1, -np.inf, 0, 2]), np.array([1.1, np.inf, 0, np.inf])
    space = gymnasium.spaces.Box(low.astype(dtype), high.astype(dtype), dtype=np.dtype(dtype).type)
    box = _gymnasium_spaces._box(space)
    fast = _gymnasium_spaces._read_box(box, "x")
    edge = np.array([1.1, -1.1], dtype)
    values = [*edge, *np.nextafter(edge, np.array([2, -2], dtype)), 0, 1, 2, -2, 1e30, np.inf, -np.inf, np.nan]

    def answer(read, x) -> Any:
        try:
            return read(x).tobytes()
        except rlrun.InvalidAnswer as e:
            return str(e)

    rng = np.random.default_rng(1)
    fine = 0
    for _ in range(2000):
        x = np.where(rng.random(4) < 0.6, [0, 0, 0, 2], rng.choice(values, 4)).astype(dtype)
        expected = answer(lambda x: _gymnasium_spaces._in_box(box, x, "x"), x)
        assert answer(fast, x) == expected
        fine += isinstance(expected, bytes)
    assert 200 < fine < 1800


def test_the_end_of_long_episodes(bridge) -> None:
    """MountainCar is truncated after 200 steps, with its true last observation."""
    env = gymnasium.make("MountainCar-v0")
    client = bridge("MountainCar-v0", 1)
    client.step(np.uint8([NEW_RUN]), np.uint64([5]), np.int64([0]))
    env.reset(seed=5)
    for k in range(200):
        out = client.step(np.uint8([CONTINUE]), None, np.int64([k % 3]))
        observation, _, terminated, truncated, _ = env.step(k % 3)
    assert (terminated, truncated) == (False, True) == (out.terminated[0], out.truncated[0])
    assert np.array_equal(observation, out.observations[0])


PAIRS = [
    ("frozenlake", {}, "FrozenLake-v1", {}),
    ("frozenlake", {"size": 8}, "FrozenLake8x8-v1", {}),
    ("taxi", {}, "Taxi-v4", {}),
    ("cliffwalking", {}, "CliffWalking-v1", {}),
]


@pytest.mark.parametrize(("ours", "our_params", "theirs", "their_params"), PAIRS, ids=str)
def test_models_are_the_bundled_ones(program, bridge, ours, our_params, theirs, their_params) -> None:
    models = []
    for name, params in ((ours, our_params), (theirs, their_params)):
        client = bridge(name, 1, **params)
        client.step(np.uint8([NEW_RUN]), np.uint64([0]), np.int64([0]))
        models.append(client.models()[0])
    a, b = models
    assert (a["S"], a["A"], a.get("episode_steps")) == (b["S"], b["A"], b.get("episode_steps"))
    ends = set(b["terminal"])
    assert set(a["terminal"]) <= ends

    def table(model: dict[str, Any], key: str) -> dict[tuple[int, ...], float]:
        return {tuple(e[:-1]): e[-1] for e in model.get(key, []) if key == "initial" or e[0] not in ends}

    moves = table(a, "transitions")
    assert moves == pytest.approx(table(b, "transitions"), abs=1e-12)
    assert table(a, "initial") == pytest.approx(table(b, "initial"), abs=1e-12)
    paid = {(s, x): 0.0 for s in range(a["S"]) if s not in ends for x in range(a["A"])}
    expected = paid | table(a, "rewards")
    for (s, x, t), r in table(a, "successor_rewards").items():
        expected[s, x] += moves[s, x, t] * r
    assert expected == pytest.approx(paid | table(b, "rewards"), abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("ours", "our_params", "theirs", "their_params"), PAIRS, ids=str)
def test_rollouts_are_the_bundled_ones(program, bridge, ours, our_params, theirs, their_params) -> None:
    """Where lanes are after 12 random steps, or ended, has the same distribution: chi-square at 1e-5 a case."""
    n, runs, steps = 300, 10, 12
    samples = []
    for name, params in ((ours, our_params), (theirs, their_params)):
        client = bridge(name, n, **params)
        rng = np.random.default_rng(len(samples))
        samples.append([])
        for _ in range(runs):
            seeds = rng.integers(0, BIG, n, np.uint64)
            where = client.step(np.full(n, NEW_RUN, np.uint8), seeds, np.zeros(n, np.int64)).observations.copy()
            live, total = np.ones(n, np.bool_), np.zeros(n)
            for _ in range(steps):
                actions = rng.integers(0, client.spec.action.n, n)
                out = client.step(np.where(live, CONTINUE, IDLE).astype(np.uint8), None, actions)
                where[live], total[live] = out.observations[live], total[live] + out.rewards[live]
                live &= ~(out.terminated | out.truncated)
            samples[-1] += [f"{s} {r:g} {on}" for s, r, on in zip(where, total, live, strict=True)]
    assert stats.chi2_contingency(count(samples)).pvalue > 1e-5


def count(samples: list[list[str]]) -> np.ndarray:
    """Count outcomes; rare ones are counted together."""
    kinds = sorted({k for sample in samples for k in sample})
    index = {k: i for i, k in enumerate(kinds)}
    table = np.zeros((len(samples), len(kinds)))
    for row, sample in enumerate(samples):
        np.add.at(table[row], [index[k] for k in sample], 1)
    common = table.sum(axis=0) >= 20
    return np.column_stack([table[:, common], table[:, ~common].sum(axis=1) + 1])


@pytest.mark.parametrize(
    ("space", "want"),
    [
        (gs.Discrete(3, start=2), rlrun.Discrete(3, 2)),
        (gs.MultiDiscrete([2, 3], start=[1, 5]), rlrun.MultiDiscrete([2, 3])),
        (gs.MultiBinary(3), rlrun.MultiDiscrete([2, 2, 2])),
        (gs.Box(-1, 1, (2, 2), np.float32), rlrun.Box(-1, 1, (2, 2), "float32")),
        (gs.Box(0, 255, (4,), np.uint8), rlrun.Box(0, 255, (4,), "uint8")),
        (gs.Box(-3, 3, (4,), np.int16), rlrun.Box(-3, 3, (4,), "int64")),
        (gs.Tuple((gs.Discrete(2), gs.Discrete(3, start=1))), rlrun.Discrete(6)),
        (gs.Tuple((gs.Discrete(2**20),) * 2), rlrun.MultiDiscrete([2**20, 2**20])),
    ],
    ids=str,
)
def test_spaces(space: gs.Space[Any], want: rlrun.Space) -> None:
    """Values go there and back."""
    got, encode = from_gymnasium(space)
    decode = decoder(space)
    assert got == want
    for seed in range(20):
        space.seed(seed)
        value = space.sample()
        column = spaces.zeros(got, 1)
        column[0] = encode(value)
        assert not got.outside(column)[0]
        back = decode(got.value(column[0]))
        assert space.contains(back)
        assert np.array_equal(np.ravel(back), np.ravel(value))


def test_spaces_that_are_flattened() -> None:
    space = gs.Dict({"a": gs.Box(0, 1, (2,), np.float32), "b": gs.Discrete(3)})
    got, encode = from_gymnasium(space)
    assert got.shape == (5,)
    assert encode({"a": np.float32([0.5, 1]), "b": 2}).tolist() == [0.5, 1, 0, 0, 1]
    with pytest.raises(rlrun.Unsupported):
        decoder(space)
    with pytest.raises(rlrun.Unsupported, match="no space for"):
        from_gymnasium(gs.Sequence(gs.Discrete(2)))


BEYOND = 2**53 + 1  # the first integer that no float64 has


@pytest.mark.parametrize(
    ("space", "value", "want"),
    [
        (gs.Box(-(2**62), 2**62, (1,), np.int64), np.array([BEYOND]), BEYOND),
        (gs.Box(0, 2**63 - 1, (1,), np.uint64), np.array([BEYOND], np.uint64), BEYOND),
        (gs.Discrete(2**62), BEYOND, BEYOND),
        (gs.Dict(a=gs.Box(0, 2**62, (1,), np.int64), b=gs.Box(0, 1, (1,), np.int8)), (BEYOND, 1), BEYOND),
        (gs.Dict(a=gs.Box(0, 2**62, (1,), np.int64), b=gs.Box(0, 1, (1,), np.float32)), (BEYOND, 1), "float64"),
        (gs.Dict(a=gs.Box(-(2**62), 2**62, (1,), np.int64), b=gs.Box(0, 1, (1,), np.uint64)), (-BEYOND, 1), "float64"),
        (gs.Dict(a=gs.Box(0, 2**62, (1,), np.int64), b=gs.Box(0, 1, (1,), np.float32)), (BEYOND - 1, 1), BEYOND - 1),
        (gs.Tuple((gs.Box(0, 2**62, (1,), np.int64), gs.Box(0, 1, (1,), np.float32))), (BEYOND, 1), "float64"),
        (gs.Dict(a=gs.Box(0, 2**30, (1,), np.int32), b=gs.Box(0, 1, (1,), np.float32)), (2**24 + 1, 1), 2**24 + 1),
        (gs.Box(-np.inf, np.inf, (1,), np.float64), np.array([-BEYOND]), "float64"),
        (gs.Box(-np.inf, np.inf, (1,), np.float32), np.array([2**24 + 1]), "float32"),
        (gs.Box(-np.inf, np.inf, (1,), np.float32), np.array([2**24]), 2**24),
    ],
)
def test_integers_are_exact_or_refused(space: gs.Space[Any], value: Any, want: Any) -> None:
    if isinstance(value, tuple):
        parts = space.spaces.values() if isinstance(space, gs.Dict) else space.spaces
        arrays = [np.array([v]).astype(part.dtype) for v, part in zip(value, parts, strict=True)]
        value = dict(zip("ab", arrays, strict=True)) if isinstance(space, gs.Dict) else tuple(arrays)
    _, encode = from_gymnasium(space)
    if isinstance(want, str):
        with pytest.raises(
            rlrun.InvalidAnswer, match=f"the observation.* is -?\\d+, which {want} does not have: .*Name a"
        ):
            encode(value)
    else:
        assert np.ravel(encode(value))[0] == want


def test_a_part_that_would_be_too_large_is_refused() -> None:
    with pytest.raises(rlrun.Unsupported, match="1152921504606846977 numbers once it is flat"):
        from_gymnasium(gs.Tuple((gs.Discrete(2**60), gs.Box(0, 1, (1,)))))


def test_integers_that_the_host_does_not_have_are_refused_at_once() -> None:
    beyond = gs.Box(0, 2**64 - 1, (1,), np.uint64)
    for space in (beyond, gs.Dict({"a": beyond, "b": gs.Discrete(2)})):
        with pytest.raises(ValueError, match=r"integers above 2\^63 - 1"):
            from_gymnasium(space)
    assert from_gymnasium(gs.Box(0, 2**63 - 1, (1,), np.uint64))[0].dtype == np.int64


def test_products_are_numbered() -> None:
    """In the order of itertools.product; on request those of MultiDiscrete, too; never more than fit a table."""
    space = gs.Tuple((gs.Discrete(2, start=5), gs.Discrete(3, start=1)))
    _, encode = from_gymnasium(space)
    assert [encode(x) for x in itertools.product((5, 6), (1, 2, 3))] == list(range(6))
    assert decoder(space)(4) == (6, 2)
    assert from_gymnasium(space, numbered=False)[0] == rlrun.MultiDiscrete([2, 3])
    grid = gs.MultiDiscrete([[2, 3], [4, 5]], start=[[1, 1], [1, 1]])
    assert from_gymnasium(grid, numbered=True)[0] == rlrun.Discrete(120)
    assert decoder(grid, numbered=True)(119).tolist() == [[2, 3], [4, 5]]
    with pytest.raises(rlrun.InvalidParams, match="elements, more than 16777216"):
        from_gymnasium(gs.MultiBinary(30), numbered=True)


def trade(frame: object, *, window: int, start: int = 0) -> gymnasium.Env[Any, Any]:
    raise AssertionError("it was called without what it needs")


def test_arguments_without_a_default_are_named() -> None:
    """Before anything is made, and with the way to write them."""
    gymnasium.register("Trading-v0", trade, kwargs={"window": 3})
    try:
        plugin = GymnasiumPlugin("Trading-v0")
        with pytest.raises(
            rlrun.InvalidParams, match=r"a value for frame: write params: \{frame: …\}.*--param frame=…"
        ):
            plugin.environment(b"{}")
        with pytest.raises(rlrun.InvalidParams, match="it was called"):
            plugin.environment(b'{"frame": 1}')
    finally:
        del gymnasium.registry["Trading-v0"]


class Picky(gymnasium.Env[Any, Any]):
    """Takes seeds of a few bits, as numpy's RandomState does, and draws one observation from them."""

    observation_space, action_space = gs.Discrete(2**31), gs.Discrete(2)

    def __init__(self, bits: int = 32, needed: int | None = None) -> None:
        self.bits = bits

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        if seed is not None and seed >= 2**self.bits:
            raise OverflowError(f"Python integer {seed} out of bounds")
        return np.random.RandomState(seed % 2**32).randint(2**31), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return 0, 1.0, False, False, {}


gymnasium.register("rlrun-tests/Picky-v3", Picky)


@pytest.mark.parametrize("bits", [64, 32, 31])
def test_seeds_are_narrowed_as_far_as_needed(bits: int) -> None:
    assert seed_bits(gymnasium.make("rlrun-tests/Picky-v3", bits=bits)) == bits
    env = GymnasiumPlugin("rlrun-tests/Picky-v3").environment(json.dumps({"bits": bits}).encode())
    env.open(2)
    seeds = np.array([7, 7 + 2**32], np.uint64)
    first = env.reset(slice(None), seeds)
    assert first.tolist() == env.reset(slice(None), seeds).tolist()
    assert (first[0] != first[1]) == (bits < 64)  # a hash keeps seeds apart that agree in their last 32 bits


def test_seeds_that_are_too_short_are_refused_with_a_cure() -> None:
    with pytest.raises(rlrun.InvalidParams, match=r"takes the seed 1, but none of 31 bits\. Name") as refused:
        GymnasiumPlugin("rlrun-tests/Picky-v3").environment(b'{"bits": 16}')
    assert "reset_options" not in str(refused.value)


def test_what_is_narrowed_is_told_and_stays_spread_out() -> None:
    assert "seeds have 32 bits" in GymnasiumPlugin("rlrun-tests/Picky-v3").description.doc
    assert "bits" not in GymnasiumPlugin("CartPole-v1").description.doc
    assert narrow(BIG, 64) == BIG
    assert narrow(0, 32) == 0x18CC49CA  # the last four bytes of: head -c 8 /dev/zero | b2sum -l 64
    assert len({narrow(seed, 31) for seed in range(10_000)}) > 9_990
    assert max(narrow(seed, 31) for seed in range(10_000)) < 2**31


def test_wrappers() -> None:
    """In the order that is given, around what gymnasium.make returns."""
    plugin = GymnasiumPlugin("FrozenLake-v1")
    assert plugin.environment(b"{}").has_model  # type: ignore[attr-defined]
    wrappers = [
        {"name": "gymnasium.wrappers:FlattenObservation"},
        {"name": "TimeLimit", "kwargs": {"max_episode_steps": 2}},
    ]
    env = plugin.environment(json.dumps({"kwargs": {"map_name": "8x8"}, "wrappers": wrappers}).encode())
    assert env.spec.observation == rlrun.Box(0, 1, (64,), "int64")
    assert not env.has_model  # type: ignore[attr-defined]  the wrapper shows something else than the model's states
    env.open(1)
    assert env.reset(slice(None), np.uint64([1]))[0, 0] == 1
    assert [bool(env.step(slice(None), np.int64([0])).truncated[0]) for _ in range(2)] == [False, True]


def test_wrappers_by_functions_and_with_arrays(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What JSON cannot say is said by a function; a list is an array where a wrapper takes one."""
    code = "import gymnasium.wrappers as w\n\ndef more(env, times): return w.TransformReward(env, lambda r: times * r)"
    (tmp_path / "mine.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    wrappers = [
        {"name": "mine:more", "kwargs": {"times": 3}},
        {"name": "RescaleObservation", "kwargs": {"min_obs": [0, 0], "max_obs": [1, 1]}},
        {"name": "RescaleAction", "kwargs": {"min_action": [0], "max_action": [4]}},
    ]
    env = GymnasiumPlugin("MountainCar-v0").environment(json.dumps({"wrappers": wrappers[:2]}).encode())
    env.open(1)
    assert env.reset(slice(None), np.uint64([1])).min() > 0
    assert env.step(slice(None), np.int64([0])).rewards.tolist() == [-3.0]
    env = GymnasiumPlugin("Pendulum-v1").environment(json.dumps({"wrappers": wrappers[2:]}).encode())
    assert env.spec.action == rlrun.Box(0, 4, (1,), "float32")


@pytest.mark.parametrize(
    ("params", "kind", "message"),
    [
        ({"wrappers": [{"name": "TransformReward"}]}, rlrun.InvalidParams, r"as func, .* Write def wrapped\(env\)"),
        ({"wrappers": [{"name": "mine:nothing"}]}, rlrun.InvalidParams, "nothing returned None"),
        ({"wrappers": [{"name": "FlatenObservation"}]}, rlrun.InvalidParams, "there are FlattenObservation"),
        ({"wrappers": [{"name": "nowhere:W"}]}, rlrun.InvalidParams, "cannot import nowhere"),
        ({"wrappers": [{"name": "TimeLimit"}]}, rlrun.InvalidParams, "max_episode_steps"),
        ({"wrappers": [{"name": "TimeLimit", "args": 1}]}, rlrun.InvalidParams, "unknown key 'args'"),
        ({"wrappers": ["TimeLimit"]}, rlrun.InvalidParams, r"wrappers\[0\] is 'TimeLimit', must be"),
        ({"wrappers": [{"name": "NormalizeReward"}]}, rlrun.Unsupported, "would not follow from its seed"),
        ({"import": "nowhere"}, rlrun.InvalidParams, "cannot import nowhere"),
        ({"import": "json:registers"}, rlrun.InvalidParams, "no function registers"),
        ({"sab": True, "kwargs": {"sab": True}}, rlrun.InvalidParams, "sab is given twice"),
        ({"enumerate": 1}, rlrun.InvalidParams, "must be true or false"),
        ({"shared_random": "no"}, rlrun.InvalidParams, "must be true or false"),
        ({"remake": 1}, rlrun.InvalidParams, "must be true or false"),
        ({"no_such": 1}, rlrun.InvalidParams, "TypeError.*no_such"),
    ],
    ids=str,
)
def test_params_that_are_refused(
    params: dict[str, Any], kind: type[Exception], message: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.py").write_text("def nothing(env): pass")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    with pytest.raises(kind, match=message):
        GymnasiumPlugin("Blackjack-v1").environment(json.dumps(params).encode())


def test_modules_that_register(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module registers by its import, by register_envs, or by a function that is named."""
    made = "import gymnasium\ndef {}():\n gymnasium.register('{}', 'test_from_gymnasium:Picky')\n"
    (tmp_path / "maker_a.py").write_text(made.format("register_envs", "MakerA/X-v1"))
    (tmp_path / "maker_b.py").write_text(made.format("mine", "MakerB/X-v1"))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.syspath_prepend(os.path.dirname(__file__))
    plugin = GymnasiumPlugin("MakerA/X-v1")
    assert plugin.description.id == "gymnasium/makera.x@1"
    assert "import" in plugin.description.doc
    with pytest.raises(rlrun.InvalidParams, match="gymnasium:MODULE:MakerA/X-v1"):
        plugin.environment(b"{}")
    made = "from gymnasium import register\n" + made.format("register_all", "MakerC/X-v1")
    made += "\ndef __dir__(): return ['later']\n"  # which cannot be imported
    made += "def __getattr__(name): raise (ImportError if name == 'later' else AttributeError)\n"
    (tmp_path / "maker_c.py").write_text(made)
    with pytest.raises(rlrun.InvalidParams, match="write gymnasium:maker_c:register_all:MakerC/X-v1"):
        GymnasiumPlugin("maker_c:MakerC/X-v1").environment(b"{}")
    assert GymnasiumPlugin("maker_c:register_all:MakerC/X-v1").description.id == "gymnasium/makerc.x@1"
    with pytest.raises(rlrun.InvalidParams, match="json was imported and has not registered it"):
        plugin.environment(b'{"import": "json"}')
    assert plugin.environment(b'{"import": "maker_a"}').spec.observation == rlrun.Discrete(2**31)
    assert "32 bits" in GymnasiumPlugin("maker_b:mine:MakerB/X-v1").description.doc


def test_observations_outside_their_bounds() -> None:
    _, encode = from_gymnasium(gs.Box(0, 1, (2,), np.float64))
    assert encode([0.5, 1.0000000000000002]).tolist() == [0.5, 1]
    assert np.isnan(encode([np.nan, 0])[0])
    with pytest.raises(
        rlrun.InvalidAnswer, match=r"element 1 of the observation is 1.5, outside its bounds 0.0 and 1.0.*wrapper"
    ):
        encode([0.5, 1.5])
    _, encode = from_gymnasium(gs.Box(-np.inf, np.inf, (1,), np.float32))
    assert encode([3e38]).dtype == np.float32


class Words(gs.Space[str]):
    """A space of another package's own."""


def test_the_part_that_has_no_space_is_named_with_a_cure() -> None:
    space = gs.Dict({"image": gs.Box(0, 255, (2,), np.uint8), "mission": Words()})
    with pytest.raises(
        rlrun.Unsupported, match=r"test_from_gymnasium.Words, which is the part \['mission'\].*ImgObsWrapper"
    ):
        from_gymnasium(space)


class Guest(gymnasium.Env[Any, Any]):
    """An environment of others, who have their own ideas of what reset and step return, and where dice come from."""

    observation_space = gs.Discrete(6)
    action_space = gs.Discrete(2)

    def __init__(self, habit: str = "") -> None:
        self.habit, self.resets, self.thrown = habit, 0, 0
        if habit == "fails":
            raise RuntimeError("no licence")
        if habit == "late":
            self.observation_space = None  # type: ignore[assignment]

    def close(self) -> None:
        if self.habit == "clings":
            raise RuntimeError("stuck")

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        match self.habit:
            case "old":
                return 0
            case "options":
                assert options is not None
                return options["start"], {}
            case "late":
                self.observation_space = gs.Discrete(6)
            case "strict":
                raise RuntimeError("no licence")
            case "remembers":
                self.resets += 1
                return self.resets, {}
        return self._die(), {}

    def step(self, action: Any) -> Any:
        if self.habit == "exits":
            sys.exit(3)
        reward: Any = {"array": np.array([0.5]), "none": None, "word": "high", "vector": np.ones(2)}.get(self.habit, 1)
        return (self._die(), reward, False, np.bool_(False), {})[: 4 if self.habit == "old step" else 5]

    def _die(self) -> int:
        self.thrown += 1
        if self.habit == "spaces":
            return int(self.observation_space.sample()) if self.np_random.random() < 0.5 else self.action_space.sample()
        if self.habit == "shared" or (self.habit == "shared later" and self.thrown > 10):
            return int(np.random.randint(6)) if random.random() < 0.5 else 0
        return int(self.np_random.integers(6))


@pytest.fixture
def guest() -> Iterator[Any]:
    """Open lanes of a guest with a habit."""
    gymnasium.register("tests/Guest-v0", entry_point=Guest)

    def opened(habit: str, lanes: int = 1, **params: Any) -> Any:
        plugin = GymnasiumPlugin("tests/Guest-v0")
        env = plugin.environment(json.dumps({"habit": habit} | params).encode())
        env.open(lanes)
        return env

    yield opened
    del gymnasium.registry["tests/Guest-v0"]


@pytest.mark.parametrize(
    ("habit", "message"),
    [
        ("old", "reset returned a value of type int, must return a tuple of 2: .* gym before 0.26. Name a wrapper"),
        ("old step", "step returned a tuple of 4, must return a tuple of 5: .* gym before 0.26. Name a wrapper"),
        ("strict", "tests/Guest-v0 cannot be reset: RuntimeError: no licence"),
        ("options", "cannot be reset: AssertionError.* give the parameter reset_options"),
        ("late", "no observation_space before a reset. Name a wrapper"),
        ("none", "the reward is None, must be a number"),
        ("word", "the reward is 'high', must be a number"),
        ("vector", r"rewards have shape \(2,\).* Name a wrapper that makes one of them, such as mo_gymnasium"),
    ],
)
def test_habits_that_are_refused_with_a_cure(guest: Any, habit: str, message: str) -> None:
    with pytest.raises(rlrun.errors.Error, match=message):
        step(guest(habit))


def test_an_old_step_within_a_limit_is_refused_with_a_cure(guest: Any) -> None:
    with pytest.raises(
        rlrun.errors.Error, match=r"must return a tuple of 5: .* gym before 0.26.* max_episode_steps: -1"
    ):
        step(guest("old step", max_episode_steps=9))


class Bare(gymnasium.Env[Any, Any]):
    """An environment whose author forgot the spaces, or took those of another package."""

    def __init__(self, spaces: bool = False) -> None:
        if spaces:
            self.observation_space = self.action_space = range(3)  # type: ignore[assignment]

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        return 0, {}


def test_spaces_that_are_none() -> None:
    gymnasium.register("tests/Bare-v0", entry_point=Bare)
    try:
        plugin = GymnasiumPlugin("tests/Bare-v0")
        assert "the environment has no observation_space before a reset" in plugin.description.doc
        for params, message in (
            (b"{}", "the environment has no observation_space before a reset"),
            (b'{"spaces": true}', "the observation_space is a builtins.range, which is no space of Gymnasium"),
        ):
            with pytest.raises(rlrun.Unsupported, match=message):
                plugin.environment(params).open(1)
    finally:
        del gymnasium.registry["tests/Bare-v0"]


def step(env: Any, seeds: Sequence[int] = (1,), steps: int = 1) -> list[Any]:
    """Start lanes with seeds, step them, and return what a lane saw."""
    lanes = np.arange(len(seeds))
    seen = [env.reset(lanes, np.array(seeds, np.uint64))]
    seen += [env.step(lanes, np.zeros(len(seeds), np.int64)).observations for _ in range(steps)]
    return np.array(seen).T.tolist()


def test_habits_that_are_taken(guest: Any) -> None:
    env = guest("array")
    env.reset(np.arange(1), np.array([1], np.uint64))
    assert env.step(np.arange(1), np.zeros(1, np.int64)).rewards.tolist() == [0.5]
    env = guest("clings")
    step(env)
    env.close()
    with pytest.raises(SystemExit):
        step(guest("exits"))
    assert step(guest("options", reset_options={"start": 4}), steps=0) == [[4]]


def test_an_environment_that_remembers_is_made_anew(guest: Any) -> None:
    kept, anew = guest("remembers"), guest("remembers", remake=True)
    assert [step(kept, steps=0) for _ in range(3)] == [[[1]], [[2]], [[3]]]
    assert [step(anew, steps=0) for _ in range(3)] == [[[1]], [[1]], [[1]]]


@pytest.mark.parametrize(("habit", "line"), [("fails", 'raise RuntimeError("no licence")'), ("strict", "raise")])
def test_only_lines_of_others_code_are_told(
    guest: Any, habit: str, line: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(rlrun.InvalidParams, match="RuntimeError: no licence"):
        guest(habit)
    told = capfd.readouterr().err
    assert line in told
    assert "test_from_gymnasium.py" in told
    assert "rlrun/from_gymnasium.py" not in told
    assert "envs/registration.py" not in told


def test_an_argument_that_is_not_taken_is_told_by_the_message_alone(
    guest: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(rlrun.InvalidParams, match=r"TypeError.*'weather'"):
        guest("", weather="rain")
    assert capfd.readouterr().err == ""


def test_shared_generators_are_each_lanes_own(guest: Any) -> None:
    together = step(guest("shared", 2), [2**40, 7], 50)
    before = random.getstate(), np.random.get_state()
    assert together == [step(guest("shared"), [seed], 50)[0] for seed in (2**40, 7)]
    assert together[0] != together[1]
    assert repr(before) == repr((random.getstate(), np.random.get_state()))
    assert "states of its own" in GymnasiumPlugin("tests/Guest-v0", {"habit": "shared"}).description.doc
    assert "states of its own" not in GymnasiumPlugin("tests/Guest-v0").description.doc


def test_generators_that_are_shared_after_the_trial(guest: Any) -> None:
    """The trial makes fewer steps than the environment makes before it draws."""
    told = {"shared_random": True}
    together = step(guest("shared later", 2, **told), [2**40, 7], 50)
    assert together == [step(guest("shared later", **told), [seed], 50)[0] for seed in (2**40, 7)]
    np.random.seed(0)
    random.seed(0)
    assert step(guest("shared later", 2), [2**40, 7], 50) != together


def test_generators_of_spaces_are_each_lanes_own(guest: Any) -> None:
    """The spaces of Guest are of the class, so all copies share them."""
    together = step(guest("spaces", 2), [2**40, 7], 50)
    assert together == [step(guest("spaces"), [seed], 50)[0] for seed in (2**40, 7)]
    env = guest("spaces")
    assert [step(env, [seed], 50)[0] for seed in (2**40, 7)] == together, "an episode follows from its seed"


@pytest.mark.parametrize("lanes", [1, 3])
def test_a_run_has_a_copy_for_itself(guest: Any, lanes: int) -> None:
    env = GymnasiumPlugin("tests/Guest-v0").environment(b'{"habit": "remembers"}')
    together = EnvironmentLanes(env, env.spec, lanes)
    actions = np.zeros(lanes, np.int64)

    def begin(signal: int) -> list[int]:
        return together.step(np.full(lanes, signal, np.uint8), np.arange(lanes, dtype=np.uint64), actions)[0].tolist()

    for _ in range(2):
        assert begin(NEW_RUN) == [1] * lanes
        assert begin(NEW_EPISODE) == [2] * lanes


class Backwards(FrozenLakeEnv):
    """A lake with actions of its own, whose table is still that of FrozenLake."""

    def step(self, a: int) -> Any:
        return super().step(3 - a)


class Halved(TimeLimit):
    """A limit that also changes rewards."""

    def step(self, action: Any) -> Any:
        observation, reward, *rest = super().step(action)
        return observation, 0.5 * float(reward), *rest


def patched(env: Any) -> Any:
    """Replace the step of an environment."""
    env.unwrapped.step = lambda a: FrozenLakeEnv.step(env.unwrapped, 3 - a)
    return env


def test_a_model_is_of_the_code_that_is_run() -> None:
    lake = gymnasium.make("FrozenLake-v1")
    assert model_of(lake) is not None
    assert model_of(Backwards()) is None
    assert model_of(Halved(lake, 9)) is None
    assert model_of(patched(lake)) is None


@pytest.mark.parametrize("limits", [(2, 5), (5, 2), (2, 2)])
def test_the_shortest_limit_truncates(limits: tuple[int, int]) -> None:
    model = model_of(TimeLimit(TimeLimit(FrozenLakeEnv(), limits[0]), limits[1]))
    assert model is not None
    assert model.episode_steps == 2


class Easel(gymnasium.Env[Any, Any]):
    """An environment whose drawing is told what to do."""

    metadata = {"render_modes": ["rgb_array"]}  # noqa: RUF012
    render_mode: str | None = None

    def __init__(self, picture: Any) -> None:
        self.picture, self.drawn = picture, 0

    def render(self) -> Any:
        self.drawn += 1
        assert self.render_mode == "rgb_array"
        if isinstance(self.picture, Exception):
            raise self.picture
        return self.picture


class Named(gymnasium.Env[Any, Any]):
    """An environment whose actions have names, as those of ALE (list) or of MiniGrid (class)."""

    observation_space = action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, names: Any = ("NOOP", "FIRE")) -> None:
        if isinstance(names, type):
            self.actions = names
        else:
            self.get_action_meanings = lambda: list(names)

    def reset(self, **_: Any) -> Any:
        return 0, {}

    def step(self, _action: Any) -> Any:
        return 0, 0.0, False, False, {}


def test_names_of_actions() -> None:
    """They are the environment's, unless a wrapper changes the actions."""
    assert names_of(Named()) == ["NOOP", "FIRE"]
    assert names_of(Named(enum.Enum("Actions", "left right"))) == ["left", "right"]
    assert names_of(Named(["only one"])) == names_of(gymnasium.make("CartPole-v1")) == []
    other = gymnasium.wrappers.TransformAction(Named(), lambda a: a, gymnasium.spaces.Discrete(3))
    assert names_of(other) == []
    gymnasium.register("tests/Named-v0", Named)
    plugin = GymnasiumPlugin("tests/Named-v0")
    assert list(plugin.description.abilities) == ["action_names"]
    env = plugin.environment(b"{}")
    env.open(2)
    assert env.action_names(1) == ["NOOP", "FIRE"]


def test_frames_of_all_kinds() -> None:
    pixels = np.full((2, 3, 3), 51)
    transparent = np.concatenate([pixels, pixels[:, :, :1]], axis=2)
    for picture in (pixels.astype(np.uint8), pixels, pixels / 255, transparent):
        easel = Easel(picture)
        frame = Painter().draw(easel)
        assert (frame.dtype, frame.tolist(), easel.render_mode) == (np.uint8, pixels.tolist(), None)


@pytest.mark.parametrize(
    ("picture", "message"),
    [
        (None, "returned no frame; give the parameter kwargs"),
        ("a picture", "returned no frame; give the parameter kwargs"),
        (AttributeError("no mode"), "AttributeError: no mode; give the parameter kwargs"),
        (RuntimeError("OpenGL is missing"), "set the variable MUJOCO_GL=egl"),
        (gymnasium.error.DependencyNotInstalled("pip install pygame"), "cannot be drawn: pip install pygame$"),
    ],
)
def test_drawing_that_fails_is_not_tried_again(picture: Any, message: str) -> None:
    painter, easel = Painter(), Easel(picture)
    for _ in range(2):
        with pytest.raises(rlrun.Unsupported, match=message):
            painter.draw(easel)
    assert (easel.drawn, easel.render_mode) == (1, None)


@pytest.mark.parametrize(
    ("env_id", "message"),
    [
        (
            "FrozenLake-v0",
            "^Environment version v0 for `FrozenLake` is deprecated. Please use `FrozenLake-v1` instead.$",
        ),
        ("CartPole-v7", "^Environment version `v7` for environment `CartPole` doesn't exist."),
    ],
)
def test_wrong_versions_are_refused_when_opened(env_id: str, message: str) -> None:
    """The process starts, and says so; it does not die."""
    plugin = GymnasiumPlugin(env_id)
    assert "cannot be made: Environment version" in plugin.description.doc
    with pytest.raises(rlrun.InvalidParams, match=message):
        plugin.environment(b"{}")


def test_the_working_directory_takes_no_modules_place(tmp_path: Path) -> None:
    """The program by which the host serves an environment imports nothing from the working directory."""
    source = Path(__file__).parents[2] / "framework" / "plugin" / "search.go"
    program = json.loads(re.findall(r"serveGymnasium = (.*)", source.read_text())[0])
    for module in ("rlrun", "numpy", "gymnasium", "jax", "dataclasses"):
        (tmp_path / f"{module}.py").write_text("open('ran', 'w')\nraise SystemExit('imported')\n")
    words = [sys.executable, "-c", program, "FrozenLake-v1"]
    done = subprocess.run(words, check=False, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert not (tmp_path / "ran").exists()
    assert "imported" not in done.stderr
    assert "rlrun" in done.stderr + done.stdout  # which says what it is for


class Sloppy(gymnasium.Env[Any, Any]):
    """An environment that says little of what its arguments take."""

    def __init__(self, windy=False, size=8, wind=0.5, flag=0, level="easy", kind: int | list[int] = 1) -> None:  # type: ignore[no-untyped-def]
        self.observation_space, self.action_space = gymnasium.spaces.Discrete(2), gymnasium.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        return 0, {}

    def step(self, action: Any) -> Any:
        return 0, 0.0, False, False, {}


class Passes(Sloppy):
    """Its arguments are those of its base, and one that is registered."""

    def __init__(self, players: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)


@pytest.fixture
def foreign() -> Iterator[GymnasiumPlugin]:
    gymnasium.register("tests/Passes-v0", entry_point=Passes, kwargs={"players": 2})
    yield GymnasiumPlugin("tests/Passes-v0")
    del gymnasium.registry["tests/Passes-v0"]


WINDY = "must be true or false: write windy: false, without quotes"


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        *(("windy", text, WINDY) for text in ("no", "off", "false", "No", "0")),
        *(("windy", value, "windy is .*, must be true or false") for value in (None, 2, 0.5, [], {}, "maybe")),
        ("windy", "yes", "write windy: true"),
        ("size", "9", "size is '9', must be a number: write size: 9, without quotes"),
        *(("size", value, "size is .*, must be a number") for value in ("big", None, [8], {}, True)),
        *(("wind", value, "wind is .*, must be a number") for value in ("0.5", None, [0.5], False)),
        ("flag", "no", "must be a number or true or false"),
        ("kind", ["1"], "must be a number or a list, each element a number"),
        ("players", "2", "must be a number or a list or null"),
        ("max_episode_steps", 0, "from 1 on, or -1 for no limit"),
        ("max_episode_steps", -2, "from 1 on, or -1 for no limit"),
        ("max_episode_steps", "9", "from 1 on, or -1 for no limit"),
        ("wrappers", [{"name": "TimeAwareObservation", "kwargs": {"flatten": "no"}}], r"^wrappers\[0\].kwargs.flatten"),
    ],
)
def test_arguments_of_another_type_are_refused(foreign: GymnasiumPlugin, key: str, value: Any, message: str) -> None:
    """A text is true in Python, whatever it says: the opposite of what was asked would run."""
    with pytest.raises(rlrun.InvalidParams, match=message):
        foreign.environment(json.dumps({key: value}).encode())


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *(("windy", value) for value in (True, False, 1, 0)),
        *(("size", value) for value in (9, 0.5)),
        *(("wind", value) for value in (1, 0.25)),
        *(("flag", value) for value in (1, True)),
        *(("level", value) for value in (None, "hard", 3, ["a"])),
        *(("kind", value) for value in (2, [1, 2])),
        *(("players", value) for value in (3, [1, 2], None)),
        *(("max_episode_steps", value) for value in (5, 1e2, -1, None)),
    ],
)
def test_arguments_that_fit_are_taken(foreign: GymnasiumPlugin, key: str, value: Any) -> None:
    foreign.environment(json.dumps({key: value}).encode()).open(1)


def test_whole_numbers_are_int() -> None:
    assert fit(Sloppy, {"size": 1e2, "kind": [2.0], "wind": 1.0}) == {"size": 100, "kind": [2], "wind": 1.0}
    assert isinstance(fit(Sloppy, {"size": 1e2})["size"], int)
    with pytest.raises(rlrun.InvalidParams, match="write windy: false"):  # of a class given to rlrun.run
        rlrun.params.arguments(Sloppy, b'{"windy": "off"}')


@pytest.mark.filterwarnings("ignore:invalid value")  # Gymnasium divides zero by zero
def test_arguments_of_gymnasiums_own_environments() -> None:
    lake = GymnasiumPlugin("FrozenLake-v1")
    for good in ({"map_name": None, "desc": ["SFG"]}, {"reward_schedule": [1, 0.5, 0]}, {"success_rate": 1}):
        lake.environment(json.dumps(good).encode())
    for bad in ({"desc": "SFG"}, {"reward_schedule": [1, "0", 0]}, {"success_rate": "0.5"}, {"map_name": 8}):
        with pytest.raises(rlrun.InvalidParams, match=f"{next(iter(bad))} is .*, must be"):
            lake.environment(json.dumps(bad).encode())
    with pytest.raises(rlrun.InvalidParams, match=r"no state to begin in: .* needs a start, S"):
        lake.environment(b'{"desc": ["FF", "FF"]}')


@pytest.mark.parametrize(
    ("name", "says"), [("CartPole", "No registered env"), ("none:Foo-v0", "cannot import none"), ("", "Malformed")]
)
def test_what_cannot_be_made_is_refused_and_does_not_end_the_process(tmp_path: Path, name: str, says: str) -> None:
    config = {"environments": [f"gymnasium:{name}"], "agents": ["random"], "runs": 1, "steps": 5}
    with pytest.raises(rlrun.ExperimentError, match=says) as raised:
        rlrun.run(config, output=tmp_path / "out", progress=False)
    assert raised.value.path == "environments[0]"
    assert "process died" not in str(raised.value)
