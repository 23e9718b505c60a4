"""What authors answer is checked in the type in which it arrives, with the cure in the message."""

from __future__ import annotations

import contextlib
import fractions
import random
import re
import sys
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces as gs

import rlrun
import rlrun.spaces
from rlrun import _abilities, _decisions
from rlrun._gymnasium_spaces import from_gymnasium
from rlrun._lanes import CONTINUE, NEW_RUN, AgentCopies, AgentLanes, Copies, EnvironmentLanes
from rlrun.environment import TimeSteps
from rlrun.from_gymnasium import GymnasiumPlugin

BYTES = rlrun.Box(0, 255, (2,), "uint8")
SINGLE = rlrun.Box(-np.inf, np.inf, (2,), "float32")
WHOLE = rlrun.Box(-np.inf, np.inf, (2,), "int64")
REAL = rlrun.Box(-1, 1, (2,), "float64")

BAD_VALUES: list[tuple[rlrun.Space, Any, str]] = [
    (BYTES, [-1, 0], r"element \[0\] of .* is -1, which uint8 does not have"),
    (BYTES, [0, 300], r"element \[1\] of .* is 300, which uint8 does not have"),
    (BYTES, np.array([0, 256], np.uint16), "is 256, which uint8 does not have"),
    (BYTES, [0.5, 1], "of float64 .* must be of integers: return integers"),
    (SINGLE, [1e39, 0], r"is 1e\+39, which float32 does not have"),
    (SINGLE, [0, -(2**1023)], r"is -8.98.*, which float32 does not have|must be numbers"),
    (SINGLE, [0], r"of shape \(1,\), must be of shape \(2,\)"),
    (SINGLE, [[0, 0]], r"of shape \(1, 2\), must be of shape \(2,\)"),
    (SINGLE, ["1", "2"], "texts .* must be numbers"),
    (SINGLE, [1j, 0], "complex numbers .* must be numbers"),
    (SINGLE, None, "the type NoneType .* must be numbers"),
    (SINGLE, [[1], [1, 2]], "is no array: ValueError"),
    (SINGLE, {"a": 1}, "the type dict .* must be numbers"),
    (WHOLE, np.array([2**63, 0], np.uint64), "is 9223372036854775808, which int64 does not have"),
    (WHOLE, [0.0, 1.0], "of float64 .* must be of integers: return integers"),
    (rlrun.Discrete(3), 1.5, "1.5 is of type float64, must be an integer"),
    (rlrun.Discrete(3), "1", "must be numbers"),
    (rlrun.Discrete(3), 2**70, "is 1180591620717411303424, which is not in"),
    (rlrun.Discrete(3), np.array([1]), r"must be of shape \(\): return x.item\(\)"),
    (rlrun.MultiDiscrete([2, 2]), np.array([2**63, 0], np.uint64), "which int64 does not have"),
    (rlrun.MultiDiscrete([2, 2]), (1, 0.5), "of float64"),
]


class Answers(rlrun.Environment):
    """An environment that answers what it was told."""

    id = "test/answers@1"

    def __init__(self, space: rlrun.Space, first: Any, step: Any = None) -> None:
        self.space, self.first, self.answer = space, first, step

    @property
    def spec(self) -> rlrun.Spec:
        return rlrun.Spec(self.space, rlrun.Discrete(2))

    def reset(self, seed: int) -> Any:
        return self.first

    def step(self, action: Any) -> Any:
        return self.answer


class Batch(rlrun.VectorEnvironment):
    """The same as a batch, whose last lane has the answer."""

    id = "test/batch@1"

    def __init__(self, space: rlrun.Space, columns: Any, step: Any = None) -> None:
        self.space, self.columns, self.answer = space, columns, step

    @property
    def spec(self) -> rlrun.Spec:
        return rlrun.Spec(self.space, rlrun.Discrete(2))

    def open(self, lanes: int) -> None:
        pass

    def reset(self, lanes: Any, seeds: Any) -> Any:
        return self.columns

    def step(self, lanes: Any, actions: Any) -> Any:
        return self.answer


def start(env: Any, lanes: int = 1, *, steps: bool = False) -> TimeSteps:
    """Start lanes, and step them once."""
    if isinstance(env, rlrun.Environment):
        env = Copies(lambda one=env: one)  # type: ignore[misc]
    stepped = EnvironmentLanes(env, env.spec, lanes)
    actions = np.zeros(lanes, np.int64)
    out = stepped.step(np.full(lanes, NEW_RUN, np.uint8), np.zeros(lanes, np.uint64), actions)
    return stepped.step(np.full(lanes, CONTINUE, np.uint8), None, actions) if steps else out


def valid(space: rlrun.Space, lanes: int = 1) -> Any:
    return rlrun.spaces.zeros(space, lanes)


@pytest.mark.parametrize(
    ("space", "value", "message"), BAD_VALUES, ids=lambda x: None if isinstance(x, str) else str(x)
)
def test_observations_and_actions(space: rlrun.Space, value: Any, message: str) -> None:
    """They are refused at the start, after a step, and as actions of agents; the lane is named."""
    with pytest.raises(rlrun.InvalidAnswer, match=message) as e:
        start(Answers(space, value))
    assert e.value.lane == 0
    with pytest.raises(rlrun.InvalidAnswer, match=message):
        start(Answers(space, valid(space)[0], (value, 0.0, False, False)), steps=True)

    class Actor(rlrun.Agent):
        id = "test/actor@1"

        def begin(self, spec: rlrun.Spec, seed: int) -> None:
            pass

        def select_action(self, observation: Any) -> Any:
            return value

        def update(self, transition: rlrun.Transition) -> None:
            pass

    agent = AgentLanes(AgentCopies(Actor), rlrun.Spec(rlrun.Discrete(1), space), 1)
    none = np.zeros(1, np.bool_)
    with pytest.raises(rlrun.InvalidAnswer, match=message):
        agent.step(
            np.full(1, NEW_RUN, np.uint8),
            np.zeros(1, np.uint64),
            TimeSteps(np.zeros(1, np.int64), none * 1.0, none, none),
        )


@pytest.mark.parametrize(
    ("space", "column", "message", "lane"),
    [
        (BYTES, [[0, 0], [0, 300]], r"element \[1\] of observations is 300, which uint8", 1),
        (BYTES, np.array([[0, -1], [0, 0]], np.int8), "is -1, which uint8", 0),
        (BYTES, np.array([[0, 0], [999, 0]], np.uint16), "is 999, which uint8", 1),
        (SINGLE, [[0, 0], [0, 1e39]], r"is 1e\+39, which float32", 1),
        (WHOLE, np.array([[0, 0], [0, 2**63]], np.uint64), "which int64 does not have", 1),
        (rlrun.Discrete(3), np.array([0, 2**63], np.uint64), "observations is 9223372036854775808, which int64", 1),
        (rlrun.Discrete(3), [0.0, 1.0], "must be of integers", None),
        (SINGLE, [[0, 0]], r"of shape \(1, 2\), must be of shape \(2, 2\)", None),
        (SINGLE, [["a", "b"]] * 2, "must be numbers", None),
    ],
)
def test_observations_of_batches(space: rlrun.Space, column: Any, message: str, lane: int | None) -> None:
    for env, steps in (
        (Batch(space, column), False),
        (Batch(space, valid(space, 2), (column, np.zeros(2), [False] * 2, [False] * 2)), True),
    ):
        with pytest.raises(rlrun.InvalidAnswer, match=message) as e:
            start(env, 2, steps=steps)
        assert e.value.lane == lane


REAL_ANSWER = ([0.0, 0.0], 0.0, False, False)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "step returned None, must return a TimeStep: return rlrun.TimeStep"),
        (0.5, "a value of type float, must return a TimeStep"),
        ("text", "a value of type str"),
        ([[0.0, 0.0], 0.0, False, False], "a list of 4"),
        (np.zeros(4), "a value of type ndarray"),
        ({"observation": 0}, "a value of type dict"),
        ((0,), "a tuple of 1"),
        ((*REAL_ANSWER, {}, 1), "a tuple of 6"),
        (([0.0, 0.0], 0.0, False, {}), r"\(observation, reward, done, info\) as in gym before 0.26: return rlrun"),
        ((*REAL_ANSWER, "info"), "the fifth entry that step returned is a value of type str"),
        (([0.0, 0.0], "1.5", False, False), r"the reward is '1.5', must be a number: return float\(x\)"),
        (([0.0, 0.0], None, False, False), "the reward is None, must be a number: return a float, such as 0.0"),
        (
            ([0.0, 0.0], np.ones(1), False, False),
            r"the reward is array\(\[1\.\]\), must be a number: return x\.item\(\)",
        ),
        (
            ([0.0, 0.0], 0.0, np.array([False]), False),
            r"terminated is array.* must be True or False: return x\.item\(\)",
        ),
        (([0.0, 0.0], 1j, False, False), "the reward is 1j, must be a number"),
        (([0.0, 0.0], np.zeros(2), False, False), "the reward is .* must be a number"),
        (([0.0, 0.0], np.ma.masked, False, False), "the reward is masked, must be a number"),
        (([0.0, 0.0], np.ma.array([1.0], mask=[True]), False, False), "the reward is .*masked"),
        ((np.ma.array([0.0, 0.5], mask=[False, True]), 0.0, False, False), "the observation is masked"),
        (([0.0, 0.0], 0.0, np.ma.array([True], mask=[True]), False), "terminated is masked_array"),
        (([0.0, 0.0], 10**400, False, False), "the reward is a whole number that float64 does not have"),
        (([0.0, 0.0], 0.0, "False", False), "terminated is 'False', a str: must be True or False"),
        (([0.0, 0.0], 0.0, False, None), "truncated is None, a NoneType"),
        (([0.0, 0.0], 0.0, 1.0, False), "terminated is 1.0, a float"),
        (([0.0, 0.0], 0.0, 2, False), "terminated is 2, a int"),
        (([0.0, 0.0], 0.0, [], False), r"terminated is \[\], a list"),
        (([0.0, 0.0], 0.0, np.array([True, False]), False), "terminated is array"),
        (([0.0, 0.0], 0.0, np.float64(0), False), "terminated is np.float64|terminated is 0.0"),
    ],
)
def test_steps_that_are_refused(answer: Any, message: str) -> None:
    with pytest.raises(rlrun.InvalidAnswer, match=message) as e:
        start(Answers(REAL, [0.0, 0.0], answer), steps=True)
    assert e.value.lane == 0


@pytest.mark.parametrize("flag", [True, np.True_, np.array(True), 1, np.int8(1)])
@pytest.mark.parametrize("reward", [2, 2.0, np.float32(2), np.array(2), np.array(2.0)])
def test_steps_that_are_taken(flag: Any, reward: Any) -> None:
    for answer in (
        rlrun.TimeStep([1, 0], reward, flag),
        (np.float16([1, 0]), reward, flag, False),
        ([1, 0], reward, flag, False, {}),
    ):
        out = start(Answers(REAL, [0, 0], answer), steps=True)
        assert (out.rewards.tolist(), out.terminated.tolist(), out.truncated.tolist()) == ([2.0], [True], [False])
        assert out.observations.tolist() == [[1, 0]]


COLUMNS = (np.zeros((2, 2)), np.zeros(2), np.zeros(2, bool), np.zeros(2, bool))


@pytest.mark.parametrize(
    ("at", "column", "message"),
    [
        (1, ["0", "1"], "rewards has texts"),
        (1, np.zeros(3), r"rewards of shape \(3,\)"),
        (1, None, "rewards has the type NoneType"),
        (2, ["False", "False"], "terminated has texts"),
        (2, [0.0, 1.0], r"terminated of float64 .* must be of bool: write x.astype\(bool\)"),
        (3, [0, 2], "truncated of int64"),
        (3, False, r"truncated of shape \(\)"),
    ],
)
def test_columns_that_are_refused(at: int, column: Any, message: str) -> None:
    columns = [*COLUMNS]
    columns[at] = column
    with pytest.raises(rlrun.InvalidAnswer, match=message):
        start(Batch(REAL, np.zeros((2, 2)), tuple(columns)), 2, steps=True)
    for answer in (None, list(COLUMNS), COLUMNS[:3]):
        with pytest.raises(rlrun.InvalidAnswer, match="must return TimeSteps: observations, rewards"):
            start(Batch(REAL, np.zeros((2, 2)), answer), 2, steps=True)
    start(Batch(REAL, np.zeros((2, 2)), (*COLUMNS[:2], [0, 1], [False, True])), 2, steps=True)


def test_a_pair_is_no_observation() -> None:
    with pytest.raises(rlrun.InvalidAnswer, match="must return the observation alone"):
        start(Answers(rlrun.Discrete(2), (0, {})))
    assert start(Answers(rlrun.MultiDiscrete([2, 2]), (0, 1))).observations.tolist() == [[0, 1]]


def refused(call: Any, *arguments: Any, match: str) -> None:
    with pytest.raises((rlrun.InvalidAnswer, TypeError), match=match):
        call(*arguments)


def test_other_answers() -> None:
    """What else an author returns or declares."""
    refused(_abilities.BY_NAME["render"].to_bytes, None, match="render returned a value of type NoneType")
    refused(_abilities.BY_NAME["action_names"].to_bytes, "ab", match="must return a list of texts")
    refused(_abilities.BY_NAME["action_names"].to_bytes, [1, 2], match="must return a list of texts")
    refused(_abilities.BY_NAME["save"].to_bytes, 5, match="save returned a value of type int, must return bytes")
    space = rlrun.Discrete(2)
    refused(lambda: rlrun.Spec(space, space, continuing="False"), match="continuing .* 'False'")  # type: ignore[arg-type]
    refused(lambda: rlrun.Spec(space, space, reward_low="0"), match="reward_low .* '0'")  # type: ignore[arg-type]
    refused(lambda: rlrun.Spec(space, space, reward_high=np.nan), match="reward_high .* nan")
    for name in ("reward_low", "reward_high", "steps", "episodes", "actors"):
        for value in (True, np.True_, "1", None, [1], 1j):
            refused(
                lambda n=name, v=value: rlrun.Spec(space, space, **{n: v}),
                match=f"{name} of an rlrun.Spec is .* number",
            )
        rlrun.Spec(space, space, **{name: np.int32(2)}).to_proto()
    refused(lambda: rlrun.Spec(space, space, masks=1), match="masks of an rlrun.Spec is 1")  # type: ignore[arg-type]
    for name in ("steps", "episodes", "actors"):
        refused(
            lambda n=name: rlrun.Spec(space, space, **{n: 1.5}),
            match=f"{name} of an rlrun.Spec is 1.5, must be a whole",
        )
        rlrun.Spec(space, space, **{name: 2.0}).to_proto()
        with pytest.raises(ValueError, match=f"{name} of an rlrun.Spec is -1, must be at least"):
            rlrun.Spec(space, space, **{name: -1})
    rlrun.Spec(space, space, reward_low=np.float32(-1), reward_high=fractions.Fraction(1, 2)).to_proto()
    refused(lambda: rlrun.MultiDiscrete(3), match="nvec of a MultiDiscrete must be a list of whole numbers, not 3")
    refused(lambda: rlrun.Discrete(True), match="n of a Discrete must be a whole number, not True")
    refused(
        lambda: rlrun.MultiDiscrete([2, True]), match="an entry of a MultiDiscrete must be a whole number, not True"
    )
    for problem, match in (
        (rlrun.Problem("ab", np.zeros((2, 1))), "must be a list of texts"),
        (rlrun.Problem(["a", "b"], [["1"], ["2"]]), "values has texts"),
        (rlrun.Problem(["a", "b"], [[1], [1, 2]]), "values is no array"),
        (rlrun.Problem(["a", "b"], np.zeros((2, 1)), greedy="0"), "must be a whole number"),  # type: ignore[arg-type]
        ((["a"], np.zeros((1, 1))), "must return a Problem"),
    ):
        refused(_decisions.read, [problem], [0], match=match)
    offered = np.array([["True", "False"]])
    refused(
        _decisions.read,
        rlrun.Problems(["a", "b"], np.zeros((1, 2, 1)), offered),
        [0],
        match="offered has texts",
    )


class Odd(gymnasium.Env[Any, Any]):
    """An environment of Gymnasium that returns what it was told."""

    action_space = gs.Discrete(2)
    spaces = {  # noqa: RUF012
        "bytes": gs.Box(0, 255, (2,), np.uint8),
        "single": gs.Box(-np.inf, np.inf, (2,), np.float32),
        "whole": gs.Box(-3, 3, (2,), np.int32),
        "discrete": gs.Discrete(3, start=1),
        "pair": gs.Tuple((gs.Discrete(2), gs.Discrete(2))),
        "lists": gs.MultiDiscrete([2, 3]),
        "dict": gs.Dict({"a": gs.Discrete(3), "b": gs.Box(0, 1, (1,), np.float32)}),
        "bits": gs.MultiBinary(2),
    }
    told: Any = None  # what reset and step return

    def __init__(self, space: str) -> None:
        self.observation_space = self.spaces[space]

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        return Odd.told[0]

    def step(self, action: Any) -> Any:
        return Odd.told[1]


gymnasium.register("tests/Odd-v0", entry_point=Odd, order_enforce=False, max_episode_steps=None)


@pytest.mark.parametrize(
    ("space", "observation", "message"),
    [
        ("bytes", [-1, 0], "is -1, which uint8 does not have.*Name a wrapper"),
        ("bytes", np.array([0, 300]), "is 300, which uint8 does not have"),
        ("bytes", np.zeros(3, np.uint8), r"of shape \(3,\)"),
        ("single", [1e39, 0], r"is 1e\+39, which float32 does not have"),
        ("single", np.float32([np.inf, 0]), "element 0 of the observation is inf, outside its bounds"),
        ("single", ["1", "2"], "must be numbers"),
        ("single", None, "the type NoneType"),
        ("whole", [4, 0], "element 0 of the observation is 4, outside its bounds -3 and 3[.]"),
        ("whole", [0.5, 0], "must be of integers: return integers"),
        ("discrete", 0, "is 0, not in Discrete"),
        ("discrete", 1.0, "1.0 is of type float64, must be an integer"),
        ("pair", (0, 1, 0), "must be a tuple of 2"),
        ("pair", (0, 2), r"the observation\[1\] is 2, not in Discrete"),
        ("pair", (0, -1), r"the observation\[1\] is -1"),
        ("lists", [0, 3], "element 1 of the observation is 3, not in MultiDiscrete"),
        ("lists", [[0, 1]], r"of shape \(1, 2\)"),
        ("lists", [0.0, 1.0], "of float64"),
        ("dict", {"a": -1, "b": [0.5]}, r"the observation\['a'\] is -1, not in Discrete"),
        ("dict", {"a": 1}, r"must be a dict with the keys \['a', 'b'\]"),
        ("dict", {"a": 1, "b": [1e39]}, r"the observation\['b'\] is 1e\+39"),
        ("dict", [1, 2], "is a value of type list, must be a dict"),
        ("bits", [2, 0], "element 0 of the observation is 2, not in MultiBinary"),
    ],
)
def test_observations_of_gymnasium(space: str, observation: Any, message: str) -> None:
    _, encode = from_gymnasium(Odd.spaces[space])
    with pytest.raises(rlrun.InvalidAnswer, match=message):
        encode(observation)


@pytest.mark.parametrize(
    ("reset", "step", "message"),
    [
        ((0, 1), None, "the last entry that reset returned is a int, must be the info, a dict: .* gym before 0.26"),
        (((0, 1), {}), ((0, 1), 0.0, False, False, None), "the last entry that step returned is a NoneType"),
        (((0, 1), {}), ((0, 1), 0.0, "False", False, {}), "terminated is 'False', a str: .*Name a wrapper"),
        (((0, 1), {}), ((0, 1), 0.0, False, 0.0, {}), "truncated is 0.0"),
        (((0, 1), {}), ((0, 1), "0", False, False, {}), "the reward is '0', must be a number"),
        (((0, 1), {}), ((0, 5), 0.0, False, False, {}), r"the observation\[1\] is 5"),
    ],
)
def test_answers_of_gymnasium(reset: Any, step: Any, message: str) -> None:
    """An old reset that returns a pair is not taken for (observation, info), even where a pair is an observation."""
    Odd.told = ((0, 1), {}), ((0, 1), 0.0, False, False, {})
    env = GymnasiumPlugin("tests/Odd-v0", {"space": "pair"}).environment(b"{}")
    Odd.told = reset, step
    with pytest.raises(rlrun.InvalidAnswer, match=message):
        start(env, steps=True)


def test_check_tells(run, tmp_path: Any) -> None:
    """``rlrun plugin check`` is not content with values that a conversion would make valid."""
    code = """
import rlrun

class Overflow(rlrun.Environment):
    id = "test/overflow@1"
    spec = rlrun.Spec(rlrun.Box(0, 255, (1,), "uint8"), rlrun.Discrete(2))
    def reset(self, seed): return [0]
    def step(self, action): return [300], 0.0, False, False

rlrun.serve(Overflow)
"""
    (tmp_path / "overflow.py").write_text(code)
    text = run("plugin", "check", sys.executable, "--", "overflow.py", fails=True)
    assert "element [0] of the observation is 300, which uint8 does not have" in text


def nested(rng: random.Random, depth: int = 3) -> Any:
    """Return any value that an author may return by mistake."""
    leaves: list[Any] = [None, True, 0, -1, 2**70, 0.5, float("nan"), float("inf"), 1e39, "x", b"x", 1j, object()]
    leaves += [np.float16(1), np.uint64(2**63), np.array(3), np.array([1, 2]), np.array(["a"]), np.array([None])]
    leaves += [np.datetime64("2020-01-01"), {}, [], (), Odd, np.zeros((2, 0))]
    if depth == 0 or rng.random() < 0.5:
        return rng.choice(leaves)
    parts = [nested(rng, depth - 1) for _ in range(rng.randrange(4))]
    return rng.choice([list, tuple, lambda x: {str(k): v for k, v in enumerate(x)}])(parts)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_whatever_is_answered_is_taken_or_refused() -> None:
    """No other exception arises, and what is taken is in the type of the space."""
    rng = random.Random(7)
    spaces: list[rlrun.Space] = [BYTES, SINGLE, WHOLE, REAL, rlrun.Discrete(3), rlrun.MultiDiscrete([2, 2])]
    taken, told = 0, list[str]()
    for _ in range(3000):
        space, value = rng.choice(spaces), nested(rng)
        try:
            column = rlrun.spaces.zeros(space, 1)
            column[0] = rlrun.spaces.as_entry(space, value, "it")
            taken += 1
            assert np.array_equal(column[0], np.asarray(value).astype(space.dtype), equal_nan=True)
        except rlrun.InvalidAnswer as e:
            told.append(str(e))
        for answer in (value, (value, nested(rng), nested(rng), nested(rng)), (value, 0.0, True, False, value)):
            with contextlib.suppress(rlrun.InvalidAnswer):
                start(Answers(space, valid(space)[0], answer), steps=True)
    assert taken > 50
    assert all(re.match(r"(element .* of )?it ", text) for text in told)
