"""The methods of our own: what a host needs for a conversation, and what a person needs to see why."""

from __future__ import annotations

from typing import Any

from libravdb_memory.serve.methods import Method
from libravdb_memory.serve.own import (
    condition,
    conversation,
    explaining,
    finding,
    forgetting,
    hosts,
    keeping,
    older,
    rules,
)

METHODS: tuple[Method[Any], ...] = (
    *condition.METHODS,
    *conversation.METHODS,
    *hosts.METHODS,
    *finding.METHODS,
    *older.METHODS,
    *forgetting.METHODS,
    *explaining.METHODS,
    *rules.METHODS,
    *keeping.METHODS,
)
