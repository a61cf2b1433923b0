"""How much a sentence says, by its words alone: facts, decisions, denials; how well it reads; whether it tells a thing.

    salience = min(sum of the weights of its facts and cues / 3, 1)
    readability = (share of letters and spaces - .5) / .35, within [0, 1], less for fewer than twelve of them
    statement = √readability · min(words / 6, 1) · min(content words / 5, 1) · manner
    manner = .5 for a question · .45 for a heading or a line that only announces · .6 for a marker
             · .7 for what holds code · .8 for what speaks of the reader · .9 unless somebody speaks of himself

Words do not count pleasantries; content words neither those of `chatter` nor the names of those who take part.

Law: all of them in [0, 1]; salience is 0 for a sentence without any fact or cue, readability 1 for plain prose and near
0 for a line of code or of a table, a statement 0 for what is made of pleasantries alone.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence

from libravdb_memory.compact.chatter import IDLE, PLEASANTRIES
from libravdb_memory.compact.spans import Kind, spans

FULL = 3.0
"""Weight at which a sentence is as telling as can be."""

_FACT: dict[Kind, float] = {
    "identifier": 0.5,
    "path": 0.5,
    "url": 0.3,
    "date": 0.6,
    "number": 0.4,
    "name": 0.4,
    "negation": 0.5,
}
_UNREADABLE, _READABLE = 0.5, 0.85
_SHORT = 12
_CUES = (
    (
        1.0,
        re.compile(
            r"\b(?:decided?|decision|agreed?|chose|going with|we(?:'ll| will)|let's|from now on|must|always|never|"
            r"deadline|prefer|promised?|committed to|approved|entschieden|beschlossen|décidé|decidimos|решили)\b"
            r"|决定|決め",
            re.I,
        ),
    ),
    (
        0.7,
        re.compile(
            r"\b(?:fixed|root cause|because|caused by|turn(?:s|ed) out|set to|raised|lowered|changed|renamed|moved|"
            r"replaced|removed|added|released|deployed|merged|reverted|pinned|instead of|no longer|superseded)\b",
            re.I,
        ),
    ),
)
_FULL_WORDS, _FULL_CONTENT = 6, 5
_WORD = re.compile("[\u3040-\u30ff\u3400-\u9fff]{1,2}|[^\\W_]+")
_TAIL = re.compile(r"['’][^\W_]+")
_ENDING = re.compile(r"(?<=[a-z]{3})(?:ings?|ies|ied|ed|es|s)$")
_HEADING = re.compile(r"\W*#{1,6}\s|\|(?!\|)|\*\*[^*]+\*\*:?$")
_CODE = re.compile(r"\w\([^\s)]|[{};]\s*$|(?:from|import|def|return|const|let|var)\b | \| |==|=>|//|^\$ ")
_MARKER = re.compile(r"\[[^\]]*\]$")
_CLOSERS = " \t\n\"'”’*_)"
_OF_THE_READER = frozenset(("you", "your", "yours"))
_OF_ONESELF = frozenset(
    """
    i we my our ich wir mein meine unser unsere je j nous mon ma mes notre yo nosotros mi nuestro я
    мы мой моя наш наша
    """.split()
)
_OTHER_SIGNS = re.compile(r"[^\w\s]|[\d_]")


def salience(sentence: str) -> float:
    told = {(span.kind, span.key): span for span in spans(sentence)}
    weight = sum(_FACT[span.kind] for span in told.values()) + sum(
        worth for worth, cue in _CUES if cue.search(sentence)
    )
    return min(weight / FULL, 1.0)


def readability(sentence: str) -> float:
    plain = len(sentence) - len(_OTHER_SIGNS.findall(sentence))
    share = plain / len(sentence) if sentence else 0.0
    return min(max((share - _UNREADABLE) / (_READABLE - _UNREADABLE), 0.0), 1.0) * min(plain / _SHORT, 1.0)


def words(text: str) -> list[str]:
    """In lower case, without what follows an apostrophe; two characters are a word in scripts without spaces."""
    return _WORD.findall(_TAIL.sub("", text.lower()))


def content_words(said: Sequence[str], names: Collection[str] = ()) -> frozenset[str]:
    """Of the words of a sentence those that tell something, without their endings."""
    return frozenset(
        _ENDING.sub("", word)
        for word in said
        if word not in IDLE and word not in names and (len(word) > 1 or word.isdigit())
    )


def statement(sentence: str, said: Sequence[str], content: Collection[str]) -> float:
    """`said` are its words, `content` those that tell something."""
    count = sum(word not in PLEASANTRIES for word in said)
    worth = min(count / _FULL_WORDS, 1.0) * min(len(content) / _FULL_CONTENT, 1.0)
    return worth * math.sqrt(readability(sentence)) * _manner(sentence, said) if worth else 0.0


def _manner(sentence: str, said: Sequence[str]) -> float:
    worth = 1.0 if not _OF_ONESELF.isdisjoint(said) else 0.9
    ending = sentence.rstrip(_CLOSERS)[-1:]
    if ending in ("?", "？", "؟"):
        worth *= 0.5
    if ending in (":", "：") or _HEADING.match(sentence):
        worth *= 0.45
    if _MARKER.match(sentence):
        worth *= 0.6
    if _CODE.search(sentence):
        worth *= 0.7
    return worth if _OF_THE_READER.isdisjoint(said) else worth * 0.8
