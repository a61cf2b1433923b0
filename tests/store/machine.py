"""A store against a plain model of itself: random writes, erasures, embeddings and restarts, compared at each step."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import TestCase

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from libravdb_memory.errors import AppendOnlyError, ConflictError, LibraVDBError, NotFoundError, StaleVersionError
from libravdb_memory.model import Draft, Record
from libravdb_memory.store.protocol import (
    Expect,
    Key,
    Link,
    Mark,
    Marked,
    Put,
    Remove,
    Selection,
    Store,
    TextQuery,
    Unmark,
    Write,
)

WORDS = ("alpha", "beta", "gamma", "delta")
RAW, QUIET = "raw", "quiet"
LABELS = ("red", "blue")
DIMENSIONS = 3
keys = st.builds(
    Key, st.sampled_from(["free", "other", RAW, QUIET]), st.sampled_from(["1", "2", "\0x"]), st.sampled_from(["", "g"])
)
texts = st.lists(st.sampled_from(WORDS), max_size=3).map(" ".join)
puts = st.tuples(keys, texts, st.integers(0, 1), st.booleans(), st.booleans())


@dataclass
class Kept:
    text: str
    ts: int
    version: int
    ref: int


@dataclass
class Model:
    records: dict[Key, Kept] = field(default_factory=dict)
    edges: set[tuple[Key, Key]] = field(default_factory=set)
    vectors: dict[int, int] = field(default_factory=dict)  # ref -> axis
    tokens: dict[int, bytes] = field(default_factory=dict)
    marks: dict[tuple[Key, str], int] = field(default_factory=dict)
    highest: int = 0

    def copy(self) -> Model:
        return Model(
            {key: Kept(kept.text, kept.ts, kept.version, kept.ref) for key, kept in self.records.items()},
            set(self.edges),
            dict(self.vectors),
            dict(self.tokens),
            dict(self.marks),
            self.highest,
        )

    def put(self, key: Key, text: str, ts: int, replace: bool, ts_given: bool) -> bool:
        kept = self.records.get(key)
        if kept is None:
            self.records[key] = Kept(text, ts, 1, 0)
            return True
        if kept.text == text and (kept.ts == ts or not ts_given):
            return False
        if not replace:
            raise ConflictError(key.id)
        if key.collection == RAW:
            raise AppendOnlyError(key.id)
        self.vectors.pop(kept.ref, None)
        self.tokens.pop(kept.ref, None)
        kept.text, kept.ts, kept.version = text, ts, kept.version + 1
        return True

    def remove(self, key: Key) -> None:
        kept = self.records.pop(key, None)
        if kept is not None:
            self.vectors.pop(kept.ref, None)
            self.tokens.pop(kept.ref, None)
            self.edges = {edge for edge in self.edges if key not in edge}
            self.marks = {place: data for place, data in self.marks.items() if place[0] != key}

    def above(self, key: Key) -> set[Key]:
        found, waiting = {key}, [key]
        while waiting:
            child = waiting.pop()
            for parent, its in self.edges:
                if its == child and parent not in found:
                    found.add(parent)
                    waiting.append(parent)
        return found

    def link(self, parent: Key, child: Key) -> None:
        if not {parent, child} <= self.records.keys():
            raise NotFoundError(child.id)
        if child in self.above(parent):
            raise ConflictError(parent.id)
        self.edges.add((parent, child))

    def mark(self, key: Key, label: str, number: int) -> None:
        if key not in self.records:
            raise NotFoundError(key.id)
        self.marks[key, label] = number


class StoreMachine(RuleBasedStateMachine):
    make: Callable[[Path], Store]

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.store = type(self).make(self.folder)
        self.model = Model()

    @initialize()
    def begin(self) -> None:
        self.space = self.store.add_space("sha256:model", "model", DIMENSIONS)

    @rule(wanted=st.lists(puts, min_size=1, max_size=3))
    def put(self, wanted: list[tuple[Key, str, int, bool, bool]]) -> None:
        writes: list[Write] = [
            Put(
                Draft(key.collection, key.id, text, {"t": text}, ts, key.group),
                replace,
                append_only=key.collection == RAW,
                ts_given=given,
                searchable=key.collection != QUIET,
            )
            for key, text, ts, replace, given in wanted
        ]
        trial = self.model.copy()
        fresh = self._same_outcome(lambda: tuple(trial.put(*one) for one in wanted), lambda: self.store.commit(writes))
        if fresh is None:
            return
        expected, commit = fresh
        assert commit.fresh == expected
        for (key, *_), record in zip(wanted, commit.records, strict=True):
            kept = trial.records[key]
            if not kept.ref:
                assert record.ref not in {other.ref for other in trial.records.values()}
                kept.ref = record.ref
        self.model = trial

    @rule(key=keys)
    def remove(self, key: Key) -> None:
        if key.collection == RAW and key in self.model.records:
            with pytest.raises(AppendOnlyError):
                self.store.commit([Remove(key)])
            return
        self.store.commit([Remove(key)])
        self.model.remove(key)

    @rule(parent=keys, child=keys)
    def link(self, parent: Key, child: Key) -> None:
        trial = self.model.copy()
        if self._same_outcome(lambda: trial.link(parent, child), lambda: self.store.commit([Link(parent, child)])):
            self.model = trial

    @rule(wanted=st.lists(st.tuples(keys, st.sampled_from(LABELS), st.integers(0, 2)), min_size=1, max_size=2))
    def mark(self, wanted: list[tuple[Key, str, int]]) -> None:
        trial = self.model.copy()
        writes = [Mark(key, label, {"n": number}) for key, label, number in wanted]
        if self._same_outcome(lambda: [trial.mark(*one) for one in wanted], lambda: self.store.commit(writes)):
            self.model = trial

    @rule(key=keys, label=st.sampled_from(LABELS))
    def unmark(self, key: Key, label: str) -> None:
        self.store.commit([Unmark(key, label)])
        self.model.marks.pop((key, label), None)

    @rule(key=keys, version=st.integers(0, 2))
    def expect(self, key: Key, version: int) -> None:
        kept = self.model.records.get(key)
        if (kept.version if kept else 0) == version:
            self.store.commit([Expect(key, version)])
        else:
            with pytest.raises(StaleVersionError):
                self.store.commit([Expect(key, version)])

    @rule(key=keys, how=st.sampled_from(["key", "group", "collection"]))
    def erase(self, key: Key, how: str) -> None:
        doomed = {
            "key": [key] if key in self.model.records else [],
            "group": [k for k in self.model.records if (k.collection, k.group) == (key.collection, key.group)],
            "collection": [k for k in self.model.records if k.collection == key.collection],
        }[how]
        selection = {
            "key": Selection(keys=(key,)),
            "group": Selection(groups=((key.collection, key.group),)),
            "collection": Selection(collections=(key.collection,)),
        }[how]
        before = len(self.model.vectors)
        for one in doomed:
            self.model.remove(one)
        erased = self.store.erase(selection)
        assert (erased.records, erased.vectors) == (len(doomed), before - len(self.model.vectors))

    @rule(limit=st.integers(1, 4), axis=st.integers(0, DIMENSIONS - 1))
    def embed(self, limit: int, axis: int) -> None:
        todo = self.store.unembedded(self.space, limit)
        refs = [item.ref for item in todo]
        rows = np.tile(np.eye(DIMENSIONS, dtype=np.float32)[axis], (len(refs), 1))
        tokens = [item.text.encode() for item in todo] if self.space.tokens else None
        versions = [item.version for item in todo]
        assert self.store.put_vectors(self.space, refs, rows, versions=versions, tokens=tokens) == len(refs)
        self.model.vectors.update(dict.fromkeys(refs, axis))
        self.model.tokens.update(zip(refs, tokens or (), strict=bool(tokens)))

    @rule(name=st.sampled_from(["", "one rule", "another"]))
    def keep_tokens(self, name: str) -> None:
        if name != self.space.tokens:
            self.model.tokens.clear()
        self.space = self.store.keep_tokens(self.space, name)
        assert self.space.tokens == name

    @rule()
    def open_again(self) -> None:
        self.store.close()
        self.store = type(self).make(self.folder)

    @rule()
    def verify(self) -> None:
        assert self.store.verify().problems == ()

    @invariant()
    def holds_the_records_of_the_model(self) -> None:
        for collection in {"free", "other", RAW, QUIET}:
            expected = {key: kept for key, kept in self.model.records.items() if key.collection == collection}
            records = self.store.page(collection).records
            assert {_key(record): (record.text, record.ts, record.version, record.ref) for record in records} == {
                key: (kept.text, kept.ts, kept.version, kept.ref) for key, kept in expected.items()
            }
            assert [record.ref for record in records] == sorted(record.ref for record in records)
        counts = {info.name: info.count for info in self.store.collections()}
        assert sum(counts.values()) == self.store.status().records == len(self.model.records)

    @invariant()
    def finds_what_the_model_has(self) -> None:
        assert self.store.search_text(QUIET, TextQuery(((WORDS[0],),)), 100) == ()
        for collection, word in (("free", "alpha"), (RAW, "beta")):
            found = {hit.ref for hit in self.store.search_text(collection, TextQuery(((word,),)), 100)}
            assert found == {
                kept.ref
                for key, kept in self.model.records.items()
                if key.collection == collection and word in kept.text.split()
            }

    @invariant()
    def compares_the_vectors_of_the_model(self) -> None:
        query = np.eye(DIMENSIONS, dtype=np.float32)[0]
        for collection in ("free", RAW):
            refs = {kept.ref for key, kept in self.model.records.items() if key.collection == collection}
            found = self.store.search_vectors(collection, query, 100)
            vectors = {ref: axis for ref, axis in self.model.vectors.items() if ref in refs}
            assert {hit.ref: round(hit.score, 4) for hit in found.hits} == {
                ref: float(axis == 0) for ref, axis in vectors.items()
            }
            assert found.missing == len(refs) - len(vectors)
            assert self.store.similarities(collection, query, [*refs]) == {hit.ref: hit.score for hit in found.hits}
        assert not self.store.search_vectors(QUIET, query, 100).missing

    @invariant()
    def waits_for_what_the_model_lacks(self) -> None:
        refs = {kept.ref for key, kept in self.model.records.items() if key.collection != QUIET}
        embedded = self.model.tokens if self.space.tokens else self.model.vectors
        assert self.store.get_tokens(self.space, sorted(refs)) == self.model.tokens
        assert {item.ref for item in self.store.unembedded(self.space, 100)} == refs - embedded.keys()
        assert self.store.count_unembedded(self.space) == len(refs - embedded.keys())

    @invariant()
    def places_the_records_of_the_model(self) -> None:
        groups: dict[tuple[str, str], list[int]] = {}
        for key, kept in self.model.records.items():
            groups.setdefault((key.collection, key.group), []).append(kept.ref)
        places = self.store.places([kept.ref for kept in self.model.records.values()])
        assert len(places) == len(self.model.records)
        for refs in groups.values():
            row = [None, *sorted(refs), None]
            assert [(places[ref].before, places[ref].after) for ref in sorted(refs)] == list(
                zip(row[:-2], row[2:], strict=True)
            )
        assert all(places[kept.ref].length == len(kept.text) for kept in self.model.records.values())

    @invariant()
    def carries_the_marks_of_the_model(self) -> None:
        refs = {key: kept.ref for key, kept in self.model.records.items()}
        stored = {(mark.ref, mark.label): mark.data["n"] for mark in self.store.all_marks()}
        assert stored == {(refs[key], label): number for (key, label), number in self.model.marks.items()}
        query = np.eye(DIMENSIONS, dtype=np.float32)[0]
        for collection, label in (("free", "red"), (RAW, "blue"), (QUIET, "red")):
            expected = {refs[key] for key, its in self.model.marks if key.collection == collection and its == label}
            where = Marked(label)
            assert {record.ref for record in self.store.page(collection, where=where).records} == expected
            assert self.store.count_marks(collection, label) == len(expected)
            found = self.store.search_vectors(collection, query, 100, where=where)
            assert {hit.ref for hit in found.hits} == expected & self.model.vectors.keys()

    @invariant()
    def connects_what_the_model_connects(self) -> None:
        refs = {key: kept.ref for key, kept in self.model.records.items()}
        assert set(self.store.edges()) == {(refs[parent], refs[child]) for parent, child in self.model.edges}

    def teardown(self) -> None:
        self.store.close()
        shutil.rmtree(self.folder)

    def _same_outcome(self, modelled: Callable[[], Any], done: Callable[[], Any]) -> tuple[Any, Any] | None:
        """Both answers, or None when both refused in the same way."""
        try:
            expected = modelled()
        except LibraVDBError as error:
            with pytest.raises(type(error)):
                done()
            return None
        return expected, done()


def _key(record: Record) -> Key:
    return Key(record.collection, record.id, record.group)


def state_machine_for(make: Callable[[Path], Store]) -> type[TestCase]:
    machine = type("Machine", (StoreMachine,), {"make": staticmethod(make)})
    case: type[TestCase] = machine.TestCase  # type: ignore[attr-defined]
    case.settings = settings(max_examples=25, stateful_step_count=30, deadline=None)  # type: ignore[attr-defined]
    return case
