"""Modules as they are loaded: a plugin's process runs the source that it tells the host the digest of.

Python runs a module's compiled code, from ``__pycache__``, if it says that it belongs to a source of the same size
and time. It may be of another program. So modules of the project are compiled from their source in every process, and
the digest is of the bytes that were compiled, also if a loader is called by hand and ``sys.modules`` never has the
module. Of other files that are run, as by ``runpy.run_path``, the digest is taken when they are run.

Installed packages and the standard library are loaded as ever, from the compiled code beside them: results are bound to
their versions. To compile numpy and gRPC anew, in the directory that the host gives for compiled code, took most of the
time of a start.
"""

from __future__ import annotations

import hashlib
import marshal
import os
import sys
from importlib.machinery import SourceFileLoader
from types import CodeType

TYPE_CHECKING = False  # typing itself would be compiled anew, as all that is loaded before install
if TYPE_CHECKING:
    from typing import Any

loaded: dict[str, str] = {}
"""The digests of the modules that were loaded, by name: "sha256:" and hexadecimal digits. If a loader that is called by
hand gives several files one name, the further ones have their paths for names."""

run: dict[str, str] = {}
"""The digests of other files whose code was run, by path from the working directory."""

told: dict[str, str] = {}
"""The digests of modules that the host was told before they were loaded."""

_paths: dict[str, str] = {}  # of what is in loaded, by name


def digest(data: bytes) -> str:
    """Return the digest of a source."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


_usual = SourceFileLoader.get_code
_PREFIX = sys.pycache_prefix


def _get_code(self: SourceFileLoader, fullname: str) -> CodeType | None:
    """Return the code of a module of the project from its source, and note its digest."""
    path = self.get_filename(fullname)
    if installed(path):
        sys.pycache_prefix = None  # as ever
        try:
            return _usual(self, fullname)
        finally:
            sys.pycache_prefix = _PREFIX
    data = self.get_data(path)
    name = fullname if _paths.setdefault(fullname, path) == path else _relative(path)
    _same(loaded, name, path, digest(data))
    _same(told, name, path, digest(data))
    code: CodeType = self.source_to_code(data, path)
    return code


def _same(known: dict[str, str], name: str, path: str, now: str) -> None:
    """Refuse code that has changed since it was first run, or since the host was told of it."""
    if known.setdefault(name, now) != now:
        raise ImportError(f"{path} changed while the experiment ran", name=name, path=path)


def _relative(path: str) -> str:
    try:
        return os.path.relpath(path)
    except ValueError:  # on another drive
        return path


_STANDARD = os.path.dirname(os.__file__) + os.sep


def installed(path: str) -> bool:
    """Tell whether a file is of an installed package or of the standard library."""
    return path.startswith(_STANDARD) or f"{os.sep}site-packages{os.sep}" in path


def _on_event(event: str, arguments: tuple[Any, ...]) -> None:
    if event != "exec" or not isinstance(arguments[0], CodeType):
        return
    path = arguments[0].co_filename
    if path[:1] == "<" or path in _paths.values() or installed(path):
        return
    try:
        with open(path, "rb") as f:
            data = f.read()
    except (OSError, ValueError):  # no file
        return
    _same(run, _relative(path), path, digest(data))


def install() -> None:
    """Load modules so from now on, and note the digests of those that are there, such as the script itself."""
    if SourceFileLoader.get_code is _get_code:
        return
    SourceFileLoader.get_code = _get_code  # type: ignore[method-assign, assignment]
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None)
        if isinstance(path, str) and path.endswith(".py") and not installed(path):
            try:
                with open(path, "rb") as f:
                    data = f.read()
            except OSError:
                continue
            loaded[name], _paths[name] = digest(data), path
            if _ran_another(getattr(module, "__cached__", None), path, data):
                sys.exit(
                    f"{path} ran from compiled code that is not of it, since Python was told to ignore variables (-E, "
                    f"-I) or where compiled code is: leave the flag out, or remove {module.__cached__}"
                )
    sys.addaudithook(_on_event)


def _ran_another(cached: object, path: str, data: bytes) -> bool:
    """Tell whether compiled code of another source ran, which is not so where the host says where compiled code is."""
    if not isinstance(cached, str) or sys.pycache_prefix == os.environ.get("PYTHONPYCACHEPREFIX"):
        return False
    try:
        with open(cached, "rb") as f:
            compiled = f.read()
        source = os.stat(path)
        stamp = b"".join((int(n) & 0xFFFFFFFF).to_bytes(4, "little") for n in (0, source.st_mtime, source.st_size))
        taken = compiled[4:16] == stamp or compiled[4:8] == b"\1\0\0\0"  # by its time, or unchecked
        return taken and marshal.loads(compiled[16:]) != compile(data, path, "exec", dont_inherit=True)
    except (OSError, ValueError, EOFError, TypeError, SyntaxError):  # Python did not take it, or it is gone
        return False
