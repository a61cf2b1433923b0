"""Dream memory in the store: what a diary promoted, in `dream:<namespace>`.

Laws: a new run replaces what the same diary promoted before, in one commit; a run that promotes nothing leaves the old
entries; running again changes nothing. Secrets are masked. Dreams are recalled by questions about dreams only.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from libravdb_memory.identity import Json
from libravdb_memory.masking import Masking
from libravdb_memory.model import Draft
from libravdb_memory.namespaces import dreams_of
from libravdb_memory.sources.diary import Entry, Rejected, judge
from libravdb_memory.store.protocol import Equals, Key, Put, Remove, Store

_REPLACING = threading.Lock()


@dataclass(frozen=True, slots=True)
class Promotion:
    """`promoted` counts the entries of this run; `changed` is False when the store held exactly them already."""

    promoted: int
    rejected: tuple[Rejected, ...]
    changed: bool


def promote(
    store: Store,
    masking: Masking,
    namespace: str,
    diary: str,
    entries: Iterable[Entry],
    now_ms: int,
    facts: Mapping[str, Json] | None = None,
) -> Promotion:
    """Judge the entries of a diary and keep those that pass. `facts` join the metadata of each."""
    judged = judge(entries)
    if not judged.promoted:
        return Promotion(0, judged.rejected, changed=False)
    collection = dreams_of(namespace)
    puts = [
        Put(
            Draft(collection, dream_id(diary, number), *_content(masking, entry, diary, facts), now_ms, diary),
            True,
            False,
            False,
        )
        for number, entry in enumerate(judged.promoted)
    ]
    with _REPLACING:  # of two runs of one diary, the later one wins whole
        surplus = list(_beyond(store, collection, diary, {put.draft.id for put in puts}))
        done = store.commit([*surplus, *puts])
    return Promotion(len(puts), judged.rejected, bool(surplus) or any(done.fresh))


def dream_id(diary: str, number: int) -> str:
    return f"{diary}#dream#{number:06d}"


def _content(
    masking: Masking, entry: Entry, diary: str, facts: Mapping[str, Json] | None
) -> tuple[str, Mapping[str, Json]]:
    told: dict[str, Json] = {
        **(facts or {}),
        "type": "dream",
        "source_doc": diary,
        "score": entry.score,
        "recall": entry.recall,
        "unique": entry.unique,
        "section": entry.section,
        "line": entry.line,
    }
    content = masking.content(entry.text.strip(), told)
    return content.text, content.facts


def _beyond(store: Store, collection: str, diary: str, keep: set[str]) -> Iterator[Remove]:
    cursor: str | None = None
    while True:
        page = store.page(collection, where=Equals("group", diary), after=cursor)
        for record in page.records:
            if record.id not in keep:
                yield Remove(Key(collection, record.id, diary))
        if (cursor := page.cursor) is None:
            return
