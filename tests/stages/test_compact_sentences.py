"""Where sentences end, measured on labelled ones in many languages.

The splitter was written against compact_sentences_dev; compact_sentences_test was set aside and only measured.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.growth import grows_with_length

from libravdb_memory.compact import endings
from libravdb_memory.compact.sentences import sentence_spans, sentences, turn_sentences

CORPUS = Path(__file__).parent / "corpus"


@dataclass(frozen=True)
class Case:
    language: str
    gap: str
    sentences: list[str]

    @property
    def text(self) -> str:
        return self.gap.join(self.sentences)

    @property
    def spans(self) -> set[tuple[int, int]]:
        found: set[tuple[int, int]] = set()
        place = 0
        for sentence in self.sentences:
            found.add((place, place + len(sentence)))
            place += len(sentence) + len(self.gap)
        return found


def cases(name: str) -> list[Case]:
    lines = (CORPUS / f"compact_sentences_{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [Case(**json.loads(line)) for line in lines]


def quality(corpus: list[Case]) -> tuple[float, float]:
    """Precision and recall of whole sentences."""
    right = sum(len(case.spans & set(sentence_spans(case.text))) for case in corpus)
    return right / sum(len(sentence_spans(case.text)) for case in corpus), right / sum(
        map(len, (c.spans for c in corpus))
    )


TRICKY = 'Dr. |e.g. |U.S. |v1.2. |...|… |! |?! |。|」と|(a. b) |"Stop." |https://a.b/c?d. |am 3. März |؟ |। |; '.split(
    "|"
)
LINES = ["\n", "\n\n", "- item.\n", "1. x\n", "```\n", "| a. b |\n", "x" * 70 + "\n"]
pieces = st.one_of(st.text(max_size=12), st.sampled_from(TRICKY), st.sampled_from(LINES))


@given(st.lists(pieces, max_size=25).map("".join))
def test_everything_but_white_space_belongs_to_one_sentence(text: str) -> None:
    place = 0
    for start, end in sentence_spans(text):
        assert place <= start < end and not text[place:start].strip()
        assert text[start:end] == text[start:end].strip()
        place = end
    assert not text[place:].strip()


@given(st.lists(pieces, max_size=15).map("".join))
def test_sentences_are_what_their_spans_hold(text: str) -> None:
    assert sentences(text) == tuple(text[start:end] for start, end in sentence_spans(text))
    assert turn_sentences([text, "One. Two."])[-2:] == ((1, "One."), (1, "Two."))


def test_the_labelled_sentences_are_many_and_of_many_scripts() -> None:
    corpus = cases("dev") + cases("test")
    assert sum(len(case.sentences) for case in corpus) >= 280
    assert len({case.language for case in corpus}) >= 12
    assert len({case.text for case in corpus}) == len(corpus)


def test_labelled_sentences_are_found(capsys: pytest.CaptureFixture[str]) -> None:
    known, held_out = quality(cases("dev")), quality(cases("test"))
    with capsys.disabled():
        for name, (precision, recall) in (("dev", known), ("test, set aside", held_out)):
            print(f"\nsentences {name}: precision {precision:.3f}, recall {recall:.3f}", end="")  # noqa: T201
    assert min(known) >= 0.99
    assert min(held_out) >= 0.95


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("This line is as long as a line may be before it is broken up\ninto two. Next.", 2),
        ("short line\nanother short line", 2),
        ("Heading line that is long enough to have been wrapped, or so:\nthen more", 2),
        ("a\n\nb", 2),
        ("# A heading that is much longer than sixty characters in all, so it is\nBody text", 2),
        ("This line is as long as a line may be before it is broken up\n- an item", 2),
        ("```\na. b. c\nd? e\n```", 4),
        ("The U.S.A. team won. Then it left.", 2),
        ("We went to the U.S.A. Then it rained.", 2),
        ("Really?Yes!Great", 3),
        ("no: see a.b!c and x?y", 1),
        ("a unique index, and INSERT ... ON CONFLICT DO NOTHING. It holds.", 2),
        ("SELECT … FROM x. It holds.", 2),
        ("values 0 ... 9 are ok. They hold.", 2),
        ("call f(a, ...) with { ... } there. It holds.", 2),
        ("I was thinking ... Maybe not.", 2),
        ("Wait... What? No... Then left.", 4),
        ("It was 5 ... Then 6.", 2),
        ("src/a_very_long_folder/of_a_very_long_name/file.py:30: error: it is\nFound 1 error", 2),
        ("This line is as long as a line may be before it is broken up\nsrc/a.py:30: error", 2),
        ("", 0),
        (" \n ", 0),
        ("...", 1),
    ],
)
def test_lines_and_marks_count_as_documented(text: str, found: int) -> None:
    assert len(sentences(text)) == found


@pytest.mark.parametrize(("length", "together"), [(59, False), (60, True)])
def test_a_line_may_be_wrapped_from_sixty_characters_on(length: int, together: bool) -> None:
    assert (len(sentences("a" * (length - 2) + " b\nc")) == 1) is together


def test_the_lists_of_words_are_in_the_form_they_are_looked_up_in() -> None:
    for name in (
        "NEVER_LAST",
        "BEFORE_NUMBERS",
        "SELDOM_LAST",
        "STARTERS",
        "MONTHS",
        "DAYS_AND_ZONES",
        "BEFORE_ORDINALS",
    ):
        for word in getattr(endings, name):
            assert word == word.lower() and not word.endswith("."), word


@pytest.mark.parametrize(
    "unit",
    ["Hi. ", "a. b. ", "(a. ", '"a. ', "“a. ", "der 2. ", "...", "? ", "x\n", ". \n", "`a ", "« ", "!  \n", "1) "],
)
def test_time_grows_with_the_length_alone(unit: str) -> None:
    assert grows_with_length(sentence_spans, unit, 5_000)
