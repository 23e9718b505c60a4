"""Saved agents are data."""

from __future__ import annotations

import collections
import json
import os
import pickle
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rlrun
from rlrun import saved
from rlrun._lanes import CONTINUE, NEW_RUN, AgentCopies, AgentLanes
from rlrun.environment import TimeSteps
from rlrun.serve import ClassPlugin


@dataclass
class Point:
    """A dataclass of an author's."""

    x: float
    rest: list[int] = field(default_factory=list)


SPEC = rlrun.Spec(rlrun.Discrete(3), rlrun.Box(-1, [1, np.inf], (2,), "float32"), id="test/x@1", steps=5)

VALUES: list[Any] = [
    None,
    True,
    -(2**80),
    0.1,
    -0.0,
    float("inf"),
    "ü\ud800",
    b"\x00x",
    bytearray(b"y"),
    1 - 2j,
    (),
    (1, (2,)),
    [[]],
    {},
    {1, 2},
    frozenset("a"),
    {1: "a", (2, 3): [4]},
    range(1, 9, 2),
    collections.deque([1, 2], 3),
    collections.Counter("aab"),
    collections.defaultdict(list, {1: [2]}),
    collections.OrderedDict(b=1, a=2),
    np.float32(0.1),
    np.int64(3),
    np.bool_(True),
    np.dtype("float32"),
    np.zeros(()),
    np.zeros((0, 3)),
    np.arange(6).reshape(2, 3),
    np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    np.arange(10)[::3],
    np.array(["a", "bc"]),
    np.array([True, False]),
    np.array([1j]),
    np.array(["2020-01-01"], "M8[D]"),
    np.arange(3, dtype=">i4"),
    np.float16([1, np.nan]),
    Point(1.5, [2]),
    SPEC,
]


def same(a: Any, b: Any) -> bool:
    """Say whether two values are the same, bit for bit."""
    return type(a) is type(b) and pickle.dumps(a) == pickle.dumps(b)


@pytest.mark.parametrize("value", VALUES, ids=lambda v: repr(v)[:30].encode("ascii", "replace").decode())
def test_values_come_back(value: Any) -> None:
    got = rlrun.unpack(rlrun.pack(value), [Point])
    assert type(got) is type(value)
    if isinstance(value, np.ndarray):
        assert got.dtype == value.dtype
        assert got.tobytes() == value.tobytes()
        assert got.flags.writeable
        assert got.flags.f_contiguous == value.flags.f_contiguous or not value.flags.c_contiguous
        np.testing.assert_array_equal(got, value)
    elif isinstance(value, (rlrun.Spec, float)):
        assert repr(got) == repr(value)
    else:
        assert got == value
    assert same(rlrun.pack(got), rlrun.pack(rlrun.unpack(rlrun.pack(got), [Point])))


@pytest.mark.parametrize(
    "kind", [np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937, np.random.Philox, np.random.SFC64]
)
def test_generators_go_on(kind: Any) -> None:
    rng = np.random.Generator(kind(7))
    rng.integers(2**20, dtype=np.uint32)  # which leaves half a number
    rng.spawn(2)
    other = rlrun.unpack(rlrun.pack(rng))
    assert same(rng.random(1000), other.random(1000))
    assert rng.integers(2**20, dtype=np.uint32) == other.integers(2**20, dtype=np.uint32)
    assert rng.spawn(1)[0].random() == other.spawn(1)[0].random()


def test_other_generators_go_on() -> None:
    state, plain, streams = np.random.RandomState(3), random.Random(3), rlrun.Streams(4)
    state.normal()
    streams.seed(slice(None), np.arange(4, dtype=np.uint64))
    others = rlrun.unpack(rlrun.pack([state, plain, streams]))
    assert state.normal() == others[0].normal()
    assert plain.random() == others[1].random()
    assert same(streams.random(slice(None), 3), others[2].random(slice(None), 3))


def test_what_is_one_stays_one() -> None:
    table, rng = np.zeros(3), np.random.default_rng(1)
    got = rlrun.unpack(rlrun.pack({"a": table, "b": [table, rng], "c": rng, "d": [[1], (rng,)]}))
    assert got["a"] is got["b"][0]
    assert got["c"] is got["b"][1] is got["d"][1][0]
    streams, beside = rlrun.Streams(2), np.random.Generator(rng.bit_generator)
    one, other, lanes, state = rlrun.unpack(rlrun.pack([rng, beside, streams, streams.state]))
    assert [one.random(), other.random(), one.random()] == [rng.random(), beside.random(), rng.random()]
    assert lanes.state is state


@pytest.mark.parametrize("how", ["pack", "pickle"])
def test_arrays_share_memory_as_before(how: str) -> None:
    weights, other = np.arange(12.0), np.zeros((4, 2))
    table = weights.reshape(3, 4)
    value = {
        "rows": [*table],
        "table": table,
        "columns": table.T,
        "back": weights[::-2],
        "bits": weights.view(np.int64)[2:4],
        "weights": weights,
        "apart": [other[0], other[2]],
        "one": other[3],
        "same": np.broadcast_to(other[3], (2, 2)),
        "windows": np.lib.stride_tricks.sliding_window_view(weights, 9),
        "few": np.arange(100.0)[3::50],
        "none": weights[:0],
        "bytes": weights.view(np.uint8),
        "pixels": (pixels := np.arange(4, dtype=np.uint8)),
        "right": pixels[1:],
        "turned": np.arange(24.0).reshape(2, 3, 4).transpose(1, 0, 2),
    }
    got = rlrun.unpack(rlrun.pack(value)) if how == "pack" else pickle.loads(saved._pickle(value))
    for key, array in value.items():
        np.testing.assert_array_equal(got[key], array)
    for key in ("turned", "few"):
        assert got[key].strides == value[key].strides
    got["weights"][:] = range(100, 112)
    weights[:] = range(100, 112)
    got["rows"][1][2] = table[1, 2] = 5
    for key, array in value.items():
        np.testing.assert_array_equal(got[key], array, key)
    got["apart"][0][:] = 1
    assert not got["apart"][1].any()
    assert not got["one"].any()
    got["one"][:] = 2
    assert got["same"].tolist() == [[2, 2], [2, 2]]


def test_long_numbers_come_back() -> None:
    visited = {"visited": 1 << 20000, -(1 << 20000): [-(2**64)]}
    assert rlrun.unpack(rlrun.pack(visited)) == visited


def test_generators_over_the_same_seeds_spawn_as_before() -> None:
    seeds = np.random.SeedSequence(5)
    value = [seeds, *(np.random.Generator(np.random.PCG64(seeds)) for _ in range(2))]
    got = rlrun.unpack(rlrun.pack(value))
    assert [rng.spawn(1)[0].random() for rng in got[1:]] == [rng.spawn(1)[0].random() for rng in value[1:]]
    assert got[0].spawn(1)[0].spawn_key == (2,)


def test_tensors_share_memory_as_before() -> None:
    torch = pytest.importorskip("torch")
    weights = torch.arange(6.0)
    head, turned, table = rlrun.unpack(rlrun.pack([weights[:2], weights.reshape(2, 3).T, weights.numpy()]))
    head[1] = 9
    assert turned[1, 0] == table[1] == 9


def test_a_view_beyond_its_bytes_is_refused() -> None:
    table = np.arange(4.0)
    data = rlrun.pack([table, table[::-1]])
    head = 16 + int.from_bytes(data[8:16], "little")
    text = json.loads(data[16:head])
    assert text[1]["view"][1:] == [24, "<f8", [4], [-8]]
    for change in ([32, "<f8", [4], [-8]], [24, "<f8", [4], [8]], [24, "<f8", [5], [2**62]], [0, "<f8", [2**40], [0]]):
        text[1]["view"][1:] = change
        hostile = json.dumps(text).encode()
        with pytest.raises(rlrun.Error, match="view"):
            rlrun.unpack(data[:8] + len(hostile).to_bytes(8, "little") + hostile + data[head:])


class Plain(rlrun.Agent):
    """An agent with attributes of many kinds."""

    id = "test/plain@1"
    extra: Any = None

    def __init__(self, point: Point | None = None, extra: Any = None) -> None:
        self.point = point or Point(1.0)
        if extra is not None:
            self.extra = extra

    def begin(self, spec: rlrun.Spec, seed: int) -> None:
        self.spec, self.rng = spec, np.random.default_rng(seed)
        self.q: dict[Any, Any] = {(0, 1): np.zeros(2)}
        self.memory: collections.deque[Any] = collections.deque(maxlen=4)

    def select_action(self, observation: Any) -> int:
        return int(self.rng.integers(4))

    def update(self, t: rlrun.Transition) -> None:
        self.memory.append(t.reward)
        self.q[0, 1] += t.reward
        self.point.x += 1


@dataclass
class Batch(list[int]):
    """A dataclass with elements."""

    size: int


class Cached:
    """What has a slot that is no field."""

    __slots__ = ("cache",)


@dataclass(slots=True)
class Node(Cached):
    """A dataclass that an agent keeps only later."""

    name: int
    score: float = field(init=False)

    def __hash__(self) -> int:
        return self.name


class Searching(Plain):
    """An agent that keeps dataclasses that it does not have when a run begins."""

    id = "test/searching@1"
    sizes = Batch(3)  # which could not be saved

    def begin(self, spec: rlrun.Spec, seed: int) -> None:
        super().begin(spec, seed)
        self.nodes: dict[Node, list[Node]] = {}

    def update(self, t: rlrun.Transition) -> None:
        super().update(t)
        node = Node(len(self.nodes))
        node.cache = t.reward
        self.nodes[node] = [*self.nodes, node]


class Slotted(Plain):
    """One with attributes in slots."""

    id = "test/slotted@1"
    __slots__ = ("_Slotted__unset", "memory", "q", "rng")


class Pickled(Plain):
    """One that says so."""

    id = "test/pickled@1"
    pickles = True


class Own(Plain):
    """One with a format of its own."""

    id = "test/own@1"

    def save(self) -> bytes:
        return json.dumps(self.rng.bit_generator.state).encode()

    def load(self, state: bytes) -> None:
        self.rng.bit_generator.state = json.loads(state)


TASK = rlrun.Spec(rlrun.Discrete(3, 1), rlrun.Discrete(4))


def lanes(cls: Any, **params: Any) -> AgentLanes:
    return AgentLanes(AgentCopies(lambda: cls(**params)), TASK, 1)


def play(agent: AgentLanes, signal: int, steps: int) -> list[int]:
    none, out = np.zeros(1, np.bool_), []
    for _ in range(steps):
        seeds = np.array([3], np.uint64) if signal == NEW_RUN else None
        outcome = TimeSteps(np.array([2]), np.array([0.5]), none, none)
        out += agent.step(np.full(1, signal, np.uint8), seeds, outcome).tolist()
        signal = CONTINUE
    return out


@pytest.mark.parametrize(
    ("cls", "begins"),
    [(Plain, b"RLARRAY1"), (Slotted, b"RLARRAY1"), (Pickled, b"RLPICKLE"), (Own, b"RLAUTHOR")],
    ids=["plain", "slotted", "pickled", "own"],
)
def test_agents_go_on(cls: Any, begins: bytes) -> None:
    agent, other = lanes(cls), lanes(cls)
    play(agent, NEW_RUN, 10)
    state = agent.save(0)
    assert state[:8] == begins
    other.load(0, state)
    assert play(agent, CONTINUE, 50) == play(other, CONTINUE, 50)
    assert agent.agent._copy(0).memory == other.agent._copy(0).memory or cls is Own  # type: ignore[attr-defined]
    assert list(ClassPlugin(cls).description.abilities) == ["checkpoint"] + ["pickle"] * (cls is Pickled)


def test_dataclasses_go_on() -> None:
    agent, other = lanes(Searching), lanes(Searching)
    play(agent, NEW_RUN, 4)
    other.load(0, agent.save(0))
    assert play(agent, CONTINUE, 4) == play(other, CONTINUE, 4)
    nodes = other.agent._copy(0).nodes  # type: ignore[attr-defined]
    first, *_, last = nodes
    assert nodes[last][0] is first
    assert (first.name, first.cache, hasattr(first, "score"), len(nodes)) == (0, 0.5, False, 7)


class Bomb:
    """What a stranger would put into a pickle."""

    def __reduce__(self) -> Any:
        return os.mkdir, ("bomb",)


def test_strangers_pickles_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a class that pickles reads pickles, and only of its own process or with trust."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RLRUN_TRUST", raising=False)
    last = b"\x01\x00\x00\x00" + b"\x02" + b"\x00" * 15  # one actor
    bomb = b"RLPICKLE" + last + pickle.dumps({"a": Bomb()})
    for cls, why in ((Plain, "this agent saves without code"), (Pickled, "run rlrun with --trust")):
        agent = lanes(cls)
        for state in (bomb, b"RLAUTHOR" + last + b"RLPICKLE" + bomb[28:]):
            for trust in ("", "0", "true"):
                monkeypatch.setenv("RLRUN_TRUST", trust)
                with pytest.raises(rlrun.Error, match=why):
                    agent.load(0, state)
        for state in (bomb[28:], b"RLAUTHOR" + last + bomb[28:], b"RLARRAY1" + last + bomb[28:]):
            with pytest.raises(rlrun.Error, match=r"is not the state of a lane|no saved agent"):
                agent.load(0, state)
    assert not (tmp_path / "bomb").exists()
    monkeypatch.setenv("RLRUN_TRUST", "1")
    with pytest.raises(rlrun.Error, match="this agent saves without code"):
        lanes(Plain).load(0, bomb)
    lanes(Pickled).load(0, bomb)
    assert (tmp_path / "bomb").exists()


class Listed(Plain, list[int]):
    """An agent with elements."""

    id = "test/listed@1"


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (lambda: 0, "the attribute extra is a builtins.function"),
        ({"net": [1, object()]}, r"the attribute extra.net\[1\] is a builtins.object"),
        (Point(1, [open]), r"the attribute extra.rest\[0\] is a builtins.builtin_function_or_method"),  # type: ignore[list-item]
        (np.array([None]), "the attribute extra is an array of object"),
        (np.ma.masked_array([1]), "the attribute extra is a numpy.ma.MaskedArray"),
        (collections.defaultdict(lambda: 0), "the attribute extra is a collections.defaultdict"),
        (Batch(3), r"the attribute extra is a .*Batch, which derives from builtins.list"),
        ([shared := bytearray(8), np.frombuffer(shared)], r"the attribute extra\[0\] is a bytearray whose memory"),
        (np.broadcast_to(0.0, (2**20, 2**8)), "the attribute extra is an array that repeats elements into 2147483648"),
        (np.random.RandomState(np.random.PCG64(1)), "the attribute extra is a RandomState over PCG64"),
        (
            [kind(bits) for bits in [np.random.MT19937(1)] for kind in (np.random.RandomState, np.random.Generator)],
            r"the attribute extra\[1\] has the source of random numbers",
        ),
    ],
    ids=str,
)
def test_what_cannot_be_saved_is_named(value: Any, path: str) -> None:
    agent = lanes(Plain, extra=value)
    play(agent, NEW_RUN, 1)
    with pytest.raises(rlrun.Error, match=f"{path}.* override save and load.* pickles = True.* checkpoints = False"):
        agent.save(0)
    agent = lanes(Listed)
    play(agent, NEW_RUN, 1)
    with pytest.raises(rlrun.Error, match=r"Listed, which derives from builtins\.list"):
        agent.save(0)
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(rlrun.Error, match="contains itself"):
        rlrun.pack(loop)


def test_unknown_dataclasses_are_refused() -> None:
    with pytest.raises(rlrun.Error, match=r"the saved agent has a .*Point, and this one has none"):
        rlrun.unpack(rlrun.pack(Point(1)))


def test_declarations_have_types() -> None:
    for name, value in (("checkpoints", "False"), ("pickles", 1), ("preferred_lanes", "16"), ("requires", 2)):
        cls = type("Wrong", (Plain,), {name: value})
        with pytest.raises(TypeError, match=rf"Wrong.{name} is .*, must be a "):
            ClassPlugin(cls)


ENDLESS = {"range": [0, 10**15, 1]}


@pytest.mark.parametrize(
    "written",
    [
        {"counter": ENDLESS},
        {"defaultdict": ["int", ENDLESS]},
        {"random": {"tuple": [3, ENDLESS, None]}},
        {"randomstate": {"tuple": ["MT19937", ENDLESS, 1, 0, 0.0]}},
        {"seeds": [1, ENDLESS, 4, 0]},
        {"seeds": [[[ENDLESS]], {"tuple": []}, 4, 0]},
        {"generator": ["SFC64", {"dict": []}, ENDLESS]},
        {"seeds": [{"view": [{"array": ["|u1", [1], False]}, 0, "|u1", [2**29], [0]]}, {"tuple": []}, 4, 0]},
        {"set": [{"tuple": []}, *({"tuple": [{"again": i}] * 2} for i in range(100))]},
        [{"tuple": []}, *({"tuple": [{"again": i}]} for i in range(200000)), {"set": [{"again": 200000}]}],
        {"set": [i * (2**61 - 1) for i in range(20000)]},
    ],
    ids=lambda written: json.dumps(written)[:40],
)
def test_a_short_file_takes_a_short_time(written: Any) -> None:
    """It is refused at once: it neither hangs, nor fills the memory, nor overflows the stack of a hash."""
    text = json.dumps(written).encode()
    with pytest.raises(rlrun.Error, match="this is no saved agent"):
        rlrun.unpack(b"RLARRAY1" + len(text).to_bytes(8, "little") + text + b"\1" * ("view" in str(written)))


def test_keys_made_of_others_come_back() -> None:
    state = (1, (2, 3))
    value = {"state": state, "q": {(state, a): a for a in range(3)}, "seen": {state, (state, state)}}
    assert rlrun.unpack(rlrun.pack(value)) == value
    assert rlrun.unpack(rlrun.pack({n: n for n in range(-20000, 20000)}))[-7] == -7


def test_whatever_is_read_is_refused_or_a_value() -> None:
    """Damaged bytes raise rlrun.Error and nothing else: cut, flipped, and with parts of other values."""
    rng = random.Random(5)
    generators = [
        np.random.Generator(np.random.MT19937(1)),
        np.random.RandomState(1),
        random.Random(1),
        rlrun.Streams(2),
        [np.random.SeedSequence([1, 2]), {(1, (2,)): 2**70}, np.broadcast_to(np.zeros(2), (3, 2))],
        [(shared := np.random.default_rng(2)), np.random.Generator(shared.bit_generator)],
    ]
    table = np.arange(4.0)
    values = [*VALUES, *generators, np.random.default_rng(1), VALUES[5:20], [table, table[::-1], table.reshape(2, 2)]]
    whole = [rlrun.pack(v) for v in values]
    words = [
        b'"again"',
        b'"view"',
        b'"array"',
        b'"generator"',
        b'"MT19937"',
        b'"|O8"',
        b"-1",
        b"1e999",
        b"[",
        b"]",
        b"{",
        b'"pos"',
        b"99999999999",
    ]
    refused = 0
    for _ in range(6000):
        data = bytearray(rng.choice(whole))
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(16, len(data) + 1)
            match rng.randrange(4):
                case 0:
                    del data[at:]
                case 1 if at < len(data):
                    data[at] = rng.randrange(256)
                case 2:
                    data[at : at + rng.randrange(8)] = rng.choice(words)
                case _:
                    other = rng.choice(whole)
                    data[at:at] = other[16 : 16 + rng.randrange(40)]
        if rng.random() < 0.7:  # let the length fit, to get deeper
            data[8:16] = min(int.from_bytes(data[8:16], "little"), len(data) - 16).to_bytes(8, "little")
        try:
            value = rlrun.unpack(bytes(data), [Point])
        except rlrun.Error:
            refused += 1
            continue
        for generator in (value,) if isinstance(value, np.random.Generator) else ():
            generator.random(3)
    assert 1000 < refused < 6000
