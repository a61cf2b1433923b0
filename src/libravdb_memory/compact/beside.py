"""Which sentences beside a rule say nothing about it.

Who states a rule in passing says other things in the same breath: "Good. Let's use Redis for the keys. And never touch
the migrations." Kept with the rule, a decision of the moment would stand as guidance long after it was changed. So
questions and thanks are left out wherever they stand, and before a rule also what agrees, asks for one thing or decides
on one. All else stays: it may tell where a rule holds, why, or where it does not.

Laws: pure; linear, by bounded repetition. A sentence that states a rule is never left out, nor the one that a rule
points back to ("Never do that."). English, with the commonest such words of six other tongues; when in doubt a sentence
stays.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_LEAD = r"\W*(?:(?:and|so|but|now|ok|okay|then|also|yes|yeah|yep|right|well|hmm|alright)\b[\s,.:;!–—-]{1,3}){0,3}"
_THANKS = re.compile(
    rf"{_LEAD}(?:(?:thanks|thank you|thx|cheers|danke|merci|gracias|grazie|obrigad[oa]|bedankt|dank je)\b"
    r"[^.;:]{0,40}|(?:perfect|great|good|nice|cool|fine|ok|okay|excellent|lovely|awesome|done|got it|yes|right|sure|"
    r"agreed|super|parfait|perfetto|perfecto|prima|klasse))\W*$",
    re.I,
)
_OF_THE_MOMENT = re.compile(
    rf"{_LEAD}(?:(?:good|great|fine|perfect|thanks)[,.!;:]? {{1,2}})?"
    r"(?:let['’]s|lets|let us|(?:can|could|would|will) you|go ahead|go (?:with|for)|scrap|"
    r"(?:we|i)(?:['’]ll| will| am going to|['’]m going to|['’]re going to| are going to)|"
    r"(?:that|this|it|all) (?:looks?|sounds?|works?|is|was)(?: \w{1,12})? "
    r"(?:good|fine|great|right|well|better|perfect)|(?:looks?|sounds?) (?:good|fine|great|right)|"
    r"lass uns|kannst du|können sie|on y va|peux-tu|puedes|vamos a|puoi)\b",
    re.I,
)
_POINTS_BACK = re.compile(
    r"\b(?:it|its|them|they|their|these|those|this|that|he|she|him|her|there|then|one|ones|both|either|neither|else|so|"
    r"such|same|instead|again|too|otherwise|das|dies\w{0,2}|es|sie|ihn|dabei|damit|dazu|cela|ça|eso|esto|ese|esa|"
    r"questo|isso|dat|dit)\b",
    re.I,
)
_CLAUSE_ENDS = re.compile(r"[,;:—–(]")
_OPENING = re.compile(
    r"\W*(?:(?:and|so|also|but|oh|ok|okay|please|well|now|hm+|no|yes|by the way|btw|in general|from now on)\b"
    r"[\s,]{1,3}){1,5}",
    re.I,
)


def kept_beside(sentences: Sequence[str], ruled: Sequence[bool]) -> list[bool]:
    """For each sentence of a turn whether it stays; `ruled` are those that state a rule."""
    first = next((place for place, is_rule in enumerate(ruled) if is_rule), len(ruled))
    stays = [
        is_rule or not (_is_aside(said) or (place < first and _OF_THE_MOMENT.match(said) is not None))
        for place, (said, is_rule) in enumerate(zip(sentences, ruled, strict=True))
    ]
    for place, is_rule in enumerate(ruled):
        if is_rule and place > 0 and points_back(sentences[place]):
            stays[place - 1] = stays[place - 1] or _THANKS.match(sentences[place - 1]) is None
    return stays


def points_back(sentence: str) -> bool:
    """Whether the first thing a sentence says may speak of something named before it."""
    opening = _OPENING.match(sentence)
    said = sentence[opening.end() :] if opening else sentence
    end = _CLAUSE_ENDS.search(said)
    return _POINTS_BACK.search(said[: end.start()] if end else said) is not None


def _is_aside(sentence: str) -> bool:
    return sentence.rstrip("\"'”’) ").endswith(("?", "？", "؟")) or _THANKS.match(sentence) is not None
