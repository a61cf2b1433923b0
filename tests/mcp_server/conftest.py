"""Fixtures of the MCP tests: a real store behind the server, reached without a process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy  # noqa: F401 - Hypothesis looks at it, also while a background thread is halfway through importing it
import pytest
from tests.serve.process import short_folder

from libravdb_memory import Memory
from libravdb_memory.config import Config
from libravdb_memory.mcp_server.asking import Embedded


@pytest.fixture
def memory(hashed: Config) -> Iterator[Memory]:
    with Memory.open(config=hashed) as opened:
        yield opened


@pytest.fixture
def embedded(memory: Memory, hashed: Config) -> Embedded:
    return Embedded(memory, hashed)


@pytest.fixture
def home() -> Iterator[Path]:
    with short_folder() as folder:
        yield folder / "home"
