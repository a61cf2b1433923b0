"""What is told of the answer of an endpoint that refuses.

Laws:

1. Nothing that was sent is told from an answer. Servers repeat what they were asked, whole, cut or escaped, and what is
   told goes into logs and to other users, where erasing a turn does not reach it.
2. Of an answer only its own words are told: those in the usual places of an error in JSON, or a short plain text, on
   one line of at most `MOST_SHOWN` characters, without what cannot be seen. Of everything else only the size and kind.

Words repeat what was sent when they share a run of `_RUN` bytes with it, a short line of it, or a figure; a rule of
thumb that would rather say nothing. The name of the model may be told: who set it up knows it.
"""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast
from urllib.parse import unquote_plus

MOST_SHOWN = 200
_MOST_READ = 1 << 16
_RUN, _RUN_OF_A_KEY = 16, 12
_SHORT_LINE = 6
_FIGURE = re.compile(r"\b(?=[^\W\d_]*\d)\w{4,}")
"""Words with a digit in them: numbers and codes tell much in few characters."""
_NO_TEXT = frozenset({"model", "role"})
_PLACES = ("error", "message", "detail")
_ESCAPE_SEQUENCE = re.compile(
    r"\x1b(?:\][^\x07\x1b]{0,500}(?:\x07|\x1b\\)?|\[[0-?]{0,50}[ -/]{0,9}[@-~]?|.)|\x9b[^@-~]{0,50}."
)
_UNUSUAL = re.compile(r"[^ -~]")
_ESCAPED = re.compile(r"\\(?:u\{?([0-9a-fA-F]{4,6})\}?|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_TIMES_ESCAPED = 3
_BETWEEN_WORDS = re.compile(r"[\W_]+")
_MARKUP = re.compile(r"<[A-Za-z/!?]")
_KIND = re.compile(r"[a-z]{1,20}/[a-z0-9.+-]{1,60}")
_HIDDEN = "|"
"""In the place of a name; no folded text holds it."""


def words_of(answer: bytes, content_type: str, sent: Sent) -> str:
    """What to say behind the status of a refusal; nothing about an empty answer."""
    if not answer.strip():
        return ""
    if own := _own_words(answer):
        shown = sent.without_key(in_one_line(own))[: 2 * MOST_SHOWN]
        return "; its answer repeats what was sent" if sent.is_in(shown) else f": {shown[:MOST_SHOWN]}"
    return f"; its answer is not shown ({len(answer):,} bytes of {sent.kind(content_type)})"


@dataclass(frozen=True)
class Sent:
    """A request, to look for it in its answer."""

    body: object
    key: str = ""

    def without_key(self, text: str) -> str:
        return text.replace(self.key, "…") if self.key else text

    def kind(self, content_type: str) -> str:
        """The media type that an answer claims, where that is one."""
        kind = content_type.split(";")[0].strip().lower()
        return kind if _KIND.fullmatch(kind) and not self.is_in(kind) else "another kind"

    def is_in(self, told: str) -> bool:
        return any(self._is_in(_folded(form)) for form in _forms(told))

    def _is_in(self, told: str) -> bool:
        if self._model:
            told = f" {told} ".replace(f" {self._model} ", f" {_HIDDEN} ").strip()
        if any(run in told.encode() for run in _runs(_folded(self.key), _RUN_OF_A_KEY)):
            return True
        if any(run in self._texts for run in _runs(told, _RUN)):
            return True
        return any(line in told for line in self._short_lines) or not self._figures.isdisjoint(_FIGURE.findall(told))

    @cached_property
    def _model(self) -> str:
        name = cast("dict[str, object]", self.body).get("model") if isinstance(self.body, dict) else None
        return _folded(name) if isinstance(name, str) else ""

    @cached_property
    def _texts(self) -> bytes:
        return "\n".join(map(_folded, _strings(self.body))).encode()

    @cached_property
    def _short_lines(self) -> frozenset[str]:
        """Each also without who speaks."""
        lines = (line for text in _strings(self.body) for line in text.splitlines() if len(line) < 4 * _RUN)
        said = (_folded(part) for line in lines for part in (line, line.partition(": ")[2]))
        return frozenset(part for part in said if _SHORT_LINE <= len(part.encode()) < _RUN)

    @cached_property
    def _figures(self) -> frozenset[str]:
        return frozenset(_FIGURE.findall(self._texts.decode()))


def in_one_line(text: str) -> str:
    """Without escape sequences and whatever else is not seen."""
    bare = _ESCAPE_SEQUENCE.sub("", text)
    return " ".join(_UNUSUAL.sub(_seen, bare).split())


def _seen(found: re.Match[str]) -> str:
    kind = unicodedata.category(found.group())
    if kind == "Cf":
        return ""
    return " " if kind[0] == "C" or kind in ("Zl", "Zp") else found.group()


def _own_words(answer: bytes) -> str:
    """Empty where there are none to be told."""
    if len(answer) > _MOST_READ:
        return ""
    try:
        text = answer.decode().strip()
    except UnicodeDecodeError:
        return ""
    if text.startswith(("{", "[", '"')):
        return _error_in(text)
    return "" if len(text) > MOST_SHOWN or _MARKUP.search(text) else text


def _error_in(text: str) -> str:
    try:
        found: Any = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(found, dict):
        return ""
    fields = cast("dict[str, object]", found)
    if isinstance(inner := fields.get("error"), dict):
        fields = {"message": cast("dict[str, object]", inner).get("message")}
    return next((said for place in _PLACES if isinstance(said := fields.get(place), str) and said.strip()), "")


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, inner in cast("dict[object, object]", value).items():
            if name not in _NO_TEXT:
                yield from _strings(inner)
    elif isinstance(value, list | tuple):
        for inner in cast("list[object]", value):
            yield from _strings(inner)


def _folded(text: str) -> str:
    """Its letters and digits, whatever stands between words."""
    return _BETWEEN_WORDS.sub(" ", unicodedata.normalize("NFKC", in_one_line(text)).casefold()).strip()


def _runs(text: str, length: int) -> Iterator[bytes]:
    """In bytes, since a letter tells more where there are many. A shorter text is a run itself."""
    raw = text.encode()
    if raw:
        yield from (raw[start : start + length] for start in range(max(len(raw) - length, 0) + 1))


def _forms(text: str) -> Iterator[str]:
    """As it is, and with one layer after the other of what hides its letters undone."""
    yield text
    for _ in range(_TIMES_ESCAPED):
        bare = unquote_plus(html.unescape(_ESCAPED.sub(_unescaped, text)))
        if bare == text:
            return
        yield (text := bare)


def _unescaped(found: re.Match[str]) -> str:
    code, letter = found.group(1) or found.group(2), found.group(3)
    if code:
        return chr(min(int(code, 16), 0x10FFFF))
    return " " if letter in "nrtbfv0" else letter
