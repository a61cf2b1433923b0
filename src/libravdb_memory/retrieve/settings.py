"""What can be chosen about recall."""

from __future__ import annotations

from dataclasses import dataclass, field

from libravdb_memory.errors import ConfigError
from libravdb_memory.retrieve.rank import Profile


@dataclass(frozen=True, slots=True)
class RetrievalSettings:
    candidates: int = field(default=100, metadata={"help": "records taken from each kind of search before ranking"})
    profile: Profile = field(
        default="calibrated", metadata={"help": "ranking law: calibrated, or the older reference and hybrid"}
    )

    def __post_init__(self) -> None:
        if type(self.candidates) is not int or self.candidates < 1:
            raise ConfigError("retrieval.candidates", f"must be a whole number of at least 1, not {self.candidates!r}")
