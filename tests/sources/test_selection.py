"""Which files are read: patterns as their writers mean them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libravdb_memory.sources.selection import Selection

paths = st.lists(st.text("abMm.", min_size=1, max_size=4), min_size=1, max_size=4).map("/".join)


@pytest.mark.parametrize(
    ("pattern", "taken", "left"),
    [
        ("*.md", ["a.md", "x/y/a.md", "A.MD"], ["a.txt", "md", "a.md/x"]),
        ("notes/*.md", ["notes/a.md"], ["notes/x/a.md", "x/notes/a.md"]),
        ("notes/**/*.md", ["notes/a.md", "notes/x/y/a.md"], ["a.md", "x/notes/a.md"]),
        ("**/notes/*.md", ["notes/a.md", "x/notes/a.md"], ["a.md"]),
        ("notes/", ["notes/a.md", "x/notes/y/a.txt"], ["notes.md"]),
        ("./a?.md", ["ab.md"], ["a.md", "x/abc.md"]),
        ("[ab].md", ["a.md", "x/b.md"], ["c.md", "ab.md"]),
        ("[!ab].md", ["c.md"], ["a.md"]),
        ("a+(b).md", ["a+(b).md"], ["aab.md"]),
        ("a**b.md", ["ab.md", "axxb.md"], ["a/b.md"]),
    ],
)
def test_a_pattern_takes_what_it_says(pattern: str, taken: list[str], left: list[str]) -> None:
    selection = Selection(include=(pattern,))
    assert [path for path in [*taken, *left] if selection.takes(path)] == taken


@pytest.mark.parametrize("pattern", ["drafts", "drafts/", "drafts/**", "**/drafts/**"])
def test_an_excluded_folder_is_not_entered(pattern: str) -> None:
    selection = Selection(exclude=(pattern,))
    assert not selection.enters("drafts") and not selection.enters("x/drafts")
    assert selection.enters("draft") and selection.enters("x")


def test_a_pattern_about_files_does_not_keep_a_folder_out() -> None:
    assert Selection(exclude=("*.tmp.md", "a/b/*.md")).enters("a/b")


def test_memory_is_read_whatever_the_patterns_say() -> None:
    selection = Selection(include=("notes/*.md",), exclude=("*.md",))
    assert selection.takes("MEMORY.md") and selection.takes("x/memory.md") and not selection.takes("notes/a.md")


@given(paths, st.sampled_from(["*", "**", "*.md", "a*"]))
def test_hidden_names_are_never_read(path: str, pattern: str) -> None:
    selection = Selection(include=(pattern,))
    hidden = path.rpartition("/")[2].startswith(".")
    assert not (hidden and selection.takes(path)) and not (hidden and selection.enters(path))


@given(paths, st.text("ab*?[!]./M", min_size=1, max_size=8))
def test_what_is_excluded_is_not_taken_and_a_bad_pattern_says_so(path: str, pattern: str) -> None:
    selection = Selection(include=("**",), exclude=(pattern,))
    try:
        selection.check()
    except ValueError:
        return
    if Selection(include=(pattern,)).takes(path) and not path.lower().endswith("memory.md"):
        assert not selection.takes(path)


def test_a_shallow_selection_takes_only_files_of_the_root_itself() -> None:
    selection = Selection(include=("night.md",), deep=False)
    assert selection.takes("night.md") and not selection.takes("MEMORY.md") and not selection.enters("x")
