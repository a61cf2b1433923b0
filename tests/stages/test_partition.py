"""Tiers, prices, budgets and the cache of partitions."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from libravdb_memory.errors import InvalidInputError
from libravdb_memory.ingest.deontic import Mark, Scan
from libravdb_memory.ingest.markdown import BlockKind, parse
from libravdb_memory.ingest.partition import (
    Node,
    Partition,
    PartitionCache,
    Tier,
    cache_key,
    check_hard_budget,
    partition,
    placed_nodes,
    share_of,
    soft_prefix,
)
from libravdb_memory.tokens import EstimatingCounter

COUNTER = EstimatingCounter()
LINES = st.sampled_from(
    "|- Always test.|  nested text|> quoted|You must never push.|The sky was blue.|# Title|```|    code|<p>|---".split(
        "|"
    )
)
DOCUMENTS = st.lists(LINES, max_size=15).map(lambda lines: "\n".join(lines).encode())


class WordCounter:
    id = "words"

    def count(self, text: str) -> int:
        return len(text.split())


def scan_for_must(text: str) -> Scan:
    """A scanner of known behaviour: every "must" is a rule."""
    at = text.find("must")
    return Scan((Mark("obligatory", at, at + 4),) if at >= 0 else ())


def tiers(source: str) -> list[tuple[str, Tier]]:
    return [(node.text, node.tier) for node in partition(source.encode(), COUNTER, scan=scan_for_must).nodes]


@pytest.mark.parametrize(
    ("source", "tier"),
    [
        ("---\na: b\n---", Tier.HARD),
        ("- any item\n  with its text", Tier.HARD),
        ("7. it must count", Tier.HARD),
        ("> quoted words", Tier.SOFT),
        ("You must test.", Tier.SOFT),
        ("You may read.", Tier.VARIANT),
        ("# You must", Tier.VARIANT),
        ("    must()", Tier.VARIANT),
        ("```\nmust\n```", Tier.VARIANT),
        ("<p>must</p>", Tier.VARIANT),
        ("[must]: /url", Tier.VARIANT),
        ("***", Tier.VARIANT),
    ],
)
def test_the_tier_of(source: str, tier: Tier) -> None:
    assert tiers(source) == [(source, tier)]


def test_the_scanner_of_the_project_is_the_default() -> None:
    nodes = partition(b"Never force-push to the main branch.\n\nThe sky was blue that day.", COUNTER).nodes
    assert [node.tier for node in nodes] == [Tier.SOFT, Tier.VARIANT]
    assert nodes[0].promoted
    assert nodes[0].marks[0].modality == "forbidden"


def test_a_list_item_is_scanned_but_hard_without_a_mark() -> None:
    quiet, loud = partition(b"- tabs\n- it must be tabs", COUNTER, scan=scan_for_must).nodes
    assert (quiet.tier, quiet.promoted, quiet.marks) == (Tier.HARD, False, ())
    assert (loud.tier, loud.promoted) == (Tier.HARD, True)
    assert loud.text[loud.marks[0].start : loud.marks[0].end] == "must"


@given(DOCUMENTS)
def test_every_block_is_one_node_and_the_partition_is_a_function_of_the_bytes(source: bytes) -> None:
    divided = partition(source, COUNTER)
    assert [(n.kind, n.start, n.end, n.line, n.text) for n in divided.nodes] == [
        (b.kind, b.start, b.end, b.line, b.text) for b in parse(source)
    ]
    assert [node.ordinal for node in divided.nodes] == list(range(len(divided.nodes)))
    assert sorted(n.ordinal for tier in Tier for n in divided.of_tier(tier)) == list(range(len(divided.nodes)))
    assert all(node.tokens == COUNTER.count(node.text) for node in divided.nodes)
    assert all(0 <= mark.start < mark.end <= len(node.text) for node in divided.nodes for mark in node.marks)
    assert partition(source, COUNTER) == divided


def test_a_byte_order_mark_hides_no_rule_and_moves_no_mark() -> None:
    marked = partition("\ufeffYou must test.".encode(), COUNTER).nodes[0]
    assert marked.tier is Tier.SOFT
    assert marked.text[marked.marks[0].start : marked.marks[0].end] == "You must test."


def test_hop_targets_and_the_problem_of_front_matter_are_kept() -> None:
    assert partition(b"---\nhop_targets: [a, b]\n---\n", COUNTER).hop_targets == ("a", "b")
    broken = partition(b"---\nhop_targets: [a\n---\n- x", COUNTER)
    assert broken.hop_targets == ()
    assert broken.front_matter_problem
    assert broken.nodes[0].tier is Tier.HARD


def document(*costs: int, tier: Tier = Tier.HARD) -> Partition:
    nodes = [
        Node(at, BlockKind.LIST_ITEM, tier, at * 10, at * 10 + 9, at + 1, "x", cost, False, ())
        for at, cost in enumerate(costs)
    ]
    return Partition("key", 0, tuple(nodes))


def test_hard_rules_at_their_limit_fit_and_one_token_more_overruns() -> None:
    assert check_hard_budget({"a": document(35)}, 100) is None
    overrun = check_hard_budget({"a": document(30), "b": document(6)}, 100)
    assert overrun is not None
    assert (overrun.tokens, overrun.limit, overrun.excess) == (36, 35, 1)


def test_an_overrun_names_the_costliest_nodes_with_their_places() -> None:
    overrun = check_hard_budget({"A.md": document(1, 9, 3), "B.md": document(9, 2, 5, 4)}, 10)
    assert overrun is not None
    assert [(placed.document, placed.node.tokens) for placed in overrun.costliest] == [
        ("A.md", 9), ("B.md", 9), ("B.md", 5), ("B.md", 4), ("A.md", 3),
    ]  # fmt: skip
    assert "33 tokens, 30 over" in str(overrun)
    assert "A.md:2 (9 tokens)" in str(overrun)


def test_only_hard_nodes_count_against_the_hard_share() -> None:
    assert check_hard_budget({"a": document(1000, tier=Tier.SOFT)}, 10) is None


@given(st.integers(0, 10**9), st.integers(0, 100))
@example(100, 29)  # in binary floating point, .29 of 100 is a little less than 29
def test_a_share_is_exact_decimal_arithmetic(budget: int, percent: int) -> None:
    assert share_of(budget, percent / 100) == budget * percent // 100


@pytest.mark.parametrize(("budget", "share"), [(-1, 0.5), (10, -0.1), (10, 1.1), (10, float("nan"))])
def test_a_bad_share_is_refused(budget: int, share: float) -> None:
    with pytest.raises(InvalidInputError):
        share_of(budget, share)


@given(st.lists(st.integers(0, 20), max_size=12), st.integers(-5, 80))
def test_the_soft_prefix_is_the_longest_that_fits(costs: list[int], limit: int) -> None:
    nodes = document(*costs, tier=Tier.SOFT).nodes
    prefix = soft_prefix(nodes, limit)
    assert prefix == nodes[: len(prefix)]
    assert sum(node.tokens for node in prefix) <= max(limit, 0)
    if len(prefix) < len(nodes):
        assert sum(node.tokens for node in nodes[: len(prefix) + 1]) > limit


def test_a_small_soft_node_does_not_overtake_a_large_one() -> None:
    nodes = document(5, 50, 1, tier=Tier.SOFT).nodes
    assert soft_prefix(nodes, 10) == nodes[:1]


def test_nodes_are_placed_in_the_order_of_documents_then_of_the_source() -> None:
    placed = placed_nodes({"z": document(1, 2), "a": document(3)}, Tier.HARD)
    assert [(p.document, p.node.tokens) for p in placed] == [("z", 1), ("z", 2), ("a", 3)]


@given(st.binary(max_size=20), st.binary(max_size=20), st.text(max_size=5), st.text(max_size=5))
def test_the_cache_key_tells_bytes_and_counters_apart(one: bytes, other: bytes, first: str, second: str) -> None:
    same = one == other and first == second
    assert (cache_key(one, first) == cache_key(other, second)) is same
    assert cache_key(one, first).startswith("sha256:")


def test_the_cache_answers_from_memory_and_sees_an_edit_and_another_counter() -> None:
    scanned: list[str] = []

    def counting(text: str) -> Scan:
        scanned.append(text)
        return Scan(())

    first, cache = PartitionCache().partition(b"one", COUNTER, scan=counting)
    again, cache = cache.partition(b"one", COUNTER, scan=counting)
    edited, cache = cache.partition(b"two", COUNTER, scan=counting)
    recounted, cache = cache.partition(b"one", WordCounter(), scan=counting)
    assert again is first
    assert scanned == ["one", "two", "one"]
    assert edited.nodes[0].text == "two"
    assert recounted.key != first.key


def test_the_cache_is_a_value_and_drops_the_least_recently_used() -> None:
    empty = PartitionCache(max_documents=2)
    a, cache = empty.partition(b"a", COUNTER)
    b, cache = cache.partition(b"b", COUNTER)
    _, cache = cache.partition(b"a", COUNTER)
    c, fuller = cache.partition(b"c", COUNTER)
    assert [fuller.get(p.key) for p in (a, b, c)] == [a, None, c]
    assert [cache.get(p.key) for p in (a, b, c)] == [a, b, None]
    assert empty.get(a.key) is None


@given(st.lists(st.binary(min_size=1, max_size=8).map(bytes.hex), max_size=12), st.integers(0, 4), st.integers(0, 40))
def test_the_cache_keeps_within_its_bounds(texts: list[str], documents: int, size: int) -> None:
    cache = PartitionCache(max_documents=documents, max_bytes=size)
    for text in texts:
        found, cache = cache.partition(text.encode(), COUNTER)
        assert found == partition(text.encode(), COUNTER)
        assert len(cache.held) <= documents
        assert sum(held.source_bytes for held in cache.held.values()) <= size


def test_a_negative_bound_of_the_cache_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="max_bytes"):
        PartitionCache(max_bytes=-1)
