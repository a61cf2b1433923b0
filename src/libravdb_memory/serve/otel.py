"""Calls as spans, latencies and all figures of the daemon, sent to a collector over OTLP.

Laws: told are names of methods, times, counts and whether something failed; no text, no id and no name of anybody. A
collector that is away or slow delays no call and no end of the daemon.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.metrics import CallbackOptions, Observation
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import TraceIdRatioBased
from opentelemetry.trace import SpanKind, Status, StatusCode

from libravdb_memory import __version__
from libravdb_memory.serve.exposition import Family
from libravdb_memory.serve.metrics import BOUNDS_S, Metrics
from libravdb_memory.serve.settings import TelemetrySettings

_log = logging.getLogger(__name__)
_NAME = "libravdb"
_EXPORT_S = 5
_STOP_S = 3.0
_FRESH_S = 1.0


class Telling:
    """From the moment it is made; every observation of the metrics' calls, and their figures at intervals."""

    def __init__(self, settings: TelemetrySettings, metrics: Metrics) -> None:
        base = settings.otlp_endpoint.strip().rstrip("/")
        resource = Resource.create({"service.name": _NAME, "service.version": __version__})
        self._spans = TracerProvider(
            sampler=TraceIdRatioBased(settings.span_share), resource=resource, shutdown_on_exit=False
        )
        exporter = OTLPSpanExporter(endpoint=f"{base}/v1/traces", timeout=_EXPORT_S)
        self._spans.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._spans.get_tracer(_NAME, __version__)
        reader = PeriodicExportingMetricReader(
            OTLPMetricExporter(endpoint=f"{base}/v1/metrics", timeout=_EXPORT_S),
            export_interval_millis=settings.interval_s * 1_000,
        )
        self._figures = MeterProvider([reader], resource, shutdown_on_exit=False)
        self._latency = self._figures.get_meter(_NAME, __version__).create_histogram(
            "libravdb_call_seconds",
            unit="s",
            description="Time from the arrival of a call to its answer.",
            explicit_bucket_boundaries_advisory=BOUNDS_S,
        )
        self._tell_figures(metrics)
        metrics.observe(self.called)
        _log.info("telling %s how the daemon is doing", base)

    def called(self, method: str, seconds: float, failed: bool) -> None:
        """A call has ended just now."""
        try:
            self._latency.record(seconds, {"method": method, "failed": failed})
            self._span(method, seconds, failed)
        except Exception as error:  # a call must be answered, whatever becomes of this
            _log.warning("a call could not be told: %r", error)

    def stop(self) -> None:
        """Tell what is left; a collector that does not take it in time is not waited for."""
        ending = [threading.Thread(target=end, daemon=True) for end in (self._spans.shutdown, self._end_figures)]
        for thread in ending:
            thread.start()
        deadline = time.monotonic() + _STOP_S
        for thread in ending:
            thread.join(max(deadline - time.monotonic(), 0.0))

    def _end_figures(self) -> None:
        self._figures.shutdown(timeout_millis=_STOP_S * 1_000)

    def _span(self, method: str, seconds: float, failed: bool) -> None:
        ended = time.time_ns()
        span = self._tracer.start_span(
            method,
            kind=SpanKind.SERVER,
            attributes={"rpc.system": "jsonrpc", "rpc.service": _NAME, "rpc.method": method},
            start_time=ended - int(seconds * 1e9),
        )
        if failed:
            span.set_status(Status(StatusCode.ERROR))
        span.end(ended)

    def _tell_figures(self, metrics: Metrics) -> None:
        meter, recent = self._figures.get_meter(_NAME, __version__), _Recent(metrics)
        for name, family in recent.by_name().items():
            observe = _observer(recent, name)
            if family.kind == "gauge":
                meter.create_observable_gauge(name, [observe], description=family.help)
            elif family.kind == "counter":
                meter.create_observable_counter(name.removesuffix("_total"), [observe], description=family.help)


class _Recent:
    """The figures, read once for all instruments that are asked in a row."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._read_at = 0.0
        self._families: Mapping[str, Family] = {}

    def by_name(self) -> Mapping[str, Family]:
        if not self._families or time.monotonic() - self._read_at > _FRESH_S:
            self._families = {family.name: family for family in self._metrics.families()}
            self._read_at = time.monotonic()
        return self._families


def _observer(recent: _Recent, name: str) -> Callable[[CallbackOptions], Iterable[Observation]]:
    def observe(_: CallbackOptions) -> Iterable[Observation]:
        family = recent.by_name().get(name)
        samples = () if family is None else family.samples
        return [Observation(sample.value, dict(sample.labels)) for sample in samples]

    return observe
