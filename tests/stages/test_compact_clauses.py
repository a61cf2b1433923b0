"""Clauses: what people who chat put between commas."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.growth import is_done_within

from libravdb_memory.compact.clauses import FEWEST, clause_spans
from libravdb_memory.compact.sentences import sentence_spans

chatting = st.lists(
    st.sampled_from(
        ["we", "fly", "on", "friday", ",", ", ", " - ", "; ", " btw ", " also ", " ", "naïve", "木", ".", "\n"]
    ),
    max_size=60,
).map(" ".join)


def clauses(text: str) -> list[str]:
    return [text[slice(*span)] for sentence in sentence_spans(text) for span in clause_spans(text, sentence)]


@given(st.one_of(chatting, st.text(max_size=200)))
def test_clauses_are_ordered_inside_their_sentence_and_leave_out_white_space_alone(text: str) -> None:
    for start, end in sentence_spans(text):
        at = start
        spans = clause_spans(text, (start, end))
        assert spans
        for first, last in spans:
            assert start <= at <= first < last <= end
            assert not text[at:first].strip()
            assert text[first:last] == text[first:last].strip()
            at = last
        assert not text[at:end].strip()


@given(chatting)
def test_every_clause_has_a_few_words_unless_it_is_the_sentence(text: str) -> None:
    for sentence in sentence_spans(text):
        spans = clause_spans(text, sentence)
        if len(spans) > 1:
            assert all(len(re.findall(r"\w+", text[slice(*span)])) >= FEWEST for span in spans)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            "we land at noon on friday, leave sesame out of everything, thanks a lot in advance",
            ["we land at noon on friday,", "leave sesame out of everything,", "thanks a lot in advance"],
        ),
        ("we need milk, eggs, flour and butter for it", ["we need milk, eggs,", "flour and butter for it"]),
        (
            "the build is green again btw nothing goes out unseen",
            ["the build is green again", "btw nothing goes out unseen"],
        ),
        ("Yes, always.", ["Yes, always."]),
        ("we all land at noon, six, in the hall downstairs", ["we all land at noon,", "six, in the hall downstairs"]),
    ],
)
def test_clauses_of_a_chat(text: str, wanted: list[str]) -> None:
    assert clauses(text) == wanted


def test_a_sentence_of_a_megabyte_is_divided_within_a_second() -> None:
    text = "we fly on friday, and so on, " * 40_000
    assert len(clause_spans(text, (0, len(text)))) > 1_000
    assert is_done_within(1.0, lambda: clause_spans(text, (0, len(text))))
