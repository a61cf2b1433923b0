"""Reading the graph of summaries, and what a check of it finds when it is damaged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from libravdb_memory import Config, Memory, lineage
from libravdb_memory.errors import NotFoundError
from libravdb_memory.lineage import Branch
from libravdb_memory.model import Draft, Turn
from libravdb_memory.namespaces import guidance_of, history_of, summaries_of
from libravdb_memory.shards import Shard
from libravdb_memory.store.paging import every
from libravdb_memory.store.protocol import Key, Link, Put, Remove, Write
from libravdb_memory.summaries import Node, draft_of

TURNS = 30


@pytest.fixture
def memory(tmp_path: Path, hashed: Config) -> Iterator[Memory]:
    compaction = replace(hashed.compaction, cluster_target=3, fold_tokens=60, fold_fan=2, trigger_tokens=0)
    config = replace(hashed, compaction=compaction, assembly=replace(hashed.assembly, startup_budget=100))
    with Memory.open(tmp_path / "store", config=config) as opened:
        for number in range(TURNS):
            for session in ("s", "other"):
                text = f"lantern {number} on the quay was lit at {number + 3} and Oyelaran{number} wrote it down"
                opened.ingest(text, user="ada", session=session, id=f"t{number}", ts=TURNS - number)
        opened.compact(user="ada", session="s")
        yield opened


def nodes(memory: Memory) -> list[Node]:
    """Those that lie below no other first."""
    found: list[Node] = []

    def walk(branch: Branch) -> None:
        found.append(branch.node)
        for below in branch.below:
            walk(below)

    for entry in memory.history(user="ada", session="s").entries:
        if isinstance(entry, Branch):
            walk(entry)
    return found


def test_every_page_of_an_expansion_goes_on_where_the_last_one_ended(memory: Memory) -> None:
    top = max(nodes(memory), key=lambda node: node.level)
    assert top.level >= 3
    for limit in (1, 2, 5, 200):
        found: list[object] = []
        cursor: str | None = None
        while True:
            page = memory.expand(top.id, user="ada", limit=limit, after=cursor)
            assert len(page.items) <= limit
            found += page.items
            if (cursor := page.cursor) is None:
                break
        assert [item.id for item in found if isinstance(item, Turn)] == [f"t{number}" for number in range(top.turns)]


def test_each_level_of_an_expansion_holds_what_the_level_above_covers(memory: Memory) -> None:
    top = max(nodes(memory), key=lambda node: node.level)
    for depth in range(1, top.level):
        items = memory.expand(top.id, user="ada", depth=depth).items
        turns = [turn for item in items for turn in _turns(memory, item)]
        assert turns == [f"t{number}" for number in range(top.turns)]


def _turns(memory: Memory, item: Turn | Node) -> list[str]:
    return [item.id] if isinstance(item, Turn) else [turn.id for turn in memory.expand(item.id, user="ada").items]


def test_a_summary_knows_the_turns_at_its_ends(memory: Memory) -> None:
    for node in nodes(memory):
        turns = [item for item in memory.expand(node.id, user="ada").items if isinstance(item, Turn)]
        assert (node.first, node.last, node.turns) == (turns[0].id, turns[-1].id, len(turns))
        assert (node.first_ts, node.last_ts) == (turns[-1].ts, turns[0].ts), "times run backwards here"


def test_a_history_tells_its_own_session_only_and_every_turn_once(memory: Memory) -> None:
    for session in ("s", "other"):
        history = memory.history(user="ada", session=session)
        found = [turn for entry in history.entries for turn in _turns(memory, _top(entry))]
        assert found == [f"t{number}" for number in range(TURNS)]
        assert history.turns == TURNS
        assert any(isinstance(entry, Branch) for entry in history.entries) == (session == "s")


def _top(entry: Branch | Turn) -> Turn | Node:
    return entry.node if isinstance(entry, Branch) else entry


# ── damage ───────────────────────────────────────────────────────────────────────────────────────────────────────

Damage = Callable[[Node, Node], list[Write]]


def again(node: Node, **changes: object) -> Write:
    return Put(draft_of(replace(node, **changes)), replace=True)  # type: ignore[arg-type]


def another(node: Node) -> list[Write]:
    twin = replace(node, id="twin", children=node.children[:1])
    return [Put(draft_of(twin)), Link(twin.key, Key(history_of("ada"), node.children[0], "s"))]


def rule_of(turn: str, text: str) -> Draft:
    return Shard(turn, "s", text, 1, 1.0, "rule").draft("ada")


DAMAGES: dict[str, tuple[Damage, str]] = {
    "no smaller than its turns": (lambda low, _: [again(low, tokens=low.source_tokens)], "no less than"),
    "surer than sure": (lambda low, _: [again(low, confidence=1.5)], "confidence"),
    "made from more than it covers": (lambda low, _: [again(low, children=(*low.children, "t99"))], "made from"),
    "of no lower level than its parent": (lambda _, high: [again(high, level=2)], "no lower level"),
    "of turns and called a fold": (lambda low, _: [again(low, level=9)], "no summary of its session"),
    "covering what another covers": (lambda low, _: another(low), "another summary covers too"),
    "covering a turn of another session": (
        lambda low, _: [Link(low.key, Key(history_of("ada"), "t29", "other"))],
        "no turn of its session",
    ),
    "of more turns than it covers": (lambda low, _: [again(low, turns=low.turns + 1)], "says that it covers"),
    "of fewer turns than lie below": (lambda _, high: [again(high, turns=1)], "says that it covers"),
    "ending elsewhere": (lambda low, _: [again(low, last="elsewhere")], "says that it goes from"),
    "of other times": (lambda low, _: [again(low, first_ts=low.last_ts + 1)], "other times"),
    "pinned where nothing is": (lambda low, _: [again(low, pins_at=1)], "no pinned facts"),
    "told of a summary that is not there": (lambda low, _: [again(low, prior=("summary:gone",))], "was shown"),
    "a rule of no turn": (lambda *_: [Put(rule_of("ghost", "Never."))], "which is not there"),
    "a rule in other words": (lambda *_: [Put(rule_of("t3", "Never say it was t3."))], "has words that its turn"),
    "covering nothing": (
        lambda low, _: [Remove(low.key), Put(draft_of(low))],
        "covers nothing",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_summary_that_is_wrong_is_found_with_the_command_that_mends_it(memory: Memory, damage: str) -> None:
    assert memory.verify().ok
    low = next(node for node in nodes(memory) if node.level == 1)
    high = next(node for node in nodes(memory) if node.level >= 3)
    harm, words = DAMAGES[damage]
    memory._store.commit(harm(low, high)[:1])
    memory._store.commit(harm(low, high)[1:] or [Remove(Key(summaries_of("ada"), "nothing", "s"))])
    problems = memory.verify().problems
    assert any(words in problem.detail for problem in problems), problems
    mends = {problem.remedy for problem in problems if problem.kind == "lineage"}
    assert mends <= {f"libravdb compact --rebuild --user ada {session}" for session in ("s", "other")}, mends
    assert "libravdb compact --rebuild --user ada s" in mends
    memory.compact(user="ada", session="s", rebuild=True)
    assert memory.verify().ok


def test_an_edge_that_leads_out_of_a_session_is_followed_neither_down_nor_up(memory: Memory) -> None:
    """Only a damaged store has one, or one that took an import when these were not refused yet."""

    def told() -> list[object]:
        return [(node, memory.expand(node.id, user="ada").items) for node in nodes(memory)]

    memory.ingest("the secret of eve", user="eve", session="s", id="e0")
    low, high = (next(node for node in nodes(memory) if node.level == level) for level in (1, 3))
    theirs = replace(low, id="theirs", namespace="eve", children=("e0",))
    turn, elsewhere = Key(history_of("eve"), "e0", "s"), Key(history_of("ada"), "t29", "other")
    memory._store.commit([Put(draft_of(theirs)), Link(theirs.key, turn)])
    before = told()
    memory._store.commit([Link(node.key, away) for node in (low, high) for away in (turn, elsewhere)])
    memory._store.commit([Link(high.key, theirs.key)])
    assert told() == before
    assert [child.id for child in lineage.children(memory._store, low.key)] == list(low.children)
    assert [parent.id for parent in lineage.parents(memory._store, turn)] == ["theirs"]
    assert not lineage.parents(memory._store, theirs.key)
    assert not memory.verify().ok
    assert memory.erase("e0", user="eve").records == 2, "the turn and its own summary"
    assert told() == before


def test_a_summary_that_many_others_share_is_read_and_shown_once(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two on each level that both cover both of the next: the ways down double with each."""
    levels = 12
    low = next(node for node in nodes(memory) if node.level == 1)
    pairs = [[replace(low, id=f"{side}{level}", level=level) for side in "ab"] for level in range(2, levels + 2)]
    memory._store.commit([Put(draft_of(node)) for pair in pairs for node in pair])
    covered = [[low], *pairs]
    edges = [(high, below) for pair, belows in zip(pairs, covered, strict=False) for high in pair for below in belows]
    memory._store.commit([Link(high.key, below.key) for high, below in edges])
    read = list[Key]()
    children = memory._store.children
    monkeypatch.setattr(memory._store, "children", lambda key: read.append(key) or children(key))

    page = memory.expand(pairs[-1][0].id, user="ada")
    assert [item.id for item in page.items] == list(low.children)
    assert len(read) == len(set(read)) <= 2 * levels + 1, "each once"
    half = memory.expand(pairs[-1][0].id, user="ada", depth=levels // 2)
    assert sorted(item.id for item in half.items) == [f"{side}{levels + 1 - levels // 2}" for side in "ab"]
    read.clear()
    shown = [node.id for node in nodes(memory)]
    assert len(shown) == len(set(shown)) and set(shown) >= {node.id for pair in pairs for node in pair}
    assert len(read) == len(set(read))
    assert not memory.verify().ok


def test_a_rule_that_was_damaged_stands_again_after_a_rebuild(memory: Memory) -> None:
    said = "Never light the lantern before the harbour gate is closed."
    with_rule = [said, *(f"barge {number} went out at {number + 3} with the tide" for number in range(12))]
    for number, text in enumerate(with_rule):
        memory.ingest(text, user="ada", session="ruled", id=f"r{number}")
    assert memory.compact(user="ada", session="ruled").guidance == 1
    [rule] = every(memory._store, guidance_of("ada"))
    damaged = Draft(rule.collection, rule.id, "Never mind.", rule.metadata, rule.ts, rule.group)
    memory._store.commit([Put(damaged, replace=True)])
    assert not memory.verify().ok
    assert memory.compact(user="ada", session="ruled", rebuild=True).guidance == 1
    assert [rule.text for rule in every(memory._store, guidance_of("ada"))] == [said]
    assert memory.verify().ok


def test_a_rebuild_that_only_takes_away_says_so(memory: Memory, tmp_path: Path, hashed: Config) -> None:
    before = memory.history(user="ada", session="s")
    assert any(isinstance(entry, Branch) for entry in before.entries)
    memory.close()
    with Memory.open(tmp_path / "store", config=hashed) as larger_tail:
        done = larger_tail.compact(user="ada", session="s", rebuild=True)
        assert not done.summaries and "taken away" in done.reason and "behind the tail" in done.reason
        entries = larger_tail.history(user="ada", session="s").entries
        assert [entry.id for entry in entries if isinstance(entry, Turn)] == [f"t{number}" for number in range(TURNS)]
        assert "taken away" not in larger_tail.compact(user="ada", session="s", rebuild=True).reason


def test_a_turn_is_not_expanded_and_who_asks_is_told_that_it_is_one(memory: Memory) -> None:
    for whose in ({}, {"user": "ada"}, {"user": "ada", "session": "s"}):
        with pytest.raises(NotFoundError, match="'t1' is a turn, not a summary"):
            memory.expand("t1", **whose)
    for whose in ({"user": "bob"}, {"session": "third"}):
        with pytest.raises(NotFoundError, match="there is no summary 't1'"):
            memory.expand("t1", **whose)
