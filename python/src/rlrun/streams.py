"""Random numbers for batches: a stream a lane, drawn without a Python loop."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Lanes = slice | NDArray[np.intp]
"""Which lanes a call is about: ``slice(None)`` for all, else their numbers."""

_GAMMA = np.uint64(0x9E3779B97F4A7C15)


def _mix(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    out: NDArray[np.uint64] = z ^ (z >> np.uint64(31))
    return out


class Streams:
    """A generator per lane: SplitMix64 (Steele, Lea & Flood 2014), over columns.

    What a lane draws depends on its seed and on what it drew before, not on the
    other lanes. Every method draws for the lanes it is told, and for no other.
    ``state`` is all there is of a stream, a number a lane.
    """

    def __init__(self, lanes: int) -> None:
        self.state = np.zeros(lanes, np.uint64)

    def seed(self, lanes: Lanes, seeds: NDArray[np.uint64]) -> None:
        """Restart the streams of these lanes, each with its seed, 0 ≤ seed < 2⁶⁴."""
        self.state[lanes] = _mix(seeds + _GAMMA)

    def bits(self, lanes: Lanes, size: int = 1) -> NDArray[np.uint64]:
        """Draw ``size`` numbers of 64 random bits per lane: an array of uint64 of shape (lanes, size)."""
        state = self.state[lanes]
        steps = np.arange(1, size + 1, dtype=np.uint64) * _GAMMA
        draws = _mix(state[:, None] + steps)
        self.state[lanes] = state + steps[-1]
        return draws

    def random(self, lanes: Lanes, size: int | None = None) -> NDArray[np.float64]:
        """Draw from [0, 1): an array (lanes,) or, with ``size``, (lanes, size)."""
        return _drop((self.bits(lanes, size or 1) >> np.uint64(11)) * 2.0**-53, size)

    def integers(self, lanes: Lanes, high: Any, size: int | None = None) -> NDArray[np.int64]:
        """Draw from {0, …, high - 1}, with high ≤ 2³²; high may differ between lanes."""
        u = (self.bits(lanes, size or 1) >> np.uint64(11)) * 2.0**-53
        out: NDArray[np.int64] = np.floor(_drop(u, size) * high).astype(np.int64)
        return out

    def normal(self, lanes: Lanes, size: int | None = None) -> NDArray[np.float64]:
        """Draw from the standard normal distribution (Box & Muller 1958)."""
        n = size or 1
        u = (self.bits(lanes, 2 * n) >> np.uint64(11)) * 2.0**-53
        z = np.sqrt(-2 * np.log1p(-u[:, :n])) * np.cos(2 * np.pi * u[:, n:])
        return _drop(z, size)


def _drop(draws: NDArray[Any], size: int | None) -> NDArray[Any]:
    return draws[:, 0] if size is None else draws
