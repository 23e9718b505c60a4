"""Which code a plugin runs: the modules of its project and the packages that it has imported.

The host binds results to it, so that runs of two versions of a program are not mixed.
"""

from __future__ import annotations

import hashlib
import sys
import sysconfig
from importlib import metadata
from pathlib import Path


def imported() -> dict[str, str]:
    """Return the SHA-256 of every imported module of the project and the version of every imported package.

    A module of the project is one whose file is neither in the standard library nor in site-packages. Keys are
    "module NAME" and "package NAME"; values "sha256:" and hexadecimal digits, and versions. Modules without a file
    and files that cannot be read are left out. Files are read anew: an edit after the import counts.
    """
    paths = sysconfig.get_paths()
    installed = [Path(paths[key]).resolve() for key in ("purelib", "platlib")]
    standard = [Path(paths[key]).resolve() for key in ("stdlib", "platstdlib")]
    found: dict[str, str] = {}
    packages: dict[str, dict[str, Path]] = {}
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if not isinstance(file, str):
            continue
        path = Path(file).resolve()
        if any(path.is_relative_to(directory) for directory in installed) or "site-packages" in path.parts:
            packages.setdefault(name.partition(".")[0], {})[name] = path
        elif not any(path.is_relative_to(directory) for directory in standard):
            _add_module(found, name, path)
    distributions = metadata.packages_distributions() if packages else {}
    for package, modules in packages.items():
        for distribution in distributions.get(package, ()):
            found[f"package {distribution}"] = metadata.version(distribution)
        if package not in distributions:  # files that no installer knows
            for name, path in modules.items():
                _add_module(found, name, path)
    return found


def _add_module(found: dict[str, str], name: str, path: Path) -> None:
    try:
        found[f"module {name}"] = "sha256:" + hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return
