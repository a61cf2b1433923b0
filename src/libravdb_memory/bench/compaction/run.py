"""A run: store every conversation as one session, ask, compact a copy to the end, ask again, and say what was lost.

Laws: nothing is compacted by itself meanwhile. The product is configured as for anybody on this machine; what was
configured stands in the result, without paths.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from libravdb_memory.bench import figures, machine
from libravdb_memory.bench.compaction import cost
from libravdb_memory.bench.compaction.asking import DEPTH, FROM, SESSION, Asking, Compacted, compacted, one_session_each
from libravdb_memory.bench.compaction.kept import facts_kept, reached
from libravdb_memory.bench.retrieval.asking import BUDGETS, Answered, Speaking, ingest
from libravdb_memory.bench.retrieval.compare import compare
from libravdb_memory.bench.retrieval.dataset import limited, read_all
from libravdb_memory.bench.retrieval.run import Stage, settings_in_force
from libravdb_memory.bench.retrieval.summary import counts_overall, described
from libravdb_memory.compacting import Compaction
from libravdb_memory.config import Config, load_config
from libravdb_memory.errors import InvalidInputError
from libravdb_memory.memory import Memory
from libravdb_memory.namespaces import guidance_of
from libravdb_memory.store.paging import every
from libravdb_memory.store.sqlite.store import SqliteStore

MOST_POINTS = 5.0
JUDGED_AT = 2_000
_QUICK_QUESTIONS = 12


@dataclass(frozen=True, slots=True)
class Options:
    data: tuple[Path, ...]
    quick: bool = False
    timing: bool = True


@dataclass(frozen=True, slots=True)
class _Measured:
    before: list[Answered]
    after: list[Answered]
    uncompacted: Mapping[str, Compacted]
    sessions: Mapping[str, Compacted]
    compactions: list[Compaction]
    rules: Mapping[str, Mapping[str, str]]
    degraded: Mapping[str, int]


def run(options: Options, stage: Stage) -> dict[str, Any]:
    started = time.monotonic()
    data = read_all(options.data)
    data = limited(data, _QUICK_QUESTIONS) if options.quick else data
    users = one_session_each(data)
    if not any(question.gold for user in users for question in user.conversation.questions):
        raise InvalidInputError("--data", "there is no question with gold turns")
    sizes = cost.QUICK if options.quick else cost.Sizes()
    with tempfile.TemporaryDirectory(prefix="libravdb-bench-") as folder:
        config = load_config(overrides={"db_path": Path(folder) / "before", "compaction.trigger_tokens": 0})
        measured = _measured(config, Path(folder), users, stage)
        results = _quality(users, measured)
        if options.timing:
            with stage("timing", "rounds") as progress:
                results["cost"] = cost.measured(data, config, Path(folder), sizes, progress)
    return {
        "results": results,
        "targets_meant_for_these_sizes": not options.quick,
        "data": [described(part) for part in data],
        "compared": _compared(measured.before, measured.after),
        "per_data": _per_data(measured),
        "degraded": dict(measured.degraded),
        "config": settings_in_force(config),
        "sizes": asdict(sizes),
        "machine": machine.describe(),
        "seconds": round(time.monotonic() - started, 1),
        "questions": _questions(measured),
    }


def _measured(config: Config, folder: Path, users: Sequence[Speaking], stage: Stage) -> _Measured:
    copied = folder / "after.db"
    with Memory.open(config=config) as memory:
        with stage("storing", "turns") as progress:
            ingest(memory, users, 0, progress)
        with stage("embedding", "turns") as progress:
            memory.reindex(progress)
        memory.wait()
        memory.backup(copied)
        uncompacted = {user.user: compacted(memory, user.user) for user in users if user.turns}
        with stage("asking", "questions") as progress:
            first = Asking(memory, {})
            before = list(first.answers(users, progress))
    with Memory.open(copied, config=config) as memory:
        with stage("compacting", "sessions") as progress:
            compactions: list[Compaction] = []
            for user in users:
                compactions.append(memory.compact(user=user.user, session=SESSION))
                progress(len(compactions), len(users))
        memory.wait()
        sessions = {user.user: compacted(memory, user.user) for user in users if user.turns}
        with stage("asking", "questions") as progress:
            second = Asking(memory, sessions)
            after = list(second.answers(users, progress))
    rules = _rules(copied, config, users)
    return _Measured(before, after, uncompacted, sessions, compactions, rules, first.degraded + second.degraded)


def _rules(path: Path, config: Config, users: Iterable[Speaking]) -> dict[str, dict[str, str]]:
    """The texts of the rules kept word by word, by user and turn."""
    with SqliteStore.open(path, settings=config.store) as store:
        return {
            user.user: {
                str(record.metadata.get("source_turn_id")): record.text
                for record in every(store, guidance_of(user.user))
            }
            for user in users
        }


# ── figures ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _quality(users: Sequence[Speaking], measured: _Measured) -> dict[str, Any]:
    compared = _compared(measured.before, measured.after)
    done = measured.compactions
    return {
        "points_lost_in_contexts": {
            f"{name}@{budget}": _lost(compared, name, budget) for name in FROM for budget in BUDGETS
        },
        "reached_by_expansion": reached(users, measured.uncompacted, measured.sessions),
        f"search_R@{DEPTH}": {"before": compared[f"R@{DEPTH}"]["old"], "after": compared[f"R@{DEPTH}"]["new"]},
        "facts_kept": facts_kept(measured.sessions.values(), measured.rules),
        "compacted": {
            "turns": sum(each.turns for each in done),
            "summaries": sum(len(each.summaries) for each in done),
            "folds": sum(len(each.folds) for each in done),
            "tokens_of_turns": sum(each.source_tokens for each in done),
            "tokens_of_summaries": sum(each.tokens for each in done),
            "declined": sum(len(each.declined) for each in done),
        },
        "rules_kept_word_by_word": sum(each.guidance for each in done),
    }


def _lost(compared: Mapping[str, Any], name: str, budget: int) -> dict[str, Any]:
    """By how many points of a hundred contexts are worse; less than 0 where they are better."""
    told, words = compared[f"{name}@{budget}"], compared[f"{name}_words@{budget}"]
    details = {
        "before": told["old"],
        "after": told["new"],
        "interval": [_points(told["high"]), _points(told["low"])],
        "after_word_for_word": words["new"],
        "tokens_of_summaries": round(compared["summaries"][f"{name}@{budget}"], 1),
    }
    points = _points(told["difference"])
    return figures.at_most(points, MOST_POINTS, **details) if budget == JUDGED_AT else {"value": points, **details}


def _points(difference: float) -> float:
    return round(-100 * difference, 2) + 0.0


def _compared(before: Sequence[Answered], after: Sequence[Answered]) -> dict[str, Any]:
    """Every measure before and after, over the questions that count."""
    keys = [answer.key for answer in after if counts_overall(answer)]
    rows = [{answer.key: answer.measures for answer in answers} for answers in (before, after)]
    names = dict.fromkeys(name for row in rows[1].values() for name in row if "tokens" not in name)
    metrics = compare({"questions": rows[0]}, {"questions": rows[1], "overall": names}, keys)["metrics"]
    spent = {
        f"{name}@{budget}": _mean([rows[1][key][f"{name}_tokens@{budget}_of_summaries"] for key in keys])
        for name in FROM
        for budget in BUDGETS
    }
    return {**metrics, "summaries": spent}


def _per_data(measured: _Measured) -> dict[str, Any]:
    names = dict.fromkeys(answer.data for answer in measured.after if counts_overall(answer))
    return {
        name: _compared(
            [answer for answer in measured.before if answer.data == name],
            [answer for answer in measured.after if answer.data == name],
        )
        for name in names
    }


def _questions(measured: _Measured) -> dict[str, Any]:
    pairs = zip(measured.before, measured.after, strict=True)
    return {
        after.key: {"category": after.category, "before": _rounded(before), "after": _rounded(after)}
        for before, after in pairs
    }


def _rounded(answer: Answered) -> dict[str, float]:
    return {name: round(value, 4) for name, value in answer.measures.items()}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
