"""Recall-loop immunity: text that memory put into a prompt is not new when it comes back.

What was injected is remembered as hashes of its runs of SHINGLE words; a later turn loses every passage made of such
runs that is worth at least PASSAGE words. Only words count, folded: case, line breaks, quotation marks, bullets and
tags do not. Laws:

1. Text sharing no run with what was injected is returned unchanged, the same object.
2. Every word outside the recognised passages survives, in order.
3. A fingerprint is the same on every machine, and holds at most MAX_SHINGLES hashes of 63 bits.

A passage shorter than PASSAGE words is left alone: people do say the same short things again. A character of an
unspaced script (Chinese, Japanese, Korean, Thai) counts as half a word.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Set as AbstractSet
from typing import TypeAlias

Fingerprint: TypeAlias = frozenset[int]

SHINGLE = 5
PASSAGE = 8
MAX_SHINGLES = 8192

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_A_TAG = r"</?[A-Za-z][^<>\n]{0,200}>"
_TAG = re.compile(_A_TAG)
_WORD = re.compile(rf"({_A_TAG})|[{_UNSPACED}]|(?:(?![{_UNSPACED}])[^\W_])++")
_OPENING = " \t\r\n\"'`“‘«‹„([{>*-–—•|#"
_CLOSING = " \t\r\n\"'`”’»›)]}.,;:!?…。！？、"


def fingerprint(text: str) -> Fingerprint:
    """Of what memory injected; join several with `|`. Text beyond MAX_SHINGLES runs is not remembered."""
    words = [_folded(text[start:end]) for start, end in _words(text)]
    return frozenset(_shingles(words[: MAX_SHINGLES + SHINGLE - 1]))


def strip_echo(text: str, known: AbstractSet[int]) -> str:
    """`text` without the passages that memory had injected."""
    if not known:
        return text
    spans = _words(text)
    words = [_folded(text[start:end]) for start, end in spans]
    echoed = _echoed(words, [shingle in known for shingle in _shingles(words)])
    if not any(echoed):
        return text
    return _without(text, spans, echoed)


def says_enough(rest: str) -> bool:
    """Whether what is left of a turn after its echoes is worth a passage of its own."""
    return sum(_worth(rest[start:end]) for start, end in _words(rest)) >= PASSAGE


def _words(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in _WORD.finditer(text) if match[1] is None]


def _folded(word: str) -> str:
    return unicodedata.normalize("NFKC", word).casefold()


def _shingles(words: list[str]) -> list[int]:
    return [_hash(" ".join(words[i : i + SHINGLE])) for i in range(len(words) - SHINGLE + 1)]


def _hash(run: str) -> int:
    digest = hashlib.blake2b(run.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


def _echoed(words: list[str], matched: list[bool]) -> list[bool]:
    """Which words stand in a recognised passage."""
    covered = [False] * len(words)
    reach = 0
    for i, hit in enumerate(matched):
        if hit:
            for j in range(max(i, reach), i + SHINGLE):
                covered[j] = True
            reach = i + SHINGLE
    start = 0
    while start < len(words):
        end = start + 1
        while end < len(words) and covered[end] == covered[start]:
            end += 1
        if covered[start] and sum(_worth(word) for word in words[start:end]) < PASSAGE:
            covered[start:end] = [False] * (end - start)
        start = end
    return covered


def _worth(word: str) -> float:
    return 0.5 if len(word) == 1 and _is_unspaced(word) else 1.0


def _is_unspaced(letter: str) -> bool:
    return re.match(f"[{_UNSPACED}]", letter) is not None


def _without(text: str, spans: list[tuple[int, int]], echoed: list[bool]) -> str:
    """The words that stay, with the characters between them; those that framed a passage go with it."""
    pieces: list[str] = []
    gap_start, gone_before = 0, False
    for (start, end), gone in zip(spans, echoed, strict=True):
        pieces.append(_gap(text[gap_start:start], gone_before, gone))
        if not gone:
            pieces.append(text[start:end])
        gap_start, gone_before = end, gone
    pieces.append(_gap(text[gap_start:], gone_before, False))
    return "".join(pieces).strip()


def _gap(gap: str, gone_before: bool, gone_after: bool) -> str:
    if gone_before and gone_after:
        return ""
    if gone_before or gone_after:
        gap = _TAG.sub(" ", gap)
        return gap.lstrip(_CLOSING) if gone_before else gap.rstrip(_OPENING) + " "
    return gap
