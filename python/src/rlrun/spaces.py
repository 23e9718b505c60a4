"""Sets of observations and actions, with Gymnasium's names and semantics.

A *column* holds a value per lane in one array: of shape ``(n,)`` for `Discrete`,
``(n, k)`` for `MultiDiscrete` of k factors, ``(n, *shape)`` for `Box`.
"""

from __future__ import annotations

import functools
import math
import numbers
import operator
import re
import struct
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Union

import numpy as np
from numpy.typing import NDArray

from rlrun._pb import plugin_pb2 as pb
from rlrun.errors import InvalidAnswer

Array = NDArray[Any]

_DTYPES = {
    "float64": pb.DTYPE_FLOAT64,
    "float32": pb.DTYPE_FLOAT32,
    "uint8": pb.DTYPE_UINT8,
    "int64": pb.DTYPE_INT64,
}
"""The element types of a Box."""

MOST_ELEMENTS = 2**28
"""How many elements a Box in a message may have, as for the host: a guard against nonsense."""

MAX_INTEGER = 2**53
"""Bounds the finite bounds of a Box of integers: a float64 has every integer up to it."""


def _whole(value: Any, what: str) -> int:
    """Return a whole number as an int. A bool is none."""
    try:
        if not isinstance(value, bool):
            return operator.index(value)
    except TypeError:
        pass
    raise TypeError(f"{what} must be a whole number, not {value!r}")


@dataclass(frozen=True)
class Discrete:
    """The set {start, …, start + n - 1}. A value is an int."""

    n: int
    start: int = 0

    def __post_init__(self) -> None:
        for name in ("n", "start"):
            object.__setattr__(self, name, _whole(getattr(self, name), f"{name} of a Discrete"))
        if self.n < 1:
            raise ValueError(f"Discrete with n = {self.n}; n must be at least 1")

    @property
    def dtype(self) -> np.dtype[Any]:
        """The element type of a column."""
        return np.dtype(np.int64)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one value."""
        return ()

    def outside(self, column: Array) -> Array:
        """Say which lanes of a column are not in the space."""
        bad: Array = (column < self.start) | (column > self.start + self.n - 1)
        return bad

    def value(self, entry: Any) -> int:
        """Return a column's entry as authors of single copies meet it."""
        return int(entry)


@dataclass(frozen=True, init=False)
class MultiDiscrete:
    """The product of the sets {0, …, nvec[i] - 1}. A value is an array of int64."""

    nvec: tuple[int, ...]

    def __init__(self, nvec: Sequence[int]) -> None:
        if not np.iterable(nvec):
            raise TypeError(f"nvec of a MultiDiscrete must be a list of whole numbers, not {nvec!r}")
        object.__setattr__(self, "nvec", tuple(_whole(n, "an entry of a MultiDiscrete") for n in nvec))
        if not self.nvec or min(self.nvec) < 1:
            raise ValueError(f"MultiDiscrete({list(self.nvec)}); every entry must be at least 1")

    @property
    def dtype(self) -> np.dtype[Any]:
        """The element type of a column."""
        return np.dtype(np.int64)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one value."""
        return (len(self.nvec),)

    def outside(self, column: Array) -> Array:
        """Say which lanes of a column are not in the space."""
        bad: Array = np.any((column < 0) | (column >= np.array(self.nvec)), axis=1)
        return bad

    def value(self, entry: Any) -> Array:
        """Return a column's entry as authors of single copies meet it: a copy."""
        return np.array(entry)


@dataclass(frozen=True, init=False, eq=False)
class Box:
    """Arrays of a shape with low ≤ x ≤ high, elementwise, and with finite elements.

    ``low`` and ``high`` are numbers or arrays of the shape, and may be infinite.
    Without ``shape`` it is that of ``low``. With the dtype ``uint8`` or ``int64``
    elements are integers. The finite bounds of integers are at most 2⁵³.
    """

    low: Array
    high: Array
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    def __init__(
        self,
        low: Any,
        high: Any,
        shape: Sequence[int] | None = None,
        dtype: Literal["float64", "float32", "uint8", "int64"] = "float64",
    ) -> None:
        if str(dtype) not in _DTYPES:
            raise ValueError(f"Box of {dtype}; must be {', '.join(_DTYPES)}")
        shape = np.broadcast_shapes(np.shape(low), np.shape(high)) if shape is None else tuple(shape)
        if any(n < 1 for n in shape):
            raise ValueError(f"Box of shape {shape}; every entry must be at least 1")
        bounds = [np.array(np.broadcast_to(np.asarray(b, np.float64), shape)) for b in (low, high)]
        if not np.all(bounds[0] <= bounds[1]):
            raise ValueError("Box whose low is not ≤ its high")
        finite = np.concatenate([b[np.isfinite(b)] for b in bounds])
        with np.errstate(over="ignore"):
            beyond = (finite < 0) | (finite >= 256) if dtype == "uint8" else np.isinf(finite.astype(np.float32))
        if dtype in ("uint8", "float32") and beyond.any():
            raise ValueError(f"Box of {dtype} from {low} to {high}: {dtype} does not have {finite[beyond][0]}")
        if dtype in ("uint8", "int64"):
            first, last = np.ceil(bounds[0]), np.floor(bounds[1])
            if dtype == "uint8":
                first, last = np.maximum(first, 0), np.minimum(last, 255)
            finite = np.concatenate([b[np.isfinite(b)] for b in (first, last)])
            if np.any(first > last) or np.any(np.abs(finite) > MAX_INTEGER):
                raise ValueError(
                    f"Box of {dtype} from {low} to {high}: there must be an integer between its bounds, and finite "
                    "ones are at most 2^53"
                )
        for name, value in zip(("low", "high", "shape", "dtype"), (*bounds, shape, np.dtype(dtype)), strict=True):
            object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Box)
            and (self.shape, self.dtype) == (other.shape, other.dtype)
            and np.array_equal(self.low, other.low)
            and np.array_equal(self.high, other.high)
        )

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype))

    def outside(self, column: Array) -> Array:
        """Say which lanes of a column are not in the space; NaN and infinities are in none."""
        low, high = self.low, self.high
        if self.dtype == np.float32:
            low, high = low.astype(np.float32), high.astype(np.float32)
        bad: Array = ~((column >= low) & (column <= high) & np.isfinite(column))
        out: Array = np.any(bad.reshape(len(column), -1), axis=1)
        return out

    def value(self, entry: Any) -> Array:
        """Return a column's entry as authors of single copies meet it: a copy."""
        return np.array(entry)


Space = Union[Discrete, MultiDiscrete, Box]  # noqa: UP007 - an alias that isinstance does not need


def check(space: object, name: str) -> None:
    """Refuse what is no space of ours, such as one of Gymnasium."""
    if not isinstance(space, (Discrete, MultiDiscrete, Box)):
        kind = type(space)
        what = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
        raise TypeError(f"{name} must be an rlrun.Discrete, rlrun.MultiDiscrete or rlrun.Box, not a {what}: {space!r}")


def zeros(space: Space, lanes: int) -> Array:
    """Return a zeroed column."""
    return np.zeros((lanes, *space.shape), space.dtype)


def from_bytes(space: Space, data: bytes, lanes: int, name: str) -> Array:
    """Return the column that crossed a process boundary, which must not be written to."""
    dtype = space.dtype if _LITTLE else space.dtype.newbyteorder("<")
    integers = dtype.kind == "i"
    if integers:  # the first byte is the size of one
        if data[:1] not in (b"\x01", b"\x02", b"\x04", b"\x08"):
            raise ValueError(f"{name}: column of integers that begins with {data[:1]!r}; want their size, 1, 2, 4 or 8")
        dtype = np.dtype(f"<i{data[0]}")
    want = integers + lanes * math.prod(space.shape) * dtype.itemsize
    if len(data) != want:
        raise ValueError(f"{name}: column of {len(data)} bytes, want {want}")
    column = np.frombuffer(data, dtype, offset=integers).reshape((lanes, *space.shape))
    return column.astype(space.dtype) if integers else column


def to_bytes(column: Array | list[int]) -> bytes:
    """Return a column as it crosses a process boundary.

    Integers, which are int64 here, take as few of 1, 2, 4 and 8 bytes as hold all of them; a first byte says how many.
    """
    if isinstance(column, list):
        largest, least = max(column), min(column)  # there is a lane at least
        size = _size(max(largest, -1 - least))
        return _integers(size, len(column)).pack(size, *column)
    if column.dtype.kind != "i":
        return (column if _LITTLE else column.astype(column.dtype.newbyteorder("<"))).tobytes()
    largest = max(int(column.max()), -1 - int(column.min())) if column.size else 0
    size = _size(largest)
    return bytes([size]) + column.astype(f"<i{size}").tobytes()


_LITTLE = sys.byteorder == "little"

_CODES = {1: "b", 2: "h", 4: "i", 8: "q"}
"""The formats of integers of so many bytes."""


@functools.lru_cache
def _integers(size: int, n: int) -> struct.Struct:
    """Return the format of a column of n integers."""
    return struct.Struct(f"<B{n}{_CODES[size]}")


def _size(largest: int) -> int:
    return 1 if largest < 1 << 7 else next(n for n in (2, 4, 8) if largest < 1 << (8 * n - 1))


def entries(space: Space, data: bytes, lanes: int, name: str) -> Array | list[int]:
    """Return the column that crossed a process boundary: a list for `Discrete`, whose few entries it serves faster."""
    if not isinstance(space, Discrete) or len(data) == 0 or len(data) != 1 + lanes * data[0] or data[0] not in _CODES:
        return from_bytes(space, data, lanes, name)  # which says what is wrong
    _, *column = _integers(data[0], lanes).unpack(data)
    return column


def blank(space: Space, lanes: int) -> Array | list[int]:
    """Return a zeroed column, a list for `Discrete`."""
    return [0] * lanes if isinstance(space, Discrete) else zeros(space, lanes)


def of_authors(space: Space, column: Array | list[int]) -> Iterable[Any]:
    """Return the entries of a column as authors of single copies meet them."""
    return column if isinstance(column, list) else map(space.value, column)


def copier(space: Space) -> Callable[[Any], Any]:
    """Return space.value for entries of columns, as fast as it can be."""
    if isinstance(space, Discrete):
        return int
    return np.ndarray.copy if space.shape else np.array


def as_column(space: Space, values: Any, lanes: int, name: str) -> Array:
    """Return what a batch answered as a column, or say what is wrong with it.

    The error names the lane, counted among those of the column, if one of them is to blame.
    """
    return convert(space.dtype, as_array(values, (lanes, *space.shape), name), name, lanes=True)


def as_entry(space: Space, value: Any, name: str) -> Any:
    """Return what a single copy answered as an entry of a column, or say what is wrong with it."""
    if isinstance(space, Discrete):
        if isinstance(value, (int, np.integer)):
            number = int(value)
            if not -(2**63) <= number < 2**63:
                raise InvalidAnswer(f"{name} is {number}, which is not in {space}")
            return number
    elif type(value) is np.ndarray and value.dtype == space.dtype and value.shape == space.shape:
        return value
    return convert(space.dtype, as_array(value, space.shape, name), name)


def as_array(value: Any, shape: tuple[int, ...], name: str, want: str = "numbers") -> Array:
    """Return an answer as an array of a shape, in the type in which it arrived, or say what is wrong with it."""
    array = any_array(value, name, want)
    if array.shape != shape:
        cure = ": return x.item()" if not shape and array.size == 1 else ""
        raise InvalidAnswer(f"{name} of shape {array.shape}, must be of shape {shape}{cure}")
    return array


_WORDS = {
    "U": "texts",
    "S": "bytes",
    "O": "objects of Python",
    "c": "complex numbers",
    "M": "dates",
    "m": "durations",
    "V": "records",
}
"""What numpy calls <U21 and the like, by the kind."""


def any_array(value: Any, name: str, want: str = "numbers") -> Array:
    """Return an answer as an array in the type in which it arrived."""
    if np.ma.is_masked(value):
        raise InvalidAnswer(f"{name} is masked ({shown(value)}), which is no number: fill it in")
    try:
        array = np.asarray(value)
    except Exception as e:  # rows of unequal lengths, or whatever others' arrays raise
        raise InvalidAnswer(f"{name} is no array: {type(e).__name__}: {e}") from e
    if array.dtype.kind not in "biuf":
        kind = _WORDS.get(array.dtype.kind, str(array.dtype)) if array.shape else f"the type {type(value).__name__}"
        raise InvalidAnswer(f"{name} has {kind} ({shown(value)}), must be {want}")
    return array


def shown(value: Any) -> str:
    """Return a value as errors show it: in short, and the same in every process."""
    text = re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))
    return text if len(text) <= 60 else text[:60] + "…"


def convert(dtype: np.dtype[Any], array: Array, name: str, *, lanes: bool = False) -> Array:
    """Return an array in another type, if that has all of its elements.

    Real numbers may be rounded, as 0.1 is in float32, but not to infinity. Integers are not rounded.
    """
    if array.dtype == dtype:
        return array
    cure = ""
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            out = array.astype(dtype)
        bad = np.isinf(out) & np.isfinite(array)
        if array.dtype.kind in "iu" and 8 * array.dtype.itemsize > np.finfo(dtype).nmant + 1:
            most = 2 ** int(np.finfo(dtype).nmant + 1)
            bad |= (array > most) | ((array < -most) if array.dtype.kind == "i" else False)
            cure = f": it has integers up to {most}, and a Box of int64 has more"
    elif array.dtype.kind == "f":
        if not array.shape:
            raise InvalidAnswer(f"{name} {array.item()!r} is of type {array.dtype}, must be an integer")
        cure = "return integers, or make the space a Box of float64"
        raise InvalidAnswer(f"{name} of {array.dtype} ({shown(array.tolist())}), must be of integers: {cure}")
    else:
        least, most = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        bad = (array < least) | (array > most)
        out = array.astype(dtype)
    if bad.any():
        at = np.unravel_index(int(np.argmax(bad)), bad.shape)
        element = f"element {list(map(int, at[lanes:]))} of " if len(at) > lanes else ""
        raise InvalidAnswer(
            f"{element}{name} is {array[at]}, which {dtype} does not have{cure}",
            lane=int(at[0]) if lanes else None,
        )
    return out


def as_number(value: Any, name: str) -> float:
    """Return what a single copy answered as a number, or say what is wrong with it: an array without axes is one."""
    if isinstance(value, (float, int)):
        try:
            return float(value)
        except OverflowError:
            raise InvalidAnswer(f"{name} is a whole number that float64 does not have") from None
    try:
        array = any_array(value, name)
    except InvalidAnswer:
        array = np.empty(0)
    if array.shape:
        cure = "x.item()" if array.size == 1 else "float(x)" if isinstance(value, str) else "a float, such as 0.0"
        raise InvalidAnswer(f"{name} is {shown(value)}, must be a number: return {cure}") from None
    return float(array.item())


def as_numbers(values: Any, lanes: int, name: str) -> NDArray[np.float64]:
    """Return what a batch answered as a number for each lane."""
    array = as_array(values, (lanes,), name)
    return array if array.dtype == np.float64 else array.astype(np.float64)


def as_flag(value: Any, name: str) -> bool:
    """Return what a single copy answered as a flag, or say what is wrong with it: an array without axes is one."""
    if type(value) is bool:
        return value
    array = np.asarray(value) if isinstance(value, (numbers.Integral, np.bool_)) or hasattr(value, "dtype") else None
    if array is None or array.shape or np.ma.is_masked(value) or not _flags(array):
        cure = ": return x.item()" if array is not None and array.size == 1 and _flags(array) else ""
        raise InvalidAnswer(f"{name} is {shown(value)}, a {type(value).__name__}: must be True or False{cure}")
    return bool(array.item())


def as_flags(values: Any, lanes: int, name: str) -> NDArray[np.bool_]:
    """Return what a batch answered as a flag for each lane."""
    array = as_array(values, (lanes,), name)
    if not _flags(array):
        raise InvalidAnswer(f"{name} of {array.dtype} ({shown(array.tolist())}), must be of bool: write x.astype(bool)")
    return array if array.dtype == np.bool_ else array.astype(np.bool_)


def as_masks(values: Any, shape: tuple[int, ...], name: str) -> NDArray[np.bool_]:
    """Return what was answered as masks of actions."""
    array = as_array(values, shape, name, "True and False, or whole numbers 0 and 1")
    if not _flags(array):
        raise InvalidAnswer(
            f"{name} is {shown(array.tolist())}, of type {array.dtype}, must be of True and False, or of whole numbers "
            "0 and 1, as of type int8"
        )
    return array.astype(np.bool_)


def _flags(array: Array) -> bool:
    """Say whether an array has flags: of bool, or integers that are 0 and 1."""
    return array.dtype.kind == "b" or (array.dtype.kind in "iu" and bool(((array == 0) | (array == 1)).all()))


def to_proto(space: Space) -> pb.Space:
    """Return a space as a message."""
    if isinstance(space, Discrete):
        return pb.Space(discrete=pb.DiscreteSpace(n=space.n, start=space.start))
    if isinstance(space, MultiDiscrete):
        return pb.Space(multi_discrete=pb.MultiDiscreteSpace(nvec=space.nvec))
    low, high = (_brief(b) for b in (space.low, space.high))
    return pb.Space(box=pb.BoxSpace(low=low, high=high, shape=space.shape, dtype=_DTYPES[space.dtype.name]))


def _brief(bound: Array) -> list[float]:
    """Return a bound's elements, one for all where they are the same."""
    flat: list[float] = bound.ravel().tolist()
    return flat[:1] if len(set(flat)) == 1 else flat


def from_proto(message: pb.Space) -> Space:
    """Return the space that a message describes."""
    kind = message.WhichOneof("kind")
    if kind == "discrete":
        return Discrete(message.discrete.n, message.discrete.start)
    if kind == "multi_discrete":
        return MultiDiscrete(message.multi_discrete.nvec)
    if kind == "box":
        b = message.box
        shape = tuple(b.shape)
        name = next(
            (name for name, code in _DTYPES.items() if code == b.dtype), "a type that this version does not know"
        )
        if any(n < 1 for n in shape) or math.prod(shape) > MOST_ELEMENTS:
            raise ValueError(f"Box of shape {shape}; must have 1 to {MOST_ELEMENTS} elements")
        low, high = (
            np.full(shape, bound[0]) if len(bound) == 1 else np.reshape(bound, shape) for bound in (b.low, b.high)
        )
        return Box(low, high, shape, name)  # type: ignore[arg-type]
    raise ValueError("a space of a kind that this version does not know")
