"""Saved agents as data: arrays and plain values as bytes, and back, without code.

The bytes are `ARRAYS`, the length of a text as uint64, the text, which is JSON, and the
elements of all arrays, one array after the other, little-endian. In the text

- null, true, false, numbers and texts are themselves, and a list is a list;
- an object has one key, the kind of a value, such as "tuple", "dict", "array" or "generator";
- a "view" is an array in bytes that others may share: these are written once.

Pickled bytes begin with `PICKLE`. To read them runs code that is in them. So they are
made only for a class that says ``pickles = True``, and read only if the user trusts them.
"""

from __future__ import annotations

import collections
import dataclasses
import hashlib
import importlib
import io
import json
import math
import os
import pickle
import random
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np

from rlrun import spaces
from rlrun.environment import Spec
from rlrun.errors import Error
from rlrun.streams import Streams

ARRAYS, PICKLE, OTHER = b"RLARRAY1", b"RLPICKLE", b"RLAUTHOR"
"""What the state of a lane begins with: the formats of this module, and one of an author's own."""

TRUST = "RLRUN_TRUST"
"""The variable that is 1 if the user trusts pickled agents: rlrun sets it for --trust."""

DEEPEST = 100
"""How many values may be nested."""

_GENERATORS: tuple[str, ...] = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
_DTYPE = re.compile(r"[<>|]([biufcSUmM]\d*)(\[[0-9a-zA-Zμ]+\])?")
_OWN: tuple[type, ...] = (spaces.Discrete, spaces.MultiDiscrete, spaces.Box, Spec, Streams)

_FACTORIES: dict[str, type] = {t.__name__: t for t in (int, float, bool, str, list, dict, set, tuple)}

_pickled: set[bytes] = set()
"""Digests of what this process pickled itself: an evaluation in the same process reads no code of others."""


def pack(value: Any) -> bytes:
    """Return a value as bytes that `unpack` reads without running code.

    It may consist of numbers, texts, bytes, lists, tuples, sets, dicts, deques, ranges, numpy's arrays, scalars and
    generators, `random.Random`, PyTorch's tensors, dataclasses, spaces, `rlrun.Spec` and `rlrun.Streams`. A list, dict,
    array or generator that occurs twice is one again, and arrays share memory as before. The order of a set is another
    one. Raises `rlrun.Error`, which names the part that is none of these.
    """
    writer = _Writer({})
    written = writer.write(value, "")
    if shared := _shared(writer.found):
        writer = _Writer(shared)
        written = writer.write(value, "")
    text = json.dumps(written).encode()
    return b"".join([ARRAYS, len(text).to_bytes(8, "little"), text, *(a.tobytes() for a in writer.arrays)])


def unpack(data: bytes, known: Iterable[type] = ()) -> Any:
    """Return the value that `pack` wrote. Dataclasses in it must be among ``known``.

    Raises `rlrun.Error` if the bytes are none of `pack`.
    """
    length = int.from_bytes(data[8:16], "little")
    if data[:8] != ARRAYS or len(data) < 16 + length:
        raise Error("this is no saved agent: it does not begin as one, or is cut off")
    try:
        reader = _Reader(data[16 + length :], {_name(cls): cls for cls in known})
        value = reader.read(json.loads(data[16 : 16 + length]))
    except Error:
        raise
    except RecursionError:
        raise Error("this is no saved agent: it is nested too deeply") from None
    except Exception as e:
        raise Error(f"this is no saved agent: {type(e).__name__}: {e}") from e
    if reader.rest:
        raise Error("this is no saved agent: bytes follow its arrays")
    return value


def save(attributes: dict[str, Any], pickles: bool) -> bytes:
    """Return an agent's attributes as bytes, pickled if its class says so."""
    if not pickles:
        return pack(attributes)
    try:
        data = PICKLE + _pickle(attributes)
    except Exception as e:
        cure = "override save and load, or say checkpoints = False"
        raise Error(f"{_unpicklable(attributes)} cannot be pickled ({e}): {cure}") from e
    _pickled.add(hashlib.sha256(data).digest())
    return data


def load(data: bytes, pickles: bool, attributes: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes that `save` wrote, for an agent that has these now."""
    if data[:8] != PICKLE:
        value = unpack(data, _dataclasses(attributes))
        if not isinstance(value, dict):
            raise Error("this is no saved agent: it has no attributes")
        return value
    if not pickles:
        raise Error("the saved agent is pickled, and this agent saves without code: it did not make the file")
    if os.environ.get(TRUST) != "1" and hashlib.sha256(data).digest() not in _pickled:
        raise Error(
            "the saved agent is pickled: to read it runs code that is in the file. If you trust whoever made it, "
            "run rlrun with --trust"
        )
    try:
        value = pickle.loads(data[8:])
    except Exception as e:
        raise Error(f"the saved agent cannot be unpickled: {type(e).__name__}: {e}") from e
    if not isinstance(value, dict):
        raise Error("this is no saved agent: it has no attributes")
    return value


def _pickle(value: Any) -> bytes:
    """Pickle a value whose arrays may share memory."""
    shared: dict[_Place, tuple[Any, int]] = {}
    found: list[Any] = []

    class Pickler(pickle.Pickler):
        def reducer_override(self, x: Any) -> Any:
            if type(x) is not np.ndarray:
                return NotImplemented
            found.append(x)
            block, offset = shared.get(_place(x), (x, 0))
            if block is x:
                return NotImplemented
            return np.ndarray, (x.shape, x.dtype, block, offset, x.strides)

    data = io.BytesIO()
    Pickler(data).dump(value)
    if shared := _shared(found):
        data = io.BytesIO()
        Pickler(data).dump(value)
    return data.getvalue()


_Place: TypeAlias = tuple[int, tuple[int, ...], tuple[int, ...], str]
"""Where the elements of an array are in memory, and what they are."""


def _place(array: Any) -> _Place:
    return int(array.__array_interface__["data"][0]), array.shape, array.strides, array.dtype.str


def _shared(arrays: list[Any]) -> dict[_Place, tuple[Any, int]]:
    """Return, by the place of an array, bytes and where in them it begins.

    It is so for arrays that share memory, and for those that lie in memory in an order of their own: numpy may round
    sums of another order in another way.
    """
    spans = []
    for a in arrays:
        low, high = _span(_place(a)[0], a.shape, a.strides, a.itemsize)
        if 0 < a.nbytes <= high - low and not a.dtype.hasobject:  # it does not repeat elements
            spans.append((low, high, a))
    groups: list[list[Any]] = []
    end = 0
    for low, high, a in sorted(spans, key=lambda span: span[0]):
        if low >= end:
            groups.append([low])
        end = max(end, high)
        groups[-1][1:] = [end, *groups[-1][2:], a]
    found: dict[_Place, tuple[Any, int]] = {}
    for low, end, *own in groups:
        if len(own) > 1 or (not own[0].flags.forc and end - low <= 4 * own[0].nbytes):
            block = np.asarray(_Memory(low, end - low))
            found |= {_place(a): (block, _place(a)[0] - low) for a in own}
    return found


def _span(first: int, shape: Sequence[int], strides: Sequence[int], size: int) -> tuple[int, int]:
    """Return where the bytes of an array with a first element begin and end, in Python's numbers, which are exact."""
    ends = [(n - 1) * stride for n, stride in zip(shape, strides, strict=True)]
    return first + sum(e for e in ends if e < 0), first + sum(e for e in ends if e > 0) + size


class _Memory:
    """Bytes that an array has, as numpy takes them."""

    def __init__(self, address: int, size: int) -> None:
        self.__array_interface__ = {"data": (address, True), "shape": (size,), "typestr": "|u1", "version": 3}


def _unpicklable(attributes: dict[str, Any]) -> str:
    """Name the first attribute that cannot be pickled."""
    for name, value in attributes.items():
        try:
            pickle.dumps(value)
        except Exception:
            return f"the attribute {name}"
    return "the agent"


def _name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def _dataclasses(attributes: dict[str, Any]) -> set[type]:
    """Return the types of dataclasses that an agent's attributes have."""
    found, waiting, seen = set[type](), list(attributes.values()), set[int]()
    while waiting:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, (list, tuple, set, frozenset, collections.deque)):
            waiting += value
        elif isinstance(value, dict):
            waiting += value.values()
        elif dataclasses.is_dataclass(value) and not isinstance(value, type):
            found.add(type(value))
            waiting += vars(value).values() if hasattr(value, "__dict__") else []
    return found


class _Writer:
    """Turns a value into what JSON has, and arrays."""

    def __init__(self, shared: dict[_Place, tuple[Any, int]]) -> None:
        self.arrays: list[Any] = []
        self.found: list[Any] = []  # arrays that may share memory
        self._shared = shared
        self._bits: dict[int, np.random.Generator] = {}  # the first over each source of random numbers
        self._numbers: dict[int, int] = {}  # of values that may occur twice, in order
        self._alive: list[Any] = []  # so that no other gets the id of one of these
        self._open: set[int] = set()  # values that a value is inside

    def write(self, value: Any, path: str) -> Any:
        """Return a value as JSON has it. path says where it is."""
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": str(value)}
        if id(value) in self._open or len(self._open) > DEEPEST:
            raise _unsaved(path, "contains itself, or is nested too deeply")
        if id(value) in self._numbers:
            return {"again": self._numbers[id(value)]}
        self._open.add(id(value))
        written = self._composite(value, path)
        self._open.discard(id(value))
        self._numbers[id(value)] = len(self._numbers)
        self._alive.append(value)
        return written

    def _composite(self, value: Any, path: str) -> Any:  # noqa: PLR0912  a case a type
        kind = type(value)
        if kind is list:
            return self._all(value, path)
        if kind in (tuple, set, frozenset):
            items = value if kind is tuple else sorted(value, key=repr)
            return {kind.__name__: self._all(items, path)}
        if kind is dict:
            pairs = [
                [self.write(k, path), self.write(v, f"{path}.{k}" if path and isinstance(k, str) else _at(path, k))]
                for k, v in value.items()
            ]
            return {"dict": pairs}
        if kind is collections.defaultdict and value.default_factory in _FACTORIES.values():
            return {"defaultdict": [value.default_factory.__name__, self.write(dict(value), path)]}
        if kind in (collections.Counter, collections.OrderedDict):
            return {kind.__name__.lower(): self.write(dict(value), path)}
        if kind is collections.deque:
            return {"deque": [self._all(value, path), value.maxlen]}
        if kind in (bytes, bytearray):
            return {kind.__name__: self._array(np.frombuffer(value, np.uint8))}
        if kind is complex:
            return {"complex": [repr(value.real), repr(value.imag)]}
        if kind is range:
            return {"range": [value.start, value.stop, value.step]}
        if kind is np.ndarray:
            block, offset = self._shared.get(_place(value), (value, 0))
            if block is not value:
                place = [offset, value.dtype.str, list(value.shape), list(value.strides)]
                return {"view": [self.write(block, path), *place]}
            self.found.append(value)
            return {"array": self._array(value, path)}
        if (torch := sys.modules.get("torch")) and kind is torch.Tensor:
            try:
                elements = value.detach().cpu().numpy()
            except (TypeError, RuntimeError):  # numpy has no such type, or the tensor is sparse
                raise _unsaved(path, f"is a tensor of {value.dtype}, {value.layout}") from None
            return {"tensor": self.write(elements, path)}
        if isinstance(value, np.dtype) and _DTYPE.fullmatch(value.str):
            return {"dtype": value.str}
        if isinstance(value, np.generic):
            return {"scalar": self._array(np.asarray(value), path)}
        if kind is np.random.Generator:
            bits = value.bit_generator
            if type(bits).__name__ not in _GENERATORS:
                raise _unsaved(path, f"is a Generator over {type(bits).__name__}")
            if (first := self._bits.setdefault(id(bits), value)) is not value:
                return {"beside": self.write(first, path)}
            return {"generator": [type(bits).__name__, self.write(bits.state, path), self._sequence(bits, path)]}
        if kind is np.random.RandomState:
            return {"randomstate": self.write(value.get_state(), path)}
        if kind is random.Random:
            return {"random": self.write(value.getstate(), path)}
        if kind is Streams:
            return {"streams": self.write(value.state, path)}
        if dataclasses.is_dataclass(value):
            fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
            if hasattr(value, "__dict__") and vars(value).keys() - fields.keys():
                fields |= vars(value)
            return {"dataclass": [_name(kind), self.write(fields, path)]}
        state = " (its state_dict() can be packed)" if hasattr(value, "state_dict") else ""
        raise _unsaved(path, f"is a {kind.__module__}.{kind.__qualname__}{state}")

    def _all(self, values: Iterable[Any], path: str) -> list[Any]:
        return [self.write(v, _at(path, i)) for i, v in enumerate(values)]

    def _array(self, value: Any, path: str = "") -> Any:
        """Write an array's elements down, and return its type, its shape, and whether columns are contiguous."""
        if not _DTYPE.fullmatch(value.dtype.str):
            raise _unsaved(path, f"is an array of {value.dtype}")
        by_columns = value.flags.f_contiguous and not value.flags.c_contiguous
        little = value.astype(value.dtype.newbyteorder("<"), copy=False)
        self.arrays.append(little.T if by_columns else little)
        return [little.dtype.str, list(value.shape), by_columns]

    def _sequence(self, bits: Any, path: str) -> Any:
        """Write what new generators are spawned from."""
        seeds = getattr(bits, "seed_seq", None)
        if type(seeds) is not np.random.SeedSequence:
            return None
        return self.write(
            [seeds.entropy, seeds.spawn_key, seeds.pool_size, seeds.n_children_spawned],
            path,
        )


def _at(path: str, key: Any) -> str:
    """Return the path of an element."""
    return str(key) if not path and isinstance(key, str) else f"{path}[{key!r}]"


def _unsaved(path: str, why: str) -> Error:
    what = f"the attribute {path}" if path else "the value"
    return Error(
        f"{what} {why}, and is not saved: keep arrays, numbers, texts, lists, dicts and numpy's generators. Or "
        "override save and load (rlrun.pack and rlrun.unpack help), or say pickles = True, and rlrun loads the agent "
        "only with --trust, or checkpoints = False"
    )


class _Reader:
    """Makes a value of what a _Writer wrote."""

    def __init__(self, rest: bytes, known: dict[str, type]) -> None:
        self.rest = memoryview(rest)
        self._known = known | {_name(cls): cls for cls in _OWN if dataclasses.is_dataclass(cls)}
        self._seen: list[Any] = []

    def read(self, written: Any, depth: int = 0) -> Any:
        """Return a value."""
        if depth > 4 * DEEPEST:
            raise Error("this is no saved agent: it is nested too deeply")
        if not isinstance(written, (list, dict)):
            return written
        if isinstance(written, list):
            value: Any = [self.read(v, depth + 1) for v in written]
        else:
            (kind, content), *more = written.items()
            if more:
                raise ValueError("a value of two kinds")
            if kind == "float":
                return float(content)
            if kind == "again":
                return self._seen[_index(content, len(self._seen))]
            value = self._kinds()[kind](content, depth + 1)
        self._seen.append(value)
        return value

    def _kinds(self) -> dict[str, Callable[[Any, int], Any]]:
        return {
            "tuple": lambda c, d: tuple(self._list(c, d)),
            "set": lambda c, d: set(self._list(c, d)),
            "frozenset": lambda c, d: frozenset(self._list(c, d)),
            "dict": lambda c, d: {self.read(k, d): self.read(v, d) for k, v in c},
            "defaultdict": lambda c, d: collections.defaultdict(_FACTORIES[c[0]], self.read(c[1], d)),
            "counter": lambda c, d: collections.Counter(self.read(c, d)),
            "ordereddict": lambda c, d: collections.OrderedDict(self.read(c, d)),
            "dtype": lambda c, _: _dtype(c),
            "deque": lambda c, d: collections.deque(self._list(c[0], d), c[1]),
            "bytes": lambda c, _: self._array(c).tobytes(),
            "bytearray": lambda c, _: bytearray(self._array(c).tobytes()),
            "complex": lambda c, _: complex(float(c[0]), float(c[1])),
            "range": lambda c, _: range(*c),
            "array": lambda c, _: self._array(c),
            "view": self._view,
            "tensor": lambda c, d: importlib.import_module("torch").from_numpy(self.read(c, d)),
            "scalar": lambda c, _: self._array(c)[()],
            "generator": self._generator,
            "randomstate": self._random_state,
            "random": self._random,
            "beside": lambda c, d: np.random.Generator(self.read(c, d).bit_generator),
            "streams": self._streams,
            "dataclass": self._dataclass,
        }

    def _list(self, content: Any, depth: int) -> list[Any]:
        if not isinstance(content, list):
            raise TypeError(f"{content!r} is no list")
        return [self.read(v, depth) for v in content]

    def _array(self, content: Any) -> Any:
        name, shape, by_columns = content
        dtype, shape = _dtype(name), tuple(_index(n, 2**62) for n in shape)
        size = math.prod(shape) * dtype.itemsize
        if size > len(self.rest):
            raise ValueError(f"an array of {size} bytes, of which there are {len(self.rest)}")
        flat = np.frombuffer(self.rest[:size], np.uint8).copy().view(dtype) if size else np.empty(0, dtype)
        self.rest = self.rest[size:]
        native = flat.astype(dtype.newbyteorder("="), copy=False)
        return native.reshape(shape[::-1]).T if by_columns else native.reshape(shape)

    def _view(self, content: Any, depth: int) -> Any:
        block, offset, name, shape, strides = content
        block, dtype, shape = self.read(block, depth), _dtype(name), tuple(_index(n, 2**62) for n in shape)
        low, high = _span(offset, shape, strides, dtype.itemsize)
        if type(block) is not np.ndarray or not 0 < math.prod(shape) * dtype.itemsize <= block.nbytes:
            raise ValueError("a view of other bytes")
        if {type(n) for n in [offset, *strides]} != {int} or low < 0 or high > block.nbytes:  # numpy's sums overflow
            raise ValueError("a view beyond its bytes")
        return np.ndarray(shape, dtype, block, offset, tuple(strides))

    def _generator(self, content: Any, depth: int) -> np.random.Generator:
        name, state, seeds = content
        if name not in _GENERATORS:
            raise ValueError(f"a generator {name!r}")
        bits_of, sequence = getattr(np.random, name), np.random.SeedSequence(0)
        written = _checked(self.read(state, depth))
        if seeds is not None:
            entropy, key, pool, spawned = self.read(seeds, depth)
            sequence = np.random.SeedSequence(
                entropy, spawn_key=key, pool_size=_index(pool, 1024), n_children_spawned=_index(spawned, 2**32)
            )
        bits = bits_of(sequence)
        bits.state = written
        return np.random.Generator(bits)

    def _random_state(self, content: Any, depth: int) -> np.random.RandomState:
        value = np.random.RandomState(0)
        value.set_state(_checked(self.read(content, depth)))
        return value

    def _random(self, content: Any, depth: int) -> random.Random:
        value = random.Random(0)
        value.setstate(self.read(content, depth))
        return value

    def _streams(self, content: Any, depth: int) -> Streams:
        state = self.read(content, depth)
        if type(state) is not np.ndarray or state.dtype != np.uint64 or state.ndim != 1:
            raise ValueError("streams of another state")
        value = Streams(len(state))
        value.state = state
        return value

    def _dataclass(self, content: Any, depth: int) -> Any:
        name, fields = content
        cls = self._known.get(name)
        if cls is None:
            raise Error(f"the saved agent has a {name}, and this one has none")
        value: Any = object.__new__(cls)
        for key, v in self.read(fields, depth).items():
            object.__setattr__(value, key, v)  # __init__ and __post_init__ are not called
        return value


def _dtype(name: Any) -> np.dtype[Any]:
    """Return a type of numbers or texts."""
    if not _DTYPE.fullmatch(name):
        raise ValueError(f"the type {name!r}")
    dtype: np.dtype[Any] = np.dtype(name)
    return dtype


def _checked(state: Any) -> Any:
    """Return the state of a generator. numpy does not check where in its buffer it is, and would read beyond it."""
    inner = state["state"] if isinstance(state, dict) else state
    for held, name, length in ((inner, "pos", 625), (state, "buffer_pos", 5)):
        if isinstance(held, dict) and name in held:
            _index(int(held[name]), length)
    if isinstance(state, tuple):
        _index(int(state[2]), 625)
    return state


def _index(number: Any, below: int) -> int:
    """Return a whole number that is at least 0 and below a limit."""
    if type(number) is not int or not 0 <= number < below:
        raise ValueError(f"{number!r} is not in 0..{below - 1}")
    return number
