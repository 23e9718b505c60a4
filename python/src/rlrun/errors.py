"""What can go wrong, as the plugin protocol tells it.

Raise these in an environment or agent. Any other exception is reported, too, with
its name and its traceback, but programs cannot tell what it means.
"""

from __future__ import annotations

import sys
import traceback
from pathlib import Path

from rlrun._pb import plugin_pb2 as pb


class Error(Exception):
    """A failure of an environment or agent.

    ``lane`` is the lane to blame, or None where there is none. Environments and
    agents of a single copy leave it out: the SDK knows which copy failed.
    """

    code: pb.Code = pb.CODE_UNSPECIFIED

    def __init__(self, message: str, *, lane: int | None = None) -> None:
        super().__init__(message)
        self.lane = None if lane is None else int(lane)


class NeedsReset(Error):
    """A step before the first reset or after the end of an episode."""

    code = pb.CODE_NEEDS_RESET


class InvalidAction(Error):
    """The action is not in the action space."""

    code = pb.CODE_INVALID_ACTION


class InvalidParams(Error):
    """The parameters do not fit the schema or each other."""

    code = pb.CODE_INVALID_PARAMS


class Unsupported(Error):
    """The plugin cannot do what was asked, such as act in a continuous space."""

    code = pb.CODE_UNSUPPORTED


class InvalidAnswer(Error):
    """A reward that is not finite, or a value outside its space."""

    code = pb.CODE_INVALID_ANSWER


_BY_CODE: dict[int, type[Error]] = {
    c.code: c for c in (Error, NeedsReset, InvalidAction, InvalidParams, Unsupported, InvalidAnswer)
}


def to_proto(error: BaseException) -> pb.Error:
    """Return an exception as it crosses in band, with its causes."""
    text = _text(error)
    if isinstance(error, Error):
        text = str(error) or type(error).__name__
    for cause in _causes(error):
        if str(cause) not in text:
            text += f" (caused by {_text(cause)})"
    if isinstance(error, Error):
        return pb.Error(code=error.code, lane=error.lane, message=_line(text))
    return pb.Error(lane=getattr(error, "_rlrun_lane", None), message=_line(text))


MOST_CAUSES = 3
"""How many causes of an exception a message tells."""


def _causes(error: BaseException) -> list[BaseException]:
    """Return the exception that caused another, or during whose handling it was raised."""
    causes: list[BaseException] = []
    while len(causes) < MOST_CAUSES:
        cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        if cause is None:
            break
        causes.append(cause)
        error = cause
    return causes


def _text(error: BaseException) -> str:
    """Return an exception's type and text."""
    text = _exit(error) if isinstance(error, SystemExit) else str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _exit(error: SystemExit) -> str:
    """Say what sys.exit was called with, as the process's exit status would be."""
    if error.code is None or isinstance(error.code, int):
        return f"exit status {error.code or 0}"
    return f"exit status 1: {error.code}"


def from_proto(message: pb.Error) -> Error:
    """Return the exception that a plugin's error stands for."""
    kind = _BY_CODE.get(message.code, Error)
    return kind(message.message, lane=message.lane if message.HasField("lane") else None)


def blame(error: BaseException, lane: int) -> None:
    """Note that an exception came from one lane's copy."""
    if isinstance(error, Error):
        error.lane = lane
    else:
        error._rlrun_lane = lane  # type: ignore[attr-defined]


def print_traceback(error: BaseException) -> None:
    """Print an exception's traceback to standard error, from the first frame that is not rlrun's."""
    whole = traceback.TracebackException.from_exception(error)
    parts: list[traceback.TracebackException | None] = [whole]
    for part in parts:
        if part is None:
            continue
        parts += [part.__cause__, part.__context__]
        others = (i for i, frame in enumerate(part.stack) if not Path(frame.filename).is_relative_to(_PACKAGE))
        del part.stack[: next(others, 0)]  # all of it stays where every frame is rlrun's
    sys.stderr.write("".join(whole.format()))
    sys.stderr.flush()


_PACKAGE = Path(__file__).parent

_LONGEST_MESSAGE = 1 << 12  # characters of an error that cross, far fewer than an answer may have


def _line(text: str) -> str:
    """Return a text in one line, as the protocol can carry it: no lone surrogates, and not too long."""
    cut = f"… (cut; {len(text)} characters in all)" if len(text) > _LONGEST_MESSAGE else ""
    return " ".join(text[:_LONGEST_MESSAGE].encode("utf-8", "replace").decode().split()) + cut
