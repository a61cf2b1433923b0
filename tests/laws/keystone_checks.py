"""The sixteen invariants, each by its name, against what the model knows.

Every check reads a `Seen`: the store as it stands after a step, and contexts assembled on it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import unescape

import apsw
import pytest
from tests.laws.keystone_model import TOKEN, Model, Place, Said, base_begins, bundles
from tests.laws.keystone_settings import BASE

from libravdb_memory import Memory
from libravdb_memory.assemble.fill import Candidate
from libravdb_memory.assemble.messages import message_cost, plain_text
from libravdb_memory.assemble.receipt import Item, Rejection
from libravdb_memory.assemble.render import escape
from libravdb_memory.context import Context
from libravdb_memory.errors import AppendOnlyError, ConflictError, NotFoundError
from libravdb_memory.model import Draft, Hit, Hits, Record
from libravdb_memory.namespaces import guidance_of, guided_namespace_of, history_of, states_of, summaries_of
from libravdb_memory.store.paging import every
from libravdb_memory.store.protocol import Key, Put, Remove
from libravdb_memory.summaries import node_of
from libravdb_memory.tokens import EstimatingCounter

COUNT = EstimatingCounter().count
LEAST_HOP = 0.15


@dataclass(frozen=True)
class Asked:
    """A context, and what was asked for."""

    place: Place
    prompt: str
    budget: int
    context: Context
    session: tuple[Said, ...]
    """The turns that the model knew of then."""
    messages: tuple[dict[str, object], ...] = ()
    owns: bool = False

    @property
    def visible(self) -> set[str]:
        """What the prompt shows anyway: of the host's messages, those that stay."""
        return {self.prompt, *filter(None, map(plain_text, self.context.messages))}


@dataclass(frozen=True)
class Searched:
    """What a search found, and where it looked: in one session or in all of that user."""

    user: str
    session: str | None
    with_summaries: bool
    hits: Hits


@dataclass(frozen=True)
class Seen:
    memory: Memory
    model: Model
    turns: dict[Place, list[Record]]
    summaries: dict[Place, dict[str, Record]]
    by_ref: dict[int, Record]
    edges: tuple[tuple[int, int], ...]
    asked: tuple[Asked, ...]
    searched: tuple[Searched, ...]


def look(memory: Memory, model: Model, asked: Sequence[Asked], searched: Sequence[Searched]) -> Seen:
    store = memory._store
    turns: dict[Place, list[Record]] = {}
    summaries: dict[Place, dict[str, Record]] = {}
    by_ref: dict[int, Record] = {}
    for info in store.collections():
        for record in every(store, info.name):
            by_ref[record.ref] = record
            kind, _, user = info.name.partition(":")
            if kind == "history":
                turns.setdefault((user, record.group), []).append(record)
            elif kind == "summary":
                summaries.setdefault((user, record.group), {})[record.id] = record
    return Seen(memory, model, turns, summaries, by_ref, store.edges(), tuple(asked), tuple(searched))


# ── contexts ─────────────────────────────────────────────────────────────────────────────────────────────────────


def check_01_every_hard_rule_is_in_every_context(seen: Seen) -> None:
    for asked in seen.asked:
        at = 0
        for rule in (rule for document in seen.model.documents.values() for rule in document.needed):
            at = asked.context.text.index(rule, at) + len(rule)


def check_02_soft_rules_are_a_prefix_in_order(seen: Seen) -> None:
    soft = [f"> {rule}" for document in seen.model.documents.values() for rule in document.soft]
    for asked in seen.asked:
        shown = [item for item in asked.context.assembly.items if item.tier == "soft"]
        texts = [asked.context.text[item.start :] for item in shown]
        assert len(texts) <= len(soft)
        for text, rule in zip(texts, soft, strict=False):
            assert text.startswith(rule)
        assert len({item.start for item in shown}) == len(shown)
        if len(shown) < len(soft):
            dropped = [each for each in asked.context.assembly.rejections if each.tier == "soft"]
            assert len(dropped) == len(soft) - len(shown)


def check_03_rules_tail_and_recall_are_disjoint(seen: Seen) -> None:
    """No turn is told twice. A summary may stand above turns of which the tail shows the later ones: it must tell of
    one at least that is shown nowhere else."""
    for asked in seen.asked:
        items = asked.context.assembly.items
        assert len({(item.session, item.id) for item in items}) == len(items)
        tail = {(item.session, item.id) for item in items if item.tier == "tail"}
        user = asked.place[0]
        told = {" ".join(text.split()) for text in asked.visible}
        told |= {" ".join(seen.model.turns[user, session][name].text.split()) for session, name in tail}
        for item in items:
            covering = seen.model.summaries.get((user, item.session), {}).get(item.id)
            if covering is not None:
                below = [seen.model.turns[user, item.session][name] for name in covering.turns]
                assert any((item.session, turn.id) not in tail and turn.text not in asked.visible for turn in below)
                assert (item.session, below[0].id) not in tail
            elif item.tier in ("recalled", "recovered"):
                said = seen.model.turns.get((user, item.session), {}).get(item.id)
                assert said is None or " ".join(said.text.split()) not in told


def check_04_the_base_tail_is_complete_and_exact(seen: Seen) -> None:
    for asked in seen.asked:
        if asked.owns and asked.messages:
            _kept_messages_are_the_newest(asked)
        else:
            _shown_tail_is_that_of_the_session(asked)


def _kept_messages_are_the_newest(asked: Asked) -> None:
    """A request may stand before them, if they begin in the answers to it."""
    kept = list(asked.context.messages)
    assert kept[len(kept) - min(BASE, len(kept)) :] == list(asked.messages[-BASE:])[-len(kept) :]
    assert len(kept) >= min(BASE, len(_from_the_first_request(asked.messages)))
    newest = kept[1:] if kept != list(asked.messages[-len(kept) :]) else kept
    assert newest == list(asked.messages)[len(asked.messages) - len(newest) :]
    assert len(newest) == len(kept) or (kept[0]["role"] == "user" and kept[0] in asked.messages[: -len(newest)])


def _from_the_first_request(messages: Sequence[dict[str, object]]) -> Sequence[dict[str, object]]:
    roles = [message["role"] for message in messages]
    return messages[roles.index("user") :] if "user" in roles else ()


def _shown_tail_is_that_of_the_session(asked: Asked) -> None:
    """The frame of the tail, byte by byte, by what the model knows: whole bundles up to the newest turn, from the base
    tail at the latest; and the base tail alone where nothing else has room."""
    text, turns = asked.context.text, asked.session
    base = base_begins(turns, BASE)
    shown = [item.id for item in asked.context.assembly.items if item.tier == "tail"]
    starts = [run.start for run in bundles(turns) if run.start <= base] or [0]
    if asked.context.assembly.degraded is not None:
        starts = [base]
    frames = {}
    for start in starts:
        told = [turn for turn in turns[start:] if turn.text not in asked.visible]
        entries = [f'<entry role="{turn.role}" source="session">{escape(turn.text)}</entry>' for turn in told]
        frame = "\n".join(["<recent_session_tail>", *entries, "</recent_session_tail>"]) if entries else ""
        frames[tuple(turn.id for turn in told)] = frame
    assert tuple(shown) in frames
    assert frames[tuple(shown)] in text
    assert text.count("<recent_session_tail>") == text.count("</recent_session_tail>") == bool(shown)


def check_05_scores_lie_in_0_to_1(seen: Seen) -> None:
    for each in _judged(seen):
        if each.score is not None:
            assert math.isfinite(each.score) and 0.0 <= each.score <= 1.0
    for searched in seen.searched:
        scores = [hit.score for hit in searched.hits]
        assert all(math.isfinite(score) and 0.0 <= score <= 1.0 for score in scores)
        assert scores == sorted(scores, reverse=True)


def _judged(seen: Seen) -> Iterator[Item | Rejection]:
    for asked in seen.asked:
        yield from asked.context.assembly.items
        yield from asked.context.assembly.rejections


def check_06_the_budget_is_kept_framing_included(seen: Seen) -> None:
    for asked in seen.asked:
        context, assembly = asked.context, asked.context.assembly
        beside = 0
        if asked.owns:
            beside = COUNT(asked.prompt) + 4
            beside += sum(message_cost(message, EstimatingCounter()) for message in context.messages)
        assert context.tokens == COUNT(context.text) + beside
        if assembly.degraded is not None:
            assert {item.tier for item in assembly.items} <= {"hard", "tail"}
        if context.tokens > asked.budget:
            assert context.degraded
        assert assembly.tokens <= assembly.budget or assembly.degraded is not None


# ── compaction ───────────────────────────────────────────────────────────────────────────────────────────────────


def check_07_only_turns_behind_the_tail_are_covered(seen: Seen) -> None:
    """The machine notes at each compaction what the tail was then and which bundles were whole; here: what is covered
    is what some compaction covered, and nothing else."""
    for place, turns in seen.turns.items():
        covered = {seen.by_ref[child].id for _, child in seen.edges if child in {turn.ref for turn in turns}}
        assert covered == seen.model.covered(place)


def check_08_every_summary_is_smaller_than_what_it_covers(seen: Seen) -> None:
    children: dict[int, list[Record]] = {}
    for parent, child in seen.edges:
        children.setdefault(parent, []).append(seen.by_ref[child])
    for records in seen.summaries.values():
        for record in records.values():
            node = node_of(record)
            below = COUNT("\n".join(child.text for child in children[record.ref]))
            assert node.tokens == COUNT(record.text) < node.source_tokens <= below
            assert any(map(str.isalnum, record.text))
            assert 0.0 <= node.confidence <= 1.0 and node.decay_rate == 1.0 - node.confidence


def check_09_lineage_is_complete_and_acyclic(seen: Seen) -> None:
    assert {place for place, found in seen.summaries.items() if found} == {
        place for place, known in seen.model.summaries.items() if known
    }
    for place, known in seen.model.summaries.items():
        records = seen.summaries.get(place, {})
        assert records.keys() == known.keys()
        for name, covering in known.items():
            assert records[name].text == covering.text
            below = [seen.by_ref[child] for parent, child in seen.edges if parent == records[name].ref]
            assert {child.id for child in below} == set(covering.children) and covering.children
            assert {child.group for child in below} == {place[1]}
            wanted = history_of(place[0]) if covering.level == 1 else summaries_of(place[0])
            assert {child.collection for child in below} == {wanted}
            assert node_of(records[name]).first == covering.turns[0]
            assert all(node_of(child).level < covering.level for child in below if covering.level > 1)
    children = [child for _, child in seen.edges]
    assert len(children) == len(set(children)), "something is covered twice"
    verified = seen.memory.verify()
    assert verified.ok, verified.problems


def check_10_every_summary_expands_to_the_exact_turns(seen: Seen) -> None:
    for place, known in seen.model.summaries.items():
        for name, covering in known.items():
            found = list(_expanded(seen.memory, place, name))
            assert [turn.id for turn in found] == list(covering.turns)
            for turn in found:
                said = seen.model.turns[place][turn.id]
                assert (turn.text, turn.role, turn.metadata) == (said.text, said.role, said.meta)
                assert (turn.user, turn.session) == place


def _expanded(memory: Memory, place: Place, name: str) -> Iterator[object]:
    cursor: str | None = None
    while True:
        page = memory.expand(name, user=place[0], session=place[1], limit=5, after=cursor)
        yield from page.items
        if (cursor := page.cursor) is None:
            return


def check_11_raw_history_is_append_only(seen: Seen) -> None:
    assert seen.turns.keys() == {place for place, turns in seen.model.turns.items() if turns}
    for place, records in seen.turns.items():
        said = seen.model.session(place)
        assert [record.id for record in records] == [turn.id for turn in said]
        for record, turn in zip(records, said, strict=True):
            assert (record.text, record.metadata["role"]) == (turn.text, turn.role)
            assert record.metadata.get("meta", {}) == turn.meta
            assert turn.ts in (None, record.ts) and record.version == 1
            assert seen.model.refs.setdefault((place, record.id), record.ref) == record.ref
    for place, records in list(seen.turns.items())[:1]:
        key = Key(history_of(place[0]), records[0].id, place[1])
        with pytest.raises(AppendOnlyError):
            seen.memory._store.commit([Remove(key)])
        edited = Draft(key.collection, key.id, "edited", group=key.group)
        with pytest.raises(AppendOnlyError):
            seen.memory._store.commit([Put(edited, replace=True, append_only=True)])


# ── ranking ──────────────────────────────────────────────────────────────────────────────────────────────────────


def check_12_hops_end_after_one_step_below_their_parents(seen: Seen) -> None:
    for asked in seen.asked:
        offered = (*asked.context.receipt.offer.recalled, *asked.context.receipt.offer.recovered)
        lore = [item for item in offered if item.source == "document"]
        for item in filter(is_hop, offered):
            parents = [name for name, known in seen.model.documents.items() if item.session in known.hops]
            by_themselves = [each.score for each in lore if each.session in parents and not is_hop(each)]
            reached = [each.score for each in lore if each.session in parents and is_hop(each)]
            assert LEAST_HOP <= item.score <= 0.5 and item.score == item.parts["hop"]
            assert by_themselves or reached, "a hop comes from a document that was recalled"
            if item.score != pytest.approx(min(max(by_themselves, default=0.0), 1.0) / 2):
                # What such a parent scores by itself is less than by the hop to it, and not told: half of the latter
                # would be a second step.
                assert item.score < max(reached, default=0.0) / 2


def is_hop(item: Candidate) -> bool:
    return "hop" in item.parts


def check_13_the_quality_multiplier_keeps_its_bounds(seen: Seen) -> None:
    for asked in seen.asked:
        records = seen.summaries.get(asked.place, {})
        for item in (*asked.context.assembly.items, *asked.context.assembly.rejections):
            if "quality" in item.parts:
                summary = records.get(item.id) if item.session == asked.place[1] else None
                decay = 0.0 if summary is None else 1.0 - node_of(summary).confidence
                assert 0.5 <= item.parts["quality"] <= 1.0
                assert item.parts["quality"] == pytest.approx(1.0 - 0.5 * decay)


def check_14_nothing_is_read_from_another_namespace(seen: Seen) -> None:
    for asked in seen.asked:
        owners = {found[1] for found in TOKEN.finditer(unescape(asked.context.text))}
        assert owners <= {asked.place[0]}
        owners = {found[1] for found in TOKEN.finditer(str(asked.context.receipt.offer))}
        assert owners <= {asked.place[0]}
    for searched in seen.searched:
        assert len({(hit.turn.session, hit.id) for hit in searched.hits}) == len(searched.hits)
        for hit in searched.hits:
            assert hit.turn.user == searched.user and searched.session in (None, hit.turn.session)
            _is_exact(seen, searched, hit)
    for place, known in seen.model.summaries.items():
        for name in list(known)[:1]:
            with pytest.raises(NotFoundError):
                seen.memory.expand(name, user=f"not {place[0]}")
            with pytest.raises(NotFoundError):
                seen.memory.expand(name, user=place[0], session=f"not {place[1]}")
    _every_record_holds_only_words_of_its_own_user(seen)


def _is_exact(seen: Seen, searched: Searched, hit: Hit) -> None:
    """The turn as it was said, or a summary that is there."""
    place, turn = (searched.user, hit.turn.session), hit.turn
    assert hit.id == turn.id and hit.text == turn.text
    if turn.role == "summary":
        assert searched.with_summaries and turn.text == seen.model.summaries[place][turn.id].text
    else:
        said = seen.model.turns[place][turn.id]
        assert (turn.text, turn.role, turn.metadata) == (said.text, said.role, said.meta)


def _every_record_holds_only_words_of_its_own_user(seen: Seen) -> None:
    for record in seen.by_ref.values():
        for make in (history_of, summaries_of, guidance_of, states_of):
            if record.collection.startswith(make("")):
                user = record.collection.removeprefix(make(""))
                said = f"{record.text} {record.metadata}"
                assert {found[1] for found in TOKEN.finditer(said)} <= {user}


# ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────────


def check_15_writes_are_idempotent(seen: Seen) -> None:
    for place, turns in list(seen.model.turns.items())[:2]:
        if not turns:
            continue
        turn = list(turns.values())[len(turns) // 2]
        collection = history_of(place[0])
        before = list(every(seen.memory._store, collection))

        def again(text: str, place: Place = place, name: str = turn.id, as_: object = turn) -> None:
            said = as_
            seen.memory.ingest(
                text, user=place[0], session=place[1], role=said.role, ts=said.ts, id=name, metadata=dict(said.meta)
            )

        again(turn.text)
        with pytest.raises(ConflictError):
            again(turn.text + " or so")
        assert list(every(seen.memory._store, collection)) == before


def check_16_what_was_acknowledged_is_on_disk(seen: Seen) -> None:
    """By another connection than the store's own: a process that is killed now loses none of it. Turns, and whatever a
    compaction told of: summaries with their edges, and rules."""
    db = apsw.Connection(str(seen.memory._store.path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        rows = db.execute("SELECT ref, id, text FROM record").fetchall()
        edges = {tuple(edge) for edge in db.execute("SELECT parent, child FROM edge")}
    finally:
        db.close()
    held = {ref: (name, text) for ref, name, text in rows}
    for place, turns in seen.model.turns.items():
        for turn in turns.values():
            assert held[seen.model.refs[place, turn.id]] == (turn.id, turn.text)
    refs = {(record.collection, record.group, record.id): record.ref for record in seen.by_ref.values()}
    for place, known in seen.model.summaries.items():
        for name, covering in known.items():
            assert held[refs[summaries_of(place[0]), place[1], name]] == (name, covering.text)
    rules = {
        (place, rule.metadata["source_turn_id"]): rule
        for rule in seen.by_ref.values()
        if (user := guided_namespace_of(rule.collection)) is not None
        for place in [(user, rule.group)]
    }
    assert rules.keys() == {(place, turn) for place, kept in seen.model.guidance.items() for turn in kept}
    for (place, turn), rule in rules.items():
        assert held[rule.ref] == (rule.id, seen.model.guidance[place][turn])
    assert edges == set(seen.edges)


CHECKS: tuple[Callable[[Seen], None], ...] = tuple(
    check for name, check in sorted(globals().items()) if name.startswith("check_")
)
assert len(CHECKS) == 16


def occurred(seen: Seen) -> Counter[str]:
    """What there was to check, for laws that hold of nothing too."""
    found: Counter[str] = Counter()
    found["two users with summaries"] += len({user for (user, _), known in seen.summaries.items() if known}) > 1
    for searched in seen.searched:
        found["turns found"] += sum(hit.turn.role != "summary" for hit in searched.hits)
        found["summaries found"] += sum(hit.turn.role == "summary" for hit in searched.hits)
    for asked in seen.asked:
        offer, assembly = asked.context.receipt.offer, asked.context.assembly
        hops = [item for item in (*offer.recalled, *offer.recovered) if is_hop(item)]
        found["hops"] += len(hops)
        found["a second hop possible"] += any(_leads_on(seen, hop, hops) for hop in hops)
        found["own mode with messages"] += asked.owns and bool(asked.messages)
        found["recovered"] += sum(item.tier == "recovered" for item in assembly.items)
        soft = {"soft"} & {item.tier for item in assembly.items} and {"soft"} & {e.tier for e in assembly.rejections}
        found["soft rules cut in part"] += bool(soft)
        found["a summary whose first turn is in the tail"] += _begin_in_the_tail(seen, asked)
        for item in (*assembly.items, *assembly.rejections):
            is_summary = item.session == asked.place[1] and item.id in seen.summaries.get(asked.place, {})
            found["summaries with a quality below 1"] += is_summary and item.parts.get("quality", 1.0) < 1.0
            found["guidance chosen"] += isinstance(item, Item) and item.tier == "elevated"
        found["summaries shown"] += sum(item.id.startswith("summary:") for item in assembly.items)
        found["tails shown"] += any(item.tier == "tail" for item in assembly.items)
        found["degraded"] += assembly.degraded is not None
    return found


def _leads_on(seen: Seen, hop: Candidate, hops: Sequence[Candidate]) -> bool:
    """To lore that no hop reached, with a score that would do for one more step."""
    known = seen.model.documents
    reached = {each.session for each in hops}
    beyond = {name for name in known[hop.session].hops if name in known and known[name].lore} - reached
    return bool(beyond) and hop.score / 2 >= LEAST_HOP


def _begin_in_the_tail(seen: Seen, asked: Asked) -> int:
    """Summaries that might have been recalled there."""
    assembly, offer = asked.context.assembly, asked.context.receipt.offer
    if assembly.degraded is not None:
        return 0
    tail = {(item.session, item.id) for item in assembly.items if item.tier == "tail"}
    firsts = [
        (item.session, known.turns[0])
        for item in (*offer.recalled, *offer.recovered)
        if (known := seen.model.summaries.get((asked.place[0], item.session), {}).get(item.id))
    ]
    return len(tail & set(firsts))


# ── what the machine notes on the way ────────────────────────────────────────────────────────────────────────────


def assert_only_whole_bundles_behind_the_tail(
    model: Model, place: Place, before: set[str], tail: int, covered: dict[str, tuple[str, ...]]
) -> None:
    """`before` were covered already; the tail began at `tail`; `covered` are the turns below each new summary."""
    turns = model.session(place)
    behind = {turn.id for turn in turns[:tail]}
    for below in covered.values():
        assert set(below) <= behind - before
    for run in bundles(turns):
        whole = {turns[index].id for index in run}
        if whole & before:
            continue
        for below in covered.values():
            assert whole <= set(below) or not whole & set(below)
