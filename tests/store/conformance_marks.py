"""The laws about marks, unsearchable collections and reading vectors back, as tests that any backend runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.store.conformance import (
    DIMENSIONS,
    EXAMPLES,
    any_name,
    axis,
    every,
    ids,
    json_objects,
    put,
    with_vectors,
    word,
)

from libravdb_memory.errors import ConflictError, InvalidInputError, NotFoundError
from libravdb_memory.identity import Json, canonical_json
from libravdb_memory.store.protocol import (
    AllOf,
    AnyOf,
    Between,
    Equals,
    Expect,
    Filter,
    Key,
    Link,
    Mark,
    Marked,
    Not,
    Remove,
    Selection,
    Store,
    StoredMark,
    Unmark,
)


def marked(store: Store, label: str, collection: str = "a") -> list[str]:
    """The ids that every way of asking agrees on; all records must have vectors and the same text."""
    where = Marked(label)
    paged = {record.ref: record.id for record in every(store, collection, where)}
    assert {hit.ref for hit in store.search_vectors(collection, axis(0), 1000, where=where).hits} == set(paged)
    assert {hit.ref for hit in store.search_text(collection, word("words"), 1000, where=where)} == set(paged)
    assert store.count_marks(collection, label) == len(paged)
    assert store.marks(list(paged), label).keys() == paged.keys()
    return list(paged.values())


class MarksContract:
    @staticmethod
    def make_store(folder: Path) -> Store:
        raise NotImplementedError

    @pytest.fixture
    def open_store(self, tmp_path: Path) -> Callable[[], Store]:
        return lambda: self.make_store(tmp_path / "store")

    @pytest.fixture
    def store(self, open_store: Callable[[], Store]) -> Iterator[Store]:
        store = open_store()
        yield store
        store.close()

    # ── marks ────────────────────────────────────────────────────────────────────────────────────────────────────

    def test_a_mark_changes_nothing_of_its_record_and_nothing_in_the_log(self, store: Store) -> None:
        done = store.commit([put("raw", "1", append_only=True)])
        marking = store.commit([Mark(Key("raw", "1"), "seen", {"by": ["gate", 1.5, None]})])
        assert (marking.records, marking.fresh, marking.sequence) == ((), (), done.sequence)
        assert store.get(Key("raw", "1")) == done.records[0]
        assert len(store.changes_since(0)) == 1
        assert store.marks([done.records[0].ref, 77], "seen") == {done.records[0].ref: {"by": ["gate", 1.5, None]}}
        assert store.marks([done.records[0].ref], "other") == {}
        assert store.marks([], "seen") == {}

    def test_marking_again_overwrites_unless_told_to_keep(self, store: Store) -> None:
        ref = store.commit([put("a", "1")]).records[0].ref
        key = Key("a", "1")
        store.commit([Mark(key, "n", {"n": 1}), Mark(key, "n", {"n": 2})])
        assert store.marks([ref], "n") == {ref: {"n": 2}}
        store.commit([Mark(key, "n", {"n": 3}, overwrite=False), Mark(key, "m", {"n": 4}, overwrite=False)])
        assert store.all_marks() == (StoredMark(ref, "m", {"n": 4}), StoredMark(ref, "n", {"n": 2}))

    def test_marks_of_an_unknown_record_are_refused_and_nothing_of_the_commit_stays(self, store: Store) -> None:
        store.commit([put("a", "1")])
        for unknown in (Key("a", "2"), Key("b", "1"), Key("a", "1", "g")):
            with pytest.raises(NotFoundError):
                store.commit([put("a", "new"), Mark(Key("a", "1"), "seen"), Mark(unknown, "seen")])
        with pytest.raises(NotFoundError):
            store.commit([Mark(Key("a", "1"), "seen"), Remove(Key("a", "1"))])
        assert store.all_marks() == ()
        assert ids(store.page("a").records) == ["1"]

    def test_a_commit_marks_what_it_puts(self, store: Store) -> None:
        ref = store.commit([Mark(Key("a", "1"), "seen"), Unmark(Key("a", "1"), "other"), put("a", "1")]).records[0].ref
        assert store.all_marks() == (StoredMark(ref, "seen", {}),)
        store.commit([Mark(Key("a", "1"), "x"), Unmark(Key("a", "1"), "x"), Mark(Key("a", "1"), "y")])
        assert [mark.label for mark in store.all_marks()] == ["seen", "y"]

    def test_taking_off_what_is_not_there_changes_nothing(self, store: Store) -> None:
        store.commit([put("a", "1"), Mark(Key("a", "1"), "seen")])
        store.commit(
            [Unmark(Key("a", "1"), "never"), Unmark(Key("a", "2"), "seen"), Unmark(Key("b", "1", "g"), "seen")]
        )
        assert [mark.label for mark in store.all_marks()] == ["seen"]

    def test_marks_survive_a_replacement_and_a_restart_and_go_with_their_record(
        self, open_store: Callable[[], Store]
    ) -> None:
        store = open_store()
        store.commit([put("a", name) for name in "123"] + [put("b", "1", group="g")])
        keys = [Key("a", name) for name in "123"] + [Key("b", "1", "g")]
        refs = [store.get(key).ref for key in keys]  # type: ignore[union-attr]
        store.commit([Mark(key, label, {"at": key.id}) for key in keys for label in ("x", "y")])
        store.commit([put("a", "1", "new words", replace=True)])
        store.close()
        store = open_store()
        assert store.count_marks(None, "x") == 4
        assert store.marks(refs, "y")[refs[0]] == {"at": "1"}
        store.commit([Remove(keys[0])])
        store.erase(Selection(keys=(keys[1],), groups=(("b", "g"),)))
        assert store.all_marks() == (StoredMark(refs[2], "x", {"at": "3"}), StoredMark(refs[2], "y", {"at": "3"}))
        store.commit([put("a", "1")])
        assert store.count_marks("a", "x") == 1
        assert store.verify().ok
        assert store.verify().checked["marks"] == 2
        store.close()

    def test_all_marks_are_read_page_by_page_in_the_order_of_records_and_labels(self, store: Store) -> None:
        store.commit([put(collection, str(n)) for collection in ("z", "a") for n in range(3)])
        labels = ("b", "é", "a", "\U0001f600")
        store.commit([Mark(Key(place, str(n)), label) for label in labels for n in (2, 0, 1) for place in ("a", "z")])
        whole = store.all_marks()
        order = [record.ref for place in ("z", "a") for record in store.page(place).records]
        assert [(mark.ref, mark.label) for mark in whole] == [(ref, label) for ref in order for label in sorted(labels)]
        paged: list[StoredMark] = []
        while page := store.all_marks((paged[-1].ref, paged[-1].label) if paged else None, limit=5):
            assert len(page) <= 5
            paged += page
            assert len(paged) <= len(whole)
        assert tuple(paged) == whole
        assert store.all_marks(limit=0) == ()

    @EXAMPLES
    @given(any_name, json_objects)
    def test_any_label_and_data_read_back_exactly(self, store: Store, label: str, data: dict[str, Json]) -> None:
        ref = store.commit([put("a", "1")]).records[0].ref
        store.commit([Mark(Key("a", "1"), label, data)])
        found = store.marks([ref], label)[ref]
        assert canonical_json(found) == canonical_json(data)
        assert ids(store.page("a", where=Marked(label)).records) == ["1"]
        assert (label, canonical_json(data)) in {(mark.label, canonical_json(mark.data)) for mark in store.all_marks()}

    @pytest.mark.parametrize(
        ("field", "mark"),
        [
            ("label", Mark(Key("a", "1"), "")),
            ("label", Mark(Key("a", "1"), "\ud800")),
            ("label", Mark(Key("a", "1"), 5)),  # type: ignore[arg-type]
            ("label", Unmark(Key("a", "1"), "")),
            ("id", Mark(Key("a", ""), "x")),
            ("collection", Unmark(Key("", "1"), "x")),
            ("data", Mark(Key("a", "1"), "x", {"k": float("nan")})),
            ("data", Mark(Key("a", "1"), "x", {"k": "\ud800"})),
            ("data", Mark(Key("a", "1"), "x", {"k": object()})),  # type: ignore[dict-item]
            ("data", Mark(Key("a", "1"), "x", {1: 2})),  # type: ignore[dict-item]
            ("data", Mark(Key("a", "1"), "x", [])),  # type: ignore[arg-type]
        ],
    )
    def test_a_mark_that_is_none_is_refused_by_name(self, store: Store, field: str, mark: Mark | Unmark) -> None:
        store.commit([put("a", "1")])
        with pytest.raises(InvalidInputError) as caught:
            store.commit([put("a", "2"), mark])
        assert caught.value.field.split(".")[0] == field
        assert ids(store.page("a").records) == ["1"]

    def test_a_label_that_is_none_is_refused_in_questions_too(self, store: Store) -> None:
        store.commit([put("a", "1")])
        uses: list[Callable[[str], Any]] = [
            lambda label: store.marks([1], label),
            lambda label: store.count_marks(None, label),
            lambda label: store.page("a", where=Marked(label)),
            lambda label: store.page("a", where=Not(Marked(label))),
        ]
        for use in uses:
            for label in ("", "\ud800", None):
                with pytest.raises(InvalidInputError):
                    use(label)  # type: ignore[arg-type]

    # ── searching by marks ───────────────────────────────────────────────────────────────────────────────────────

    def test_a_search_by_marks_is_current_after_every_commit(self, store: Store) -> None:
        with_vectors(store, "a", [[1, n, 0, 0] for n in range(8)])
        store.commit([put("b", "a0"), Mark(Key("b", "a0"), "x")])
        assert marked(store, "x") == []
        for name in ("a5", "a6", "a2", "a2", "a0", "a7"):
            store.commit([Mark(Key("a", name), "x")])
            assert name in marked(store, "x")
        assert marked(store, "x") == ["a0", "a2", "a5", "a6", "a7"]
        store.commit([Unmark(Key("a", "a5"), "x"), Mark(Key("a", "a1"), "y")])
        assert (marked(store, "x"), marked(store, "y")) == (["a0", "a2", "a6", "a7"], ["a1"])
        store.commit([Remove(Key("a", "a0"))])
        assert marked(store, "x") == ["a2", "a6", "a7"]
        store.erase(Selection(keys=(Key("a", "a6"),)))
        assert marked(store, "x") == ["a2", "a7"]
        for refused in (ConflictError, NotFoundError):
            writes = [Mark(Key("a", "a3"), "x"), Unmark(Key("a", "a7"), "x")]
            bad = put("a", "a2", "other") if refused is ConflictError else Mark(Key("a", "nobody"), "x")
            with pytest.raises(refused):
                store.commit([*writes, bad])
            assert marked(store, "x") == ["a2", "a7"]
        store.erase(Selection(collections=("a",)))
        assert store.search_vectors("a", axis(0), 5, where=Marked("x")).hits == ()

    @pytest.mark.parametrize(
        ("where", "expected"),
        [
            (Marked("x"), [0, 3, 6, 9]),
            (Not(Marked("x")), [1, 2, 4, 5, 7, 8]),
            (AllOf((Marked("x"), Marked("y"))), [0, 6]),
            (AllOf((Between("metadata.n", 3, None), Marked("x"))), [3, 6, 9]),
            (AllOf((Marked("x"), Not(Marked("y")))), [3, 9]),
            (AnyOf((Marked("y"), Equals("metadata.n", 1))), [0, 1, 2, 4, 6, 8]),
            (AllOf((Marked("x"), AnyOf(()))), []),
            (AllOf((AllOf((Marked("x"),)),)), [0, 3, 6, 9]),
            (Marked("nobody"), []),
        ],
    )
    def test_marks_compose_with_the_other_filters(self, store: Store, where: Filter, expected: list[int]) -> None:
        space = store.add_space("sha256:one", "one", DIMENSIONS)
        done = store.commit([put("a", str(n), metadata={"n": n}) for n in range(10)])
        store.put_vectors(space, [record.ref for record in done.records], np.ones((10, DIMENSIONS), np.float32))
        store.commit([Mark(Key("a", str(n)), "x") for n in range(0, 10, 3)])
        store.commit([Mark(Key("a", str(n)), "y") for n in range(0, 10, 2)])
        refs = [done.records[n].ref for n in expected]
        assert [record.ref for record in every(store, "a", where)] == refs
        assert [record.ref for record in every(store, "a", where, newest=True)] == refs[::-1]
        assert {hit.ref for hit in store.search_text("a", word("words"), 20, where=where)} == set(refs)
        assert [hit.ref for hit in store.search_vectors("a", axis(0), 20, where=where).hits] == refs

    def test_searches_beside_marking_threads_lose_no_mark_and_invent_none(self, store: Store) -> None:
        with_vectors(store, "a", [[1, 0, 0, 0]] * 120)
        acknowledged: list[set[str]] = [set() for _ in range(3)]
        done = threading.Event()

        def search() -> None:
            while not done.is_set():
                before = {name for names in acknowledged for name in tuple(names)}
                found = store.search_vectors("a", axis(0), 1000, where=Marked("x")).hits
                records = store.fetch([hit.ref for hit in found])
                assert before <= {record.id for record in records.values()}

        def mark(thread: int) -> None:
            for n in range(119 - thread, 0, -3):
                store.commit([Mark(Key("a", f"a{n}"), "x")])
                acknowledged[thread].add(f"a{n}")
                # Another label comes and goes, and with it what is remembered of it.
                store.commit([Mark(Key("a", "a0"), "flicker"), Unmark(Key("a", "a0"), "flicker")])
                store.search_vectors("a", axis(0), 5, where=Marked("flicker"))

        with ThreadPoolExecutor(5) as pool:
            searching = [pool.submit(search) for _ in range(2)]
            marking = [pool.submit(mark, thread) for thread in range(3)]
            try:
                for each in marking:
                    each.result()
            finally:
                done.set()
            for each in searching:
                each.result()
        assert set(marked(store, "x")) == set[str]().union(*acknowledged)
        assert marked(store, "flicker") == []

    # ── unsearchable collections ─────────────────────────────────────────────────────────────────────────────────

    def test_an_unsearchable_collection_is_read_but_never_found(self, store: Store) -> None:
        space = store.add_space("sha256:one", "one", DIMENSIONS)
        quiet = [put("quiet", name, "secret words", searchable=False) for name in "12"]
        done = store.commit([*quiet, put("a", "1", "open words"), Link(Key("a", "1"), Key("quiet", "1"))])
        assert ids(store.page("quiet").records) == ["1", "2"]
        assert [(info.name, info.searchable) for info in store.collections()] == [("quiet", False), ("a", True)]
        assert [item.ref for item in store.unembedded(space, 10)] == [done.records[2].ref]
        assert store.count_unembedded(space) == store.status().unembedded == 1
        assert store.put_vectors(space, [record.ref for record in done.records], np.ones((3, DIMENSIONS))) == 1
        store.commit([put("quiet", "1", "other secret words", searchable=False, replace=True)])
        store.commit([Mark(Key("quiet", "1"), "x"), Remove(Key("quiet", "2"))])
        assert store.count_unembedded(space) == 0
        for where in (None, Marked("x")):
            assert store.search_text("quiet", word("secret", "words"), 10, where=where) == ()
            found = store.search_vectors("quiet", axis(0), 10, where=where)
            assert (found.hits, found.exact, found.complete, found.missing) == ((), True, True, 0)
        assert [change.kind for change in store.changes_since(0)] == ["put", "put", "put", "put", "remove"]
        assert ids(store.page("quiet", where=Marked("x")).records) == ["1"]
        assert ids(store.children(Key("a", "1"))) == ["1"]
        later = store.add_space("sha256:two", "two", 2)
        assert [item.ref for item in store.unembedded(later, 10)] == [done.records[2].ref]
        store.rebuild_indexes()
        assert store.search_text("quiet", word("secret"), 10) == ()
        assert len(store.search_text("a", word("open"), 10)) == 1
        assert store.verify().ok
        assert store.erase(Selection(collections=("quiet",))).records == 1
        assert store.verify().ok

    def test_a_collection_stays_searchable_or_not(self, open_store: Callable[[], Store]) -> None:
        store = open_store()
        store.commit([put("quiet", "1", searchable=False), put("a", "1")])
        for _ in range(2):
            for collection, searchable in (("quiet", True), ("a", False)):
                with pytest.raises(InvalidInputError) as caught:
                    store.commit([put(collection, "2", searchable=searchable)])
                assert caught.value.field == "searchable"
            store.close()
            store = open_store()
        store.erase(Selection(collections=("quiet",)))
        store.commit([put("quiet", "1", "found words")])
        assert len(store.search_text("quiet", word("found"), 5)) == 1
        store.close()

    def test_searchable_and_quiet_records_share_a_commit(self, store: Store) -> None:
        writes = [put("quiet" if n % 3 else "a", str(n), f"word{n} words", searchable=not n % 3) for n in range(100)]
        done = store.commit(writes)
        assert done.fresh == (True,) * 100
        assert len(store.search_text("a", word("words"), 200)) == 34
        assert [store.search_text("a", word(f"word{n}"), 2)[0].ref for n in (0, 33, 99)] == [
            done.records[n].ref for n in (0, 33, 99)
        ]
        assert store.verify().ok

    def test_quiet_records_do_not_make_a_common_word_rare(self, store: Store) -> None:
        store.commit([put("a", str(n), "the usual thing") for n in range(150)] + [put("a", "x", "the rare thing")])
        store.commit([put("quiet", str(n), searchable=False) for n in range(1500)])
        assert len(store.search_text("a", word("the", "rare"), 500)) == 1

    # ── vectors ──────────────────────────────────────────────────────────────────────────────────────────────────

    def test_vectors_are_read_back_as_they_were_stored(self, store: Store) -> None:
        rows = [[1, 2, 3, 4], [0, 0, 0, 0], [0.1, -5, 1e-30, 7]]
        space, refs = with_vectors(store, "a", rows)
        (bare,) = store.commit([put("a", "without")]).records
        found = store.get_vectors(space, [refs[2], bare.ref, 12345, refs[0], refs[2]])
        assert found.keys() == {refs[0], refs[2]}
        for number in (0, 2):
            assert found[refs[number]].dtype == np.float32
            assert np.array_equal(found[refs[number]], np.array(rows[number], np.float32))
        assert store.get_vectors(space, []) == {}
        other = store.add_space("sha256:two", "two", 2)
        assert store.get_vectors(other, refs) == {}
        store.commit([put("a", "a0", "changed", replace=True)])
        assert store.get_vectors(space, refs).keys() == set(refs[1:])
        store.drop_space(other)
        with pytest.raises(NotFoundError):
            store.get_vectors(other, refs)

    @EXAMPLES
    @given(st.data())
    def test_of_many_writes_on_one_label_the_last_one_counts(self, store: Store, data: st.DataObject) -> None:
        key = Key("a", "1")
        ref = store.commit([put("a", "1")]).records[0].ref
        version = store.get(key).version  # type: ignore[union-attr]
        writes = data.draw(
            st.lists(
                st.one_of(st.integers(0, 3).map(lambda n: Mark(key, "x", {"n": n})), st.just(Unmark(key, "x"))),
                min_size=1,
            )
        )
        store.commit([Expect(key, version), *writes])
        last = writes[-1]
        assert store.marks([ref], "x") == ({ref: last.data} if isinstance(last, Mark) else {})
