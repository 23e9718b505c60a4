"""The commands of the program rlrun that are written in Python: ``rlrun tune`` and ``rlrun sensitivity``."""

from __future__ import annotations

import json
import math
import signal
import sys
from collections.abc import Callable
from typing import Any

from rlrun._sensitivity import sensitivity
from rlrun.experiment import ExperimentError
from rlrun.tuning import tune


def _tune(config: dict[str, Any], progress: bool, lock: str, overwrite: bool = False) -> dict[str, Any]:
    found = tune(config, progress=progress, overwrite=overwrite, flags=[f"--lock={lock}"] if lock else [])
    trials = [
        {
            "agent": t.agent,
            "trial": t.number,
            "settings": t.settings,
            "state": t.state,
            "runs": t.runs,
            "score": _known(t.score),
        }
        for t in found.tried
    ]
    directory = str(found.results.directory)
    return {
        "text": f"{found!r}\nResults: {directory}",
        "json": {"output": directory, "best": found.best, "trials": trials},
    }


def _sensitivity(directory: str, metric: str, scores: list[str] | None) -> dict[str, Any]:
    scales: dict[str, tuple[float, float]] = {}
    for text in scores or []:
        name, _, ends = text.rpartition("=")
        try:
            low, high = map(float, ends.split(","))
        except ValueError:
            raise ValueError(f"--scores must be ENVIRONMENT=LOW,HIGH, not {text!r}") from None
        scales[name] = low, high
    found = sensitivity(directory, metric=metric, scores=scales)
    return {
        "text": repr(found),
        "json": [{k: _known(x) for k, x in row.items()} for row in found.table.to_dict("records")],
    }


def _known(x: Any) -> Any:
    """Return None in place of NaN, which JSON does not have."""
    return None if isinstance(x, float) and math.isnan(x) else x


_COMMANDS: dict[str, Callable[..., dict[str, Any]]] = {"tune": _tune, "sensitivity": _sensitivity}


def main() -> None:
    """Answer the request on standard input: the name of a command, and its arguments."""
    request = json.load(sys.stdin)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # by which the host says that it is interrupted
    answer: dict[str, Any]
    try:
        answer = _COMMANDS[request["command"]](**request["arguments"])
    except KeyboardInterrupt:
        answer = {"interrupted": True}
    except ExperimentError as e:
        answer = {"usage" if e.results is None else "failed": str(e)}
    except (ValueError, TypeError) as e:
        answer = {"usage": str(e)}
    except (ImportError, OSError) as e:
        answer = {"failed": str(e)}
    json.dump(answer, sys.stdout, default=str, allow_nan=False)
