"""The directory of a plugin's socket, while the plugin starts.

It is made in a private base of the user, as rlrun's own are: rlrun in
$XDG_RUNTIME_DIR, else rlrun-UID in the directory for temporary files. The base must be
a directory, no link, that belongs to this user and that only this user can enter, in a
directory where nobody else can replace it. Otherwise every directory is a fresh one.

What a process that was killed has left in the base is removed by the next: only
directories with a lock of rlrun that nobody holds, and in them only sockets and the
lock. Everything is opened relative to open directories and without following links.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import secrets
import socket
import stat
import tempfile
from collections.abc import Iterator

_LOCK = "lock"
_LONGEST_BASE = 54
"""In bytes. The name of a socket has at most 103 (macOS), and the part below the base has 49."""
_DIR = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_HELD = re.compile(rb"process \d+ on [^\n\0]*\n\0*")


@contextlib.contextmanager
def directory() -> Iterator[str]:
    """Make a directory that only this user can enter, with a path short enough for a socket's name."""
    base, parent, name, ours = _make()
    path = os.path.join(parent, name)
    try:
        with (
            _opened(name, _DIR, base) as made,
            _opened(_LOCK, os.O_RDWR | os.O_CREAT | os.O_EXCL, made) as lock,
        ):
            with contextlib.suppress(OSError):  # a file system without locks
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # A lock that does not name its holder is not taken by who cleans up.
            os.write(lock, f"process {os.getpid()} on {socket.gethostname()}\n".encode())
            try:
                yield path
            finally:
                _empty(made)
                with contextlib.suppress(OSError):
                    os.rmdir(name, dir_fd=base)
    finally:
        os.close(base)
        if ours:
            with contextlib.suppress(OSError):  # it is not empty
                os.rmdir(parent)


def _make() -> tuple[int, str, str, bool]:
    """Make a directory; return where, open and by path, its name, and whether it is in this user's base."""
    while True:
        base, parent = _open_base()
        if base is None:
            path = tempfile.mkdtemp(prefix="rlrun-", dir=parent)
            return os.open(parent, os.O_RDONLY | os.O_DIRECTORY), parent, os.path.basename(path), False
        _remove_stale(base)
        name = str(secrets.randbelow(10**10))
        try:
            os.mkdir(name, 0o700, dir_fd=base)
        except OSError as e:
            os.close(base)
            if not isinstance(e, FileNotFoundError):  # else another host has removed the base, which was empty
                raise
        else:
            return base, parent, name, True


@contextlib.contextmanager
def _opened(name: str, flags: int, parent: int) -> Iterator[int]:
    fd = os.open(name, flags, 0o600, dir_fd=parent)
    try:
        yield fd
    finally:
        os.close(fd)


def _open_base() -> tuple[int | None, str]:
    """Open this user's base and return it with its path. Without one, return a directory for new ones."""
    temporary = tempfile.gettempdir()
    own = f"rlrun-{os.geteuid()}"
    for base in (
        os.path.join(os.environ.get("XDG_RUNTIME_DIR", ""), "rlrun"),
        os.path.join(temporary, own),
        os.path.join("/tmp", own),
    ):
        with contextlib.suppress(OSError):
            if os.path.isabs(base) and len(os.fsencode(base)) <= _LONGEST_BASE:
                return _private_directory(base), base
    return None, temporary if len(os.fsencode(temporary)) <= _LONGEST_BASE else "/tmp"


def _private_directory(path: str) -> int:
    """Open a directory that this user alone can enter and replace; make it if there is none."""
    parent = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        s = os.fstat(parent)
        if s.st_uid not in (0, os.geteuid()) or (s.st_mode & 0o022 and not s.st_mode & stat.S_ISVTX):
            raise PermissionError(f"others can replace {path}")
        with contextlib.suppress(FileExistsError):
            os.mkdir(os.path.basename(path), 0o700, dir_fd=parent)
        fd = os.open(os.path.basename(path), _DIR, dir_fd=parent)
    finally:
        os.close(parent)
    s = os.fstat(fd)
    if s.st_uid != os.geteuid() or s.st_mode & 0o077:
        os.close(fd)
        raise PermissionError(f"others can enter {path}")
    return fd


def _remove_stale(base: int) -> None:
    """Remove the directories of dead hosts."""
    for name in os.listdir(base):
        with (
            contextlib.suppress(OSError),  # it is no directory, has no lock, is in use, or gone
            _opened(name, _DIR, base) as left,
            _opened(_LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK, left) as lock,
        ):
            s = os.fstat(lock)
            if stat.S_ISREG(s.st_mode) and s.st_nlink == 1 and _HELD.fullmatch(os.read(lock, 1025)):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _empty(left)
                os.rmdir(name, dir_fd=base)


def _empty(fd: int) -> None:
    """Remove the sockets of a directory, and the lock if nothing else is left."""
    if _empty_of_sockets(fd, True):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(_LOCK, dir_fd=fd)


def _empty_of_sockets(fd: int, nested: bool) -> bool:
    everything = True
    for name in os.listdir(fd):
        if name == _LOCK:
            continue
        try:
            s = os.stat(name, dir_fd=fd, follow_symlinks=False)
            ours = name.startswith("plugin")
            if stat.S_ISSOCK(s.st_mode) or (stat.S_ISREG(s.st_mode) and s.st_size == 0 and ours):
                os.unlink(name, dir_fd=fd)
            elif stat.S_ISDIR(s.st_mode) and nested and ours:
                with _opened(name, _DIR, fd) as inner:
                    _empty_of_sockets(inner, False)
                os.rmdir(name, dir_fd=fd)
            else:
                everything = False
        except FileNotFoundError:
            pass
        except OSError:
            everything = False
    return everything
