"""An environment of Gymnasium in the process of an agent, its guest.

The host asks for it with ``colocate: auto``. Results must not depend on it, and neither may what the two programs are
said to be. So the guest is one of Gymnasium's own environments, which keep no state outside themselves, and it is noted
if the agent uses a module that only the guest has loaded: then the host cannot tell any more what is whose.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import os
import sys
from typing import TYPE_CHECKING, Any

from rlrun import _loading

if TYPE_CHECKING:
    from rlrun._server import Plugin

VARIABLE = "RLRUN_GUEST"

mixed: dict[str, str] = {}
"""Imports by others of what the guest has loaded, as sources that are neither's."""

_KNOWN = ("gymnasium.envs.classic_control.", "gymnasium.envs.toy_text.")


def load() -> Plugin | None:
    """Return the environment that the host wants beside the agent, if any."""
    name = os.environ.pop(VARIABLE, "").removeprefix("gymnasium:")
    if not name:
        return None
    before = set(sys.modules)
    import gymnasium  # noqa: PLC0415  it may not be there

    from rlrun.from_gymnasium import GymnasiumPlugin  # noqa: PLC0415

    registered = gymnasium.spec(name)
    if not str(registered.entry_point).startswith(_KNOWN) or registered.additional_wrappers:
        sys.exit(f"gymnasium:{name} needs a process of its own")
    plugin = GymnasiumPlugin(name)
    _watch({module for module in set(sys.modules) - before if _is_news(module, before)})
    return plugin


def _is_news(name: str, before: set[str]) -> bool:
    """Tell whether a module adds to the sources of a plugin that had loaded those before."""
    package = name.partition(".")[0]
    file = getattr(sys.modules[name], "__file__", None) or ""
    return package not in sys.stdlib_module_names and (package not in before or not _loading.installed(file))


def _watch(own: set[str]) -> None:
    """Note imports of the guest's own modules by others."""
    usual, find = builtins.__import__, importlib._bootstrap._gcd_import  # type: ignore[attr-defined]

    def note(by: str, *names: str) -> None:
        if by not in own:
            mixed.update({f"import of {name} by {by or 'the agent'}": "unknown" for name in names if name in own})

    def by_statement(
        name: str,
        globals: Any = None,  # noqa: A002
        locals: Any = None,  # noqa: A002
        fromlist: Any = (),
        level: int = 0,
    ) -> Any:
        module = usual(name, globals, locals, fromlist, level)
        known = globals or {}
        if level:
            name = importlib.util.resolve_name("." * level + name, known.get("__package__") or known["__name__"])
        note(known.get("__name__", ""), name, name.partition(".")[0], *(f"{name}.{item}" for item in fromlist or ()))
        return module

    def by_function(name: str, *arguments: Any) -> Any:
        frame = sys._getframe(1)
        while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == "importlib":
            frame = frame.f_back
        note(frame.f_globals.get("__name__", ""), name)
        return find(name, *arguments)

    builtins.__import__ = by_statement
    importlib._bootstrap._gcd_import = by_function  # type: ignore[attr-defined]
