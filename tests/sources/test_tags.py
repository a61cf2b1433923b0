"""Tags of notes, where authors really write them."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libravdb_memory.sources.tags import includes, tags_of


@pytest.mark.parametrize(
    ("note", "tags"),
    [
        ("---\ntags: [Memory, 'project/alpha']\n---\ntext\n", {"memory", "project/alpha"}),
        ('---\ntags:\n  - memory\n  - "#work"\n---\n', {"memory", "work"}),
        ("---\ntags: memory, work\n---\n", {"memory", "work"}),
        ("---\nTag: memory work\n---\n", {"memory", "work"}),
        ("\ufeff---\ntags: memory\n---\n", {"memory"}),
        ("---\ntitle: x\n---\nBuy #milk and #Straße/groß.\n", {"milk", "strasse/gross"}),
        ("- item #a-b\n\n> quoted #c_d\n", {"a-b", "c_d"}),
        ("Issue #1 and #2024, but #y2024.\n", {"y2024"}),
        ("# Heading\n\nSee [[note#part]] and http://x.org/#part, a#b, [x](#y).\n", set()),
        ("`#code` and ``#more ` #code`` but #prose\n", {"prose"}),
        ("```\n#fenced\n```\n\n    #indented\n", set()),
        ("- item\n  ```\n  #fenced\n  ```\n  #after\n", {"after"}),
        ("an unmatched ` tick and #tag\n", {"tag"}),
        ("---\ntags: {a: b}\n---\n", set()),
        ("---\nbroken: [\n---\n#body\n", {"body"}),
    ],
)
def test_the_tags_of_a_note(note: str, tags: set[str]) -> None:
    assert tags_of(note) == tags


def test_a_wanted_tag_includes_what_is_nested_below_it_and_nothing_beside() -> None:
    assert includes(["#Project"], frozenset({"project/alpha"}))
    assert includes(["project/"], frozenset({"project"}))
    assert not includes(["project"], frozenset({"projects", "my/project"}))
    assert includes([], frozenset()) and not includes(["a"], frozenset())


@given(st.text(alphabet="#a1/- `\n[]:\ttgs\ufeff"))
def test_any_note_can_be_read(note: str) -> None:
    assert all(tag == tag.strip("/#") and tag for tag in tags_of(note))


@pytest.mark.parametrize("piece", ["`#a", "#1", "# #", "``` ` ", "#a/"])
def test_reading_is_linear(piece: str) -> None:
    started = time.perf_counter()
    tags_of("x " + piece * 40_000)
    assert time.perf_counter() - started < 10
