"""Fixtures shared by all tests: configurations that never read the machine's own."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase
from hypothesis import settings as hypothesis_settings

if TYPE_CHECKING:
    from libravdb_memory.config import Config

hypothesis_settings.register_profile(
    "project", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
hypothesis_settings.register_profile(  # a failure is enough there; its smallest form is of no use
    "mutants", hypothesis_settings.get_profile("project"), phases=(Phase.explicit, Phase.generate)
)
hypothesis_settings.load_profile(os.environ.get("LIBRAVDB_HYPOTHESIS", "project"))


def pytest_configure() -> None:
    """A shell that starts tests in the background has interrupts ignored, by children too; some tests send them."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def hashed(tmp_path: Path) -> Config:
    """A configuration in a temporary home with the weightless embedder: fast, deterministic."""
    from libravdb_memory.config import load_config

    home = tmp_path / "home"
    return load_config(environ={"LIBRAVDB_HOME": str(home), "LIBRAVDB_EMBEDDING_BACKEND": "hashed"})
