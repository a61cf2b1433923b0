"""Hop targets are read from the front matter people write; what is not understood says so."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libravdb_memory.ingest.front_matter import FrontMatter, read_front_matter


def read(body: str) -> FrontMatter:
    return read_front_matter(f"---\n{body}\n---")


@pytest.mark.parametrize(
    ("body", "targets"),
    [
        ("hop_targets: a.md, b.md", ("a.md", "b.md")),
        ("hop_targets: a.md", ("a.md",)),
        ("hop_targets: [a.md, \"b, c\", 'd''e']", ("a.md", "b, c", "d'e")),
        ("hop_targets: [\n  a,\n  b, # why\n]", ("a", "b")),
        ("hop_targets: [a,,b,]", ("a", "b")),
        ("hop_targets:\n- a\n- b # comment\n-  'c, d'", ("a", "b", "c, d")),
        ("hop_targets:\n\n  - a\n\n  - docs/x.md#part\n  - http://x/y", ("a", "docs/x.md#part", "http://x/y")),
        ("'hop_targets': \"x, y\"", ("x", "y")),
        ('hop_targets: ["say \\"hi\\"", "a\\\\b"]', ('say "hi"', "a\\b")),
        ("hop_targets: [a, b, a]", ("a", "b")),
        ("hop_targets: a#b, c #d", ("a#b", "c")),
        ("hop_targets: 5", ("5",)),
        ("hop_targets:", ()),
        ("hop_targets: ~", ()),
        ("hop_targets: []", ()),
        ("", ()),
        ("other: x", ()),
        ("# only a comment", ()),
        ("title: Use when: needed\nglobs: **/*.ts\ndescription: >\n  folded: text\n  - x\nhop_targets: [q]", ("q",)),
        ("nested:\n  hop_targets: [inner]", ()),
        ("hop_targets: größe.md, 漢字", ("größe.md", "漢字")),
    ],
)
def test_hop_targets_of(body: str, targets: tuple[str, ...]) -> None:
    assert read(body) == FrontMatter(targets)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("just words", "line 2: is not 'key: value'"),
        ("a: 1\n- item\nhop_targets: x", "line 3: is not"),
        ("a: 1\na: 2\nhop_targets: b", "line 3: the key 'a' is there twice"),
        ("\ta: 1", "line 2: is indented with a tab"),
        ("hop_targets: [a", "line 2: the value of 'hop_targets' is opened and never closed"),
        ('title: "open\nhop_targets: a', "line 2: the value of 'title'"),
        ("hop_targets: {a: b}", "neither a list"),
        ("hop_targets: |\n  a", "neither a list"),
        ("hop_targets: [[a]]", "cannot be read"),
        ('hop_targets: "a" b', "cannot be read"),
        ("hop_targets:\n  - a: b", "other than texts"),
        ("hop_targets:\n  - - b", "other than texts"),
        ("hop_targets:\n  - a\n  b", "other than texts"),
        ('hop_targets: ["\\q"]', "escape"),
    ],
)
def test_front_matter_that_is_not_understood_has_no_targets_and_says_why(body: str, problem: str) -> None:
    found = read(body)
    assert found.hop_targets == ()
    assert problem in found.problem


@given(st.text(alphabet=st.sampled_from("hop_targets: [],'\"\\-#\n\r\t{}|>&*ab é"), max_size=80))
def test_reading_never_fails(body: str) -> None:
    found = read("hop_targets: " + body)
    assert not (found.problem and found.hop_targets)
    assert all(target == target.strip() and target for target in found.hop_targets)


@given(
    st.lists(
        st.text(alphabet=st.characters(exclude_characters="\r\n", exclude_categories=["Cs", "Cc", "Z"]), min_size=1)
    )
)
def test_every_quoted_list_is_read_back_exactly(names: list[str]) -> None:
    expected = tuple(dict.fromkeys(names))
    doubled = ", ".join('"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"' for name in names)
    single = "\n".join("- '" + name.replace("'", "''") + "'" for name in names)
    assert read(f"hop_targets: [{doubled}]") == FrontMatter(expected)
    assert read(f"hop_targets:\n{single}") == FrontMatter(expected)
