"""What a summariser gets to see: code blocks, embedded files and long runs of letters that mean nothing, as short
markers. Storage keeps the truth.

Laws: linear in the text; doing it twice changes nothing more; a text without any of these comes back as it is.
"""

from __future__ import annotations

import re

from libravdb_memory.wording import counted

LONGEST_FENCE = 400
"""Characters up to which a code block is left in place."""

_FENCE = re.compile(r"^[ ]{0,3}(?P<mark>`{3,}|~{3,})[ \t]*(?P<language>[^\s`]{0,30})[^\n`]*$", re.M)
_DATA_URI = re.compile(r"\bdata:(?P<kind>[\w.+-]{1,40}/[\w.+-]{1,60})?(?:;[\w=.+-]{1,60}){0,4},[\w+/=%.~!*'()-]{32,}")
_HEX = re.compile(r"(?<![0-9A-Za-z])(?:0x)?[0-9a-fA-F]{48,}(?![0-9A-Za-z])")
_HEX_PAIRS = re.compile(r"(?<![0-9A-Za-z])[0-9a-fA-F]{2}(?:[ :][0-9a-fA-F]{2}){23,}(?![0-9A-Za-z])")
_LETTERS = "A-Za-z0-9+/_-"
_BASE64 = re.compile(
    rf"(?<![{_LETTERS}])[{_LETTERS}]{{64,}}(?:\r?\n[{_LETTERS}]{{60,}})*(?:\r?\n[{_LETTERS}]+={{1,2}}(?=\s|$))?={{0,2}}"
)
_RARE = re.compile("[/_-]")
_LEAST_PIECE = 16
"""Encoded bytes hold a slash or a dash every thirty letters or so; paths and long names far more often."""


def sanitise(text: str) -> str:
    """The summariser's view of a text."""
    text = _without_long_fences(text)
    text = _DATA_URI.sub(_data_marker, text)
    text = _HEX_PAIRS.sub(_hex_pairs_marker, text)
    text = _HEX.sub(_hex_marker, text)
    return _BASE64.sub(_base64_marker, text)


def _without_long_fences(text: str) -> str:
    """A fence that nobody closes reaches to the end."""
    parts: list[str] = []
    position = 0
    opened: re.Match[str] | None = None
    for line in _FENCE.finditer(text):
        if opened is None:
            opened = line
        elif _closes(line, opened):
            parts += [text[position : opened.start()], _fence_or_marker(text, opened, line.end(), closed=True)]
            position, opened = line.end(), None
    if opened is not None:
        parts += [text[position : opened.start()], _fence_or_marker(text, opened, len(text), closed=False)]
        position = len(text)
    return "".join((*parts, text[position:]))


def _closes(line: re.Match[str], opened: re.Match[str]) -> bool:
    mark, wanted = line["mark"], opened["mark"]
    return mark[0] == wanted[0] and len(mark) >= len(wanted) and line.group().strip() == mark


def _fence_or_marker(text: str, opened: re.Match[str], end: int, *, closed: bool) -> str:
    block = text[opened.start() : end]
    if len(block) <= LONGEST_FENCE:
        return block
    lines = max(block.rstrip("\n").count("\n") - closed, 1)
    language = opened["language"]
    return f"[code: {f'{language}, ' if language else ''}{counted(lines, 'line')}]"


def _data_marker(found: re.Match[str]) -> str:
    return f"[data: {found['kind'] or 'text/plain'}, {counted(len(found.group()), 'character')}]"


def _hex_marker(found: re.Match[str]) -> str:
    digits = found.group().removeprefix("0x")
    return f"[hex: {counted(len(digits), 'digit')}]" if not digits.isdigit() else found.group()


def _hex_pairs_marker(found: re.Match[str]) -> str:
    """Pairs of decimal digits alone are numbers of somebody's."""
    return f"[hex: {counted((len(found.group()) + 1) // 3, 'byte')}]" if _has_letter(found.group()) else found.group()


def _base64_marker(found: re.Match[str]) -> str:
    run = found.group()
    mixed = any(map(str.isupper, run)) and any(map(str.islower, run)) and any(map(str.isdigit, run))
    if not mixed or len(_RARE.findall(run)) * _LEAST_PIECE > len(run):
        return run
    return f"[base64: {counted(len(run), 'character')}]"


def _has_letter(text: str) -> bool:
    return any(character.isalpha() for character in text)
