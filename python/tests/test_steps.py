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
from rlrun import _ahead, _steps
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

# Observations and actions are encoded apart, so two partners for each space are enough.
PAIRS = [(space, SPACES[(i + k) % len(SPACES)]) for i, space in enumerate(SPACES) for k in (0, 3)]


def sample(space: rlrun.Space, rng: np.random.Generator) -> Any:
    """Return a value of a space."""
    if isinstance(space, rlrun.Discrete):
        return space.start + int(rng.integers(space.n))
    if isinstance(space, rlrun.MultiDiscrete):
        return rng.integers(space.nvec)
    return np.array(rng.uniform(space.low, space.high)).astype(space.dtype)


def play(spec: rlrun.Spec, lanes: int, signals: bytes, most: int = 0) -> tuple[list[bytes], dict[int, list[bytes]]]:
    """Return what an environment and an agent answer, and the agent's states after so many answers.

    ``signals`` is sent where every lane goes on. ``most`` is how many steps are made ahead, where that can be.
    """

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
    begin, out, states = bytes([3] * lanes), list[bytes](), dict[int, list[bytes]]()
    seeds = struct.pack(f"<{lanes}Q", *range(7, 7 + lanes))
    actions = rlrun.spaces.to_bytes(rlrun.spaces.zeros(spec.action, lanes))

    def asks(told: Any) -> pb.AgentRequest:
        columns = {name: getattr(told, name) for name in ("observations", "rewards", "terminated", "truncated")}
        return pb.AgentRequest(signals=begin, seeds=seeds, **columns)

    while len(out) < 400:
        told: Any = env.step(pb.EnvironmentRequest(signals=begin, seeds=seeds, actions=actions))
        out.append(told.SerializeToString())
        while most and begin == signals and not told.HasField("error") and not any(told.terminated + told.truncated):
            outcome, own = agent.feedback(asks(told))[2], np.arange(7, 7 + lanes, dtype=np.uint64)[:, None].repeat(4, 1)
            try:
                told = _ahead.play(env.lanes, agent.lanes, outcome, most, own)
            except ValueError as e:
                return [*out, str(e).encode()], states
            out += apart(spec, lanes, told)
            before, told = (pb.EnvironmentReply.FromString(out[k]) for k in (-3, -1))
            begin = starting(before, lanes) or begin
            states[len(out) - 1] = [agent.lanes.save(lane) for lane in range(lanes)]
        if told.HasField("error"):
            break
        answer = agent.step(asks(told))
        out.append(answer.SerializeToString())
        states[len(out)] = [agent.lanes.save(lane) for lane in range(lanes)]
        actions, begin = answer.actions, signals
        begin = starting(told, lanes) or begin
    return out, states


def starting(told: pb.EnvironmentReply, lanes: int) -> bytes:
    """Return the signals after a step in which episodes have ended; none if there are none."""
    flags = np.zeros(lanes, np.uint8)
    for column in (told.terminated, told.truncated):
        flags |= np.frombuffer(column or bytes(lanes), np.uint8)
    return (flags + 1).tobytes() if flags.any() else b""


def apart(spec: rlrun.Spec, lanes: int, told: pb.AheadReply) -> list[bytes]:
    """Return the answers to single steps that were made ahead."""
    n, out = told.steps, list[bytes]()
    assert n > 0
    actions, observations = (
        np.split(rlrun.spaces.from_bytes(space, data, n * lanes, ""), n)
        for space, data in ((spec.action, told.actions), (spec.observation, told.observations))
    )
    for k in range(n):
        out.append(pb.AgentReply(actions=rlrun.spaces.to_bytes(actions[k])).SerializeToString())
        ends: dict[str, Any] = {}
        for name in ("terminated", "truncated"):
            flags = getattr(told, name)[k * lanes : (k + 1) * lanes]
            ends |= {name: flags} if any(flags) else {}
        seen, rewards = rlrun.spaces.to_bytes(observations[k]), told.rewards[8 * k * lanes : 8 * (k + 1) * lanes]
        out.append(pb.EnvironmentReply(observations=seen, rewards=rewards, **ends).SerializeToString())
    return out


@pytest.mark.parametrize("lanes", [1, 3])
@pytest.mark.parametrize(("observation", "action"), PAIRS, ids=str)
def test_all_lanes_go_on(observation: rlrun.Space, action: rlrun.Space, lanes: int) -> None:
    """Where no signals are sent, every lane goes on, to the same answers and states."""
    spec = rlrun.Spec(observation, action)
    assert play(spec, lanes, b"") == play(spec, lanes, b"\1" * lanes)


@pytest.mark.parametrize("most", [1, 7])
@pytest.mark.parametrize("lanes", [1, 3])
@pytest.mark.parametrize(("observation", "action"), PAIRS, ids=str)
def test_steps_ahead(observation: rlrun.Space, action: rlrun.Space, lanes: int, most: int) -> None:
    """Steps that are made ahead are the single ones. With an error there is no answer to the steps before it."""
    spec = rlrun.Spec(observation, action)
    (alone, states), (ahead, also) = play(spec, lanes, b""), play(spec, lanes, b"", most)
    n = min(len(ahead), len(alone)) - 1
    assert n > 2
    assert ahead[:n] == alone[:n]
    assert all(states[k] == also[k] for k in also if k <= n)
    assert (len(alone) < 400) == (b"broken" in ahead[-1])
    if b"broken" in ahead[-1]:
        assert ahead[-1].split()[-3:] == alone[-1].split()[-3:]
        assert len(ahead) > len(alone) - 2 * most


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


class Still(rlrun.Agent):
    """Learns nothing."""

    id = "test/still@1"

    def begin(self, spec: rlrun.Spec, seed: int) -> None:
        pass

    def select_action(self, observation: Any) -> int:
        return 0

    def update(self, t: rlrun.Transition) -> None:
        pass


def test_frames_of_steps_ahead() -> None:
    """What breaks the protocol is refused. Lanes that are in no episode make no steps."""
    servicer = Servicer(ClassPlugin(Walk))
    env = servicer._add(_EnvironmentInstance(ClassPlugin(Walk).environment(b""), Walk.spec, 1, False))
    agent = servicer._add(_AgentInstance(ClassPlugin(Still).agent(b""), Walk.spec, 1))
    observed = pb.AgentRequest(instance=agent, observations=b"\1\0", rewards=bytes(8), step=3)
    fine = pb.AheadRequest(agent=observed, environment=env, steps=2, seeds=bytes(16))
    broken = [pb.AheadRequest(environment=env), pb.AheadRequest(agent=observed)]
    broken += [pb.AheadRequest(agent=observed, environment=env, steps=2, seeds=bytes(9))]
    for request in broken:
        answer = servicer.answer(_steps.AHEAD, request.SerializeToString())
        assert answer
        assert answer[0] == _steps.REFUSED, request
    kind, reply = servicer.answer(_steps.AHEAD, fine.SerializeToString()) or (0, b"")
    assert kind == _steps.AHEAD
    assert pb.AheadReply.FromString(reply) == pb.AheadReply(step=3)  # no lane has begun


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
