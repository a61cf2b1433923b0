"""Which turns are compacted together, and which summaries are folded."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libravdb_memory.compact.plan import Root, eligible, folds, plan
from libravdb_memory.compact.settings import CompactionSettings, Rung
from libravdb_memory.errors import ConfigError

SETTINGS = CompactionSettings()


def ids(count: int) -> list[str]:
    return [f"t{number}" for number in range(count)]


@st.composite
def sessions(draw: st.DrawFn) -> tuple[list[str], int, set[str], list[int], int]:
    """Turns, where their tail begins, which are covered, where each one's bundle begins, and a cluster size."""
    sizes = draw(st.lists(st.integers(1, 6), max_size=40))
    starts = [start for start, size in _from(sizes) for _ in range(size)]
    turns = ids(len(starts))
    covered = draw(st.sets(st.sampled_from(turns))) if turns else set[str]()
    return turns, draw(st.integers(0, len(turns))), covered, starts, draw(st.integers(2, 25))


def _from(sizes: list[int]) -> list[tuple[int, int]]:
    return [(sum(sizes[:place]), size) for place, size in enumerate(sizes)]


@given(sessions())
def test_clusters_cover_exactly_what_is_eligible_in_order(
    session: tuple[list[str], int, set[str], list[int], int],
) -> None:
    turns, tail, covered, starts, target = session
    made = plan(turns, tail, covered, starts, CompactionSettings(cluster_target=target))
    places = [place for cluster in made.clusters for place in cluster.members]
    assert places == sorted(set(places))
    assert all(place < tail and turns[place] not in covered for place in places)
    wanted = eligible(turns, tail, covered, starts)
    assert (places == list(wanted)) == (len(wanted) >= 2) or not wanted
    assert bool(made.declined) == (len(wanted) < 2) == (not made.clusters)
    assert made == plan(turns, tail, covered, starts, CompactionSettings(cluster_target=target))


@given(sessions())
def test_a_bundle_is_neither_split_nor_taken_from_the_tail(
    session: tuple[list[str], int, set[str], list[int], int],
) -> None:
    turns, tail, covered, starts, target = session
    made = plan(turns, tail, covered, starts, CompactionSettings(cluster_target=target))
    cluster_of = {place: number for number, cluster in enumerate(made.clusters) for place in cluster.members}
    for one, two in pairwise(sorted(cluster_of)):
        if starts[one] == starts[two]:
            assert cluster_of[one] == cluster_of[two]
    if tail < len(turns):
        assert all(starts[place] != starts[tail] for place in cluster_of)


@given(st.integers(2, 400), st.integers(2, 50))
def test_without_bundles_clusters_are_as_even_as_can_be(count: int, target: int) -> None:
    settings = CompactionSettings(cluster_target=target)
    sizes = [len(cluster.members) for cluster in plan(ids(count), count, set(), range(count), settings).clusters]
    assert len(sizes) == -(-count // target)
    assert max(sizes) <= target and max(sizes) - min(sizes) <= 1


@given(sessions())
def test_with_bundles_a_cluster_is_larger_by_less_than_a_bundle(
    session: tuple[list[str], int, set[str], list[int], int],
) -> None:
    turns, tail, covered, starts, target = session
    for cluster in plan(turns, tail, covered, starts, CompactionSettings(cluster_target=target)).clusters:
        assert len(cluster.members) < target + 6


def test_every_turn_behind_the_tail_is_eligible_once() -> None:
    assert eligible(ids(6), 4, {"t1"}, range(6)) == (0, 2, 3)
    assert eligible(ids(6), 6, set(), range(6)) == (0, 1, 2, 3, 4, 5)
    assert eligible(ids(6), 0, set(), range(6)) == ()
    assert eligible(ids(6), -3, set(), range(6)) == ()
    assert eligible(ids(6), 99, set(), range(6)) == (0, 1, 2, 3, 4, 5)


def test_a_bundle_that_reaches_into_the_tail_stays_out() -> None:
    assert eligible(ids(6), 4, set(), [0, 0, 2, 3, 3, 3]) == (0, 1, 2)


def test_the_clusters_of_45_turns_are_three_of_fifteen() -> None:
    made = plan(ids(49), 45, set(), range(49), SETTINGS)
    assert [cluster.members for cluster in made.clusters] == [
        tuple(range(15)),
        tuple(range(15, 30)),
        tuple(range(30, 45)),
    ]


def test_a_bundle_belongs_where_its_first_turn_does() -> None:
    starts = [0, 1, 1, 3]
    assert [
        cluster.members for cluster in plan(ids(4), 4, set(), starts, CompactionSettings(cluster_target=2)).clusters
    ] == [
        (0, 1, 2),
        (3,),
    ]


def test_fewer_than_two_turns_are_declined_with_a_reason() -> None:
    assert plan(ids(9), 0, set(), range(9), SETTINGS).declined == (
        "no turn is behind the tail and not yet compacted; 2 are needed"
    )
    assert plan(ids(9), 1, set(), range(9), SETTINGS).declined.startswith("only 1 turn is")
    assert plan(ids(9), 2, set(), range(9), SETTINGS).declined == ""


roots = st.lists(
    st.builds(Root, st.just("s"), st.integers(1, 900), st.integers(1, 4), st.sampled_from((False, False, False, True))),
    max_size=60,
)


def can_be_joined(found: list[Root]) -> bool:
    """Whether any two neighbours have nothing between them, the newest aside."""
    return any(not two.apart for _, two in pairwise(found[:-1]))


@given(roots, st.integers(0, 3000), st.integers(2, 9))
def test_folds_join_neighbours_disjointly_and_spare_the_newest(found: list[Root], bound: int, fan: int) -> None:
    named = [replace(root, id=str(place)) for place, root in enumerate(found)]
    runs = folds(named, CompactionSettings(fold_tokens=bound, fold_fan=fan))
    places = [int(root.id) for run in runs for root in run]
    assert places == sorted(set(places)) and len(named) - 1 not in places
    for run in runs:
        assert 2 <= len(run) <= fan
        assert all(int(two.id) == int(one.id) + 1 and not two.apart for one, two in pairwise(run))
    if bound == 0 or sum(root.tokens for root in named) <= bound:
        assert runs == ()
    else:
        assert bool(runs) == can_be_joined(named)


@given(roots, st.integers(1, 3000), st.integers(2, 9))
def test_folding_again_and_again_comes_to_an_end(found: list[Root], bound: int, fan: int) -> None:
    settings = CompactionSettings(fold_tokens=bound, fold_fan=fan)
    current = [replace(root, id=str(place)) for place, root in enumerate(found)]
    for _ in range(len(found) + 1):
        runs = folds(current, settings)
        if not runs:
            break
        for run in runs:
            place = current.index(run[0])
            tokens, level = max(sum(r.tokens for r in run) // 3, 1), max(r.level for r in run) + 1
            current[place : place + len(run)] = [Root("+".join(r.id for r in run), tokens, level, run[0].apart)]
    assert folds(current, settings) == ()
    assert sum(root.tokens for root in current) <= bound or not can_be_joined(current)


def test_summaries_at_the_bound_stay_and_one_token_more_folds_the_oldest() -> None:
    settings = CompactionSettings(fold_tokens=1000, fold_fan=2)
    ten = [Root(str(number), 100) for number in range(10)]
    assert folds(ten, settings) == ()
    assert folds([*ten[:-1], Root("9", 101)], settings) == ((ten[0], ten[1]),)


def test_as_many_runs_are_folded_as_the_bound_asks_for() -> None:
    ten = [Root(str(number), 100) for number in range(10)]

    def folded(bound: int, pins: int) -> int:
        return len(folds(ten, CompactionSettings(fold_tokens=bound, fold_fan=2, fold_pins=pins)))

    assert folded(700, pins=0) == 3  # each run of 200 tokens is expected to give back 120
    assert folded(760, pins=0) == 2
    assert folded(880, pins=0) == 1
    assert folded(880, pins=60) == 2  # or 60, where so much is pinned


def test_a_very_long_session_keeps_several_summaries_at_the_top() -> None:
    settings = CompactionSettings()
    current = [Root(str(number), 240) for number in range(250)]
    while runs := folds(current, settings):
        for run in runs:
            place, tokens = current.index(run[0]), sum(root.tokens for root in run)
            parent = Root(f"{run[0].id}+", min(tokens // 2, settings.fold_words + settings.fold_pins), run[0].level + 1)
            current[place : place + len(run)] = [parent]
    assert len(current) >= 5 and sum(root.tokens for root in current) <= settings.fold_tokens


def test_the_lowest_level_is_folded_first_and_levels_are_mixed_only_in_need() -> None:
    settings = CompactionSettings(fold_tokens=350, fold_fan=4, fold_pins=0)
    low = (Root("c", 100, 1), Root("d", 100, 1))
    assert folds([Root("a", 100, 2), Root("b", 100, 2), *low, Root("e", 50, 1)], settings) == (low,)
    uneven = [Root("a", 200, 3), Root("b", 200, 2), Root("c", 200, 1), Root("d", 50, 1)]
    assert folds(uneven, settings) == ((uneven[0], uneven[1]),)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("cluster_target", 1),
        ("trigger_tokens", -1),
        ("normal_density", 1.01),
        ("min_align", -0.1),
        ("pin_share", float("nan")),
        ("fallback_tokens", 0),
        ("fold_fan", 1),
        ("aggressive_tokens", 65),
        ("fallback_tokens", 33),
        ("aggressive_density", 0.41),
        ("fallback_density", 0.26),
        ("normal_density", 0.0),
        ("aggressive_density", 0.0),
        ("fallback_density", 0),
        ("normal_density", "0.4"),
        ("cluster_target", 2.5),
        ("trigger_tokens", True),
        ("pin_tokens", float("inf")),
        ("fold_fan", "8"),
    ],
)
def test_a_bad_setting_is_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(ConfigError) as refused:
        CompactionSettings(**{name: value})  # type: ignore[arg-type]
    assert refused.value.key == f"compaction.{name}"


def test_the_defaults_are_those_of_the_design() -> None:
    assert (SETTINGS.cluster_target, SETTINGS.trigger_tokens, SETTINGS.prior_tokens) == (20, 2000, 96)
    assert (SETTINGS.min_align, SETTINGS.abstractive_from) == (0.65, 0.60)
    assert (SETTINGS.guidance_stability, SETTINGS.guidance_prototype) == (0.35, 0.78)
    assert [(rung.tokens, rung.density) for rung in SETTINGS.rungs] == [(64, 0.4), (32, 0.25), (16, 0.25)]


@pytest.mark.parametrize(
    ("source", "limit"), [(0, 0), (1, 0), (2, 1), (10, 4), (160, 64), (159, 63), (1000, 64), (3, 1)]
)
def test_a_rung_asks_for_its_share_and_never_for_all(source: int, limit: int) -> None:
    assert Rung("normal", 64, 0.4).limit(source) == limit


@given(st.integers(0, 5000), st.integers(1, 200), st.floats(0, 1))
def test_a_limit_is_smaller_than_its_source_and_leaves_room_for_a_word(
    source: int, tokens: int, density: float
) -> None:
    limit = Rung("r", tokens, density).limit(source)
    assert limit <= tokens and (limit < source or source == 0)
    assert limit >= 1 or source < 2
