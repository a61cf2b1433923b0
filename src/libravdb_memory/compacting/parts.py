"""What every compaction works with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from libravdb_memory.assemble.budget import AssemblySettings
from libravdb_memory.compact.settings import CompactionSettings
from libravdb_memory.compacting.report import Declined
from libravdb_memory.condensing import Condenser
from libravdb_memory.elevating import Elevation
from libravdb_memory.engines.protocol import Embedder
from libravdb_memory.excluding import Excluding
from libravdb_memory.model import Record
from libravdb_memory.store.protocol import Store
from libravdb_memory.tokens import TokenCounter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Parts:
    store: Store
    embedder: Embedder
    counter: TokenCounter
    settings: CompactionSettings
    assembly: AssemblySettings
    excluding: Excluding
    condenser: Condenser
    elevation: Elevation

    def declined_as(self, those: Sequence[tuple[str, str]], reason: str) -> Declined:
        """`those` by id and text."""
        tokens = sum(self.counter.count(text) for _, text in those)
        return Declined(those[0][0], those[-1][0], len(those), tokens, reason)


def vectors_of_records(parts: Parts, records: Sequence[Record]) -> NDArray[np.float32]:
    """Of each record, in the space of recall; made where the store has none yet."""
    import numpy as np

    space = next((space for space in parts.store.spaces() if space.active), None)
    mine = space is not None and space.fingerprint == parts.embedder.space.fingerprint
    known = dict(parts.store.get_vectors(space, [record.ref for record in records])) if space and mine else {}
    if lacking := [record for record in records if record.ref not in known]:
        made = parts.embedder.embed_documents([record.text for record in lacking])
        known |= {record.ref: made[row] for row, record in enumerate(lacking)}
    return np.stack([known[record.ref] for record in records])
