"""Which lines of a diary become memory."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libravdb_memory.sources.diary import Entry, judge, read_diary

GOOD = "- Ada reviews every migration by hand. {score=.82 recall=3 unique=2}"


def texts(diary: str) -> list[str]:
    return [entry.text for entry in read_diary(diary)]


def test_an_entry_is_read_with_its_figures_section_and_line() -> None:
    (entry,) = read_diary(f"# Diary\n\n## Deep sleep\n\nSome prose.\n\n{GOOD}\n")
    assert entry == Entry("Ada reviews every migration by hand.", 0.82, 3, 2, "Deep sleep", 7)


@pytest.mark.parametrize(
    "heading",
    ["## Deep Sleep", "## Promoted today", "# Promotions", "### What I dreamt", "Deep sleep\n====", "## Dreams ##"],
)
def test_sections_about_deep_sleep_promotion_and_dreams_count(heading: str) -> None:
    assert len(texts(f"{heading}\n\n{GOOD}\n")) == 1


@pytest.mark.parametrize(
    "heading", ["## Light sleep", "## REM sleep", "## Notes", "## Not promoted", "## Unpromoted", "## Rejected dreams"]
)
def test_other_sections_do_not(heading: str) -> None:
    assert texts(f"{heading}\n\n{GOOD}\n") == []


def test_a_section_inherits_the_topic_of_the_one_above_it() -> None:
    diary = f"## Deep sleep\n### Monday\n{GOOD}\n## Shopping\n- Three metres of rope. {{score=.9 recall=3 unique=3}}\n"
    assert texts(diary) == ["Ada reviews every migration by hand."]
    assert texts(f"# Dream diary\n## Light sleep\n{GOOD}\n### Monday\n{GOOD}\n") == []


def test_nested_items_and_continued_lines_are_entries_of_their_own() -> None:
    diary = (
        "## Dreams\n* The harbour froze over and the\n  ferry stayed. {unique=2, recall=5, score=0.7}\n"
        "  - A smaller dream inside it. {Score: .61 Recall: 2 Unique: 2}\n"
    )
    assert read_diary(diary) == (
        Entry("The harbour froze over and the ferry stayed.", 0.7, 5, 2, "Dreams", 2),
        Entry("A smaller dream inside it.", 0.61, 2, 2, "Dreams", 4),
    )


def test_items_without_figures_and_code_are_not_entries() -> None:
    assert texts(f"## Dreams\n\n- Only prose here, no figures.\n- Half {{of it}}\n\n```\n{GOOD}\n```\n") == []


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (Entry("fifteen bytes!!", 0.9, 9, 9), "bytes"),
        (Entry("long enough to be kept", 0.59, 2, 2), "score"),
        (Entry("long enough to be kept", 1.01, 2, 2), "score"),
        (Entry("long enough to be kept", float("nan"), 2, 2), "score"),
        (Entry("long enough to be kept", 0.6, 1, 2), "recall"),
        (Entry("long enough to be kept", 0.6, 2, 1), "unique"),
    ],
)
def test_an_entry_below_a_bound_is_rejected_with_the_reason(entry: Entry, reason: str) -> None:
    judged = judge([entry])
    assert judged.promoted == () and reason in judged.rejected[0].reason


def test_the_bounds_themselves_pass() -> None:
    assert len(judge([Entry("sixteen bytes!!!", 0.6, 2, 2)]).promoted) == 1
    assert len(judge([Entry("äöüäöüäö", 0.6, 2, 2)]).promoted) == 1  # 16 bytes, 8 characters


@given(
    st.lists(
        st.builds(
            Entry,
            st.sampled_from(["sixteen bytes!!!", "another text that is long", "short"]),
            st.floats(),
            st.integers(-3, 5),
            st.integers(-3, 5),
        )
    )
)
def test_every_entry_is_promoted_or_rejected_and_none_twice(entries: list[Entry]) -> None:
    judged = judge(entries)
    assert len(judged.promoted) + len(judged.rejected) == len(entries)
    assert len({entry.text for entry in judged.promoted}) == len(judged.promoted)
    assert all(0.6 <= entry.score <= 1 and entry.recall >= 2 and entry.unique >= 2 for entry in judged.promoted)


@given(st.text(alphabet="# -*{}=.:\n\tscorealuniqdmp0123"))
def test_any_text_can_be_read(diary: str) -> None:
    judge(read_diary(diary))
