"""What every compaction works with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from libravdb_memory.assemble.budget import AssemblySettings
from libravdb_memory.compact.settings import CompactionSettings
from libravdb_memory.compacting.making import Making
from libravdb_memory.compacting.report import Declined
from libravdb_memory.excluding import Excluding
from libravdb_memory.model import Record
from libravdb_memory.store.protocol import Store
from libravdb_memory.tokens import TokenCounter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Parts:
    """`space` is the fingerprint of the space in which the maker judges. `wrote` is called after every commit."""

    store: Store
    counter: TokenCounter
    settings: CompactionSettings
    assembly: AssemblySettings
    excluding: Excluding
    maker: Making
    space: str
    wrote: Callable[[], None]

    def declined_as(self, those: Sequence[tuple[str, str]], reason: str) -> Declined:
        """`those` by id and text."""
        tokens = sum(self.counter.count(text) for _, text in those)
        return Declined(those[0][0], those[-1][0], len(those), tokens, reason)


def known_vectors(parts: Parts, records: Sequence[Record]) -> Mapping[int, NDArray[np.float32]]:
    """Of those records, by ref, of which the store has one in the maker's space."""
    space = next((space for space in parts.store.spaces() if space.active), None)
    if space is None or space.fingerprint != parts.space:
        return {}
    return dict(parts.store.get_vectors(space, [record.ref for record in records]))
