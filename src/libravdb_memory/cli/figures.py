"""Small pictures for people, measured in the cells of a terminal: bars, and texts cut to fit.

Law: what `clip` returns is at most as wide as asked and holds no control character.
"""

from __future__ import annotations

import unicodedata

from libravdb_memory.cli.render import harmless

BAR_CELLS = 24
_ELLIPSIS = "…"


def bar(part: float, whole: float, cells: int = BAR_CELLS) -> str:
    """A share of a whole; whatever is more than nothing shows."""
    share = min(max(part / whole, 0.0), 1.0) if whole > 0 else float(part > 0)
    filled = max(round(share * cells), 1 if part > 0 else 0)
    return "█" * filled + "░" * (cells - filled)


def clip(text: str, cells: int) -> str:
    """The first words of a text, on one line."""
    line = " ".join(harmless(text).split())
    if width_of(line) <= cells:
        return line
    kept, room = "", cells - len(_ELLIPSIS)
    for char in line:
        room -= width_of(char)
        if room < 0:
            break
        kept += char
    return kept.rstrip() + _ELLIPSIS


def width_of(text: str) -> int:
    return len(text) if text.isascii() else sum(map(_cells, text))


def _cells(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
