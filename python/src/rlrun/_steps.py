"""The socket over which a host steps instances. docs/protocol.md describes its frames."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
from collections.abc import Callable

VARIABLE = "RLRUN_STEP_FD"
HELLO, ENVIRONMENT_STEP, AGENT_STEP, END, REFUSED, RULE_STEP, AHEAD = range(7)
"""The kinds of frames."""

_HEADER = struct.Struct("<IB")  # the number of bytes of a message, and its kind
_LEAST = 1 << 16  # bytes of the buffer


def inherited() -> socket.socket | None:
    """Return the socket that the host has given this process, and say that it is read; None if there is none."""
    number = os.environ.pop(VARIABLE, "")
    if not number.isdecimal():
        return None
    try:
        steps = socket.socket(fileno=int(number))
        steps.set_inheritable(False)
        steps.sendall(_HEADER.pack(0, HELLO))
    except OSError:  # something between the host and this process has closed it
        return None
    return steps


def serve(steps: socket.socket, answer: Callable[[int, bytes], tuple[int, bytes] | None]) -> None:
    """Answer the host's frames, in turn, until its end of the socket is closed."""
    unpack, pack, receive, send = _HEADER.unpack_from, _HEADER.pack, steps.recv_into, steps.sendall
    begin = _HEADER.size
    view, have = memoryview(bytearray(_LEAST)), 0
    with contextlib.suppress(ConnectionError):
        while True:
            while have < begin:
                if not (n := receive(view[have:])):
                    return
                have += n
            size, kind = unpack(view)
            end = begin + size
            if end > len(view):
                larger = memoryview(bytearray(2 * end))
                larger[:have] = view[:have]
                view = larger
            while have < end:
                if not (n := receive(view[have:])):
                    return
                have += n
            reply = answer(kind, bytes(view[begin:end]))
            if reply is not None:
                kind, data = reply
                send(pack(len(data), kind) + data)
            have -= end
            if have:
                view[:have] = bytes(view[end : end + have])


def close(steps: socket.socket) -> None:
    """End serve in another thread."""
    with contextlib.suppress(OSError):
        steps.shutdown(socket.SHUT_RDWR)
