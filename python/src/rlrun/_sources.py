"""Which code a plugin runs: the modules of its project and the packages that it has imported.

The host binds results to it, so that runs of two versions of a program are not mixed.
"""

from __future__ import annotations

import ast
import functools
import importlib.util
import os
import pkgutil
import sys
import sysconfig
from importlib import metadata
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import TYPE_CHECKING

from rlrun import _loading

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator


def imported() -> dict[str, str]:
    """Return the SHA-256 of every module of the project and the version of every imported package.

    Modules of the project are those that were imported, and those that an import statement anywhere in them names,
    as in a function that was not called yet. Their files are neither in the standard library nor in site-packages.
    Keys are "module NAME" and "package NAME"; values "sha256:" and hexadecimal digits, and versions. A module in an
    archive has the archive's digest, and a file that was run by its path that path as NAME. Modules without a file and
    files that cannot be read are left out, and so is a script that pip wrote: it names the directory of its
    Python, and the host pins it without that. The digest of a module that was loaded is of the source that was compiled
    (see `_loading`); the file of any other is read now, and it is not loaded later if it has changed then.
    """
    modules = [(name, id(module)) for name, module in list(sys.modules.items())]
    return said | _imported((*modules, *_loading.loaded.items(), *_loading.run.items()))


def interpreter() -> dict[str, str]:
    """Return what this Python was told that results may depend on, as facts. A usual one was told nothing."""
    facts = {}
    if sys.flags.hash_randomization:  # also if a flag, -E or -I, lets it ignore the variable
        facts["PYTHONHASHSEED"] = (
            "random" if sys.flags.ignore_environment else os.environ.get("PYTHONHASHSEED", "random")
        )
    if sys.flags.optimize:
        facts["PYTHONOPTIMIZE"] = str(sys.flags.optimize)
    return facts


said: dict[str, str] = {}
"""What files among the arguments say, as "class FILE", where the same class has other bytes in each process that writes
it. It counts in place of the digest of their bytes."""


@functools.lru_cache(maxsize=1)  # the host asks after every batch of runs
def _imported(_state: object) -> dict[str, str]:
    found: dict[str, str] = {}
    packages: dict[str, dict[str, Path]] = {}
    project: dict[str, tuple[Path, str]] = {}  # file, and the package from which relative imports count
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if not isinstance(file, str) or name.startswith(_AT_START):
            continue
        path, place = _place(file)
        if place == "installed":
            packages.setdefault(name.partition(".")[0], {})[name] = path
        elif place == "" and not (name == "__main__" and _is_in(path, "scripts")):
            project[name] = path, getattr(module, "__package__", None) or ""
    _add_named(project)
    for name, (path, _) in project.items():
        _add_module(found, name, path)
    for name, known in list(_loading.loaded.items()):  # those that sys.modules does not have, or no longer
        if name not in sys.modules and not name.startswith(_AT_START):
            found.setdefault(f"module {name}", known)
    found.update({f"module {path}": known for path, known in list(_loading.run.items())})
    versions, unknown = _versions(frozenset(packages))
    found.update(versions)
    for package in unknown:  # files that no installer knows
        for name, path in packages[package].items():
            _add_module(found, name, path)
    return found


@functools.cache
def _versions(packages: frozenset[str]) -> tuple[dict[str, str], frozenset[str]]:
    """Return the versions of the distributions that have installed the packages, and the packages of none."""
    versions: dict[str, str] = {}
    unknown = packages
    for distribution in metadata.distributions() if packages else ():
        provided = _provided(distribution, packages)
        if provided:
            versions.setdefault(f"package {distribution.metadata['Name']}", distribution.version)
        unknown -= provided
    return versions, unknown


@functools.cache
def _place(file: str) -> tuple[Path, str]:
    """Return the real path of a module's file, and "installed", "standard" or, for one of the project, ""."""
    path = Path(file).resolve()
    return path, "installed" if _is_installed(path) else "standard" if _is_standard(path) else ""


def _provided(distribution: metadata.Distribution, packages: Collection[str]) -> set[str]:
    """Return those of the packages that a distribution has installed.

    The text of the list of its files is searched. Python's metadata.packages_distributions makes a path of every file
    of every distribution, which takes longer than the start of a plugin.
    """
    declared = (distribution.read_text("top_level.txt") or "").split()
    if declared:
        return set(packages).intersection(declared)
    files = "\n" + (distribution.read_text("RECORD") or "")
    return {package for package in packages if f"\n{package}/" in files or f"\n{package}." in files}


_AT_START = ("__editable__", "_distutils_hack", "_virtualenv", "__mp_main__")
"""Modules that installers let every Python of a virtual environment import, whatever it runs: another project that is
installed there must not change the plugin. The last is multiprocessing's second name of the script."""


def _add_named(project: dict[str, tuple[Path, str]]) -> None:
    """Add the modules of the project that others in it name, and those that these name."""
    own = __name__.partition(".")[0]
    waiting = [module for name, module in project.items() if name.partition(".")[0] != own]
    while waiting:
        for wanted in _named(*waiting.pop()):
            for name, module in _located(wanted):
                if name not in project and name not in sys.modules:
                    project[name] = module
                    waiting.append(module)


def _is_installed(path: Path) -> bool:
    return "site-packages" in path.parts or _is_in(path, "purelib", "platlib")


def _is_standard(path: Path) -> bool:
    return _is_in(path, "stdlib", "platstdlib")


def _is_in(path: Path, *keys: str) -> bool:
    return any(path.is_relative_to(_directory(key)) for key in keys)


@functools.cache
def _directory(key: str) -> Path:
    """Return one of Python's directories. To find it takes longer than all else that is asked of a module."""
    return Path(sysconfig.get_path(key)).resolve()


def _named(path: Path, package: str) -> Iterator[str]:
    """Yield the names of modules, and of what may be modules, that the import statements of a file name."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):  # of a module that is no text, for example
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            try:
                base = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            except ImportError:  # a relative import outside a package
                continue
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if called in ("import_module", "__import__") and isinstance(node.args[0].value, str):
                yield node.args[0].value


def _located(name: str) -> Iterator[tuple[str, tuple[Path, str]]]:
    """Yield name, file and package of a module and of the packages around it, as far as they are the project's.

    Nothing is imported: only the outermost package is looked for by all finders, the rest in its directories.
    """
    parts = name.split(".")
    try:
        spec = importlib.util.find_spec(parts[0])
    except (ImportError, ValueError):
        return
    for i in range(len(parts)):
        if i > 0:
            spec = _inside(spec, ".".join(parts[: i + 1]))
        if spec is None:
            return
        if spec.has_location and spec.origin:
            path, place = _place(spec.origin)
            if place:
                return
            yield spec.name, (path, spec.parent or "")


def _inside(package: ModuleSpec | None, name: str) -> ModuleSpec | None:
    """Find a module in the directories of a package."""
    directories: list[str] = []  # of a package without __init__.py, which may have several
    for directory in (package.submodule_search_locations if package else None) or ():
        finder = pkgutil.get_importer(directory)
        spec = finder.find_spec(name, None) if finder else None
        if spec is not None and spec.loader is not None:
            return spec
        directories += (spec.submodule_search_locations if spec else None) or ()
    if not directories:
        return None
    spec = ModuleSpec(name, None, is_package=True)
    spec.submodule_search_locations = directories
    return spec


def _add_module(found: dict[str, str], name: str, path: Path) -> None:
    try:
        known = _loading.loaded.get(name)
        if known is None and path.exists():
            known = _loading.told.setdefault(name, _loading.digest(path.read_bytes()))
        elif known is None:  # in an archive, such as lib.zip/grid.py
            known = _loading.digest(next(p for p in path.parents if p.is_file()).read_bytes())
    except (OSError, StopIteration):
        return
    found[f"module {name}"] = known
