"""Environments that are written in JAX, as pure functions: `Environment`, and gymnax's by the plugin ``gymnax``.

The functions are of one copy. JAX maps them over the lanes and compiles them for a *block* of lanes, always of the same
number: programs for other numbers of lanes may round otherwise. So what a lane sees depends on its seed and its actions
alone, to the bit. It needs ``rlrun[deep]``; docs/deep.md has an example.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import pickle
import sys
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rlrun import _jax
from rlrun._foreign import fit
from rlrun.environment import Spec, TimeSteps, VectorEnvironment
from rlrun.errors import InvalidAnswer, InvalidParams, Unsupported
from rlrun.params import param
from rlrun.serve import serve
from rlrun.spaces import Array, Box, Discrete, Space
from rlrun.streams import Lanes

_jax.need("environments in JAX need")

import jax  # noqa: E402

__all__ = ["Environment", "FromGymnax"]

Key = Any
"""A key of ``jax.random``."""
State = Any
"""A pytree of arrays: all that an episode's next steps depend on, besides actions and keys."""


class Environment(VectorEnvironment):
    """A task as two pure functions of one copy, `reset_env` and `step_env`, which JAX maps over all lanes.

    A subclass has these and ``spec``; most easily it is a dataclass whose fields are the parameters. The functions are
    compiled: they may not depend on anything that changes but their arguments, and they choose by ``jax.numpy.where``
    and the like. Parameters are constants of the compiled program.

    A lane has a key of threefry, made of the 64 bits of its seed, as by ``jax.random.key`` with 64 bits. For the reset
    and for each step it is split, ``key, now = jax.random.split(key)``, and the function gets ``now``.
    """

    block: ClassVar[int] = 256
    """The lanes of a compiled call, which computes all of them: fewer suit an environment whose step is slow.

    With 1 no lane is computed beside another. That is for functions whose rounding depends on the place of a lane in a
    block, as that of matrix products may: ``rlrun plugin check`` finds it.
    """

    @abstractmethod
    def reset_env(self, key: Key) -> tuple[Any, State]:
        """Return the first observation of an episode and the first state."""

    @abstractmethod
    def step_env(self, key: Key, state: State, action: Any) -> tuple[Any, State, Any, Any, Any]:
        """Take an action: return observation, state, reward, and whether the episode is terminated and truncated.

        The action is an integer of an array type for ``Discrete``, else an array of the shape of the space. The state
        has arrays of the same shapes and types as that of reset_env.
        """

    @classmethod
    def facts(cls) -> Mapping[str, str]:
        """Return the device on which JAX computes: "cpu", or the name of a GPU."""
        return _jax.facts()

    def open(self, lanes: int) -> None:
        """Compile the functions, unless this process has, and make room for blocks of lanes."""
        self._begin, self._advance, empty = _programs(self)
        self._lane, self._room = np.arange(lanes), -(-lanes // self.block) * self.block
        self._blocks = [empty] * (self._room // self.block)

    def reset(self, lanes: Lanes, seeds: NDArray[np.uint64]) -> Array:
        """Start an episode in each of these lanes."""
        halves = np.stack([seeds >> np.uint64(32), seeds & np.uint64(2**32 - 1)], 1).astype(np.uint32)
        observations, *_ = self._call(self._begin, lanes, halves)
        return observations

    def step(self, lanes: Lanes, actions: Array) -> TimeSteps:
        """Take an action in each of these lanes."""
        observations, rewards, terminated, truncated = self._call(self._advance, lanes, actions)
        return TimeSteps(observations, rewards.astype(np.float64), terminated, truncated)

    def state(self, lane: int) -> State:
        """Return the state of a lane, with numpy's arrays, for `render`, `measure` and `action_masks`."""
        _, state = self._blocks[lane // self.block]
        return jax.tree.map(lambda x: np.asarray(x)[lane % self.block], state)

    def _call(self, program: Callable[..., Any], lanes: Lanes, column: Array) -> list[Array]:
        """Call a program for each block with one of these lanes, and return its columns for these lanes."""
        size, at = self.block, self._lane[lanes]
        chosen = np.zeros(self._room, np.bool_)
        chosen[at] = True
        every = np.zeros((self._room, *column.shape[1:]), column.dtype)
        every[at] = column
        called = np.flatnonzero(chosen.reshape(-1, size).any(1))
        answers = []
        for b in called.tolist():  # none waits for the computation of another
            own = slice(b * size, (b + 1) * size)
            answer, self._blocks[b] = program(self._blocks[b], every[own], chosen[own])
            answers.append(answer)
        rows = np.searchsorted(called, at // size) * size + at % size
        return [np.concatenate([np.asarray(x) for x in parts])[rows] for parts in zip(*answers, strict=True)]


_Programs = tuple[Callable[..., Any], Callable[..., Any], Any]
"""Of a block: what resets chosen lanes, what steps them, and keys and states before the first reset."""

_compiled: dict[tuple[type, int, bytes], _Programs] = {}
MOST = 32
"""How many environments with other parameters a process keeps the programs of."""


def _programs(env: Environment) -> _Programs:
    """Return the programs of an environment that is not open, one a process for equal parameters."""
    try:
        known = type(env), env.block, pickle.dumps(vars(env))
    except Exception:  # an attribute that cannot be pickled: they are compiled again each time
        return _compile(copy.copy(env))
    if known not in _compiled:
        if len(_compiled) >= MOST:
            _compiled.clear()
        _compiled[known] = _compile(copy.copy(env))
    return _compiled[known]


def _compile(env: Environment) -> _Programs:
    """Make the programs. Answers of a wrong form raise InvalidAnswer."""

    def split(key: Any) -> tuple[Any, Any]:
        later, now = jax.random.split(jax.random.wrap_key_data(key, impl="threefry2x32"))
        return jax.random.key_data(later), now

    def keep(chosen: Any, new: Any, old: Any) -> Any:
        return jax.tree.map(lambda x, y: jax.numpy.where(chosen, x, y), new, old)

    def reset(seed: Array) -> tuple[Any, Any]:
        key, now = split(seed)
        answer = env.reset_env(now)
        observation, state = _parts("reset_env", answer, ("observation", "state"))
        return (observation,), (key, state)

    def step(lane: Any, action: Any) -> tuple[Any, Any]:
        key, now = split(lane[0])
        names = ("observation", "state", "reward", "terminated", "truncated")
        answer = env.step_env(now, lane[1], action)
        observation, state, *outcome = _parts("step_env", answer, names)
        return (observation, *outcome), (key, state)

    space = env.spec.action
    _, first = jax.eval_shape(reset, np.zeros(2, np.uint32))
    _, second = jax.eval_shape(step, first, np.zeros(space.shape, space.dtype))
    _same(first[1], second[1])
    begin = jax.jit(jax.vmap(lambda lane, seed, chosen: _chosen(reset(seed), lane, chosen, keep)))
    advance = jax.jit(jax.vmap(lambda lane, action, chosen: _chosen(step(lane, action), lane, chosen, keep)))
    empty = jax.tree.map(lambda x: jax.numpy.zeros((env.block, *x.shape), x.dtype), first)
    nobody = np.zeros(env.block, np.bool_)
    begin(empty, np.zeros((env.block, 2), np.uint32), nobody)  # compiles, in a call that may take long
    advance(empty, np.zeros((env.block, *space.shape), space.dtype), nobody)
    return begin, advance, empty


def _chosen(answer: tuple[Any, Any], old: Any, chosen: Any, keep: Callable[..., Any]) -> tuple[Any, Any]:
    """Return what a function answered, and the state of its lane after it, if the lane was chosen."""
    columns, new = answer
    return columns, keep(chosen, new, old)


def _parts(function: str, answer: Any, names: tuple[str, ...]) -> tuple[Any, ...]:
    if not isinstance(answer, tuple) or len(answer) != len(names):
        kind = f"a tuple of {len(answer)}" if isinstance(answer, tuple) else f"a value of type {type(answer).__name__}"
        raise InvalidAnswer(f"{function} returned {kind}, must return a tuple of {len(names)}: {', '.join(names)}")
    return answer


def _same(first: State, second: State) -> None:
    """Raise InvalidAnswer unless the states of reset_env and step_env have the same form."""
    was, now = (jax.tree_util.tree_flatten_with_path(state) for state in (first, second))
    forms: list[Any] = [was[1], now[1]]
    if forms[0] != forms[1]:
        raise InvalidAnswer(f"step_env returned a state of the form {forms[1]}, and reset_env one of {forms[0]}")
    for (path, x), (_, y) in zip(was[0], now[0], strict=True):
        if (x.shape, x.dtype) != (y.shape, y.dtype):
            raise InvalidAnswer(
                f"step_env returned a state whose part {jax.tree_util.keystr(path) or 'itself'} is {_shown(y)}, and "
                f"that of reset_env is {_shown(x)}: return the same shape and type"
            )


def _shown(array: Any) -> str:
    return f"{array.dtype}{list(array.shape)}"


class FromGymnax(Environment):
    """An environment with the interface of gymnax 1.0, which a subclass makes.

    There are no bounds of rewards and no models, since gymnax has neither. ``terminated`` is what ``step_env`` says,
    ``truncated`` what ``is_truncated`` says. gymnax's own ``step``, which resets by itself, is not called.
    """

    @abstractmethod
    def make(self) -> tuple[Any, Any]:
        """Return an environment and its parameters, as ``gymnax.make`` does."""

    @functools.cached_property
    def _made(self) -> tuple[Any, Any]:
        env, params = self.make()
        if missing := [name for name in _INTERFACE if not callable(getattr(env, name, None))]:
            raise Unsupported(
                f"{type(env).__name__} has no {' and no '.join(missing)}, as environments of gymnax 1.0 and later have"
            )
        return env, params

    @functools.cached_property
    def spec(self) -> Spec:
        """Describe the environment. Observations have the type that they come in."""
        env, params = self._made
        seen, _ = jax.eval_shape(self.reset_env, jax.random.key(0))
        if not hasattr(seen, "dtype"):
            raise Unsupported("observations are several arrays, and rlrun takes one")
        action = env.action_space(params)
        return Spec(
            _space(env.observation_space(params), seen.dtype),
            _space(action, getattr(action, "dtype", np.dtype(np.int32))),
        )

    def reset_env(self, key: Key) -> tuple[Any, State]:
        """Return the first observation of an episode and the first state."""
        env, params = self._made
        observation, state = env.reset_env(key, params)
        return self._seen(observation), jax.tree.map(jax.numpy.asarray, state)

    def step_env(self, key: Key, state: State, action: Any) -> tuple[Any, State, Any, Any, Any]:
        """Take an action."""
        env, params = self._made
        action = action.reshape(getattr(env.action_space(params), "shape", ()))
        observation, after, reward, terminated, _ = env.step_env(key, state, action, params)
        return self._seen(observation), after, reward, terminated, env.is_truncated(after, params)

    def _seen(self, observation: Any) -> Any:
        """Return an observation, and a number that is none of a Discrete as an array of one."""
        env, params = self._made
        alone = not hasattr(env.observation_space(params), "n") and getattr(observation, "shape", None) == ()
        return observation.reshape(1) if alone else observation


_INTERFACE = ("reset_env", "step_env", "is_truncated", "observation_space", "action_space")


def _space(space: Any, dtype: Any) -> Space:
    """Return a space of gymnax as one of rlrun, or raise Unsupported."""
    if hasattr(space, "n"):
        return Discrete(int(space.n))
    if not hasattr(space, "low"):
        raise Unsupported(f"rlrun has no place for the space {type(space).__name__} of gymnax: {space}")
    kind: Any = {"f": "float32", "b": "uint8", "u": "uint8"}.get(np.dtype(dtype).kind, "int64")
    shape = tuple(space.shape) or (1,)
    low, high = (np.broadcast_to(np.asarray(x, np.float64), shape) for x in (space.low, space.high))
    return Box(low, high, shape, kind)


@dataclass
class Gymnax(FromGymnax):
    """An environment of gymnax, in JAX: CartPole-v1, DeepSea-bsuite, Breakout-MinAtar and others."""

    id = "rlrun/gymnax@1"
    env_id: str = param(doc="Its name in gymnax, such as CartPole-v1.")
    kwargs: dict[str, Any] = param({}, "Arguments of gymnax.make, such as size.")  # noqa: RUF009  it is copied
    env_params: dict[str, Any] = param({}, "Values of its EnvParams, such as max_steps_in_episode.")  # noqa: RUF009

    def make(self) -> tuple[Any, Any]:
        """Make the environment by its name."""
        try:
            import gymnax  # type: ignore[import-not-found]  # noqa: PLC0415  it may not be there
        except ImportError as e:
            has = f"{sys.executable} cannot import it ({e})"
            raise Unsupported(f"this plugin needs gymnax, and {has}: pip install 'rlrun[gymnax]'") from e

        names = ", ".join(gymnax.registered_envs)
        if self.env_id not in gymnax.registered_envs:
            raise InvalidParams(f"gymnax has no environment {self.env_id!r}; there are {names}")
        try:
            env, params = gymnax.make(self.env_id, **self.kwargs)
        except Exception as e:  # the constructor is others' code
            raise InvalidParams(f"{self.env_id} does not take {self.kwargs}: {type(e).__name__}: {e}") from e
        known = [f.name for f in dataclasses.fields(params)]
        if unknown := sorted(self.env_params.keys() - set(known)):
            raise InvalidParams(f"env_params of {self.env_id} have no {unknown[0]!r}; there are {', '.join(known)}")
        return env, dataclasses.replace(params, **fit(type(params), self.env_params, "env_params."))


def serve_gymnax() -> None:
    """Serve the plugin gymnax."""
    serve(Gymnax)
