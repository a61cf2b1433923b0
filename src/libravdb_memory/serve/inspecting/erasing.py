"""erase_preview: what memory_forget would take, counted before anything goes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from libravdb_memory.arguments import nothing_to_erase
from libravdb_memory.copies import collections_of, copies_of_session, copies_of_turn
from libravdb_memory.forgetting import derived_from, doomed_with
from libravdb_memory.identity import Json
from libravdb_memory.model import Record
from libravdb_memory.namespaces import guidance_of, history_of, summaries_of
from libravdb_memory.serve import epochs
from libravdb_memory.serve.inspecting.lists import count_of
from libravdb_memory.serve.inspecting.rows import PREVIEW, cut, turn_rows
from libravdb_memory.serve.methods import Method, Result
from libravdb_memory.serve.own.forgetting import Forget, check_what
from libravdb_memory.serve.own.where import own_reach
from libravdb_memory.serve.results import erasing as results
from libravdb_memory.serve.service import Service
from libravdb_memory.shards import aftermath
from libravdb_memory.store.protocol import Equals, Key, Selection, Store
from libravdb_memory.summaries import node_of

_SAMPLE = 5
_NAMED = 50
_PATIENCE_S = 0.1
"""For reading receipts; those that were not read by then are not counted, and the answer says so."""


def erase_preview(service: Service, params: Forget) -> Result:
    turn, session = check_what(params)
    if turn is not None:
        return _of_turn(service, params.namespace, session, turn)
    if session is not None:
        return _of_session(service, params.namespace, session)
    return _of_user(service, params.namespace)


def _of_turn(service: Service, namespace: str, session: str | None, turn_id: str) -> Result:
    store, turn = service.store, service.memory.get(turn_id, user=namespace, session=session)
    key = Key(history_of(turn.user), turn.id, turn.session)
    record = store.get(key)
    if record is None:
        raise nothing_to_erase(namespace, session)
    derived = derived_from(store, record)
    rules = (*derived.rules, *derived.aftermath.pointless)
    made: tuple[tuple[str, Sequence[Record]], ...] = (("summary", derived.summaries), ("rule", rules))
    doomed = doomed_with(store, record, derived)
    receipts, all_read = service.memory.quoting(doomed.selection, doomed.said, _PATIENCE_S, made=doomed.made)
    below = {name for found in derived.summaries for name in _turns_below(store, found)}
    return _told(
        service,
        turns=1,
        sessions=0,
        summaries=len(derived.summaries),
        rules=len(rules),
        receipts=receipts,
        receipts_exact=all_read,
        copies=sum(1 for _ in copies_of_turn(store, turn.user, turn.session, turn.id)),
        sample=[record],
        also=[
            {"kind": kind, "id": found.id, "preview": cut(found.text, PREVIEW)}
            for kind, several in made
            for found in several[:_NAMED]
        ],
        uncovered=len(below - {turn.id}),
    )


def _turns_below(store: Store, summary: Record) -> tuple[str, ...]:
    return node_of(summary).children if node_of(summary).level <= 1 else ()


def _of_session(service: Service, namespace: str, session: str) -> Result:
    """All sessions that the conversation of this name had, as with memory_forget."""
    store, names = service.store, epochs.names(service.store, namespace, session)
    spoken = [count_of(store, history_of(namespace), name) for name in names]
    turns = sum(spoken)
    summaries, rules = (
        sum(count_of(store, collection, name) for name in names)
        for collection in (summaries_of(namespace), guidance_of(namespace))
    )
    rules += len(aftermath(store, namespace, lambda name, _: name in names).pointless)
    copies = sum(1 for name in names for _ in copies_of_session(store, namespace, name))
    if not turns + summaries + rules + copies:
        raise nothing_to_erase(namespace, session)
    groups = tuple((history_of(namespace), name) for name in names)
    sample = store.page(history_of(namespace), where=Equals("group", names[0]), limit=_SAMPLE).records
    return _told(
        service,
        turns=turns,
        sessions=sum(1 for count in spoken if count),
        summaries=summaries,
        rules=rules,
        receipts=service.memory.quoting(Selection(groups=groups), patience_s=_PATIENCE_S)[0],
        receipts_exact=False,
        copies=copies,
        sample=sample,
    )


def _of_user(service: Service, namespace: str) -> Result:
    store = service.store
    service.memory.quoting(Selection())  # receipts that wait to be written are counted too
    counted = {info.name: info.count for info in store.collections()}
    turns, summaries, rules, receipts = (
        counted.get(name, 0)
        for name in (history_of(namespace), summaries_of(namespace), guidance_of(namespace), f"receipt:{namespace}")
    )
    copies = sum(counted[name] for name in collections_of(store, namespace))
    if not turns + summaries + rules + copies:
        raise nothing_to_erase(namespace, None)
    return _told(
        service,
        turns=turns,
        sessions=store.groups(history_of(namespace), limit=0).total,
        summaries=summaries,
        rules=rules,
        receipts=receipts,
        receipts_exact=True,
        copies=copies,
        sample=store.page(history_of(namespace), limit=_SAMPLE).records,
    )


def _told(
    service: Service,
    *,
    turns: int,
    sessions: int,
    summaries: int,
    rules: int,
    receipts: int,
    receipts_exact: bool,
    copies: int,
    sample: Sequence[Record],
    also: Sequence[Json] = (),
    uncovered: int = 0,
) -> Result:
    return {
        "turns": turns,
        "sessions": sessions,
        "summaries": summaries,
        "rules": rules,
        "receipts": receipts,
        "receiptsExact": receipts_exact,
        "copies": copies,
        "sample": turn_rows(service.store, service.memory.counter, sample, PREVIEW),
        "alsoNamed": list(also),
        "uncovered": uncovered,
    }


METHODS: tuple[Method[Any], ...] = (
    Method(
        "erase_preview",
        Forget,
        erase_preview,
        "Count what memory_forget would take.",
        reach=own_reach,
        result=results.ErasePreview,
    ),
)
