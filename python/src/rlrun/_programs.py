"""Classes of a notebook or script as plugins: how they reach the process that serves them.

A class of a module is named, and the new process imports it. A class that no other process can import, of a notebook's
cell, a script or a function, is written with cloudpickle into the folder ``programs`` of the output directory: with the
globals and closures that it uses, as they are then. cloudpickle does what dask, Ray and joblib rely on; the source text
alone would lack these values. The file is digested by the host as any program.
"""

from __future__ import annotations

import contextlib
import copyreg
import hashlib
import importlib
import inspect
import io
import json
import os
import pickle
import re
import sys
import tempfile
import types
import typing
import warnings
from collections import ChainMap
from collections.abc import Mapping
from dataclasses import MISSING
from functools import cached_property, reduce
from linecache import getlines
from pathlib import Path
from typing import Any, ClassVar, get_args

from rlrun import _pickles, _sources
from rlrun._sources import _is_installed, _is_standard
from rlrun.rules import OptionSource, Rule, VectorRule
from rlrun.serve import Kind, check_host, check_methods, serve, serve_plugin

FOLDER = "programs"
_PYTHON = "{}.{}".format(*sys.version_info)


def command_line(cls: Any, output: Path) -> str:
    """Return the command line of a rule or a source of options."""
    kinds = (Rule, VectorRule, OptionSource)
    if not (isinstance(cls, type) and issubclass(cls, kinds)):
        raise TypeError(
            f"exploration: {cls!r} is no class of rules or of options: give a class that is derived from rlrun.Rule, "
            "rlrun.VectorRule or rlrun.OptionSource, not an object or a function; its arguments are params"
        )
    parts = command(cls, output)
    words = [parts["plugin"], *parts["args"]]
    if any(len(word.split()) != 1 for word in words):  # as the host divides a command line
        raise ValueError(f"exploration: {cls.__name__} would be in {output}: give an output without spaces in its path")
    return " ".join(words)


def command(cls: type, output: Path) -> dict[str, Any]:
    """Return plugin and args of a component: the Python of this process, which serves a class."""
    if not is_plugin(cls):
        raise TypeError(f"{cls.__name__} is no class of environments or agents: derive it from rlrun.Environment, say")
    check_methods(cls)
    own = Path(sys.executable)
    alike = (p.name for p in map(own.with_name, ("python", "python3")) if p.exists() and p.samefile(own))
    return {
        "plugin": next(alike, own.name),  # which name of an interpreter started this process does not matter
        "args": ["-m", __name__, f"{cls.__module__}:{cls.__qualname__}" if _importable(cls) else _write(cls, output)],
    }


def environ(config: Mapping[str, Any] | None = None) -> dict[str, str]:
    """Return the environment of a host whose plugins have the Python and the modules of this process.

    Where a config says something, no variable overrides it: it was written in a program.
    """
    own = (Path(p).resolve() for p in sys.path if p and Path(p).is_dir())
    python_path = [str(p) for p in own if not _is_installed(p) and not _is_standard(p)]
    path = [str(Path(sys.executable).parent), os.environ.get("PATH", "")]
    said = {f"RLRUN_{key.upper()}" for key in config or {}}
    return {name: value for name, value in os.environ.items() if name not in said} | {
        "RLRUN_PYTHON": os.environ.get("RLRUN_PYTHON") or sys.executable,
        "PATH": os.pathsep.join(path),
        "PYTHONPATH": os.pathsep.join(python_path),
    }


def is_plugin(cls: type) -> bool:
    """Return whether objects of a class are environments or agents."""
    return of_gymnasium(cls) or issubclass(cls, tuple(get_args(kind)[0] for kind in get_args(Kind)))


def of_gymnasium(cls: type) -> bool:
    """Return whether objects of a class are environments of Gymnasium, or wrappers of them."""
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
            {
                type(MISSING): lambda _: "MISSING",
                cached_property: lambda p: (cached_property, (p.func,), {"attrname": p.attrname}),  # without its lock
            },
            cloudpickle.Pickler.dispatch_table,
        )

        def reducer_override(self, x: Any) -> Any:  # which writes the submodules that a function names, if loaded
            if "gymnasium" in sys.modules and isinstance(
                x, sys.modules["gymnasium"].Space
            ):  # anew, as if never sampled
                return copyreg.__newobj__, (type(x),), x.__dict__ | {"_np_random": None}  # type: ignore[attr-defined]
            if isinstance(x, types.FunctionType):
                with contextlib.suppress(ValueError):  # of a name that has no value yet
                    _load_named(x)
            return super().reducer_override(x)

    hints = {c: _hints(c) for c in cls.__mro__ if not _importable(c)}
    data = io.BytesIO()
    try:
        Pickler(data).dump((cls, hints))
    except Exception as e:
        raise TypeError(f"{cls.__name__} uses something that no other process can have: {e}") from e
    meaning = _pickles.meaning(data.getvalue())
    path = output / FOLDER / f"{cls.__name__[:64]}-{_identity(meaning)[:16]}.pickle"
    for own in (path.parent, path):
        if own.is_symlink():
            raise ValueError(f"{own} is a link, and nothing is written through links in an output directory: remove it")
    if path.is_file() and _pickles.means(path.read_bytes().partition(b"\n")[2], data.getvalue()):
        return str(path)  # its bytes may differ: they have random names of classes, and temporary files of cells
    path.parent.mkdir(parents=True, exist_ok=True)
    files = dict.fromkeys(f.__code__.co_filename for f in vars(cls).values() if isinstance(f, types.FunctionType))
    header = json.dumps({"class": cls.__name__, "python": _PYTHON, "cloudpickle": cloudpickle.__version__})
    replace(path.with_suffix(".py"), "\n".join("".join(getlines(file)) for file in files).encode())
    replace(path, header.encode() + b"\n" + data.getvalue())
    return str(path)


def _identity(meaning: bytes) -> str:
    return hashlib.sha256(_PYTHON.encode() + meaning).hexdigest()


def _load_named(f: types.FunctionType) -> None:
    """Load what modules load when it is first asked for, as numpy does its random: so it does not matter what did."""
    used = inspect.getclosurevars(f)
    found = [m for m in (*used.globals.values(), *used.nonlocals.values()) if isinstance(m, types.ModuleType)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for module in found:  # and those that it has
            for name in f.__code__.co_names:
                with contextlib.suppress(Exception):
                    value = getattr(module, name)
                    found += [value] * (isinstance(value, types.ModuleType) and value not in found)


def replace(path: Path, data: bytes) -> None:
    """Write a file at once, and in place of a link, not through it."""
    handle, partial = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    with open(handle, "wb") as file:
        file.write(data)
    os.chmod(partial, 0o644)
    os.replace(partial, path)


def _hints(cls: type) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the types of a class's attributes and arguments, which may be texts that only this process understands."""
    init = vars(cls).get("__init__")
    try:
        own = inspect.get_annotations(cls)
        hints = {name: hint for name, hint in typing.get_type_hints(cls).items() if name in own}
        return hints, typing.get_type_hints(init) if isinstance(init, types.FunctionType) else {}
    except (NameError, TypeError):  # they are asked for again where they are needed
        return {}, {}


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
    _sources.said[f"class {Path(name).name}"] = "sha256:" + _identity(_pickles.meaning(data))
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
    if of_gymnasium(cls):
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
