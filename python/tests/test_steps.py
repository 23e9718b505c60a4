"""Steps as they come over the socket, and the two ways in which single copies are stepped."""

from __future__ import annotations

import os
import socket
import struct
import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import rlrun
from rlrun import _steps
from rlrun._pb import plugin_pb2 as pb
from rlrun._server import Servicer, _AgentInstance, _EnvironmentInstance
from rlrun.serve import ClassPlugin

SPACES = [
    rlrun.Discrete(3),
    rlrun.Discrete(1000, start=-400),
    rlrun.MultiDiscrete([2, 300]),
    rlrun.Box(-1.0, 1.0, (2,)),
    rlrun.Box(0, 255, (2, 2), "uint8"),
    rlrun.Box(-9, 9, (), "int64"),
    rlrun.Box(-1.0, 1.0, (3,), "float32"),
]


def sample(space: rlrun.Space, rng: np.random.Generator) -> Any:
    """Return a value of a space."""
    if isinstance(space, rlrun.Discrete):
        return space.start + int(rng.integers(space.n))
    if isinstance(space, rlrun.MultiDiscrete):
        return rng.integers(space.nvec)
    return np.array(rng.uniform(space.low, space.high)).astype(space.dtype)


def play(spec: rlrun.Spec, lanes: int, signals: bytes) -> list[bytes]:
    """Return what an environment and an agent answer. ``signals`` is sent where every lane goes on."""

    class Dice(rlrun.Environment):
        id = "test/dice@1"

        @property
        def spec(self) -> rlrun.Spec:
            return spec

        def reset(self, seed: int) -> Any:
            self.rng = np.random.default_rng(seed)
            return sample(spec.observation, self.rng)

        def step(self, action: Any) -> rlrun.TimeStep:
            if self.rng.random() < 0.01:
                raise ValueError(f"broken by {action}")
            if not isinstance(action, int):
                action[...] = 0  # it is the author's own
            reward = self.rng.random() + (action if isinstance(action, int) else 0)
            return rlrun.TimeStep(sample(spec.observation, self.rng), reward, *(self.rng.random(2) < 0.05))

    @dataclass
    class Gambler(rlrun.Agent):
        id = "test/gambler@1"
        checkpoints = True

        def begin(self, spec: rlrun.Spec, seed: int) -> None:
            self.rng, self.seen = np.random.default_rng(seed), 0.0

        def select_action(self, observation: Any) -> Any:
            self.seen += float(np.sum(observation))
            self.rng.random(int(abs(self.seen)) % 3)
            return sample(spec.action, self.rng)

        def update(self, t: rlrun.Transition) -> None:
            self.seen += float(np.sum(t.observation)) - 2 * float(np.sum(t.action)) + t.reward + 3 * t.terminated

    env = _EnvironmentInstance(ClassPlugin(Dice).environment(b""), spec, lanes, False)
    agent = _AgentInstance(ClassPlugin(Gambler).agent(b""), spec, lanes)
    begin, out = bytes([3] * lanes), list[bytes]()
    seeds = struct.pack(f"<{lanes}Q", *range(7, 7 + lanes))
    actions = rlrun.spaces.to_bytes(rlrun.spaces.zeros(spec.action, lanes))
    for step in range(200):
        told = env.step(pb.EnvironmentRequest(signals=begin, seeds=seeds, actions=actions, step=step))
        out.append(told.SerializeToString())
        if told.HasField("error"):
            break
        answer = agent.step(
            pb.AgentRequest(
                signals=begin,
                seeds=seeds,
                observations=told.observations,
                rewards=told.rewards,
                terminated=told.terminated,
                truncated=told.truncated,
                step=step,
            )
        )
        out.append(answer.SerializeToString())
        out += [agent.lanes.save(lane) for lane in range(lanes)]
        actions, begin = answer.actions, signals
        ended = [a or b for a, b in zip(told.terminated or b"\0" * lanes, told.truncated or b"\0" * lanes, strict=True)]
        if any(ended):
            begin = bytes(2 if end else 1 for end in ended)
    return out


@pytest.mark.parametrize("lanes", [1, 3])
@pytest.mark.parametrize("observation", SPACES, ids=str)
@pytest.mark.parametrize("action", SPACES, ids=str)
def test_all_lanes_go_on(observation: rlrun.Space, action: rlrun.Space, lanes: int) -> None:
    """Where no signals are sent, every lane goes on, to the same answers and states."""
    spec = rlrun.Spec(observation, action)
    assert play(spec, lanes, b"") == play(spec, lanes, b"\1" * lanes)


class Walk(rlrun.Environment):
    """Counts its steps."""

    id = "test/walk@1"
    spec = rlrun.Spec(rlrun.Discrete(9), rlrun.Discrete(2))

    def reset(self, seed: int) -> int:
        self.at = 0
        return self.at

    def step(self, action: int) -> rlrun.TimeStep:
        self.at += 1
        return rlrun.TimeStep(self.at, 1.0)


def test_frames() -> None:
    """They may come in pieces. What breaks the protocol is refused, and the socket lives on."""
    ours, theirs = socket.socketpair()
    servicer = Servicer(ClassPlugin(Walk))
    served = threading.Thread(target=_steps.serve, args=(theirs, servicer.answer))
    served.start()
    instance = servicer._add(_EnvironmentInstance(ClassPlugin(Walk).environment(b""), Walk.spec, 1, False))

    def ask(kind: int, message: bytes, size: int) -> tuple[int, bytes]:
        frame = struct.pack("<IB", len(message), kind) + message
        for k in range(0, len(frame), size):
            ours.sendall(frame[k : k + size])
        n, kind = struct.unpack("<IB", ours.recv(5, socket.MSG_WAITALL))
        return kind, ours.recv(n, socket.MSG_WAITALL) if n else b""

    begin = pb.EnvironmentRequest(instance=instance, signals=b"\3", seeds=bytes(8), actions=b"\1\0", step=1)
    go_on = pb.EnvironmentRequest(instance=instance, actions=b"\1\0", step=2)
    for size in (1, 7, 1000):
        for request, at in ((begin, 0), (go_on, 1)):
            kind, reply = ask(1, request.SerializeToString(), size)
            assert kind == 1
            assert pb.EnvironmentReply.FromString(reply).observations == bytes([1, at])
    for kind, message, text in (
        (1, b"\xff", "Error parsing message"),
        (1, b"", "no EnvironmentInstance has the handle 0"),
        (2, begin.SerializeToString(), f"no AgentInstance has the handle {instance}"),
        (
            1,
            pb.EnvironmentRequest(instance=instance, signals=b"\1\1").SerializeToString(),
            "signals: column of 2 bytes",
        ),
        (1, pb.EnvironmentRequest(instance=instance, actions=b"\3\0").SerializeToString(), "actions: column of"),
        (9, bytes(1 << 20), "a frame of kind 9"),
    ):
        answer, reply = ask(kind, message, 1 << 16)
        assert answer == _steps.REFUSED
        assert text in pb.Error.FromString(reply).message
    ours.sendall(struct.pack("<IB", 2, _steps.END) + pb.CloseRequest(instance=instance).SerializeToString())
    assert "no EnvironmentInstance" in pb.Error.FromString(ask(1, go_on.SerializeToString(), 99)[1]).message
    ours.close()
    served.join(10)
    theirs.close()
    assert not served.is_alive()


def test_no_socket(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """Without one, or with a descriptor that is none, steps go over gRPC."""
    assert _steps.inherited() is None
    with open(tmp_path / "file", "wb") as f:
        monkeypatch.setenv(_steps.VARIABLE, str(f.fileno()))
        assert _steps.inherited() is None
        assert _steps.VARIABLE not in os.environ
