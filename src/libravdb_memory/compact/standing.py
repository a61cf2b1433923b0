"""Which sentences of a turn state a rule that is meant to hold beyond the task at hand.

The deontic scanner marks every order, for in an authored document an order is a rule. In a conversation most orders are
for the moment ("Run the tests again."). Here its marks are weighed, sentence by sentence:

    standing   words of permanence; prohibitions, permissions and demands on a kind of thing; orders to be or to hold
               ("Prefer …", "Be brief."); habits with a kind of thing as object; a condition that can be met often
    passing    any other order; words of the moment; a pointing finger; questions; somebody else's rule; what if

and likings and customs ("I prefer tabs", "our convention is …"), which order nothing, are found beside them.

Laws: pure, deterministic, linear; spans are sentences of the text, ordered and disjoint; what lies behind the first
`CHARACTERS_READ` characters is not read, nor more than `SENTENCE_READ` of one sentence. When in doubt an order passes
and a prohibition or a liking stands. English is read closely, thirteen other tongues by tables of cues.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal, Protocol, TypeAlias

from libravdb_memory.compact import standing_signs as signs
from libravdb_memory.compact.sentences import Span, sentence_spans
from libravdb_memory.compact.standing_norms import states_norm
from libravdb_memory.compact.standing_orders import order_holds
from libravdb_memory.compact.standing_persons import states_of_persons
from libravdb_memory.compact.standing_phrases import states_rule
from libravdb_memory.compact.standing_tongues import states_rule_elsewhere

Modality: TypeAlias = Literal["obligatory", "forbidden", "permitted"]

CHARACTERS_READ = 100_000
SENTENCE_READ = 600
_MOST_PARTS = 8

_FENCE = re.compile(r"^[ \t]{0,3}(```|~~~)", re.M)
_COMMENT = re.compile(r"#{1,3} ?[^\n]{1,200}\n[ \t]{0,40}[\w.\[\]\"'-]{1,80} ?[=({]")
"""A comment above the code that it is of."""
_QUOTATION = re.compile(r"“[^“”]{1,400}”|(?<![\w\"])\"[^\"]{1,400}\"(?!\w)|«[^«»]{1,400}»|„[^„“”]{1,400}[“”]")
_CODE = re.compile(r"`[^`]{1,400}`")
_SPACE = re.compile(r"\s+")
_BULLET = re.compile(r"(?:[-*+•#]{1,6}|\d{1,3}[.)]) ")
_PART = re.compile(r"[:;—.!] |, (?:so|and|but) |^as agreed, ")
_ONE = re.compile(r"\b(?:it|this|these|those)\b")
_SPELLINGS = str.maketrans({"’": "'", "‘": "'", "*": "", "~": ""})
_CONTRACTIONS = re.compile(r"\b(?:dont|do not|donot|doesnt|shouldnt|mustnt|cant|wont|id|im)\b")
_WHOLE = {
    "dont": "don't", "do not": "don't", "donot": "don't", "doesnt": "doesn't", "shouldnt": "shouldn't",
    "mustnt": "mustn't", "cant": "can't", "wont": "won't", "id": "i'd", "im": "i'm",
}  # fmt: skip


class Mark(Protocol):
    """A clause that obliges, forbids or permits, as the scanner found it."""

    @property
    def modality(self) -> Modality: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Reading:
    """`rules` are the sentences of a text that state a standing rule; `open` those that state none as far as can be
    read, though some clause of them may."""

    rules: tuple[Span, ...]
    open: tuple[Span, ...]


def standing_rules(text: str, marks: Sequence[Mark]) -> tuple[Span, ...]:
    """The sentences of a text that state a standing rule; `marks` are the scanner's, in order."""
    return read(text, marks).rules


def read(text: str, marks: Sequence[Mark]) -> Reading:
    beginning = text[:CHARACTERS_READ]
    code = _Fenced(beginning)
    position, rules, undecided = 0, list[Span](), list[Span]()
    for start, end in sentence_spans(beginning):
        own: list[Mark] = []
        while position < len(marks) and marks[position].start < end:
            own.append(marks[position])
            position += 1
        if text[start] == ">" or code.holds(start) or _COMMENT.match(text, start):
            continue
        said = _plain(text[start : min(end, start + SENTENCE_READ)])
        if _is_no_rule(said) or (signs.ALWAYS_WHEN.match(said) and not own and not _states(said, text, end, own)):
            continue
        if _states(said, text, end, own):
            rules.append((start, end))
        else:
            undecided.append((start, end))
    return Reading(tuple(rules), tuple(undecided))


class _Fenced:
    """Stretches between fences, asked in ascending order."""

    def __init__(self, text: str) -> None:
        self._fences = [found.start(1) for found in _FENCE.finditer(text)]
        self._passed = 0

    def holds(self, place: int) -> bool:
        while self._passed < len(self._fences) and self._fences[self._passed] <= place:
            self._passed += 1
        return self._passed % 2 == 1


def _is_no_rule(said: str) -> bool:
    return bool(
        signs.MACHINE.search(said)
        or signs.REPORTED.search(said)
        or signs.HYPOTHETICAL.match(said)
        or signs.KINDNESS.search(said)
        or signs.CONTRACT.search(said)
        or signs.EXCLAIMED.match(said)
    )


def _asks(said: str) -> bool:
    return said.endswith("?")


def _states(said: str, text: str, end: int, marks: Sequence[Mark]) -> bool:
    """`said` is the sentence that ends there in the text, as it is read."""
    polite = signs.POLITE.match(said) is not None
    if polite or _asks(said):
        return polite
    if states_rule_elsewhere(said):
        return True
    of_the_moment = _of_the_moment(said)
    if not of_the_moment and any(_part_states(part, part is said) for part in _parts(said)):
        return True
    ends = [*(mark.start for mark in marks[1:]), end]
    return any(
        _clause_stands(_plain(text[mark.start : min(stop, mark.start + SENTENCE_READ)]), mark.modality, of_the_moment)
        for mark, stop in zip(marks, ends, strict=False)
    )


def _plain(text: str) -> str:
    folded = _CODE.sub(signs.CODE, _QUOTATION.sub(signs.QUOTE, text.translate(_SPELLINGS)))
    folded = _SPACE.sub(" ", folded).strip().lower()
    folded = _BULLET.sub("", folded, count=1) if _BULLET.match(folded) else folded
    folded = _CONTRACTIONS.sub(lambda found: _WHOLE[found.group()], folded)
    lead = signs.LEAD.match(folded)
    return folded[lead.end() :] if lead and lead.end() < len(folded) else folded


def _of_the_moment(said: str) -> bool:
    return signs.OCCASION.search(signs.PERMANENT.sub(" ", signs.RECURRING.sub(" ", said))) is not None


def _part_states(part: str, whole: bool) -> bool:
    return states_rule(part) or states_norm(part, whole) or states_of_persons(part)


def _parts(said: str) -> Iterator[str]:
    """The sentence, and what follows its colons, semicolons and "so"."""
    yield said
    for found in islice(_PART.finditer(said), _MOST_PARTS):
        yield said[found.end() :]


# ── clauses ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _clause_stands(clause: str, modality: Modality, of_the_moment: bool) -> bool:
    if signs.PERMANENT.search(_what_is_ordered(clause)):
        return not _of_the_moment(clause)
    if of_the_moment:
        return False
    condition = signs.CONDITION.match(clause)
    if condition:
        return _can_recur(condition[1]) and not signs.MET_ONCE.match(clause)
    if signs.LABEL.match(clause):
        return True
    if modality == "forbidden":
        return _prohibition_stands(clause)
    if modality == "permitted":
        one = _about_one_thing(clause) or signs.POINTED_OUT.match(clause)
        return not (signs.GO_AHEAD.match(clause) or one)
    return _demand_stands(clause)


def _what_is_ordered(clause: str) -> str:
    """The clause without what hangs on the object of its order."""
    if signs.ABSOLUTE.match(clause):
        return clause
    clause = clause[assured.end() :] if (assured := signs.ASSURE.match(clause)) else clause
    hanging = signs.SUBORDINATE.search(clause, 6)
    return clause[: hanging.start()] if hanging else clause


def _can_recur(condition: str) -> bool:
    if signs.ONE_CASE.match(condition):
        return False
    condition = signs.THRESHOLD.sub("", condition)
    return signs.OFTEN.search(condition) is not None or signs.POINTED_AT.search(condition) is None


def _prohibition_stands(clause: str) -> bool:
    if clause.startswith("no "):
        return signs.NO_RULE.match(clause) is None
    if not any(sign.match(clause) for sign in (signs.FORBIDS, signs.DEMAND, signs.STANCE)):
        return False
    return not (_about_one_thing(clause) or signs.ONE_TIME.match(clause))


def _about_one_thing(clause: str) -> bool:
    return signs.THIS_ONE.search(clause) is not None or signs.ITS_OBJECT.match(clause) is not None


def _demand_stands(clause: str) -> bool:
    if wish := signs.WISH.match(clause):
        return _order_stands(clause[wish.end() :])
    if asked := signs.OF_YOU.match(clause):
        if signs.STANCE.match(clause, asked.end()):
            return True
        vague = signs.DEFINITE.search(clause) or (signs.TO_A_FRIEND.search(clause) and " are " not in clause)
        return signs.GENERAL.search(clause) is not None or not vague
    if _order_stands(clause):
        return True
    return _is_demand(clause) and not _ONE.search(clause)


def _is_demand(clause: str) -> bool:
    """ "Commits must be signed", not "check whether they must": the modal comes before any other clause."""
    return signs.DEMAND.match(_what_is_ordered(clause)) is not None


def _order_stands(order: str) -> bool:
    if signs.THIS_ONE.search(order.partition(",")[0] if order.startswith("be ") else order):
        return False
    if assured := signs.ASSURE.match(order):
        rest = order[assured.end() :]
        return signs.GENERAL.match(rest) is not None and (rest[:2] == "no" or signs.DEFINITE.search(rest) is None)
    if signs.STANCE.match(order):
        return order.startswith(("be ", "keep it ")) or signs.ITS_OBJECT.match(order) is None
    if (habit := signs.HABIT.match(order)) and (
        signs.GENERAL.match(order, habit.end()) or not signs.DEFINITE.search(signs.LASTING.sub("", order))
    ):
        return True
    if order_holds(order):
        return True
    trailing = signs.TRAILING.match(order)
    return trailing is not None and _can_recur((trailing[1] or trailing[2] or "it").replace(" them", ""))
