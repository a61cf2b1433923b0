"""search_explained: what a search finds, each score as a sum of its parts.

Laws: the parts of a bar add up to the score. It is told for the calibrated law,
`score = relevance · (1 - mu + mu · modulation) · quality`, whose relevance is a sum itself. Every page is a part of one
ranking, whatever its size is: how many are wanted decides what a score is measured against. Looking is not using: the
gate's figures stay as they are.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from libravdb_memory.errors import InvalidInputError
from libravdb_memory.identity import Json
from libravdb_memory.model import Hit, Turn
from libravdb_memory.namespaces import history_of, summaries_of
from libravdb_memory.retrieve.rank import MODULATION
from libravdb_memory.serve.inspecting.lists import check_bounds
from libravdb_memory.serve.inspecting.rows import turn_rows
from libravdb_memory.serve.methods import Method, Result
from libravdb_memory.serve.own.finding import Search, searched
from libravdb_memory.serve.own.where import own_reach
from libravdb_memory.serve.results import turns as results
from libravdb_memory.serve.service import Service
from libravdb_memory.store.protocol import Key
from libravdb_memory.summaries import SUMMARY

MOST_HITS = 200
_EVIDENCE = ("dense", "lexical", "around", "fit")
_RECENCY_SHARE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained(Search):
    k: int = field(default=20, metadata={"help": f"how many on a page, up to {MOST_HITS}"})
    after: str | None = field(default=None, metadata={"help": "the cursor of the page before"})
    text_limit: int = field(default=600, metadata={"help": "characters of each text, at most"})

    @property
    def begin(self) -> int:
        if self.after is None:
            return 0
        if not (self.after.isascii() and self.after.isdecimal() and len(self.after) < 6):
            raise InvalidInputError("after", f"{self.after!r} is no cursor of a search")
        return int(self.after)


def search_explained(service: Service, params: Explained) -> Result:
    check_bounds(1, params.text_limit)
    if not 1 <= params.k <= MOST_HITS:
        raise InvalidInputError("k", f"must lie between 1 and {MOST_HITS}")
    began, begin = time.perf_counter(), params.begin
    hits = searched(service, replace(params, k=MOST_HITS), MOST_HITS, count_use=False)
    took_ms = (time.perf_counter() - began) * 1000
    end = begin + params.k
    return {
        "results": _rows(service, hits[begin:end], params.text_limit),
        "total": len(hits),
        "cursor": str(end) if end < len(hits) else None,
        "degraded": list(hits.degraded),
        "tookMs": took_ms,
    }


def bar_of(score: float | None, parts: Mapping[str, float]) -> dict[str, float]:
    """The addends of a score; empty where it has none, or another law gave it."""
    if score is None or not {"relevance", "modulation", "recency", "quality", *_EVIDENCE} <= parts.keys():
        return {}
    quality, modulation = parts["quality"], parts["modulation"]
    bar = {name: parts[name] * (1.0 - MODULATION) * quality for name in _EVIDENCE}
    by_modulation = parts["relevance"] * MODULATION * quality
    bar["recency"] = by_modulation * _RECENCY_SHARE * parts["recency"]
    bar["authority"] = by_modulation * (modulation - _RECENCY_SHARE * parts["recency"])
    brought_back = parts["relevance"] - sum(parts[name] for name in _EVIDENCE)  # into [0, 1]
    bar["fit"] += brought_back * (1.0 - MODULATION) * quality
    return bar


def _rows(service: Service, hits: Sequence[Hit], text_limit: int) -> list[dict[str, Json]]:
    """Without those that were erased meanwhile."""
    found = [(hit, record) for hit in hits if (record := service.store.get(_key(hit.turn))) is not None]
    rows = turn_rows(service.store, service.memory.counter, [record for _, record in found], text_limit)
    return [
        {**row, "score": hit.score, "parts": dict(hit.parts), "bar": dict(bar_of(hit.score, hit.parts))}
        for (hit, _), row in zip(found, rows, strict=True)
    ]


def _key(turn: Turn) -> Key:
    collection = summaries_of(turn.user) if turn.role == SUMMARY else history_of(turn.user)
    return Key(collection, turn.id, turn.session)


METHODS: tuple[Method[Any], ...] = (
    Method(
        "search_explained",
        Explained,
        search_explained,
        "Find turns, each with the addends of its score.",
        reach=own_reach,
        pace="thinking",
        result=results.Found,
    ),
)
