"""Readers of bytes of others refuse them, or read what is valid: seeded random bytes that reach deep."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import rlrun
import rlrun.spaces
from rlrun import _abilities, params
from rlrun._lanes import Copies
from rlrun._pb import plugin_pb2 as pb
from rlrun._server import BrokenProtocolError, _AgentInstance, _EnvironmentInstance
from rlrun.serve import ClassPlugin

SPACES: list[rlrun.Space] = [
    rlrun.Discrete(5, 1),
    rlrun.MultiDiscrete([2, 3]),
    rlrun.Box(-1, 1, (2,), "float32"),
    rlrun.Box(-np.inf, np.inf, (), "float64"),
    rlrun.Box(0, 255, (3,), "uint8"),
    rlrun.Box(-5, np.inf, (2,), "int64"),
]


def damaged(data: bytes, rng: random.Random) -> bytes:
    """Return bytes that are nearly these."""
    out = bytearray(data)
    for _ in range(rng.randrange(3)):
        at = rng.randrange(len(out) + 1)
        match rng.randrange(4):
            case 0:
                del out[at:]
            case 1 if at < len(out):
                out[at] = rng.choice((0, 1, 2, 3, 4, 8, 127, 128, 255, rng.randrange(256)))
            case 2:
                out[at:at] = rng.randbytes(rng.randrange(9))
            case _:
                del out[at : at + rng.randrange(9)]
    return bytes(out)


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_columns(space: rlrun.Space) -> None:
    """A column is refused by ValueError, or has the space's type and shape, and the same bytes again."""
    rng, read = random.Random(1), 0
    column = rlrun.spaces.zeros(space, 3)
    for _ in range(500):
        data = damaged(rlrun.spaces.to_bytes(column), rng)
        try:
            got = rlrun.spaces.from_bytes(space, data, 3, "it")
        except ValueError:
            continue
        read += 1
        assert (got.shape, got.dtype) == (column.shape, column.dtype)
        again = rlrun.spaces.from_bytes(space, rlrun.spaces.to_bytes(got), 3, "it")
        assert again.tobytes() == got.tobytes()
    assert 50 < read < 500


def test_messages_of_spaces() -> None:
    """A message becomes a space whose message it is, or is refused by ValueError."""
    rng, read = random.Random(2), 0
    for _ in range(3000):
        try:
            message = pb.Space.FromString(damaged(rlrun.spaces.to_proto(rng.choice(SPACES)).SerializeToString(), rng))
        except Exception:  # protobuf's own errors
            continue
        if np.prod([float(n) for n in message.box.shape]) > 1e6:
            continue  # the host bounds them
        try:
            space = rlrun.spaces.from_proto(message)
        except (ValueError, OverflowError):
            continue
        read += 1
        assert rlrun.spaces.from_proto(rlrun.spaces.to_proto(space)) == space
    assert 300 < read < 3000


def test_frames_and_names() -> None:
    """Answers of other plugins are refused by ValueError."""
    rng = random.Random(3)
    for name, answer in (("frames", np.zeros((2, 3, 3), np.uint8)), ("action_names", ["a", "b"]), ("render", "ü\n")):
        able = _abilities.BY_NAME[name]
        for _ in range(500):
            try:
                able.from_bytes(damaged(able.to_bytes(answer), rng))
            except ValueError:  # of JSON and UTF-8, too
                continue


class Task(rlrun.Environment):
    """A task that takes whatever comes."""

    id = "test/task@1"
    spec = rlrun.Spec(rlrun.Discrete(3), rlrun.Discrete(2))  # type: ignore[assignment]

    def __init__(self, length: int = 3, names: list[str] | None = None) -> None:
        self.length = length

    def reset(self, seed: int) -> int:
        return 0

    def step(self, action: int) -> Any:
        return 0, 0.0, False, False


class Player(rlrun.Agent):
    """An agent that learns nothing."""

    id = "test/player@1"

    def begin(self, spec: rlrun.Spec, seed: int) -> None:
        self.seed = seed

    def select_action(self, observation: int) -> int:
        return 1

    def update(self, transition: rlrun.Transition) -> None:
        pass


def test_parameters() -> None:
    rng = random.Random(4)
    for _ in range(2000):
        try:
            given = params.arguments(Task, damaged(b'{"length": 5, "names": ["a"]}', rng))
        except rlrun.InvalidParams:
            continue
        assert isinstance(given.get("length", 1), int)


def test_requests() -> None:
    """Requests are answered, or break the protocol; the instance lives on."""
    rng = random.Random(5)
    env, one = Copies(Task), np.array([7, 8], "<u8").tobytes()
    env_instance = _EnvironmentInstance(env, Task.spec, 2, False)  # type: ignore[arg-type]
    agent_instance = _AgentInstance(ClassPlugin(Player).agent(b""), Task.spec, 2)  # type: ignore[arg-type]
    zeros, reals, flags = b"\x01\x00\x00", np.zeros(2).tobytes(), b"\x00\x01"
    answered = 0
    for _ in range(1500):
        signals = bytes(rng.choice((0, 1, 2, 3)) for _ in range(2))
        told = [damaged(x, rng) if rng.random() < 0.3 else x for x in (signals, one, zeros, reals, flags)]
        for ask in (
            lambda t: env_instance.step(pb.EnvironmentRequest(signals=t[0], seeds=t[1], actions=t[2])),
            lambda t: agent_instance.step(
                pb.AgentRequest(signals=t[0], seeds=t[1], observations=t[2], rewards=t[3], terminated=t[4])
            ),
        ):
            try:
                reply = ask(told)
            except BrokenProtocolError:
                continue
            answered += not reply.HasField("error")
    assert answered > 500


def test_saved_lanes() -> None:
    """A state that is damaged is refused by rlrun.Error, and the lane stays as it is."""
    rng, agent = random.Random(6), _AgentInstance(ClassPlugin(Player).agent(b""), Task.spec, 1)  # type: ignore[arg-type]
    agent.step(pb.AgentRequest(signals=b"\x03", seeds=np.array([1], "<u8").tobytes(), observations=b"\x01\x00", rewards=np.zeros(1).tobytes()))  # fmt: skip # noqa: E501
    state = agent.lanes.save(0)
    refused = 0
    for _ in range(500):
        try:
            agent.lanes.load(0, damaged(state, rng))
        except rlrun.Error:
            refused += 1
    assert refused > 100
    agent.lanes.load(0, state)
    assert agent.lanes.save(0) == state
