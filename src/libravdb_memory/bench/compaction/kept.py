"""What summaries keep: the facts of the turns that they cover, and the way back to every one of those turns.

Law: shares are counted over all facts together, each once for every summary that covers it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from libravdb_memory.bench import figures
from libravdb_memory.bench.compaction.asking import Compacted, Summarised
from libravdb_memory.bench.retrieval.asking import Speaking
from libravdb_memory.compact.certificate import certify_facts, facts
from libravdb_memory.compact.spans import Kind

EXACT: frozenset[Kind] = frozenset(("identifier", "number", "date", "path", "url"))
LEAST_KEPT = 0.98
_SHOWN = 20


@dataclass(slots=True)
class _Tally:
    """Facts and those that were kept, by kind; some of those that were lost."""

    all: Counter[Kind] = field(default_factory=Counter[Kind])
    kept: Counter[Kind] = field(default_factory=Counter[Kind])
    lost: list[str] = field(default_factory=list[str])

    def share(self, kinds: Iterable[Kind]) -> float:
        wanted = list(kinds)
        total = sum(self.all[kind] for kind in wanted)
        return sum(self.kept[kind] for kind in wanted) / total if total else 1.0


def facts_kept(sessions: Iterable[Compacted], rules: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """`rules` are the texts kept word by word, by user and turn."""
    summaries = [each for session in sessions for each in session.summaries]
    first = [each for each in summaries if each.node.level == 1]
    folds = [each for each in summaries if each.node.level > 1]
    alone, with_rules = _tally(first, {}), _tally(first, rules)
    return {
        "of_summaries": figures.at_least(
            alone.share(EXACT),
            LEAST_KEPT,
            facts=sum(alone.all[kind] for kind in EXACT),
            by_kind=_by_kind(alone),
            with_rules_kept_word_by_word=round(with_rules.share(EXACT), 4),
            lost_for_example=alone.lost[:_SHOWN],
        ),
        "names_of_summaries": round(alone.share(("name",)), 4),
        "negations_of_summaries": round(alone.share(("negation",)), 4),
        "of_folds": _folds(folds),
    }


def facts_of_folds(session: Compacted) -> dict[str, Any]:
    """What summaries of summaries hold of all turns below them."""
    return _folds([each for each in session.summaries if each.node.level > 1])


def reached(
    users: Sequence[Speaking], before: Mapping[str, Compacted], sessions: Mapping[str, Compacted]
) -> dict[str, Any]:
    """The share of gold turns that can be had again, word for word as they were stored, from the roots; and of all
    turns. `before` are the sessions with nothing compacted."""
    gold = everything = found = found_gold = 0
    for user in users:
        stored, exact = before[user.user].reachable, sessions[user.user].reachable
        wanted = {turn for question in user.conversation.questions for turn in question.gold}
        back = {turn for turn in user.turns if turn in stored and exact.get(turn) == stored[turn]}
        everything, found = everything + len(user.turns), found + len(back)
        gold, found_gold = gold + len(wanted), found_gold + len(wanted & back)
    return figures.at_least(found_gold / gold, 1.0, gold_turns=gold, of_all_turns=found / everything)


def _folds(folds: Sequence[Summarised]) -> dict[str, Any]:
    tally = _tally(folds, {})
    return {
        "folds": len(folds),
        "exact": round(tally.share(EXACT), 4),
        "names": round(tally.share(("name",)), 4),
        "negations": round(tally.share(("negation",)), 4),
    }


def _tally(summaries: Iterable[Summarised], rules: Mapping[str, Mapping[str, str]]) -> _Tally:
    tally = _Tally()
    for each in summaries:
        kept = rules.get(each.node.namespace, {})
        texts = [each.node.text, *(kept[turn.id] for turn in each.turns if turn.id in kept)]
        left = facts(turn.text for turn in each.turns)
        tally.all.update(fact.kind for fact in left)
        for text in texts:
            certificate = certify_facts(left, text)
            tally.kept.update(fact.kind for fact in certificate.kept)
            left = certificate.missing
        tally.lost += [fact.text for fact in left if fact.kind in EXACT]
    return tally


def _by_kind(tally: _Tally) -> dict[str, dict[str, float]]:
    return {
        kind: {"facts": tally.all[kind], "kept": round(tally.share((kind,)), 4)}
        for kind in sorted(tally.all)
        if kind in EXACT
    }
