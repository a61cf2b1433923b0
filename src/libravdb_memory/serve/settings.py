"""What a user may tune about the daemon."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from urllib.parse import urlsplit

from libravdb_memory.errors import ConfigError
from libravdb_memory.serve.endpoint import parse_address, parse_endpoint


@dataclass(frozen=True, slots=True)
class ServeSettings:
    endpoint: str = field(
        default="", metadata={"help": "where the daemon listens, unix:/path or tcp:host:port; blank: in the home"}
    )
    allow_remote: bool = field(
        default=False, metadata={"help": "let other machines connect, where the endpoint is no loopback address"}
    )
    tcp_token: bool = field(
        default=True, metadata={"help": "a connection over TCP must begin with a token; never off for other machines"}
    )
    http: str = field(
        default="",
        metadata={"help": "host:port where the inspector, /metrics and /health are served over HTTP; blank: nowhere"},
    )
    http_hosts: tuple[str, ...] = field(
        default=(), metadata={"help": "further names by which HTTP clients may call this machine"}
    )
    workers: int = field(default=4, metadata={"help": "calls that are worked on at once"})
    max_connections: int = field(default=12_000, metadata={"help": "clients at once; more are sent away"})
    max_in_flight: int = field(
        default=64, metadata={"help": "unanswered calls of one client; no more of its calls are read meanwhile"}
    )
    max_calls_per_s: int = field(
        default=10_000,
        metadata={"help": "calls a second of one client, each KB of them counting as one; more wait; 0: any number"},
    )
    max_frame_mb: int = field(default=16, metadata={"help": "longest call, in MB"})
    write_timeout_s: int = field(
        default=30, metadata={"help": "seconds after which a client that does not read its answers is cut off"}
    )
    drain_s: int = field(
        default=10, metadata={"help": "seconds that calls under way get when the daemon is told to stop"}
    )
    journal_entries: int = field(default=500, metadata={"help": "hints about sessions that the journal keeps"})

    def __post_init__(self) -> None:
        for setting in fields(self):
            value = getattr(self, setting.name)
            least = 0 if setting.name in ("journal_entries", "drain_s", "max_calls_per_s") else 1
            if type(value) is int and value < least:
                raise ConfigError(f"serve.{setting.name}", f"must be at least {least}, not {value}")
        if self.endpoint.strip():
            parse_endpoint(self.endpoint)
        if self.http.strip():
            parse_address(self.http)


@dataclass(frozen=True, slots=True)
class TelemetrySettings:
    """Nothing is told to anybody unless an address is set."""

    otlp_endpoint: str = field(
        default="",
        metadata={"help": "address of an OpenTelemetry collector, as in http://127.0.0.1:4318; blank: nothing is sent"},
    )
    interval_s: int = field(default=60, metadata={"help": "seconds between two deliveries of figures"})
    span_share: float = field(default=1.0, metadata={"help": "share of the calls that are told as spans, 0 to 1"})

    def __post_init__(self) -> None:
        address = urlsplit(self.otlp_endpoint.strip())
        if self.otlp_endpoint.strip() and not (address.scheme in ("http", "https") and address.hostname):
            reason = f"takes an address such as http://127.0.0.1:4318, not {self.otlp_endpoint!r}"
            raise ConfigError("telemetry.otlp_endpoint", reason)
        if self.interval_s < 1:
            raise ConfigError("telemetry.interval_s", f"must be at least 1, not {self.interval_s}")
        if not 0 <= self.span_share <= 1:
            raise ConfigError("telemetry.span_share", f"must lie between 0 and 1, not {self.span_share}")
