"""How values look, and dates as people write them."""

from __future__ import annotations

import io
import re
import time
import unicodedata
from collections.abc import Iterator
from datetime import datetime

import pytest
from click import unstyle
from hypothesis import given
from hypothesis import strategies as st

from libravdb_memory.cli.dates import local_time, moment
from libravdb_memory.cli.render import explanation, harmless, render_hits, render_turn
from libravdb_memory.cli.retrieval_report import render as render_results
from libravdb_memory.cli.terminal import ProgressBar, Wait, Waiting
from libravdb_memory.model import Hit, Hits, Turn
from libravdb_memory.wording import readable_size, two_digits


def turn(text: str = "hello", **fields: str) -> Turn:
    return Turn(**{"id": "t", "text": text, "user": "ada", "session": "s", "role": "user", "ts": 0, **fields})  # type: ignore[arg-type]


def hit(text: str) -> Hit:
    return Hit("t", text, 0.75, {"dense": 0.5, "lexical": 0.25, "cosine": 0.9}, turn(text))


@given(st.text())
def test_no_control_or_direction_character_survives(text: str) -> None:
    shown = harmless(text)
    kept = {char for char in shown if unicodedata.category(char) == "Cc"}
    assert kept <= {"\n", "\t"}
    assert not re.search("[\u202a-\u202e\u2066-\u2069]", shown)


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cf", "Zl", "Zp"])))
def test_ordinary_text_is_shown_as_it_is(text: str) -> None:
    assert harmless(text) == text


@given(st.text(), st.text(max_size=40), st.integers(40, 110), st.booleans())
def test_hits_of_any_text_fit_the_width(text: str, query: str, width: int, full: bool) -> None:
    shown = unstyle(render_hits(query, Hits((hit(text),)), width, full=full))
    assert all(len(line) <= width for line in shown.split("\n")[1:])


def test_a_name_cannot_add_a_line() -> None:
    forged = "Bob\n 1  0.99  2026-01-01  admin"
    said = turn(speaker=forged, session=forged, user=forged, role=forged, id=forged)
    shown = unstyle(render_hits("hello", Hits((Hit(forged, "hello", 0.5, {}, said),)), 80))
    assert shown.splitlines()[1:] == ["    hello"]
    assert len(render_turn(said, 80).splitlines()) == 2


def test_a_score_of_an_older_law_is_explained_by_what_it_is_made_of() -> None:
    parts = {"cosine": 0.5, "bm25": 2.0, "weight": 0.4, "recency": 0.8, "keywords": 1.0, "quality": 1.0}
    told = explanation(Hit("t", "hello", 0.2, parts, turn()))
    assert told == ("cosine 0.50, bm25 2.00", "weight 0.40, recency 0.80, keywords 1.00, quality 1.00")


def test_the_measures_of_a_retrieval_run_fit_eighty_columns() -> None:
    names = ("R@5", "R@10", "R@20", "all@10", "NDCG@10", "MRR", "tok@1000", "ctx@1000", "ctx@2000", "ctx@4000")
    row = {"questions": 918, **dict.fromkeys((*names, "newer_first", "both_found", "sR@5", "ctx_tokens@1000"), 0.5)}
    results = {
        "data": [{"name": "data", "conversations": 1, "turns": 2, "questions": 3}],
        "skipped_without_gold": 0,
        "degraded": {},
        "overall": row,
        "categories": {"a category with a long name": row},
        "latency_ms": {"search": {"p50": 1.0, "p99": 2.0}},
    }
    lines = unstyle(render_results(results, 80)).splitlines()
    assert max(map(len, lines)) <= 80
    assert any(
        line.split() == ["n", "@5", "@10", "@20", "@10", "@10", "MRR", *"@1k @1k @2k @4k first found".split()]
        for line in lines
    )


def test_a_long_turn_is_shown_where_the_words_stand() -> None:
    text = "\n".join(f"line {n} of filler" for n in range(50)) + "\nthe heron waits\n" + "more filler\n" * 50
    shown = unstyle(render_hits("herons", Hits((hit(text),)), 80))
    assert "the heron waits" in shown and shown.count("…") == 2 and len(shown.splitlines()) < 12
    assert "line 0 of" in render_hits("herons", Hits((hit(text),)), 80, full=True)


def test_query_words_stand_out_whatever_their_ending() -> None:
    assert "\x1b[1mdeployed\x1b[0m" in render_hits("deploying", Hits((hit("we deployed it"),)), 80)


def test_what_rounds_to_nothing_has_no_sign() -> None:
    parts = {"dense": 0.5, "fit": -0.004, "cosine": -0.001}
    assert explanation(Hit("t", "hello", 0.496, parts, turn())) == ("0.50 = dense 0.50 + fit 0.00", "cosine 0.00")
    assert [two_digits(value) for value in (-0.2, -0.0, 1.0)] == ["-0.20", "0.00", "1.00"]


def test_an_explanation_adds_up_and_shows_the_evidence() -> None:
    assert explanation(hit("x")) == ("0.75 = dense 0.50 + lexical 0.25", "cosine 0.90")


def test_names_of_the_past_are_harmless_too() -> None:
    assert "\x1b" not in unstyle(render_turn(turn(role="\x1b[2J", session="\x07"), 80))


@pytest.mark.parametrize(
    ("size", "shown"), [(0, "0 bytes"), (999, "999 bytes"), (1000, "1.0 KB"), (2_500_000, "2.5 MB")]
)
def test_sizes_are_readable(size: int, shown: str) -> None:
    assert readable_size(size) == shown


# ── progress ─────────────────────────────────────────────────────────────────────────────────────────────────────


@given(st.lists(st.tuples(st.integers(0, 10**9), st.integers(0, 10**9)), max_size=20))
def test_a_bar_takes_any_numbers_and_ends_with_a_line(steps: list[tuple[int, int]]) -> None:
    stream = io.StringIO()
    bar = ProgressBar("working", "turns", stream, moving=True)
    for done, total in steps:
        bar.update(done, total)
    bar.finish(failed=False)
    assert stream.getvalue().endswith(" s\n")


def test_a_bar_without_a_total_says_what_it_counts() -> None:
    stream, clock = io.StringIO(), Clock()
    bar = ProgressBar("compacting", "summaries", stream, moving=True, clock=clock)
    for done, told in ((0, "compacting: 0 summaries"), (1, "compacting: 1 summary"), (12, "compacting: 12 summaries")):
        clock.now += 1.0
        bar.update(done, 0)
        assert last_drawn(stream) == told
    clock.now += 3.0
    bar.beat()
    assert last_drawn(stream) == "compacting: 12 summaries  nothing new for 3 s"


def test_a_bar_moves_on_a_terminal_and_only_there() -> None:
    for moving in (True, False):
        stream = io.StringIO()
        bar = ProgressBar("working", "turns", stream, moving=moving)
        bar.update(5, 10)
        bar.update(10, 10)
        bar.finish(failed=False)
        lines = stream.getvalue().replace("\r\x1b[K", "\n").strip().split("\n")
        assert lines[-1].startswith("working: 10 turns in ")
        assert ("100%" in stream.getvalue()) == moving and (len(lines) == 1) != moving


def test_a_bar_moves_with_what_is_within_the_one_at_work() -> None:
    stream, clock = io.StringIO(), Clock()
    bar = ProgressBar("compacting", "sessions", stream, moving=True, clock=clock)
    for within in ("3 of 12 clusters", "4 of 12 clusters"):
        clock.now += 1.5
        bar.update(1, 5, within)
        bar.beat()
        assert f"1/5, {within}" in last_drawn(stream) and "nothing" not in last_drawn(stream)
    clock.now += 3.0
    bar.beat()
    assert last_drawn(stream) == "compacting: 1/5, 4 of 12 clusters  nothing new for 3 s"


@pytest.mark.parametrize("columns", [20, 40, 80])
def test_a_bar_stays_on_one_line_of_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    stream = io.StringIO()
    ProgressBar("work", "turns", stream, moving=True).update(5, 10)
    begun, drawn = stream.getvalue().split("\r\x1b[K")
    assert begun == "work …" and len(drawn) < columns and "5/10" in drawn


@pytest.mark.parametrize("moving", [False, True])
def test_work_that_is_not_counted_here_says_what_it_is_and_how_long_it_took(moving: bool) -> None:
    stream = io.StringIO()
    ProgressBar("verifying", "pages", stream, moving=moving).finish(failed=False)
    begun = "verifying …\r\x1b[K" if moving else ""
    assert re.fullmatch(re.escape(begun) + r"verifying: done in \d+\.\d s\n", stream.getvalue())


def test_a_bar_that_fails_says_that_it_stopped() -> None:
    stream = io.StringIO()
    ProgressBar("working", "", stream, moving=False).finish(failed=True)
    assert stream.getvalue().startswith("working: stopped after")


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def last_drawn(stream: io.StringIO) -> str:
    return stream.getvalue().rsplit("\r\x1b[K", 1)[-1]


def test_where_nothing_moves_a_terminal_is_told_how_long_and_what_is_waited_for() -> None:
    stream, clock = io.StringIO(), Clock()
    wait = Wait(ending="qwen3:4b has 60 s for an answer")
    bar = ProgressBar("compacting", "clusters", stream, moving=True, wait=wait, clock=clock)
    clock.now = 1.9
    bar.beat()
    assert stream.getvalue() == "compacting …"
    clock.now = 12.0
    bar.beat()
    assert last_drawn(stream) == "compacting …  nothing new for 12 s; qwen3:4b has 60 s for an answer"
    clock.now = 12.1
    bar.update(1, 5)
    assert last_drawn(stream).startswith("compacting ━") and "1/5" in last_drawn(stream)
    clock.now = 15.0
    bar.update(1, 5)
    assert last_drawn(stream) == "compacting: 1/5  nothing new for 3 s; qwen3:4b has 60 s for an answer"
    clock.now = 16.0
    bar.update(5, 5)
    clock.now = 30.0
    bar.beat()
    assert "nothing" not in last_drawn(stream), "it has all that it waited for"
    bar.finish(failed=False)
    assert last_drawn(stream) == "compacting: 5 clusters in 30.0 s\n"


def test_where_nothing_moves_nobody_but_a_terminal_is_told() -> None:
    stream, clock = io.StringIO(), Clock()
    bar = ProgressBar("compacting", "clusters", stream, moving=False, clock=clock)
    line = Waiting(stream, moving=False, clock=clock)
    line.begin(Wait("qwen3:4b"))
    clock.now = 60.0
    bar.beat()
    line.beat()
    line.end()
    assert stream.getvalue() == ""


def test_what_is_waited_for_is_told_after_two_seconds_and_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    stream, clock = io.StringIO(), Clock()
    line = Waiting(stream, moving=True, clock=clock)
    clock.now = 50.0
    line.beat()
    line.begin(Wait("qwen3:4b", "given up after 60 s"))
    clock.now = 51.0
    line.beat()
    line.end()
    assert stream.getvalue() == ""
    line.begin(Wait("qwen3:4b", "given up after 60 s"))
    clock.now = 63.0
    line.beat()
    assert stream.getvalue() == "\r\x1b[Kwaiting for qwen3:4b, 12 s; given up after 60 s"
    monkeypatch.setenv("COLUMNS", "30")
    line.beat()
    assert last_drawn(stream) == "waiting for qwen3:4b, 12 s; …"
    line.end()
    line.beat()
    assert last_drawn(stream) == ""


@pytest.mark.parametrize("moving", [False, True])
def test_a_bar_of_which_nothing_came_may_leave_no_line(moving: bool) -> None:
    stream = io.StringIO()
    for done in (0, 2):
        bar = ProgressBar("compacting", "summaries", stream, moving=moving, told_always=False)
        bar.update(done, 0)
        bar.finish(failed=False)
    lines = [line.rsplit("\r\x1b[K", 1)[-1] for line in stream.getvalue().split("\n")]
    assert lines == ["compacting: 2 summaries in 0.0 s", ""]


def test_a_bar_for_what_is_mostly_short_shows_nothing_of_what_is() -> None:
    stream, clock = io.StringIO(), Clock()
    bar = ProgressBar("storing", "turns", stream, moving=True, from_s=1.0, clock=clock)
    for failed in (False, True):
        clock.now = 0.9
        bar.update(7, 0)
        bar.finish(failed=failed)
    assert stream.getvalue() == ""
    clock.now = 1.1
    bar.update(8, 0)
    assert last_drawn(stream) == "storing: 8 turns"
    bar.finish(failed=False)
    assert last_drawn(stream) == "storing: 8 turns in 1.1 s\n"


# ── times ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def in_berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_a_date_means_its_whole_local_day(in_berlin: None) -> None:
    assert moment("2026-03-29") == datetime.fromisoformat("2026-03-29T00:00:00+01:00")
    assert moment("2026-03-29", day_end=True) == datetime.fromisoformat("2026-03-29T23:59:59.999+02:00")


def test_a_time_is_local_unless_it_names_a_zone(in_berlin: None) -> None:
    assert moment("2026-07-01T12:00") == datetime.fromisoformat("2026-07-01T12:00:00+02:00")
    assert moment("2026-07-01T12:00Z") == datetime.fromisoformat("2026-07-01T12:00:00+00:00")


def test_a_time_is_shown_local(in_berlin: None) -> None:
    assert local_time(0) == "1970-01-01 01:00"


@given(st.integers(-62_135_596_800_000, 253_402_300_799_999))
def test_every_time_that_can_be_stored_can_be_shown(ts: int) -> None:
    assert local_time(ts)


@given(st.text())
def test_a_text_is_a_moment_with_a_zone_or_a_value_error(text: str) -> None:
    try:
        found = moment(text)
    except (ValueError, OverflowError):
        return
    assert found.tzinfo is not None
