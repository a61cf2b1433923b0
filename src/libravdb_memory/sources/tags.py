"""The tags of an Obsidian note, and which notes they include.

Tags stand in the front matter (`tags` or `tag`) and in the text (`#project/alpha`), not in code and not in the middle
of a word. Laws: capitals do not matter; a tag includes those nested below it (`project` includes `project/alpha`); a
tag has at least one character that is not a digit, so `#1` is none. Reading never fails and is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from libravdb_memory.ingest.front_matter import read_texts
from libravdb_memory.ingest.markdown import BlockKind, parse

_INLINE = re.compile(r"(?<!\S)#([\w/-]*[^\W\d][\w/-]*)")
_TICKS = re.compile(r"`+")
_NOT_PROSE = frozenset({BlockKind.FRONT_MATTER, BlockKind.CODE, BlockKind.HTML})


def tags_of(note: str) -> frozenset[str]:
    """Every tag of a note, in lower case and without its sign."""
    return frozenset(filter(None, map(normal_tag, _written(note))))


def normal_tag(tag: str) -> str:
    """The one form of a tag that is compared."""
    return tag.strip().lstrip("#").strip("/").casefold()


def includes(wanted: Iterable[str], tags: frozenset[str]) -> bool:
    """Whether one of the wanted tags, or one nested below it, is there. Nothing wanted: everything is included."""
    names = [name for name in map(normal_tag, wanted) if name]
    return not names or any(tag == name or tag.startswith(name + "/") for name in names for tag in tags)


def _written(note: str) -> Iterator[str]:
    for block in parse(note.encode()):
        if block.kind is BlockKind.FRONT_MATTER:
            for text in read_texts(block.text.removeprefix("\ufeff"), ("tags", "tag")):
                yield from text.split()
        elif block.kind not in _NOT_PROSE and "#" in block.text:
            yield from (found[1] for found in _INLINE.finditer(_without_code(block.text)))


def _without_code(text: str) -> str:
    """The text with each span between equal runs of backticks left out."""
    runs = list(_TICKS.finditer(text))
    closing: dict[int, list[int]] = {}
    for index in range(len(runs) - 1, -1, -1):
        closing.setdefault(len(runs[index][0]), []).append(index)
    pieces: list[str] = []
    position = index = 0
    while index < len(runs):
        same = closing[len(runs[index][0])]
        while same and same[-1] <= index:
            same.pop()
        if same:
            pieces += (text[position : runs[index].start()], "`")
            index = same[-1]
            position = runs[index].end()
        index += 1
    return "".join(pieces) + text[position:]
