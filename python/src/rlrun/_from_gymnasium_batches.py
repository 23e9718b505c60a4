"""Environments that Gymnasium steps many at a time itself.

Its interface of a batch has one generator for all lanes and restarts lanes by itself, where
rlrun starts each from a seed of its own when it says so. What a lane sees would depend on
its neighbours. So the batch's arithmetic is Gymnasium's, and the lanes' states, seeds and
ends are kept here, so that each lane is what a single copy would be, bit for bit.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.classic_control.cartpole import CartPoleEnv, CartPoleVectorEnv
from gymnasium.envs.registration import EnvSpec, load_env_creator
from gymnasium.utils.seeding import np_random
from numpy.typing import NDArray

from rlrun._from_gymnasium_seeds import narrow
from rlrun.environment import Spec, TimeSteps, VectorEnvironment
from rlrun.errors import Unsupported
from rlrun.spaces import Array
from rlrun.streams import Lanes


def batch_of(registered: EnvSpec, kwargs: dict[str, Any], spec: Spec) -> VectorEnvironment | None:
    """Return Gymnasium's own batch, not opened yet, or None where there is none whose lanes can be kept apart."""
    entry = registered.vector_entry_point
    if entry is None or registered.additional_wrappers:
        return None

    def make(lanes: int) -> Any:
        env: Any = gymnasium.make_vec(registered, num_envs=lanes, vectorization_mode="vector_entry_point", **kwargs)
        return env

    kind: Any = entry if callable(entry) else load_env_creator(entry)
    if kind is CartPoleVectorEnv:
        return CartPoleBatch(make, dataclasses.replace(spec, reward_low=-1, reward_high=1))
    functional = _functional()
    if functional and isinstance(kind, type) and issubclass(kind, functional.FunctionalJaxVectorEnv):
        return FunctionalBatch(make, spec)
    return None


def _functional() -> Any:
    """Return Gymnasium's module of environments in JAX if an environment has loaded it, as it needs JAX."""
    return sys.modules.get("gymnasium.envs.functional_jax_env")


def is_functional(env: gymnasium.Env[Any, Any]) -> bool:
    """Say whether an environment is a single copy of one that is written in JAX as functions of its state."""
    functional = _functional()
    return bool(functional) and isinstance(env.unwrapped, functional.FunctionalJaxEnv)


class _Batch(VectorEnvironment):
    """A batch that make makes for a number of lanes."""

    id = ""
    copies: Callable[[], VectorEnvironment] | None = None
    """Makes single copies in the batch's place, which are faster where there are few lanes."""
    _env: Any  # since open

    def __init__(self, make: Callable[[int], Any], spec: Spec) -> None:
        self._make, self._spec = make, spec

    @property
    def spec(self) -> Spec:
        """Describe the environment."""
        return self._spec

    def close(self) -> None:
        """Close the batch."""
        self._env.close()


class CartPoleBatch(_Batch):
    """CartPole, by NumPy."""

    def open(self, lanes: int) -> None:
        """Make the batch."""
        self._env, self._lanes = self._make(lanes), lanes
        self._env.reset(seed=0)
        self._artist: Any = None

    def render_frame(self, lane: int) -> Array:
        """Draw a lane as a single copy draws itself."""
        self._artist = self._artist or CartPoleEnv(render_mode="rgb_array")
        self._artist.state = self._env.state[:, lane]
        try:
            return np.asarray(self._artist.render())
        except gymnasium.error.DependencyNotInstalled as e:
            raise Unsupported(f"the frame cannot be drawn: {e}") from e

    def reset(self, lanes: Lanes, seeds: NDArray[np.uint64]) -> Array:
        """Start episodes as single copies would from these seeds."""
        env = self._env
        starts = [np_random(seed)[0].uniform(low=env.low, high=env.high, size=4) for seed in seeds.tolist()]
        env.state[:, lanes] = np.transpose(starts)
        env.steps[lanes] = 0
        env.prev_done[lanes] = False
        observations: Array = np.array(starts, np.float32)
        return observations

    def step(self, lanes: Lanes, actions: Array) -> TimeSteps:
        """Step all lanes, and put those back that were not to be stepped."""
        env = self._env
        if isinstance(lanes, slice):
            observations, rewards, terminated, truncated, _ = env.step(actions)
        else:
            before = env.state, env.steps.copy(), env.prev_done.copy()
            everybody = np.zeros(self._lanes, np.int64)
            everybody[lanes] = actions
            env.prev_done[:] = False  # so that nothing is drawn for lanes that wait for their reset
            observations, rewards, terminated, truncated, _ = (c[lanes] if len(c) else c for c in env.step(everybody))
            after = env.state, env.steps, env.prev_done
            env.state, env.steps, env.prev_done = before
            for kept, new in zip(before, after, strict=True):
                kept[..., lanes] = new[..., lanes]
        return TimeSteps(observations, rewards.astype(np.float64), terminated, truncated)


class FunctionalBatch(_Batch):
    """An environment that is written in JAX as functions of its state (FuncEnv), mapped over the lanes by vmap.

    The keys are those of FunctionalJaxEnv, Gymnasium's single copy, one per lane. All lanes are
    computed in every call, as JAX compiles anew for every number of them.
    """

    def open(self, lanes: int) -> None:
        """Make the batch."""
        import jax  # noqa: PLC0415  an optional dependency of Gymnasium

        self._jax, self._env = jax, self._make(lanes)
        self._steps = np.zeros(lanes, np.int64)
        self._split = jax.vmap(jax.random.split)
        self._keys = np.stack([np.asarray(jax.random.PRNGKey(0))] * lanes)
        self._state = self._env.func_env.initial(rng=self._keys)

    def reset(self, lanes: Lanes, seeds: NDArray[np.uint64]) -> Array:
        """Start episodes as single copies would from these seeds."""
        keys = self._keys.copy()
        keys[lanes] = [np.asarray(self._jax.random.PRNGKey(narrow(seed, 32))) for seed in seeds.tolist()]
        now, after = self._draw(keys)
        self._keep(lanes, after, self._env.func_env.initial(rng=now))
        self._steps[lanes] = 0
        return np.asarray(self._env.func_env.observation(self._state, now))[lanes]

    def step(self, lanes: Lanes, actions: Array) -> TimeSteps:
        """Step all lanes, and keep what becomes of those that were to be stepped."""
        env = self._env.func_env
        everybody = np.zeros((len(self._steps), *actions.shape[1:]), actions.dtype)
        everybody[lanes] = actions
        now, after = self._draw(self._keys)
        state = env.transition(self._state, everybody, now)
        columns = (
            env.observation(state, now),
            env.reward(self._state, everybody, state, now),
            env.terminal(state, now),
        )
        observations, rewards, terminated = (np.asarray(c)[lanes] for c in columns)
        self._keep(lanes, after, state)
        self._steps[lanes] += 1
        limit = self._env.time_limit
        truncated = (self._steps[lanes] >= limit) & (limit > 0)
        return TimeSteps(observations, rewards.astype(np.float64), terminated, truncated)

    def _draw(self, keys: Array) -> tuple[Array, Array]:
        """Return the keys of this step and those of later ones."""
        both = np.asarray(self._split(keys))
        return both[:, 0], both[:, 1]

    def _keep(self, lanes: Lanes, keys: Array, state: Any) -> None:
        """Put keys and states of some lanes in the place of the old ones."""
        self._keys[lanes] = keys[lanes]
        chosen = np.zeros(len(self._steps), np.bool_)
        chosen[lanes] = True

        def among(new: Any, old: Any) -> Any:
            return self._jax.numpy.where(chosen.reshape(-1, *[1] * (new.ndim - 1)), new, old)

        self._state = self._jax.tree.map(among, state, self._state)
