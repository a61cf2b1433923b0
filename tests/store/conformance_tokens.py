"""Token rows, places, speakers and similarities, as tests that any backend runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.store.conformance import DIMENSIONS, EXAMPLES, any_text, axis, json_values, put, with_vectors

from libravdb_memory.errors import InvalidInputError, NotFoundError
from libravdb_memory.identity import Json
from libravdb_memory.store.protocol import Key, Place, Remove, Selection, Space, Store

RULE, OTHER = "rows:1", "rows:2"


def ruled(store: Store, number: int = 3, rule: str = RULE) -> tuple[Space, list[int]]:
    """Records a0, a1 ... with vectors and token rows b"0", b"1" ..."""
    space = store.keep_tokens(store.add_space("sha256:one", "one", DIMENSIONS), rule)
    refs = [record.ref for record in store.commit([put("a", f"a{n}") for n in range(number)]).records]
    assert embed(store, space, refs, [b"%d" % n for n in range(number)]) == number
    return space, refs


def embed(store: Store, space: Space, refs: Sequence[int], tokens: Sequence[bytes] | None = None) -> int:
    return store.put_vectors(space, refs, np.tile(axis(0), (len(refs), 1)), tokens=tokens)


def waiting(store: Store, space: Space) -> list[int]:
    refs = [todo.ref for todo in store.unembedded(space, 1000)]
    assert store.count_unembedded(space) == len(refs)
    return refs


class TokensContract:
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

    # ── token rows ───────────────────────────────────────────────────────────────────────────────────────────────

    def test_token_rows_are_read_back_as_they_were_stored_also_after_opening_again(
        self, open_store: Callable[[], Store]
    ) -> None:
        store = open_store()
        space, refs = ruled(store, 4)
        assert embed(store, space, refs[:2], [b"", bytes(range(256)) * 40]) == 2
        expected = {refs[0]: b"", refs[1]: bytes(range(256)) * 40, refs[3]: b"3"}
        assert store.get_tokens(space, [refs[3], refs[1], 12345, refs[0], refs[1]]) == expected
        assert store.get_tokens(space, []) == {}
        store.close()
        store = open_store()
        assert store.spaces() == (space,)
        assert store.add_space("sha256:one", "one", DIMENSIONS) == space
        assert store.get_tokens(space, refs) == expected | {refs[2]: b"2"}
        assert store.verify().ok
        store.close()

    def test_a_space_keeps_no_token_rows_until_it_is_told_to(self, store: Store) -> None:
        space, refs = with_vectors(store, "a", [[1, 0, 0, 0]])
        assert space.tokens == store.spaces()[0].tokens == ""
        assert store.keep_tokens(space, "") == space
        assert store.get_tokens(space, refs) == {}
        with pytest.raises(InvalidInputError) as caught:
            embed(store, space, refs, [b"row"])
        assert caught.value.field == "tokens"

    def test_the_same_rule_again_changes_nothing(self, store: Store) -> None:
        space, refs = ruled(store)
        assert store.keep_tokens(space, RULE) == space
        assert len(store.get_tokens(space, refs)) == 3
        assert waiting(store, space) == []

    def test_another_rule_drops_the_rows_and_every_record_waits_for_a_new_one(self, store: Store) -> None:
        old, refs = ruled(store)
        space = store.keep_tokens(old, OTHER)
        assert (space.tokens, space.key) == (OTHER, old.key)
        assert waiting(store, space) == refs
        assert store.get_tokens(space, refs) == {}
        assert embed(store, space, refs[:2], [b"x", b"y"]) == 2
        assert waiting(store, space) == refs[2:]
        assert store.status().unembedded == 1
        assert store.verify().ok
        none = store.keep_tokens(space, "")
        assert none.tokens == ""
        assert waiting(store, none) == []
        assert embed(store, none, refs) == 3
        assert store.verify().ok

    def test_a_row_is_neither_given_to_nor_taken_from_who_names_another_rule(self, store: Store) -> None:
        old, refs = ruled(store)
        new = store.keep_tokens(old, OTHER)
        with pytest.raises(InvalidInputError) as caught:
            embed(store, old, refs, [b"made by the old rule"] * 3)
        assert caught.value.field == "space"
        assert store.get_tokens(new, refs) == {}
        embed(store, new, refs, [b"new"] * 3)
        assert store.get_tokens(old, refs) == {}
        assert store.get_tokens(new, refs) == dict.fromkeys(refs, b"new")

    def test_searches_by_meaning_go_on_while_token_rows_are_made(self, store: Store) -> None:
        old, refs = ruled(store)
        space = store.keep_tokens(old, OTHER)
        found = store.search_vectors("a", axis(0), 10)
        assert [hit.ref for hit in found.hits] == refs
        assert (found.complete, found.missing) == (True, 0)
        (new,) = store.commit([put("a", "new")]).records
        assert store.search_vectors("a", axis(0), 10).missing == 1
        embed(store, space, [new.ref], [b"n"])
        assert store.search_vectors("a", axis(0), 10).complete
        assert waiting(store, space) == refs

    def test_records_without_a_vector_come_before_those_that_lack_only_their_row(self, store: Store) -> None:
        old, refs = ruled(store)
        space = store.keep_tokens(old, OTHER)
        new = [record.ref for record in store.commit([put("a", f"new{n}") for n in range(2)]).records]
        assert waiting(store, space) == new + refs
        assert [todo.ref for todo in store.unembedded(space, 3)] == [*new, refs[0]]
        store.commit([put("a", "a1", "changed", replace=True)])
        assert waiting(store, space) == [*new, refs[1], refs[0], refs[2]]

    @pytest.mark.parametrize("tokens", [None, [], [b"1"], [b"1", b"2", b"3"], [b"1", "2"], [b"1", None], ["ab", "cd"]])
    def test_token_rows_that_are_none_are_refused_by_name_and_leave_nothing(self, store: Store, tokens: Any) -> None:
        space = store.keep_tokens(store.add_space("sha256:one", "one", DIMENSIONS), RULE)
        refs = [record.ref for record in store.commit([put("a", "1"), put("a", "2")]).records]
        with pytest.raises(InvalidInputError) as caught:
            embed(store, space, refs, tokens)
        assert caught.value.field == "tokens"
        assert store.get_vectors(space, refs) == {}
        assert waiting(store, space) == refs

    @pytest.mark.parametrize("rule", [None, 7, "\ud800"])
    def test_a_rule_that_is_no_text_is_refused_by_name(self, store: Store, rule: Any) -> None:
        space = store.add_space("sha256:one", "one", DIMENSIONS)
        with pytest.raises(InvalidInputError) as caught:
            store.keep_tokens(space, rule)
        assert caught.value.field == "rule"

    def test_a_row_leaves_with_its_record_and_with_a_replacement(self, store: Store) -> None:
        space, refs = ruled(store, 5)
        store.commit([Remove(Key("a", "a0")), put("a", "a1", "changed", replace=True)])
        erased = store.erase(Selection(keys=(Key("a", "a2"),)))
        assert (erased.records, erased.vectors) == (1, 1)
        assert store.get_tokens(space, refs) == {refs[3]: b"3", refs[4]: b"4"}
        assert waiting(store, space) == [refs[1]]
        assert store.verify().ok

    def test_rows_of_changed_or_vanished_records_are_ignored(self, store: Store) -> None:
        space = store.keep_tokens(store.add_space("sha256:one", "one", DIMENSIONS), RULE)
        store.commit([put("a", "1", "old"), put("a", "2"), put("a", "3"), put("q", "1", searchable=False)])
        todo = store.unembedded(space, 10)
        store.commit([put("a", "1", "new", replace=True), Remove(Key("a", "2"))])
        refs, versions = [item.ref for item in todo], [item.version for item in todo]
        rows = np.ones((3, DIMENSIONS), np.float32)
        assert store.put_vectors(space, refs, rows, versions=versions, tokens=[b"1", b"2", b"3"]) == 1
        assert store.get_tokens(space, refs) == {refs[2]: b"3"}
        assert [item.text for item in store.unembedded(space, 10)] == ["new"]

    def test_rows_go_with_their_space_and_another_space_has_its_own(self, store: Store) -> None:
        one, refs = ruled(store)
        two = store.keep_tokens(store.add_space("sha256:two", "two", DIMENSIONS), RULE)
        assert store.get_tokens(two, refs) == {}
        embed(store, two, refs, [b"two"] * 3)
        store.activate_space(two)
        store.drop_space(one)
        for use in (lambda: store.get_tokens(one, refs), lambda: store.keep_tokens(one, OTHER)):
            with pytest.raises(NotFoundError):
                use()
        assert store.get_tokens(two, refs) == dict.fromkeys(refs, b"two")
        assert store.verify().ok

    def test_a_search_by_meaning_follows_a_vector_that_is_put_again(self, store: Store) -> None:
        space, refs = ruled(store)
        assert store.search_vectors("a", axis(1), 1).hits[0].score == 0
        assert store.put_vectors(space, refs[1:2], axis(1)[None], tokens=[b"1"]) == 1
        assert store.put_vectors(space, refs[1:2], axis(1)[None], tokens=[b"other"]) == 1
        assert store.search_vectors("a", axis(1), 1).hits[0].ref == refs[1]
        assert store.get_tokens(space, refs[1:2]) == {refs[1]: b"other"}

    # ── places ───────────────────────────────────────────────────────────────────────────────────────────────────

    def test_a_place_tells_neighbours_names_length_and_question(self, store: Store) -> None:
        metadata: dict[str, Json] = {"role": "user", "speaker": "Ada", "meta": {"role": "x"}}
        first, other, second, third = store.commit(
            [
                put("a", "1", "Wohin?", metadata, ts=5, group="s"),
                put("a", "2", "elsewhere", group="t"),
                put("a", "3", "nach Köln 🚆", {"role": "assistant"}, ts=-7, group="s"),
                put("a", "4", "", {"role": ["user"], "speaker": 7}, group="s"),
            ]
        ).records
        found = store.places([third.ref, first.ref, 12345, second.ref, first.ref, other.ref])
        assert found.keys() == {first.ref, second.ref, third.ref, other.ref}
        group = found[first.ref].group
        assert found[first.ref] == Place(first.ref, group, 5, None, second.ref, "user", "Ada", 6, True)
        assert found[second.ref] == Place(second.ref, group, -7, first.ref, third.ref, "assistant", "", 11, False)
        assert found[third.ref] == Place(third.ref, group, 0, second.ref, None, "", "", 0, False)
        alone = found[other.ref]
        assert alone.group != group
        assert (alone.before, alone.after) == (None, None)
        assert store.places([]) == {}

    def test_groups_of_one_name_in_two_collections_have_no_neighbours_in_common(self, store: Store) -> None:
        records = store.commit([put("a", "1", group="s"), put("b", "1", group="s")]).records
        found = store.places([record.ref for record in records])
        assert [(place.before, place.after) for place in found.values()] == [(None, None)] * 2
        assert len({place.group for place in found.values()}) == 2

    @pytest.mark.parametrize(
        ("text", "asks"),
        [
            ("really?", True),
            ("really?  \n", True),
            ("what? yes", False),
            ("何ですか？", True),
            ("كيف حالك؟", True),
            ("a\0b?", True),
            ("?\0", False),
            ("", False),
            (" ", False),
        ],
    )
    def test_a_question_is_told_by_its_mark(self, store: Store, text: str, asks: bool) -> None:
        ref = store.commit([put("a", "1", text)]).records[0].ref
        place = store.places([ref])[ref]
        assert (place.asks, place.length) == (asks, len(text))

    @EXAMPLES
    @given(text=any_text, role=json_values, speaker=json_values)
    def test_a_place_agrees_with_its_record_whatever_it_holds(
        self, store: Store, text: str, role: Json, speaker: Json
    ) -> None:
        (record,) = store.commit([put("a", "1", text, {"role": role, "speaker": speaker}, replace=True)]).records
        place = store.places([record.ref])[record.ref]
        assert place.length == len(text)
        assert place.role == (role if isinstance(role, str) else "")
        assert place.speaker == (speaker if isinstance(speaker, str) else "")

    @EXAMPLES
    @given(st.data())
    def test_neighbours_are_those_of_the_group_after_any_arrivals_and_departures(
        self, store: Store, data: st.DataObject
    ) -> None:
        store.erase(Selection(collections=("a",)))
        for number in range(data.draw(st.integers(1, 4))):
            groups = data.draw(st.lists(st.sampled_from("xyz"), min_size=1, max_size=6))
            writes = [put("a", f"{number}.{n}", group=group) for n, group in enumerate(groups)]
            self._check_neighbours(store, [record.ref for record in store.commit(writes).records])
            records = store.page("a").records
            leaving = records[data.draw(st.integers(0, 20)) % len(records)]
            key = Key("a", leaving.id, leaving.group)
            if data.draw(st.booleans()):
                store.commit([Remove(key)])
            else:
                store.erase(Selection(keys=(key,)))
            self._check_neighbours(store, [leaving.ref])

    def _check_neighbours(self, store: Store, others: list[int]) -> None:
        records = store.page("a").records
        found = store.places([*(record.ref for record in records), *others])
        assert found.keys() == {record.ref for record in records}
        for group in {record.group for record in records}:
            refs = [None, *(record.ref for record in records if record.group == group), None]
            for before, ref in pairwise(refs):
                assert before is None or found[before].after == ref
                assert ref is None or found[ref].before == before

    # ── speakers ─────────────────────────────────────────────────────────────────────────────────────────────────

    def test_speakers_come_most_frequent_first_and_stay_current(self, open_store: Callable[[], Store]) -> None:
        store = open_store()
        assert store.speakers("a") == ()
        for n, name in enumerate(["Bob", "Ada", "Ada", "Zoë \0\n\"'"]):
            store.commit([put("a", str(n), "said", {"speaker": name})])
        odd: list[Json] = ["", None, 7, ["Eve"], {"Eve": "Eve"}, True]
        store.commit([put("a", f"odd{n}", "said", {"speaker": value}) for n, value in enumerate(odd)])
        store.commit([put("b", "1", "said", {"speaker": "Mallory"}), put("a", "none", "said")])
        expected = ("Ada", "Bob", "Zoë \0\n\"'")
        assert store.speakers("a") == store.speakers("a") == expected
        store.commit([put("a", f"more{n}", "said", {"speaker": "Carl"}) for n in range(3)])
        assert store.speakers("a") == ("Carl", *expected)
        assert store.speakers("b") == ("Mallory",)
        store.close()
        store = open_store()
        assert store.speakers("a") == ("Carl", *expected)
        store.close()

    def test_an_erased_speaker_is_forgotten(self, store: Store) -> None:
        store.commit([put("a", "1", "said", {"speaker": "Ada"}), put("a", "2", "said", {"speaker": "Bob"})])
        assert store.speakers("a") == ("Ada", "Bob")
        store.erase(Selection(keys=(Key("a", "1"),)))
        assert store.speakers("a") == ("Bob",)
        store.erase(Selection(collections=("a",)))
        assert store.speakers("a") == ()

    def test_of_a_crowd_the_most_frequent_speakers_are_named(self, store: Store) -> None:
        store.commit([put("a", f"{n}", "said", {"speaker": f"s{n % 100}"}) for n in range(150)])
        assert set(store.speakers("a")) >= {f"s{n}" for n in range(50)}
        assert len(store.speakers("a")) == 64
        store.commit([put("a", f"late{n}", "said", {"speaker": f"late{n}"}) for n in range(5)])
        assert len(store.speakers("a")) == 64

    # ── similarities ─────────────────────────────────────────────────────────────────────────────────────────────

    def test_similarities_are_the_scores_of_a_search_before_and_after_one(self, store: Store) -> None:
        rows = np.random.default_rng(7).standard_normal((30, DIMENSIONS)).astype(np.float32)
        _, refs = with_vectors(store, "a", rows.tolist())
        query = np.array([0.3, -2, 1, 0.5], np.float32)
        before = store.similarities("a", query, refs)
        hits = {hit.ref: hit.score for hit in store.search_vectors("a", query, 30, exact=True).hits}
        assert store.similarities("a", query, refs) == hits
        assert before == pytest.approx(hits, abs=1e-6)
        cosines = rows @ query / np.linalg.norm(rows, axis=1) / np.linalg.norm(query)
        assert hits == pytest.approx(dict(zip(refs, cosines.tolist(), strict=True)), abs=1e-6)

    def test_similarities_leave_out_what_has_no_vector_or_lies_elsewhere(self, store: Store) -> None:
        assert store.similarities("a", axis(0), [1, 2]) == {}
        space, refs = with_vectors(store, "a", [[1, 0, 0, 0], [0, 2, 0, 0], [0, 0, 0, 0]])
        (elsewhere,) = store.commit([put("b", "1")]).records
        embed(store, space, [elsewhere.ref])
        (bare,) = store.commit([put("a", "bare")]).records
        wanted = [refs[2], elsewhere.ref, bare.ref, refs[0], refs[1], refs[0], 12345]
        for _ in range(2):
            assert store.similarities("a", axis(1), wanted) == {refs[0]: 0.0, refs[1]: 1.0, refs[2]: 0.0}
            assert store.similarities("a", axis(1), []) == {}
            store.search_vectors("a", axis(0), 1)
        store.commit([put("a", "a1", "changed", replace=True), Remove(Key("a", "a2"))])
        assert store.similarities("a", axis(1), wanted) == {refs[0]: 0.0}
        assert store.similarities("nowhere", axis(1), wanted) == {}

    def test_similarities_are_those_of_the_active_space(self, store: Store) -> None:
        _, refs = with_vectors(store, "a", [[1, 0, 0, 0]])
        two = store.add_space("sha256:two", "two", 2)
        store.put_vectors(two, refs, np.array([[0, 3]], np.float32))
        assert store.similarities("a", axis(0), refs) == {refs[0]: 1.0}
        store.activate_space(two)
        assert store.similarities("a", np.array([0, 1], np.float32), refs) == {refs[0]: 1.0}

    @pytest.mark.parametrize("bad", [np.full(4, np.nan), np.ones(5), np.ones((1, 4)), "words", None])
    def test_a_query_that_is_no_vector_is_refused_by_name(self, store: Store, bad: Any) -> None:
        _, refs = with_vectors(store, "a", [[1, 0, 0, 0]])
        with pytest.raises(InvalidInputError) as caught:
            store.similarities("a", bad, refs)
        assert caught.value.field == "vector"

    # ── at the same time ─────────────────────────────────────────────────────────────────────────────────────────

    def test_readers_beside_writers_see_what_is_there(self, store: Store) -> None:
        """A token row is that of its record at any time, and when all is quiet every neighbour is known."""
        space = store.keep_tokens(store.add_space("sha256:one", "one", DIMENSIONS), RULE)
        done = threading.Event()
        failures: list[BaseException] = []

        def write() -> None:
            try:
                for n in range(60):
                    metadata: dict[str, Json] = {"speaker": f"s{n % 3}"}
                    (record,) = store.commit([put("a", str(n), "t" * n, metadata, group="g")]).records
                    embed(store, space, [record.ref], [b"%d" % n])
                    if n % 10 == 9:
                        store.erase(Selection(keys=(Key("a", str(n - 5), "g"),)))
            except BaseException as error:
                failures.append(error)
            finally:
                done.set()

        writer = threading.Thread(target=write)
        writer.start()
        while not done.is_set():
            refs = [record.ref for record in store.page("a").records]
            found = store.places(refs)
            assert all((place.before or 0) < ref < (place.after or 2**63) for ref, place in found.items())
            rows = store.get_tokens(space, refs)
            assert all(int(rows[ref]) == found[ref].length for ref in rows.keys() & found.keys())
            assert set(store.speakers("a")) <= {"s0", "s1", "s2"}
        writer.join()
        assert failures == []
        refs = [record.ref for record in store.page("a").records]
        found = store.places(refs)
        assert [found[ref].after for ref in refs] == [*refs[1:], None]
        assert [found[ref].before for ref in refs] == [None, *refs[:-1]]
        assert store.get_tokens(space, refs).keys() == set(refs)
        assert set(store.similarities("a", axis(0), refs).values()) == {1.0}
        assert store.verify().ok
