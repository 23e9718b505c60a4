"""What a pickle says, read without running it.

The bytes that cloudpickle writes of a class differ between processes that run the same source: classes have random
names, and the cells of notebooks temporary files. `meaning` returns what they have in common. It loads nothing: what a
pickle would import, call or build is written down in its place.
"""

from __future__ import annotations

import functools
import io
import pickle
import re
from collections.abc import Iterator
from typing import Any, ClassVar

_UNIMPORTANT = {"__firstlineno__", "__static_attributes__"}
"""Attributes of classes whose values say where a source lies, or come in a random order."""
_TRACKER = re.compile(r"[0-9a-f]{32}")
"""The random names that cloudpickle gives to classes and type variables."""
_TRACKED = ("_make_skeleton_class", "_make_skeleton_enum", "_make_typevar")
"""What makes them, of cloudpickle."""


class _Made:
    """In place of an object that a pickle would make: the call that makes it, and what is done to it afterwards."""

    made: tuple[Any, ...]
    done: list[Any]
    log: list[_Made]
    """All that the pickle makes, in order: also what it drops."""

    def __new__(cls, *args: Any, **kwargs: Any) -> _Made:
        return _call(cls, args, kwargs)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.done.append(("init",))  # a pickle may make an object without it

    def __call__(self, *args: Any, **kwargs: Any) -> _Made:
        return _call(self, args, kwargs)

    def __setstate__(self, state: Any) -> None:
        self.done.append(("state", state))

    def __setitem__(self, key: Any, value: Any) -> None:
        self.done.append(("item", key, value))

    def append(self, value: Any) -> None:
        self.done.append(("append", value))

    def extend(self, values: Any) -> None:
        self.done.extend(("append", value) for value in values)

    def add(self, value: Any) -> None:
        self.done.append(("add", value))


def _call(what: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Made:
    x: _Made = object.__new__(what if isinstance(what, type) else _Made)
    x.made, x.done, x.log = (what, args, kwargs), [], what.log
    x.log.append(x)
    for arg in args:  # such as a class that gets its attributes by a call
        if isinstance(arg, _Made):
            arg.done.append(x)
    return x


class _Reader(pickle._Unpickler):  # the one in Python: that in C wants classes where this has a _Made
    """Reads a pickle, and makes _Made of all that is no plain value."""

    dispatch: ClassVar[dict[int, Any]] = {  # without the number " 1", which is True for the reader in C
        k: v for k, v in pickle._Unpickler.dispatch.items() if k != pickle.INT[0]
    }

    def __init__(self, data: bytes) -> None:
        super().__init__(io.BytesIO(data))
        self.classes: dict[tuple[str, str], type] = {}
        self.log: list[_Made] = []

    def find_class(self, module: str, name: str) -> type:
        return self.classes.setdefault((module, name), type(name, (_Made,), {"__module__": module, "log": self.log}))


def meaning(data: bytes, files: bool = False) -> bytes:
    """Return what a pickle says: equal for the same class in every process that runs the same source.

    With files, where the source lies counts: what a ``__file__`` says. Raises an exception of any kind if data is no
    pickle.
    """
    reader = _Reader(data)
    return b"\n".join(_parts((reader.load(), tuple(reader.log), tuple(reader.classes)), {}, files))


def means(data: bytes, own: bytes) -> bool:
    """Report whether a pickle, which may be a stranger's, does the same as one's own."""
    try:
        return meaning(data, files=True) == meaning(own, files=True)
    except Exception:  # it is damaged or hostile
        return False


def _parts(x: Any, seen: dict[Any, int], files: bool) -> Iterator[bytes]:
    if isinstance(x, type):
        yield f"global {x.__module__!r} {x.__name__!r}".encode()
    elif isinstance(x, tuple):
        yield b"tuple %d" % len(x)
        for e in x:
            yield from _parts(e, seen, files)
    elif isinstance(x, frozenset):
        yield b"frozenset %d" % len(x)
        yield from sorted(b" ".join(_parts(e, dict(seen), files)) for e in x)
    elif not isinstance(x, (list, dict, set, bytearray, _Made)):
        yield f"{type(x).__name__} {x!r}".encode()
    elif id(x) in seen:  # the same object, and not one that is equal
        yield b"object %d" % seen[id(x)]
    else:
        seen[id(x)] = len(seen)
        yield from _object(x, seen, files)


def _object(x: Any, seen: dict[Any, int], files: bool) -> Iterator[bytes]:
    if isinstance(x, _Made):
        what, args, kwargs = x.made
        if _makes_code(what):
            args = tuple(a for i, a in enumerate(args) if i not in _places() or not _is_plain(a))
        if isinstance(what, type) and what.__module__.startswith("cloudpickle"):
            if what.__name__ in _TRACKED:  # equal names make one class of two
                args = tuple(
                    seen.setdefault(a, len(seen)) if isinstance(a, str) and _TRACKER.fullmatch(a) else a for a in args
                )
            elif what.__name__ == "_class_setstate":
                cls, (attributes, state) = args
                kept = tuple((k, v) for k, v in attributes.items() if k not in _UNIMPORTANT or not _is_plain(v))
                args = cls, (kept, state)
        yield b"made"
        yield from _parts((what, args, kwargs, tuple(x.done)), seen, files)
    elif isinstance(x, dict):
        yield b"dict"
        yield from _parts(
            tuple((k, v) for k, v in x.items() if files or k != "__file__" or not _is_plain(v)), seen, files
        )
    elif isinstance(x, set):
        yield b"set"
        yield from _parts(frozenset(x), seen, files)
    else:
        yield type(x).__name__.encode()
        yield from _parts(tuple(x), seen, files)


def _is_plain(x: Any) -> bool:
    return x is None or isinstance(x, (str, bytes, int)) or (isinstance(x, tuple) and all(map(_is_plain, x)))


def _makes_code(what: Any) -> bool:
    return isinstance(what, _Made) and what.made[1] == ("CodeType",)


@functools.cache
def _places() -> set[int]:
    """Return which arguments of code say where its source lies: file and line."""
    import cloudpickle  # noqa: PLC0415  optional

    def arguments(source: str, file: str) -> tuple[Any, ...]:
        code = compile(source, file, "exec").co_consts[0]
        args: tuple[Any, ...] = _Reader(cloudpickle.dumps(code)).load().made[1]
        return args

    pairs = zip(arguments("def f(): g()", "a"), arguments("\n\ndef f(): g()", "b"), strict=True)
    return {i for i, (a, b) in enumerate(pairs) if type(a) is type(b) and not isinstance(a, _Made) and a != b}
