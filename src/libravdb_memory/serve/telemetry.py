"""Telling a collector of OpenTelemetry how the daemon is doing, if the settings ask for it.

Laws: without the setting nothing is imported and nothing is sent. With it, packages that are missing are told before
the daemon starts.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module

from libravdb_memory.errors import ConfigError
from libravdb_memory.serve.metrics import Metrics
from libravdb_memory.serve.settings import TelemetrySettings

_SETTING = "telemetry.otlp_endpoint"


def check_telemetry(settings: TelemetrySettings) -> None:
    """Before anything is opened, for importing it takes a while."""
    if not settings.otlp_endpoint.strip():
        return
    try:
        import_module("libravdb_memory.serve.otel")
    except ImportError as error:
        reason = f"needs packages that are not installed ({error}): pip install 'libravdb-memory[otel]'"
        raise ConfigError(_SETTING, reason) from error


@contextmanager
def telemetry(settings: TelemetrySettings, metrics: Metrics) -> Generator[None]:
    """Until the end of the block; what was not told yet is told then, if the collector takes it in time."""
    if not settings.otlp_endpoint.strip():
        yield
        return
    from libravdb_memory.serve.otel import Telling

    telling = Telling(settings, metrics)
    try:
        yield
    finally:
        telling.stop()
