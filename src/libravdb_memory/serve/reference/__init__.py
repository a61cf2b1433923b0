"""The methods of the reference protocol: published clients of it work against this daemon unchanged.

`health` and `status` are among them and stand beside our own methods, with more in their answers.
"""

from __future__ import annotations

from typing import Any

from libravdb_memory.serve.methods import Method
from libravdb_memory.serve.reference import (
    compaction,
    deleting,
    documents,
    dreams,
    judging,
    lifecycle,
    records,
    searching,
    whole,
)

METHODS: tuple[Method[Any], ...] = (
    *records.METHODS,
    *documents.METHODS,
    *dreams.METHODS,
    *judging.METHODS,
    *searching.METHODS,
    *deleting.METHODS,
    *whole.METHODS,
    *compaction.METHODS,
    *lifecycle.METHODS,
)
