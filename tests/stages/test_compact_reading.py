"""Very long texts: how much of them is read, how long that takes, and what the certificate says of the rest."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.extracts import extract
from tests.growth import is_done_within, seconds

from libravdb_memory.compact.certificate import certified, certify
from libravdb_memory.compact.reading import ALL_READ, CHARACTERS_READ, read
from libravdb_memory.compact.sanitise import sanitise
from libravdb_memory.compact.settings import CompactionSettings
from libravdb_memory.compact.views import View
from libravdb_memory.compact.voices import spoken
from libravdb_memory.summaries import Loss
from libravdb_memory.tokens import EstimatingCounter

COUNTER = EstimatingCounter()


@given(st.lists(st.integers(0, 4 * CHARACTERS_READ), max_size=8))
def test_what_is_read_is_bounded_and_short_texts_are_read_whole(lengths: list[int]) -> None:
    texts = ["x" * length for length in lengths]
    found = read(texts)
    assert sum(map(len, found)) <= ALL_READ and all(len(text) <= CHARACTERS_READ for text in found)
    assert all(text.startswith(begun) for text, begun in zip(texts, found, strict=True))
    fair = min(CHARACTERS_READ, ALL_READ // max(len(texts), 1))
    assert all(len(begun) >= min(len(text), fair) for text, begun in zip(texts, found, strict=True))


def test_a_certificate_says_how_much_it_did_not_read() -> None:
    long = "word " * (CHARACTERS_READ // 5) + "then port 8443 was opened"
    made = certify([long, "port 77 was shut"], "port 77")
    assert [fact.text for fact in made.kept] == ["77"] and not made.missing
    assert (made.characters, made.unread) == (len(long) + 16, len(long) - CHARACTERS_READ)
    short = certify(["port 8443 is open"], "port 8443")
    assert (short.characters, short.unread) == (17, 0)


def test_what_was_not_read_counts_as_not_held() -> None:
    assert Loss(facts=4, kept=2, pinned=2, characters=100).share == 1.0
    assert Loss(facts=4, kept=2, pinned=2, characters=100, unread=50).share == 0.5
    assert Loss(characters=100, unread=75).share == 0.25


def work(text: str) -> None:
    view = View(sanitise(text), "tool")
    extract(spoken([view]), 64, COUNTER)
    certified([text], "short", CompactionSettings(), COUNTER)


@pytest.mark.parametrize("unit", ["```\n", "a1b/c2 is 12:30. ", "(", '"a ', "Ab ", "not a ", "1. ", "user: x\n"])
def test_the_work_for_a_turn_is_bounded(unit: str) -> None:
    short, long = (unit * (length // len(unit)) for length in (CHARACTERS_READ, 10 * CHARACTERS_READ))
    small = min(seconds(lambda: work(short)) for _ in range(2))
    assert is_done_within(3 * small + 0.5, lambda: work(long))  # only marks of code and bytes grow
