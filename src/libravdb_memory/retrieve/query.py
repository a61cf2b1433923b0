"""A question as the text index takes it.

Law: every word that can tell records apart survives; identifiers (paths, codes, dotted and dashed names) are kept
whole as phrases beside their parts, so that an exact mention outranks scattered words. Text is data: no character of
it means anything to the index.
"""

from __future__ import annotations

import re
from typing import TypeAlias

Phrase: TypeAlias = tuple[str, ...]

MAX_PHRASES = 64
LONGEST_PHRASE = 32
"""Words. What a phrase costs grows with its words times the places at which each stands in the index, so that a pasted
file without spaces would take gigabytes."""
_LONGEST_CLAUSE = 200
"""Characters that are read of a run in a script without spaces, where every pair of them is looked for."""

_WORDS = re.compile(r"[^\W_]+")
EDGES = "\"'`()[]{}<>,;:!?.…“”‘’«»*_~|"

# Function words of English questions and chat. They carry no topic, and stand in so many turns that a match on them
# only adds noise. Negations and modals that change meaning are not needed for finding, only for reading.
STOP_WORDS = frozenset(
    """
    a about after again all also am an and any are as at be because been before being but by can could did do does
    doing don down during each few for from further get got had has have having he her here hers him his how i if in
    into is it its itself just ll me more most my myself no nor not now of off on once only or other our ours out over
    own re s same she should so some such t tell than that the their theirs them then there these they this those
    through to too under until up us ve very was we were what when where which while who whom whose why will with would
    you your yours
    """.split()
)


def keyword_share(question: str, text: str) -> float:
    """M: the share of a question's keywords that a text holds."""
    keywords = {word for phrase in phrases_of(question) for word in phrase} - STOP_WORDS
    return len(keywords & set(_WORDS.findall(text.lower()))) / len(keywords) if keywords else 0.0


def phrases_of(question: str) -> tuple[Phrase, ...]:
    """The phrases to look for, without repeats, in order of appearance, at most MAX_PHRASES of them.

    A question made of stop words alone keeps them: something is better than nothing.
    """
    chunks = [_words_of(chunk) for chunk in question.split()]
    found: dict[Phrase, None] = {}
    for words in filter(None, chunks):
        if len(words) > 1:
            found[words[:LONGEST_PHRASE]] = None
        found.update({(word,): None for word in words if word not in STOP_WORDS})
    if not found:
        found = {(word,): None for words in chunks for word in words}
    return tuple(found)[:MAX_PHRASES]


def _words_of(chunk: str) -> Phrase:
    words: list[str] = _WORDS.findall(chunk.strip(EDGES).lower())
    return tuple(word if word.isascii() else word[:_LONGEST_CLAUSE] for word in words)
