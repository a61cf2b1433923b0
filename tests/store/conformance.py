"""The laws of `store/protocol.py` as tests that any backend runs.

A backend subclasses `StoreContract` and says how to open a store in a folder; opening the same folder again must give
the same store. Vectors here are of four dimensions, so that answers can be checked by hand.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from libravdb_memory.errors import (
    AppendOnlyError,
    ConflictError,
    InvalidInputError,
    NotFoundError,
    StaleVersionError,
    StoreClosedError,
)
from libravdb_memory.identity import Json, canonical_json, content_hash
from libravdb_memory.model import Draft, Record
from libravdb_memory.store.protocol import (
    AllOf,
    AnyOf,
    Between,
    Covered,
    Equals,
    Expect,
    Filter,
    Key,
    Link,
    Mark,
    Marked,
    Not,
    OneOf,
    Put,
    Remove,
    Selection,
    Space,
    Store,
    TextQuery,
)

EXAMPLES = settings(
    deadline=None,
    max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.differing_executors],
)
DIMENSIONS = 4

# Surrogates are no Unicode text; everything else is, NUL and the private planes included.
any_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
any_name = any_text.filter(bool)
json_scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | any_text
)
json_values = st.recursive(
    json_scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3), max_leaves=8
)
json_objects = st.dictionaries(any_text, json_values, max_size=4)


def put(
    collection: str,
    record_id: str,
    text: str = "some words",
    metadata: Mapping[str, Json] | None = None,
    *,
    ts: int = 0,
    group: str = "",
    **how: bool,
) -> Put:
    return Put(Draft(collection, record_id, text, metadata or {}, ts, group), **how)


def word(*words: str) -> TextQuery:
    return TextQuery(tuple((one,) for one in words))


def ids(records: tuple[Record, ...]) -> list[str]:
    return [record.id for record in records]


def every(
    store: Store, collection: str, where: Filter | None = None, limit: int = 3, newest: bool = False
) -> list[Record]:
    """All pages of a collection, in small bites."""
    found: list[Record] = []
    cursor: str | None = None
    while True:
        page = store.page(collection, where=where, after=cursor, limit=limit, newest_first=newest)
        found.extend(page.records)
        cursor = page.cursor
        if cursor is None:
            return found


def with_vectors(store: Store, collection: str, rows: list[list[float]]) -> tuple[Space, list[int]]:
    """Records a0, a1 ... whose vectors are the rows."""
    space = store.add_space("sha256:one", "one", DIMENSIONS)
    refs = [record.ref for record in store.commit([put(collection, f"a{n}") for n in range(len(rows))]).records]
    assert store.put_vectors(space, refs, np.array(rows, np.float32)) == len(rows)
    return space, refs


def axis(number: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.eye(DIMENSIONS, dtype=np.float32)[number]


class StoreContract:
    @staticmethod
    def make_store(folder: Path) -> Store:
        raise NotImplementedError

    @pytest.fixture
    def open_store(self, tmp_path: Path) -> Callable[[], Store]:
        """Opens the store of this test; close it before opening it again."""
        return lambda: self.make_store(tmp_path / "store")

    @pytest.fixture
    def store(self, open_store: Callable[[], Store]) -> Iterator[Store]:
        store = open_store()
        yield store
        store.close()

    # ── law 1: atomic and durable ────────────────────────────────────────────────────────────────────────────────

    def test_what_was_committed_is_there_after_opening_again(self, open_store: Callable[[], Store]) -> None:
        first = open_store()
        uuid = first.uuid
        stored = first.commit([put("a", "1", "ein Wort", {"k": [1, None]}, ts=7, group="g"), put("b", "2")])
        first.close()
        again = open_store()
        assert again.uuid == uuid
        assert again.get(Key("a", "1", "g")) == stored.records[0]
        assert again.get(Key("b", "2")) == stored.records[1]
        assert again.status().sequence == stored.sequence
        again.close()

    def test_a_commit_with_one_bad_write_changes_nothing_anywhere(self, store: Store) -> None:
        store.commit([put("a", "1", "old")])
        before = store.status().sequence
        with pytest.raises(ConflictError):
            store.commit([put("b", "new"), put("c", "new"), put("a", "1", "other")])
        with pytest.raises(NotFoundError):
            store.commit([put("b", "new"), Link(Key("b", "new"), Key("b", "nobody"))])
        assert store.get(Key("b", "new")) is None
        assert [info.name for info in store.collections()] == ["a"]
        assert store.status().sequence == before
        assert store.search_text("b", word("words"), 5) == ()

    def test_an_empty_commit_changes_nothing(self, store: Store) -> None:
        store.commit([put("a", "1")])
        done = store.commit([])
        assert (done.sequence, done.records, done.fresh) == (1, (), ())

    # ── law 2: idempotent ────────────────────────────────────────────────────────────────────────────────────────

    def test_the_same_content_again_changes_nothing(self, store: Store) -> None:
        first = store.commit([put("a", "1", "x", {"b": 1, "a": 2}, ts=5)])
        again = store.commit([put("a", "1", "x", {"a": 2, "b": 1}, ts=5)])
        assert again.records == first.records
        assert (again.fresh, again.sequence) == ((False,), first.sequence)

    @pytest.mark.parametrize("other", [{"text": "y"}, {"metadata": {"k": 2}}, {"ts": 6}])
    def test_other_content_is_a_conflict_that_names_the_id(self, store: Store, other: dict[str, Any]) -> None:
        same: dict[str, Any] = {"text": "x", "metadata": {"k": 1}, "ts": 5}
        stored = store.commit([put("a", "one", **same)]).records[0]
        with pytest.raises(ConflictError, match="one") as caught:
            store.commit([put("a", "one", **(same | other))])
        assert caught.value.record_id == "one"
        assert store.get(Key("a", "one")) == stored

    def test_a_time_we_made_up_does_not_make_a_repetition_a_conflict(self, store: Store) -> None:
        first = store.commit([put("a", "1", ts=5, ts_given=False)]).records[0]
        again = store.commit([put("a", "1", ts=99, ts_given=False)])
        assert again.records == (first,)
        assert again.fresh == (False,)
        with pytest.raises(ConflictError):
            store.commit([put("a", "1", "other", ts=99, ts_given=False)])

    def test_replacing_keeps_the_ref_and_counts_the_version(self, store: Store) -> None:
        first = store.commit([put("a", "1", "old words")]).records[0]
        second = store.commit([put("a", "1", "new words", replace=True)])
        assert second.records[0].ref == first.ref
        assert (second.records[0].version, second.fresh) == (2, (True,))
        assert store.get(Key("a", "1")) == second.records[0]
        assert store.commit([put("a", "1", "new words", replace=True)]).fresh == (False,)
        assert [hit.ref for hit in store.search_text("a", word("new"), 5)] == [first.ref]
        assert store.search_text("a", word("old"), 5) == ()

    def test_one_id_may_live_in_many_groups_and_collections(self, store: Store) -> None:
        store.commit([put("a", "1", "x"), put("a", "1", "y", group="g"), put("b", "1", "z")])
        assert sorted(record.text for record in store.find("1")) == ["x", "y", "z"]
        assert store.find("2") == ()

    def test_repetitions_inside_one_commit_are_repetitions(self, store: Store) -> None:
        done = store.commit([put("a", "1", "x"), put("a", "2"), put("a", "1", "x"), put("a", "1", "y", replace=True)])
        assert done.fresh == (True, True, False, True)
        assert store.get(Key("a", "1")).text == "y"  # type: ignore[union-attr]
        with pytest.raises(ConflictError):
            store.commit([put("a", "3", "x"), put("a", "3", "y")])
        assert store.get(Key("a", "3")) is None

    # ── law 3: append-only ───────────────────────────────────────────────────────────────────────────────────────

    def test_raw_history_is_neither_edited_nor_removed(self, store: Store) -> None:
        raw = store.commit([put("raw", "1", "said", append_only=True)]).records[0]
        with pytest.raises(AppendOnlyError):
            store.commit([put("raw", "1", "edited", append_only=True, replace=True)])
        with pytest.raises(AppendOnlyError):
            store.commit([Remove(Key("raw", "1"))])
        assert store.get(Key("raw", "1")) == raw
        assert store.collections() == (store.collections("raw")[0],)
        assert store.collections()[0].append_only

    def test_a_collection_keeps_its_policy(self, store: Store) -> None:
        store.commit([put("raw", "1", append_only=True), put("free", "1")])
        for collection, append_only in (("raw", False), ("free", True)):
            with pytest.raises(InvalidInputError) as caught:
                store.commit([put(collection, "2", append_only=append_only)])
            assert caught.value.field == "append_only"

    def test_raw_history_can_be_erased(self, store: Store) -> None:
        store.commit([put("raw", "1", append_only=True), put("raw", "2", append_only=True)])
        assert store.erase(Selection(keys=(Key("raw", "1"),))).records == 1
        assert ids(store.page("raw").records) == ["2"]

    # ── law 4: order ─────────────────────────────────────────────────────────────────────────────────────────────

    def test_refs_and_sequences_ascend_and_refs_are_never_given_twice(self, open_store: Callable[[], Store]) -> None:
        store = open_store()
        first = store.commit([put("a", "1"), put("a", "2"), put("b", "1")])
        assert first.records[0].ref < first.records[1].ref
        store.commit([Remove(Key("a", "2"))])
        store.close()
        store = open_store()
        later = store.commit([put("a", "2"), put("a", "3")])
        assert later.records[0].ref > first.records[1].ref
        store.erase(Selection(collections=("a",)))
        store.close()
        store = open_store()
        latest = store.commit([put("a", "1")])
        assert latest.records[0].ref > later.records[1].ref
        assert first.sequence < later.sequence < latest.sequence
        store.close()

    def test_the_change_log_tells_everything_in_order(self, store: Store) -> None:
        one, two = store.commit([put("a", "1"), put("a", "2")]).records
        middle = store.commit([put("a", "1", "new", replace=True), Remove(Key("a", "2"))]).sequence
        store.erase(Selection(keys=(Key("a", "1"),)))
        changes = store.changes_since(0)
        assert [(change.ref, change.kind) for change in changes] == [
            (one.ref, "put"),
            (two.ref, "put"),
            (one.ref, "put"),
            (two.ref, "remove"),
            (one.ref, "erase"),
        ]
        assert [change.sequence for change in changes] == sorted({change.sequence for change in changes})
        assert store.changes_since(middle) == changes[4:]
        assert store.changes_since(0, limit=2) == changes[:2]

    def test_removing_what_is_not_there_is_no_error(self, store: Store) -> None:
        assert store.commit([Remove(Key("nowhere", "1")), put("a", "1")]).fresh == (True,)

    # ── expectations and lineage ─────────────────────────────────────────────────────────────────────────────────

    def test_an_expectation_guards_the_whole_commit(self, store: Store) -> None:
        key = Key("state", "s")
        store.commit([Expect(key, 0), put("state", "s", "v1")])
        store.commit([Expect(key, 1), put("state", "s", "v2", replace=True), put("a", "1")])
        with pytest.raises(StaleVersionError) as caught:
            store.commit([put("a", "2"), Expect(key, 1), put("state", "s", "v3", replace=True)])
        assert (caught.value.expected, caught.value.found) == (1, 2)
        assert store.get(Key("a", "2")) is None
        assert store.get(key).text == "v2"  # type: ignore[union-attr]

    def test_of_many_racing_commits_with_one_expectation_one_wins(self, store: Store) -> None:
        key = Key("state", "s")
        store.commit([put("state", "s", "v1")])

        def race(number: int) -> bool:
            try:
                store.commit([Expect(key, 1), put("state", "s", f"by {number}", replace=True)])
            except StaleVersionError:
                return False
            return True

        with ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(race, range(16))) == 1
        assert store.get(key).version == 2  # type: ignore[union-attr]

    def test_links_connect_records_of_the_same_commit_and_are_idempotent(self, store: Store) -> None:
        top, low = Key("sum", "s"), Key("raw", "1", "g")
        store.commit([Link(top, low), put("raw", "1", group="g"), put("raw", "2", group="g"), put("sum", "s")])
        store.commit([Link(top, low), Link(top, Key("raw", "2", "g"))])
        assert ids(store.children(top)) == ["1", "2"]
        assert ids(store.parents(low)) == ["s"]
        assert store.children(low) == ()
        assert len(store.edges()) == 2
        assert store.edges(after=store.edges()[0]) == store.edges()[1:]
        assert store.edges(limit=1) == store.edges()[:1]

    @pytest.mark.parametrize("path", [["a", "a"], ["a", "b", "a"], ["a", "b", "c", "d", "a"]])
    def test_a_cycle_is_refused(self, store: Store, path: list[str]) -> None:
        store.commit([put("g", name) for name in sorted(set(path))])
        steps = [Link(Key("g", parent), Key("g", child)) for parent, child in pairwise(path)]
        with pytest.raises(ConflictError):
            store.commit(steps)
        assert store.edges() == ()
        for step in steps[:-1]:
            store.commit([step])
        with pytest.raises(ConflictError):
            store.commit([steps[-1]])

    def test_removing_a_record_takes_its_edges_along(self, store: Store) -> None:
        store.commit([put("g", "a"), put("g", "b"), put("g", "c")])
        store.commit([Link(Key("g", "a"), Key("g", "b")), Link(Key("g", "b"), Key("g", "c"))])
        store.commit([Remove(Key("g", "b"))])
        assert store.edges() == ()
        assert store.verify().ok

    # ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────

    def test_fetch_answers_in_the_order_asked_and_skips_what_is_gone(self, store: Store) -> None:
        one, two = store.commit([put("a", "1"), put("b", "2")]).records
        assert list(store.fetch([two.ref, one.ref, 12345])) == [two.ref, one.ref]
        assert store.fetch([]) == {}

    @pytest.mark.parametrize("newest", [False, True])
    def test_pages_are_stable_while_records_come_and_go(self, store: Store, newest: bool) -> None:
        store.commit([put("a", str(n)) for n in range(10)])
        page = store.page("a", limit=4, newest_first=newest)
        seen = ids(page.records)
        store.erase(Selection(keys=(Key("a", seen[-1]), Key("a", "5"))))
        store.commit([put("a", "late")])
        rest = store.page("a", after=page.cursor, limit=100, newest_first=newest)
        order = [str(n) for n in range(10)]
        expected = (order[::-1] if newest else order)[4:]
        expected.remove("5")
        assert ids(rest.records) == expected + ([] if newest else ["late"])
        assert rest.cursor is None

    def test_a_page_of_nothing_is_empty(self, store: Store) -> None:
        assert store.page("nowhere").records == ()
        store.commit([put("a", "1")])
        assert store.page("a", limit=0).records == ()

    def test_a_cursor_that_is_none_is_refused(self, store: Store) -> None:
        store.commit([put("a", "1")])
        for cursor in ("", "x", "1.2.3", "\ud800"):
            with pytest.raises(InvalidInputError) as caught:
                store.page("a", after=cursor)
            assert caught.value.field == "after"

    @pytest.mark.parametrize(
        "odd", ["999999.1", "7fff.1", "-1.1", "1.-1", "1.10000000000", "0x1.1", " 1.1", "1_0.1", 5, b"1.1"]
    )
    def test_a_cursor_no_page_ever_had_is_refused_by_its_name(self, store: Store, odd: Any) -> None:
        store.commit([put("a", "1"), put("a", "2", group="x")])
        for read in (store.page, store.groups):
            with pytest.raises(InvalidInputError) as caught:
                read("a", after=odd)
            assert caught.value.field == "after"

    def test_a_cursor_outlives_its_collection(self, store: Store) -> None:
        cursor = store.cursor(store.commit([put("a", "1")]).records[0].ref)
        store.erase(Selection(keys=(Key("a", "1"),)))
        for gone in (cursor, "7fffff.ffffffffff"):
            assert store.page("a", after=gone).records == store.page("a", after=gone, newest_first=True).records == ()
            assert store.groups("a", after=gone).groups == ()
        with pytest.raises(InvalidInputError):
            store.page("a", after="x")

    def test_a_cursor_of_another_collection_is_refused(self, store: Store) -> None:
        others = store.commit(
            [put("a", "1"), put("a", "2", group="x"), put("b", "1"), put("b", "2", group="x")]
        ).records
        for collection, foreign in (("a", others[2:]), ("b", others[:2])):
            for cursor in [store.cursor(record.ref) for record in foreign]:
                for read in (store.page, partial(store.page, newest_first=True), store.groups):
                    with pytest.raises(InvalidInputError, match="no cursor") as caught:
                        read(collection, after=cursor)
                    assert caught.value.field == "after"

    def test_collections_are_listed_by_prefix_in_order_of_creation_with_their_counts(self, store: Store) -> None:
        names = ("a:1", "b", "a:%", "a:\U0010ffff")
        store.commit([put(name, "1") for name in names] + [put("a:1", "2", group="g"), put("gone", "1")])
        store.commit([Remove(Key("gone", "1"))])
        assert tuple(info.name for info in store.collections()) == names
        listed = [(info.name, info.count) for info in store.collections("a:")]
        assert listed == [("a:1", 2), ("a:%", 1), ("a:\U0010ffff", 1)]
        assert store.collections("c") == ()

    # ── law 5 and 6: searching ───────────────────────────────────────────────────────────────────────────────────

    def test_text_is_found_by_stem_case_and_accent_in_its_collection_only(self, store: Store) -> None:
        (one,) = store.commit([put("a", "1", "She was Running through the Café")]).records
        store.commit([put("b", "1", "running again"), put("a", "2", "nothing here")])
        for query in (word("runs"), word("cafe"), word("CAFÉ"), TextQuery((("the", "cafe"),))):
            hits = store.search_text("a", query, 10)
            assert [hit.ref for hit in hits] == [one.ref]
            assert hits[0].score > 0
        assert store.search_text("nowhere", word("running"), 10) == ()
        assert store.search_text("a", TextQuery((("cafe", "through"),)), 10) == ()

    @pytest.mark.parametrize("how", ["replaced", "erased"])
    def test_a_text_in_the_place_of_another_is_found_though_the_same_was_just_asked(
        self, store: Store, how: str
    ) -> None:
        store.commit([put("a", "1", "alpha")])
        assert store.search_text("a", word("beta"), 10) == ()
        if how == "erased":
            store.commit([Remove(Key("a", "1"))])
            store.commit([put("a", "1", "beta")])
        else:
            store.commit([put("a", "1", "beta", replace=True)])
        assert len(store.search_text("a", word("beta"), 10)) == 1
        assert store.search_text("a", word("alpha"), 10) == ()

    @pytest.mark.parametrize(
        ("text", "asked"),
        [
            ("東京大学で勉強した", "大学"),
            ("東京大学で勉強した", "大学に行く"),
            ("カタカナを読む", "カタ"),
            ("한국어를 배웠다", "한국어"),
            ("ภาษาไทยง่าย", "ไทย"),
            ("यह हिन्दी भाषा है", "हिन्दी"),
            ("ＡＢＣ社の報告", "abc"),
            ("iPhoneを買った", "iphone"),
        ],
    )
    def test_scripts_without_spaces_are_found_by_their_parts(self, store: Store, text: str, asked: str) -> None:
        (one,) = store.commit([put("a", "1", text), put("a", "2", "плюс something else 山")]).records[:1]
        assert [hit.ref for hit in store.search_text("a", word(asked), 10)] == [one.ref]

    @pytest.mark.parametrize(
        "hostile",
        ['"', '" OR *', "NEAR(a b)", "a AND", "body:a", "*", "^", "a-b", "'; DROP TABLE", "(", "{a}:", "\0", "%s"],
    )
    def test_query_words_are_data_never_syntax(self, store: Store, hostile: str) -> None:
        store.commit([put("a", "1", "harmless"), put("b", "1", f"x {hostile} y")])
        assert store.search_text("a", TextQuery(((hostile,),)), 10) == ()
        assert store.search_text("a", TextQuery(((hostile, "harmless"), ("harmless",))), 10)

    def test_text_search_with_a_filter_is_never_short(self, store: Store) -> None:
        store.commit([put("a", str(n), "common words " + "common " * (n % 7), {"even": n % 2 == 0}) for n in range(60)])
        hits = store.search_text("a", word("common"), 30, where=Equals("metadata.even", True))
        assert len(hits) == 30
        found = store.fetch([hit.ref for hit in hits])
        assert all(record.metadata["even"] for record in found.values())
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)

    def test_words_in_most_records_are_dropped_while_another_is_left(self, store: Store) -> None:
        store.commit([put("a", str(n), "the usual thing") for n in range(300)] + [put("a", "x", "the rare thing")])
        assert len(store.search_text("a", word("the", "rare"), 500)) == 1
        assert len(store.search_text("a", word("the", "thing"), 500)) == 301

    def test_vector_search_says_what_it_saw(self, store: Store) -> None:
        nothing = store.search_vectors("a", axis(0), 5)
        assert (nothing.hits, nothing.complete) == ((), True)
        space, refs = with_vectors(store, "a", [[1, 0, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0]])
        store.commit([put("b", "other")])
        found = store.search_vectors("a", axis(0), 2)
        assert [hit.ref for hit in found.hits] == refs[:2]
        assert found.hits[0].score == pytest.approx(1)
        assert found.hits[1].score == pytest.approx(math.sqrt(0.5))
        assert (found.exact, found.complete, found.missing) == (True, True, 0)
        store.commit([put("a", "late"), put("a", "a0", "changed", replace=True)])
        found = store.search_vectors("a", axis(0), 5)
        assert [hit.ref for hit in found.hits] == refs[1:]
        assert (found.complete, found.missing) == (False, 2)
        assert space == store.spaces()[0]

    def test_vector_search_with_a_filter_is_never_short(self, store: Store) -> None:
        space = store.add_space("sha256:one", "one", DIMENSIONS)
        done = store.commit([put("a", str(n), metadata={"n": n}, group=f"g{n % 3}") for n in range(90)])
        rows = np.random.default_rng(1).normal(size=(90, DIMENSIONS)).astype(np.float32)
        store.put_vectors(space, [record.ref for record in done.records], rows)
        where = AllOf((Equals("group", "g1"), Between("metadata.n", 30, None)))
        found = store.search_vectors("a", axis(0), 100, where=where)
        assert {hit.ref for hit in found.hits} == {done.records[n].ref for n in range(90) if n % 3 == 1 and n >= 30}
        best = store.search_vectors("a", axis(0), 3, where=where).hits
        assert best == found.hits[:3]
        assert store.search_vectors("a", axis(0), 5, where=Equals("group", "none")).hits == ()

    @pytest.mark.parametrize("k", [0, 1, 1_000_000])
    def test_any_count_of_hits_may_be_asked_for(self, store: Store, k: int) -> None:
        with_vectors(store, "a", [[1, 0, 0, 0], [0, 1, 0, 0]])
        assert len(store.search_vectors("a", axis(0), k).hits) == min(k, 2)
        assert len(store.search_text("a", word("words"), k)) == min(k, 2)

    # ── embedding spaces ─────────────────────────────────────────────────────────────────────────────────────────

    def test_the_first_space_is_active_and_a_known_one_is_given_back(self, store: Store) -> None:
        one = store.add_space("sha256:one", "one", 4)
        two = store.add_space("sha256:two", "two", 3)
        assert (one.active, two.active) == (True, False)
        assert store.add_space("sha256:one", "one", 4) == one
        with pytest.raises(InvalidInputError):
            store.add_space("sha256:one", "one", 5)
        store.activate_space(two)
        assert [space.active for space in store.spaces()] == [False, True]
        with pytest.raises(InvalidInputError):
            store.drop_space(store.spaces()[1])
        store.drop_space(one)
        assert [space.label for space in store.spaces()] == ["two"]
        for use in (lambda: store.activate_space(one), lambda: store.unembedded(one, 1), lambda: store.drop_space(one)):
            with pytest.raises(NotFoundError):
                use()

    def test_a_new_space_starts_with_every_record_and_takes_over_atomically(self, store: Store) -> None:
        _, refs = with_vectors(store, "a", [[1, 0, 0, 0], [0, 1, 0, 0]])
        new = store.add_space("sha256:two", "two", 2)
        assert [todo.ref for todo in store.unembedded(new, 10)] == refs
        store.put_vectors(new, refs, np.array([[0, 1], [1, 0]], np.float32))
        assert store.count_unembedded(new) == 0
        assert store.search_vectors("a", axis(0), 1).hits[0].ref == refs[0]
        store.activate_space(new)
        assert store.search_vectors("a", np.array([1, 0], np.float32), 1).hits[0].ref == refs[1]

    def test_what_lacks_a_vector_is_listed_in_order_of_change_until_it_has_one(
        self, open_store: Callable[[], Store]
    ) -> None:
        store = open_store()
        space = store.add_space("sha256:one", "one", DIMENSIONS)
        refs = [record.ref for record in store.commit([put("a", str(n), f"text {n}") for n in range(5)]).records]
        assert [(todo.ref, todo.text) for todo in store.unembedded(space, 3)] == [
            (refs[n], f"text {n}") for n in range(3)
        ]
        assert store.put_vectors(space, [refs[3], refs[0]], np.ones((2, DIMENSIONS), np.float32)) == 2
        store.commit([put("a", "0", "changed", replace=True), Remove(Key("a", "1"))])
        store.close()
        store = open_store()
        assert [todo.ref for todo in store.unembedded(space, 10)] == [refs[2], refs[4], refs[0]]
        assert store.count_unembedded(space) == store.status().unembedded == 3
        assert store.unembedded(space, 0) == ()
        store.close()

    def test_what_lacks_a_vector_is_listed_without_collections_that_are_left_out(self, store: Store) -> None:
        space = store.add_space("sha256:one", "one", DIMENSIONS)
        store.commit([put(name, "1", name) for name in ("late:a", "a", "late:b", "late", "a:late:")])
        assert [todo.text for todo in store.unembedded(space, 10, but=("late:",))] == ["a", "late", "a:late:"]
        assert [todo.text for todo in store.unembedded(space, 2, but=("late:", "a"))] == ["late"]
        assert len(store.unembedded(space, 10, but=("nowhere",))) == len(store.unembedded(space, 10)) == 5

    def test_vectors_of_changed_or_vanished_records_are_ignored(self, store: Store) -> None:
        space = store.add_space("sha256:one", "one", DIMENSIONS)
        store.commit([put("a", "1", "old"), put("a", "2"), put("a", "3")])
        todo = store.unembedded(space, 10)
        store.commit([put("a", "1", "new", replace=True), Remove(Key("a", "2"))])
        refs, versions = [item.ref for item in todo], [item.version for item in todo]
        vectors = np.ones((3, DIMENSIONS), np.float32)
        assert store.put_vectors(space, refs, vectors, versions=versions) == 1
        assert [item.text for item in store.unembedded(space, 10)] == ["new"]
        assert store.put_vectors(space, refs, vectors) == 2
        assert store.count_unembedded(space) == 0
        assert store.verify().ok

    @pytest.mark.parametrize(
        "bad",
        [
            np.full((1, 4), np.nan),
            np.full((1, 4), np.inf),
            np.ones((1, 5)),
            np.ones((2, 4)),
            np.ones(4),
            "words",
            [["x"] * 4],
        ],
    )
    def test_vectors_that_are_none_are_refused_by_name(self, store: Store, bad: Any) -> None:
        space = store.add_space("sha256:one", "one", DIMENSIONS)
        ref = store.commit([put("a", "1")]).records[0].ref
        with pytest.raises(InvalidInputError) as caught:
            store.put_vectors(space, [ref], bad)
        assert caught.value.field == "vectors"
        assert store.count_unembedded(space) == 1

    @pytest.mark.parametrize(
        "bad", [np.full(4, np.nan), np.full(4, -np.inf), np.ones(5), np.ones((1, 4)), "words", None]
    )
    def test_a_query_vector_that_is_none_is_refused_by_name(self, store: Store, bad: Any) -> None:
        with_vectors(store, "a", [[1, 0, 0, 0]])
        with pytest.raises(InvalidInputError) as caught:
            store.search_vectors("a", bad, 3)
        assert caught.value.field == "vector"

    # ── law 7: derived, verified, erased ─────────────────────────────────────────────────────────────────────────

    def test_indexes_can_be_rebuilt_and_answer_the_same(self, store: Store) -> None:
        with_vectors(store, "a", [[1, 0, 0, 0], [0, 1, 0, 0], [1, 1, 0, 0]])
        text = store.search_text("a", word("words"), 10)
        vectors = store.search_vectors("a", axis(1), 10)
        told: list[tuple[int, int]] = []
        store.rebuild_indexes(lambda done, total: told.append((done, total)))
        assert store.settle(30)
        assert store.search_text("a", word("words"), 10) == text
        assert store.search_vectors("a", axis(1), 10) == vectors
        assert store.verify().ok

    def test_erasing_takes_everything_and_counts_it(self, store: Store) -> None:
        space, refs = with_vectors(store, "a", [[1, 0, 0, 0], [0, 1, 0, 0]])
        store.commit([put("s", "top", "secret words", group="g"), Link(Key("s", "top", "g"), Key("a", "a0"))])
        erased = store.erase(Selection(keys=(Key("a", "a0"), Key("a", "nobody")), groups=(("s", "g"),)))
        assert (erased.records, erased.edges, erased.vectors) == (2, 1, 1)
        assert [info.name for info in store.collections()] == ["a"]
        assert store.edges() == ()
        assert [hit.ref for hit in store.search_vectors("a", axis(0), 5).hits] == refs[1:]
        assert store.search_text("s", word("secret"), 5) == ()
        assert store.erase(Selection(collections=("a", "nowhere"))).records == 1
        assert store.status().records == store.count_unembedded(space) == 0
        assert store.verify().ok

    def test_verify_counts_what_it_looked_at_and_reports_progress(self, store: Store) -> None:
        with_vectors(store, "a", [[1, 0, 0, 0]])
        told: list[tuple[int, int]] = []
        verification = store.verify(lambda done, total: told.append((done, total)))
        assert verification.ok, verification.problems
        assert verification.checked["records"] == verification.checked["vectors"] == 1
        assert told[-1][0] == told[-1][1]

    def test_the_stored_hash_is_the_hash_of_the_content(self, store: Store) -> None:
        record = store.commit([put("a", "1", "x", {"k": 1}, ts=3, group="g")]).records[0]
        assert record.hash == content_hash("g", "1", 3, "x", canonical_json({"k": 1}))

    # ── threads and closing ──────────────────────────────────────────────────────────────────────────────────────

    def test_many_threads_commit_at_once_and_each_sees_its_own_writes(self, store: Store) -> None:
        def write(thread: int) -> None:
            group = f"g{thread}"
            for n in range(25):
                record = store.commit([put("a", f"{thread}-{n}", f"text {thread} {n}", group=group)]).records[0]
                assert store.get(Key("a", record.id, group)) == record
                if n % 5 == 0:
                    with pytest.raises(ConflictError):
                        store.commit([put("x", f"{thread}-{n}"), put("a", record.id, "other", group=group)])

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(write, range(8)))
        assert store.collections("x") == ()
        everything = every(store, "a", limit=50)
        assert len(everything) == 200
        for thread in range(8):
            mine = [record.id for record in everything if record.group == f"g{thread}"]
            assert mine == [f"{thread}-{n}" for n in range(25)]
        assert [change.sequence for change in store.changes_since(0)] == list(range(1, 201))
        assert store.verify().ok

    def test_readers_beside_writers_never_go_back_in_time(self, store: Store) -> None:
        done = threading.Event()

        def read(_: int) -> None:
            newest = 0
            while not done.is_set():
                refs = [record.ref for record in store.page("a", newest_first=True, limit=5).records]
                assert refs == sorted(refs, reverse=True)
                assert not refs or refs[0] >= newest
                newest = max([newest, *refs])

        def write(thread: int) -> None:
            for n in range(50):
                store.commit([put("a", f"{thread}-{n}")])

        with ThreadPoolExecutor(6) as pool:
            reading = [pool.submit(read, n) for n in range(2)]
            for writing in [pool.submit(write, n) for n in range(4)]:
                writing.result()
            done.set()
            for reader in reading:
                reader.result()

    def test_after_close_every_use_says_so(self, open_store: Callable[[], Store]) -> None:
        store = open_store()
        store.commit([put("a", "1")])
        space = store.add_space("sha256:one", "one", DIMENSIONS)
        store.close()
        store.close()
        uses: list[Callable[[], object]] = [
            lambda: store.commit([put("a", "2")]),
            lambda: store.get(Key("a", "1")),
            lambda: store.page("a"),
            lambda: store.search_text("a", word("words"), 1),
            lambda: store.search_vectors("a", axis(0), 1),
            lambda: store.erase(Selection(collections=("a",))),
            lambda: store.unembedded(space, 1),
            lambda: store.status(),
            lambda: store.verify(),
            lambda: store.settle(0),
        ]
        for use in uses:
            with pytest.raises(StoreClosedError):
                use()

    def test_closing_waits_for_commits_on_their_way(self, open_store: Callable[[], Store]) -> None:
        store = open_store()
        store.commit([put("a", "first")])
        acknowledged: list[str] = []

        def write(thread: int) -> None:
            for n in range(1000):
                try:
                    store.commit([put("a", f"{thread}-{n}")])
                except StoreClosedError:
                    return
                acknowledged.append(f"{thread}-{n}")

        threads = [threading.Thread(target=write, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        while len(acknowledged) < 20:
            store.page("a", limit=1)
        store.close()
        for thread in threads:
            thread.join()
        store = open_store()
        found = {record.id for record in every(store, "a", limit=1000)}
        assert found == {"first", *acknowledged}
        store.close()

    # ── input of every kind ──────────────────────────────────────────────────────────────────────────────────────

    @EXAMPLES
    @given(any_name, any_text, any_name, any_text, json_objects, st.integers(-(2**63), 2**63 - 1))
    def test_what_is_accepted_reads_back_exactly(
        self, store: Store, collection: str, group: str, record_id: str, text: str, metadata: dict[str, Json], ts: int
    ) -> None:
        draft = Draft(collection, record_id, text, metadata, ts, group)
        stored = store.commit([Put(draft, replace=True)]).records[0]
        found = store.get(Key(collection, record_id, group))
        assert found == stored
        assert (found.text, found.ts, found.group, found.collection) == (text, ts, group, collection)
        assert canonical_json(found.metadata) == canonical_json(metadata)

    @pytest.mark.parametrize("text", ["", "\0", "a\0b", "\ufffe\uffff\U0010ffff\U0001f600\U00020000", "\r\n\t "])
    def test_odd_texts_are_kept_exactly(self, store: Store, text: str) -> None:
        store.commit([put("a", text or "empty", text, {text: text}, group=text)])
        found = store.get(Key("a", text or "empty", text))
        assert found is not None
        assert (found.text, found.metadata) == (text, {text: text})
        assert store.verify().ok

    def test_ten_megabytes_of_text_are_kept_and_found(self, store: Store) -> None:
        text = "needle " + "hay " * 2_621_440
        record = store.commit([put("a", "big", text)]).records[0]
        found = store.get(Key("a", "big"))
        assert found is not None
        assert found.text == text
        assert [hit.ref for hit in store.search_text("a", word("needle"), 1)] == [record.ref]

    @pytest.mark.parametrize(
        ("field", "draft"),
        [
            ("text", Draft("a", "1", "\ud800")),
            ("id", Draft("a", "\udfff", "x")),
            ("id", Draft("a", "", "x")),
            ("collection", Draft("\ud800", "1", "x")),
            ("collection", Draft("", "1", "x")),
            ("group", Draft("a", "1", "x", group="\ud800")),
            ("text", Draft("a", "1", 5)),  # type: ignore[arg-type]
            ("id", Draft("a", 5, "x")),  # type: ignore[arg-type]
            ("ts", Draft("a", "1", "x", ts=2**63)),
            ("ts", Draft("a", "1", "x", ts=1.5)),  # type: ignore[arg-type]
            ("ts", Draft("a", "1", "x", ts=True)),
            ("metadata", Draft("a", "1", "x", {"k": "\ud800"})),
            ("metadata", Draft("a", "1", "x", {"\ud800": 1})),
            ("metadata", Draft("a", "1", "x", {"k": float("nan")})),
            ("metadata", Draft("a", "1", "x", {"k": float("-inf")})),
            ("metadata", Draft("a", "1", "x", {1: "k"})),  # type: ignore[dict-item]
            ("metadata", Draft("a", "1", "x", {"k": object()})),  # type: ignore[dict-item]
            ("metadata", Draft("a", "1", "x", {"k": b"bytes"})),  # type: ignore[dict-item]
            ("metadata", Draft("a", "1", "x", {"k": {1, 2}})),  # type: ignore[dict-item]
            ("metadata", Draft("a", "1", "x", {"k": 10**5000})),
            ("metadata", Draft("a", "1", "x", ["k"])),  # type: ignore[arg-type]
        ],
    )
    def test_what_is_refused_is_refused_by_name_and_leaves_nothing(
        self, store: Store, field: str, draft: Draft
    ) -> None:
        with pytest.raises(InvalidInputError) as caught:
            store.commit([put("b", "good"), Put(draft)])
        assert caught.value.field.split(".")[0] == field
        assert store.status().records == 0

    def test_metadata_too_deep_to_read_back_is_refused(self, store: Store) -> None:
        deep: Json = 1
        for _ in range(100_000):
            deep = [deep]
        with pytest.raises(InvalidInputError, match="metadata"):
            store.commit([put("a", "1", metadata={"k": deep})])

    @pytest.mark.parametrize("k", [-1, 1.5, None, True])
    def test_a_count_that_is_none_is_refused_by_name(self, store: Store, k: Any) -> None:
        store.add_space("sha256:one", "one", DIMENSIONS)
        store.commit([put("a", "1")])
        for use in (
            lambda: store.search_text("a", word("words"), k),
            lambda: store.search_vectors("a", axis(0), k),
        ):
            with pytest.raises(InvalidInputError) as caught:
                use()
            assert caught.value.field == "k"
        with pytest.raises(InvalidInputError):
            store.page("a", limit=k)

    @EXAMPLES
    @given(any_text)
    def test_lookups_with_any_text_find_nothing_and_break_nothing(self, store: Store, text: str) -> None:
        store.commit([put("a", "known")])
        assert store.get(Key(text or "x", "known", text)) is None or text == "a"
        assert store.find(text + "!") == ()
        store.search_text("a", TextQuery(((text,), (text, text))), 3)
        store.page("a", where=Equals(f"metadata.{text}".replace("\0", ""), text))

    # ── filters ──────────────────────────────────────────────────────────────────────────────────────────────────

    @pytest.fixture(scope="class")
    @classmethod
    def shelf(cls, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
        """One store of many kinds of metadata, for filters to choose from."""
        store = cls.make_store(tmp_path_factory.mktemp("filters"))
        store.commit([put("f", f"id{n}", metadata=row, ts=n, group=f"g{n % 3}") for n, row in enumerate(FILTERED)])
        store.commit([put("other", "id0", metadata=FILTERED[0], group="g0")])
        for label, step in MARKED.items():
            marked = range(0, len(FILTERED), step)
            store.commit([Mark(Key("f", f"id{n}", f"g{n % 3}"), label) for n in marked])
        covered = range(1, len(FILTERED), COVERED_EVERY)
        store.commit([Link(Key("other", "id0", "g0"), Key("f", f"id{n}", f"g{n % 3}")) for n in covered])
        space = store.add_space("sha256:one", "one", DIMENSIONS)
        refs = [todo.ref for todo in store.unembedded(space, 1000)]
        store.put_vectors(space, refs, np.ones((len(refs), DIMENSIONS), np.float32))
        yield store
        store.close()

    @EXAMPLES
    @given(st.data())
    def test_a_filter_lets_through_exactly_what_it_means(self, shelf: Store, data: st.DataObject) -> None:
        where = data.draw(filters)
        expected = [f"id{n}" for n, row in enumerate(FILTERED) if _admits(where, f"g{n % 3}", f"id{n}", n, row)]
        assert [record.id for record in every(shelf, "f", where)] == expected
        newest = every(shelf, "f", where, newest=True)
        assert [record.id for record in newest] == expected[::-1]
        assert len(shelf.search_text("f", word("words"), 1000, where=where)) == len(expected)
        found = shelf.search_vectors("f", axis(0), 1000, where=where).hits
        assert [hit.ref for hit in found] == [record.ref for record in newest[::-1]]

    @pytest.mark.parametrize(
        "where",
        [
            Equals("text", "x"),
            Equals("metadata", "x"),
            Equals("", 1),
            Equals("metadata.a\0", 1),
            Equals("metadata.k", float("nan")),
            Equals("metadata.k", "\ud800"),
            Equals("metadata.k", 2**70),
            Equals("metadata.k", b"x"),  # type: ignore[arg-type]
            Between("id", 1, 2),
            Between("ts", None, float("inf")),
            OneOf("ts", tuple(range(40_000))),
        ],
    )
    def test_a_filter_that_means_nothing_is_refused(self, store: Store, where: Filter) -> None:
        store.commit([put("a", "1")])
        with pytest.raises(InvalidInputError) as caught:
            store.page("a", where=where)
        assert caught.value.field == "where"

    def test_broad_and_nested_filters_work_up_to_a_limit(self, store: Store) -> None:
        store.commit([put("a", str(n), metadata={"n": n}) for n in range(5)])
        assert len(every(store, "a", OneOf("id", tuple(str(n) for n in range(2, 9000))))) == 3
        assert len(every(store, "a", AnyOf(tuple(Equals("metadata.n", n) for n in range(3, 3000))))) == 2
        nested: Filter = Equals("metadata.n", 3)
        for _ in range(20):
            nested = Not(Not(nested))
        assert ids(store.page("a", where=nested).records) == ["3"]
        for _ in range(100):
            nested = Not(nested)
        with pytest.raises(InvalidInputError):
            store.page("a", where=nested)

    # ── copies ───────────────────────────────────────────────────────────────────────────────────────────────────

    def test_capabilities_are_what_this_store_does(self, store: Store) -> None:
        able = store.capabilities()
        assert able.durable
        assert able.text_index
        assert able.backend
        assert able.version


AWKWARD_KEYS = ("k", 'quo"te', "back\\slash", "dot.ted", "new\nline", "sp ace", "$", "é", "", "[0]")
FILTERED: list[dict[str, Json]] = [
    {key: value}
    for key in AWKWARD_KEYS
    for value in (
        None,
        True,
        False,
        0,
        1,
        1.0,
        2.5,
        -1,
        "1",
        "true",
        "",
        "null",
        "é\n\"'\\",
        [1],
        {"k": 1},
        "a\0b",
        "a\0c",
    )
] + [{}, {"k": 1, "": 2}]


MARKED = {"third": 3, "seventh": 7}  # label -> every how many-th record has it
COVERED_EVERY = 4


def _scalars() -> st.SearchStrategy[Any]:
    return st.sampled_from(
        [None, True, False, 0, 1, 1.0, 2.5, -1, "1", "true", "", "null", "é\n\"'\\", "a\0b", "nowhere"]
    )


_metadata_fields = st.sampled_from([f"metadata.{key}" for key in AWKWARD_KEYS])
_numbers = st.none() | st.sampled_from([-1, 0, 1, 1.5, 3])
_leaves: st.SearchStrategy[Filter] = st.one_of(
    st.builds(Equals, _metadata_fields, _scalars()),
    st.builds(OneOf, _metadata_fields, st.lists(_scalars(), max_size=3).map(tuple)),
    st.builds(Between, _metadata_fields, _numbers, _numbers),
    st.builds(Between, st.just("ts"), st.none() | st.integers(0, 200), st.none() | st.integers(0, 200)),
    st.builds(Equals, st.just("group"), st.sampled_from(["g0", "g1", "g9", 1, None])),
    st.builds(OneOf, st.just("group"), st.lists(st.sampled_from(["g0", "g2"]), max_size=2).map(tuple)),
    st.builds(Equals, st.just("id"), st.sampled_from(["id3", "id999", 3])),
    st.builds(Equals, st.just("ts"), st.sampled_from([3, 3.0, "3", True, None])),
    st.builds(Marked, st.sampled_from([*MARKED, "nobody"])),
    st.builds(Covered),
)
filters: st.SearchStrategy[Filter] = st.recursive(
    _leaves,
    lambda inner: st.one_of(
        st.builds(Not, inner),
        st.builds(AllOf, st.lists(inner, max_size=3).map(tuple)),
        st.builds(AnyOf, st.lists(inner, max_size=3).map(tuple)),
    ),
    max_leaves=6,
)


def _apart_from_metadata(condition: Marked | Covered) -> range:
    """The records of the shelf with this mark, or with something that covers them."""
    if isinstance(condition, Covered):
        return range(1, len(FILTERED), COVERED_EVERY)
    return range(0, len(FILTERED), MARKED[condition.label]) if condition.label in MARKED else range(0)


def _admits(where: Filter, group: str, record_id: str, ts: int, metadata: Mapping[str, Json]) -> bool:
    """What the filter means, said in Python."""
    values: dict[str, Any] = {"group": group, "id": record_id, "ts": ts}

    def value_of(name: str) -> Any:
        return values[name] if name in values else metadata.get(name.removeprefix("metadata."))

    def judge(condition: Filter) -> bool:
        match condition:
            case Equals(name, wanted):
                return _equal(value_of(name), wanted)
            case OneOf(name, several):
                return any(_equal(value_of(name), wanted) for wanted in several)
            case Between(name, low, high):
                value = value_of(name)
                return _is_number(value) and (low is None or value >= low) and (high is None or value <= high)
            case Marked() | Covered():
                return ts in _apart_from_metadata(condition)
            case Not(of):
                return not judge(of)
            case AllOf(parts):
                return all(judge(part) for part in parts)
            case AnyOf(parts):
                return any(judge(part) for part in parts)

    return judge(where)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _equal(value: Any, wanted: Any) -> bool:
    if _is_number(wanted):
        return _is_number(value) and bool(value == wanted)
    return type(value) is type(wanted) and bool(value == wanted)
