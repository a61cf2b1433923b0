"""What front matter says: the hop targets, the texts under a key, and whether it can be read at all.

Few keys matter to memory, so this reads the part of YAML that authors write at the head of a file (keys at the
margin, block and flow lists, quoted and plain scalars) instead of the whole language: no tags, no anchors, no object
ever built. Law: reading never fails. Front matter that is not understood has no hop targets and a problem in words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

_KEY = re.compile(
    r"""(?:"(?P<double>[^"\\]*+)"|'(?P<single>[^']*+)'|(?P<plain>[^\s:'"#\-\[\]{},][^:]*+(?::(?=\S)[^:]*+)*+))"""
    r"""[ \t]*+:(?:[ \t]++(?P<value>.*))?\Z"""
)
_ITEM = re.compile(
    r"""\s*+(?:"(?P<double>(?:[^"\\]|\\.)*+)"|'(?P<single>(?:[^']|'')*+)'|(?P<plain>[^\s,"'\[\]{}][^,\[\]{}]*+))?\s*+"""
    r"""(?P<end>,|\Z)""",
    re.S,
)
_MAPPING = re.compile(r"[^\"'\s:][^\s:]*+:(?:\s|\Z)")
_LINE_END = re.compile(r"\r\n?|\n")
_QUOTED = re.compile(r""""(?:[^"\\]|\\.)*+"|'(?:[^']|'')*+'""")
_COMMENT_OR_QUOTED = re.compile(_QUOTED.pattern + r"|(?:^|(?<=[ \t]))#.*")
_ESCAPE = re.compile(r"\\(.)", re.S)
_ESCAPED = {'"': '"', "\\": "\\", "/": "/", "t": "\t", "n": "\n", " ": " "}
_NOT_TEXT = ("[", "{", "|", ">", "&", "*", "!", "%", "@", "`", "- ")
_ABSENT = ("", "~", "null", "Null", "NULL")


class _Unreadable(Exception):
    pass


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """`problem` is empty when everything was read."""

    hop_targets: tuple[str, ...] = ()
    problem: str = ""


@dataclass(slots=True)
class _Entry:
    line: int
    key: str
    value: str
    below: list[str] = field(default_factory=list[str])

    def whole(self) -> str:
        return " ".join([self.value, *(line.strip() for line in self.below)]).strip()


def read_front_matter(text: str) -> FrontMatter:
    """Read a front matter block, its two fences included."""
    try:
        entries = _entries(_LINE_END.split(text)[1:-1])
        targets = _targets(entries["hop_targets"]) if "hop_targets" in entries else ()
        return FrontMatter(hop_targets=tuple(dict.fromkeys(targets)))
    except _Unreadable as problem:
        return FrontMatter(problem=str(problem))


def read_texts(text: str, keys: Iterable[str]) -> tuple[str, ...]:
    """The texts listed under any of these keys, capitals aside; a key that holds something else has none."""
    wanted = {key.lower() for key in keys}
    try:
        entries = _entries(_LINE_END.split(text)[1:-1])
    except _Unreadable:
        return ()
    return tuple(item for key, entry in entries.items() if key.lower() in wanted for item in _readable(entry))


def _readable(entry: _Entry) -> tuple[str, ...]:
    try:
        return tuple(_targets(entry))
    except _Unreadable:
        return ()


def _entries(lines: list[str]) -> dict[str, _Entry]:
    entries: dict[str, _Entry] = {}
    current: _Entry | None = None
    for number, line in enumerate(lines, start=2):
        content = _uncommented(line).rstrip()
        if not content:
            continue
        if current is not None and _continues(current, content):
            current.below.append(content)
            continue
        current = _entry(number, content)
        if current.key in entries:
            raise _Unreadable(f"line {number}: the key {current.key!r} is there twice")
        entries[current.key] = current
    for entry in entries.values():
        _check_closed(entry)
    return entries


def _entry(number: int, content: str) -> _Entry:
    if content[0] == "\t":
        raise _Unreadable(f"line {number}: is indented with a tab")
    found = _KEY.match(content)
    if found is None:
        raise _Unreadable(f"line {number}: is not 'key: value'")
    key = next(name for name in found.group("double", "single", "plain") if name is not None)
    return _Entry(number, key.strip(), (found["value"] or "").strip())


def _continues(entry: _Entry, content: str) -> bool:
    if content[0] == " ":
        return True
    if content == "-" or content.startswith("- "):
        return not entry.value
    return content[0] in "]}," and entry.value[:1] in ("[", "{")


def _check_closed(entry: _Entry) -> None:
    opening = entry.value[:1]
    if opening not in ("[", "{", '"', "'"):
        return
    bare = _QUOTED.sub("", entry.whole())
    balanced = bare.count("[") == bare.count("]") and bare.count("{") == bare.count("}")
    if not balanced or bare[:1] in ('"', "'"):
        raise _Unreadable(f"line {entry.line}: the value of {entry.key!r} is opened and never closed")


def _uncommented(line: str) -> str:
    return _COMMENT_OR_QUOTED.sub(lambda found: "" if found[0][0] == "#" else found[0], line)


def _targets(entry: _Entry) -> Iterator[str]:
    value = entry.whole()
    if not entry.value and value.startswith("-"):
        for line in entry.below:
            yield from _block_item(entry, line.strip())
    elif value.startswith("[") and value.endswith("]"):
        yield from _split(entry, value[1:-1])
    elif value.startswith(_NOT_TEXT):
        raise _Unreadable(f"line {entry.line}: {entry.key!r} is neither a list of texts nor a comma list")
    elif value not in _ABSENT:
        for part in _split(entry, value):
            yield from (name for name in map(str.strip, part.split(",")) if name)


def _block_item(entry: _Entry, line: str) -> Iterator[str]:
    if line != "-" and not line.startswith("- "):
        raise _Unreadable(f"line {entry.line}: {entry.key!r} holds something other than texts")
    item = line[1:].strip()
    if item.startswith(_NOT_TEXT) or _MAPPING.match(item):
        raise _Unreadable(f"line {entry.line}: {entry.key!r} holds something other than texts")
    if item[:1] in ('"', "'"):
        yield from _split(entry, item)
    elif item not in _ABSENT:
        yield item


def _split(entry: _Entry, text: str) -> Iterator[str]:
    """The scalars of a comma-separated text, quotes resolved."""
    position = 0
    while position <= len(text):
        found = _ITEM.match(text, position)
        if found is None:
            raise _Unreadable(f"line {entry.line}: {entry.key!r} cannot be read as texts with commas between them")
        item = _scalar(entry, found)
        if item.strip():
            yield item.strip()
        if not found["end"]:
            return
        position = found.end()


def _scalar(entry: _Entry, found: re.Match[str]) -> str:
    if (quoted := found["double"]) is not None:
        unknown = next((escape for escape in _ESCAPE.findall(quoted) if escape not in _ESCAPED), None)
        if unknown is not None:
            raise _Unreadable(f"line {entry.line}: the escape \\{unknown} is not understood")
        return _ESCAPE.sub(lambda escape: _ESCAPED[escape[1]], quoted)
    if (quoted := found["single"]) is not None:
        return quoted.replace("''", "'")
    plain = (found["plain"] or "").strip()
    return "" if plain in _ABSENT else plain
