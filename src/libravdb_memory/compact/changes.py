"""What a later sentence takes back of an earlier one.

A sentence with a sign of change ("instead", "no longer", "change of plan") tells what holds now. A sentence before it
that speaks of the same is out of date: it shares half of the words of either that tell something, two rare words, or a
direction in the space of vectors; with fewer in common it is so in part.

    sign = 1 for a change, .5 for a decision, 0 for neither and for a question
    sameness = min(max(shared / words of the shorter, .3·rare words shared) / .5, 1), 0 below .6; 1 for like vectors
    outdated = the greatest sign · sameness of the sentences of later turns; taken back = the same of earlier ones

Laws: nothing is taken back by an earlier sentence or by one of the same turn; no more than the last `MOST_CHANGES`
signs are followed up, so that the work is linear.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from libravdb_memory.compact.salience import content_words, words

if TYPE_CHECKING:
    from libravdb_memory.compact.preserve import Floats

MOST_CHANGES = 64
SAME_WORDS, SAME_DIRECTION, ONE_RARE, LEAST_SAME = 0.5, 0.6, 0.3, 0.3
_RARE = 3
"""Sentences that may hold a rare word."""
_BARE = 4
"""Content words up to which a sign alone is meant for the sentence behind it: "Forget that. We take …"."""
_QUESTION = ("?", "？", "؟")
_REMEMBERED = 4096
"""Sentences that are not looked at again: they are judged for a summary and again for the rules they may take back."""

_CHANGE = re.compile(
    r"\b(?:change of plans?|plans? (?:have |has )?changed|changed? (?:my|our|his|her|their|your) minds?|chang(?:ed|es)|"
    r"scra(?:tch|p) (?:that|it|this)|forget (?:that|it|about|what|the)|never ?mind|on second thoughts?|correction|"
    r"new plan|(?:take|took) (?:it|that) back|no longer|any ?more|instead|rather than|replac(?:e|es|ed|ing)|"
    r"switch(?:ed|es|ing)?|moved|postponed|rescheduled|renamed?|revert(?:ed)?|roll(?:ed)? back|supersed(?:ed|es)|"
    r"moves? to|(?:is|are) gone|"
    r"obsolete|outdated|deprecated|cancell?ed|drop(?:ped|ping|s)?|abandon(?:ed)?|"
    r"(?:like|need|want) to change|stop(?:ped|ping)? using|off the table|(?:was|were|is) wrong|"
    r"turn(?:s|ed) out|end(?:ed)? up|as of (?:today|now|this)|from now on|update:|becomes?|became|"
    r"(?:steps?|stepped) in|(?:takes|took) over|rais(?:e|ed)|lower(?:ed)?|increas(?:e|ed)|reduc(?:e|ed)|"
    r"it(?:'s| is) now|(?:is|are) now|"
    r"planänderung|statt(?:dessen)?|nicht mehr|sondern|verschoben|geändert|ersetzt|umgestellt|korrektur|ab sofort|"
    r"doch (?:nicht|lieber|noch)|jetzt doch|"
    r"finalement|changement de (?:plan|programme)|au lieu d|plutôt que|remplac\w{1,6}|déplacé\w?|reporté\w?|désormais|"
    r"cambio de planes?|en (?:lugar|vez) de|ya no|al final|cambiamos|sustitu\w{2,6}|reemplaz\w{1,6}|corrección|"
    r"cambio di programma|invece|al posto d|sostituit\w|spostat\w|non più|"
    r"mudança de planos?|em (?:vez|lugar) de|mudamos|substitu\w{2,6}|adiad\w|"
    r"передумал\w?|вместо|больше не|теперь|перенес\w{0,4}|заменил\w?|меняем|поправка|отменя\w{1,4})\b"
    r"|改用|改为|改成|改為|有变|不再|而不是|取消|换成|変更|代わりに|ではなく|に変え|대신|변경|바꾸|더 이상|취소",
    re.I,
)
_DECISION = re.compile(
    r"\b(?:actually|decided?|decision|agreed?|chose|settled on|go(?:ing)? with|we(?:'ll| will)|only|now|"
    r"entschieden|beschlossen|décidé|decidimos|deciso|решили)\b|决定|決め",
    re.I,
)


def changes(texts: Sequence[str], turns: Sequence[int], content: Sequence[Collection[str]]) -> Floats:
    """How much each sentence is a change, by its signs."""
    found = np.array([_sign(text) for text in texts])
    for place in range(len(texts) - 1):
        after = place + 1
        if found[place] == 1.0 and turns[place] == turns[after] and len(content[place]) <= _BARE:
            found[after] = 0.0 if texts[after].rstrip().endswith(_QUESTION) else 1.0
    return found


def topics(texts: Sequence[str], content: Sequence[frozenset[str]]) -> list[frozenset[str]]:
    """The content words of sentences without those that are signs themselves."""
    return [own - _signs_of(text) for text, own in zip(texts, content, strict=True)]


def outdated(
    signs: Floats,
    turns: Sequence[int],
    topics: Sequence[frozenset[str]],
    rows: Floats | None,
    reach: Sequence[int] | None = None,
) -> tuple[Floats, Floats]:
    """How much each sentence is out of date, and how much each takes back. `reach` is the turn from which on a sentence
    takes nothing back, where that is not its own."""
    old, taken, order = np.zeros(len(turns)), np.zeros(len(turns)), np.array(turns)
    until = order if reach is None else np.array(reach)
    index = _Index(topics)
    for number in map(int, np.flatnonzero(signs)[-MOST_CHANGES:]):
        goes_on = number > 0 and turns[number - 1] == turns[number] and signs[number - 1] > 0.0
        same = index.sameness(topics[number] | topics[number - 1] if goes_on else topics[number])
        if rows is not None:
            same = np.maximum(same, rows @ rows[number] >= SAME_DIRECTION)
        strength = signs[number] * np.where(order < until[number], same, 0.0)
        old = np.maximum(old, strength)
        taken[number] = strength.max(initial=0.0)
    return old, taken


class _Index:
    """Which sentences hold a word."""

    def __init__(self, topics: Sequence[frozenset[str]]) -> None:
        self._sizes = np.array([max(len(topic), 1) for topic in topics])
        self._holders: dict[str, list[int]] = {}
        for number, topic in enumerate(topics):
            for word in topic:
                self._holders.setdefault(word, []).append(number)

    def sameness(self, topic: frozenset[str]) -> Floats:
        shared, rare = np.zeros(len(self._sizes)), np.zeros(len(self._sizes))
        for word in topic:
            holders = self._holders[word]
            shared[holders] += 1.0
            if len(holders) <= _RARE:
                rare[holders] += 1.0
        same = np.maximum(shared / np.minimum(self._sizes, max(len(topic), 1)), rare * ONE_RARE)
        found: Floats = np.where(same >= LEAST_SAME, np.minimum(same / SAME_WORDS, 1.0), 0.0)
        return found


@lru_cache(_REMEMBERED)
def _signs_of(text: str) -> frozenset[str]:
    said = (found.group() for cue in (_CHANGE, _DECISION) for found in cue.finditer(text))
    return frozenset(word for sign in said for word in content_words(words(sign)))


@lru_cache(_REMEMBERED)
def _sign(text: str) -> float:
    if text.rstrip().endswith(_QUESTION):
        return 0.0
    return 1.0 if _CHANGE.search(text) else 0.5 if _DECISION.search(text) else 0.0
