"""Whether a text says the same again and again, as a model does that is caught in a loop.

    a sentence of `FEWEST_IN_SENTENCE` words or more stands there twice
    or there are `FEWEST_WORDS` words or more, and of their runs of three a share of less than `LEAST_NEW` is different

A sign of a script that is written without spaces counts as half a word.

Law: linear in the text. Capitals, what stands between words, and the numbers of list items make no difference.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from libravdb_memory.compact.sentences import sentences

FEWEST_IN_SENTENCE = 4
FEWEST_WORDS = 12
LEAST_NEW = 0.5
_RUN = 3

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd"
)
_SIGN = re.compile(f"[{_UNSPACED}]")
_WORD = re.compile(rf"{_SIGN.pattern}|[^\W{_UNSPACED}]+")
_NUMBERED = re.compile(r"\W*\d{1,3}[.)]\s")


def repeats(text: str) -> bool:
    seen: set[tuple[str, ...]] = set()
    said: list[str] = []
    for sentence in sentences(text):
        numbered = _NUMBERED.match(sentence)
        words = _words(sentence[numbered.end() :] if numbered else sentence)
        said += words
        if len(words) >= FEWEST_IN_SENTENCE * _signs_to_a_word(words):
            if tuple(words) in seen:
                return True
            seen.add(tuple(words))
    return _says_little_new(said)


def _says_little_new(words: Sequence[str]) -> bool:
    signs = _signs_to_a_word(words)
    if len(words) < FEWEST_WORDS * signs:
        return False
    runs = list(zip(*(words[start:] for start in range(_RUN * signs)), strict=False))
    return len(set(runs)) < LEAST_NEW * len(runs)


def _signs_to_a_word(words: Sequence[str]) -> int:
    return 2 if 2 * sum(_SIGN.match(word) is not None for word in words) > len(words) else 1


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
