"""What a user may tune about the embedded store; every value has a safe default."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from libravdb_memory.errors import ConfigError


@dataclass(frozen=True, slots=True)
class StoreSettings:
    resident_vector_mb: int = field(
        default=512, metadata={"help": "memory for vectors kept ready for exact search, in MB"}
    )
    exact_limit: int = field(
        default=25_000, metadata={"help": "collections with more vectors than this use the approximate index"}
    )
    wal_mb: int = field(
        default=16, metadata={"help": "size at which the write-ahead log is folded into the data file, in MB"}
    )
    cache_mb: int = field(default=32, metadata={"help": "page cache of the writing connection, in MB"})

    def __post_init__(self) -> None:
        for setting in fields(self):
            value = getattr(self, setting.name)
            if type(value) is not int or value < 1:
                raise ConfigError(f"store.{setting.name}", f"must be a whole number of at least 1, not {value!r}")
