"""Runs the program rlrun: ``python -m rlrun run exp.yaml``."""

from __future__ import annotations

import os
import subprocess
import sys

from rlrun.client import program


def main() -> None:
    """Run the program of this Python's environment with the arguments of the command line."""
    try:
        command = [program(), *sys.argv[1:]]
    except FileNotFoundError as e:
        sys.exit(f"rlrun: {e}")
    sys.stdout.flush()
    if sys.platform == "win32":  # its exec does not wait
        sys.exit(subprocess.run(command, check=False).returncode)
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
