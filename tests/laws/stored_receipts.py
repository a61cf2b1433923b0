"""Receipts as they lie on disk: packed, so that no word of theirs stands there as it was said.

Where a receipt lies in a file, long runs of its stored text do. Those that it has in common with receipts that stay
prove nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from libravdb_memory import Memory
from libravdb_memory.receipts import _unpacked
from libravdb_memory.store.paging import every

RUN = 48
_PACKED = re.compile(rb"[A-Za-z0-9+/=]{%d,}" % RUN)


def stored(memory: Memory, secret: str = "") -> dict[str, str]:
    """The text of every receipt in the store that holds these words, by its id."""
    memory._receipts.flush()
    return {
        record.id: record.text
        for info in memory.store.collections("receipt:")
        for record in every(memory.store, info.name)
        if secret in str(_unpacked(record))
    }


def quoting(memory: Memory, folder: Path, secret: str) -> list[str]:
    """The stored texts of the receipts that hold these words. Of all of them runs are on disk that no other has."""
    texts = stored(memory, secret)
    others = stored(memory).items() - texts.items()
    assert _there(texts.values(), folder, (text for _, text in others)) == [*texts.values()]
    return [*texts.values()]


def left(memory: Memory, folder: Path, gone: Iterable[str]) -> list[str]:
    """Those of the texts of receipts that are gone of which there still is a run on disk."""
    return _there(gone, folder, stored(memory).values())


def _there(texts: Iterable[str], folder: Path, others: Iterable[str]) -> list[str]:
    theirs = frozenset[bytes]().union(*(_runs(text.encode()) for text in others))
    on_disk = _runs_on_disk(folder) - theirs
    return [text for text in texts if not on_disk.isdisjoint(_runs(text.encode()))]


def _runs_on_disk(folder: Path) -> frozenset[bytes]:
    """All runs of so many of the signs that packed texts are made of, in all files."""
    files = [file.read_bytes() for file in folder.rglob("*") if file.is_file()]
    return frozenset[bytes]().union(*(_runs(found) for data in files for found in _PACKED.findall(data)))


def _runs(text: bytes) -> frozenset[bytes]:
    return frozenset(text[start : start + RUN] for start in range(len(text) - RUN + 1))
