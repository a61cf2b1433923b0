"""The tree of a session, for any session: it fits, it is one line a line, and it leaves out nothing uncounted."""

from __future__ import annotations

import re

import pytest
from click import unstyle
from hypothesis import given
from hypothesis import strategies as st

from libravdb_memory.cli.dates import local_span, moment
from libravdb_memory.cli.figures import width_of
from libravdb_memory.cli.history_tree import ASCII, BOXES, Glyphs, Shown, render_history
from libravdb_memory.lineage import Branch, History
from libravdb_memory.model import Turn
from libravdb_memory.summaries import Loss, Node

names = st.text(min_size=1, max_size=40)
moments = st.integers(0, 4_000_000_000_000)


@st.composite
def turns(draw: st.DrawFn) -> Turn:
    return Turn(draw(names), draw(st.text()), "ada", "s", draw(st.sampled_from(["user", "assistant"])), draw(moments))


def node(level: int, text: str, number: int, moment: int, loss: Loss) -> Node:
    return Node(
        id=f"summary:{number:016x}",
        namespace="ada",
        session="s",
        text=text,
        level=level,
        children=(),
        turns=20 * level,
        first="a",
        last="b",
        first_ts=moment,
        last_ts=moment + 90_000_000,
        tokens=64,
        source_tokens=1_812,
        method="extractive",
        engine="extractive",
        confidence=0.5,
        align=0.5,
        cover=0.5,
        compacted_at=0,
        loss=loss,
    )


@st.composite
def branches(draw: st.DrawFn, level: int) -> Branch:
    kept, pinned, lost = (draw(st.integers(0, 40)) for _ in range(3))
    loss = Loss(kept + pinned + lost, kept, pinned, tuple(draw(st.lists(st.text(max_size=30), max_size=3))))
    mine = node(level, draw(st.text()), draw(st.integers(0, 2**64 - 1)), draw(moments), loss)
    below = draw(st.lists(branches(level - 1), max_size=2)) if level > 1 else []
    return Branch(mine, tuple(below))


@st.composite
def histories(draw: st.DrawFn) -> History:
    bare = draw(st.lists(turns(), min_size=1, max_size=12))
    roots = draw(st.lists(branches(draw(st.integers(1, 3))), max_size=3))
    tail = draw(st.integers(1, len(bare)))
    covered = sum(root.node.turns for root in roots)
    return History(draw(names), draw(names), covered + len(bare), (*roots, *bare), tail)


@given(histories(), st.integers(40, 110), st.sampled_from([BOXES, ASCII]), st.booleans(), st.none() | st.integers(1, 4))
def test_any_history_fits_the_width(
    history: History, width: int, glyphs: Glyphs, with_turns: bool, depth: int | None
) -> None:
    said = [Turn("t", "some words that were said", "ada", "s", "user", 0)] * 3
    ruled = frozenset(entry.id for entry in history.entries if isinstance(entry, Turn)) | {"t"}
    wanted = Shown((lambda node: said) if with_turns else None, ruled, depth)
    shown = unstyle(render_history(history, width, glyphs, wanted))
    assert all(width_of(line) <= width for line in shown.split("\n"))


@given(histories())
def test_every_bare_turn_is_shown_or_counted(history: History) -> None:
    shown = unstyle(render_history(history, 110))
    bare = sum(isinstance(entry, Turn) for entry in history.entries)
    told = [int(number) for number in re.findall(r"^[├└]─ (?:not covered|tail): (\d+) turns?$", shown, re.M)]
    assert sum(told) == bare and told[-1] == history.tail


def test_ids_are_as_long_as_it_takes_to_tell_them_apart() -> None:
    twins = [node(1, "words", 0xABCDEF0123456789 + step, 0, Loss()) for step in (0, 1)]
    shown = unstyle(render_history(History("ada", "s", 41, (*map(Branch, twins),), 0), 80))
    assert "abcdef0123456789 " in shown and "abcdef012345678a " in shown
    alone = unstyle(render_history(History("ada", "s", 21, (Branch(twins[0]),), 0), 80))
    assert "abcdef01  level 1" in alone


def test_what_a_summary_lost_is_counted_and_named() -> None:
    loss = Loss(12, 7, 3, ("port 8443", "E42"))
    shown = unstyle(render_history(History("ada", "s", 20, (Branch(node(1, "words", 1, 0, loss)),), 0), 110))
    assert "12 facts: 7 kept, 3 pinned, 2 lost" in shown and "lost: port 8443, E42" in shown


@pytest.mark.parametrize(
    ("end", "told"),
    [
        ("2026-03-01T10:00", "2026-03-01 10:00"),
        ("2026-03-01T10:01", "2026-03-01 10:00 – 10:01"),
        ("2026-03-02T09:00", "2026-03-01 10:00 – 03-02 09:00"),
        ("2027-03-01T10:00", "2026-03-01 10:00 – 2027-03-01 10:00"),
    ],
)
def test_a_span_of_time_tells_a_shared_day_or_year_once(end: str, told: str) -> None:
    first, last = (int(moment(text).timestamp() * 1000) for text in ("2026-03-01T10:00", end))
    assert local_span(first, last) == told


def test_a_moment_that_no_calendar_shows_is_told_as_it_is() -> None:
    assert local_span(10**18, 10**18 + 1) == f"{10**18} ms – {10**18 + 1} ms"
