"""The daemon's log: words for people on a terminal, one JSON object a line otherwise."""

from __future__ import annotations

import json
import logging
import sys
import time
from typing import TextIO

_OTHERS = {"uvicorn": logging.ERROR, "opentelemetry": logging.WARNING}
"""Of what may be imported; a bad request is no news."""
_PLAIN = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        told: dict[str, object] = {
            "ts": f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(record.created))}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **{name: value for name, value in record.__dict__.items() if name not in _PLAIN},
        }
        if record.exc_info:
            told["traceback"] = self.formatException(record.exc_info)
        return json.dumps(told, ensure_ascii=False, default=str)


def log_to(stream: TextIO | None = None, *, debug: bool = False) -> None:
    out = stream or sys.stderr
    handler = logging.StreamHandler(out)
    on_terminal = out.isatty()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s") if on_terminal else _JsonLines())
    own = logging.DEBUG if debug else logging.INFO
    for name, level in {"libravdb_memory": own, "asyncio": logging.INFO, **_OTHERS}.items():
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(level)
        logger.propagate = False
