"""From answers to figures: overall, by data set and by category.

Law: adversarial questions, which are made to have no answer, stand under their category only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from libravdb_memory.bench.retrieval.asking import Answered, Times
from libravdb_memory.bench.retrieval.dataset import DataSet
from libravdb_memory.bench.retrieval.metrics import means
from libravdb_memory.bench.retrieval.timing import spread_ms

_ADVERSARIAL = "adversarial"
_DIGITS = 6


def counts_overall(answer: Answered) -> bool:
    return answer.category.strip().casefold() != _ADVERSARIAL


def summary(
    data: Sequence[DataSet], answers: Sequence[Answered], times: Times, degraded: Mapping[str, int]
) -> dict[str, Any]:
    return {
        "data": [described(part) for part in data],
        **_figures(answers),
        "per_data": {name: _figures(part) for name, part in _parted(answers, lambda answer: answer.data).items()},
        "latency_ms": _latencies(times),
        "skipped_without_gold": sum(part.questions for part in data) - len(answers),
        "degraded": dict(degraded),
        "questions": {answer.key: _rounded(answer.measures) for answer in answers},
    }


def described(data: DataSet) -> dict[str, Any]:
    return {
        "name": data.name,
        "file": data.file,
        "sha256": data.sha256,
        "conversations": len(data.conversations),
        "turns": data.turns,
        "questions": data.questions,
    }


def _figures(answers: Iterable[Answered]) -> dict[str, Any]:
    answers = list(answers)
    categories = _parted(answers, lambda answer: answer.category)
    return {
        "overall": _averages([answer for answer in answers if counts_overall(answer)]),
        "categories": {name: _averages(categories[name]) for name in sorted(categories)},
    }


def _averages(answers: Sequence[Answered]) -> dict[str, float]:
    return {"questions": len(answers), **_rounded(means([answer.measures for answer in answers]))}


def _latencies(times: Times) -> dict[str, dict[str, float]]:
    measured = {
        "search": times.search,
        "context": times.context,
        "embedding": times.embedding,
        "search_beside_embedding": times.beside_embedding,
    }
    return {name: spread_ms(seconds) for name, seconds in measured.items() if seconds}


def _parted(answers: Iterable[Answered], by: Callable[[Answered], str]) -> dict[str, list[Answered]]:
    parts: dict[str, list[Answered]] = {}
    for answer in answers:
        parts.setdefault(by(answer), []).append(answer)
    return parts


def _rounded(values: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, _DIGITS) for name, value in values.items()}
