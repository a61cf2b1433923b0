"""Which of some texts become guidance when each is a turn of its own."""

from __future__ import annotations

from collections.abc import Sequence

from libravdb_memory.compact.settings import CompactionSettings
from libravdb_memory.elevating import Elevation
from libravdb_memory.engines.select import make_embedder
from libravdb_memory.model import Record
from libravdb_memory.shards import Shard
from libravdb_memory.tokens import EstimatingCounter


def shards_of(texts: Sequence[str]) -> dict[str, Shard]:
    """By the text of their turn."""
    embedder = make_embedder()
    turns = [Record(ref, "turns", "s", str(ref), 0, text, {"role": "user"}, "", 1) for ref, text in enumerate(texts)]
    elevation = Elevation(embedder, EstimatingCounter(), CompactionSettings())
    kept = elevation.shards(turns, {}, embedder.embed_documents(texts))
    return {texts[int(shard.turn)]: shard for shard in kept}
