"""Which methods of the table are served over HTTP.

Law: what only reads is served, and few that write; never what is for the owner's own commands. What writes, or takes
long, is never asked for with a GET.
"""

from __future__ import annotations

from typing import Any

from libravdb_memory.serve.fields import json_schema
from libravdb_memory.serve.methods import Method, Table

WRITING = frozenset({"ingest_message", "assemble_context", "memory_forget", "memory_compact", "job_start"})
_NOT_HERE = frozenset({"authenticate", "backup", "reindex"})
"""The last two leave the memory as it is, but write: a backup is a job here."""


def exposed(table: Table) -> Table:
    return {
        name: method
        for name, method in table.items()
        if name not in _NOT_HERE and not method.owner_only and (not method.writes or name in WRITING)
    }


def takes_get(method: Method[Any]) -> bool:
    """Reads, soon, and needs nothing to be said."""
    reads = method.name not in WRITING and not method.writes and method.pace != "slow"
    return reads and "required" not in json_schema(method.params)
