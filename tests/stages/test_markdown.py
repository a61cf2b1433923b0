"""Blocks cover the source byte for byte, whatever it holds."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.growth import grows_with_length

from libravdb_memory.errors import InvalidInputError
from libravdb_memory.ingest.markdown import MAX_DOCUMENT_BYTES, Block, parse

WHITE = b" \t\r\n"
LINES = st.sampled_from(
    [
        "",
        " ",
        "\t",
        "---",
        "...",
        "- item",
        "  - nested",
        "    deeper",
        "1. one",
        "2) two",
        "> quote",
        ">> two",
        ">",
        "-",
        "lazy text",
        "# heading",
        "===",
        "```",
        "~~~ x",
        "    code",
        "\tcode",
        "<div>",
        "</div>",
        "<!-- c",
        "-->",
        "***",
        "[ref]: /url",
        "[ref]: <u> 'title",
        "'",
        "[x",
        "]: y",
        "| a | b |",
        "|---|---|",
        "key: value",
        "é 漢字 🙂",
        "\x00",
        "\x0b",
        "\x0c",
        "\u00a0",
        "\u2028x",
        "\ufeff",
        "* * *",
        "+\tx",
        "- - - a",
        "> - x",
        "- > y",
        "hop_targets: [a]",
    ]
)
ENDS = st.sampled_from(["\n", "\r\n", "\r", "\n\n", "\r\n\r\n", "\n\r"])
DOCUMENTS = st.one_of(
    st.lists(st.tuples(LINES, ENDS), max_size=24).map(lambda parts: "".join(a + b for a, b in parts)),
    st.lists(st.tuples(LINES, ENDS), max_size=24).map(lambda parts: "---\n" + "".join(a + b for a, b in parts)),
    st.text(alphabet=st.sampled_from("-*+>#`~<=[]():'\"!&|\\_ \t\r\n01.)aé漢\ufeff\x00"), max_size=120),
    st.text(max_size=200),
)


def assert_covers(source: bytes, blocks: tuple[Block, ...]) -> None:
    position = 0
    for block in blocks:
        assert not source[position : block.start].strip(WHITE)
        assert position <= block.start < block.end <= len(source)
        assert source[block.start : block.end].decode() == block.text
        before = source[: block.start].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        assert block.line == before.count(b"\n") + 1
        position = block.end
    assert not source[position:].strip(WHITE)


@settings(max_examples=600)
@given(DOCUMENTS)
@example("\ufeff")
@example("\ufeff\n\n- rule\n")
@example("---\n---")
@example("[a]: b\n- c\n[d]: e")
@example("- a\n[r]: /u\n\n\n[s]: /u")
def test_every_byte_belongs_to_one_block_or_is_white_space_between(text: str) -> None:
    source = text.encode("utf-8", "ignore")
    assert_covers(source, parse(source))


@given(st.binary(max_size=60))
def test_bytes_are_parsed_losslessly_or_refused_by_name(source: bytes) -> None:
    try:
        source.decode()
    except UnicodeDecodeError:
        with pytest.raises(InvalidInputError, match="document: is not UTF-8 at byte"):
            parse(source)
    else:
        assert_covers(source, parse(source))


@given(DOCUMENTS)
def test_line_endings_change_offsets_but_not_structure(text: str) -> None:
    unix = text.replace("\r\n", "\n").replace("\r", "\n").encode("utf-8", "ignore")
    windows = unix.replace(b"\n", b"\r\n")
    assert [(b.kind, b.line, b.text.replace("\r\n", "\n")) for b in parse(windows)] == [
        (b.kind, b.line, b.text) for b in parse(unix)
    ]


def test_the_error_for_a_document_that_is_not_utf8_says_where() -> None:
    with pytest.raises(InvalidInputError, match=r"byte 9 \(line 3\)"):
        parse(b"one\ntwo\r\n\xff")


def test_a_document_beyond_the_bound_is_refused() -> None:
    with pytest.raises(InvalidInputError, match=str(MAX_DOCUMENT_BYTES)):
        parse(b"x" * (MAX_DOCUMENT_BYTES + 1))


def shape(source: str) -> list[tuple[str, str]]:
    return [(str(block.kind), block.text) for block in parse(source.encode())]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("- a\n  - b\n\n    c\n- d\n", [("list_item", "- a\n  - b\n\n    c"), ("list_item", "- d")]),
        ("- a\nlazy\n\nb", [("list_item", "- a\nlazy"), ("paragraph", "b")]),
        ("1. a\n\n   more\n\n2. b", [("list_item", "1. a\n\n   more"), ("list_item", "2. b")]),
        ("- a\n* b", [("list_item", "- a"), ("list_item", "* b")]),
        ("- ```\n  - not an item\n  ```\n- b", [("list_item", "- ```\n  - not an item\n  ```"), ("list_item", "- b")]),
        ("```\n- not an item\n```", [("code", "```\n- not an item\n```")]),
        ("```\nunclosed\n\n- x", [("code", "```\nunclosed\n\n- x")]),
        ("> a\nlazy\n\nb", [("quote", "> a\nlazy"), ("paragraph", "b")]),
        ("> - item in a quote", [("quote", "> - item in a quote")]),
        ("text\n    still text", [("paragraph", "text\n    still text")]),
        ("    code\n\n    more\n\nx", [("code", "    code\n\n    more"), ("paragraph", "x")]),
        ("Title\n===\nSub\n---", [("heading", "Title\n==="), ("heading", "Sub\n---")]),
        ("# a\n## b ##", [("heading", "# a"), ("heading", "## b ##")]),
        ("<div>\n- x\n</div>\n\ny", [("html", "<div>\n- x\n</div>"), ("paragraph", "y")]),
        ("<!-- a\n\nb -->\nc", [("html", "<!-- a\n\nb -->"), ("paragraph", "c")]),
        ("| a |\n|---|\n| b |", [("paragraph", "| a |\n|---|\n| b |")]),
        ("a\n\n***\n\nb", [("paragraph", "a"), ("rule", "***"), ("paragraph", "b")]),
        ("[a]: /x\n[b]: /y 'ti\ntle'\n\n[c]: /z\ntext", [
            ("reference", "[a]: /x\n[b]: /y 'ti\ntle'"), ("reference", "[c]: /z"), ("paragraph", "text")]),
        ("[a]: /x\n7. item", [("reference", "[a]: /x"), ("list_item", "7. item")]),
        ("text\n7. not an item", [("paragraph", "text\n7. not an item")]),
        ("-\n\n  apart", [("list_item", "-"), ("paragraph", "  apart")]),
        ("- [ ] todo\n- [x] done", [("list_item", "- [ ] todo"), ("list_item", "- [x] done")]),
        ("\ufeff- rule", [("list_item", "\ufeff- rule")]),
        ("", []),
        (" \r\n\t\n", []),
    ],
)  # fmt: skip
def test_the_blocks_of(source: str, expected: list[tuple[str, str]]) -> None:
    assert shape(source) == expected


@pytest.mark.parametrize(
    ("source", "front"),
    [
        ("---\na: b\n---\ntext", "---\na: b\n---"),
        ("---\na: b\n...\ntext", "---\na: b\n..."),
        ("--- \r\na: b\r\n---\t\r\ntext", "--- \r\na: b\r\n---"),
        ("---\n---\ntext", "---\n---"),
        ("\ufeff---\na: b\n---\ntext", "\ufeff---\na: b\n---"),
        ("---\n# no yaml at all\n---", "---\n# no yaml at all\n---"),
        ("---\na: b\n---", "---\na: b\n---"),
        ("---\na: b\n--- x\n", None),
        ("---\na: b\n", None),
        ("\n---\na: b\n---\n", None),
        (" ---\na: b\n---\n", None),
        ("----\na: b\n----\n", None),
        ("text\n---\na: b\n---\n", None),
    ],
)
def test_front_matter_only_at_the_start_and_only_when_closed(source: str, front: str | None) -> None:
    found = [block.text for block in parse(source.encode()) if block.kind == "front_matter"]
    assert found == ([] if front is None else [front])


def test_offsets_count_bytes_not_characters() -> None:
    source = "# Überschrift 漢字\n\n- règle 🙂\n".encode()
    item = parse(source)[1]
    assert (item.start, item.end) == (source.index(b"- "), len(source) - 1)


@pytest.mark.parametrize(
    "opening", ["> ", ">", "- * ", "1. ", "> - ", "* + - ", "- > 1) "], ids=lambda opening: repr(opening)
)
def test_a_hundred_thousand_openings_are_one_block_and_no_recursion(opening: str) -> None:
    source = (opening * (100_000 // len(opening)) + "x\n\n- next\n\nafter").encode()
    blocks = parse(source)
    assert_covers(source, blocks)
    assert [block.text for block in blocks][-2:] == ["- next", "after"]


@pytest.mark.parametrize("depth", [3, 20, 60, 400])
def test_deep_nesting_does_not_swallow_the_next_item(depth: int) -> None:
    stairs = "".join(f"{'  ' * level}- level {level}\n" for level in range(depth))
    assert [block.text for block in parse(f"{stairs}- next\n\nafter".encode())] == [stairs.rstrip(), "- next", "after"]


@pytest.mark.parametrize(
    "unit",
    [
        "Some plain words of prose.\n\n",
        "- an item\n  - nested\n",
        "> a\nlazy\n",
        "[a]: /b 'c'\n",
        "[\n",
        "* * * a\n",
        "x\n=\n",
    ],
    ids=repr,
)
def test_time_grows_with_length_and_not_faster(unit: str) -> None:
    assert grows_with_length(lambda text: parse(text.encode()), unit, 1000 * len(unit))


@pytest.mark.slow
def test_a_document_of_ten_megabytes_is_parsed() -> None:
    unit = b"## Section\n\n" + b"Some prose that runs on, and over a line. " * 60 + b"\n\n- a rule\n  with more\n\n"
    source = unit * (10_000_000 // len(unit))
    blocks = parse(source)
    assert len(blocks) == 3 * (10_000_000 // len(unit))
    assert blocks[-1].end == len(source.rstrip())
