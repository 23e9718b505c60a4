"""Environments with spaces of every kind, for test_spaces_law: each is a process, so they import little."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces as gs

INF = np.inf
SPACES: dict[str, gs.Space[Any]] = {
    "discrete": gs.Discrete(5),
    "discrete from a start": gs.Discrete(4, start=-7),
    "discrete of int8": gs.Discrete(3, start=1),
    "multi-discrete": gs.MultiDiscrete([2, 5, 3]),
    "multi-discrete from starts": gs.MultiDiscrete([[2, 3], [4, 1]], start=[[-1, 0], [3, 9]]),
    "multi-binary": gs.MultiBinary(3),
    "multi-binary of a shape": gs.MultiBinary((2, 2)),
    "tuple": gs.Tuple((gs.Discrete(2), gs.Discrete(3, start=2))),
    "int64": gs.Box(-1, 1, (1,), np.int64),
    "int64, a number": gs.Box(-1, 1, (), np.int64),
    "int8": gs.Box(-3, 3, (2,), np.int8),
    "int32, a bound each": gs.Box(np.array([0, -5]), np.array([9, -3]), dtype=np.int32),
    "uint8": gs.Box(0, 255, (2,), np.uint8),
    "some bytes": gs.Box(3, 6, (2,), np.uint8),
    "uint16": gs.Box(65530, 65535, (1,), np.uint16),
    "uint64": gs.Box(7, 9, (1,), np.uint64),
    "bool": gs.Box(0, 1, (2,), np.bool_),
    "int64 from a bound on": gs.Box(2, INF, (2,), np.int64),
    "int64 up to a bound": gs.Box(-INF, 2, (2,), np.int64),
    "int64 without bounds": gs.Box(-INF, INF, (1,), np.int64),
    "int16 without bounds": gs.Box(-INF, INF, (1,), np.int16),
    "float32": gs.Box(-2, 4, (2,), np.float32),
    "float64": gs.Box(-2, 4, (2, 2), np.float64),
    "float16": gs.Box(-2, 4, (1,), np.float16),
    "float32 from a bound on": gs.Box(1, INF, (1,), np.float32),
    "float64 up to a bound": gs.Box(-INF, 1, (1,), np.float64),
    "float64 without bounds": gs.Box(-INF, INF, (1,), np.float64),
    "float32, every kind of bounds": gs.Box(
        np.array([-1, 0, -INF, -INF], np.float32), np.array([1, INF, 0, INF], np.float32)
    ),
}
STEPS = 2000


class Recorder(gymnasium.Env[Any, Any]):
    """An environment that writes the actions that it gets to a file, all of which must be in the space."""

    observation_space = gs.Discrete(1)

    def __init__(self, name: str, file: str) -> None:
        self.action_space, self._file = SPACES[name], Path(file)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        self._seen: list[Any] = []
        return 0, {}

    def step(self, action: Any) -> Any:
        assert self.action_space.contains(action), f"{action!r} is not in {self.action_space}"
        self._seen.append(row(action))
        if len(self._seen) == STEPS:
            self._file.write_text(json.dumps(self._seen))
        return 0, 0.0, False, False, {}


gymnasium.register("tests/Recorder-v0", entry_point=Recorder)


def row(value: Any) -> list[float]:
    """Return a value as a list of numbers."""
    return [float(x) for x in np.ravel(np.asarray(value))]


class Match(gymnasium.Env[Any, Any]):
    """Pays 1 for the action that is the difference of two bits, all of them integers of boxes."""

    observation_space = gs.Box(0, 1, (2,), np.int32)
    action_space = gs.Box(-1, 1, (), np.int8)

    def __init__(self, states: bool = True) -> None:
        if not states:
            self.observation_space = gs.Box(1, 1, (2,), np.int32)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        return self._draw(), {}

    def step(self, action: Any) -> Any:
        reward = float(action == self._bits[0] - self._bits[1])
        return self._draw(), reward, False, False, {}

    def _draw(self) -> Any:
        self._bits = self.np_random.integers(self.observation_space.low, 2, dtype=np.int32)
        return self._bits


gymnasium.register("tests/Match-v0", entry_point=Match)
