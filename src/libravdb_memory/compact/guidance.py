"""Which turns are guidance that must outlive their summary: kept word by word, above recall.

    shard:  stability >= .35, and the deontic scanner finds a rule that is meant to last (see `standing`)
    liking: stability >= .35, the scanner is silent, and a liking or custom is stated
    worded: stability >= .35, and a sentence that could not be read as a rule is worded like one (see `weighing`)
    change: stability >= .35, and a sentence takes back a rule that was kept before (see `taking_back`)
    boost:  stability >= .35, the scanner is silent, a surface hint is there, and similarity to known guidance >= .78

Laws: the words decide, and the learned weights of words may speak against a rule found by reading; an embedding model
can only add what they do not show, never take away, and is not asked about a turn that orders anything; without one
(similarity None) the answer of the words stands. What is kept is verbatim: the turn, or its sentences that state the
rule. Hints are linear in the text.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from libravdb_memory.compact.beside import kept_beside
from libravdb_memory.compact.sentences import Span, sentence_spans
from libravdb_memory.compact.settings import CompactionSettings
from libravdb_memory.compact.standing import CHARACTERS_READ
from libravdb_memory.tokens import TokenCounter

Reason: TypeAlias = Literal[
    "rule", "liking or custom", "worded like a rule", "like known guidance", "takes back a rule"
]

GAP = " … "
"""Between stretches of a turn that did not stand side by side."""

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
    r"(?:convention|policy|rule)(?: \w{1,20}){0,4} is|important (?:to me|that)|must|should|shall|ought|has to|"
    r"have to|"
    r"required|forbidden|not allowed|allowed to|treat \w{2,20} as|when i say|rather than|instead of|"
    r"immer|niemals|bitte|ab jetzt|künftig|toujours|jamais|désormais|siempre|nunca|por favor|a partir de ahora|"
    r"всегда|никогда|пожалуйста|впредь)\b"
    r"|请|不要|必须|总是|永远|以后|必ず|ください|禁止|항상|절대|हमेशा|कभी नहीं|कृपया|دائما|أبدا|من فضلك",
    re.I,
)


_PLAIN = re.compile(
    r"\W*(?:(?:please|and|so|ok|also|but|bitte|und|y|et|e|en|och)\b[\s,]*){0,2}"
    r"(?:always|never|whenever|do(?:n['’]?t| not) ever|from now on|"
    r"niemals|nie|nunca|jamás|jamais|nooit|aldrig|никогда|ab jetzt|ab sofort|künftig|a partir de ahora|désormais|"
    r"dorénavant|d['’]ora in poi|vanaf nu|отныне|впредь)\b",
    re.I,
)


_ALL_WORK = re.compile(
    r"\bbefore (?:you )?(?:tell|say|report|claim|declar|call|announc)\w{0,3}\b[^.,;]{0,40}\b(?:done|finished|"
    r"ready|complete)\b",
    re.I,
)
"""What is to be done before any work is called done is no order for the moment."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of a turn. `promoted`: the scanner found a rule; `similarity`: to known guidance, None when no
    model could tell; `standing`: some sentence states a rule that is meant to last, None when nobody looked and the
    scanner is believed; `worded`: some sentence is worded like one."""

    stability: float
    promoted: bool
    hinted: bool = False
    similarity: float | None = None
    standing: bool | None = None
    worded: bool = False


def hinted(text: str) -> bool:
    """Whether the words look like guidance to someone who does not read closely."""
    return _HINT.search(text) is not None


def is_plain(sentence: str) -> bool:
    """Whether a sentence that was read as a rule begins as nothing but a rule does, or is about all work."""
    return _PLAIN.match(sentence) is not None or _ALL_WORK.search(sentence) is not None


def needs_similarity(evidence: Evidence, settings: CompactionSettings) -> bool:
    """Whether a model could still make a difference, so that it is asked only then."""
    silent = not (evidence.promoted or evidence.standing or evidence.worded)
    return _stable(evidence, settings) and evidence.hinted and silent


def protection(evidence: Evidence, settings: CompactionSettings) -> Reason | None:
    """Why a turn is protected; None when it is not."""
    if not _stable(evidence, settings):
        return None
    if evidence.standing or (evidence.promoted and evidence.standing is None):
        return "rule" if evidence.promoted else "liking or custom"
    if evidence.worded:
        return "worded like a rule"
    return "like known guidance" if not evidence.promoted and _is_like_guidance(evidence, settings) else None


def _is_like_guidance(evidence: Evidence, settings: CompactionSettings) -> bool:
    similarity = evidence.similarity
    if not evidence.hinted or similarity is None or not math.isfinite(similarity):
        return False
    return similarity >= settings.guidance_prototype


def shard_text(
    text: str, rules: Sequence[Span], limit_tokens: int, counter: TokenCounter, *, alone: bool = False
) -> str:
    """What to keep of a protected turn, verbatim: all of it within the limit; else its `rules`, sentences or clauses,
    then the whole sentences of these, then the sentence before each, as far as they fit. Longer than the limit only
    when the first rule alone is. With `alone`, what says nothing about the rules is left out (see `beside`)."""
    sentences = sentence_spans(text[:CHARACTERS_READ])
    if counter.count(text) <= limit_tokens:
        return _joined(text, _about(text, sentences, rules)) if alone and rules else text
    stated = list(rules) or [span for span in sentences if hinted(text[slice(*span)])] or list(sentences[:1])
    chosen = _within(text, stated, stated[:1], limit_tokens, counter)
    starts = [start for start, _ in sentences]
    places = [bisect_right(starts, start) - 1 for start, _ in chosen]
    around = [*(sentences[place] for place in places), *(sentences[place - 1] for place in places if place > 0)]
    return _joined(text, _within(text, around, chosen, limit_tokens, counter))


def _about(text: str, sentences: Sequence[Span], rules: Sequence[Span]) -> list[Span]:
    """Where nothing is left out, all of the text."""
    ruled = [any(start < end_of and begins < end for begins, end_of in rules) for start, end in sentences]
    stays = kept_beside([text[slice(*span)] for span in sentences], ruled)
    if all(stays) or not any(ruled):
        return [(0, len(text))]
    return [span for span, stay in zip(sentences, stays, strict=True) if stay]


def _within(
    text: str, offered: Sequence[Span], chosen: Sequence[Span], limit_tokens: int, counter: TokenCounter
) -> list[Span]:
    """The chosen spans and those offered that fit beside them, in order of the text."""
    kept = list(chosen)
    cost = counter.count(_joined(text, kept))
    for span in offered:
        if cost >= limit_tokens:
            break
        more = sorted({*kept, span})
        price = counter.count(_joined(text, more))
        if price <= limit_tokens:
            kept, cost = more, price
    return kept


def _joined(text: str, spans: Sequence[Span]) -> str:
    """Neighbours, and what overlaps, as they stand in the text, others with a gap between."""
    runs: list[Span] = []
    for start, end in spans:
        if runs and not text[runs[-1][1] : start].strip():
            runs[-1] = (runs[-1][0], max(runs[-1][1], end))
        else:
            runs.append((start, end))
    return GAP.join(text[start:end] for start, end in runs)


def _stable(evidence: Evidence, settings: CompactionSettings) -> bool:
    return evidence.stability >= settings.guidance_stability
