"""The random generators that a process shares: those of ``random``, ``numpy.random`` and torch."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray


class RandomStates:
    """The states of these generators that one user of them left. Within it they are the user's."""

    def __init__(self) -> None:
        self._own: Any = None

    def __enter__(self) -> None:
        self._others = read()
        if self._own is not None:
            write(self._own)

    def __exit__(self, *_: object) -> None:
        self._own = read()
        write(self._others)


_T = TypeVar("_T")


class Watch:
    """Notices steps that draw from these generators: the runs of a process then depend on each other.

    To read the states takes as long as some steps, so that the first steps are looked at, and then a few.
    """

    FIRST, EVERY = 16, 256

    def __init__(self) -> None:
        self.drawn: set[str] = set()
        """The names of the generators that steps have drawn from."""
        self._steps = 0

    def step(self, call: Callable[[], _T]) -> _T:
        """Make a step. It may seed the generators, and draw from them then."""
        self._steps += 1
        if self._steps > self.FIRST and self._steps % self.EVERY:
            return call()
        before, answer, after = read(), call(), read()
        self.drawn |= {name for name, drew in zip(NAMES, map(_drew, before, after), strict=True) if drew}
        return answer


def _drew(before: Any, after: Any) -> bool:
    """Say whether a generator has been drawn from, and not seeded before."""
    if type(before) is not type(after) or before is None:  # torch was not there, or numpy.random has another generator
        return False
    if not isinstance(before, tuple):  # torch's, or of a generator that the author gave to numpy.random
        before, after = (repr(s).encode() if isinstance(s, dict) else s.numpy().tobytes() for s in (before, after))
        return bool(before != after) and before[:8] == after[:8]  # torch's begins with its seed
    (table, place), (last, end) = _parts(before), _parts(after)
    if place == end and (table == last).all():
        return False
    twister = np.random.MT19937()
    twister.state = {"bit_generator": "MT19937", "state": {"key": table, "pos": place}}
    for _ in range(256):  # more draws than a step makes
        if (twister.state["state"]["key"] == last).all():
            return True
        twister.random_raw(len(table))
    return False


def _parts(state: Any) -> tuple[NDArray[np.uint32], int]:
    """Return the table of a Mersenne Twister's state, and its place there."""
    table, *rest = state[1:]
    if isinstance(table, tuple):  # random's
        return np.array(table[:-1], np.uint32), table[-1]
    return table, rest[0]


NAMES = ("random", "numpy.random", "torch")


def _torch() -> Any:
    """Return torch if it has been loaded; None for another module of that name."""
    torch = sys.modules.get("torch")
    return torch if hasattr(torch, "get_rng_state") else None


def seed(number: int) -> None:
    """Seed all of them, with 0 ≤ number < 2³²."""
    random.seed(number)
    np.random.seed(number)
    if torch := _torch():
        torch.manual_seed(number)


def read() -> Any:
    """Return their states."""
    torch = _torch()
    return random.getstate(), np.random.get_state(), torch.get_rng_state() if torch else None


def write(states: Any) -> None:
    """Put states back."""
    random.setstate(states[0])
    np.random.set_state(states[1])
    if states[2] is not None:
        sys.modules["torch"].set_rng_state(states[2])
