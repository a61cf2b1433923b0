"""A client reads the environment; its tests do not read the machine's own."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith("LIBRAVDB_"):
            monkeypatch.delenv(name)
