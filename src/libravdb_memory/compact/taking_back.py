"""Which sentences of a user take back a rule that was given before.

"Always use tabs." … "Forget the tabs thing, spaces are fine." The second states no rule, and without it the first would
be shown for ever. So a sentence with a sign of change (see `changes`) is kept too when it speaks of what a kept rule
speaks of: by its words where it shares half of those of either that tell something; where it shares fewer, a model may
say that both mean the same.

Laws: pure, deterministic, linear in the text for a bounded number of rules. A question takes nothing back.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from libravdb_memory.compact.changes import changes, topics
from libravdb_memory.compact.salience import content_words, words
from libravdb_memory.compact.sentences import Span, sentence_spans
from libravdb_memory.compact.standing import CHARACTERS_READ

ENOUGH = 0.5
"""Of the words that tell something, in the sentence or in the rule, whichever has fewer."""
SAME_MEANING = 0.5
"""Cosine from which a sentence and a rule that share a word are about the same."""


_WISHED = "agreed better decided free going happy have like love need plan prefer rather ready time us want".split()
"""Words before "to drop" that make it a wish or a decision, where "to reduce the cost" is a purpose."""
_TO = "".join(f"(?<!{word} )" for word in _WISHED) + "to"
_DOING = "(?<!'m )(?<!'re )(?<!am )(?<!are )(?<!be )"
_OF_FACTS = re.compile(
    r"\b(?:turn(?:s|ed) out|end(?:ed)? up|becomes?|became|(?:steps?|stepped) in|postponed|rescheduled|verschoben|"
    r"reporté\w?|spostat\w|adiad\w|перенес\w{0,4}|"
    rf"{_TO} (?:reduce|increase|raise|lower|switch|drop|change)|"
    r"(?:and|further|can|could|would|helps?) (?:reduce|increase|raise|lower)|"
    r"(?:this|an?) (?:reduce|increase|raise|lower|switch)|"
    rf"{_DOING}(?:reduc|increas|rais|lower|switch|dropp)ing|"
    r"(?:those|these|some|many|any) changes|how (?:\w{1,20} ){1,4}changes|"
    r"(?:a lot|so much|everything) has changed|switch(?:ed|es)? up|drop(?:s|ped|ping)? (?:off|by|in)|"
    r"drop (?:the details|me|us))\b",
    re.I,
)
"""Signs of change that tell how things went or what is tried, and take nothing back that somebody asked for."""


@dataclass(frozen=True, slots=True)
class Change:
    """A sentence with a sign of change, and what it and its neighbours in the turn are about."""

    span: Span
    about: frozenset[str]


def changes_in(text: str) -> tuple[Change, ...]:
    """What a sign is about may stand in the sentence before it or behind it."""
    spans = sentence_spans(text[:CHARACTERS_READ])
    said = [text[slice(*span)] for span in spans]
    content = [content_words(words(each)) for each in said]
    signs = changes([_OF_FACTS.sub(" ", each) for each in said], [0] * len(said), content)
    about = topics(said, content)
    return tuple(
        Change(spans[place], frozenset[str]().union(*about[max(place - 1, 0) : place + 2]))
        for place, sign in enumerate(signs)
        if sign == 1.0
    )


@lru_cache(maxsize=512)
def subject(rule: str) -> frozenset[str]:
    return topics([rule], [content_words(words(rule))])[0]


def shared(change: Change, subjects: Sequence[frozenset[str]]) -> list[float]:
    """For each subject of a rule the share of it, or of the change, that both have in common."""
    return [len(change.about & own) / max(min(len(change.about), len(own)), 1) for own in subjects]
