"""Classes of a notebook or script as plugins: how they reach the process that serves them.

A class of a module is named, and the new process imports it. A class that no other process can import, of a notebook's
cell, a script or a function, is written with cloudpickle into the folder ``programs`` of the output directory: with the
globals and closures that it uses, as they are then. cloudpickle does what dask, Ray and joblib rely on; the source text
alone would lack these values. The file is digested by the host as any program.
"""

from __future__ import annotations

import dis
import hashlib
import importlib
import inspect
import io
import json
import os
import pickle
import re
import sys
import types
import typing
from collections import ChainMap
from collections.abc import Iterator, Mapping
from dataclasses import MISSING
from functools import reduce
from linecache import getlines
from pathlib import Path
from typing import Any, ClassVar, get_args

from rlrun._sources import _is_installed, _is_standard
from rlrun.serve import Kind, check_host, serve, serve_plugin

FOLDER = "programs"
_PYTHON = "{}.{}".format(*sys.version_info)


def command(cls: type, output: Path) -> dict[str, Any]:
    """Return plugin and args of a component: the Python of this process, which serves a class."""
    if not _of_gymnasium(cls) and not issubclass(cls, tuple(get_args(kind)[0] for kind in get_args(Kind))):
        raise TypeError(f"{cls.__name__} is no class of environments or agents: derive it from rlrun.Environment, say")
    return {
        "plugin": Path(sys.executable).name,
        "args": ["-m", __name__, f"{cls.__module__}:{cls.__qualname__}" if _importable(cls) else _write(cls, output)],
    }


def environ() -> dict[str, str]:
    """Return the environment of a host whose plugins have the Python and the modules of this process."""
    own = (Path(p).resolve() for p in sys.path if p and Path(p).is_dir())
    python_path = [str(p) for p in own if not _is_installed(p) and not _is_standard(p)]
    path = [str(Path(sys.executable).parent), os.environ.get("PATH", "")]
    return os.environ | {
        "RLRUN_PYTHON": os.environ.get("RLRUN_PYTHON") or sys.executable,
        "PATH": os.pathsep.join(path),
        "PYTHONPATH": os.pathsep.join(python_path),
    }


def _of_gymnasium(cls: type) -> bool:
    return any(base.__module__.partition(".")[0] == "gymnasium" for base in cls.__mro__)


def _importable(x: Any) -> bool:
    """Return whether another process finds a class or function by module and name."""
    module = sys.modules.get(getattr(x, "__module__", None) or "__main__")
    if module is None or module.__name__ == "__main__":
        return False
    try:
        return reduce(getattr, x.__qualname__.split("."), module) is x
    except AttributeError:  # such as <locals>
        return False


def _write(cls: type, output: Path) -> str:
    """Write a class and the source that it is from; return the path. An equal class that was written is kept."""
    try:
        import cloudpickle  # noqa: PLC0415  optional
    except ImportError as e:
        raise ImportError(f"{cls.__name__} is of a notebook or script: pip install 'rlrun[lab]', or import it") from e

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]  # after which dataclasses know their sentinel
        dispatch_table: ClassVar[Any] = ChainMap(
            {type(MISSING): lambda _: "MISSING"}, cloudpickle.Pickler.dispatch_table
        )

    hints = {c: _hints(c) for c in cls.__mro__ if not _importable(c)}
    identity, data = hashlib.sha256(_PYTHON.encode()), io.BytesIO()
    try:
        for part in _parts((cls, hints), {}):
            identity.update(b"%d:%b" % (len(part), part))
        path = output / FOLDER / f"{cls.__name__}-{identity.hexdigest()[:16]}.pickle"
        if path.exists():
            return str(path)
        Pickler(data).dump((cls, hints))
    except Exception as e:
        raise TypeError(f"{cls.__name__} uses something that no other process can have: {e}") from e
    path.parent.mkdir(parents=True, exist_ok=True)
    files = dict.fromkeys(f.__code__.co_filename for f in vars(cls).values() if isinstance(f, types.FunctionType))
    path.with_suffix(".py").write_text("\n".join("".join(getlines(file)) for file in files), encoding="utf-8")
    header = json.dumps({"class": cls.__name__, "python": _PYTHON, "cloudpickle": cloudpickle.__version__})
    partial = path.with_suffix(f".{os.getpid()}")
    partial.write_bytes(header.encode() + b"\n" + data.getvalue())
    partial.replace(path)
    return str(path)


def _hints(cls: type) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the types of a class's attributes and arguments, which may be texts that only this process understands."""
    init = vars(cls).get("__init__")
    try:
        own = inspect.get_annotations(cls)
        hints = {name: hint for name, hint in typing.get_type_hints(cls).items() if name in own}
        return hints, typing.get_type_hints(init) if isinstance(init, types.FunctionType) else {}
    except (NameError, TypeError):  # they are asked for again where they are needed
        return {}, {}


_UNIMPORTANT = {
    "__dict__", "__weakref__", "__module__", "__firstlineno__", "__static_attributes__", "__abstractmethods__",
    "_abc_impl", "__annotate_func__", "__annotations_cache__",
}  # fmt: skip


def _parts(x: Any, seen: dict[int, Any]) -> Iterator[bytes]:
    """Yield what makes a class the program that it is: equal in every process that runs the same source.

    The bytes of cloudpickle are not: they have random names of classes, and the temporary files of cells.
    """
    if x is None or isinstance(x, (bool, int, float, complex, str, bytes)) or x is ...:
        yield f"{type(x).__name__} {x!r}".encode()
        return
    if id(x) in seen:
        yield f"again {getattr(x, '__qualname__', '')}".encode()
        return
    seen[id(x)] = x
    yield type(x).__qualname__.encode()
    if isinstance(x, types.ModuleType):
        yield x.__name__.encode()
    elif isinstance(x, (type, types.FunctionType, types.BuiltinFunctionType)) and (
        _importable(x) or isinstance(x, types.BuiltinFunctionType)
    ):
        yield f"{x.__module__}.{x.__qualname__}".encode()
    elif isinstance(x, (set, frozenset)):
        yield from sorted(b"".join(_parts(e, dict(seen))) for e in x)
    else:
        for part in _children(x):
            yield from _parts(part, seen)
    if not isinstance(x, (type, types.FunctionType)):
        del seen[id(x)]  # whether equal values are one object is chance


def _children(x: Any) -> Any:
    """Return what an object consists of."""
    if isinstance(x, type):
        return [x.__qualname__, *x.__bases__, *((k, v) for k, v in vars(x).items() if k not in _UNIMPORTANT)]
    if isinstance(x, types.FunctionType):
        used = {
            i.argval for code in _codes(x.__code__) for i in dis.get_instructions(code) if i.opname == "LOAD_GLOBAL"
        }
        named = [(name, x.__globals__[name]) for name in sorted(used & x.__globals__.keys())]
        return [x.__qualname__, x.__code__, x.__defaults__, x.__kwdefaults__, x.__closure__, named]
    if isinstance(x, types.CodeType):
        arguments = (x.co_argcount, x.co_posonlyargcount, x.co_kwonlyargcount, x.co_flags)
        return [x.co_code, x.co_consts, x.co_names, x.co_varnames, x.co_freevars, x.co_cellvars, arguments]
    if isinstance(x, types.CellType):
        return [] if x == types.CellType() else [x.cell_contents]
    if isinstance(x, (tuple, list)):
        return x
    if isinstance(x, (dict, types.MappingProxyType)):
        return x.items()
    if isinstance(x, (staticmethod, classmethod)):
        return [x.__func__]
    if isinstance(x, property):
        return [x.fget, x.fset, x.fdel]
    if isinstance(x, (types.MemberDescriptorType, types.GetSetDescriptorType)):
        return [x.__name__]
    try:
        reduced = x.__reduce_ex__(4)
    except Exception:  # what only cloudpickle can
        import cloudpickle  # noqa: PLC0415

        return [cloudpickle.dumps(x)]
    if isinstance(reduced, str):  # of a wrapper, such as functools.lru_cache, too
        return [reduced, getattr(x, "__dict__", {})]
    return [list(e) if isinstance(e, Iterator) else e for e in reduced]


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _read(name: str) -> Any:
    """Return the class that a command line names."""
    if not name.endswith(".pickle"):
        module, _, qualname = name.partition(":")
        return reduce(getattr, qualname.split("."), importlib.import_module(module))
    header, _, data = Path(name).read_bytes().partition(b"\n")
    made: Mapping[str, str] = json.loads(header)
    if made["python"] != _PYTHON:
        sys.exit(
            f"{name} was written by Python {made['python']}, and this is {_PYTHON}: the class must be written anew"
        )
    cls, hints = pickle.loads(data)
    for owner, (attributes, arguments) in hints.items():
        if attributes:
            owner.__annotations__ = attributes
        if arguments:
            owner.__init__.__annotations__ = arguments
    return cls


def main() -> None:
    """Serve the class that the command line names."""
    check_host()
    cls: Any = _read(sys.argv[1])
    name = re.sub(r"[^a-z0-9_.-]", "", cls.__name__.lower()) or "class"
    if _of_gymnasium(cls):
        import gymnasium  # noqa: PLC0415  not of every plugin

        from rlrun.from_gymnasium import GymnasiumPlugin  # noqa: PLC0415

        gymnasium.register(id=f"notebook/{name}-v0", entry_point=cls)
        serve_plugin(GymnasiumPlugin(f"notebook/{name}-v0"))
        return
    if not isinstance(getattr(cls, "id", None), str):
        cls.id = f"notebook/{name}@1"
    serve(cls)


if __name__ == "__main__":
    main()
