"""What a model's summary says that nobody said.

Exact things cannot be put in other words, so those of a summary must be in its sources: identifiers, paths, addresses,
numbers and dates, the targets of links, and markup. A figure counts as the same with another grouping of its digits or
another unit, a date with its parts in another order or fewer of them, a small number written out, a word in the plural.

Law: linear in the sources; a summary is short. What passes may still be false: a denial turned around, a name, a claim
made of the sources' own words cannot be told from the truth this way.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable

from libravdb_memory.compact.shapes import MONTHS
from libravdb_memory.compact.spans import Kind, Span, folded, holds, spans
from libravdb_memory.compact.views import speaks_for

PINNED = "pinned:"
"""How the line of pinned facts begins that a certificate adds to a summary."""
_LIKE_PINS = re.compile(rf"[\W\d_]*{PINNED[:-1]}[^\w:]{{0,8}}[:\u2236\ua789\u02d0]")
"""A line that reads like it, whatever stands around the word, in the form that makes wide letters and colons plain."""
_EXACT: dict[Kind, str] = {
    "identifier": "an identifier",
    "path": "a path",
    "url": "an address",
    "date": "a date",
    "number": "a number",
}
_LINK = re.compile(r"\]\s{0,3}[(:]\s{0,3}<?([^\s<>)]{1,500})")
_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,200}>")
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
_BETWEEN_PARTS = re.compile(r"(?<=\d)(?:st|nd|rd|th)\b|\bof\b|[\s.,/-]+")
_WORD = re.compile(r"[^\W\d_]{4,}")
_SMALL = "nil one two three four five six seven eight nine ten eleven twelve".split()
_LEAST_STEM = 4


def ungrounded(summary: str, sources: Iterable[str], names: Collection[str]) -> str:
    """Why a summary cannot stand for its sources; empty when nothing speaks against it. `names` are of those who take
    part. Nothing of the summary is shown in the reason."""
    if any(_LIKE_PINS.match(unicodedata.normalize("NFKC", line).casefold()) for line in summary.splitlines()):
        return "it writes like a list of pinned facts"
    if any(speaks_for(line, names) for line in summary.splitlines()):
        return "it speaks as somebody who takes part"
    said = _Said("\n".join(sources))
    if any(not holds(said.folded, folded(found[1])) for found in _LINK.finditer(summary)):
        return "it links to what no turn names"
    if any(folded(found.group()) not in said.folded for found in _TAG.finditer(summary)):
        return "it holds markup that no turn holds"
    unknown = next((span for span in spans(summary) if span.kind in _EXACT and not said.holds(span)), None)
    return f"it names {_EXACT[unknown.kind]} that no turn names" if unknown is not None else ""


class _Said:
    """What the sources say, in the forms in which it is compared."""

    def __init__(self, text: str) -> None:
        self.folded = folded(text)
        found = spans(text)
        self._keys = {span.key for span in found}
        self._figures = {_plain(figure) for figure in _FIGURE.findall(self.folded)}
        self._figures |= {str(number) for number, word in enumerate(_SMALL) if holds(self.folded, word)}
        self._dates = [_date(span.text) for span in found if span.kind == "date"]
        self._words = {word.group() for word in _WORD.finditer(self.folded)}

    def holds(self, span: Span) -> bool:
        text = folded(span.text)
        if span.key in self._keys or any(holds(self.folded, form) for form in (text, text.removesuffix("s"))):
            return True
        if span.kind == "number":
            return all(_plain(figure) in self._figures for figure in _FIGURE.findall(text))
        if span.kind == "date":
            return bool(parts := _date(span.text)) and any(parts <= date for date in self._dates)
        return span.kind == "identifier" and text.isalpha() and self._is_like_a_word(text)

    def _is_like_a_word(self, name: str) -> bool:
        """ "PostgreSQL" for "postgres"; names of things are spelt in many ways."""
        return any(name[:length] in self._words for length in range(_LEAST_STEM, len(name)))


def _plain(figure: str) -> str:
    """Without the grouping of its digits and zeros in front."""
    return re.sub(r",(?=\d{3}(?!\d))", "", figure).lstrip("0") or "0"


def _date(text: str) -> frozenset[str]:
    """Its figures, with months as theirs; nothing for what is no date of the calendar."""
    words = [word for word in _BETWEEN_PARTS.split(folded(text)) if word]
    parts = [str(MONTHS[word]) if word in MONTHS else word for word in words]
    return frozenset(part.lstrip("0") for part in parts) if all(map(str.isdigit, parts)) else frozenset()
