"""Local-first memory and context engine for LLM agents.

from libravdb_memory import Memory

with Memory.open("memory") as memory:
    memory.ingest("We deploy on Tuesdays.", user="ada", session="s1")
    print(memory.search("when do we deploy?", user="ada")[0].text)
"""

from libravdb_memory.config import Config, load_config
from libravdb_memory.errors import (
    AmbiguousIdError,
    ConflictError,
    FingerprintMismatchError,
    InvalidInputError,
    LibraVDBError,
    NotFoundError,
    StoreError,
    StoreLockedError,
)
from libravdb_memory.memory import Memory, Status
from libravdb_memory.model import Hit, Hits, Turn

__version__ = "0.1.0"

__all__ = [
    "AmbiguousIdError",
    "Config",
    "ConflictError",
    "FingerprintMismatchError",
    "Hit",
    "Hits",
    "InvalidInputError",
    "LibraVDBError",
    "Memory",
    "NotFoundError",
    "Status",
    "StoreError",
    "StoreLockedError",
    "Turn",
    "__version__",
    "load_config",
]
