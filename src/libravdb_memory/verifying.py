"""What must be true of summaries and kept rules, checked against the turns they were made of.

Laws: a summary covers exactly what it says it was made from, all of it of its own session, and its figures are those of
what it covers. A kept rule has its turn, and every word of it is the turn's. With a collection of ours may be done what
its name says, else what is to be put there would be refused.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace

from libravdb_memory.model import Record
from libravdb_memory.namespaces import Policy, guidance_of, history_of, policy_of, summaries_of
from libravdb_memory.store.paging import every
from libravdb_memory.store.protocol import Key, Problem, Store, Verification
from libravdb_memory.summaries import Node, node_of


def verified(store: Store, found: Verification) -> Verification:
    """The same with what is wrong about summaries and rules, and how many were looked at."""
    summaries, rules, problems = 0, 0, [*found.problems, *_wrong_policies(store)]
    for info in store.collections(summaries_of("")):
        for record in every(store, info.name):
            summaries += 1
            problems += _problems_of(store, node_of(record))
    for info in store.collections(guidance_of("")):
        for record in every(store, info.name):
            rules += 1
            user, session = info.name.removeprefix(guidance_of("")), record.group
            if wrong := wrong_rule(store, record, user):
                where = f"rule {record.id!r} of session {session!r}"
                problems.append(Problem("lineage", where, wrong, _rebuild(user, session)))
    return Verification({**found.checked, "summaries": summaries, "rules": rules}, tuple(problems))


def _wrong_policies(store: Store) -> Iterator[Problem]:
    """Only an import could bring one, when these were not refused yet; an export says what is right."""
    for info in store.collections():
        ours, found = policy_of(info.name), Policy(info.append_only, info.searchable)
        if ours not in (None, found):
            detail = f"is {found.words()}, and should be {ours.words()}"
            remedy = "libravdb export FILE, and libravdb import FILE into a new store"
            yield Problem("policy", f"collection {info.name!r}", detail, remedy)


def _rebuild(user: str, session: str) -> str:
    """The command, as a shell takes it."""
    name = ["--", session] if session.startswith("-") else [session]
    return shlex.join(["libravdb", "compact", "--rebuild", "--user", user, *name])


# ── summaries ────────────────────────────────────────────────────────────────────────────────────────────────────


def _problems_of(store: Store, node: Node) -> Iterator[Problem]:
    where = f"summary {node.id!r} of session {node.session!r}"
    children = store.children(node.key)
    below = list(_wrong_below(node, children))
    figures = () if below else _wrong_figures(node, children)  # of other children they could only be wrong too
    alone = (*_wrong_by_itself(node), *_told_of_nothing(store, node))
    for detail in (*below, *figures, *alone, *_covered_twice(store, node, children)):
        yield Problem("lineage", where, detail, _rebuild(node.namespace, node.session))


def _wrong_below(node: Node, children: Sequence[Record]) -> Iterator[str]:
    allowed = history_of(node.namespace) if node.level == 1 else summaries_of(node.namespace)
    if not children:
        yield "covers nothing"
    for child in children:
        if child.collection != allowed or child.group != node.session:
            yield f"covers {child.id!r}, which is no {'turn' if node.level == 1 else 'summary'} of its session"
        elif node.level > 1 and node_of(child).level >= node.level:
            yield f"covers {child.id!r}, which is of no lower level"
    if children and {child.id for child in children} != set(node.children):
        yield f"covers {len(children)} and was made from {len(node.children)}"


def _wrong_figures(node: Node, children: Sequence[Record]) -> Iterator[str]:
    by_id = {child.id: child for child in children}
    ordered = [by_id[name] for name in node.children]
    if node.level == 1:
        turns, ends, times = len(ordered), (ordered[0].id, ordered[-1].id), [child.ts for child in ordered]
    else:
        nodes = [node_of(child) for child in ordered]
        turns, ends = sum(each.turns for each in nodes), (nodes[0].first, nodes[-1].last)
        times = [moment for each in nodes for moment in (each.first_ts, each.last_ts)]
    if node.turns != turns:
        yield f"says that it covers {node.turns} turns, which are {turns}"
    if (node.first, node.last) != ends:
        yield f"says that it goes from {node.first!r} to {node.last!r}, which is {ends[0]!r} to {ends[1]!r}"
    if (node.first_ts, node.last_ts) != (min(times), max(times)):
        yield "says other times than those of what it covers"


def _told_of_nothing(store: Store, node: Node) -> Iterator[str]:
    """What a model wrote with an erased summary at hand goes with that."""
    for name in node.prior:
        if store.get(replace(node.key, id=name)) is None:
            yield f"was written by a model that was shown {name!r}, which is not there"


def _wrong_by_itself(node: Node) -> Iterator[str]:
    from libravdb_memory.compact.certificate import PREFIX  # brings what only few commands need

    if not 0 < node.tokens < node.source_tokens:
        yield f"costs {node.tokens} tokens, no less than the {node.source_tokens} that it covers"
    if not 0.0 <= node.confidence <= 1.0:
        yield f"has a confidence of {node.confidence}"
    if node.pins_at is not None and not node.text.startswith(PREFIX, node.pins_at):
        yield f"has no pinned facts at {node.pins_at}, where it says so"


def _covered_twice(store: Store, node: Node, children: Sequence[Record]) -> Iterator[str]:
    for child in children:
        if len(store.parents(Key(child.collection, child.id, child.group))) > 1:
            yield f"covers {child.id!r}, which another summary covers too"


# ── rules ────────────────────────────────────────────────────────────────────────────────────────────────────────


def wrong_rule(store: Store, record: Record, namespace: str) -> str:
    """What is wrong with a kept rule, or nothing."""
    from libravdb_memory.compact.guidance import GAP  # it brings in the patterns of all rules

    turn_id = record.metadata.get("source_turn_id")
    if not isinstance(turn_id, str):
        return ""  # not taken from a turn
    turn = store.get(Key(history_of(namespace), turn_id, record.group))
    if turn is None:
        return f"was taken from {turn_id!r}, which is not there"
    kept = all(part in turn.text for part in record.text.split(GAP))
    return "" if kept else f"has words that its turn {turn_id!r} has not"
