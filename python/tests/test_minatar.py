"""The games of rlrun.minatar keep the rules of the package minatar, step by step."""

from __future__ import annotations

import numpy as np
import pytest

import rlrun
from rlrun.minatar import FIRE, GAMES, LEFT, NAMES, RIGHT, UP, MinAtar

ALL = slice(None)


class Random:
    """The random numbers of a lane, in the place of numpy's in the package."""

    def __init__(self, seed: int) -> None:
        self.stream = rlrun.Streams(1)
        self.stream.seed(ALL, np.array([seed], np.uint64))

    def rand(self, size: int | None = None):
        draws = self.stream.random(ALL, size or 1)[0]
        return draws if size else draws[0]

    def randint(self, low: int, high: int | None = None, size: int | None = None):
        low, high = (0, low) if high is None else (low, high)
        draws = low + np.floor((high - low) * self.stream.random(ALL, size or 1)[0]).astype(int)
        return draws if size else int(draws[0])


def plays(name: str, n: int, state, rng: np.random.Generator) -> int:
    """Return an action: random ones, or those of somebody who plays long."""
    if name == "breakout" and n % 4:
        return 0 if (d := state.ball_x - state.pos) == 0 else LEFT if d < 0 else RIGHT
    if name == "freeway" and n % 5:
        return UP
    if name == "seaquest" and n % 3:  # hunts divers, and comes up with them
        if state.diver_count >= 6 or (state.oxygen < 30 and state.diver_count > 0):
            return UP
        if state.divers:
            x, y = state.divers[0][:2]
            if y != state.sub_y:
                return UP if y < state.sub_y and state.sub_y > 1 else 4
            return LEFT if x < state.sub_x else RIGHT
        return FIRE
    if name == "space_invaders" and n % 2:
        return FIRE
    return int(rng.integers(len(NAMES)))


@pytest.mark.slow
@pytest.mark.parametrize("ramping", [True, False])
@pytest.mark.parametrize("name", GAMES)
def test_is_the_package_step_by_step(name: str, ramping: bool) -> None:
    minatar = pytest.importorskip("minatar")
    lanes, rng = 8, np.random.default_rng(1)
    ours = MinAtar(game=name, difficulty_ramping=ramping)
    ours.open(lanes)
    theirs = [minatar.Environment(name, difficulty_ramping=ramping) for _ in range(lanes)]
    immortal = np.arange(lanes) < 4  # of these the end of a game is taken back, in both, so that they last

    def begin(which, seeds) -> None:
        boards = ours.reset(which, np.array(seeds, np.uint64))
        for lane, seed, board in zip(which, seeds, boards, strict=True):
            env = theirs[lane]
            env.random = env.env.random = Random(seed)
            env.last_action = 0
            env.reset()
            np.testing.assert_array_equal(board, env.state())

    begin(np.arange(lanes), range(lanes))
    earned, ended = 0.0, 0
    for n in range(6000):
        actions = np.array([plays(name, n, env.env, rng) for env in theirs])
        which = np.arange(lanes) if n % 2 else rng.permutation(lanes)
        t = ours.step(which, actions[which])
        for i, lane in enumerate(which):
            reward, over = theirs[lane].act(actions[lane])
            assert (reward, over) == (t.rewards[i], t.terminated[i]), (n, lane)
            np.testing.assert_array_equal(t.observations[i], theirs[lane].state(), err_msg=f"step {n}, lane {lane}")
            assert theirs[lane].random.stream.state[0] == ours.rng.state[lane]
            earned += reward
            if over and immortal[lane] and name not in ("freeway", "breakout"):
                theirs[lane].env.terminal = False
        done = [lane for i, lane in enumerate(which) if t.terminated[i] and theirs[lane].env.terminal]
        ended += len(done)
        if done:
            begin(np.array(done), [1000 + 10 * n + lane for lane in done])
    assert earned > 50
    assert ended > 8
    if name in ("asterix", "seaquest"):
        assert (max(env.env.ramp_index for env in theirs[:4]) > 3) == ramping


@pytest.mark.slow
def test_keeps_every_rule(run, by_name) -> None:
    for name in GAMES:
        assert "keeps every rule" in run("plugin", "check", "minatar", f"--param=game={name}")


@pytest.mark.parametrize("name", GAMES)
def test_sticky_actions_are_those_before(name: str) -> None:
    env = MinAtar(game=name, sticky_action_prob=1.0, minimal=True)
    env.open(3)
    env.reset(ALL, np.arange(3, dtype=np.uint64))
    assert env.spec.observation == rlrun.Box(0, 1, (10, 10, GAMES[name].channels), "uint8")
    assert env.action_names(0) == [NAMES[a] for a in GAMES[name].minimal]
    for _ in range(5):
        env.step(ALL, np.full(3, len(env.actions) - 1))
    assert (env.last == 0).all()
    env.sticky_action_prob = 0.0
    env.step(ALL, np.full(3, len(env.actions) - 1))
    assert (env.last == env.actions[-1]).all()


def test_a_brick_is_worth_1_and_a_ball_that_falls_ends_the_game() -> None:
    env = MinAtar(game="breakout", sticky_action_prob=0.0)
    env.open(2)
    env.reset(ALL, np.array([1, 2], np.uint64))
    env.state["x"][:], env.state["dx"][:] = 0, 1  # the ball falls from (0, 3) and is at the bottom after six steps
    rewards, ends = np.zeros((2, 12)), np.zeros((2, 12), bool)
    for n in range(11):
        which = np.array([0, 1])[: 2 if n < 6 else 1]
        t = env.step(which, np.array([RIGHT if n == 0 else 0, LEFT])[which])  # lane 0 goes under it, lane 1 away
        rewards[which, n], ends[which, n] = t.rewards, t.terminated
    assert np.argwhere(ends).tolist() == [[1, 5]]
    assert np.argwhere(rewards).tolist() == [[0, 10]]  # up again, over the right wall, into a brick of the third row
    assert rewards.sum() == 1
    bricks = env.state["bricks"][0]
    assert (bricks.sum(), bricks[3, 8]) == (29, False)
