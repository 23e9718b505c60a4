"""Parameters of ``gymnasium:`` that are not arguments of the environment: imports, wrappers, numbering of spaces."""

from __future__ import annotations

import dataclasses
import difflib
import importlib
import inspect
import os
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import gymnasium
import numpy as np
from gymnasium import wrappers as gw

from rlrun._foreign import fit
from rlrun.errors import InvalidAnswer, InvalidParams, Unsupported
from rlrun.spaces import shown

Env = gymnasium.Env[Any, Any]

_STATEFUL = {gw.NormalizeObservation, gw.NormalizeReward}
_SWITCHES = ("remake", "masks", "shared_random")
_OURS = ("import", "wrappers", "kwargs", "enumerate", "reset_options", *_SWITCHES)

SCHEMA: dict[str, Any] = {
    "import": {
        "description": "Module that registers the environment, such as minatar.gym, or module:function where a "
        "function does; a function register_envs of the module is found by itself. Several: a list.",
        "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
    },
    "wrappers": {
        "description": "Wrappers around the environment, the innermost first.",
        "type": "array",
        "items": {
            "type": "object",
            "required": ["name"],
            "additionalProperties": False,
            "properties": {
                "name": {
                    "type": "string",
                    "description": "A class of gymnasium.wrappers, such as FlattenObservation, or module:class, such "
                    "as minigrid.wrappers:ImgObsWrapper, or module:function, which takes an environment and returns "
                    "one.",
                },
                "kwargs": {
                    "type": "object",
                    "description": "Arguments of the wrapper's constructor. Where it takes an array, a list is one.",
                },
            },
        },
    },
    "kwargs": {
        "description": "Arguments of gymnasium.make, as beside this key; for arguments that are named like one of "
        f"{', '.join(_OURS)}.",
        "type": "object",
    },
    "reset_options": {"description": "Options of reset, which every episode begins with.", "type": "object"},
    "remake": {
        "description": "Whether the environment is made anew for every episode, for those whose episodes depend on "
        "earlier ones, such as BipedalWalker-v3. Default: false.",
        "type": "boolean",
    },
    "masks": {
        "description": "Whether agents are told which actions are allowed: by action_mask of the info, or of an "
        "observation that is a Dict of observation and action_mask, as PettingZoo has it. Default: false.",
        "type": "boolean",
    },
    "shared_random": {
        "description": "Whether the environment draws from random generators that a process shares, so that each copy "
        "needs states of its own. Default: what a few steps show.",
        "type": "boolean",
    },
    "enumerate": {
        "description": "Whether spaces that are products of finite sets are numbered, as one Discrete, for tabular "
        "agents; the last factor runs fastest. Default: a Tuple of Discretes is, if it has at most 2^24 "
        "elements; MultiDiscrete and MultiBinary are not.",
        "type": "boolean",
    },
}


@dataclasses.dataclass
class Settings:
    """What the parameters of one environment say."""

    arguments: dict[str, Any]
    wrappers: list[tuple[Callable[..., Any], dict[str, Any]]]
    enumerate: bool | None
    reset_options: dict[str, Any] | None = None
    remake: bool = False
    modules: list[str] = dataclasses.field(default_factory=list)
    masks: bool = False
    shared_random: bool = False

    def wrap(self, env: Env) -> Env:
        """Put the wrappers around an environment, which is closed if one of them fails."""
        for wrapper, kwargs in self.wrappers:
            name = wrapper.__name__
            try:
                wrapped = wrapper(env, **kwargs)
            except Exception as e:
                env.close()
                text = f"wrapper {name} does not take {kwargs or 'this environment'}: {type(e).__name__}: {e}"
                raise InvalidParams(text) from e
            if not isinstance(wrapped, gymnasium.Env):
                env.close()
                raise InvalidParams(f"wrapper {name} returned {wrapped!r}, must return an environment")
            env = wrapped
        parts = getattr(env.observation_space, "spaces", {}) if self.masks else {}
        return _MaskOfObservation(env) if parts.keys() == {"observation", "action_mask"} else env


class _MaskOfObservation(gymnasium.Wrapper[Any, Any, Any, Any]):
    """An environment whose observations have masks, as PettingZoo's do: it gives them in the info."""

    def __init__(self, env: Env) -> None:
        super().__init__(env)
        self.observation_space = env.observation_space["observation"]  # type: ignore[index]

    def reset(self, **kwargs: Any) -> Any:
        both, info = self.env.reset(**kwargs)
        observation, mask = self._parts(both)
        return observation, info | {"action_mask": mask}

    def step(self, action: Any) -> Any:
        both, *outcome, info = self.env.step(action)
        observation, mask = self._parts(both)
        return observation, *outcome, info | {"action_mask": mask}

    def _parts(self, both: Any) -> tuple[Any, Any]:
        """Return observation and mask."""
        if not isinstance(both, Mapping) or not both.keys() >= {"observation", "action_mask"}:
            raise InvalidAnswer(
                f"the observation is {shown(both)}, and its space says a dict with the keys observation and action_mask"
            )
        return both["observation"], both["action_mask"]


def settings(values: dict[str, Any]) -> Settings:
    """Read parameters, and import the modules that they name, or raise InvalidParams."""
    modules = values.get("import", [])
    modules = [modules] if isinstance(modules, str) else modules
    if not isinstance(modules, list) or not all(isinstance(m, str) for m in modules):
        raise InvalidParams(f"import is {modules!r}, must be the name of a module, or a list of such")
    for module in modules:
        load(module)
    arguments = {key: value for key, value in values.items() if key not in _OURS}
    kwargs = values.get("kwargs", {})
    if not isinstance(kwargs, dict):
        raise InvalidParams(f"kwargs is {kwargs!r}, must be an object of arguments")
    if twice := sorted(arguments.keys() & kwargs.keys()):
        raise InvalidParams(f"{twice[0]} is given twice, as a parameter and in kwargs")
    numbered = values.get("enumerate")
    if not isinstance(numbered, (bool, type(None))):
        raise InvalidParams(f"enumerate is {numbered!r}, must be true or false")
    wrappers = values.get("wrappers", [])
    if not isinstance(wrappers, list):
        raise InvalidParams(f"wrappers is {wrappers!r}, must be a list such as [{{name: FlattenObservation}}]")
    options = values.get("reset_options")
    if not isinstance(options, (dict, type(None))):
        raise InvalidParams(f"reset_options is {options!r}, must be an object of options")
    switches = {name: values.get(name, False) for name in _SWITCHES}
    for name, value in switches.items():
        if not isinstance(value, bool):
            raise InvalidParams(f"{name} is {value!r}, must be true or false")
    layers = [_wrapper(i, w) for i, w in enumerate(wrappers)]
    return Settings(arguments | kwargs, layers, numbered, options, modules=modules, **switches)


def load(name: str, missing: str = "") -> None:
    """Import ``module`` or call ``module:function``.

    A module's register_envs is called if the environment ``missing`` is not registered after the import, and
    always where ``missing`` is empty and Gymnasium knows no more environments than before.
    """
    module_name, _, function = name.partition(":")
    before = len(gymnasium.registry)
    try:
        module = _import(module_name)
    except ImportError as e:
        raise InvalidParams(f"cannot import {module_name}, which is to register the environment: {e}") from e
    registers = getattr(module, function or "register_envs", None)
    if function and not callable(registers):
        raise InvalidParams(f"module {module_name} has no function {function}")
    found = missing in gymnasium.registry if missing else len(gymnasium.registry) > before
    if callable(registers) and (function or not found):
        registers()


def _import(name: str) -> ModuleType:
    """Import a module that the config names.

    It may be in the working directory, which is looked at last: a file there takes the place of no other module. The
    host starts this program without it, as the directory may be somebody else's, and refuses names of modules that
    only a received directory gives.
    """
    if not {"", os.getcwd()} & set(sys.path):
        sys.path.append(os.getcwd())
    return importlib.import_module(name)


def _wrapper(i: int, entry: Any) -> tuple[Callable[..., Any], dict[str, Any]]:
    where = f"wrappers[{i}]"
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        raise InvalidParams(f"{where} is {entry!r}, must be such as {{name: TimeLimit, kwargs: {{…}}}}")
    if unknown := sorted(entry.keys() - {"name", "kwargs"}):
        raise InvalidParams(f"{where} has an unknown key {unknown[0]!r}; there are name and kwargs")
    kwargs, name = entry.get("kwargs", {}), entry["name"]
    if not isinstance(kwargs, dict):
        raise InvalidParams(f"{where}.kwargs is {kwargs!r}, must be an object of arguments")
    module_name, colon, attribute = name.rpartition(":")
    try:
        module = _import(module_name) if colon else gw
    except ImportError as e:
        raise InvalidParams(f"{where}: cannot import {module_name}: {e}") from e
    found = getattr(module, attribute, None)
    if colon and inspect.isfunction(found):
        return found, fit(found, kwargs, f"{where}.kwargs.")
    if not inspect.isclass(found) or not issubclass(found, gymnasium.Wrapper):
        names = [n for n, c in inspect.getmembers(module, inspect.isclass) if issubclass(c, gymnasium.Wrapper)]
        close = difflib.get_close_matches(attribute, names, 3, 0.5) or names[:8]
        raise InvalidParams(
            f"{where}: {module.__name__} has no wrapper {attribute!r}; there are {', '.join(close) or 'none'}"
            + ("" if colon else "; a wrapper of another package is module:class")
        )
    if found in _STATEFUL:
        raise Unsupported(
            f"{where}: {found.__name__} keeps statistics over episodes: an episode would not follow from its seed"
        )
    return found, _arguments(where, found, kwargs)


def _arguments(where: str, wrapper: type[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a wrapper, lists as arrays where its constructor is annotated with arrays.

    Functions and spaces cannot be said as JSON: InvalidParams tells how to give them.
    """
    taken = fit(wrapper, kwargs, f"{where}.kwargs.")
    for name, parameter in inspect.signature(wrapper).parameters.items():
        kind, given = str(parameter.annotation), kwargs.get(name)
        if isinstance(given, list) and "ndarray" in kind:
            taken[name] = np.array(given)
        if ("Callable" in kind or "Space" in kind) and (given is not None or parameter.default is parameter.empty):
            raise InvalidParams(
                f"{where}: {wrapper.__name__} takes a function or a space as {name}, which a config cannot hold. Write "
                f"def wrapped(env): return {wrapper.__name__}(env, …) in a file mine.py in the directory where you "
                "start rlrun, and name it: {name: 'mine:wrapped'}"
            )
    return taken
