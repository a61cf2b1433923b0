"""What a ranking is worth, for one question and on average.

For a question with gold turns g and a ranking r:

    R@k      |g ∩ r[:k]| / |g|                         all@k    1 when r[:k] holds all of g
    NDCG@k   Σ_{r_i ∈ g, i <= k} 1/log2(i+1) over the same for the best ranking of |g| turns
    MRR      1 / place of the first of g, 0 when none was found
    sR@k     R@k over sessions, each ranked by its best turn
    tok@t    share of g among the turns that end within the first t tokens of r

Laws: every value lies in [0, 1]; R, sR and tok do not fall when k or t rises; a ranking that begins with g has 1.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

ALL_AT = 10
NDCG_AT = 10
SESSIONS_AT = (5, 10)
TOKENS_AT = 1_000
BOTH_AT = 20


@dataclass(frozen=True, slots=True)
class Found:
    """A turn of a ranking; `tokens` is what its text costs."""

    id: str
    session: str
    tokens: int


def measures(
    ranking: Sequence[Found],
    gold: Set[str],
    gold_sessions: Set[str],
    depths: Iterable[int],
    superseded: Set[str] = frozenset(),
) -> dict[str, float]:
    """Every measure of one question."""
    ids = [found.id for found in ranking]
    sessions = list(dict.fromkeys(found.session for found in ranking))
    values = {f"R@{depth}": recall(ids, gold, depth) for depth in depths}
    values[f"all@{ALL_AT}"] = float(gold <= set(ids[:ALL_AT]))
    values[f"NDCG@{NDCG_AT}"] = ndcg(ids, gold, NDCG_AT)
    values["MRR"] = reciprocal_rank(ids, gold)
    values |= {f"sR@{depth}": recall(sessions, gold_sessions, depth) for depth in SESSIONS_AT}
    values[f"tok@{TOKENS_AT}"] = recall_in_tokens(ranking, gold, TOKENS_AT)
    if superseded:
        values["newer_first"] = float(newer_first(ids, gold, superseded))
        values["both_found"] = float(gold | superseded <= set(ids[:BOTH_AT]))
    return values


def recall(ranking: Sequence[str], gold: Set[str], depth: int) -> float:
    return len(gold & set(ranking[:depth])) / len(gold)


def ndcg(ranking: Sequence[str], gold: Set[str], depth: int) -> float:
    gained = math.fsum(_worth(place) for place, found in enumerate(ranking[:depth], 1) if found in gold)
    ideal = math.fsum(_worth(place) for place in range(1, min(len(gold), depth) + 1))
    return gained / ideal


def reciprocal_rank(ranking: Sequence[str], gold: Set[str]) -> float:
    return next((1.0 / place for place, found in enumerate(ranking, 1) if found in gold), 0.0)


def recall_in_tokens(ranking: Sequence[Found], gold: Set[str], limit: int) -> float:
    """The turn that crosses the limit, and all after it, do not count."""
    spent, seen = 0, set[str]()
    for found in ranking:
        spent += found.tokens
        if spent > limit:
            break
        seen.add(found.id)
    return len(gold & seen) / len(gold)


def newer_first(ranking: Sequence[str], gold: Set[str], superseded: Set[str]) -> bool:
    """Whether some gold turn was found and none of the corrected ones stands before it."""
    first = next((found for found in ranking if found in gold or found in superseded), None)
    return first in gold


def means(rows: Collection[Mapping[str, float]]) -> dict[str, float]:
    """The average of each measure over the questions that have it, in the order in which they appear."""
    values: dict[str, list[float]] = {}
    for row in rows:
        for name, value in row.items():
            values.setdefault(name, []).append(value)
    return {name: math.fsum(column) / len(column) for name, column in values.items()}


def _worth(place: int) -> float:
    return 1.0 / math.log2(place + 1)
