"""promote_dream_entries: what a dream diary makes memory of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from libravdb_memory.identity import Json
from libravdb_memory.ingest.turns import checked_name, checked_text
from libravdb_memory.namespaces import resolve_namespace
from libravdb_memory.serve.methods import Method, Result
from libravdb_memory.serve.reference.documents import SourceMeta
from libravdb_memory.serve.results.reference import DreamsPromoted
from libravdb_memory.serve.service import Service
from libravdb_memory.sources.diary import Entry
from libravdb_memory.sources.dreams import promote


@dataclass(frozen=True, slots=True)
class DreamEntry:
    text: str = ""
    score: float = 0.0
    recall_count: int = field(default=0, metadata={"help": "how often it was recalled"})
    unique_queries: int = field(default=0, metadata={"help": "by how many different questions"})
    section: str = ""
    line: int = 0
    source_line: int = field(default=0, metadata={"help": "stands for line"})
    metadata: Mapping[str, Json] = field(default_factory=dict[str, Json], metadata={"help": "taken and not kept"})

    @property
    def entry(self) -> Entry:
        text = checked_text("entries.text", self.text)
        line = self.line or self.source_line
        return Entry(text, self.score, self.recall_count, self.unique_queries, self.section, line)


@dataclass(frozen=True, slots=True)
class Dreams(SourceMeta):
    user_id: str = field(kw_only=True, metadata={"help": "whose dreams"})
    source_doc: str = field(kw_only=True, metadata={"help": "the diary; its earlier entries are replaced"})
    entries: tuple[DreamEntry, ...] = ()


def promote_dream_entries(service: Service, params: Dreams) -> Result:
    facts: dict[str, Json] = {**params.facts(), "userId": params.user_id.strip(), "provenance_class": "dream_promoted"}
    diary = checked_name("sourceDoc", params.source_doc)
    entries = [dream.entry for dream in params.entries]
    namespace = resolve_namespace(params.user_id)
    done = promote(service.store, service.memory.masking, namespace, diary, entries, service.now_ms(), facts)
    service.memory.stored_beside()
    return {"promoted": done.promoted, "rejected": len(done.rejected)}


METHODS: tuple[Method[Any], ...] = (
    Method(
        "promote_dream_entries",
        Dreams,
        promote_dream_entries,
        "Make memory of the entries of a dream diary that are worth it, in the place of its earlier ones.",
        writes=True,
        order=lambda params: f"dream:{params.user_id.strip()}",
        reach=lambda _, params: frozenset({resolve_namespace(params.user_id)}),
        result=DreamsPromoted,
    ),
)
