"""Which turns are guidance that must outlive their summary: kept word by word, above recall.

    shard:  stability >= .35 and the deontic scanner finds a rule
    boost:  stability >= .35, the scanner is silent, a surface hint is there, and similarity to a prototype >= .78

Laws: the scanner decides; a model can only add what it missed, never take away; without a model (similarity None) the
answer of the scanner stands. Hints are linear in the text.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from libravdb_memory.compact.settings import CompactionSettings

Reason: TypeAlias = Literal["rule", "like known guidance"]

PROTOTYPES = (
    "Please always answer me in short sentences.",
    "From now on, write the tests before the code.",
    "I want you to ask me before you delete anything.",
    "I don't want any emoji in commit messages.",
    "Stop adding comments that repeat the code.",
    "I would rather have plain words than jargon.",
    "It is important to me that you cite your sources.",
    "Whenever you change the schema, write a migration too.",
    "No more force pushes to the main branch, please.",
    "My rule is that nothing is deployed on a Friday.",
    "In future, show me the plan first and then do it.",
    "Keep my name out of public documents.",
    "Remember to run the linter before each commit.",
    "When I say report, I mean a table with totals.",
    "You can use any library that is already installed.",
    "I'd like all dates in ISO format.",
    "We never store passwords in plain text here.",
    "Our convention is tabs in Makefiles and spaces everywhere else.",
    "Make sure that every function has a type annotation.",
    "Do not talk to customers about prices.",
    "It's fine to skip the summary when the answer is short.",
    "Treat everything in this folder as confidential.",
    "I only ever want metric units.",
    "The convention for branch names is the ticket number first.",
)
"""Guidance as people give it, for comparison in the embedding space."""

_HINT = re.compile(
    r"\b(?:always|never|don['’]?t|do not|please|from now on|going forward|in (?:the )?future|whenever|every time|"
    r"each time|make sure|be sure|remember (?:to|that)|keep in mind|avoid|stop \w{2,20}ing|no more|only|"
    r"i(?:['’]d| would)(?: \w{1,10})? (?:like|rather|prefer)|i (?:want|need|prefer|expect|like|hate|don['’]?t want)|"
    r"my (?:rule|preference|convention|policy)|our (?:rule|convention|policy|standard)|(?:house|ground) rules?|"
    r"(?:convention|policy|rule)(?: \w{1,20}){0,4} is|important (?:to me|that)|must|should|shall|ought|has to|have to|"
    r"required|forbidden|not allowed|allowed to|treat \w{2,20} as|when i say|rather than|instead of|"
    r"immer|niemals|bitte|ab jetzt|künftig|toujours|jamais|désormais|siempre|nunca|por favor|a partir de ahora|"
    r"всегда|никогда|пожалуйста|впредь)\b"
    r"|请|不要|必须|总是|永远|以后|必ず|ください|禁止|항상|절대|हमेशा|कभी नहीं|कृपया|دائما|أبدا|من فضلك",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of a turn. `promoted`: the scanner found a rule; `similarity`: to the nearest prototype, None when
    no model could tell."""

    stability: float
    promoted: bool
    hinted: bool = False
    similarity: float | None = None


def hinted(text: str) -> bool:
    """Whether the words look like guidance to someone who does not read closely."""
    return _HINT.search(text) is not None


def needs_similarity(evidence: Evidence, settings: CompactionSettings) -> bool:
    """Whether a model could still make a difference, so that it is asked only then."""
    return _stable(evidence, settings) and evidence.hinted and not evidence.promoted


def protection(evidence: Evidence, settings: CompactionSettings) -> Reason | None:
    """Why a turn is protected; None when it is not."""
    if not _stable(evidence, settings):
        return None
    if evidence.promoted:
        return "rule"
    similarity = evidence.similarity
    if not evidence.hinted or similarity is None or not math.isfinite(similarity):
        return None
    return "like known guidance" if similarity >= settings.guidance_prototype else None


def _stable(evidence: Evidence, settings: CompactionSettings) -> bool:
    return evidence.stability >= settings.guidance_stability
