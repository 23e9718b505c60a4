"""Checks the arguments of public functions against their annotations, before anything runs."""

from __future__ import annotations

import collections.abc
import functools
import inspect
import numbers
import os
import types
import typing
import unicodedata
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Make a function raise TypeError that names the argument whose value is not what its annotation says.

    An element of a list or mapping is named, too. numpy's numbers are numbers, and a list is a tuple.
    """
    signature = inspect.signature(function)
    name = f"rlrun.{function.__qualname__.removesuffix('.__init__')}"

    @functools.cache
    def hints() -> dict[str, Any]:  # without what is returned, whose module may not be there
        annotations = {k: v for k, v in function.__annotations__.items() if k != "return"}
        said = types.SimpleNamespace(__annotations__=annotations)
        return typing.get_type_hints(said, vars(inspect.getmodule(function)))

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            arguments = signature.bind(*args, **kwargs).arguments
        except TypeError as e:
            raise TypeError(f"{name}: {e}") from None
        for argument, value in arguments.items():
            kind, hint = signature.parameters[argument].kind, hints().get(argument, Any)
            several = kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
            for x in value if kind == inspect.Parameter.VAR_POSITIONAL else () if several else (value,):
                if fault := wrong(argument, x, hint):
                    raise TypeError(f"{name}: {fault}")
        return function(*args, **kwargs)

    return call


def wrong(where: str, value: Any, hint: Any) -> str:
    """Return what is wrong with a value, nothing if it is what a type says."""
    options = typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, types.UnionType) else (hint,)
    found = [_inside(where, value, option) for option in options if _is(value, option)]
    if not found:
        return f"{where} is {_short(value)}, must be {_name(options)}"
    return "" if "" in found else found[0]


def _is(value: Any, hint: Any) -> bool:
    """Tell whether a value is of a type, whatever its elements are."""
    kind = typing.get_origin(hint) or hint
    if kind in (Any, None, type(None)):
        return kind is Any or value is None
    if kind is collections.abc.Callable:
        return callable(value)
    if kind is bool:
        return isinstance(value, bool) or type(value).__name__ == "bool_" or type(value).__name__ == "bool"
    if kind in (int, float):
        number = isinstance(value, numbers.Real) and not isinstance(value, bool)
        return number and (kind is float or value == value // 1)
    if kind is tuple:
        return isinstance(value, (tuple, list)) or hasattr(value, "tolist")
    if inspect.isclass(kind) and issubclass(kind, os.PathLike):
        return isinstance(value, os.PathLike)
    return not inspect.isclass(kind) or isinstance(value, kind)


def _inside(where: str, value: Any, hint: Any) -> str:
    """Return what is wrong with the elements of a value, nothing if nothing is."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is collections.abc.Mapping:
        keys = (f"{where} has the key {_short(k)}, must have texts" for k in value if not isinstance(k, str))
        return next(keys, "") or next(
            filter(None, (wrong(f"{where}[{k!r}]", v, args[1]) for k, v in value.items())), ""
        )
    if origin is tuple:
        if len(value) != len(args):
            return f"{where} is {_short(value)}, must be {len(args)} values"
        return next(
            filter(None, (wrong(f"{where}[{i}]", v, a) for i, (v, a) in enumerate(zip(value, args, strict=True)))), ""
        )
    if origin is collections.abc.Sequence and not isinstance(value, str):
        return next(filter(None, (wrong(f"{where}[{i}]", v, args[0]) for i, v in enumerate(value))), "")
    return ""


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


def _name(options: tuple[Any, ...]) -> str:
    """Return what types take, in words."""
    words: dict[Any, str] = {
        bool: "True or False",
        int: "a whole number",
        float: "a number",
        str: "a text",
        type(None): "None",
        None: "None",
        collections.abc.Mapping: "a mapping",
        collections.abc.Sequence: "a list",
        collections.abc.Callable: "a function",
    }
    names = []
    for option in options:
        kind = typing.get_origin(option) or option
        if kind is tuple:
            names.append(f"{len(typing.get_args(option))} values")
        elif inspect.isclass(kind) and issubclass(kind, os.PathLike):
            names.append("a path")
        elif kind is type:
            names.append("a class")
        else:
            names.append(words.get(kind, f"an rlrun.{getattr(kind, '__name__', kind)}"))
    return " or ".join(dict.fromkeys(names))


def printable(text: str) -> str:
    """Return a text for people: names of others in it send no commands to a terminal."""
    return "".join(c if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cf") else "\ufffd" for c in text)
