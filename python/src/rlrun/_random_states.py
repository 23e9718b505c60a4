"""The random generators that a process shares: those of ``random``, ``numpy.random`` and torch."""

from __future__ import annotations

import random
import sys
from typing import Any

import numpy as np


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


def seed(number: int) -> None:
    """Seed all of them, with 0 ≤ number < 2³²."""
    random.seed(number)
    np.random.seed(number)
    if torch := sys.modules.get("torch"):
        torch.manual_seed(number)


def read() -> Any:
    """Return their states."""
    torch = sys.modules.get("torch")
    return random.getstate(), np.random.get_state(), torch.get_rng_state() if torch else None


def write(states: Any) -> None:
    """Put states back."""
    random.setstate(states[0])
    np.random.set_state(states[1])
    if states[2] is not None:
        sys.modules["torch"].set_rng_state(states[2])
