"""Clauses of a sentence: people who chat put a rule between a story and a question, with commas alone around it.

Laws: clauses are ordered and disjoint, lie inside their sentence and leave out only white space; each has at least
`FEWEST` words unless it is the whole sentence; linear in the text. A comma inside a list makes no clause.
"""

from __future__ import annotations

import re

from libravdb_memory.compact.sentences import Span

FEWEST = 4
_CUT = re.compile(
    r"(?:[,;:—]|\s[-–](?=\s)|\s(?=(?:btw|fyi|oh and|oh,|also|ps|plus|(?:and|but|so) please|just so you know)\b))\s*",
    re.I,
)
_WORD = re.compile(r"\w+(?:['’]\w+)?")


def clause_spans(text: str, sentence: Span) -> tuple[Span, ...]:
    """
    >>> said = "we fly on friday, and keep sesame out of whatever you suggest"
    >>> [said[slice(*span)] for span in clause_spans(said, (0, len(said)))]
    ['we fly on friday,', 'and keep sesame out of whatever you suggest']
    """
    at, end = sentence
    words = [found.start() for found in _WORD.finditer(text, at, end)]
    cuts = [found.end() for found in _CUT.finditer(text, at, end)]
    spans: list[Span] = []
    passed = 0
    counted = 0  # words before the last cut taken
    for cut in cuts:
        while passed < len(words) and words[passed] < cut:
            passed += 1
        if passed - counted >= FEWEST and len(words) - passed >= FEWEST:
            spans.append(_bare(text, at, cut))
            at, counted = cut, passed
    return (*spans, _bare(text, at, end))


def _bare(text: str, start: int, end: int) -> Span:
    said = text[start:end]
    return start + len(said) - len(said.lstrip()), start + len(said.rstrip())
