"""Hops between authored documents: bounded, one deep, never above the parent."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from libravdb_memory.retrieve.hops import HOP_SHARE, LEAST_HOP, hop_scores

names = st.sampled_from("abcdef")
graphs = st.dictionaries(names, st.lists(names, max_size=4))


@given(st.dictionaries(names, st.floats(0, 1)), graphs)
def test_a_hop_scores_half_its_best_parent_and_ends_there(
    parents: dict[str, float], graph: dict[str, list[str]]
) -> None:
    for target, score in hop_scores(parents, graph).items():
        pointing = [parents[parent] for parent in parents if target in graph.get(parent, ())]
        assert score == HOP_SHARE * max(pointing)
        assert score >= LEAST_HOP
        assert score > parents.get(target, 0.0)


@given(st.dictionaries(names, st.floats(allow_nan=False)), graphs)
def test_no_score_leaves_the_unit_interval(parents: dict[str, float], graph: dict[str, list[str]]) -> None:
    assert all(0.0 <= score <= 1.0 for score in hop_scores(parents, graph).values())


def test_weak_parents_do_not_hop_and_the_bound_itself_does() -> None:
    assert hop_scores({"a": 0.3}, {"a": ["b"]}) == {"b": 0.15}
    assert hop_scores({"a": 0.29}, {"a": ["b"]}) == {}


def test_a_target_that_scores_more_by_itself_is_left_alone() -> None:
    assert hop_scores({"a": 1.0, "b": 0.6, "c": 0.1}, {"a": ["a", "b", "c"]}) == {"c": 0.5}


def test_a_cycle_is_no_trap() -> None:
    assert hop_scores({"a": 1.0}, {"a": ["b"], "b": ["c", "a"], "c": ["b"]}) == {"b": 0.5}
