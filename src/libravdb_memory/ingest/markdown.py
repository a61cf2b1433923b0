"""Markdown into ordered blocks that point back into the source.

Law: every byte of a document belongs to exactly one block or is white space (space, tab, line ending) between blocks;
offsets ascend; a block's text is its slice of the source, decoded and otherwise untouched. Blocks are those of the top
level: a list item carries all that is nested in it, a quote all that it quotes. At the top level every CommonMark block
begins at the start of a line, so a table of line starts turns the parser's line numbers into byte offsets.

A document is UTF-8 or is refused by name: a rule must not reach a prompt with characters guessed. A byte order mark
belongs to the first block.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING

from libravdb_memory.errors import InvalidInputError

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock

MAX_DOCUMENT_BYTES = 16 * 1024 * 1024
MAX_DEPTH = 48  # containers are still told apart down to here; what lies deeper is read as plain text of its item
_BOM = b"\xef\xbb\xbf"
_WHITE = b" \t\r\n"
_LINE_END = re.compile(rb"\r\n?|\n")
_LINE_END_TEXT = re.compile(r"\r\n?")


class BlockKind(StrEnum):
    FRONT_MATTER = "front_matter"
    LIST_ITEM = "list_item"
    QUOTE = "quote"
    PARAGRAPH = "paragraph"
    HEADING = "heading"
    CODE = "code"
    HTML = "html"
    RULE = "rule"
    REFERENCE = "reference"


_KIND_OF_TOKEN = {
    "list_item_open": BlockKind.LIST_ITEM,
    "blockquote_open": BlockKind.QUOTE,
    "paragraph_open": BlockKind.PARAGRAPH,
    "heading_open": BlockKind.HEADING,
    "code_block": BlockKind.CODE,
    "fence": BlockKind.CODE,
    "html_block": BlockKind.HTML,
    "hr": BlockKind.RULE,
}


@dataclass(frozen=True, slots=True)
class Block:
    """`start` and `end` are byte offsets into the source; `text` is that slice; `line` counts from 1."""

    kind: BlockKind
    start: int
    end: int
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class _Lines:
    """The source by lines: line i is the bytes from starts[i] to starts[i + 1]."""

    source: bytes
    starts: tuple[int, ...]

    def content(self, line: int) -> bytes:
        return self.source[self.starts[line] : self.starts[line + 1]]

    def block(self, kind: BlockKind, first: int, after: int) -> Block:
        start = self.starts[first]
        raw = self.source[start : self.starts[after]].rstrip(_WHITE)
        return Block(kind, start, start + len(raw), first + 1, raw.decode())


def parse(source: bytes) -> tuple[Block, ...]:
    """The blocks of a document, in order."""
    _check_document(source)
    marked = len(_BOM) if source.startswith(_BOM) else 0
    lines = _lines_of(source, marked)
    after = _front_matter_end(lines)
    blocks = [lines.block(BlockKind.FRONT_MATTER, 0, after)] if after else []
    blocks += _body_blocks(lines, after)
    return _with_byte_order_mark(source, blocks) if marked else tuple(blocks)


def _check_document(source: bytes) -> None:
    if len(source) > MAX_DOCUMENT_BYTES:
        raise InvalidInputError("document", f"has {len(source)} bytes; at most {MAX_DOCUMENT_BYTES} are taken")
    try:
        source.decode()
    except UnicodeDecodeError as error:
        line = len(_LINE_END.findall(source, 0, error.start)) + 1
        raise InvalidInputError("document", f"is not UTF-8 at byte {error.start} (line {line})") from None


def _lines_of(source: bytes, first: int) -> _Lines:
    starts = [first, *(found.end() for found in _LINE_END.finditer(source, first))]
    if starts[-1] != len(source):
        starts.append(len(source))
    return _Lines(source, tuple(starts))


def _front_matter_end(lines: _Lines) -> int:
    """How many lines the front matter takes; 0 when there is none."""
    count = len(lines.starts) - 1
    if count == 0 or lines.content(0).rstrip(_WHITE) != b"---":
        return 0
    closing = (line for line in range(1, count) if lines.content(line).rstrip(_WHITE) in (b"---", b"..."))
    return next(closing, -1) + 1


def _body_blocks(lines: _Lines, first: int) -> Iterator[Block]:
    line = first
    for kind, begin, after in _spans(lines.source[lines.starts[first] :].decode()):
        yield from _definitions(lines, line, begin + first)
        yield lines.block(kind, begin + first, after + first)
        line = after + first
    yield from _definitions(lines, line, len(lines.starts) - 1)


def _spans(body: str) -> Iterator[tuple[BlockKind, int, int]]:
    """Kind, first line and line after of each top-level block the parser reports."""
    from markdown_it.token import Token

    tokens: list[Token] = []
    parser = _parser()
    parser.block.parse(_LINE_END_TEXT.sub("\n", body).replace("\0", "\ufffd"), parser, {}, tokens)
    for token in tokens:
        level = 1 if token.type == "list_item_open" else 0
        if token.level == level and token.map is not None and (kind := _KIND_OF_TOKEN.get(token.type)):
            yield kind, token.map[0], token.map[1]


def _definitions(lines: _Lines, first: int, after: int) -> Iterator[Block]:
    """What the parser consumed without a token: link reference definitions, one block per run of lines."""
    begin: int | None = None
    for line in range(first, after):
        if lines.content(line).strip(_WHITE):
            begin = line if begin is None else begin
        elif begin is not None:
            yield lines.block(BlockKind.REFERENCE, begin, line)
            begin = None
    if begin is not None:
        yield lines.block(BlockKind.REFERENCE, begin, after)


def _with_byte_order_mark(source: bytes, blocks: list[Block]) -> tuple[Block, ...]:
    if not blocks:
        return (Block(BlockKind.PARAGRAPH, 0, len(_BOM), 1, _BOM.decode()),)
    # Blank lines between the mark and the first block join it: a mark alone would be a block that says nothing.
    head = blocks[0]
    text = source[: head.end].decode()
    return (Block(head.kind, 0, head.end, 1, text), *blocks[1:])


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"maxNesting": MAX_DEPTH * 4})
    parser.block.ruler.before("code", "depth", _read_deep_text_as_paragraph)
    return parser


def _read_deep_text_as_paragraph(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """Bounds the recursion. The parser's own bound gives all the rest of the document to the deepest item."""
    if silent or state.level < MAX_DEPTH:
        return False
    from markdown_it.rules_block import paragraph

    return paragraph(state, start_line, end_line, False)
