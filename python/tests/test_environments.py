"""The environments of rlrun.environments keep the rules of bsuite."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest

import rlrun
from rlrun.bandits import REWARDS, DistributionBandit
from rlrun.environments import CartpoleSwingup, Catch
from rlrun.errors import InvalidParams
from rlrun.minatar import GAMES, MinAtar
from rlrun.params import build, schema

ALL = slice(None)


def pump(n: int, _: np.ndarray) -> int:
    return n // 3 % 3


def hold(_: int, state: np.ndarray) -> int:
    x, x_dot, theta, theta_dot, _time = state
    c = np.sin(theta) + 0.3 * theta_dot + 0.02 * x + 0.05 * x_dot
    return 2 if c > 0.02 else 0 if c < -0.02 else 1


# What bsuite 0.3.5 answered: the policy, the first state, that after 25 steps, the last, its observation, the return.
TRAJECTORIES = [
    (
        pump,
        [0.01, -0.02, 3.1, 0.03, 0.0],
        [-0.043531553558512556, -0.20369032097666276, 3.0597153323481656, -0.011360701169206122, 0.25000000000000006],
        [-2.0235638394568105, -0.17847078788304993, 3.0445268313116634, 0.5459024279081545, 10.009999999999831],
        [-0.674521267414093, -0.05949026346206665, 0.09691347181797028, -0.9952927827835083, 0.5459024310112,
         1.0010000467300415, -1.0, 1.0],
        -66.80000000000048,
    ),
    (
        hold,
        [0.02, 0.01, 0.05, -0.03, 0.0],
        [0.0469853274351684, 0.19857108886282426, 0.023813650677664486, -0.17857292762832142, 0.25000000000000006],
        [0.5824041501339107, 0.013551451526553996, 6.28271689620529, -0.10807775584501784, 10.009999999999831],
        [0.19413471221923828, 0.004517150577157736, -0.00046841095900163054, 0.9999998807907104, -0.1080777570605278,
         1.0010000467300415, 1.0, 1.0],
        991.1999999999988,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("policy", "first", "middle", "last", "seen", "earned"), TRAJECTORIES)
def test_swingup_is_that_of_bsuite(policy, first, middle, last, seen, earned: float) -> None:
    env = CartpoleSwingup()
    env.open(2)  # the second lane hangs about
    env.reset(ALL, np.arange(2, dtype=np.uint64))
    env.state[:, 0] = first
    total = 0.0
    for n in range(1001):
        t = env.step(np.array([0]), np.array([policy(n, env.state[:, 0])]))
        total += t.rewards[0]
        if n == 24:
            np.testing.assert_allclose(env.state[:, 0], middle, rtol=1e-12)
        assert t.terminated[0] == (n == 1000)
    np.testing.assert_allclose(env.state[:, 0], last, rtol=1e-8)  # errors of rounding grow
    np.testing.assert_allclose(t.observations[0], seen, rtol=1e-6)
    assert total == pytest.approx(earned)


def test_swingup_begins_as_it_says() -> None:
    env = CartpoleSwingup(init_range=0.05)
    env.open(1000)
    env.reset(ALL, np.arange(1000, dtype=np.uint64))
    off = env.state[:4] - np.array([[0], [0], [np.pi], [0]])
    assert (np.abs(off) <= 0.05).all()
    assert (np.abs(off).max(1) > 0.049).all()
    assert (env.state[4] == 0).all()


def test_a_ball_is_caught_by_who_goes_to_it() -> None:
    env = Catch()
    env.open(50)
    board = env.reset(ALL, np.arange(50, dtype=np.uint64))
    assert board.shape == (50, 10, 5)
    assert set(env.ball) == set(range(5))
    for n in range(9):
        assert (board.sum((1, 2)) == 2).all()
        ball, paddle = board[:, n].argmax(1), board[:, -1].argmax(1)
        moves = np.sign(ball - paddle)
        moves[:10] = 0  # these stay where they are
        t = env.step(ALL, 1 + moves)
        board = t.observations
        assert (t.terminated == (n == 8)).all()
    caught = np.where(np.arange(50) < 10, env.ball == 2, True)
    np.testing.assert_array_equal(t.rewards, np.where(caught, 1, -1))
    assert (board.sum((1, 2)) == np.where(caught, 1, 2)).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cartpole-swingup", "catch"])
def test_keeps_every_rule(run, by_name, name: str) -> None:
    assert "keeps every rule" in run("plugin", "check", name)


def test_catch_is_an_image_for_filters() -> None:
    assert Catch(rows=7).spec.observation == rlrun.Box(0, 1, (7, 5), "uint8")


CASES = [
    (DistributionBandit, {"rewards": list(REWARDS)}, {"arms": 5, "mean": 2.0, "tail": 9}),
    (MinAtar, {"game": list(GAMES)}, {"sticky_action_prob": 0.5, "difficulty_ramping": False, "minimal": True}),
    (CartpoleSwingup, {"theta_dot_threshold": [1.0, 0.0], "x_reward_threshold": [1.0, 0.0]}, {
        "height_threshold": -1.0, "theta_dot_threshold": 5.0, "x_reward_threshold": 0.01, "move_cost": 0.3,
        "x_threshold": 0.02, "timescale": 0.05, "max_time": 0.1, "init_range": 0.5}),
    (Catch, {}, {"rows": 4, "columns": 7}),
]  # fmt: skip


@pytest.mark.parametrize(("cls", "beside", "others"), CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_parameters_have_an_effect_or_are_refused(cls, beside, others) -> None:
    """Every parameter of every bundled environment, beside the values that decide whether it acts."""

    def made(given, steps: int) -> list:
        env = cls(**given)
        env.open(4)
        rng, n, seeds = np.random.default_rng(1), env.spec.action.n, np.arange(4, dtype=np.uint64)
        seen = [env.reset(slice(None), seeds).tobytes(), str(env.spec)]
        for _ in range(steps):
            t = env.step(slice(None), np.minimum(rng.integers(0, 6, 4), n - 1))
            seen += [t.observations.tobytes(), t.rewards.tobytes(), t.terminated.tobytes()]
            if t.terminated.any():
                seen.append(env.reset(np.flatnonzero(t.terminated), seeds[t.terminated] + np.uint64(9)).tobytes())
        return seen

    for values in itertools.product(*beside.values()):
        base = dict(zip(beside, values, strict=True))
        steps = 600 if cls is MinAtar else 60  # games become faster after a while
        plain = made(base, steps)
        for name, value in others.items():
            if (name, base.get("game")) == ("difficulty_ramping", "space_invaders"):
                continue  # it needs a player who clears the board, as in test_minatar
            given = base | {name: value}
            try:
                build(cls, json.dumps(given).encode())
                refused = False
            except InvalidParams as e:
                refused = f"{name} has no effect with" in str(e)
            assert (made(given, steps) == plain) == refused, f"{name} beside {base}"
    assert set(beside) | set(others) == set(schema(cls)["properties"])
