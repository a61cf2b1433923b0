"""What is told to a collector of OpenTelemetry, seen by a real one that decodes every byte it gets."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status
from tests.serve.process import Daemons

ADA = {"userId": "ada-lovelace", "sessionId": "s-secret"}


class Collector:
    """Takes what is sent to /v1/traces and /v1/metrics, and nothing else."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.metrics: dict[str, Any] = {}
        self.raw = b""
        self.unknown: list[str] = []
        self.changed = threading.Condition()

    def take(self, path: str, body: bytes) -> None:
        with self.changed:
            self.raw += body
            if path == "/v1/traces":
                for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                    for scope in resource.scope_spans:
                        self.spans += scope.spans
            elif path == "/v1/metrics":
                for of_resource in ExportMetricsServiceRequest.FromString(body).resource_metrics:
                    for of_scope in of_resource.scope_metrics:
                        self.metrics |= {metric.name: metric for metric in of_scope.metrics}
            else:
                self.unknown.append(path)
            self.changed.notify_all()

    def until(self, happened: Callable[[], bool]) -> None:
        with self.changed:
            assert self.changed.wait_for(happened, 60), (sorted(self.metrics), len(self.spans))


@contextmanager
def collecting() -> Iterator[tuple[Collector, str]]:
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            collector.take(self.path, self.rfile.read(int(self.headers["content-length"])))
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *arguments: Any) -> None:
            """To nobody."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield collector, f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def test_calls_are_told_as_spans_and_figures_and_nothing_of_anybody_s_memory(daemons: Daemons) -> None:
    with collecting() as (collector, address):
        daemon = daemons(TELEMETRY_OTLP_ENDPOINT=f"{address}/", TELEMETRY_INTERVAL_S="1")
        before = time.time_ns()
        with daemon.client() as client:
            for number in range(3):
                client.call("ingest_message", **ADA, id=f"id-{number}", text=f"my password is hunter{number}")
            client.ask("memory_get", **ADA, id="no-such-id")
            client.ask("no_such_method")
            collector.until(lambda: "libravdb_store_turns" in collector.metrics)
        assert daemon.stop() == 0  # which tells the rest
        spans = {(span.name, span.status.code) for span in collector.spans}
        assert spans == {("ingest_message", Status.STATUS_CODE_UNSET), ("memory_get", Status.STATUS_CODE_ERROR)}
        assert len(collector.spans) == 4 and not collector.unknown
        for span in collector.spans:
            assert span.kind == Span.SPAN_KIND_SERVER
            assert before <= span.start_time_unix_nano <= span.end_time_unix_nano <= time.time_ns()
            told = {attribute.key: attribute.value.string_value for attribute in span.attributes}
            assert told == {"rpc.system": "jsonrpc", "rpc.service": "libravdb", "rpc.method": span.name}
        assert collector.metrics["libravdb_store_turns"].gauge.data_points[0].as_int == 3
        assert collector.metrics["libravdb_connections"].sum.data_points[0].as_int == 1
        points = collector.metrics["libravdb_call_seconds"].histogram.data_points
        assert sum(point.count for point in points) == 4
        for private in (b"ada", b"lovelace", b"secret", b"hunter", b"no-such", b"no_such", b"id-0", b"libravdb.sock"):
            assert private not in collector.raw
        assert str(daemons.home).encode() not in collector.raw


def test_a_share_of_the_spans_is_told_and_all_figures(daemons: Daemons) -> None:
    with collecting() as (collector, address):
        settings = {"TELEMETRY_OTLP_ENDPOINT": address, "TELEMETRY_SPAN_SHARE": "0", "TELEMETRY_INTERVAL_S": "1"}
        with daemons(**settings).client() as client:
            client.call("ingest_message", **ADA, text="said")
            collector.until(lambda: "libravdb_call_seconds" in collector.metrics)
        assert collector.spans == []


def test_a_collector_that_is_away_or_never_answers_delays_no_call_and_no_end(daemons: Daemons) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        daemon = daemons(TELEMETRY_OTLP_ENDPOINT=address, TELEMETRY_INTERVAL_S="1")
        with daemon.client() as client:
            for number in range(300):
                client.call("ingest_message", **ADA, text=f"turn {number}")
            assert client.call("memory_history", **ADA)["turns"] == 300
        began = time.monotonic()
        assert daemon.stop() == 0
        assert time.monotonic() - began < 15


def test_without_the_setting_nothing_is_sent_whatever_the_environment_says(
    daemons: Daemons, monkeypatch: pytest.MonkeyPatch
) -> None:
    with collecting() as (collector, address):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)
        daemon = daemons()
        with daemon.client() as client:
            client.call("ingest_message", **ADA, text="said")
        assert daemon.stop() == 0
        assert collector.raw == b""


@pytest.mark.parametrize("address", ["127.0.0.1:4318", "ftp://here", "http://", "grpc://127.0.0.1:4317"])
def test_an_address_that_is_none_is_told_at_the_start(daemons: Daemons, address: str) -> None:
    daemon = daemons.attempt(TELEMETRY_OTLP_ENDPOINT=address)
    assert daemon.wait() == 2 and "telemetry.otlp_endpoint" in daemon.log


def test_packages_that_are_missing_are_told_before_anything_starts() -> None:
    program = """
import sys
sys.modules["opentelemetry.sdk"] = None
from libravdb_memory.errors import ConfigError
from libravdb_memory.serve.settings import TelemetrySettings
from libravdb_memory.serve.telemetry import check_telemetry
check_telemetry(TelemetrySettings())
try:
    check_telemetry(TelemetrySettings("http://127.0.0.1:4318"))
except ConfigError as error:
    assert "libravdb-memory[otel]" in str(error), error
else:
    sys.exit("it was not told")
"""
    subprocess.run([sys.executable, "-c", program], check=True)
