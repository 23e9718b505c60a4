"""The folder of a plugin's socket, while the plugin starts."""

from __future__ import annotations

import contextlib
import fcntl
import glob
import os
import shutil
import tempfile
import time
from collections.abc import Iterator

_LOCK = "lock"


@contextlib.contextmanager
def folder() -> Iterator[str]:
    """Make a folder that only this user can enter, with a path short enough for a socket's name.

    It holds a lock, as rlrun's own do: what a process that was killed has left behind
    is a folder whose lock nobody holds, and is removed here or there by the next.
    """
    base = tempfile.gettempdir() if len(tempfile.gettempdir()) <= 40 else "/tmp"
    _remove_stale(base)
    nascent = tempfile.mkdtemp(prefix=".rlrun-", dir=base)
    lock = os.open(os.path.join(nascent, _LOCK), os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        path = os.path.join(base, os.path.basename(nascent)[1:])
        os.rename(nascent, path)  # it gets its name when it is locked
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)
    finally:
        os.close(lock)


def _remove_stale(base: str) -> None:
    for path in glob.glob(os.path.join(glob.escape(base), "rlrun-*", _LOCK)):
        with contextlib.suppress(OSError):  # it is somebody else's, in use, or gone
            lock = os.open(path, os.O_RDWR)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(os.path.dirname(path), ignore_errors=True)
            finally:
                os.close(lock)
    for path in glob.glob(os.path.join(glob.escape(base), ".rlrun-*")):
        with contextlib.suppress(OSError):
            if time.time() - os.stat(path).st_mtime > 60:
                shutil.rmtree(path, ignore_errors=True)
