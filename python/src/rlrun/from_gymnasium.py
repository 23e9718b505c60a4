"""Gymnasium's environments as plugins of rlrun: ``python -m rlrun.from_gymnasium FrozenLake-v1``.

In a config it is ``plugin: gymnasium:FrozenLake-v1``, and its params are the
arguments of ``gymnasium.make``, and ``wrappers``, ``import`` and ``enumerate``. An id
may name the module that registers it, as in Gymnasium: ``ale_py:ALE/Pong-v5``.

An episode is started with ``reset(seed=…)``, the lane's seed of that episode as the
host drew it, so that it is the one that Gymnasium itself plays from that seed; an
environment that takes no seeds of 64 bits gets a hash of it.
What Gymnasium has a batch of its own for, CartPole and the phys2d ones, is stepped by it,
everything else copy by copy.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import enum
import functools
import inspect
import itertools
import json
import os
import pickle
import re
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NoReturn, cast

import gymnasium
import numpy as np
from gymnasium import spaces as gs
from gymnasium.envs.registration import EnvSpec, load_env_creator, parse_env_id
from gymnasium.utils.seeding import np_random
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker, TimeLimit

from rlrun import _random_states, params, spaces
from rlrun._foreign import fit
from rlrun._from_gymnasium_batches import CartPoleBatch, batch_of, is_functional
from rlrun._from_gymnasium_params import SCHEMA, Settings, load, settings
from rlrun._from_gymnasium_seeds import WIDTHS, narrow, seed_bits
from rlrun._gymnasium_spaces import OWN, advice, decoder, from_gymnasium
from rlrun._lanes import Copies
from rlrun._pb import plugin_pb2 as pb
from rlrun._random_states import RandomStates
from rlrun.environment import Environment, Model, Spec, TimeStep, VectorEnvironment
from rlrun.errors import InvalidAnswer, InvalidParams, Unsupported
from rlrun.serve import check_host, serve_plugin
from rlrun.spaces import Array

_VERSIONS = (gymnasium.error.VersionNotFound, gymnasium.error.DeprecatedEnv)
"""Errors about the version of an environment, whose name is registered."""


class GymnasiumPlugin:
    """An environment that is registered with Gymnasium, or that a module registers which its params name."""

    def __init__(self, env_id: str, kwargs: dict[str, Any] | None = None) -> None:
        self.given, self.kwargs = settings(kwargs or {}), kwargs or {}
        self.painter = Painter()
        module, _, self.env_id = env_id.rpartition(":")
        self.modules = [module] if module else []
        if module:
            load(module, self.env_id)
        namespace, name, version = parse_env_id(self.env_id)
        self.name = ".".join(filter(None, (namespace, name)))
        doc, abilities, fps, schema = self._probe()
        self.description = pb.DescribeReply(
            id=f"gymnasium/{re.sub(r'[^a-z0-9_.-]', '.', self.name.lower())}@{self._version(version)}",
            kind="environment",
            doc=doc,
            params=json.dumps(schema).encode(),
            abilities=abilities,
            frames_per_second=fps,
        )

    def _version(self, version: int | None) -> int:
        """Return the version that Gymnasium makes where the id names none."""
        if version is None and self._unknown() is None:
            version = gymnasium.spec(self.env_id).version
        return version or 0

    def _unknown(self) -> gymnasium.error.Error | None:
        """Return why the environment is not registered, None if it is."""
        try:
            gymnasium.spec(self.env_id)
        except gymnasium.error.Error as e:
            return e
        return None

    def _probe(self) -> tuple[str, list[str], float, dict[str, Any]]:
        """Return what the environment is like without params: sentence, abilities, pace, and schema of params."""
        if unknown := self._unknown():
            doc = f"{self.env_id}, which no module has registered with Gymnasium yet: name it in the parameter import."
            if isinstance(unknown, _VERSIONS):
                doc = f"{self.env_id}, which cannot be made: {unknown}"
            return doc, ["frames"], 0, {"type": "object", "properties": SCHEMA, "additionalProperties": True}
        registered = gymnasium.spec(self.env_id)
        doc, abilities, fps = f"{registered.id} of Gymnasium {gymnasium.__version__}.", list[str](), 0.0
        try:
            self.given.arguments = fitted(registered, self.given.arguments)
            env = self._make(self.given)
        except InvalidParams as e:
            return f"{doc} It needs parameters: {e}", [], 0, _schema(registered, self.given.arguments)
        try:
            if model_of(env):
                abilities.append("model")
            if env.render_mode == "ansi":
                abilities.append("render")
            if draws_frames(env):
                abilities.append("frames")
                fps = float(env.metadata.get("render_fps") or 0)
            if names_of(env):
                abilities.append("action_names")
            spec_of(env, self.given.enumerate)
            bits, shares = probe(env, self.given.reset_options)
            if bits < 64:
                doc += f" Its seeds have {bits} bits, a hash of rlrun's."
            if shares:
                doc += " It draws from random generators that a process shares: every copy has states of its own."
        except Unsupported as e:
            doc += f" As it is rlrun has no place for it: {e}"
        except InvalidParams as e:  # it is told when it is opened
            doc += f" Without parameters it cannot be reset: {e}"
        finally:
            _close(env)
        return doc, abilities, fps, _schema(registered, self.given.arguments)

    def environment(self, data: bytes) -> VectorEnvironment:
        """Make an environment, not opened yet."""
        chosen = settings(self.kwargs | params.decode(data))
        unknown = self._unknown()
        if isinstance(unknown, _VERSIONS):
            raise InvalidParams(str(unknown))
        if unknown:
            cure = (
                f"If a module registers it, name that as the parameter import, or write gymnasium:MODULE:{self.env_id}"
            )
            named = self.modules or chosen.modules
            if named and (function := _registering(named[0])):
                cure = f"If {function} registers it, call that function: write gymnasium:{function}:{self.env_id}"
            elif named:
                cure = (
                    f"{' and '.join(named)} was imported and has not registered it with Gymnasium. If another module "
                    f"does, such as {named[0]}.envs, name that. If the package is for the older gym, register "
                    "it in a module of yours, with a class or a wrapper that translates it"
                )
            raise InvalidParams(f"{str(unknown).rstrip('.')}. {cure}")
        registered = gymnasium.spec(self.env_id)
        chosen.arguments = fitted(registered, chosen.arguments)
        first = self._make(chosen)
        try:
            spec, model = spec_of(first, chosen.enumerate), model_of(first)
            bits, shares = probe(first, chosen.reset_options, masks=chosen.masks)
            shares |= chosen.shared_random
        finally:
            _close(first)
        batch, kind = None, MaskedBridge if chosen.masks else Bridge
        alone = chosen.wrappers or chosen.remake or chosen.masks or chosen.reset_options
        if not alone and chosen.arguments.get("max_episode_steps") != -1:  # a batch knows none of these
            batch = batch_of(registered, chosen.arguments, spec)
            spec = batch.spec if batch else spec

        def make_copies() -> Copies:
            copies = Copies(
                lambda: kind(lambda: self._make(chosen), spec, model, bits, chosen, shares=shares, painter=self.painter)
            )
            copies.has_model = model is not None  # type: ignore[attr-defined]
            copies.remember = model is None  # Gymnasium's with tables do not; Taxi takes milliseconds to make
            return copies

        if isinstance(batch, CartPoleBatch):
            batch.copies = make_copies
        return batch or make_copies()

    def agent(self, _data: bytes) -> Any:
        """Raise Unsupported."""
        raise Unsupported(f"{self.description.id} is an environment, not an agent")

    def decides(self, data: bytes, kind: str) -> NoReturn:
        """Refuse: it is an environment."""
        raise Unsupported(f"{self.description.id} is an environment, not {kind}")

    def _make(self, chosen: Settings) -> gymnasium.Env[Any, Any]:
        registered, arguments = gymnasium.spec(self.env_id), chosen.arguments
        creator = _creator(registered)
        modes = (getattr(creator, "metadata", None) or {}).get("render_modes") or []
        if "ansi" in modes and _takes(creator, "render_mode"):
            arguments = {"render_mode": "ansi"} | arguments
        given = registered.kwargs.keys() | arguments.keys()
        if missing := [name for name in _required(creator) if name not in given]:
            first = missing[0]
            raise InvalidParams(
                f"{self.env_id} needs a value for {', '.join(missing)}: write params: {{{first}: …}} in a config, "
                f"--param {first}=… on the command line. A value that YAML cannot write needs a module of your own: it "
                "registers an environment whose entry point makes the value, gymnasium:MODULE:ID"
            )
        try:
            with RandomStates():
                _random_states.seed(0)  # all copies are made alike
                env = gymnasium.make(self.env_id, disable_env_checker=True, **arguments)
        except (gymnasium.error.DependencyNotInstalled, ImportError) as e:
            raise Unsupported(f"{self.env_id}: {e}") from e
        except Exception as e:  # the constructor is others' code
            tell(e)
            what = f"does not take {chosen.arguments}" if chosen.arguments else "cannot be made without parameters"
            text = f"{self.env_id} {what}: {type(e).__name__}: {e}"
            raise InvalidParams(text) from e
        return chosen.wrap(env)


def _registering(name: str) -> str:
    """Return a function of a module that seems to register environments and was not called, as module:function."""
    module, _, called = name.partition(":")
    for function, made in sorted(vars(sys.modules[module]).items()):  # names that a module loads later are not loaded
        if not inspect.isfunction(made):
            continue
        own = (made.__module__ or "").partition(".")[0] == module.partition(".")[0]  # not Gymnasium's
        if own and function.startswith("register") and function not in {called, "register_envs"}:
            return f"{module}:{function}"
    return ""


def fitted(registered: EnvSpec, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return arguments of gymnasium.make as the environment takes them, or raise InvalidParams."""
    out = fit(_creator(registered), arguments, registered=registered.kwargs)
    if (limit := out.get("max_episode_steps")) is not None:
        if type(limit) not in (int, float) or limit != int(limit) or (limit < 1 and limit != -1):
            raise InvalidParams(
                f"max_episode_steps is {json.dumps(limit)}, must be a whole number from 1 on, or -1 for no limit"
            )
        out["max_episode_steps"] = int(limit)
    return out


def _schema(registered: EnvSpec, given: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an environment's parameters: the entry point's arguments, as far as they can be told."""
    properties: dict[str, Any] = {
        "max_episode_steps": {
            "type": "integer",
            "description": "Steps after which an episode is truncated; -1 for no limit, as in Gymnasium.",
        }
    }
    if registered.max_episode_steps is not None:
        properties["max_episode_steps"]["default"] = registered.max_episode_steps
    open_ended = True
    creator = _creator(registered)
    if creator is not None:
        arguments = inspect.signature(creator).parameters.values()
        open_ended = any(p.kind == p.VAR_KEYWORD for p in arguments)
        defaults = registered.kwargs | given
        for p in arguments:
            if p.kind in (p.VAR_KEYWORD, p.VAR_POSITIONAL) or p.name == "render_mode":
                continue
            default = defaults.get(p.name, p.default)
            properties[p.name] = {}
            if isinstance(default, (bool, int, float, str)):
                properties[p.name]["default"] = default
    return {"type": "object", "properties": properties | SCHEMA, "additionalProperties": open_ended}


def _creator(registered: EnvSpec) -> Any:
    entry = registered.entry_point
    return load_env_creator(entry) if isinstance(entry, str) else entry


def _required(creator: Any) -> list[str]:
    """Return the names of the arguments that an entry point does not do without."""
    plain = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    arguments = inspect.signature(creator).parameters.values() if creator is not None else ()
    return [p.name for p in arguments if p.kind in plain and p.default is p.empty]


def _close(env: gymnasium.Env[Any, Any]) -> None:
    """Close an environment. What goes wrong in others' code harms nothing then: it is in the log."""
    try:
        env.close()
    except Exception as e:
        tell(e)


OURS = tuple(f"{Path(module.__file__).parent}{os.sep}" for module in (gymnasium, params) if module.__file__)
"""The directories of Gymnasium and rlrun."""


def tell(error: BaseException) -> None:
    """Write the lines of others' code at which an error arose to standard error, which errors of the plugin end with.

    An error that arose in Gymnasium or rlrun has no such lines: its message says all.
    """
    while error.__cause__ is not None:
        error = error.__cause__
    told = traceback.TracebackException.from_exception(error, compact=True)
    told.__context__ = None
    told.stack = traceback.StackSummary.from_list([f for f in told.stack if not f.filename.startswith(OURS)])
    if told.stack:
        sys.stderr.writelines(told.format())


def _takes(creator: Any, name: str) -> bool:
    parameters = inspect.signature(creator).parameters
    return name in parameters or any(p.kind == p.VAR_KEYWORD for p in parameters.values())


PROBED = 5
"""How many steps of an environment are made to see whether it draws from the generators that a process shares."""


def probe(env: gymnasium.Env[Any, Any], options: dict[str, Any] | None, *, masks: bool = False) -> tuple[int, bool]:
    """Return how many bits an environment's seeds have, and whether it draws from shared random generators.

    An environment that cannot be reset raises InvalidParams, one whose rewards are several numbers Unsupported.
    """
    if is_functional(env):
        return 32, False
    with RandomStates():
        try:
            bits = seed_bits(env, options)
            env.action_space.seed(0)
            _random_states.seed(1)
            before = pickle.dumps(_random_states.read())
            answer: Any = env.reset(seed=1, options=options)
        except InvalidAnswer as e:
            raise InvalidParams(f"{env.spec and env.spec.id}: {e}") from None
        except Exception as e:  # whatever the environment's code raises
            tell(e)
            cure = "If it needs options, give the parameter reset_options"
            if isinstance(e, TypeError) and "unexpected keyword argument" in str(e):
                cure = f"rlrun calls reset(seed=…, options=…). Name a wrapper that takes these, {OWN}"
            elif _resets(env, 1, options):
                cure = f"It takes the seed 1, but none of {WIDTHS[-1]} bits. Name a wrapper that shortens it, {OWN}"
            raise InvalidParams(f"{env.spec and env.spec.id} cannot be reset: {type(e).__name__}: {e}. {cure}") from e
        info = answer[-1] if isinstance(answer, tuple) and isinstance(answer[-1], Mapping) else {}
        if masks and "action_mask" not in info:
            have = f"has {', '.join(map(str, info))}" if info else "is empty"
            raise InvalidParams(
                f"masks is true, and {env.spec and env.spec.id} gives none: the info of its reset {have}, and needs "
                "action_mask. Leave masks out, or name a wrapper that adds it"
            )
        if masks and isinstance(env.action_space, gs.Discrete):
            _check_mask(env, info["action_mask"], int(env.action_space.n))
        reward: Any = 0
        with contextlib.suppress(Exception, SystemExit):  # it is told when it is stepped
            for _ in range(PROBED):
                _, reward, terminated, truncated, _ = env.step(env.action_space.sample())
                if terminated or truncated:
                    break
        check_reward(reward)
        return bits, pickle.dumps(_random_states.read()) != before


def _check_mask(env: gymnasium.Env[Any, Any], mask: Any, n: int) -> None:
    try:
        allows = spaces.as_masks(mask, (n,), "the action mask of the first state").any()
    except InvalidAnswer as e:
        raise InvalidParams(f"masks is true, and {env.spec and env.spec.id}: {e}") from None
    if not allows:
        raise InvalidParams(
            f"masks is true, and the action mask of {env.spec and env.spec.id} allows no action at first"
        )


def _resets(env: gymnasium.Env[Any, Any], seed: int, options: dict[str, Any] | None) -> bool:
    """Say whether an environment can be reset with a seed."""
    try:
        env.reset(seed=seed, options=options)
    except Exception:
        return False
    return True


class SpaceGenerators:
    """The random generators of an environment's spaces, which its code may sample from."""

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        self._marks: dict[int, Any] = {}
        self._spaces: list[gs.Space[Any]] = []
        layer: Any = env
        while layer is not None:
            for name in ("observation_space", "action_space"):
                space = vars(layer).get(name, vars(layer).get(f"_{name}"))
                if space is None and layer is env.unwrapped:  # of the class, so other copies have it too
                    space = copy.deepcopy(getattr(layer, name))
                    with contextlib.suppress(AttributeError):  # a property
                        setattr(layer, name, space)
                if isinstance(space, gs.Space):
                    self._add(space)
            layer = layer.env if isinstance(layer, gymnasium.Wrapper) else None

    def _add(self, space: gs.Space[Any]) -> None:
        if any(space is known for known in self._spaces):
            return
        self._spaces.append(space)
        parts: Any = getattr(space, "spaces", ())
        for part in parts.values() if isinstance(parts, Mapping) else parts:
            self._add(part)

    def seed(self, seed: int) -> None:
        """Seed those that have been drawn from since they were seeded, and at first all."""
        for k, space in enumerate(self._spaces):
            if k not in self._marks or self._marks[k] != space.np_random.bit_generator.state:
                space._np_random, _ = np_random(seed * len(self._spaces) + k)
                self._marks[k] = space._np_random.bit_generator.state


_time_step = functools.partial(tuple.__new__, TimeStep)
"""TimeStep._make without its check of the length."""


class Bridge(Environment):
    """One copy."""

    id = ""

    def __init__(
        self,
        make: Callable[[], gymnasium.Env[Any, Any]],
        spec: Spec,
        model: Model | None,
        bits: int,
        chosen: Settings,
        *,
        shares: bool,
        painter: Painter,
    ) -> None:
        self._env, self._spec, self._model, self._bits, self._painter = make(), spec, model, bits, painter
        self._make, self._used = make if chosen.remake else None, False
        self._options, self._shares = chosen.reset_options, shares
        self._states: AbstractContextManager[None] = RandomStates() if shares else contextlib.nullcontext()
        self._generators = SpaceGenerators(self._env)
        _, self._encode = from_gymnasium(self._env.observation_space, chosen.enumerate)
        self._decode = decoder(self._env.action_space, chosen.enumerate)

    @property
    def spec(self) -> Spec:
        """Describe the environment."""
        return self._spec

    def reset(self, seed: int) -> Any:
        """Start an episode."""
        if self._make and self._used:
            _close(self._env)
            self._env = self._make()
            self._generators = SpaceGenerators(self._env)
        self._used = True
        self._generators.seed(seed)
        with self._states:
            if self._shares:
                _random_states.seed(narrow(seed, 32))
            answer: Any = self._env.reset(seed=narrow(seed, self._bits), options=self._options)
        if not isinstance(answer, tuple) or len(answer) != 2:
            raise InvalidAnswer(f"reset returned {_brief(answer)}, must return a tuple of 2: {OLD}")
        _check_info("reset", answer[1])
        self._info = answer[1]
        return self._encode(answer[0])

    def step(self, action: Any) -> TimeStep:
        """Take an action."""
        if self._shares:
            with self._states:
                answer = self._advance(action)
        else:
            answer = self._advance(action)
        if not isinstance(answer, tuple) or len(answer) != 5:
            raise InvalidAnswer(f"step returned {_brief(answer)}, must return a tuple of 5: {OLD}")
        observation, reward, terminated, truncated, info = answer
        if type(info) is not dict:
            _check_info("step", info)
        self._info = info
        if type(reward) is not float:
            check_reward(reward)
            if isinstance(reward, np.ndarray) and reward.size == 1:
                reward = reward.item()  # Gymnasium only warns of it
        if type(terminated) is not bool or type(truncated) is not bool:
            with advice():
                terminated, truncated = (
                    spaces.as_flag(terminated, "terminated"),
                    spaces.as_flag(truncated, "truncated"),
                )
        return _time_step((self._encode(observation), reward, terminated, truncated))

    def _advance(self, action: Any) -> Any:
        try:
            return self._env.step(self._decode(action))
        except ValueError as e:  # of TimeLimit, which takes the answer apart
            if "unpack (expected 5, got 4)" not in str(e):
                raise
            limit = ", and give max_episode_steps: -1, since Gymnasium's TimeLimit cannot read it"
            raise InvalidAnswer(f"step returned a tuple of 4, must return a tuple of 5: {OLD}{limit}") from e

    def model(self) -> Model:
        """Return the model."""
        if self._model is None:
            raise Unsupported("there is no model")
        return self._model

    def render(self) -> str:
        """Draw the current state."""
        text: Any = self._env.render()
        if not isinstance(text, str):
            raise Unsupported(f"render returned a value of type {type(text).__name__}, no text")
        return text

    def render_frame(self) -> Array:
        """Draw the current state as a picture."""
        return self._painter.draw(self._env)

    def action_names(self) -> Sequence[str]:
        """Return the names that the environment gives its actions."""
        names = names_of(self._env)
        if not names:
            raise Unsupported("the actions have no names")
        return names

    def close(self) -> None:
        """Close the environment."""
        _close(self._env)


class MaskedBridge(Bridge):
    """One copy, whose infos have masks."""

    def action_mask(self) -> Array:
        """Return the mask in the last info."""
        if "action_mask" not in self._info:
            raise InvalidAnswer("the info has no action_mask, and that of the first reset had one")
        mask: Array = self._info["action_mask"]
        return mask


MANY = "mo_gymnasium.wrappers:LinearReward, or a function of yours that takes and returns an environment"
OLD = f"the environment has the interface of gym before 0.26. Name a wrapper that translates it, {OWN}"


def check_reward(reward: Any) -> None:
    """Raise Unsupported for a reward that is several numbers."""
    if not isinstance(reward, (float, int)) and np.ndim(reward) and np.size(reward) > 1:
        raise Unsupported(
            f"rewards have shape {np.shape(reward)}, rlrun takes one number. Name a "
            f"wrapper that makes one of them, such as {MANY}"
        )


def _check_info(method: str, info: Any) -> None:
    """Raise InvalidAnswer if the last entry of an answer is no info, as where a pair is an observation."""
    if type(info) is not dict and not isinstance(info, Mapping):
        kind = type(info).__name__
        raise InvalidAnswer(f"the last entry that {method} returned is a {kind}, must be the info, a dict: {OLD}")


def _brief(answer: Any) -> str:
    return f"a tuple of {len(answer)}" if isinstance(answer, tuple) else f"a value of type {type(answer).__name__}"


def draws_frames(env: gymnasium.Env[Any, Any]) -> bool:
    """Say whether an environment has the render mode rgb_array, other than one in JAX."""
    return "rgb_array" in (env.metadata.get("render_modes") or []) and not is_functional(env)


def names_of(env: gymnasium.Env[Any, Any]) -> list[str]:
    """Return the names of discrete actions: those of ALE's interface, or an Enum called actions as MiniGrid has it.

    There are none if wrappers change the actions.
    """
    raw: Any = env.unwrapped
    if getattr(raw, "action_space", None) != (given := getattr(env, "action_space", None)):
        return []
    names: list[str] = []
    actions = getattr(raw, "actions", None)
    if callable(meanings := getattr(raw, "get_action_meanings", None)):
        names = [str(name) for name in meanings()]
    elif isinstance(actions, type) and issubclass(actions, enum.Enum):
        names = [member.name for member in actions]
    return names if len(names) == getattr(given, "n", None) else []


class Painter:
    """Draws the copies of an environment by their render mode rgb_array.

    They need not have been made with this mode, which may make steps slow: the mode is set for the time of the
    drawing. What could not be drawn once is not tried again: MuJoCo's second attempt aborts the process.
    """

    def __init__(self) -> None:
        self._failure = ""

    def draw(self, env: gymnasium.Env[Any, Any]) -> Array:
        """Draw a copy, or raise Unsupported."""
        if not self._failure:
            try:
                return self._pixels(env)
            except Unsupported as e:
                self._failure = str(e)
        raise Unsupported(self._failure)

    def _pixels(self, env: gymnasium.Env[Any, Any]) -> Array:
        if not draws_frames(env):
            raise Unsupported("the environment has no render mode rgb_array")
        raw: Any = env.unwrapped
        made, raw.render_mode = raw.render_mode, "rgb_array"
        try:
            picture = env.render()
        except (gymnasium.error.DependencyNotInstalled, ImportError) as e:
            raise Unsupported(f"the frame cannot be drawn: {e}") from e
        except Exception as e:  # the drawing is others' code, and may need a display
            advice = "give the parameter kwargs: {render_mode: rgb_array}"
            if "OpenGL" in str(e):
                advice = "where there is no display, set the variable MUJOCO_GL=egl"
            raise Unsupported(f"the frame cannot be drawn: {type(e).__name__}: {e}; {advice}") from e
        finally:
            raw.render_mode = made
        pixels = np.asarray(picture)
        if pixels.ndim < 2 or pixels.dtype.kind not in "biuf":
            raise Unsupported("render returned no frame; give the parameter kwargs: {render_mode: rgb_array}")
        if pixels.dtype.kind == "f" and pixels.min() >= 0 and pixels.max() <= 1:  # matplotlib's colours
            pixels = np.rint(255 * pixels)
        if pixels.ndim == 3 and pixels.shape[2] == 4:  # with transparency
            pixels = pixels[:, :, :3]
        return pixels.astype(np.uint8) if pixels.dtype.kind in "iuf" else pixels


def spec_of(env: gymnasium.Env[Any, Any], numbered: bool | None = None) -> Spec:
    """Describe an environment. Bounds of its rewards are known where its dynamics are."""
    for name in ("observation_space", "action_space"):
        space = getattr(env, name, None)
        if space is not None and not isinstance(space, gs.Space):
            what = f"a {type(space).__module__}.{type(space).__qualname__}, which is no space of Gymnasium"
            raise Unsupported(f"the {name} is {what}. Name a wrapper that sets another, {OWN}")
        if space is None:
            raise Unsupported(f"the environment has no {name} before a reset. Name a wrapper that sets it, {OWN}")
    try:
        observation, _ = from_gymnasium(env.observation_space, numbered)
        decoder(env.action_space, numbered)
        action, _ = from_gymnasium(env.action_space, numbered)
    except ValueError as e:  # a Box of an empty shape, say
        raise Unsupported(f"rlrun has no such space: {e}") from e
    low, high = -np.inf, np.inf
    if table := _table(env):
        rewards = [float(r) for row in table.values() for outcomes in row.values() for p, _, r, _ in outcomes if p]
        low, high = min(rewards), max(rewards)
    return Spec(observation, action, reward_low=low, reward_high=high)


_PLAYS = {"reset", "step"}
"""The methods that decide what an environment does."""


def _is_gymnasiums(method: Any) -> bool:
    return str(getattr(method, "__module__", "")).startswith("gymnasium.envs.toy_text.")


def _table(env: gymnasium.Env[Any, Any]) -> Any:
    """Return the table of dynamics that the toy-text environments have: P[s][a] = [(p, s', reward, ends), …]."""
    layer: Any = env
    while isinstance(layer, gymnasium.Wrapper):
        if type(layer) not in (OrderEnforcing, PassiveEnvChecker, TimeLimit) or vars(layer).keys() & _PLAYS:
            return None  # it may change observations, rewards or ends
        layer = layer.env
    raw: Any = env.unwrapped
    if vars(raw).keys() & _PLAYS or not all(_is_gymnasiums(getattr(type(raw), name)) for name in _PLAYS):
        return None  # its own code decides what a step does, whatever its table says
    finite = all(isinstance(getattr(env, name, None), gs.Discrete) for name in ("observation_space", "action_space"))
    table = getattr(raw, "P", None)
    if not finite or not isinstance(table, dict) or getattr(raw, "fickle_passenger", False):
        return None
    return table if hasattr(raw, "initial_state_distrib") else None


def model_of(env: gymnasium.Env[Any, Any]) -> Model | None:
    """Return the model of an environment that has its dynamics in a table."""
    table, raw = _table(env), cast(Any, env.unwrapped)
    if not table:
        return None
    if not np.isclose(raw.initial_state_distrib.sum(), 1):
        text = f"{env.spec and env.spec.id} has no state to begin in: the probabilities of its first states sum to "
        map_ = ". Its map (desc) needs a start, S" if hasattr(raw, "desc") else ""
        raise InvalidParams(f"{text}{raw.initial_state_distrib.sum()}, not 1{map_}")
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
    idle, limit = set(range(len(table))) - seen, _episode_steps(env)
    return Model(len(table), len(table[0]), transitions, rewards, starts, sorted(idle), episode_steps=limit)


def _episode_steps(env: gymnasium.Env[Any, Any]) -> int:
    """Return the steps after which the first TimeLimit around the environment truncates an episode, 0 without one."""
    limits: list[int] = []
    while isinstance(env, gymnasium.Wrapper):
        if isinstance(env, TimeLimit):
            limits.append(env._max_episode_steps)
        env = env.env
    return min(limits, default=0)


class _Refused(GymnasiumPlugin):
    """What is served in place of an environment that cannot be made: to open it is refused."""

    def __init__(self, why: str) -> None:
        self.why = why
        self.description = pb.DescribeReply(id="gymnasium/none@0", kind="environment", doc=why, params=b"{}")

    def environment(self, data: bytes) -> VectorEnvironment:
        """Raise InvalidParams."""
        raise InvalidParams(self.why)


def main() -> None:
    """Serve the environment that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m rlrun.from_gymnasium", description=__doc__, add_help=True)
    parser.add_argument("env_id", metavar="ID", help="such as FrozenLake-v1")
    parser.add_argument("--kwargs", default="{}", help="arguments of gymnasium.make, as JSON", type=json.loads)
    arguments = parser.parse_args()
    check_host()
    try:
        plugin = GymnasiumPlugin(arguments.env_id, arguments.kwargs)
    except (gymnasium.error.Error, ImportError, InvalidParams, Unsupported) as e:
        plugin = _Refused(str(e))
    serve_plugin(plugin)


if __name__ == "__main__":
    main()
