"""What the daemon logs, for people and for programs."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import pytest

from libravdb_memory.serve.logs import log_to

_log = logging.getLogger("libravdb_memory.serve.daemon")


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def loggers_as_before() -> Iterator[None]:
    loggers = [logging.getLogger(name) for name in ("libravdb_memory", "asyncio")]
    before = [(logger, list(logger.handlers), logger.level, logger.propagate) for logger in loggers]
    yield
    for logger, handlers, level, propagate in before:
        logger.handlers, logger.propagate = handlers, propagate
        logger.setLevel(level)


def test_for_programs_each_event_is_one_json_object_on_one_line() -> None:
    out = io.StringIO()
    log_to(out)
    _log.info("listening on %s\nnow", "unix:/a", extra={"endpoint": "unix:/a"})
    try:
        raise ValueError("bad\nnews")
    except ValueError:
        _log.exception("it failed")
    _log.debug("not told")
    first, second = (json.loads(line) for line in out.getvalue().splitlines())
    assert first["message"] == "listening on unix:/a\nnow" and first["endpoint"] == "unix:/a"
    assert first["level"] == "info" and first["ts"].endswith("Z")
    assert second["level"] == "error" and "ValueError: bad" in second["traceback"]


def test_for_people_each_event_is_a_line_of_words() -> None:
    out = Screen()
    log_to(out)
    _log.warning("a client did not read its answers for %d s: cut off", 30)
    assert out.getvalue().endswith(" WARNING a client did not read its answers for 30 s: cut off\n")
