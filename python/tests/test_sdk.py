"""The parts that need no other process."""

from __future__ import annotations

import dataclasses
import json
import logging
import math
import os
import py_compile
import re
import subprocess
import sys
import sysconfig
import threading
import types
import zipfile
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from conftest import EXAMPLES, ROOT

import rlrun
from rlrun import _decisions, _lanes, _log, _rules, _server, _sources, errors, params, spaces
from rlrun._lanes import (
    ALL,
    CONTINUE,
    EVALUATE,
    EVALUATE_EPISODE,
    IDLE,
    NEW_EPISODE,
    NEW_RUN,
    AgentCopies,
    AgentLanes,
    Copies,
    EnvironmentLanes,
    OptionLanes,
    with_id,
)
from rlrun._pb import plugin_pb2 as pb
from rlrun.environment import TimeSteps
from rlrun.serve import ClassPlugin


def signals(*values: int) -> np.ndarray:
    return np.array(values, np.uint8)


def seeds(*values: int) -> np.ndarray:
    return np.array(values, np.uint64)


SPACES = [
    rlrun.Discrete(3),
    rlrun.Discrete(4, start=-2),
    rlrun.MultiDiscrete([2, 3]),
    rlrun.Box(-1, 1, (2, 3)),
    rlrun.Box([0, -math.inf], [math.inf, 1], dtype="float32"),
    rlrun.Box(0, 255, (2, 2), "uint8"),
    rlrun.Box(0, 1, ()),
]


@pytest.mark.parametrize("space", SPACES, ids=repr)
def test_spaces_round_trip(space: rlrun.Space) -> None:
    assert spaces.from_proto(spaces.to_proto(space)) == space
    spec = rlrun.Spec(space, space, 0, 1, continuing=True, id="test/x@1", steps=10, episodes=3_000)
    assert rlrun.Spec.from_proto(spec.to_proto()) == spec
    column = spaces.zeros(space, 4)
    back = spaces.from_bytes(space, spaces.to_bytes(column), 4, "x")
    assert (back.shape, back.dtype) == ((4, *space.shape), space.dtype)
    with pytest.raises(ValueError, match=r"x: column of 1 bytes, want \d+"):
        spaces.from_bytes(space, b"\x01", 4, "x")


@pytest.mark.parametrize(
    ("values", "data"),
    [
        ([1, -2], "01 01 fe"),
        ([127, -128], "01 7f 80"),
        ([1, 128], "02 0100 8000"),
        ([-40000], "04 c063ffff"),
        ([1 << 40], "08 0000000000010000"),
        ([-(2**63), 2**63 - 1], "08 0000000000000080 ffffffffffffff7f"),
    ],
    ids=str,
)
def test_integers_take_as_few_bytes_as_they_need(values: list[int], data: str) -> None:
    wire = spaces.to_bytes(np.array(values))
    assert wire == bytes.fromhex(data)
    space = rlrun.Discrete(2)
    assert spaces.from_bytes(space, wire, len(values), "x").tolist() == values
    with pytest.raises(ValueError, match="x: column of"):
        spaces.from_bytes(space, wire[:-1], len(values), "x")
    with pytest.raises(ValueError, match=r"begins with b'\\x03'"):
        spaces.from_bytes(space, b"\x03" + wire[1:], len(values), "x")


@pytest.mark.parametrize(
    ("space", "column", "outside"),
    [
        (rlrun.Discrete(3, start=1), [0, 1, 3, 4, -(2**63), 2**63 - 1], [1, 0, 0, 1, 1, 1]),
        (rlrun.MultiDiscrete([2, 3]), [[0, 2], [1, 3], [-1, 0]], [0, 1, 1]),
        (rlrun.Box(-1, 1, (2,)), [[-1, 1], [0, 1.5], [math.nan, 0]], [0, 1, 1]),
        (rlrun.Box(0, math.inf, ()), [0, math.inf, -1, math.nan], [0, 1, 1, 1]),
        (rlrun.Box(0, 0.1, (1,), "float32"), np.float32([[0.1], [0.2]]), [0, 1]),
        (rlrun.Box(1, 3, (1,), "uint8"), np.uint8([[0], [3]]), [1, 0]),
    ],
    ids=str,
)
def test_outside(space: rlrun.Space, column: object, outside: list[int]) -> None:
    assert space.outside(np.asarray(column)).tolist() == [bool(x) for x in outside]


@pytest.mark.parametrize(
    ("space", "value"),
    [
        (rlrun.Discrete(3), 0.5),
        (rlrun.Discrete(3), "x"),
        (rlrun.MultiDiscrete([2, 2]), [0]),
        (rlrun.MultiDiscrete([2, 2]), [0.5, 1]),
        (rlrun.Box(0, 1, (2,)), [0, 1, 2]),
    ],
    ids=str,
)
def test_entries_that_do_not_fit(space: rlrun.Space, value: object) -> None:
    with pytest.raises(rlrun.InvalidAnswer, match="the action"):
        spaces.as_entry(space, value, "the action")


@pytest.mark.parametrize(
    "make",
    [
        lambda: rlrun.Discrete(0),
        lambda: rlrun.MultiDiscrete([]),
        lambda: rlrun.Box(1, 0, ()),
        lambda: rlrun.Box(math.nan, 0, ()),
        lambda: rlrun.Box(0, 1, (0,)),
        lambda: rlrun.Box(0.2, 0.8, (1,), "int64"),
        lambda: rlrun.Box(-9, -1, (1,), "uint8"),
        lambda: rlrun.Box(0, 2**60, (1,), "int64"),
        lambda: rlrun.Box(0, 1, (1,), "int32"),  # type: ignore[arg-type]
    ],
)
def test_impossible_spaces(make) -> None:
    with pytest.raises(ValueError, match=r"must|not"):
        make()


class Foreign:
    """A space as Gymnasium has them."""

    __module__, __qualname__ = "gymnasium.spaces", "Discrete"

    def __repr__(self) -> str:
        return "Discrete(2)"


# The spaces of Gymnasium have the same names, so a message has to say whose they are.
@pytest.mark.parametrize(
    ("make", "wrong"),
    [
        (lambda: rlrun.Discrete(5.5), "n of a Discrete must be a whole number, not 5.5"),  # type: ignore[arg-type]
        (lambda: rlrun.Discrete(5, "0"), "start of a Discrete must be a whole number, not '0'"),  # type: ignore[arg-type]
        (lambda: rlrun.Spec(5, rlrun.Discrete(2)), "observations in an rlrun.Spec must be an .*, not a int: 5"),  # type: ignore[arg-type]
        (
            lambda: rlrun.Spec(rlrun.Discrete(2), Foreign()),  # type: ignore[arg-type]
            r"actions in an rlrun.Spec must be an rlrun.Discrete, .*, not a gymnasium.spaces.Discrete: Discrete\(2\)",
        ),
    ],
)
def test_what_is_no_space(make, wrong: str) -> None:
    with pytest.raises(TypeError, match=wrong):
        make()


@dataclass
class Inner:
    depth: int = 3


@dataclass
class Sample(rlrun.Environment):
    """A sample.

    With more to say.
    """

    id = "test/sample@1"
    size: int = rlrun.param(doc="How big.", minimum=2)
    rate: float = rlrun.param(0.5, "How fast.", minimum=0, maximum=1)
    kind: Literal["a", "b"] = "a"
    sizes: list[int] = rlrun.param([1, 2])  # noqa: RUF009 - it is a field
    limit: int | None = None
    inner: Inner = field(default_factory=Inner)

    @property
    def spec(self) -> rlrun.Spec:
        return rlrun.Spec(rlrun.Discrete(self.size), rlrun.Discrete(2))

    def reset(self, seed: int) -> int:
        self.count = 0
        return 0

    def step(self, action: int) -> rlrun.TimeStep:
        if action == 1 and self.count == 2:
            raise ValueError("broken")
        self.count += 1
        return rlrun.TimeStep(self.count % self.size, 1.0, terminated=self.count == 4)


def test_description() -> None:
    d = ClassPlugin(Sample).description
    assert (d.id, d.kind, d.doc, list(d.abilities)) == ("test/sample@1", "environment", "A sample.", [])
    schema = json.loads(d.params)
    assert schema["required"] == ["size"]
    assert schema["additionalProperties"] is False
    p = schema["properties"]
    assert p["size"] == {"type": "integer", "description": "How big.", "minimum": 2}
    assert p["rate"] == {"type": "number", "description": "How fast.", "minimum": 0, "maximum": 1, "default": 0.5}
    assert p["kind"] == {"enum": ["a", "b"], "default": "a"}
    assert p["sizes"] == {"type": "array", "items": {"type": "integer"}, "default": [1, 2]}
    assert p["limit"] == {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None}
    assert p["inner"]["properties"]["depth"] == {"type": "integer", "default": 3}


def test_broken_laws_are_described() -> None:
    class Learner(Echo):
        breaks = {"relabelled-actions": "ties go to the first action"}  # noqa: RUF012

    assert dict(ClassPlugin(Learner).description.breaks) == Learner.breaks
    assert dict(ClassPlugin(Echo).description.breaks) == {}


def test_requirements_are_described() -> None:
    class Newer(Sample):
        requires = "rlrun >= 0.2"

    class Wrong(Sample):
        requires = "0.2"

    assert ClassPlugin(Newer).description.requires == "rlrun >= 0.2"
    assert ClassPlugin(Sample).description.requires == ""
    with pytest.raises(TypeError, match=r'Wrong.requires is .0\.2.; it must read "rlrun >= 0\.2\.0"'):
        ClassPlugin(Wrong)


def test_params_are_read() -> None:
    got = params.build(
        Sample, b'{"size": 3.0, "rate": 1, "kind": "b", "sizes": [4], "limit": 7, "inner": {"depth": 1}}'
    )
    assert got == Sample(3, 1.0, "b", [4], 7, Inner(1))
    assert isinstance(got.rate, float)
    assert params.build(Sample, b'{"size": 2}').sizes is not params.build(Sample, b'{"size": 2}').sizes


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("{}", "'size' is missing"),
        ('{"size": 1}', "size is 1, must be ≥ 2"),
        ('{"size": 2.5}', "size is 2.5, must be a whole number"),
        ('{"size": true}', "must be a whole number"),
        ('{"size": 2, "rate": 1.5}', "must be ≥ 0 and ≤ 1"),
        ('{"size": 2, "rate": NaN}', "must be finite"),
        ('{"size": 2, "kind": "c"}', "must be one of 'a', 'b'"),
        ('{"size": 2, "sizes": [1, "x"]}', r"sizes\[1\] is 'x'"),
        ('{"size": 2, "inner": {"dept": 1}}', "unknown parameter 'dept'"),
        ('{"size": 2, "colour": 1}', "unknown parameter 'colour'; there are size, rate"),
        ("[]", "no JSON object"),
        ("{", "no JSON"),
    ],
)
def test_params_that_do_not_fit(text: str, wrong: str) -> None:
    with pytest.raises(rlrun.InvalidParams, match=wrong):
        params.build(Sample, text.encode())


def test_params_of_mappings() -> None:
    class Mapped(Sample):
        id = "test/mapped@1"

        def __init__(self, weights: dict[str, float], rest: dict) -> None:  # type: ignore[type-arg]
            self.weights, self.rest = weights, rest

    p = json.loads(ClassPlugin(Mapped).description.params)["properties"]
    assert p == {"weights": {"type": "object", "additionalProperties": {"type": "number"}}, "rest": {"type": "object"}}
    got = params.build(Mapped, b'{"weights": {"a": 1}, "rest": {"b": [2]}}')
    assert (got.weights, got.rest) == ({"a": 1.0}, {"b": [2]})
    with pytest.raises(rlrun.InvalidParams, match=r"weights.*'x'"):
        params.build(Mapped, b'{"weights": {"a": "x"}, "rest": {}}')

    class Keyed(Sample):
        def __init__(self, weights: dict[int, float]) -> None: ...

    with pytest.raises(TypeError, match="has the type"):
        ClassPlugin(Keyed)


@pytest.mark.parametrize("reward", [np.float32(1.5), np.array(2), np.int64(3)])
def test_rewards_are_numbers(reward: object) -> None:
    assert spaces.as_number(reward, "the reward") == float(np.asarray(reward).item())


@pytest.mark.parametrize("reward", [None, "1", np.array("1"), [1, 2], np.array(1j), np.array([2])])
def test_rewards_that_are_none(reward: object) -> None:
    with pytest.raises(rlrun.InvalidAnswer, match=r"the reward is .*, must be a number"):
        spaces.as_number(reward, "the reward")


def test_classes_that_cannot_be_served() -> None:
    class NoId(Sample):
        id = "Sample"

    class BadType(Sample):
        def __init__(self, when: complex) -> None: ...

    for cls in (NoId, BadType, int):
        with pytest.raises(TypeError, match=r"id is|has the type|no class"):
            ClassPlugin(cls)  # type: ignore[arg-type]


def lanes(n: int = 2) -> EnvironmentLanes:
    copies = Copies(lambda: Sample(3))
    return EnvironmentLanes(copies, copies.spec, n)


def test_a_reset_as_in_gymnasium() -> None:
    class Pair(Sample):
        def reset(self, seed):
            return super().reset(seed), {}

    copies = Copies(lambda: Pair(3))
    env = EnvironmentLanes(copies, copies.spec, 1)
    with pytest.raises(rlrun.InvalidAnswer, match=r"reset returned a pair .* the observation alone"):
        env.step(signals(NEW_RUN), seeds(1), np.array([9]))


def test_lanes_of_copies() -> None:
    env = lanes(3)
    out = env.step(signals(NEW_RUN, NEW_RUN, IDLE), seeds(1, 2, 0), np.array([9, 9, 9]))
    assert out.rewards.tolist() == [0, 0, 0]
    out = env.step(signals(CONTINUE, NEW_EPISODE, NEW_RUN), seeds(0, 1, 2), np.array([0, 9, 9]))
    assert (out.observations.tolist(), out.rewards.tolist()) == ([1, 0, 0], [1, 0, 0])
    for _ in range(3):
        out = env.step(signals(*[CONTINUE] * 3), None, np.array([0, 0, 0]))
    assert out.terminated.tolist() == [True, False, False]
    with pytest.raises(rlrun.NeedsReset) as e:
        env.step(signals(CONTINUE, IDLE, IDLE), None, np.zeros(3, int))
    assert e.value.lane == 0


def test_errors_name_their_lane() -> None:
    env = lanes()
    with pytest.raises(rlrun.NeedsReset) as early:
        env.step(signals(IDLE, CONTINUE), None, np.zeros(2, int))
    assert early.value.lane == 1
    env.step(signals(NEW_RUN, NEW_RUN), seeds(1, 2), np.zeros(2, int))
    with pytest.raises(rlrun.InvalidAction) as outside:
        env.step(signals(IDLE, CONTINUE), None, np.array([0, 2]))
    assert outside.value.lane == 1
    env.step(signals(IDLE, CONTINUE), None, np.array([7, 0]))
    env.step(signals(IDLE, CONTINUE), None, np.array([7, 0]))
    with pytest.raises(ValueError, match="broken") as broken:
        env.step(signals(CONTINUE, CONTINUE), None, np.array([0, 1]))
    message = errors.to_proto(broken.value)
    assert (message.lane, message.message, message.code) == (1, "ValueError: broken", 0)


@pytest.mark.parametrize("kind", [rlrun.NeedsReset, rlrun.InvalidAction, rlrun.InvalidParams, rlrun.Unsupported])
def test_errors_round_trip(kind: type[rlrun.Error]) -> None:
    for lane in (None, 0, 3):
        back = errors.from_proto(errors.to_proto(kind("two\nlines", lane=lane)))
        assert (type(back), str(back), back.lane) == (kind, "two lines", lane)


def test_any_message_crosses() -> None:
    """A message may be too long, or hold what UTF-8 cannot."""
    sent = errors.to_proto(ValueError("no \udcff " + "blah " * 2**20)).SerializeToString()
    assert len(sent) < 2**15
    assert errors.from_proto(errors.pb.Error.FromString(sent)).args[0].startswith("ValueError: no ? blah blah")


def test_causes_are_told() -> None:
    def message(error: BaseException, cause: BaseException | None) -> str:
        error.__cause__ = cause
        return errors.to_proto(error).message

    disk = OSError("no such disk")
    wrong = rlrun.InvalidParams("the map cannot be read")
    assert message(wrong, disk) == "the map cannot be read (caused by OSError: no such disk)"
    assert message(RuntimeError("no map"), None) == "RuntimeError: no map"
    assert message(RuntimeError("no map: no such disk"), disk) == "RuntimeError: no map: no such disk"
    assert message(AssertionError(), None) == "AssertionError"


def test_tracebacks_begin_with_the_authors_code(capfd: pytest.CaptureFixture[str]) -> None:
    """Frames of rlrun before it are left out, in causes too. A fault of rlrun keeps them."""

    class Lost(rlrun.Environment):
        id = "test/lost@1"
        spec = rlrun.Spec(rlrun.Discrete(1), rlrun.Discrete(2))

        def __init__(self) -> None:
            try:
                open("/nowhere/at/all")  # noqa: SIM115
            except OSError as e:
                raise RuntimeError("no map") from e

        def reset(self, seed: int) -> int:
            return 0

        def step(self, action: int) -> rlrun.TimeStep:
            return rlrun.TimeStep(0, 0.0)

    with pytest.raises(RuntimeError) as raised:
        ClassPlugin(Lost).environment(b"{}")
    raised.value.__traceback__ = raised.tb.tb_next  # as the server has it: without this test
    _server.failure(raised.value)
    text = capfd.readouterr().err
    assert text.count("in __init__") == 2
    assert "/nowhere/at/all" in text
    assert "rlrun/serve.py" not in text

    with pytest.raises(json.JSONDecodeError) as wrong:
        json.loads("no")
    wrong.value.__traceback__ = None
    _server.failure(wrong.value)
    assert "JSONDecodeError" in capfd.readouterr().err


def test_scripts_of_pip_are_no_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They name the directory of their Python, so they differ where nothing else does."""
    script = tmp_path / "rlrun-plugin-maze"
    script.write_text("#!/somewhere/bin/python\n")
    _sources._imported.cache_clear()
    monkeypatch.setattr(sys.modules["__main__"], "__file__", str(script))
    assert "module __main__" in _sources.imported()
    paths = sysconfig.get_path
    monkeypatch.setattr(_sources, "_directory", _sources._directory.__wrapped__)  # without its cache
    monkeypatch.setattr(sysconfig, "get_path", lambda key: str(tmp_path) if key == "scripts" else paths(key))
    _sources._imported.cache_clear()
    assert "module __main__" not in _sources.imported()


def test_packages_are_those_that_python_knows() -> None:
    """The distributions of every imported package, and their versions."""
    known = metadata.packages_distributions()
    imported = {name.partition(".")[0] for name, module in sys.modules.items() if getattr(module, "__file__", None)}
    imported -= {"rlrun", *_sources._AT_START}  # rlrun is not in site-packages here
    expected = {f"package {d}": metadata.version(d) for package in imported for d in known.get(package, ())}
    assert {"package numpy", "package protobuf", "package grpcio"} <= set(expected)
    assert {key: value for key, value in _sources.imported().items() if key.startswith("package ")} == expected


def test_other_projects_of_the_environment_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each that is installed by pip install -e has a module that every Python imports when it starts."""
    _sources._imported.cache_clear()
    before = _sources.imported()
    finder = types.ModuleType("__editable___maze_0_1_0_finder")
    finder.__file__ = str(tmp_path / "finder.py")
    Path(finder.__file__).write_text("")
    monkeypatch.setitem(sys.modules, finder.__name__, finder)
    assert _sources.imported() == before


def test_models() -> None:
    p = np.zeros((2, 2, 2))
    p[0, :, 0], p[0, 1] = 1, [0.25, 0.75]
    r = np.array([[0, 2.0], [0, 0]])
    model = rlrun.Model.from_arrays(
        p, r, initial=np.array([1.0, 0]), terminal=[np.int64(1)], action_names=["stay", "go"]
    )
    assert json.loads(model.to_json()) == {
        "S": 2,
        "A": 2,
        "actions": ["stay", "go"],
        "transitions": [[0, 0, 0, 1.0], [0, 1, 0, 0.25], [0, 1, 1, 0.75]],
        "rewards": [[0, 1, 2.0]],
        "initial": [[0, 1.0]],
        "terminal": [1],
    }

    class Known(Sample):
        def model(self) -> rlrun.Model:
            return rlrun.Model(1, 1, [(0, 0, 0, self.size)])

    sizes = iter([2, 3, 2])
    copies = Copies(lambda: Known(next(sizes)))
    distinct, of = EnvironmentLanes(copies, copies.spec, 3).models()
    assert ([m.transitions[0][3] for m in distinct], of) == ([2, 3], [0, 1, 0])
    assert list(ClassPlugin(Known).description.abilities) == ["model"]


def test_checkpoints_need_both_methods() -> None:
    class Saves(rlrun.VectorAgent):
        id = "test/saves@1"
        open = begin = select_actions = update = lambda *_: None  # type: ignore[assignment]

        def save(self, lane: int) -> bytes:
            return b""

    class Both(Saves):
        def load(self, lane: int, state: bytes) -> None: ...

    assert list(ClassPlugin(Saves).description.abilities) == []
    assert list(ClassPlugin(Both).description.abilities) == ["checkpoint"]


class Batch(rlrun.VectorEnvironment):
    """Answers as it is told."""

    id = "test/batch@1"
    spec = rlrun.Spec(rlrun.Box(0, 1, (2,)), rlrun.Discrete(2))
    answer = rlrun.TimeSteps(np.zeros((2, 2)), np.zeros(2), np.zeros(2, bool), np.zeros(2, bool))

    def open(self, lanes: int) -> None: ...

    def reset(self, lanes: rlrun.Lanes, seeds: np.ndarray) -> np.ndarray:
        return np.zeros((len(seeds), 2))

    def step(self, lanes: rlrun.Lanes, actions: np.ndarray) -> rlrun.TimeSteps:
        return self.answer


@pytest.mark.parametrize(
    ("field_", "value", "wrong"),
    [
        ("observations", np.zeros(2), r"observations of shape \(2,\), must be of shape \(2, 2\)"),
        ("observations", np.zeros((2, 2), complex), "observations has complex numbers"),
        ("rewards", 1.0, r"rewards of shape \(\), must be of shape \(2,\)"),
        ("terminated", [False], r"terminated of shape \(1,\)"),
        ("truncated", np.zeros((2, 1)), "truncated of shape"),
    ],
)
def test_batches_that_answer_wrongly(field_: str, value: object, wrong: str) -> None:
    batch = Batch()
    env = EnvironmentLanes(batch, batch.spec, 2)
    env.step(signals(NEW_RUN, NEW_RUN), seeds(1, 2), np.zeros(2, int))
    assert env.step(signals(CONTINUE, CONTINUE), None, np.zeros(2, int)).rewards.tolist() == [0, 0]
    batch.answer = Batch.answer._replace(**{field_: value})
    with pytest.raises(rlrun.InvalidAnswer, match=wrong):
        env.step(signals(CONTINUE, CONTINUE), None, np.zeros(2, int))


class Echo(rlrun.Agent):
    """Answers with the number of updates."""

    id = "test/echo@1"

    def begin(self, spec: rlrun.Spec, seed: int) -> None:
        self.seen: list[tuple[object, ...]] = []

    def select_action(self, observation: int) -> int:
        return len(self.seen)

    def update(self, transition: rlrun.Transition) -> None:
        self.seen.append(tuple(transition))


def feedback(observations: list[int], rewards: list[float], ended: list[bool]) -> TimeSteps:
    none = np.zeros(len(ended), np.bool_)
    return TimeSteps(np.array(observations), np.array(rewards, float), np.array(ended), none)


class Greedy(Echo):
    """Holds action 3 for best."""

    id = "test/greedy@1"

    def select_greedy_action(self, observation: int) -> int:
        return 3


def test_evaluation_is_greedy() -> None:
    spec = rlrun.Spec(observation=rlrun.Discrete(9), action=rlrun.Discrete(9), id="test/evaluation@1")
    agent = AgentLanes(AgentCopies(Greedy), spec, 2)
    assert agent.greedy
    none = [False, False]
    assert agent.step(signals(NEW_RUN, NEW_RUN), seeds(1, 2), feedback([0, 0], [0, 0], none)).tolist() == [0, 0]
    # One lane is evaluated, and the other goes on learning.
    assert agent.step(signals(EVALUATE_EPISODE, CONTINUE), None, feedback([0, 0], [0, 0], none)).tolist() == [3, 1]
    assert agent.step(signals(EVALUATE, CONTINUE), None, feedback([0, 0], [5, 0], none)).tolist() == [3, 2]
    assert agent.step(signals(NEW_EPISODE, NEW_EPISODE), None, feedback([0, 0], [0, 0], none)).tolist() == [0, 2]
    plain = AgentLanes(AgentCopies(Echo), spec, 1)
    assert not plain.greedy
    plain.step(signals(NEW_RUN), seeds(1), feedback([0], [0], [False]))
    with pytest.raises(rlrun.Unsupported, match="no greedy actions"):
        plain.step(signals(EVALUATE_EPISODE), None, feedback([0], [0], [False]))


def test_lanes_of_agents() -> None:
    copies = AgentCopies(Echo)
    agent = AgentLanes(copies, rlrun.Spec(rlrun.Discrete(9), rlrun.Discrete(9)), 2)
    with pytest.raises(rlrun.NeedsReset):
        agent.step(signals(NEW_EPISODE, IDLE), None, feedback([0, 0], [0, 0], [False] * 2))
    agent.step(signals(NEW_RUN, NEW_RUN), seeds(1, 2), feedback([1, 2], [7, 7], [True] * 2))
    agent.step(signals(CONTINUE, IDLE), None, feedback([3, 8], [0.5, 7], [False] * 2))
    got = agent.step(signals(CONTINUE, EVALUATE), None, feedback([4, 5], [1, 7], [True, False]))
    lane = [copies._copy(i) for i in range(2)]
    assert lane[0].seen == [(1, 0, 0.5, 3, False, False), (3, 1, 1.0, 4, True, False)]  # type: ignore[attr-defined]
    assert lane[1].seen == []  # type: ignore[attr-defined]
    assert got.tolist() == [1, 0]
    agent.step(signals(NEW_EPISODE, CONTINUE), None, feedback([6, 7], [7, 2], [True, False]))
    assert lane[0].seen[2:] == []  # type: ignore[attr-defined]
    assert lane[1].seen == [(5, 0, 2.0, 7, False, False)]  # type: ignore[attr-defined]
    agent.load(1, agent.save(0))
    agent.step(signals(IDLE, CONTINUE), None, feedback([0, 0], [0, 3], [False] * 2))
    assert copies._copy(1).seen[2:] == [(6, 2, 3.0, 0, False, False)]  # type: ignore[attr-defined]


def test_agents_are_closed() -> None:
    """When their run is over, or with the lanes; all of them, whatever comes of it."""
    made: list[Closing] = []

    class Closing(Echo):
        closes, fails = 0, False

        def __init__(self) -> None:
            made.append(self)

        def close(self) -> None:
            self.closes += 1
            if self.fails:
                raise ValueError("stuck")

    agent = AgentLanes(AgentCopies(Closing), rlrun.Spec(rlrun.Discrete(9), rlrun.Discrete(9)), 2)
    agent.step(signals(NEW_RUN, NEW_RUN), seeds(1, 2), feedback([1, 2], [7, 7], [True] * 2))
    assert [a.closes for a in made] == [1, 0, 0]  # the first was asked whether it can act in such environments
    agent.step(signals(NEW_RUN, NEW_EPISODE), seeds(3, 0), feedback([1, 2], [7, 7], [True] * 2))
    assert [a.closes for a in made] == [1, 1, 0, 0]
    agent.load(1, agent.save(0))
    assert [a.closes for a in made] == [1, 1, 1, 0, 0]
    made[3].fails = True
    with pytest.raises(ValueError, match="stuck"):
        agent.close()
    agent.close()
    assert [a.closes for a in made] == [1] * 5


class Options(rlrun.VectorOptionAgent):
    """Three options, each an action: greedy, a policy, and one that only the second lane has, held to find out."""

    id = "test/options@1"
    answer: rlrun.Problems | list[rlrun.Problem] | None = None
    policy = (3, 2)

    def open(self, spec: rlrun.Spec, lanes: int) -> None:
        self.option = np.zeros(lanes, int)
        self.updates: list[object] = []

    def begin(self, lanes: rlrun.Lanes, seeds: np.ndarray) -> None:
        self.option[lanes] = 0

    def update(self, lanes: rlrun.Lanes, transitions: rlrun.Transitions) -> None:
        self.updates.append((transitions.observations.tolist(), transitions.actions.tolist()))

    def select_actions(self, lanes: rlrun.Lanes, observations: np.ndarray) -> np.ndarray:
        return self.option[lanes] + 1

    def set_option_kinds(self, kinds: list[str]) -> None:
        self.kinds = kinds

    def problems(self, lanes: rlrun.Lanes, observations: np.ndarray) -> rlrun.Problems | list[rlrun.Problem]:
        if self.answer is not None:
            return self.answer
        who = np.arange(2)[lanes]
        return rlrun.Problems(
            ["p", "greedy", "u"],
            np.arange(12.0).reshape(2, 3, 2)[who],
            np.array([[False, True, True], [True, True, True]])[who],
            greedy=1,
            reveals=[-1, -1, 0.5],
            steps=[7, 0, 0],
            optimal=np.array([[20.0, 21], [22, 23]])[who],
        )

    def choose(self, lanes: rlrun.Lanes, options: np.ndarray) -> None:
        self.option[lanes] = options

    def greedy_policy(self, lane: int) -> tuple[int, ...]:
        return self.policy


def deciding() -> OptionLanes:
    return OptionLanes(Options(), rlrun.Spec(rlrun.Discrete(2), rlrun.Discrete(3, start=1)), 2)


def crossed(reply: pb.AgentReply) -> list[list[float]]:
    columns = {"sizes": "<u4", "members": "<u4", "greedy": "<u4", "options": "<u4"}
    return [
        np.frombuffer(getattr(reply, name), columns.get(name, "<f8")).tolist()
        for name in ("sizes", "members", "greedy", "options", "reveals", "values", "optimal")
    ]


def test_decisions() -> None:
    lanes = deciding()
    agent = lanes.agent
    assert isinstance(agent, Options)
    none, both = np.zeros(2, bool), np.ones(2, bool)
    fresh = feedback([0, 1], [0, 0], [False] * 2)
    with pytest.raises(rlrun.Unsupported, match="no options have been offered"):
        deciding().decide(signals(NEW_RUN, NEW_RUN), seeds(1, 2), fresh, both)
    lanes.set_option_kinds(["greedy", "members"])
    assert agent.kinds == ["members"]
    assert lanes.step(signals(NEW_RUN, NEW_RUN), seeds(1, 2), fresh).tolist() == [1, 1]
    with pytest.raises(rlrun.Unsupported, match="after the first step"):
        lanes.set_option_kinds([])

    _, decisions = lanes.decide(signals(CONTINUE, CONTINUE), None, feedback([1, 0], [0, 0], [False] * 2), both)
    assert decisions is not None
    sent = {"greedy": 0}
    reply = pb.AgentReply()
    decisions.write(reply, sent)
    assert (list(reply.names), sent) == (["p", "u"], {"greedy": 0, "p": 1, "u": 2})
    assert crossed(reply) == [
        [2, 3], [2, 2], [0, 1], [0, 2, 1, 0, 2], [-1, 0.5, -1, -1, 0.5], list(range(2, 12)), [20, 21, 22, 23]
    ]  # fmt: skip

    with pytest.raises(rlrun.NeedsReset, match="before an option was chosen") as early:
        lanes.step(signals(IDLE, CONTINUE), None, fresh)
    assert early.value.lane == 1
    with pytest.raises(rlrun.InvalidAction, match="option 2 of a decision between 2") as beyond:
        lanes.choose(np.array([2, 0]))
    assert beyond.value.lane == 0
    assert lanes.choose(np.array([1, -1])).tolist() == [3, 1]  # what the author counts as 2
    assert lanes.choose(np.array([-1, 0])).tolist() == [3, 1]
    with pytest.raises(rlrun.InvalidAction, match="none was asked for"):
        lanes.choose(np.array([0, -1]))

    # The transition after a decision begins with the observation and action of that decision.
    # A lane whose episode ended has no epoch, and one that faces a decision alone is told so.
    ended = feedback([0, 1], [0, 0], [True, False])
    _, decisions = lanes.decide(signals(CONTINUE, CONTINUE), None, ended, both)
    assert agent.updates[1:] == [([1, 0], [3, 1])]
    assert decisions is not None
    assert decisions.sizes.tolist() == [3]
    assert lanes.choose(np.array([-1, 2])).tolist() == [3, 3]
    _, decisions = lanes.decide(signals(NEW_EPISODE, CONTINUE), None, fresh, none)
    assert decisions is None
    assert lanes.greedy_policy(1).tolist() == [2, 1]


def test_problems_one_by_one_are_those_of_columns() -> None:
    agent = Options()
    columns = agent.problems(ALL, np.zeros(2))
    assert isinstance(columns, rlrun.Problems)
    assert columns.offered is not None
    assert columns.optimal is not None
    one_by_one = [
        rlrun.Problem(
            [name for name, there in zip(columns.names, row, strict=True) if there],
            columns.values[i, row].tolist(),
            int(row[:1].sum()),
            [-1, -1, 0.5][-row.sum() :],
            columns.optimal[i],
            steps=[7, 0, 0][-row.sum() :],
        )
        for i, row in enumerate(columns.offered)
    ]
    replies = []
    for answer in (columns, one_by_one):
        reply = pb.AgentReply()
        _decisions.read(answer, range(2)).write(reply, {"p": 0, "greedy": 1, "u": 2})
        replies.append(reply)
    assert replies[0] == replies[1]


def test_pairs_follow_the_named_options() -> None:
    pairs = [[3, 1, 5.0, 2.0, 2.5], [4, 0, 9.0, 1.0, 10.0]]
    values = np.zeros((2, 1, 0))
    columns = rlrun.Problems(["greedy"], values, pairs=[np.array(pairs), np.empty((0, 5))])
    one_by_one = [rlrun.Problem(["greedy"], values[0], pairs=pairs), rlrun.Problem(["greedy"], values[0])]
    for answer in (columns, one_by_one):
        decisions = _decisions.read(answer, range(2))
        reply = pb.AgentReply()
        decisions.write(reply, {})
        assert np.frombuffer(reply.pair_counts, "<u4").tolist() == [2, 0]
        assert np.frombuffer(reply.pairs, "<f8").reshape(-1, 5).tolist() == pairs
        places, lanes = np.array([0, 1]), np.array([0, 1])
        assert decisions.chosen(places, np.array([2, 0]), lanes).tolist() == [2, 0]
        with pytest.raises(rlrun.InvalidAction, match="option 1 of a decision between 1"):
            decisions.chosen(places, np.array([0, 1]), lanes)
    with pytest.raises(rlrun.InvalidAnswer, match=r"pairs of shape \(1, 4\), must be of shape \(1, 5\)"):
        _decisions.read([rlrun.Problem(["greedy"], values[0], pairs=[[1, 2, 3, 4]])], [0])
    with pytest.raises(rlrun.InvalidAnswer, match="pairs of 1 lanes, want 2"):
        _decisions.read(rlrun.Problems(["greedy"], values, pairs=[np.empty((0, 5))]), range(2))


TWO = np.zeros((2, 2, 2))


def test_options_ask_for_steps() -> None:
    for answer, holds in (
        (None, [0, 0, 7, 0, 0]),
        ([rlrun.Problem(["a"], [[0]]), rlrun.Problem(["a", "b"], [[0], [1]], steps=[0, 3])], [0, 0, 3]),
        ([rlrun.Problem(["a"], [[0]])] * 2, []),
        (rlrun.Problems(["a", "b"], TWO, steps=np.array([[0, 3], [0, 5]])), [0, 3, 0, 5]),
    ):
        lanes = deciding()
        lanes.set_option_kinds([])
        lanes.agent.answer = answer  # type: ignore[attr-defined]
        reply = pb.AgentReply()
        decided = lanes.decide(
            signals(NEW_RUN, NEW_RUN), seeds(1, 2), feedback([0, 1], [0, 0], [False] * 2), np.ones(2, bool)
        )
        decided[1].write(reply, {})
        assert np.frombuffer(reply.holds, "<u4").tolist() == holds


@pytest.mark.parametrize(
    ("answer", "wrong"),
    [
        (rlrun.Problems(["a", "b"], TWO[:1]), r"values of shape \(1, 2, 2\), must be of shape \(2, 2, 2\)"),
        (rlrun.Problems(["a", "b"], TWO[0, 0]), r"values of shape \(2,\), must be of shape \(2, 2, 2\)"),
        (rlrun.Problems(["a", "b"], TWO, greedy=2), "the greedy option, number 2 of 2, is not offered"),
        (rlrun.Problems(["a", "b"], TWO, np.array([[True, True], [False, True]])), "number 0 of 2, is not offered"),
        (rlrun.Problems(["a", "b"], TWO, optimal=np.zeros(2)), r"optimal of shape \(2,\), must be of shape \(2, 2\)"),
        (rlrun.Problems(["a", "b"], TWO, reveals=[0]), r"reveals of shape \(1,\), must be of shape \(2,\)"),
        (rlrun.Problems(["a", "b"], TWO, steps=[1]), r"steps of shape \(1,\), must be of shape \(2,\)"),
        (rlrun.Problems(["a", "b"], TWO, steps=np.zeros((2, 1))), r"steps of shape \(2, 1\), must be of shape \(2,\)"),
        (rlrun.Problems(["a", "b"], TWO, steps=[0, -1]), "steps are .* must be whole numbers of at least 0"),
        ([rlrun.Problem(["a"], [[0]])], "1 problems for 2 lanes"),
        ([rlrun.Problem(["a"], [[0]]), rlrun.Problem(["a"], [0])], r"values of shape \(1,\), must be .* \(1, 1\)"),
        ([rlrun.Problem(["a"], [[0]]), rlrun.Problem(["a"], [["x"]])], "values has texts"),
        ([rlrun.Problem(["a"], [[0]]), rlrun.Problem(["a"], [[0]], greedy=-1)], "the greedy option is number -1 of 1"),
    ],
)
def test_wrong_problems(answer: object, wrong: str) -> None:
    lanes = deciding()
    lanes.set_option_kinds([])
    lanes.agent.answer = answer  # type: ignore[attr-defined]
    with pytest.raises(rlrun.InvalidAnswer, match=wrong) as e:
        lanes.decide(signals(NEW_RUN, NEW_RUN), seeds(1, 2), feedback([0, 1], [0, 0], [False] * 2), np.ones(2, bool))
    assert e.value.lane in ({1} if isinstance(answer, list) and len(answer) == 2 else {None})


@pytest.mark.parametrize(
    ("policy", "wrong"),
    [
        ((1, 2, 3), "the greedy policy of shape"),
        ((1, 4), "has 4, which is not in"),
        ((1, 0.5), "greedy policy of float64"),
    ],
)
def test_wrong_policies(policy: tuple[float, ...], wrong: str) -> None:
    lanes = deciding()
    with pytest.raises(rlrun.NeedsReset):
        lanes.greedy_policy(1)
    lanes.step(signals(NEW_RUN, NEW_RUN), seeds(1, 2), feedback([0, 1], [0, 0], [False] * 2))
    lanes.agent.policy = policy  # type: ignore[attr-defined]
    with pytest.raises(rlrun.InvalidAnswer, match=wrong) as e:
        lanes.greedy_policy(1)
    assert e.value.lane == 1


def test_streams_are_lanes_own() -> None:
    together, alone = rlrun.Streams(3), rlrun.Streams(1)
    together.seed(ALL, seeds(1, 2, 3))
    alone.seed(ALL, seeds(2))
    for chosen in ([1], [0, 1, 2], [0, 2], [1, 2]):
        draws = together.random(np.array(chosen), 2)
        if 1 in chosen:
            assert draws[chosen.index(1)].tolist() == alone.random(ALL, 2)[0].tolist()
    assert together.normal(ALL)[1] == alone.normal(ALL)[0]


# SplitMix64 from seed 0 yields these first (the generator's reference implementation).
def test_streams_are_splitmix() -> None:
    s = rlrun.Streams(1)
    s.state[0] = 0
    assert [int(s.bits(ALL)[0, 0]) for _ in range(3)] == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]


# Each statistic is within 5 standard errors of its expectation, which a sound
# generator misses with probability below 2e-6.
def test_streams_are_distributed_as_they_say() -> None:
    n = 20_000
    s = rlrun.Streams(n)
    s.seed(ALL, np.arange(n, dtype=np.uint64))
    for draws, mean, sd in (
        (s.random(ALL), 0.5, 12**-0.5),
        (s.normal(ALL), 0, 1),
        (s.normal(ALL) ** 2, 1, 2**0.5),
        (s.integers(ALL, 7), 3, 2),
        (s.integers(ALL, np.where(np.arange(n) % 2, 2, 4)), 1, 3**0.5 / 2 + 0.2),
    ):
        assert abs(draws.mean() - mean) < 5 * sd / n**0.5
    assert s.random(ALL, 4).shape == (n, 4)


def test_log_lines() -> None:
    record = logging.LogRecord("mine", logging.WARNING, "", 0, "careful, %s", ("now",), None)
    line = json.loads(_log.HostFormatter().format(record))
    assert (line["@level"], line["@message"], line["logger"]) == ("warn", "careful, now", "mine")


@pytest.mark.parametrize("cookie", ["", "wrong"])
def test_by_hand(cookie: str) -> None:
    done = subprocess.run(
        [sys.executable, EXAMPLES / "river.py"],
        env=os.environ | {"RLRUN_PLUGIN": cookie},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "is a plugin for rlrun" in done.stderr
    assert done.stderr.count("\n") == 1


def test_generated_code_is_up_to_date(tmp_path) -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "python" / "generate.py", tmp_path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    made = sorted(tmp_path.rglob("*_pb2*"))
    assert len(made) == 5
    for path in made:
        kept = ROOT / "python" / "src" / path.relative_to(tmp_path)
        assert path.read_text() == kept.read_text(), f"{kept} is not what the protocol says: make generate-python"


class Painted(rlrun.Environment):
    """A patch of colour."""

    id = "test/painted@1"
    frames_per_second = 12

    def __init__(self, shape: tuple[int, ...] = (2, 3, 3), dtype: str = "uint8") -> None:
        self._frame = np.zeros(shape, dtype)

    @property
    def spec(self) -> rlrun.Spec:
        return rlrun.Spec(rlrun.Discrete(2), rlrun.Discrete(2))

    def reset(self, seed: int) -> int:
        return 0

    def step(self, action: int) -> rlrun.TimeStep:
        return rlrun.TimeStep(0, 0.0, False, False)

    def render_frame(self) -> Any:
        return self._frame


def test_frames_are_declared_and_checked() -> None:
    description = ClassPlugin(Painted).description
    assert (list(description.abilities), description.frames_per_second) == (["frames"], 12)
    lanes = EnvironmentLanes(Copies(Painted), Painted().spec, 1)
    assert lanes.ask("frames", 0, b"") == bytes([3, 0, 0, 0, 2, 0, 0, 0]) + bytes(18)
    for arguments, message in [
        ({"shape": (2, 3)}, r"uint8 of shape \(2, 3\), must be uint8 of shape \(height, width, 3\)"),
        ({"dtype": "float32"}, "the frame is float32"),
        ({"shape": (1, 4097, 3)}, "4097 × 1 pixels"),
        ({"shape": (0, 4, 3)}, "4 × 0 pixels"),
    ]:
        lanes = EnvironmentLanes(Copies(lambda a=arguments: Painted(**a)), Painted().spec, 1)
        with pytest.raises(rlrun.InvalidAnswer, match=message):
            lanes.ask("frames", 0, b"")


def test_a_spec_that_is_none_names_the_cure() -> None:
    assert with_id(Painted().spec, "me/painted@1").id == "me/painted@1"
    with pytest.raises(TypeError, match=r"not a method \(write @property above def spec\)"):
        with_id(Painted().render_frame, "me/painted@1")
    with pytest.raises(TypeError, match=r"must be an rlrun\.Spec, not a NoneType$"):
        with_id(None, "me/painted@1")


@pytest.mark.parametrize(("low", "high", "dtype"), [(-300, 300, "uint8"), (0, 256, "uint8"), (-1e39, 1e39, "float32")])
def test_bounds_are_of_their_type(low: float, high: float, dtype: Any) -> None:
    with pytest.raises(ValueError, match=f"{dtype} does not have"):
        rlrun.Box(low, high, (1,), dtype)
    assert rlrun.Box(-math.inf, math.inf, (1,), dtype)


def test_bounds_left_out_are_unknown() -> None:
    """A spec or a message with the bounds 0 and 0 declares none."""
    two = rlrun.Discrete(2)
    zero = rlrun.Spec(two, two, reward_low=0, reward_high=0)
    assert zero == rlrun.Spec(two, two)
    message = zero.to_proto()
    message.reward_low = message.reward_high = 0
    assert rlrun.Spec.from_proto(message) == zero
    low = rlrun.Spec(two, two, reward_low=-1, reward_high=0)
    assert (low.reward_low, low.reward_high) == (-1, 0)


BY_HAND = """
import importlib.util, runpy, sys
import rlrun
from rlrun import _loading, _sources
for file in ("hand.py", "other.py", "hand.py"):  # two files of one name
    spec = importlib.util.spec_from_file_location("hand", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    runpy.run_path("run.py")
sys.path.insert(0, "lib.zip")
import packed
try:
    import gone
except KeyError:
    pass
found = _sources.imported()
files = {"hand": "hand.py", "other.py": "other.py", "run.py": "run.py", "packed": "lib.zip", "gone": "gone.py"}
for name, file in files.items():
    assert found[f"module {name}"] == _loading.digest(open(file, "rb").read()), name
open("run.py", "a").write("\\n")
try:
    runpy.run_path("run.py")
except ImportError as e:
    assert "run.py changed while the experiment ran" in str(e)
else:
    raise AssertionError("two programs of one path")
assert _sources.imported() == found
"""


def test_modules_that_no_import_lists_are_digested(tmp_path: Path) -> None:
    """Code that a loader runs by hand, that is run by its path, is in an archive, or hides, is in the list."""
    with zipfile.ZipFile(tmp_path / "lib.zip", "w") as archive:
        archive.writestr("packed.py", "x = 1\n")
    gone = "import sys\ndel sys.modules['gone']\n"
    for name, code in {"hand": "x = 1\n", "other": "x = 3\n", "run": "x = 2\n", "gone": gone, "load": BY_HAND}.items():
        (tmp_path / f"{name}.py").write_text(code)
    environ = os.environ | {"RLRUN_PLUGIN": "1"}
    subprocess.run([sys.executable, "load.py"], cwd=tmp_path, env=environ, check=True, timeout=60)


LOADS = """
import sys
sys.path.insert(0, ".")
import before
import rlrun
from rlrun import _loading, _sources
import after

def named():
    import later

first = _sources.imported()
assert first["module __main__"] == _loading.digest(open(__file__, "rb").read())
for name in ("before", "after"):
    open(name + ".py", "a").write("\\n")
assert _sources.imported() == first  # what was loaded, not what is there now
assert first["module after"] == _loading.digest(b"x = 1\\n"), first
assert after.x == 1, "compiled code of another program was run"
import untold
open("later.py", "a").write("\\n")
try:
    named()
except ImportError as e:
    print(e)
"""


def test_modules_are_digested_as_they_are_loaded(tmp_path: Path) -> None:
    """Compiled code beside a source of the same size and time is not run, and a changed file is not loaded."""
    for name, code in {"before": "x = 0\n", "after": "x = 2\n", "later": "", "untold": "", "load": LOADS}.items():
        (tmp_path / f"{name}.py").write_text(code)
    after = tmp_path / "after.py"
    os.utime(after, (1e9, 1e9))
    py_compile.compile(str(after))
    after.write_text("x = 1\n")
    os.utime(after, (1e9, 1e9))
    environ = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    done = subprocess.run(
        [sys.executable, "load.py"],
        cwd=tmp_path,
        env=environ | {"RLRUN_PLUGIN": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "later.py changed while the experiment ran" in done.stdout


@pytest.mark.parametrize(("flag", "runs"), [("-E", False), ("-B", True)])
def test_compiled_code_of_another_source_is_refused_where_variables_are_ignored(
    flag: str, runs: bool, tmp_path: Path
) -> None:
    """With -E Python does not know the host's directory for compiled code, and takes that beside a source."""
    before, source = tmp_path / "before.py", str(Path(rlrun.__file__).parents[1])
    (tmp_path / "load.py").write_text(
        f"import sys, before\nsys.path.insert(0, {source!r})\nimport rlrun\nprint(before.x)\n"
    )
    environ = os.environ | {"RLRUN_PLUGIN": "1", "PYTHONPYCACHEPREFIX": str(tmp_path / "new")}

    def write(x: int) -> None:
        before.write_text(f"x = {x}\n")
        os.utime(before, (1e9, 1e9))

    def load() -> subprocess.CompletedProcess[str]:
        command = [sys.executable, flag, "load.py"]
        return subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)

    write(2)
    py_compile.compile(str(before))
    write(1)
    other = load()
    assert other.stdout == ("1\n" if runs else ""), other.stderr
    assert (f"{before} ran from compiled code that is not of it" in other.stderr) != runs
    py_compile.compile(str(before))
    assert load().stdout == "1\n"


def test_what_python_was_told_binds_runs(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of another order of sets, or without assertions, are those of another program."""
    agent = {"plugin": sys.executable, "args": [str(EXAMPLES / "epsilon_greedy.py")]}
    config = {
        "environments": [{"plugin": "bernoulli-bandit"}],
        "agents": [agent],
        "runs": 1,
        "steps": 5,
        "outputs": ["csv"],
    }
    (tmp_path / "exp.yaml").write_text(json.dumps(config))
    run("run", "exp.yaml", "--out", "out", "--quiet")
    for name, value in (("PYTHONHASHSEED", "7"), ("PYTHONOPTIMIZE", "1")):
        with monkeypatch.context() as told:
            told.setenv(name, value)
            said = run("run", "exp.yaml", "--out", "out", "--quiet", "--resume", "--runs", "2", fails=True)
            assert f"fact {name} was absent and is {value}" in said
    run("run", "exp.yaml", "--out", "out", "--quiet", "--resume", "--runs", "2")


def test_installed_packages_load_the_compiled_code_beside_them(tmp_path: Path) -> None:
    """The host's directory for compiled code is for the project: numpy is not compiled anew in every command."""
    (tmp_path / "load.py").write_text("import rlrun, sys\nassert 'numpy' in sys.modules\nprint(sys.pycache_prefix)\n")
    environ = os.environ | {"RLRUN_PLUGIN": "1", "PYTHONPYCACHEPREFIX": str(tmp_path / "new")}
    environ.pop("PYTHONDONTWRITEBYTECODE", None)
    said = subprocess.check_output([sys.executable, "load.py"], cwd=tmp_path, env=environ, text=True)
    assert said == f"{tmp_path / 'new'}\n"
    assert not list(tmp_path.glob("new/**/numpy"))


def test_a_close_that_hangs_is_named(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The host shows the line, whatever answer it waits for meanwhile."""
    returns = threading.Event()

    class Slow(rlrun.Agent):
        def begin(self, spec: rlrun.Spec, seed: int) -> None: ...

        def select_action(self, observation: object) -> int:
            return 0

        def update(self, transition: rlrun.Transition) -> None: ...

        def close(self) -> None:
            assert returns.wait(60)

    def tell(*what: str, **how: Any) -> None:
        print(*what, **how)
        returns.set()

    monkeypatch.setattr(_lanes, "print", tell, raising=False)
    AgentCopies(Slow).open(rlrun.Spec(rlrun.Discrete(2), rlrun.Discrete(2)), 1)
    assert capsys.readouterr().err == "Slow.close has not returned after 1 s\n"


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"policy": {1.5: 0}}, "the policy's state 1.5 is not in 0..2"),
        ({"policy": {True: 0}}, "the policy's state True is not in"),
        ({"policy": {0: True}}, "in state 0 the action True is not in 0..1"),
        ({"policy": {0: 0.5}}, "in state 0 the action 0.5 is not in"),
        ({"policy": {0: "1"}}, "in state 0 the action '1' is not in"),
        ({"policy": {0: ["0", "1"]}}, "actions in state 0 has texts"),
        ({"policy": {0: np.ma.array([0.0, 1.0], mask=[True, False])}}, "actions in state 0 is masked"),
        ({"policy": {0: 0}, "end": {0: "0.5"}}, "the probability of ending in state 0 has the type str"),
        ({"policy": {0: 0}, "end": {0: None}}, "the probability of ending in state 0"),
        ({"policy": {0: 0}, "end": {1: 0.5}}, "no policy in state 1, where it surely ends"),
    ],
)
def test_options_are_not_cast(option: dict[str, Any], message: str) -> None:
    """What an option says is checked in the type in which it arrives."""
    with pytest.raises(errors.InvalidAnswer, match=re.escape(message)):
        _rules._option(rlrun.DeclaredOption("o", **option), 3, 2)


@pytest.mark.parametrize("row", [[1, 1], [1, 0.5], [1, -1], [0.5, 0.5]])
def test_probabilities_of_options_arrive_as_they_are(row: list[float]) -> None:
    """The host refuses those that do not sum to 1. A largest one of 1 is no action that is surely taken."""
    crossed = _rules._option(rlrun.DeclaredOption("o", {0: 1, 1: row, 2: [0, 1]}), 3, 2)
    assert np.frombuffer(crossed.policy).reshape(3, 2).tolist() == [[0, 1], row, [0, 1]]
    assert crossed.actions == b""


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (np.array([True]), "choose answered np.True_"),
        (np.array([0.0]), "choose answered np.float64(0.0)"),
        (np.ma.array([1], mask=[True]), "choose answered masked numbers"),
        (np.array([0], object), "which is not the number of an option, in an array of object"),
        ((np.array([0]), {1: [1.0]}), "numbers for the log by name"),
        ((np.array([0]), {"x": [1.0]}, 3), "numbers for the log by name"),
        ((0,), "numbers for the log by name"),
        ((np.array([0]), {"x": ["1"]}), "the numbers 'x' for the log has texts"),
        ((np.array([0]), {"x": np.ma.array([1.0], mask=[True])}), "the numbers 'x' for the log is masked"),
    ],
)
def test_answers_of_rules_are_not_cast(answer: Any, message: str) -> None:
    """Numbers of options and of the log are checked in the type in which they arrive."""

    class Says(rlrun.VectorRule):
        id = "test/says@1"

        def choose(self, _: rlrun.Decisions) -> Any:
            return answer

    instance = _rules.RuleInstance(Says(), rlrun.Spec(rlrun.Discrete(2), rlrun.Discrete(2)), lambda _: None)  # type: ignore[arg-type, return-value]
    with pytest.raises(errors.InvalidAnswer, match=re.escape(message)):
        instance._all(Sized(np.zeros((1, 2, 1))), np.arange(1))  # type: ignore[arg-type]


def test_decisions_are_the_same_one_by_one() -> None:
    """Going through decisions gives what asking for each gives, in the same types."""
    columns = {f.name: np.arange(6, dtype=np.int64).reshape(2, 3) for f in dataclasses.fields(rlrun.Decisions)}
    scalars = {name: np.array([1, 2]) for name in ("greedy", "step", "seeds")} | {"left": np.array([1.5, 2.5])}
    table = {"table": [f"option {i}" for i in range(6)], "numbers": columns["numbers"]}
    every = rlrun.Decisions(**(columns | scalars | table))
    for decision, asked in zip(every, (every[0], every[1]), strict=True):
        for f in dataclasses.fields(rlrun.Decision):
            got, want = getattr(decision, f.name), getattr(asked, f.name)
            assert type(got) is type(want), f.name
            assert np.array_equal(got, want), f.name


def test_answers_of_sources_are_lists() -> None:
    """A source that returns nothing is told what it has to return."""

    class Nothing(rlrun.OptionSource):
        id = "test/nothing@1"

        def options(self, _: rlrun.Experience) -> Any:
            return None

    instance = _rules.SourceInstance(Nothing(), rlrun.Spec(rlrun.Discrete(2), rlrun.Discrete(2)))
    request = pb.OptionsRequest(states=2, actions=2, lanes=[pb.Experience()])
    with pytest.raises(errors.InvalidAnswer, match=r"options answered None, which is no list of rlrun.DeclaredOption"):
        instance.make(request)


def test_errors_are_the_same_in_every_process() -> None:
    """Runs that fail alike have the same error: no address of an object is in it."""
    assert spaces.shown(rlrun.DeclaredOption("up", {0: 1})) == "<rlrun.rules.DeclaredOption object>"
    with pytest.raises(errors.InvalidAnswer, match=r"answered <object object>, which is no rlrun.DeclaredOption"):
        _rules._option(object(), 2, 2)


class Sized:
    """Decisions of one lane, as far as they are looked at."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)


class Team(rlrun.VectorAgent):
    """Acts as often as any actor of its run has been told to learn."""

    id = "test/team@1"
    max_actors = 3

    def open(self, spec: rlrun.Spec, lanes: int) -> None:
        self.actors, self.every = spec.actors, np.arange(lanes)
        self.learned = np.zeros(lanes // spec.actors, np.int64)

    def begin(self, lanes: Any, seeds: Any) -> None:
        self.learned[self.every[lanes] // self.actors] = 0

    def update(self, lanes: Any, transitions: Any) -> None:
        np.add.at(self.learned, self.every[lanes] // self.actors, 1)

    def select_actions(self, lanes: Any, observations: Any) -> Any:
        return self.learned[self.every[lanes] // self.actors]

    def save(self, lane: int) -> bytes:
        return rlrun.pack(int(self.learned[lane // self.actors]))

    def load(self, lane: int, state: bytes) -> None:
        self.learned[lane // self.actors] = rlrun.unpack(state)


def test_actors_are_lanes_of_one_run() -> None:
    assert ClassPlugin(Team).description.max_actors == 3
    spec = rlrun.Spec(rlrun.Discrete(5), rlrun.Discrete(9), actors=2)
    assert rlrun.Spec.from_proto(spec.to_proto()) == spec
    agent = AgentLanes(Team(), spec, 4)
    agent.step(signals(*[NEW_RUN] * 4), seeds(1, 2, 3, 4), feedback([0] * 4, [0.0] * 4, [False] * 4))
    ended = feedback([1] * 4, [0.0] * 4, [False, False, True, False])
    assert agent.step(signals(*[CONTINUE] * 4), None, ended)[[0, 1, 3]].tolist() == [2, 2, 2]
    apart = feedback([1] * 4, [0.0] * 4, [False] * 4)
    assert agent.step(signals(IDLE, CONTINUE, NEW_EPISODE, CONTINUE), None, apart)[1:].tolist() == [3, 3, 3]
    one = AgentLanes(Team(), dataclasses.replace(spec, actors=1), 1)
    one.load(0, agent.save(2))
    assert one.step(signals(NEW_EPISODE), None, feedback([0], [0.0], [False])).tolist() == [3]
    three = AgentLanes(Team(), dataclasses.replace(spec, actors=3), 3)
    three.load(0, agent.save(2))
    assert three.step(signals(*[NEW_EPISODE] * 3), None, feedback([0] * 3, [0.0] * 3, [False] * 3)).tolist() == [
        3,
        3,
        3,
    ]


def test_actors_that_there_cannot_be() -> None:
    with pytest.raises(TypeError, match="only a VectorAgent has several actors"):
        ClassPlugin(type("Single", (Echo,), {"max_actors": 2}))
    spec = rlrun.Spec(rlrun.Discrete(5), rlrun.Discrete(9), actors=4)
    for lanes_, wrong in ((4, "4 actors; the agent takes at most 3"), (3, "3 lanes for 2 actors each")):
        asked = dataclasses.replace(spec, actors=4 if lanes_ == 4 else 2)
        request = pb.OpenAgentRequest(lanes=lanes_, spec=asked.to_proto())
        reply = _server.Servicer(ClassPlugin(Team)).OpenAgent(request, None)  # type: ignore[arg-type]
        assert wrong in reply.error.message
    with pytest.raises(rlrun.Unsupported, match="acts in one environment at a time"):
        AgentLanes(AgentCopies(Echo), spec, 4)
