"""Saved agents as data: arrays and plain values as bytes, and back, without code.

The bytes are `ARRAYS`, the length of a text as uint64, the text, which is JSON, and the
elements of all arrays, one array after the other. In the text

- null, true, false, numbers and texts are themselves, and a list is a list;
- an object has one key, the kind of a value, such as "tuple", "dict", "array" or "generator";
- a "view" is an array in bytes that others may share: these are written once;
- {"again": n} is the nth value of several parts, but within a key of a dict or a member of a set tuples are
  written anew: a short text could name one that takes forever to hash.

Pickled bytes begin with `PICKLE`. To read them runs code that is in them. So they are
made only for a class that says ``pickles = True``, and read only if the user trusts them.
"""

from __future__ import annotations

import collections
import contextlib
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
from types import BuiltinMethodType, FunctionType, MemberDescriptorType
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

WIDEST = 2**30
"""How many bytes an array may seem to have that repeats elements."""

_GENERATORS: tuple[str, ...] = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")
_NUMPYS = (np.random.Generator, np.random.RandomState)
_WITHIN_KEYS = (tuple, frozenset)
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


def attributes(x: Any, path: str = "") -> dict[str, Any]:
    """Return what an object has in its slots and its dict. Raises `rlrun.Error` if it has more than that."""
    for cls in type(x).__mro__[:-1]:
        if isinstance(vars(cls).get("__new__"), BuiltinMethodType):  # a list, for instance, has elements
            raise _unsaved(path, f"is a {_name(type(x))}, which derives from {_name(cls)}")
    values = {}
    for name, slot in _slots(type(x)).items():
        with contextlib.suppress(AttributeError):  # it is not set
            values[name] = slot.__get__(x)
    return values | getattr(x, "__dict__", {})


def restore(x: Any, values: dict[str, Any]) -> None:
    """Give an object these attributes in place of those that it has. No code of its class runs."""
    for name, slot in _slots(type(x)).items():
        if name in values:
            slot.__set__(x, values.pop(name))
        else:
            with contextlib.suppress(AttributeError):
                slot.__delete__(x)
    if values or hasattr(x, "__dict__"):
        own = vars(x)
        own.clear()
        own.update(values)


def _slots(cls: type) -> dict[str, MemberDescriptorType]:
    found = [(name, x) for c in reversed(cls.__mro__) for name, x in vars(c).items()]
    return {name: x for name, x in found if isinstance(x, MemberDescriptorType)}


def save(agent: Any, pickles: bool) -> bytes:
    """Return an agent's attributes as bytes, pickled if its class says so."""
    values = attributes(agent)
    if not pickles:
        return pack(values)
    try:
        data = PICKLE + _pickle(values)
    except Exception as e:
        cure = "override save and load, or say checkpoints = False"
        raise Error(f"{_unpicklable(values)} cannot be pickled ({e}): {cure}") from e
    _pickled.add(hashlib.sha256(data).digest())
    return data


def load(agent: Any, data: bytes, pickles: bool) -> None:
    """Give an agent the attributes that `save` wrote."""
    value = _unpickle(data, pickles) if data[:8] == PICKLE else unpack(data, _dataclasses(agent))
    if not isinstance(value, dict) or not all(isinstance(name, str) for name in value):
        raise Error("this is no saved agent: it has no attributes")
    restore(agent, value)


def _unpickle(data: bytes, pickles: bool) -> Any:
    if not pickles:
        raise Error("the saved agent is pickled, and this agent saves without code: it did not make the file")
    if os.environ.get(TRUST) != "1" and hashlib.sha256(data).digest() not in _pickled:
        raise Error(
            "the saved agent is pickled: to read it runs code that is in the file. If you trust whoever made it, "
            "run rlrun with --trust"
        )
    try:
        return pickle.loads(data[8:])
    except Exception as e:
        raise Error(f"the saved agent cannot be unpickled: {type(e).__name__}: {e}") from e


def _pickle(value: Any) -> bytes:
    """Pickle a value whose arrays, or tensors, may share memory."""
    shared: dict[_Place, tuple[Any, int]] = {}
    found: list[Any] = []
    storages: dict[int, Any] = {}
    torch = sys.modules.get("torch")

    class Pickler(pickle.Pickler):
        def reducer_override(self, x: Any) -> Any:
            if torch and type(x) is torch.storage.TypedStorage:
                first = storages.setdefault(x._untyped_storage.data_ptr() or id(x), x)
                return NotImplemented if first is x else (_storage, (first, x.dtype))
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


def _storage(first: Any, dtype: Any) -> Any:
    """Return the memory of a tensor, which is that of another."""
    return type(first)(wrap_storage=first._untyped_storage, dtype=dtype, _internal=True)


_Place: TypeAlias = tuple[int, tuple[int, ...], tuple[int, ...], str]
"""Where the elements of an array are in memory, and what they are."""


def _place(array: Any) -> _Place:
    return int(array.__array_interface__["data"][0]), array.shape, array.strides, array.dtype.str


def _shared(arrays: list[Any]) -> dict[_Place, tuple[Any, int]]:
    """Return, by the place of an array, bytes and where in them it begins.

    It is so for arrays that share memory or repeat elements, and for those that lie in memory in an order of their own:
    numpy may round sums of another order in another way.
    """
    spans = []
    for a in arrays:
        low, high = _span(_place(a)[0], a.shape, a.strides, a.itemsize)
        if a.nbytes and not a.dtype.hasobject:
            spans.append((low, high, a))
    groups: list[tuple[int, int, list[Any]]] = []
    for low, high, a in sorted(spans, key=lambda span: span[0]):
        start, end, own = groups.pop() if groups and low < groups[-1][1] else (low, high, [])
        own.append(a)
        groups.append((start, max(end, high), own))
    found: dict[_Place, tuple[Any, int]] = {}
    for low, end, own in groups:
        if len(own) > 1 or (not own[0].flags.forc and end - low <= max(2**16, 4 * own[0].nbytes)):
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


def _dataclasses(agent: Any) -> set[type]:
    """Return the dataclasses that an agent's attributes and its code have."""
    found, seen = set[type](), set[int]()
    waiting: list[Any] = [attributes(agent)]
    for cls in type(agent).__mro__:
        waiting += vars(cls).values()
    while waiting:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, (list, tuple, set, frozenset, collections.deque)):
            waiting += value
        elif isinstance(value, dict):
            waiting += value
            waiting += value.values()
        elif isinstance(value, FunctionType):
            waiting += [x for x in value.__globals__.values() if isinstance(x, type)]
            for cell in value.__closure__ or ():
                with contextlib.suppress(ValueError):  # it is empty
                    waiting.append(cell.cell_contents)
        elif dataclasses.is_dataclass(value):
            found.add(value if isinstance(value, type) else type(value))
            if not isinstance(value, type):
                with contextlib.suppress(Error):
                    waiting += attributes(value).values()
    return found


class _Writer:
    """Turns a value into what JSON has, and arrays."""

    def __init__(self, shared: dict[_Place, tuple[Any, int]]) -> None:
        self.arrays: list[Any] = []
        self.found: list[Any] = []  # arrays that may share memory
        self._shared = shared
        self._bits: dict[int, Any] = {}  # the first over each source of random numbers
        self._numbers: dict[int, int] = {}  # of values that may occur twice, in order
        self._alive: list[Any] = []  # so that no other gets the id of one of these
        self._open: set[int] = set()  # values that a value is inside
        self._keys = 0  # how many keys it is inside

    def write(self, value: Any, path: str) -> Any:
        """Return a value as JSON has it. path says where it is."""
        if type(value) is int and value.bit_length() > 64:  # Python reads decimals slowly, and at most 4300
            return {"int": hex(value)}
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": str(value)}
        if id(value) in self._open or len(self._open) > DEEPEST:
            raise _unsaved(path, "contains itself, or is nested too deeply")
        if id(value) in self._numbers and not (self._keys and type(value) in _WITHIN_KEYS):
            return {"again": self._numbers[id(value)]}
        self._open.add(id(value))
        written = self._composite(value, path)
        self._open.discard(id(value))
        self._numbers[id(value)] = len(self._alive)
        self._alive.append(value)
        return written

    def _composite(self, value: Any, path: str) -> Any:  # noqa: PLR0912  a case a type
        kind = type(value)
        if kind is list:
            return self._all(value, path)
        if kind is tuple:
            return {"tuple": self._all(value, path)}
        if kind in (set, frozenset):
            return {kind.__name__: [self._key(v, path) for v in sorted(value, key=_text)]}
        if kind is dict:
            pairs = [
                [self._key(k, path), self.write(v, f"{path}.{k}" if path and type(k) is str else _at(path, k))]
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
            elements = np.frombuffer(value, np.uint8)
            if _place(elements) in self._shared:
                raise _unsaved(path, f"is a {kind.__name__} whose memory an array has, too")
            self.found += [elements] * (kind is bytearray)
            return {kind.__name__: self._array(elements)}
        if kind is complex:
            return {"complex": [repr(value.real), repr(value.imag)]}
        if kind is range:
            return {"range": [value.start, value.stop, value.step]}
        if kind is np.ndarray:
            block, offset = self._shared.get(_place(value), (value, 0))
            if value.nbytes > max(WIDEST, block.nbytes):
                raise _unsaved(path, f"is an array that repeats elements into {value.nbytes} bytes")
            if block is not value:
                place = [offset, value.dtype.str, list(value.shape), list(value.strides)]
                return {"view": [self.write(block, path), *place]}
            self.found.append(value)
            return {"array": self._array(value, path)}
        if (torch := sys.modules.get("torch")) and kind is torch.Tensor:
            if value.requires_grad:
                raise _unsaved(path, "is a tensor that requires a gradient (its detach() can be packed)")
            try:
                elements = value.cpu().numpy()
            except (TypeError, RuntimeError):  # numpy has no such type, or the tensor is sparse
                raise _unsaved(path, f"is a tensor of {value.dtype}, {value.layout}") from None
            return {"tensor": self.write(elements, path)}
        if isinstance(value, np.dtype) and _DTYPE.fullmatch(value.str):
            return {"dtype": value.str}
        if isinstance(value, np.generic):
            return {"scalar": self._array(np.asarray(value), path)}
        if kind in _NUMPYS:
            return self._generator(value, path)
        if kind is np.random.SeedSequence:  # from which generators are spawned
            seeds = [value.entropy, value.spawn_key, value.pool_size, value.n_children_spawned]
            return {"seeds": self.write(seeds, path)}
        if kind is random.Random:
            return {"random": self.write(value.getstate(), path)}
        if kind is Streams:
            return {"streams": self.write(value.state, path)}
        if dataclasses.is_dataclass(value):
            return {"dataclass": [_name(kind), self.write(attributes(value, path), path)]}
        state = " (its state_dict() can be packed)" if hasattr(value, "state_dict") else ""
        raise _unsaved(path, f"is a {kind.__module__}.{kind.__qualname__}{state}")

    def _all(self, values: Iterable[Any], path: str) -> list[Any]:
        return [self.write(v, _at(path, i)) for i, v in enumerate(values)]

    def _generator(self, value: Any, path: str) -> Any:
        """Write a generator of numpy, which may have its source of random numbers together with others."""
        legacy = type(value) is np.random.RandomState
        bits = value._bit_generator if legacy else value.bit_generator
        first = self._bits.setdefault(id(bits), value)
        name = type(bits).__name__
        if name not in _GENERATORS[: 1 if legacy else None]:
            raise _unsaved(path, f"is a {type(value).__name__} over {name}")
        if type(first) is not type(value):
            raise _unsaved(path, f"has the source of random numbers of a {type(first).__name__}")
        if first is not value:
            return {"beside": self.write(first, path)}
        if legacy:
            return {"randomstate": self.write(value.get_state(), path)}
        seeds = getattr(bits, "seed_seq", None)
        seeds = seeds if type(seeds) is np.random.SeedSequence else None
        return {"generator": [name, self.write(bits.state, path), self.write(seeds, path)]}

    def _key(self, value: Any, path: str) -> Any:
        """Write what is hashed."""
        self._keys += 1
        written = self.write(value, path)
        self._keys -= 1
        return written

    def _array(self, value: Any, path: str = "") -> Any:
        """Write an array's elements down, and return its type, its shape, and whether columns are contiguous."""
        if not _DTYPE.fullmatch(value.dtype.str):
            raise _unsaved(path, f"is an array of {value.dtype}")
        by_columns = value.flags.f_contiguous and not value.flags.c_contiguous
        self.arrays.append(value.T if by_columns else value)
        return [value.dtype.str, list(value.shape), by_columns]


def _at(path: str, key: Any) -> str:
    """Return the path of an element."""
    return key if not path and type(key) is str else f"{path}[{_text(key)}]"


def _text(key: Any) -> str:
    try:
        return repr(key)
    except Exception:  # a number of too many digits, or an author's own method
        return f"a {type(key).__name__}"


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
        self._keys = 0

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
            if kind == "int":
                return int(content, 16)
            if kind == "again":
                value = self._seen[_index(content, len(self._seen))]
                if self._keys and type(value) in _WITHIN_KEYS:
                    raise ValueError("a key of other values")
                return value
            value = self._kinds()[kind](content, depth + 1)
        self._seen.append(value)
        return value

    def _kinds(self) -> dict[str, Callable[[Any, int], Any]]:
        return {
            "tuple": lambda c, d: tuple(self._list(c, d)),
            "set": lambda c, d: set(_apart([self._key(v, d) for v in c])),
            "frozenset": lambda c, d: frozenset(_apart([self._key(v, d) for v in c])),
            "dict": self._pairs,
            "defaultdict": lambda c, d: collections.defaultdict(_FACTORIES[c[0]], self._dict(c[1], d)),
            "counter": lambda c, d: collections.Counter(self._dict(c, d)),
            "ordereddict": lambda c, d: collections.OrderedDict(self._dict(c, d)),
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
            "seeds": self._seeds,
            "streams": self._streams,
            "dataclass": self._dataclass,
        }

    def _list(self, content: Any, depth: int) -> list[Any]:
        if not isinstance(content, list):
            raise TypeError(f"{content!r} is no list")
        return [self.read(v, depth) for v in content]

    def _pairs(self, content: Any, depth: int) -> dict[Any, Any]:
        pairs = [(self._key(k, depth), self.read(v, depth)) for k, v in content]
        _apart([k for k, _ in pairs])
        return dict(pairs)

    def _dict(self, content: Any, depth: int) -> dict[Any, Any]:
        value = self.read(content, depth)
        if type(value) is not dict:
            raise TypeError(f"a {type(value).__name__} in place of a dict")
        return value

    def _key(self, content: Any, depth: int) -> Any:
        self._keys += 1
        value = self.read(content, depth)
        self._keys -= 1
        return value

    def _array(self, content: Any) -> Any:
        name, shape, by_columns = content
        dtype, shape = _dtype(name), tuple(_index(n, 2**62) for n in shape)
        size = math.prod(shape) * dtype.itemsize
        if size > len(self.rest):
            raise ValueError(f"an array of {size} bytes, of which there are {len(self.rest)}")
        value = np.empty(shape, dtype, "F" if by_columns else "C")
        if size:
            flat = (value.T if by_columns else value).reshape(-1)
            flat.view(np.uint8)[:] = np.frombuffer(self.rest[:size], np.uint8)
        self.rest = self.rest[size:]
        return value

    def _view(self, content: Any, depth: int) -> Any:
        block, offset, name, shape, strides = content
        block, dtype, shape = self.read(block, depth), _dtype(name), tuple(_index(n, 2**62) for n in shape)
        low, high = _span(offset, shape, strides, dtype.itemsize)
        if type(block) is not np.ndarray or not 0 < math.prod(shape) * dtype.itemsize <= max(WIDEST, block.nbytes):
            raise ValueError("a view of other bytes")
        if {type(n) for n in [offset, *strides]} != {int} or low < 0 or high > block.nbytes:  # numpy's sums overflow
            raise ValueError("a view beyond its bytes")
        return np.ndarray(shape, dtype, block, offset, tuple(strides))

    def _generator(self, content: Any, depth: int) -> np.random.Generator:
        name, state, seeds = content
        if name not in _GENERATORS:
            raise ValueError(f"a generator {name!r}")
        bits_of, written = getattr(np.random, name), _checked(self.read(state, depth))
        seeds = self.read(seeds, depth) or np.random.SeedSequence(0)
        if type(seeds) is not np.random.SeedSequence:
            raise TypeError(f"a {type(seeds).__name__} in place of seeds")
        bits = bits_of(seeds)
        bits.state = written
        return np.random.Generator(bits)

    def _random_state(self, content: Any, depth: int) -> np.random.RandomState:
        value = np.random.RandomState(0)
        value.set_state(_checked(self.read(content, depth)))
        return value

    def _random(self, content: Any, depth: int) -> random.Random:
        value = random.Random(0)
        value.setstate(_checked(self.read(content, depth)))
        return value

    def _seeds(self, content: Any, depth: int) -> np.random.SeedSequence:
        entropy, key, pool, spawned = _checked(self.read(content, depth))
        _index(pool, 1024), _index(spawned, 2**32)
        return np.random.SeedSequence(entropy, spawn_key=key, pool_size=pool, n_children_spawned=spawned)

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
        value: Any = object.__new__(cls)  # __init__ and __post_init__ are not called
        restore(value, self._dict(fields, depth))
        return value


def _dtype(name: Any) -> np.dtype[Any]:
    """Return a type of numbers or texts."""
    if not _DTYPE.fullmatch(name):
        raise ValueError(f"the type {name!r}")
    dtype: np.dtype[Any] = np.dtype(name)
    return dtype


def _checked(state: Any) -> Any:
    """Return the state of a generator: numbers, texts and arrays, of which others would take forever to go through.

    numpy does not check where in its buffer it is, and would read beyond it.
    """
    if len(state) > 8:
        raise ValueError(f"a state of {len(state)} parts")
    for part in state.values() if type(state) is dict else state:
        for x in part.values() if type(part) is dict else part if type(part) in (list, tuple) else [part]:
            plain = x is None or isinstance(x, (int, float, str, np.ndarray, np.generic))
            if not plain or getattr(x, "nbytes", 0) > 2**16:  # an array may repeat elements
                raise ValueError(f"a {type(x).__name__} in a state")
    inner = state["state"] if isinstance(state, dict) else state
    for held, name, length in ((inner, "pos", 625), (state, "buffer_pos", 5)):
        if isinstance(held, dict) and name in held:
            _index(int(held[name]), length)
    if isinstance(state, tuple) and state[0] == "MT19937":
        _index(int(state[2]), 625)
    return state


def _apart(keys: list[Any]) -> list[Any]:
    """Return keys. With equal hashes they would take forever to tell apart."""
    if sum(n * n for n in collections.Counter(map(hash, keys)).values()) > 10**8 + len(keys):
        raise ValueError("too many keys have the same hash")
    return keys


def _index(number: Any, below: int) -> int:
    """Return a whole number that is at least 0 and below a limit."""
    if type(number) is not int or not 0 <= number < below:
        raise ValueError(f"{number!r} is not in 0..{below - 1}")
    return number
