"""How much a sentence says, by its words alone: facts, decisions, denials; and how well it reads.

    salience = min(sum of the weights of its facts and cues / 3, 1)
    readability = (share of letters and spaces - .5) / .35, within [0, 1], less for fewer than twelve of them

Law: both in [0, 1]; salience is 0 for a sentence without any of them, readability 1 for plain prose and near 0 for a
line of code or of a table.
"""

from __future__ import annotations

import re

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


def salience(sentence: str) -> float:
    told = {(span.kind, span.key): span for span in spans(sentence)}
    weight = sum(_FACT[span.kind] for span in told.values()) + sum(
        worth for worth, cue in _CUES if cue.search(sentence)
    )
    return min(weight / FULL, 1.0)


def readability(sentence: str) -> float:
    plain = sum(character.isalpha() or character.isspace() for character in sentence)
    share = plain / len(sentence) if sentence else 0.0
    return min(max((share - _UNREADABLE) / (_READABLE - _UNREADABLE), 0.0), 1.0) * min(plain / _SHORT, 1.0)
