"""The laws about groups, newest marks and cursors, as tests that any backend runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.store.conformance import EXAMPLES, ids, put

from libravdb_memory.store.protocol import GroupInfo, Key, Mark, Selection, Store

NAMES = ["", "s1", "S10", "über", "s1 x", "%", "_", "\U0001f300"]
arrivals = st.lists(st.tuples(st.sampled_from(NAMES), st.text("abcü\U0001f300 ", max_size=6)), max_size=24)


def every_group(store: Store, collection: str, limit: int, containing: str = "") -> list[GroupInfo]:
    found: list[GroupInfo] = []
    cursor: str | None = None
    while True:
        page = store.groups(collection, containing=containing, after=cursor, limit=limit)
        found.extend(page.groups)
        if (cursor := page.cursor) is None:
            assert page.total == len(found)
            return found


class GroupsContract:
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

    @EXAMPLES
    @given(arrivals, st.integers(1, 4))
    def test_groups_are_told_with_what_they_hold_the_last_spoken_in_first(
        self, tmp_path_factory: pytest.TempPathFactory, said: list[tuple[str, str]], limit: int
    ) -> None:
        store = self.make_store(tmp_path_factory.mktemp("groups"))
        try:
            for number, (group, text) in enumerate(said):
                store.commit(
                    [put("a", str(number), text, ts=number, group=group), put("b", str(number), group="other")]
                )
            by_name: dict[str, list[int]] = {}
            for number, (group, _) in enumerate(said):
                by_name.setdefault(group, []).append(number)
            expected = [
                GroupInfo(name, len(of), of[0], of[-1], sum(len(said[number][1]) for number in of))
                for name, of in sorted(by_name.items(), key=lambda item: -item[1][-1])
            ]
            assert every_group(store, "a", limit) == expected
            assert every_group(store, "a", limit, "S1") == [each for each in expected if "s1" in each.name.lower()]
            for name in NAMES:
                only = store.groups("a", name=name)
                assert list(only.groups) == [each for each in expected if each.name == name]
                assert (only.total, only.cursor) == (len(only.groups), None)
        finally:
            store.close()

    def test_a_group_whose_records_are_gone_is_told_no_more(self, store: Store) -> None:
        store.commit([put("a", "1", group="x"), put("a", "2", group="y")])
        store.erase(Selection(groups=(("a", "x"),)))
        assert [each.name for each in every_group(store, "a", 5)] == ["y"]
        assert store.groups("no such").groups == ()

    def test_the_newest_marks_are_those_of_the_newest_records(self, store: Store) -> None:
        done = store.commit([put("a", str(number)) for number in range(5)] + [put("b", "6")])
        for number in (3, 0, 4):
            store.commit([Mark(Key("a", str(number)), "seen", {"n": number})])
        store.commit([Mark(Key("b", "6"), "seen", {"n": 6}), Mark(Key("a", "1"), "other")])
        assert [mark.data["n"] for mark in store.newest_marks("a", "seen", 10)] == [4, 3, 0]
        assert [mark.ref for mark in store.newest_marks("a", "seen", 2)] == [done.records[4].ref, done.records[3].ref]
        assert sorted(str(mark.data["n"]) for mark in store.newest_marks(None, "seen", 10)) == ["0", "3", "4", "6"]
        assert store.newest_marks("no such", "seen", 10) == store.newest_marks("a", "none", 10) == ()

    def test_a_cursor_of_a_ref_goes_on_after_it_in_either_direction(self, store: Store) -> None:
        refs = [record.ref for record in store.commit([put("a", str(number)) for number in range(5)]).records]
        assert ids(store.page("a", after=store.cursor(refs[2])).records) == ["3", "4"]
        assert ids(store.page("a", after=store.cursor(refs[2]), newest_first=True).records) == ["1", "0"]
        assert ids(store.page("a", after=store.cursor(refs[2] - 1)).records) == ["2", "3", "4"]
        assert ids(store.page("a", after=store.cursor(refs[2] + 1), newest_first=True).records) == ["2", "1", "0"]
