"""Where the program rlrun is."""

from __future__ import annotations

import os
import shutil


def find_rlrun() -> str:
    """Return the path of the program rlrun: the one that ``RLRUN`` names, else the one in the path."""
    found = shutil.which(os.environ.get("RLRUN") or "rlrun")
    if found is None:
        raise FileNotFoundError("there is no program rlrun: put it into the path, or name it in the variable RLRUN")
    return found
