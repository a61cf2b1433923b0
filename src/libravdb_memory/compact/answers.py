"""What an answer decides against what was said just before it.

"I'd keep them 7 days." "Make it 30, the auditors asked for a month." Such an answer shares hardly a word with what it
changes, but stands right behind it. So of the sentences of persons those are looked at that carry a sign:

    a sign           "no, …", "make it …", "… it is", "rather …" (see `answer_signs`)
    a weaker sign    "so the …", "hmm, …", "another week", and a change (see `changes`)
    a contrast       "…, not …", "… after all": it counts as a sign of change
    gives way        what is proposed in the turn that is answered; and the nearest sentence before that tells another
                     value of a measure of the answer (7 days, 30 days; 4 May, 11 May), with all that tell the same
    decides = 1 for a sign, unless what is answered only asks for something; for a weaker one where something gives way

Where a turn begins by agreeing ("good, …"), a proposal gives way to a sign alone. The turn that is answered is the last
of another speaker, tools aside; values are looked for in the last `BACK` sentences. What a machine says behind a person
who changed or decided something only says it again, and takes nothing of that back.

Laws: machines decide nothing; nothing gives way to what was said before it or in the same turn; the work is linear.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np

from libravdb_memory.compact import answer_signs
from libravdb_memory.compact.routine import MACHINES, TOOLS
from libravdb_memory.compact.salience import content_words, words
from libravdb_memory.compact.spans import Span, spans

if TYPE_CHECKING:
    from libravdb_memory.compact.preserve import Floats

BACK = 16
SIGN, WEAKER = 1.0, 0.5
_REMEMBERED = 4096
_QUESTION = ("?", "？", "؟")

_PARTS = re.compile(r"\d+|[^\W\d_]{3,}")
_UNIT = re.compile(r"[^\d\s.,_–-]+")
_FIGURE = re.compile(r"\d[\d.,]*")

Value: TypeAlias = tuple[str, frozenset[str]]
"""A measure, and what stands for one value of it."""


class Said(Protocol):
    """A sentence of a talk."""

    @property
    def turn(self) -> int: ...
    @property
    def text(self) -> str: ...
    @property
    def speaker(self) -> str: ...


def answered(said: Sequence[Said], changes: Floats) -> tuple[Floats, Floats]:
    """How much each sentence decides as an answer, and how much each gives way to one. `changes` are their signs of
    change."""
    decides, gives_way = np.zeros(len(said)), np.zeros(len(said))
    signs = {place: sign for place in range(len(said)) if (sign := _sign_at(said, place, float(changes[place])))}
    firsts = {each.turn: place for place, each in reversed(list(enumerate(said)))}
    for place, sign in signs.items():
        before = [number for number in range(max(place - BACK, 0), place) if said[number].turn < said[place].turn]
        answers = _answered_turn(said, before, said[place].speaker)
        proposed = [number for number in answers if _proposes(said[number].text, sign)]
        old = _of_another_value(said, before, said[place].text)
        told = bool(answers) and not said[answers[-1]].text.rstrip().endswith(_QUESTION)
        if proposed or old or (sign == SIGN and told):
            decides[place] = 1.0
        agrees = sign == WEAKER and answer_signs.AGREES.match(_plain(said[firsts[said[place].turn]].text)) is not None
        gives_way[old if agrees else old + proposed] = 1.0
    return decides, gives_way


def echoes(said: Sequence[Said], changes: Floats, decides: Floats) -> list[int]:
    """For each sentence the turn from which on it takes nothing back: its own; but for what a machine says behind a
    person who changed or decided something, the turn of that person, which it only says again."""
    reach: list[int] = []
    decided = -1
    for place, each in enumerate(said):
        machine = each.speaker.casefold() in MACHINES
        if place and not machine and each.turn != said[place - 1].turn:
            decided = -1
        if not machine and max(changes[place], decides[place]) == 1.0:
            decided = each.turn
        reach.append(decided if machine and decided >= 0 else each.turn)
    return reach


def contrasts(each: Said) -> bool:
    """Whether a person says what holds against what does not: "X, not Y", "X after all"."""
    return bool(each.speaker) and each.speaker.casefold() not in MACHINES and _contrasts(each.text)


@lru_cache(_REMEMBERED)
def _contrasts(text: str) -> bool:
    return not text.rstrip().endswith(_QUESTION) and answer_signs.CONTRAST.search(_plain(text)) is not None


def _sign_at(said: Sequence[Said], place: int, change: float) -> float:
    """The sign of a sentence, or of a bare "no" before it."""
    each = said[place]
    if not each.speaker or each.speaker.casefold() in MACHINES:
        return 0.0
    first = place == 0 or said[place - 1].turn != each.turn
    after_no = not first and answer_signs.BARE_NO.match(said[place - 1].text) is not None
    sign = _sign(each.text)
    return 0.0 if sign is None else SIGN if after_no or (sign == SIGN) else max(sign, WEAKER * (change == 1.0))


@lru_cache(_REMEMBERED)
def _sign(text: str) -> float | None:
    """None for what can be no answer: a question, or what says nothing beyond its sign."""
    plain = _plain(text)
    if plain.rstrip().endswith(_QUESTION) or not content_words(words(plain)):
        return None
    if answer_signs.NO.match(plain) or answer_signs.SIGN.search(plain):
        return SIGN
    return WEAKER if answer_signs.WEAKER.search(plain) else 0.0


def _proposes(text: str, sign: float) -> bool:
    plain = _plain(text)
    return answer_signs.PROPOSES.search(plain) is not None or (
        sign == SIGN and answer_signs.INTENDS.search(plain) is not None
    )


def _answered_turn(said: Sequence[Said], before: Sequence[int], speaker: str) -> list[int]:
    """The sentences of the last turn of another speaker, tools aside."""
    others = [number for number in before if said[number].speaker.casefold() not in TOOLS | {speaker.casefold()}]
    return [number for number in others if said[number].turn == said[others[-1]].turn]


def _of_another_value(said: Sequence[Said], before: Sequence[int], answer: str) -> list[int]:
    """The nearest that tells another value of a measure of the answer, and all that tell the same value."""
    old: list[int] = []
    told = [number for number in before if said[number].speaker.casefold() not in TOOLS]
    for measure, value in _values(answer):
        others = [
            (number, other)
            for number in told
            for unit, other in _values(said[number].text)
            if unit == measure and not (other <= value or value <= other)
        ]
        old += [number for number, other in others if other == others[-1][1]]
    return sorted(set(old))


@lru_cache(_REMEMBERED)
def _values(text: str) -> frozenset[Value]:
    return frozenset(value for span in spans(text) if (value := _value(span)) is not None)


def _value(span: Span) -> Value | None:
    """A day or a number with its unit. Months are compared by their names, units as facts are."""
    if span.kind == "date" and any(map(str.isdigit, span.text)):
        parts = frozenset(_PARTS.findall(span.key))
        return ("time" if ":" in span.text else "day"), parts
    if span.kind == "number" and (unit := _UNIT.search(span.key)) and (figure := _FIGURE.search(span.key)):
        return unit.group(), frozenset((figure.group(),))
    return None


def _plain(text: str) -> str:
    return text.replace("’", "'")
