"""Parameters of plugins: from a constructor's arguments to a JSON schema, and back."""

from __future__ import annotations

import dataclasses
import inspect
import json
import math
import types
import typing
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeVar

from rlrun._foreign import fit
from rlrun.errors import InvalidParams

T = TypeVar("T")


def param(
    default: Any = dataclasses.MISSING,
    doc: str = "",
    *,
    minimum: float | None = None,
    maximum: float | None = None,
    choices: Sequence[Any] | None = None,
    beyond: str | None = None,
    when: str | None = None,
) -> Any:
    """Declare a dataclass field that is a parameter.

    ``doc`` tells people what it is for. Without a default it must be given.
    Defaults that are lists or dicts are copied for every use. ``beyond`` is for a number of
    steps: what follows if the steps of a run are no more, such as "it never learns". rlrun
    says so before the run. ``when`` says with which values of other parameters it has an
    effect, such as "policy=softmax|greedy and gamma!=0 or planning=true"; with others it is
    refused. A parameter without a value is ``none``, a list of equal elements one of them, and
    ``@name`` the value of another parameter.
    """
    limits = {"minimum": minimum, "maximum": maximum, "enum": None if choices is None else list(choices)}
    schema = {"description": doc or None, "x-beyond": beyond, "x-when": when, **limits}
    metadata = {"rlrun": {key: value for key, value in schema.items() if value is not None}}
    if isinstance(default, (list, dict)):
        return dataclasses.field(default_factory=default.copy, metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def schema(cls: type) -> dict[str, Any]:
    """Return the JSON schema of a class's parameters."""
    properties: dict[str, Any] = {}
    required = []
    for p in _parameters(cls):
        properties[p.name] = _schema(p.type, f"{cls.__name__}.{p.name}") | p.extra
        if p.required:
            required.append(p.name)
        else:
            properties[p.name]["default"] = p.default
    out: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }
    if required:
        out["required"] = required
    return out


def build(cls: type[T], data: bytes) -> T:
    """Call a class with parameters in JSON."""
    return cls(**arguments(cls, data))


def arguments(cls: type, data: bytes) -> dict[str, Any]:
    """Return a constructor's arguments from parameters in JSON, checked."""
    values = decode(data)
    known = {p.name: p for p in _parameters(cls)}
    for name in values:
        if name not in known:
            raise InvalidParams(f"unknown parameter {name!r}; there are {', '.join(known) or 'none'}")
    for name, p in known.items():
        if p.required and name not in values:
            raise InvalidParams(f"parameter {name!r} is missing")
    values |= fit(cls, {name: value for name, value in values.items() if known[name].type is Any})
    read = {name: _read(known[name].type, value, known[name].extra, name) for name, value in values.items()}
    every = {name: _value(read.get(name, p.default)) for name, p in known.items()}
    for name in read:
        _check_effect(name, known[name].extra.get("x-when", ""), every)
    return read


def _value(value: Any) -> str:
    """Return a value as ``when`` has it."""
    if isinstance(value, (list, tuple)) and value:
        return _value(value[0]) if all(v == value[0] for v in value) else "given"
    if isinstance(value, (int, float)):
        whole = isinstance(value, float) and value.is_integer()
        return str(value).lower() if isinstance(value, bool) else str(int(value) if whole else value)
    return str(value) if value else "none"


def _check_effect(name: str, when: str, values: Mapping[str, str]) -> None:
    """Refuse a parameter that has no effect with the values of the others."""
    broken, cures = [], []
    for alternative in when.split(" or ") if when else []:
        wrong, words = "", []
        for text in alternative.split(" and "):
            other, _, allowed = text.replace("!=", "=!").partition("=")
            choices = allowed.lstrip("!").split("|")
            words.append(f"{other} {'other than ' * allowed.startswith('!')}{' or '.join(choices).replace('@', '')}")
            are = [values[c[1:]] if c.startswith("@") else c for c in choices]
            if not wrong and (values[other] in are) == allowed.startswith("!"):
                wrong = f"{other} {values[other]}"
        if not wrong:
            return
        broken.append(wrong)
        cures.append(" and ".join(words))
    if broken:
        raise InvalidParams(
            f"{name} has no effect with {' and '.join(dict.fromkeys(broken))}: leave it out, or give it with "
            f"{', or with '.join(cures)}"
        )


def decode(data: bytes) -> dict[str, Any]:
    """Read parameters in JSON, without parameters from nothing."""
    try:
        values = json.loads(data) if data.strip() else {}
    except ValueError as e:
        raise InvalidParams(f"params are no JSON: {e}") from e
    if not isinstance(values, dict):
        raise InvalidParams("params are no JSON object")
    return values


@dataclasses.dataclass
class _Parameter:
    name: str
    type: Any
    required: bool
    default: Any
    extra: dict[str, Any]


_CONTRACT = ("rlrun.agent", "rlrun.environment")
"""The modules whose classes have attributes that authors set for all instances."""


def _parameters(cls: type) -> list[_Parameter]:
    """List the arguments of a class's constructor."""
    out = []
    fields: dict[str, dataclasses.Field[Any]] = {}
    owner: Any = next(c for c in cls.__mro__ if "__init__" in vars(c))
    if "__dataclass_fields__" in vars(owner) and owner.__dataclass_params__.init:
        hints, fields = typing.get_type_hints(owner), {f.name: f for f in dataclasses.fields(owner)}
    else:
        hints = typing.get_type_hints(owner.__init__) if inspect.isfunction(owner.__init__) else {}
    for name, p in inspect.signature(cls).parameters.items():
        own = name in fields and any(name in vars(c) for c in cls.__mro__ if c.__module__ in _CONTRACT)
        if own or p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):  # metrics with a type are a field, and no parameter
            continue
        extra: dict[str, Any] = {}
        default = p.default
        if f := fields.get(name):
            extra = dict(f.metadata.get("rlrun", {}))
            if f.default_factory is not dataclasses.MISSING:
                default = f.default_factory()
        required = default is p.empty
        out.append(_Parameter(name, hints.get(name, Any), required, None if required else _plain(default), extra))
    return out


def _plain(value: Any) -> Any:
    """Return a default value as JSON has it."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, (tuple, list)):
        return [_plain(v) for v in value]
    return value


_SCALARS: dict[Any, str] = {bool: "boolean", int: "integer", float: "number", str: "string"}


def _schema(hint: Any, where: str) -> dict[str, Any]:
    if hint is Any:
        return {}
    if hint in _SCALARS:
        return {"type": _SCALARS[hint]}
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        inner = schema(hint)
        del inner["$schema"]
        return inner
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is Literal:
        return {"enum": list(args)}
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [_schema(a, where) for a in args]}
    if hint is type(None):
        return {"type": "null"}
    if hint is list or (origin in (list, tuple, Sequence) and (origin is not tuple or args[1:] == (...,))):
        return {"type": "array"} | ({"items": _schema(args[0], where)} if args else {})
    if hint is dict or (origin in (dict, Mapping) and args[0] is str):
        return {"type": "object"} | ({"additionalProperties": _schema(args[1], where)} if args else {})
    raise TypeError(
        f"{where} has the type {hint!r}; a parameter is a bool, int, float or str, a Literal, a list[T], tuple[T, ...] "
        "or dict[str, T] of such, T | None, or a dataclass"
    )


def _read(hint: Any, value: Any, extra: Mapping[str, Any], where: str) -> Any:
    """Return a value as its type wants it, or raise InvalidParams."""
    out = _typed(hint, value, where)
    if isinstance(out, (int, float)):
        if not math.isfinite(out):
            raise InvalidParams(f"{where} is {out}, must be finite")
        if out < extra.get("minimum", -math.inf) or out > extra.get("maximum", math.inf):
            bounds = [f"{sign} {extra[k]}" for k, sign in (("minimum", "≥"), ("maximum", "≤")) if k in extra]
            raise InvalidParams(f"{where} is {out}, must be {' and '.join(bounds)}")
    if "enum" in extra and out not in extra["enum"]:
        raise InvalidParams(f"{where} is {out!r}, must be one of {extra['enum']}")
    return out


def _typed(hint: Any, value: Any, where: str) -> Any:
    if hint is Any:
        return value
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if hint is float and isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    if hint is int and isinstance(value, float) and value.is_integer():
        return int(value)
    if hint in _SCALARS and type(value) is hint:
        return value
    if hint is type(None) and value is None:
        return None
    if dataclasses.is_dataclass(hint) and isinstance(hint, type) and isinstance(value, dict):
        return build(hint, json.dumps(value).encode())
    if origin is Literal and value in args:
        return value
    if origin in (typing.Union, types.UnionType):
        for arg in args:
            try:
                return _typed(arg, value, where)
            except InvalidParams:
                continue
    if (hint is list or origin in (list, tuple, Sequence)) and isinstance(value, list):
        items = [_typed(args[0], v, f"{where}[{i}]") for i, v in enumerate(value)] if args else value
        return tuple(items) if origin is tuple else items
    if (hint is dict or origin in (dict, Mapping)) and isinstance(value, dict):
        return {k: _typed(args[1], v, f"{where}.{k}") for k, v in value.items()} if args else value
    raise InvalidParams(f"{where} is {value!r}, must be {_name(hint)}")


def _name(hint: Any) -> str:
    if typing.get_origin(hint) is Literal:
        return "one of " + ", ".join(repr(a) for a in typing.get_args(hint))
    return {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}.get(hint, str(hint))
