"""Local-first memory and context engine for LLM agents.

    from libravdb_memory import Memory

    with Memory.open("memory") as memory:
        memory.ingest("We deploy on Tuesdays.", user="ada", session="s1")
        print(memory.search("when do we deploy?", user="ada")[0].text)

The names below are the public ones. Each is loaded when it is first asked for, so that importing a part of the package
costs that part alone.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from libravdb_memory.config import Config, load_config
    from libravdb_memory.context import Context
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
    "Context",
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

_HOMES = {
    "Config": "config",
    "Context": "context",
    "Hit": "model",
    "Hits": "model",
    "Memory": "memory",
    "Status": "memory",
    "Turn": "model",
    "load_config": "config",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES.get(name, 'errors')}"), name)
