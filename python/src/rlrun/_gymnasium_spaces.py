"""Spaces of Gymnasium as those of rlrun and the other way round, and values in them.

Nothing is lost on the way: a value is checked in the type in which it arrives, and then
converted. What rlrun has no space for is refused, with a cure.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, cast

import numpy as np
from gymnasium import spaces as gs
from numpy.typing import NDArray

from rlrun import spaces
from rlrun.errors import InvalidAction, InvalidAnswer, InvalidParams, Unsupported
from rlrun.spaces import Array, Space

MOST = 2**24
"""How many elements a product of finite sets may have to be numbered."""

OWN = "such as a function of yours that takes and returns an environment: params: {wrappers: [{name: 'mine:wrapped'}]}"

ROUNDING = 1e-6
"""How far an element of an observation may be outside its bounds, relative to the bound where that is more than 1."""


def to_gymnasium(space: Space) -> gs.Space[Any]:
    """Return Gymnasium's space for one of rlrun's."""
    if isinstance(space, spaces.Discrete):
        return gs.Discrete(space.n, start=space.start)
    if isinstance(space, spaces.MultiDiscrete):
        return gs.MultiDiscrete(np.array(space.nvec, np.int64))
    dtype: Any = space.dtype.type
    low, high = space.low, space.high
    if space.dtype.kind == "f":
        return gs.Box(low.astype(dtype), high.astype(dtype), space.shape, dtype)
    limits, low, high = np.iinfo(dtype), np.ceil(low), np.floor(high)
    below, above = low > limits.min, high < limits.max
    first, last = np.full(space.shape, limits.min, dtype), np.full(space.shape, limits.max, dtype)
    first[below], last[above] = low[below], high[above]
    box = gs.Box(first, last, space.shape, dtype)
    if dtype == np.int64:  # Gymnasium itself makes errors with arrays of infinite bounds
        box.bounded_below, box.bounded_above = below, above
    return box


def from_gymnasium(space: gs.Space[Any], numbered: bool | None = None) -> tuple[Space, Callable[[Any], Any]]:
    """Return the space that stands for one of Gymnasium's, and how its observations are written in it.

    numbered says whether products of finite sets become one Discrete: the parameter enumerate.
    """
    if (factors := _factors(space, numbered)) is not None:
        first, sizes = factors
        shape, read = tuple(sizes.tolist()), reader(space)
        if _numbers(space, sizes, numbered):
            return spaces.Discrete(math.prod(shape)), lambda x: int(
                np.ravel_multi_index(tuple(_flat(read(x)) - first), shape)
            )
        return spaces.MultiDiscrete(shape), lambda x: _flat(read(x)) - first
    if isinstance(space, gs.Discrete):
        return spaces.Discrete(int(space.n), int(space.start)), reader(space)
    if isinstance(space, gs.Box):
        box = _box(space)
        return box, _read_box(box, "the observation")
    if _flattens(space):
        if (width := gs.flatdim(space)) > MOST:
            raise Unsupported(
                f"the observation has {width} numbers once it is flat, as a Discrete(n) in a Dict or Tuple becomes n "
                f"of them, and rlrun takes {MOST}. Name a wrapper that makes fewer of it, {OWN}"
            )
        flat, encode = from_gymnasium(gs.flatten_space(space))
        read = reader(space, flat=cast(spaces.Box, flat).dtype)
        return flat, lambda x: encode(gs.flatten(space, read(x)))
    raise Unsupported(_homeless(space))


def decoder(space: gs.Space[Any], numbered: bool | None = None) -> Callable[[Any], Any]:
    """Return how actions are read that were written as from_gymnasium says."""
    if (factors := _factors(space, numbered)) is not None:
        first, sizes = factors
        shape = tuple(sizes.tolist())
        value: Callable[[Any], Any]
        if isinstance(space, gs.Tuple):
            types = [cast(Any, s).dtype.type for s in space.spaces]
            value = lambda x: tuple(t(v) for t, v in zip(types, (x + first).tolist(), strict=True))  # noqa: E731
        else:
            value = lambda x: (x + first).reshape(space.shape).astype(space.dtype)  # noqa: E731
        if _numbers(space, sizes, numbered):
            return lambda x: value(np.array(np.unravel_index(x, shape)))
        return value
    if isinstance(space, gs.Discrete):
        kind: Callable[[Any], Any] = cast(Any, space).dtype.type
        return functools.lru_cache(kind)  # scalars of NumPy do not change
    if isinstance(space, gs.Box):
        dtype = np.dtype(cast(Any, space).dtype)
        if dtype.kind != "f" and not all(np.isfinite(b[m]).all() for b, m in _exact(space)):
            raise Unsupported(f"rlrun has no integers as large as the bounds of the actions, {space}")

        def read_action(x: Array) -> Array:
            try:
                return spaces.convert(dtype, x, "the action")
            except InvalidAnswer as e:
                raise InvalidAction(str(e)) from None

        return read_action
    raise Unsupported(
        f"rlrun has no space that stands for Gymnasium's {space} as one of actions. Name a wrapper that "
        f"makes another of it, {OWN}"
    )


def _exact(space: gs.Box[Any]) -> list[tuple[Array, Array]]:
    """Return the bounds of a box of integers, infinite where a float64 may not have them, and which of them are set."""
    out = []
    for bound, given, none in (
        (space.low, space.bounded_below, -np.inf),
        (space.high, space.bounded_above, np.inf),
    ):
        whole = np.asarray(bound)
        exact = np.asarray(given) & (whole >= -spaces.MAX_INTEGER) & (whole <= spaces.MAX_INTEGER)
        out.append((np.where(exact, whole.astype(np.float64), none), np.asarray(given)))
    return out


def _box(space: gs.Box[Any]) -> spaces.Box:
    """Return the box that stands for one of Gymnasium's: of real numbers, of bytes or of integers."""
    dtype = np.dtype(cast(Any, space).dtype)
    if dtype.kind == "f":
        name = "float32" if dtype.itemsize <= 4 else "float64"
        with np.errstate(over="ignore"):
            low, high = (np.asarray(b, np.float64) for b in (space.low, space.high))
    else:
        if dtype == np.uint64 and np.any(space.bounded_above & (space.high > np.iinfo(np.int64).max)):
            raise ValueError(f"integers above 2^63 - 1, which int64 does not have, in {space}")
        name = "uint8" if dtype == np.uint8 else "int64"
        low, high = (bound for bound, _ in _exact(space))
    return spaces.Box(low, high, space.shape, cast(Any, name))


def reader(
    space: gs.Space[Any], name: str = "the observation", flat: np.dtype[Any] | None = None
) -> Callable[[Any], Any]:
    """Return what reads a value of a space in the space's type, or raises InvalidAnswer if it is none.

    flat is the type that the value is converted to afterwards: integers that it does not have are refused.
    """
    if isinstance(space, gs.Discrete):
        return lambda x: _in_discrete(space, x, name)
    if isinstance(space, gs.Box):
        read_box = _read_box(_box(space), name)

        def read_part(x: Any) -> Array:
            value = read_box(x)
            with advice():
                spaces.convert(flat or value.dtype, value, name)
            return value.astype(space.dtype)

        return read_part
    if isinstance(space, (gs.MultiDiscrete, gs.MultiBinary)):
        return lambda x: _in_product(space, x, name)
    if isinstance(space, gs.Dict):
        named = {key: reader(part, f"{name}[{key!r}]", flat) for key, part in space.spaces.items()}

        def read_dict(x: Any) -> Any:
            if not isinstance(x, Mapping) or x.keys() != named.keys():
                have = sorted(map(str, x)) if isinstance(x, Mapping) else f"a value of type {type(x).__name__}"
                raise InvalidAnswer(f"{name} is {have}, must be a dict with the keys {sorted(map(str, named))}")
            return {key: read(x[key]) for key, read in named.items()}

        return read_dict
    if isinstance(space, gs.Tuple):
        parts = [reader(part, f"{name}[{i}]", flat) for i, part in enumerate(space.spaces)]

        def read_tuple(x: Any) -> Any:
            if not isinstance(x, (tuple, list, np.ndarray)) or len(x) != len(parts):
                raise InvalidAnswer(f"{name} is {spaces.shown(x)}, must be a tuple of {len(parts)}")
            return tuple(read(v) for read, v in zip(parts, x, strict=True))

        return read_tuple

    def read_other(x: Any) -> Any:
        if not space.contains(x):
            raise InvalidAnswer(f"{name} is {spaces.shown(x)}, not in {space}")
        return x

    return read_other


def _in_discrete(space: gs.Discrete[Any], x: Any, name: str) -> int:
    with advice():
        number = int(spaces.as_entry(spaces.Discrete(int(space.n), int(space.start)), x, name))
        if not 0 <= number - int(space.start) < int(space.n):
            raise InvalidAnswer(f"{name} is {number}, not in {space}")
        return number


def _in_product(space: Any, x: Any, name: str) -> Array:
    first, sizes = cast(Any, _factors(space, None))
    with advice():
        whole = spaces.convert(np.dtype(np.int64), spaces.as_array(x, cast(Any, space.shape), name), name)
        bad = (whole.ravel() < first) | (whole.ravel() - first >= sizes)
        if bad.any():
            i = int(np.argmax(bad))
            raise InvalidAnswer(f"element {i} of {name} is {whole.ravel()[i]}, not in {space}")
        return whole


def _flat(value: Any) -> NDArray[np.int64]:
    """Return the factors of a value of a product, a Tuple or an array, in a row."""
    return np.ravel(np.asarray(value)).astype(np.int64)


@contextmanager
def advice() -> Iterator[None]:
    """Say in an error about an observation how others' environments are corrected."""
    try:
        yield
    except InvalidAnswer as e:
        e.args = (f"{e}. Name a wrapper that corrects it, {OWN}",)
        raise


FEW = 16
"""Up to how many elements are compared faster as a list than by NumPy."""


def _read_box(box: spaces.Box, name: str) -> Callable[[Any], Array]:
    """Return what reads an observation of a box. What the fast ways do not know, _in_box judges."""
    dtype, shape = box.dtype, box.shape
    if dtype == np.uint8 and np.all(box.low <= 0) and np.all(box.high >= 255):

        def read_bytes(x: Any) -> Array:
            return x if type(x) is np.ndarray and x.dtype == dtype and x.shape == shape else _in_box(box, x, name)

        return read_bytes
    if dtype.kind != "f" or not 0 < math.prod(shape) <= FEW:
        return lambda x: _in_box(box, x, name)
    most = sys.float_info.max
    lows, highs = (np.clip(b, -most, most).ravel().tolist() for b in (box.low, box.high))
    flat = len(shape) == 1

    def read_few(x: Any) -> Array:
        if type(x) is np.ndarray and x.dtype == dtype and x.shape == shape:
            for value, low, high in zip(x.tolist() if flat else x.ravel().tolist(), lows, highs):  # noqa: B905  as long
                if not low <= value <= high:
                    break
            else:
                return x
        return _in_box(box, x, name)

    return read_few


def _in_box(box: spaces.Box, x: Any, name: str) -> Array:
    """Return an observation in the type of its box, without an excess over its bounds that is no more than rounding.

    NaN is left to the host, which names it.
    """
    with advice():
        given = spaces.as_array(x, box.shape, name)
        y = spaces.convert(box.dtype, given, name)
        if y.dtype == np.uint8 and np.all(box.low <= 0) and np.all(box.high >= 255):
            return y
        outside = (y < box.low) | (y > box.high) | np.isinf(y)
        if not outside.any():
            return y
        inside = np.clip(y, box.low, box.high)
        with np.errstate(invalid="ignore"):
            excess = np.where(np.isinf(y), np.inf, np.abs(y - inside))
            far = np.isinf(y) | (excess > ROUNDING * np.maximum(1, np.abs(inside)))
        if box.dtype.kind == "f" and not far.any():
            return np.asarray(inside.astype(box.dtype))
        i = int(np.argmax(np.where(outside, excess, -1)))
        low, high = (
            int(b.ravel()[i]) if box.dtype.kind != "f" and np.isfinite(b.ravel()[i]) else b.ravel()[i]
            for b in (box.low, box.high)
        )
        raise InvalidAnswer(f"element {i} of {name} is {y.ravel()[i]}, outside its bounds {low} and {high}")


def _factors(space: gs.Space[Any], numbered: bool | None) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Return the least elements and the sizes of the finite sets that a space is a product of.

    It is None if the space is no such product. A box of integers is one where it is to be numbered, and can be.
    """
    if isinstance(space, gs.MultiDiscrete):
        start = getattr(space, "start", np.zeros(1))  # of Gymnasium before 0.29 there is none
        return np.ravel(start).astype(np.int64), np.ravel(space.nvec).astype(np.int64)
    if isinstance(space, gs.MultiBinary):
        sizes = np.full(int(np.prod(cast(Any, space.shape))), 2, np.int64)
        return np.zeros_like(sizes), sizes
    if isinstance(space, gs.Tuple) and all(isinstance(s, gs.Discrete) for s in space.spaces):
        parts = [cast(Any, s) for s in space.spaces]
        return np.array([int(s.start) for s in parts], np.int64), np.array([int(s.n) for s in parts], np.int64)
    if numbered and isinstance(space, gs.Box) and np.dtype(cast(Any, space).dtype).kind != "f":
        low, high = (np.ravel(bound) for bound, _ in _exact(space))
        if math.prod((high - low + 1).tolist()) <= MOST:
            return low.astype(np.int64), (high - low + 1).astype(np.int64)
    return None


def _numbers(space: gs.Space[Any], sizes: NDArray[np.int64], numbered: bool | None) -> bool:
    """Say whether the elements of a product are numbered."""
    count = math.prod(sizes.tolist())
    if numbered and count > MOST:
        raise InvalidParams(f"enumerate is true, but {space} has {count:.3g} elements, more than {MOST}")
    return bool(numbered) or (numbered is None and isinstance(space, gs.Tuple) and count <= MOST)


def _flattens(space: gs.Space[Any]) -> bool:
    """Say whether a space can be flattened. Those of other packages do not know: they raise NotImplementedError."""
    try:
        return bool(space.is_np_flattenable)
    except NotImplementedError:
        return False


def _homeless(space: gs.Space[Any], path: str = "") -> str:
    """Say which part of a space rlrun has none for, and what to do about it."""
    if isinstance(space, (gs.Dict, gs.Tuple)):
        parts = space.spaces.items() if isinstance(space, gs.Dict) else enumerate(space.spaces)
        for key, part in parts:
            if not _flattens(part):
                return _homeless(part, f"{path}[{key!r}]")
    kind = type(space)
    name = kind.__name__ if kind.__module__.startswith("gymnasium.") else f"{kind.__module__}.{kind.__name__}"
    if not path:
        return (
            f"rlrun has no space for observations in Gymnasium's {name}. Name a wrapper that makes another of it, {OWN}"
        )
    return (
        f"rlrun has no space for Gymnasium's {name}, which is the part {path} of the observation. Name a wrapper that "
        "leaves it out: "
        "params: {wrappers: [{name: FilterObservation, kwargs: {filter_keys: [...]}}]}, or one of the environment's "
        "package, such as minigrid.wrappers:ImgObsWrapper"
    )
