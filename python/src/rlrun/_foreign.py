"""Arguments of constructors that were not written for rlrun, such as those of Gymnasium's environments."""

from __future__ import annotations

import collections.abc
import inspect
import numbers
import types
import typing
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from rlrun.errors import InvalidParams

_WRONG: Any = object()
"""What `_fit` returns for a value of a wrong type."""
_TRUE, _FALSE = {"true", "yes", "on", "y", "1"}, {"false", "no", "off", "n", "0"}
_LISTS = (list, tuple, collections.abc.Sequence, collections.abc.Iterable, collections.abc.Collection)
_MAPPINGS = (dict, collections.abc.Mapping)


def fit(
    function: Any, given: Mapping[str, Any], where: str = "", registered: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return arguments of a class or function, whole numbers as ``int`` where it takes these.

    The annotation of an argument says what it takes. Without one the type of its default does: a text is no truth value
    and no number, although every text is true in Python. An argument of which neither is known takes anything.

    Args:
        function: The class or function.
        given: Values by name, as JSON has them.
        where: What stands before a name in an error, such as ``wrappers[0].kwargs.``.
        registered: Defaults beside those of the function.

    Raises:
        InvalidParams: A value has a wrong type. The error says what to write.

    """
    known, out, defaults = _known(function), dict[str, Any](), registered or {}
    for name, value in given.items():
        hint = known.get(name, Any)
        if hint is Any and name in defaults:
            hint = implied(defaults[name])
            if hint not in (bool, Any):  # of a number that the function takes without a default: it may take others
                hint = hint | list | None
        out[name] = _fit(hint, value)
        if out[name] is _WRONG:
            is_ = {None: "null", True: "true", False: "false"}[value] if _is_word(value) else repr(value)
            raise InvalidParams(f"{where}{name} is {is_}, must be {_name(hint)}{_cure(hint, name, value)}")
    return out


def _known(function: Any) -> dict[str, Any]:
    """Return what each argument takes. A class that passes ``**kwargs`` on has the arguments of its base, too."""
    owners = [function]
    if inspect.isclass(function):
        owners = [vars(c)["__init__"] for c in function.__mro__ if "__init__" in vars(c) and c is not object]
    out: dict[str, Any] = {}
    for owner in owners:
        try:
            parameters = list(inspect.signature(owner).parameters.values())
        except (TypeError, ValueError):  # it is written in C
            break
        try:
            hints = typing.get_type_hints(owner)
        except Exception:  # a name that is imported for type checkers alone
            hints = {}
        for p in parameters:
            if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL):
                out.setdefault(p.name, hints.get(p.name, implied(p.default)))
        if not any(p.kind == p.VAR_KEYWORD for p in parameters):
            break
    return out


def implied(default: Any) -> Any:
    """Return the type that a default value stands for, where there is no annotation: Any where it says too little.

    0 and 1 may be truth values.
    """
    if isinstance(default, int) and not isinstance(default, bool):
        return int | bool if default in (0, 1) else int
    return type(default) if isinstance(default, (bool, float)) else Any


def _options(hint: Any) -> tuple[Any, ...]:
    """Return the types of a union, or the one type."""
    return typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, types.UnionType) else (hint,)


def _fit(hint: Any, value: Any) -> Any:
    """Return a value as a type wants it, or _WRONG."""
    fits = (_fit_one(option, value) for option in _options(hint))
    found = [x for x in fits if x is not _WRONG]
    return next((x for x in found if type(x) is type(value)), found[0] if found else _WRONG)


def _fit_one(hint: Any, value: Any) -> Any:
    kind = _kind(hint)
    if kind is bool:
        return value if isinstance(value, bool) or (isinstance(value, (int, float)) and value in (0, 1)) else _WRONG
    if kind in (int, float):
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            return _WRONG
        return int(value) if kind is int and value == int(value) else value  # 1e2 is whole
    if kind is str:  # many that take a text also take null, and do not say so
        return value if value is None or isinstance(value, str) else _WRONG
    if kind is type(None):
        return value if value is None else _WRONG
    if kind is Literal:
        return value if value in typing.get_args(hint) else _WRONG
    if kind is dict:
        return value if isinstance(value, dict) else _WRONG
    if kind is list:
        if not isinstance(value, list):
            return _WRONG
        args = [a for a in typing.get_args(hint) if a is not ...] or [Any]
        items = [_fit(args[i] if i < len(args) else args[-1], x) for i, x in enumerate(value)]
        return _WRONG if any(x is _WRONG for x in items) else items
    return value


def _kind(hint: Any) -> Any:
    """Return which of the types of JSON a type is, Literal, or Any for all others."""
    origin = typing.get_origin(hint) or hint
    if origin is Literal or origin in (str, type(None)):
        return origin
    if origin in _LISTS or origin in _MAPPINGS:
        return list if origin in _LISTS else dict
    if hint in (typing.SupportsFloat, typing.SupportsInt):
        return float
    if not isinstance(hint, type):
        return Any
    if issubclass(hint, (bool, np.bool_)):
        return bool
    if issubclass(hint, (int, np.integer)):
        return int
    return float if issubclass(hint, (numbers.Number, np.number)) else Any


def _is_word(value: Any) -> bool:
    return value is None or isinstance(value, bool)


def _name(hint: Any) -> str:
    """Return what a type takes, in words of configs."""
    words = {
        bool: "true or false",
        int: "a number",
        float: "a number",
        str: "a text",
        type(None): "null",
        list: "a list",
        dict: "a mapping",
    }
    names = []
    for option in _options(hint):
        kind = _kind(option)
        inner = [a for a in typing.get_args(option) if a is not ...]
        if kind is Literal:
            names.append("one of " + ", ".join(repr(a) for a in inner))
        elif kind is list and inner and all(_kind(a) is not Any for a in inner):
            names.append("a list, each element " + " or ".join(dict.fromkeys(map(_name, inner))))
        else:
            names.append(words.get(kind, str(option)))
    return " or ".join(dict.fromkeys(names))


def _cure(hint: Any, name: str, value: Any) -> str:
    """Return what to write in place of a text that means a truth value or a number."""
    if not isinstance(value, str):
        return ""
    kinds, text = {_kind(option) for option in _options(hint)}, value.strip().lower()
    if bool in kinds and text in _TRUE | _FALSE:
        return (
            f": write {name}: {'true' if text in _TRUE else 'false'}, without quotes; no other words are truth values"
        )
    try:
        number = float(text)
    except ValueError:
        return ""
    return f": write {name}: {number:g}, without quotes" if kinds & {int, float} else ""
