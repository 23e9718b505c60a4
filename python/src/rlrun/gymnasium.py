"""Any environment of Gymnasium as a plugin: ``python -m rlrun.gymnasium FrozenLake-v1``.

In a config it is ``plugin: gymnasium:FrozenLake-v1``, and its params are the
arguments of ``gymnasium.make``. An id may name the module that registers it, as in
Gymnasium: ``ale_py:ALE/Pong-v5``.

An episode is started with ``reset(seed=…)``, the lane's seed of that episode as the
host drew it, so that it is the one that Gymnasium itself plays from that seed.
What Gymnasium has a batch of its own for, CartPole and the phys2d ones, is stepped by it,
everything else copy by copy.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import itertools
import json
import re
import sys
from collections.abc import Callable
from typing import Any, cast

import gymnasium
import numpy as np
from gymnasium import spaces as gs
from gymnasium.envs.registration import EnvSpec, load_env_creator

from rlrun import params, spaces
from rlrun._gymnasium_batches import batch_of, functional_seed, is_functional
from rlrun._lanes import Copies
from rlrun._pb import plugin_pb2 as pb
from rlrun.environment import Environment, Model, Spec, TimeStep, VectorEnvironment
from rlrun.errors import InvalidParams, Unsupported
from rlrun.serve import check_host, serve_plugin
from rlrun.spaces import Space


class GymnasiumPlugin:
    """An environment that is registered with Gymnasium."""

    def __init__(self, env_id: str, kwargs: dict[str, Any] | None = None) -> None:
        self.env_id, self.kwargs = env_id, kwargs or {}
        self.registered = _registered(env_id)
        self.text = "ansi" in getattr(_creator(self.registered), "metadata", {}).get("render_modes", [])
        probe = self._make({})
        try:
            capabilities = ["model"] if model_of(probe) else []
            if probe.render_mode == "ansi":
                capabilities.append("render")
            space_of(probe.observation_space)
            space_of(probe.action_space)
        finally:
            probe.close()
        where = self.registered.namespace
        self.name = ".".join(filter(None, (where, self.registered.name)))
        identity = f"gymnasium/{re.sub(r'[^a-z0-9_.-]', '.', self.name.lower())}@{self.registered.version or 0}"
        self.description = pb.DescribeReply(
            id=identity,
            kind="environment",
            doc=f"{self.registered.id} of Gymnasium {gymnasium.__version__}.",
            params=json.dumps(self._schema()).encode(),
            capabilities=capabilities,
        )

    def environment(self, data: bytes) -> VectorEnvironment:
        """Make an environment, not opened yet."""
        kwargs = params.decode(data)
        first = self._make(kwargs)
        spec = spec_of(first)
        if batch := batch_of(self.registered, self.kwargs | kwargs, spec):
            first.close()
            return batch
        model = model_of(first)
        made = [first]
        copies = Copies(lambda: Bridge(made.pop() if made else self._make(kwargs), spec, model))
        copies.has_model = model is not None  # type: ignore[attr-defined]
        return copies

    def agent(self, _data: bytes) -> Any:
        """Raise Unsupported."""
        raise Unsupported(f"{self.description.id} is an environment, not an agent")

    def _make(self, kwargs: dict[str, Any]) -> gymnasium.Env[Any, Any]:
        arguments = self.kwargs | kwargs
        if self.text:
            arguments = {"render_mode": "ansi"} | arguments
        try:
            return gymnasium.make(self.env_id, disable_env_checker=True, **arguments)
        except gymnasium.error.DependencyNotInstalled as e:
            raise Unsupported(f"{self.env_id}: {e}") from e
        except (TypeError, ValueError, AssertionError, KeyError, gymnasium.error.Error) as e:
            raise InvalidParams(f"{self.env_id} does not take {kwargs}: {e}") from e

    def _schema(self) -> dict[str, Any]:
        """Return the schema of the entry point's arguments, as far as they can be told."""
        properties: dict[str, Any] = {
            "max_episode_steps": {"type": "integer", "description": "Steps after which an episode is truncated."}
        }
        if self.registered.max_episode_steps is not None:
            properties["max_episode_steps"]["default"] = self.registered.max_episode_steps
        open_ended = True
        creator = _creator(self.registered)
        if creator is not None:
            arguments = inspect.signature(creator).parameters.values()
            open_ended = any(p.kind == p.VAR_KEYWORD for p in arguments)
            defaults = self.registered.kwargs | self.kwargs
            for p in arguments:
                if p.kind in (p.VAR_KEYWORD, p.VAR_POSITIONAL) or p.name == "render_mode":
                    continue
                default = defaults.get(p.name, p.default)
                properties[p.name] = {}
                if isinstance(default, (bool, int, float, str)):
                    properties[p.name]["default"] = default
        return {"type": "object", "properties": properties, "additionalProperties": open_ended}


def _creator(registered: EnvSpec) -> Any:
    entry = registered.entry_point
    return load_env_creator(entry) if isinstance(entry, str) else entry


def _registered(env_id: str) -> EnvSpec:
    module, colon, name = env_id.rpartition(":")
    if colon:
        importlib.import_module(module)
    return gymnasium.spec(name)


class Bridge(Environment):
    """One copy."""

    id = ""

    def __init__(self, env: gymnasium.Env[Any, Any], spec: Spec, model: Model | None) -> None:
        self._env, self._spec, self._model = env, spec, model
        _, self._encode = space_of(env.observation_space)
        self._decode = decoder(env.action_space)
        self._seed: Callable[[int], int] = functional_seed if is_functional(env) else int

    @property
    def spec(self) -> Spec:
        """Describe the environment."""
        return self._spec

    def reset(self, seed: int) -> Any:
        """Start an episode."""
        observation, _ = self._env.reset(seed=self._seed(seed))
        return self._encode(observation)

    def step(self, action: Any) -> TimeStep:
        """Take an action."""
        observation, reward, terminated, truncated, _ = self._env.step(self._decode(action))
        return TimeStep(self._encode(observation), float(reward), bool(terminated), bool(truncated))

    def model(self) -> Model:
        """Return the model."""
        if self._model is None:
            raise Unsupported("there is no model")
        return self._model

    def render(self) -> str:
        """Draw the current state."""
        return str(self._env.render())

    def close(self) -> None:
        """Close the environment."""
        self._env.close()


def spec_of(env: gymnasium.Env[Any, Any]) -> Spec:
    """Describe an environment. Bounds of its rewards are known where its dynamics are."""
    observation, _ = space_of(env.observation_space)
    action, _ = space_of(env.action_space)
    decoder(env.action_space)
    low, high = -np.inf, np.inf
    if table := _table(env):
        rewards = [float(r) for row in table.values() for outcomes in row.values() for p, _, r, _ in outcomes if p]
        low, high = min(rewards), max(rewards)
    return Spec(observation, action, reward_low=low, reward_high=high)


def _table(env: gymnasium.Env[Any, Any]) -> Any:
    """Return the table of dynamics that the toy-text environments have: P[s][a] = [(p, s', reward, ends), …]."""
    raw: Any = env.unwrapped
    finite = isinstance(env.observation_space, gs.Discrete) and isinstance(env.action_space, gs.Discrete)
    table = getattr(raw, "P", None)
    if not finite or not isinstance(table, dict) or getattr(raw, "fickle_passenger", False):
        return None
    return table if hasattr(raw, "initial_state_distrib") else None


def model_of(env: gymnasium.Env[Any, Any]) -> Model | None:
    """Return the model of an environment that has its dynamics in a table."""
    table, raw = _table(env), cast(Any, env.unwrapped)
    if not table:
        return None
    starts = [(int(s), float(raw.initial_state_distrib[s])) for s in np.flatnonzero(raw.initial_state_distrib)]
    ends, seen = set[int](), {s for s, _ in starts}
    waiting = list(seen)
    while waiting:
        for p, t, _, end in (o for outcomes in table[waiting.pop()].values() for o in outcomes):
            if p and end:
                ends.add(int(t))
            elif p and int(t) not in seen:
                seen.add(int(t))
                waiting.append(int(t))
    if ends & seen:
        return None  # whether such a state ends the episode depends on more than the state
    # A state that is not acted in, be it because it ends the episode or cannot be reached, is terminal.
    transitions: list[tuple[int, int, int, float]] = []
    rewards: list[tuple[int, int, float]] = []
    for s, a in itertools.product(sorted(seen), range(len(table[0]))):
        chances: dict[int, float] = {}
        for p, t, _, _ in table[s][a]:
            chances[int(t)] = chances.get(int(t), 0.0) + float(p)
        transitions += [(s, a, t, p) for t, p in chances.items() if p > 0]
        rewards.append((s, a, float(sum(p * r for p, _, r, _ in table[s][a]))))
    return Model(len(table), len(table[0]), transitions, rewards, starts, sorted(set(range(len(table))) - seen))


def space_of(space: gs.Space[Any]) -> tuple[Space, Callable[[Any], Any]]:
    """Return the space that stands for one of Gymnasium's, and how its values are written in it."""
    if isinstance(space, gs.Discrete):
        return spaces.Discrete(int(space.n), int(space.start)), lambda x: x
    if isinstance(space, gs.MultiDiscrete):
        start = np.ravel(space.start)
        return spaces.MultiDiscrete(np.ravel(space.nvec).tolist()), lambda x: np.ravel(x) - start
    if isinstance(space, gs.MultiBinary):
        return spaces.MultiDiscrete([2] * int(np.prod(space.shape))), np.ravel
    if isinstance(space, gs.Box):
        name = space.dtype.name if space.dtype is not None else "float64"
        known = name if name in ("float32", "uint8") else "float64"
        box = spaces.Box(space.low, space.high, space.shape, known)  # type: ignore[arg-type]
        return box, lambda x: np.asarray(x, box.dtype)
    if isinstance(space, gs.Tuple) and all(isinstance(s, gs.Discrete) for s in space.spaces):
        parts = [s for s in space.spaces if isinstance(s, gs.Discrete)]
        return (
            spaces.MultiDiscrete([int(s.n) for s in parts]),
            lambda x: np.array([int(v) - int(s.start) for v, s in zip(x, parts, strict=True)]),
        )
    if space.is_np_flattenable:
        flat, encode = space_of(gs.flatten_space(space))
        return flat, lambda x: encode(gs.flatten(space, x))
    raise Unsupported(f"rlrun has no space that stands for Gymnasium's {space}")


def decoder(space: gs.Space[Any]) -> Callable[[Any], Any]:
    """Return how actions are read that were written as space_of says."""
    if isinstance(space, gs.Discrete):
        return np.int64
    if isinstance(space, gs.MultiDiscrete):
        return lambda x: (x.reshape(space.shape) + space.start).astype(space.dtype)
    if isinstance(space, gs.MultiBinary):
        return lambda x: x.reshape(space.shape).astype(space.dtype)
    if isinstance(space, gs.Box):
        return lambda x: x.astype(space.dtype)
    if isinstance(space, gs.Tuple) and all(isinstance(s, gs.Discrete) for s in space.spaces):
        starts = [s.start for s in space.spaces if isinstance(s, gs.Discrete)]
        return lambda x: tuple(np.int64(v + start) for v, start in zip(x.tolist(), starts, strict=True))
    raise Unsupported(f"rlrun has no space that stands for Gymnasium's {space} as one of actions")


def main() -> None:
    """Serve the environment that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m rlrun.gymnasium", description=__doc__, add_help=True)
    parser.add_argument("env_id", metavar="ID", help="such as FrozenLake-v1")
    parser.add_argument("--kwargs", default="{}", help="arguments of gymnasium.make, as JSON", type=json.loads)
    arguments = parser.parse_args()
    check_host()
    try:
        plugin = GymnasiumPlugin(arguments.env_id, arguments.kwargs)
    except (gymnasium.error.Error, ImportError, InvalidParams, Unsupported) as e:
        sys.exit(f"gymnasium:{arguments.env_id}: {e}")
    serve_plugin(plugin)


if __name__ == "__main__":
    main()
