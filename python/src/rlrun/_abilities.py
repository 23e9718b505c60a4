"""The abilities that ask one lane, and how their answers cross to the host.

A new one of environments is a line of ENVIRONMENT, and a method of `rlrun.Environment`
and `rlrun.VectorEnvironment`; one of agents is a line of AGENT, and a method of
`rlrun.Agent` and `rlrun.VectorAgent`. Servers, copies and clients know none by name.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from rlrun.errors import InvalidAnswer, blame
from rlrun.spaces import Array

MAX_FRAME_SIDE = 4096
"""The largest width and height of a frame, in pixels."""

_SIZE = struct.Struct("<II")


def _frame_to_bytes(answer: Any) -> bytes:
    frame = np.asarray(answer)
    if frame.dtype != np.uint8 or frame.ndim != 3 or frame.shape[2] != 3:
        raise InvalidAnswer(
            f"the frame is {frame.dtype} of shape {frame.shape}, must be uint8 of shape (height, width, 3)"
        )
    height, width, _ = frame.shape
    if not all(1 <= side <= MAX_FRAME_SIDE for side in (width, height)):
        raise InvalidAnswer(
            f"the frame has {width} × {height} pixels, must have 1 × 1 to {MAX_FRAME_SIDE} × {MAX_FRAME_SIDE}"
        )
    return _SIZE.pack(width, height) + frame.tobytes()


def _frame_from_bytes(data: bytes) -> Array:
    if len(data) < _SIZE.size:
        raise ValueError(f"its frame has {len(data)} bytes")
    width, height = _SIZE.unpack_from(data)
    rgb = data[_SIZE.size :]
    if len(rgb) != 3 * width * height or not rgb:
        raise ValueError(f"its frame of {width} × {height} has {len(rgb)} bytes")
    frame: Array = np.frombuffer(rgb, np.uint8).reshape(height, width, 3).copy()
    return frame


def _text_to_bytes(answer: Any) -> bytes:
    if not isinstance(answer, str):
        raise InvalidAnswer(f"render returned a value of type {type(answer).__name__}, must return text")
    return answer.encode()


def _names_to_bytes(answer: Any) -> bytes:
    if isinstance(answer, (str, bytes)) or not all(isinstance(name, str) for name in answer):
        raise InvalidAnswer(f"action_names returned {answer!r}, must return a list of texts")
    return json.dumps(list(answer)).encode()


def _state_to_bytes(answer: Any) -> bytes:
    if not isinstance(answer, (bytes, bytearray, memoryview)):
        raise InvalidAnswer(f"save returned a value of type {type(answer).__name__}, must return bytes")
    return bytes(answer)


def _action_to_bytes(answer: Any) -> bytes:
    if isinstance(answer, (bool, np.bool_)) or not isinstance(answer, (int, np.integer)):
        raise InvalidAnswer(f"recommended_action returned {answer!r}, must return the number of an action")
    return str(int(answer)).encode()


class Ability(NamedTuple):
    """What a lane that has been started can be asked for."""

    name: str
    """What the protocol calls it by."""
    method: str
    """A method of an environment or agent; of a batch of them it takes the lane first."""
    to_bytes: Callable[[Any], bytes]
    """Write the answer, or raise InvalidAnswer."""
    from_bytes: Callable[[bytes], Any]
    """Read it, or raise ValueError."""
    part_of: str = ""
    """What a description lists it under, where that is not the name."""
    takes_question: bool = False
    """Whether the method takes the question, which is bytes."""

    @property
    def listed(self) -> str:
        """Return what the description of a plugin lists it under."""
        return self.part_of or self.name


ENVIRONMENT: tuple[Ability, ...] = (
    Ability("render", "render", _text_to_bytes, bytes.decode),
    Ability("frames", "render_frame", _frame_to_bytes, _frame_from_bytes),
    Ability("action_names", "action_names", _names_to_bytes, json.loads),
)

AGENT: tuple[Ability, ...] = (
    Ability("save", "save", _state_to_bytes, bytes, part_of="checkpoint"),
    Ability("load", "load", lambda _: b"", bytes, part_of="checkpoint", takes_question=True),
    Ability("recommend", "recommended_action", _action_to_bytes, int),
)

BY_NAME = {ability.name: ability for ability in ENVIRONMENT + AGENT}


def of(listed: Any) -> list[str]:
    """Return the abilities behind those that the description of a plugin lists."""
    return [ability.name for ability in BY_NAME.values() if ability.listed in listed]


def ask(lanes: Any, ability: str, lane: int, question: bytes) -> bytes:
    """Ask a lane of a batch."""
    able = BY_NAME[ability]
    try:
        return able.to_bytes(getattr(lanes, able.method)(lane, *[question] * able.takes_question))
    except InvalidAnswer as e:
        blame(e, lane)
        raise


def of_copies(batch: type, abilities: Iterable[Ability]) -> None:
    """Give a batch the abilities of its copies that it has no method for: it asks what its _copy(lane) returns."""

    def passing_on(method: str) -> Callable[..., Any]:
        return lambda self, lane, *question: getattr(self._copy(lane), method)(*question)

    for ability in abilities:
        if ability.method not in vars(batch):
            setattr(batch, ability.method, passing_on(ability.method))
