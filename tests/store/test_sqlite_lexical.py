"""How text becomes words of the index: the same for every length, and with little memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libravdb_memory.store.sqlite import fulltext, lexical
from libravdb_memory.store.sqlite.lexical import parts, searchable
from libravdb_memory.store.sqlite.store import SqliteStore

LONGEST = 65_536
TEXTS = st.text(st.sampled_from("ab 不要한ｗ！กาำ\u0e31\u0e34か\u3099\n.\0é\U00020000"), min_size=1, max_size=40)
PADDINGS = st.sampled_from(["", *(("x" * number) for number in range(LONGEST - 30, LONGEST + 2, 4))])


@given(PADDINGS, TEXTS, TEXTS)
def test_clusters_of_unspaced_scripts_are_spaced_out_wherever_they_stand(padding: str, one: str, other: str) -> None:
    text = padding + one + padding + other + "é"
    assert searchable(text) == lexical._cluster.sub(r" \g<0> ", text.translate(lexical._WIDE_TO_ASCII))


@given(PADDINGS, TEXTS, TEXTS)
def test_no_word_is_in_two_parts(padding: str, one: str, other: str) -> None:
    body = searchable(padding + one + padding + other)
    assert "".join(parts(body)) == body
    assert [word for part in parts(body) for word in part.split()] == body.split()


@pytest.mark.parametrize("text", ["不要用制表符" * 50_000, "가나다라 " * 60_000])
def test_a_long_text_is_indexed_with_memory_for_a_few_copies_of_it(tmp_path: Path, text: str) -> None:
    body = searchable(text)
    with SqliteStore.open(tmp_path) as store:
        assert store._writer.call(lambda db: fulltext._words_of(db, text)) == set(text) - {" "}
        assert most_bytes(lambda: searchable(text)) < 10 * len(body)
        assert most_bytes(lambda: store._writer.call(lambda db: fulltext._words_of(db, text))) < 10 * len(body)


def most_bytes(act: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        act()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
