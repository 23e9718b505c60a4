"""rlrun's environments as those of Gymnasium: ``make("riverswim")``, ``gymnasium.make("rlrun/RiverSwim-v0")``.

The import of this module registers the bundled ones with Gymnasium, whose ids may
name it, too: ``gymnasium.make("rlrun.to_gymnasium:rlrun/RiverSwim-v0")``. Gymnasium before 1.0
calls register by itself, an entry point of the package; later ones load no entry points.

A plugin runs in a process of its own, as it does under rlrun: a bundled one by the
program rlrun (in the path, or named by the variable ``RLRUN``), any other by its
own. ``reset(seed=…)`` fixes a run: the seeds of its episodes follow from it.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium.envs import registration
from gymnasium.envs.registration import EnvSpec

from rlrun import spaces
from rlrun._gymnasium_spaces import to_gymnasium
from rlrun._lanes import CONTINUE, NEW_EPISODE, NEW_RUN
from rlrun.client import Process
from rlrun.errors import InvalidAction, InvalidAnswer
from rlrun.spaces import Array

if TYPE_CHECKING:
    from rlrun._to_gymnasium_vector import RlrunVectorEnv

ENVIRONMENTS = {
    "BernoulliBandit": "bernoulli-bandit",
    "GaussianBandit": "gaussian-bandit",
    "ContextualBandit": "contextual-bandit",
    "Family": "family",
    "RiverSwim": "riverswim",
    "RiverSwimStrehl": "riverswim-strehl",
    "SixArms": "sixarms",
    "Chain": "chain",
    "DoubleLoop": "doubleloop",
    "Maze": "maze",
    "DeepSea": "deepsea",
    "FourRooms": "fourrooms",
    "FrozenLake": "frozenlake",
    "Taxi": "taxi",
    "CliffWalking": "cliffwalking",
    "Garnet": "garnet",
    "GridWorld": "gridworld",
    "MountainCar": "mountaincar",
    "CartPole": "cartpole",
    "Acrobot": "acrobot",
    "PuddleWorld": "puddleworld",
}
"""The bundled environments that need no parameter: rlrun/NAME-v0 in Gymnasium, and the plugin's name."""


FPS = 10
"""The pace of frames where the plugin knows none."""

ABILITIES = {"ansi": "render", "rgb_array": "frames"}
"""The abilities behind render modes."""


def make(plugin: str | Sequence[str], **params: Any) -> RlrunEnv:
    """Start a plugin and return its environment. params are the plugin's parameters.

    A plugin ``gymnasium:ID`` is an environment of Gymnasium as rlrun steps it.
    """
    return RlrunEnv(plugin, **params)


def make_vec(plugin: str | Sequence[str], num_envs: int, **params: Any) -> RlrunVectorEnv:
    """Start a plugin and return lanes of its environment, which are started anew the step after their end.

    It needs Gymnasium 1.1; one copy (make) also works with 0.29, which CleanRL pins.
    """
    from rlrun._to_gymnasium_vector import RlrunVectorEnv  # noqa: PLC0415  Gymnasium 0.29 cannot import it

    return RlrunVectorEnv(plugin, num_envs, **params)


def register() -> None:
    """Register the bundled environments, whose programs start when they are made, unless that is done."""
    for name, plugin in ENVIRONMENTS.items():
        if f"rlrun/{name}-v0" not in registration.registry:
            registration.register(
                f"rlrun/{name}-v0",
                entry_point="rlrun.to_gymnasium:RlrunEnv",
                vector_entry_point="rlrun._to_gymnasium_vector:RlrunVectorEnv",
                kwargs={"plugin": plugin},
            )


def _spec(plugin: str | Sequence[str], params: dict[str, Any], described: str) -> EnvSpec:
    """Return the spec that makes the environment again. described is the plugin's id, namespace/name@version."""
    name = next((name for name, known in ENVIRONMENTS.items() if known == plugin), None)
    program, _, version = described.partition("@")
    derived = f"{re.sub(r'[^A-Za-z0-9_/-]', '-', program)}-v{version if version.isdecimal() else 0}"
    return EnvSpec(
        id=f"rlrun/{name}-v0" if name else derived,
        entry_point="rlrun.to_gymnasium:RlrunEnv",
        vector_entry_point="rlrun._to_gymnasium_vector:RlrunVectorEnv",
        kwargs={"plugin": plugin} | params,
    )


class Lanes:
    """What both kinds of environment share: lanes in a process."""

    def __init__(self, plugin: str | Sequence[str], lanes: int, params: dict[str, Any]) -> None:
        process = Process(plugin)
        try:
            self.client = process.open(params, lanes)
        except BaseException:
            process.close()
            raise
        self.spec = self.client.spec
        self.modes = [mode for mode, ability in ABILITIES.items() if ability in process.description.abilities]
        self.fps = process.description.frames_per_second or FPS
        self.made = _spec(plugin, params, process.description.id)
        self.actions = spaces.zeros(self.spec.action, lanes)
        self.finalizer = weakref.finalize(self, self.client.close)

    def mode(self, wanted: str | None) -> str | None:
        """Return a render mode, None in the place of ansi where there is no text."""
        if wanted in (None, "ansi", *self.modes):
            return wanted if wanted in self.modes else None
        self.finalizer()
        raise ValueError(f"{self.made.id} has no render mode {wanted!r}; there are {self.modes}")

    def draw(self, mode: str | None, lane: int) -> Any:
        """Draw a lane."""
        return None if mode is None else self.client.ask(ABILITIES[mode], lane)


def episode(rng: np.random.Generator) -> Any:
    """Draw the seed of a lane's next episode."""
    return rng.integers(0, 2**64, dtype=np.uint64)


class RlrunEnv(gymnasium.Env[Any, Any]):
    """One lane of a plugin's environment."""

    metadata: dict[str, Any] = {  # noqa: RUF012  as Gymnasium declares it
        "render_modes": ["ansi", "rgb_array"],
        "render_fps": FPS,
    }

    def __init__(self, plugin: str | Sequence[str], render_mode: str | None = "ansi", **params: Any) -> None:
        self._lanes = Lanes(plugin, 1, params)
        spec = self._lanes.spec
        self.observation_space, self.action_space = to_gymnasium(spec.observation), to_gymnasium(spec.action)
        self.spec = self._lanes.made
        self.metadata = {"render_modes": self._lanes.modes, "render_fps": self._lanes.fps}
        self.render_mode = self._lanes.mode(render_mode)
        self._begun = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode, of a new run if seed is given. There are no options."""
        if options:
            raise ValueError(f"reset takes no options, and got {sorted(options)}; make takes parameters")
        super().reset(seed=seed)
        lanes = self._lanes
        signal = NEW_EPISODE if self._begun and seed is None else NEW_RUN
        self._begun = True
        out = lanes.client.step(np.full(1, signal, np.uint8), np.array([episode(self.np_random)]), lanes.actions)
        return self._value(out.observations), self._info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take an action."""
        space = self._lanes.spec.action
        actions = spaces.zeros(space, 1)
        try:
            actions[0] = spaces.as_entry(space, action, "the action")
        except InvalidAnswer as e:
            raise InvalidAction(str(e)) from None
        out = self._lanes.client.step(np.full(1, CONTINUE, np.uint8), None, actions)
        return (
            self._value(out.observations),
            float(out.rewards[0]),
            bool(out.terminated[0]),
            bool(out.truncated[0]),
            self._info(),
        )

    def _info(self) -> dict[str, Any]:
        masks = self._lanes.client.masks
        return {} if masks is None else {"action_mask": masks[0]}

    def _value(self, observations: Array) -> Any:
        space = self._lanes.spec.observation
        value = space.value(observations[0])
        return np.int64(value) if isinstance(space, spaces.Discrete) else value

    def render(self) -> Any:
        """Draw the state: as text, or as an array of height × width × 3."""
        return self._lanes.draw(self.render_mode, 0)

    def close(self) -> None:
        """End the plugin's process."""
        self._lanes.finalizer()


register()
