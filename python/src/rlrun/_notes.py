"""Notes of which lane's code runs, for a host that finds the process dead or hanging.

docs/protocol.md describes the host's file for them.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import MutableSequence

VARIABLE = "RLRUN_LANE_FILE"

Note = MutableSequence[int] | memoryview
"""One number: a lane's plus 1, or 0 for none."""


class Notes:
    """The host's numbers, one an instance."""

    def __init__(self) -> None:
        self._words = memoryview(bytearray()).cast("I")
        try:
            with open(os.environ.get(VARIABLE, ""), "r+b") as f:
                self._words = memoryview(mmap.mmap(f.fileno(), 0)).cast("I")
        except (OSError, ValueError):
            pass  # who has none does without

    def of(self, handle: int) -> Note:
        """Return the number of an instance, or a number without a reader if it has none."""
        return self._words[handle : handle + 1] if handle < len(self._words) else [0]
