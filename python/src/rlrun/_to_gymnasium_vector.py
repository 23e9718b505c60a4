"""Lanes of a plugin's environment as one of Gymnasium's vectors, which are so since Gymnasium 1.1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from rlrun import spaces
from rlrun._gymnasium_spaces import to_gymnasium
from rlrun._lanes import CONTINUE, IDLE, NEW_EPISODE, NEW_RUN
from rlrun.errors import InvalidAction, InvalidAnswer, NeedsReset
from rlrun.to_gymnasium import FPS, Lanes, episode


class RlrunVectorEnv(VectorEnv[Any, Any, Any]):
    """Lanes of a plugin's environment, stepped in one message."""

    metadata: dict[str, Any] = {  # noqa: RUF012  as Gymnasium declares it
        "render_modes": ["ansi", "rgb_array"],
        "render_fps": FPS,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self, plugin: str | Sequence[str], num_envs: int, render_mode: str | None = "ansi", **params: Any
    ) -> None:
        self._lanes = Lanes(plugin, num_envs, params)
        self.num_envs = num_envs
        self.spec = self._lanes.made
        spec = self._lanes.spec
        self.single_observation_space = to_gymnasium(spec.observation)
        self.single_action_space = to_gymnasium(spec.action)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.metadata = {
            "render_modes": self._lanes.modes,
            "render_fps": self._lanes.fps,
            "autoreset_mode": AutoresetMode.NEXT_STEP,
        }
        self.render_mode = self._lanes.mode(render_mode)
        self._ended = np.zeros(num_envs, np.bool_)
        self._observations = spaces.zeros(spec.observation, num_envs)
        self._rngs: list[np.random.Generator | None] = [None] * num_envs  # of a lane's run; None before the first

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode in all lanes, or in those of ``options["reset_mask"]``.

        A seed begins a run, as in one copy: a list has one for each lane; with a
        number n lane i has the seed n + i, as in Gymnasium's own vectors.
        """
        n = self.num_envs
        if unknown := sorted((options or {}).keys() - {"reset_mask"}):
            raise ValueError(f"reset takes the option reset_mask alone, and got {unknown}; make_vec takes parameters")
        if seed is None or isinstance(seed, (int, np.integer)):
            super().reset(seed=None if seed is None else int(seed))
            given = [None if seed is None else int(seed) + i for i in range(n)]
        else:
            given = [None if s is None else int(s) for s in seed]
            if len(given) != n:
                raise ValueError(f"{len(given)} seeds for {n} environments")
        mask = np.asarray((options or {}).get("reset_mask", np.ones(n, np.bool_)))
        if mask.dtype != np.bool_ or mask.shape != (n,):
            raise ValueError(f"reset_mask is {mask.dtype} of shape {mask.shape}, must be bool of shape {(n,)}")
        signals, seeds = np.full(n, IDLE, np.uint8), np.zeros(n, np.uint64)
        for i in np.flatnonzero(mask):
            rng = self._rngs[i]
            signals[i] = NEW_EPISODE if rng is not None and given[i] is None else NEW_RUN
            if rng is None or given[i] is not None:
                rng, _ = seeding.np_random(given[i])
                self._rngs[i] = rng
            seeds[i] = episode(rng)
        out = self._lanes.client.step(signals, seeds, self._lanes.actions)
        self._observations = self._observations.copy()
        self._observations[mask] = out.observations[mask]
        self._ended = self._ended & ~mask
        return self._observations.copy(), self._info(mask)

    def _info(self, lanes: NDArray[np.bool_]) -> dict[str, Any]:
        masks = self._lanes.client.masks
        return {} if masks is None else {"action_mask": masks, "_action_mask": lanes.copy()}

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Take an action in every lane whose episode goes on, and start the others anew."""
        try:
            column = spaces.as_column(self._lanes.spec.action, actions, self.num_envs, "actions")
        except InvalidAnswer as e:
            raise InvalidAction(str(e), lane=e.lane) from None
        # All lanes are checked before any is stepped, so that an error loses no step of another lane.
        if new := [i for i, rng in enumerate(self._rngs) if rng is None]:
            raise NeedsReset(f"environment {new[0]} needs a reset", lane=new[0])
        bad = self._lanes.spec.action.outside(column) & ~self._ended
        if bad.any():
            lane = int(bad.argmax())
            message = f"action {column[lane].tolist()} of environment {lane} is not in {self._lanes.spec.action}"
            raise InvalidAction(message, lane=lane)
        seeds = None
        signals = np.full(self.num_envs, CONTINUE, np.uint8)
        if self._ended.any():
            signals[self._ended] = NEW_EPISODE
            seeds = np.zeros(self.num_envs, np.uint64)
            for i in np.flatnonzero(self._ended):
                rng = self._rngs[i]
                assert rng is not None  # its episode has ended, so it had begun
                seeds[i] = episode(rng)
        out = self._lanes.client.step(signals, seeds, column)
        self._ended = out.terminated | out.truncated
        self._observations = out.observations
        info = self._info(np.ones(self.num_envs, np.bool_))
        return out.observations.copy(), out.rewards.copy(), out.terminated.copy(), out.truncated.copy(), info

    def render(self) -> Any:
        """Draw every lane."""
        if self.render_mode is None:
            return None
        return tuple(self._lanes.draw(self.render_mode, i) for i in range(self.num_envs))

    def close_extras(self, **kwargs: Any) -> None:
        """End the plugin's process."""
        self._lanes.finalizer()
