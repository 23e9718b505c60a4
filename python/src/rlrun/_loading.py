"""Modules as they are loaded: a plugin's process runs the source that it tells the host the digest of.

Python runs a module's compiled code, from ``__pycache__``, if it says that it belongs to a source of the same size
and time. It may be of another program. So modules of the project are compiled from their source in every process, and
the digest is of the bytes that were compiled. Installed packages and the standard library are loaded as ever.
"""

from __future__ import annotations

import hashlib
import os
import sys
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType
from typing import Any

loaded: dict[str, str] = {}
"""The digests of the modules that were loaded, by name: "sha256:" and hexadecimal digits."""

told: dict[str, str] = {}
"""The digests of modules that the host was told before they were loaded."""


def digest(data: bytes) -> str:
    """Return the digest of a source."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


class _Loader(SourceFileLoader):
    """Compiles a module's source, and notes its digest."""

    def get_code(self, fullname: str) -> CodeType:
        """Return the code of the source, whatever compiled code there is."""
        path = self.get_filename(fullname)
        data = self.get_data(path)
        loaded[fullname] = digest(data)
        if told.get(fullname, loaded[fullname]) != loaded[fullname]:
            raise ImportError(f"{path} changed while the experiment ran", name=fullname, path=path)
        code: CodeType = self.source_to_code(data, path)
        return code


class _Finder:
    """Asks the other finders, and lets _Loader load what is of the project."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return where a module is."""
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec: ModuleSpec | None = finder.find_spec(name, path, target)
            if spec is not None:
                if type(spec.loader) is SourceFileLoader and not _installed(spec.loader.path):
                    spec.loader = _Loader(spec.loader.name, spec.loader.path)
                return spec
        return None


_STANDARD = os.path.dirname(os.__file__) + os.sep


def _installed(path: str) -> bool:
    return path.startswith(_STANDARD) or f"{os.sep}site-packages{os.sep}" in path


def install() -> None:
    """Load modules so from now on, and note the digests of those that are there, such as the script itself."""
    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return
    sys.meta_path.insert(0, _Finder())
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None)
        if isinstance(path, str) and path.endswith(".py") and not _installed(path):
            try:
                with open(path, "rb") as f:
                    loaded[name] = digest(f.read())
            except OSError:
                continue
