"""The gate at work: every user turn is judged once, in order of arrival, after it is embedded.

It reads the store's change log behind a mark of its own, so a crash only delays a judgement. Laws: exactly two searches
per decision, one among the turns judged before, one among durable memory; all signals are kept with the turn; what
memory itself had injected into a prompt is cut out before judging and never counts as repetition.

Marks on a turn: `gate` (all signals), `turns` (member of the repetition index), `durable`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from libravdb_memory.engines.protocol import Embedder
from libravdb_memory.errors import NotFoundError
from libravdb_memory.gate.echo import says_enough, strip_echo
from libravdb_memory.gate.settings import GateSettings
from libravdb_memory.identity import Json
from libravdb_memory.model import Draft, Record
from libravdb_memory.namespaces import namespace_of
from libravdb_memory.store.protocol import Change, Key, Mark, Marked, Put, Space, Store, Write

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from libravdb_memory.gate.score import Decision, Neighbours

JUDGED, REPETITION, DURABLE = "gate", "turns", "durable"
_PROGRESS = Key("_internal:gate", "judged-through")
_BATCH = 500


class Gatekeeper:
    """`echoes` gives the fingerprints of what memory had injected for a namespace before something was said."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        settings: GateSettings,
        echoes: Callable[[str, str], AbstractSet[int]],
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._settings = settings
        self._echoes = echoes
        noted = store.get(_PROGRESS)
        self._through = self._noted = int(noted.text) if noted is not None and noted.text.isdecimal() else 0

    def advance(self, space: Space) -> None:
        """Judge what is embedded and not yet judged; stop at the first turn that is not embedded yet."""
        while changes := self._store.changes_since(self._through, _BATCH):
            done = self._judge_all(changes, space)
            if done:
                self._passed(changes[:done])
            if done < len(changes):
                return

    def explain(self, text: str, namespace: str, collection: str) -> Decision:
        """What the gate would decide on a text now; nothing is stored."""
        heard = strip_echo(text, self._echoes(namespace, text))
        vector = self._embedder.embed_query(heard)
        return self._decided(heard, heard is not text, self._neighbours(collection, vector))

    def _judge_all(self, changes: Sequence[Change], space: Space) -> int:
        """How many of the changes are dealt with."""
        refs = [change.ref for change in changes if change.kind == "put" and change.searchable]
        records = self._store.fetch(refs)
        vectors = self._store.get_vectors(space, refs)
        judged = self._store.marks(refs, JUDGED)
        for position, change in enumerate(changes):
            record = records.get(change.ref)
            if change.kind != "put" or record is None or change.ref in judged or not _is_user_turn(record):
                continue
            if change.ref not in vectors:
                return position
            self._judge(record, vectors[change.ref])
        return len(changes)

    def _judge(self, record: Record, vector: NDArray[np.float32]) -> None:
        namespace = namespace_of(record.collection) or ""
        heard = strip_echo(record.text, self._echoes(namespace, record.text))
        echoed = heard is not record.text
        if echoed:
            vector = self._embedder.embed_documents([heard])[0]
        decision = self._decided(heard, echoed, self._neighbours(record.collection, vector))
        key = Key(record.collection, record.id, record.group)
        facts: dict[str, Json] = {**decision.signals(), "durable": decision.durable, "echo": echoed}
        writes: list[Write] = [Mark(key, JUDGED, facts)]
        if not echoed:
            writes.append(Mark(key, REPETITION))
        if decision.durable:
            writes.append(Mark(key, DURABLE))
        with suppress(NotFoundError):  # erased while it was being judged
            self._store.commit(writes, may_wait=True)

    def _decided(self, heard: str, echoed: bool, neighbours: Neighbours) -> Decision:
        """A turn becomes durable whole, with the echo in it, so what it says of its own must be worth that."""
        from libravdb_memory.gate.score import decide  # its patterns are made when they are first needed

        decision = decide(heard, neighbours, self._settings)
        return replace(decision, durable=decision.durable and (not echoed or says_enough(heard)))

    def _neighbours(self, collection: str, vector: NDArray[np.float32]) -> Neighbours:
        from libravdb_memory.gate.score import Neighbours
        from libravdb_memory.gate.signals import DURABLE_NEIGHBOURS, TURN_NEIGHBOURS

        def cosines(label: str, k: int) -> list[float]:
            found = self._store.search_vectors(collection, vector, k, where=Marked(label))
            return [hit.score for hit in found.hits]

        return Neighbours(durable=cosines(DURABLE, DURABLE_NEIGHBOURS), turns=cosines(REPETITION, TURN_NEIGHBOURS))

    def _passed(self, changes: Sequence[Change]) -> None:
        """Remember how far it has come: on disk when there was anything to judge, or much to skip next time."""
        self._through = changes[-1].sequence
        if any(change.searchable for change in changes) or self._through - self._noted >= _BATCH:
            self._note(self._through)

    def _note(self, sequence: int) -> None:
        """The note is a change itself, skipped when nothing came between."""
        self._noted = sequence
        draft = Draft(_PROGRESS.collection, _PROGRESS.id, str(sequence))
        commit = self._store.commit([Put(draft, replace=True, searchable=False)], may_wait=True)
        self._through = commit.sequence if commit.sequence == sequence + 1 else sequence


def _is_user_turn(record: Record) -> bool:
    return namespace_of(record.collection) is not None and record.metadata.get("role") == "user"
