"""Logging to the host: a line of JSON a record, in hclog's form, on standard error."""

from __future__ import annotations

import datetime
import json
import logging
import sys


class HostFormatter(logging.Formatter):
    """Formats a record as the host's logger reads it."""

    def format(self, record: logging.LogRecord) -> str:
        """Return one line of JSON; a traceback follows as it is."""
        when = datetime.datetime.fromtimestamp(record.created).astimezone()
        level = "trace" if record.levelno < logging.DEBUG else record.levelname.lower()
        line = json.dumps(
            {
                "@level": {"warning": "warn", "critical": "error"}.get(level, level),
                "@message": record.getMessage(),
                "logger": record.name,
                "@timestamp": when.isoformat(timespec="microseconds"),
            }
        )
        return line if not record.exc_info else f"{line}\n{self.formatException(record.exc_info)}"


def to_host() -> None:
    """Send log records to the host, unless the author has configured logging."""
    root = logging.getLogger()
    if not root.handlers:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(HostFormatter())
        root.addHandler(handler)
        if root.level == logging.WARNING:
            root.setLevel(logging.INFO)
