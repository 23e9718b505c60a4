"""What the tests of a plugin call: the conformance suite of rlrun."""

from __future__ import annotations

import json
import subprocess
import sys
from os import PathLike
from typing import Any

from rlrun.client import program

__all__ = ["check"]


def check(file: str | PathLike[str], *arguments: str, minutes: float = 10, laws: bool = False, **params: Any) -> None:
    """Run ``rlrun plugin check`` over the plugin that a Python file serves, with these parameters.

    With ``laws`` an agent for finite tasks is also checked against the laws of agents.
    Raises AssertionError with every broken rule. It needs the program rlrun: in this
    Python's environment, in the path, or named by the variable ``RLRUN``.
    """
    given = [f"--param={name}={json.dumps(value)}" for name, value in params.items()]
    if laws:
        given.append("--laws")
    command = [program(), "plugin", "check", *given, sys.executable, "--", str(file), *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=60 * minutes, stdin=subprocess.DEVNULL
    )
    if done.returncode != 0:
        raise AssertionError(done.stderr.strip() or f"rlrun plugin check: exit status {done.returncode}")
