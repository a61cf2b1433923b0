"""Ranking laws: from relevance, age, use and authority to one bounded score.

`calibrated`, the default:

    S = relevance · ((1 - mu) + mu · m) · Q,     m = .5 recency + .2 use + .3 authority,   Q = 1 - delta · decay

`reference`:

    S = w · max(sim, 0) · (1 + kappa·M) / (1 + kappa),   w = .5 recency + .2 use + .3 authority

`hybrid`, an older reference law:  S = .7 max(sim, 0) + .2 recency + .1 scope

Laws, for all of them: S lies in [0, 1] for every input, never NaN; it does not fall when relevance, recency, use,
authority or confidence rises. For `calibrated`, modulation can cost at most the share mu, so that no age and no lack
of use erases a strong match; the reference law multiplies by w, which tends to 0 for any memory a few days old.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Profile: TypeAlias = Literal["calibrated", "reference", "hybrid"]
ScopeName: TypeAlias = Literal["session", "user", "global"]

KEYWORD_GAIN = 0.3  # kappa
QUALITY_LOSS = 0.5  # delta
MODULATION = 0.05  # mu
LEAST_SIMILARITY = 0.2  # theta1 of the older laws: below it only with the support of wording
_RECENCY_SHARE, _USE_SHARE, _AUTHORITY_SHARE = 0.5, 0.2, 0.3
_HALF_LIFE_S = 90 * 86_400.0
_DECAY_PER_S: Mapping[ScopeName, float] = {"session": 1e-4, "user": 1e-5, "global": 2e-6}
_SCOPE_WORTH: Mapping[ScopeName, float] = {"session": 1.0, "user": 0.6, "global": 0.3}


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of one record for one question. `relevance` is the fused score, `similarity` the bare cosine,
    `keywords` the share of the question's keywords that it holds."""

    relevance: float
    similarity: float = 0.0
    keywords: float = 0.0
    age_s: float = 0.0
    uses: int = 0
    most_uses: int = 0
    authority: float = 0.0
    decay_rate: float = 0.0
    scope: ScopeName = "user"


@dataclass(frozen=True, slots=True)
class Ranked:
    score: float
    parts: Mapping[str, float]


def score(evidence: Evidence, profile: Profile = "calibrated") -> Ranked:
    if profile == "reference":
        return _reference(evidence)
    if profile == "hybrid":
        return _hybrid(evidence)
    return _calibrated(evidence)


def quality(decay_rate: float) -> float:
    """The multiplier of a summary: 1 at full confidence, never below 1 - delta."""
    return 1.0 - QUALITY_LOSS * _unit(decay_rate)


def _calibrated(evidence: Evidence) -> Ranked:
    age = max(_finite(evidence.age_s), 0.0)
    recency = 1.0 / (1.0 + age / _HALF_LIFE_S)
    modulation = _weight(evidence, recency)
    q = quality(evidence.decay_rate)
    relevance = _unit(evidence.relevance)
    value = relevance * (1.0 - MODULATION + MODULATION * modulation) * q
    return Ranked(_unit(value), {"relevance": relevance, "recency": recency, "modulation": modulation, "quality": q})


def _reference(evidence: Evidence) -> Ranked:
    recency = _exponential(evidence)
    weight = _weight(evidence, recency)
    keywords = _unit(evidence.keywords)
    gain = (1.0 + KEYWORD_GAIN * keywords) / (1.0 + KEYWORD_GAIN)
    q = quality(evidence.decay_rate)
    value = weight * max(_finite(evidence.similarity), 0.0) * gain * q
    return Ranked(_unit(value), {"weight": weight, "recency": recency, "keywords": keywords, "quality": q})


def _hybrid(evidence: Evidence) -> Ranked:
    recency = _exponential(evidence)
    worth = _SCOPE_WORTH[evidence.scope]
    q = quality(evidence.decay_rate)
    value = (0.7 * _unit(evidence.similarity) + 0.2 * recency + 0.1 * worth) * q
    return Ranked(_unit(value), {"recency": recency, "scope": worth, "quality": q})


def _weight(evidence: Evidence, recency: float) -> float:
    uses, most = max(evidence.uses, 0), max(evidence.most_uses, evidence.uses, 0)
    use = math.log1p(uses) / math.log(2.0 + most)
    return _RECENCY_SHARE * recency + _USE_SHARE * _unit(use) + _AUTHORITY_SHARE * _unit(evidence.authority)


def _exponential(evidence: Evidence) -> float:
    return math.exp(-_DECAY_PER_S[evidence.scope] * max(_finite(evidence.age_s), 0.0))


def _unit(value: float) -> float:
    return min(max(_finite(value), 0.0), 1.0)


def _finite(value: float) -> float:
    return value if math.isfinite(value) else 0.0
