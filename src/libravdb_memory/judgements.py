"""What the gate decided on the turns of a namespace, read back from the marks it left.

Law: the signals are those of the moment of judging, not judged again; turns that wait for judgement are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from libravdb_memory.gating import JUDGED
from libravdb_memory.identity import Json
from libravdb_memory.ingest.turns import turn_of
from libravdb_memory.model import Record, Turn
from libravdb_memory.namespaces import history_of
from libravdb_memory.store.protocol import Marked, Store
from libravdb_memory.usage import USE

_PAGE = 500


@dataclass(frozen=True, slots=True)
class Judgement:
    """`signals` are by the names of the protocol, the score under "g"; `uses` counts how often it was recalled."""

    turn: Turn
    signals: Mapping[str, float]
    durable: bool
    uses: int


def judgements(store: Store, namespace: str) -> Iterator[Judgement]:
    """In the order in which the turns arrived."""
    cursor: str | None = None
    while True:
        page = store.page(history_of(namespace), where=Marked(JUDGED), after=cursor, limit=_PAGE)
        refs = [record.ref for record in page.records]
        judged, used = store.marks(refs, JUDGED), store.marks(refs, USE)
        for record in page.records:
            yield _judgement(record, judged[record.ref], used.get(record.ref, {}))
        if (cursor := page.cursor) is None:
            return


def _judgement(record: Record, facts: Mapping[str, Json], use: Mapping[str, Json]) -> Judgement:
    signals = {
        name: float(value)
        for name, value in facts.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
    count = use.get("count", 0)
    return Judgement(turn_of(record), signals, facts.get("durable") is True, count if isinstance(count, int) else 0)
