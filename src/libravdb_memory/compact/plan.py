"""Which turns are compacted together, and which summaries are folded.

n eligible turns in a row make c = ceil(max(n, 1) / k) clusters; the i-th belongs to cluster floor(i·c / max(n, 1)), and
a bundle belongs where its first turn does.

Laws: clusters are chronological, disjoint and cover exactly the eligible turns; nothing in the tail and nothing already
covered is touched, nor a bundle that reaches into the tail; bundles are never split. Folding joins neighbours only,
across no turn that nothing covers, or that turn would come behind what it was said before; it leaves the newest summary
alone, and is planned until the bound is expected to hold, so that repeating it comes to an end.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import groupby, pairwise

from libravdb_memory.compact.settings import CompactionSettings
from libravdb_memory.tokens import share_of
from libravdb_memory.wording import counted

LEAST_TURNS = 2


@dataclass(frozen=True, slots=True)
class Cluster:
    """Turns to be summarised as one: their places in the session, ascending. One turn alone has no summary and counts
    as no progress."""

    members: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """`declined` says why there is nothing to do; empty when there is."""

    clusters: tuple[Cluster, ...]
    declined: str = ""


@dataclass(frozen=True, slots=True)
class Root:
    """A summary that no other summary covers. Those of turns have level 1, a fold one more than its highest. `apart`
    says that turns lie before it, and behind the root before it, that nothing covers."""

    id: str
    tokens: int
    level: int = 1
    apart: bool = False


def eligible(
    turns: Sequence[str], tail_start: int, covered: AbstractSet[str], bundle_starts: Sequence[int]
) -> tuple[int, ...]:
    """The places of the turns that may be compacted. `turns` are the ids of the session's raw turns, oldest first;
    `bundle_starts` gives for each the place where its bundle begins."""
    end = min(max(tail_start, 0), len(turns))
    if end < len(turns):
        end = min(bundle_starts[end], end)
    return tuple(place for place in range(end) if turns[place] not in covered)


def plan(
    turns: Sequence[str],
    tail_start: int,
    covered: AbstractSet[str],
    bundle_starts: Sequence[int],
    settings: CompactionSettings,
    breaks: AbstractSet[int] = frozenset(),
) -> Plan:
    """`breaks` are the places before which something else of the session lies that is no part of `turns`: no cluster
    reaches across."""
    places = eligible(turns, tail_start, covered, bundle_starts)
    if len(places) < LEAST_TURNS:
        behind = "no turn is" if not places else f"only {counted(len(places), 'turn')} is"
        return Plan((), f"{behind} behind the tail and not yet compacted; {LEAST_TURNS} are needed")
    runs = _unbroken(places, breaks, bundle_starts)
    return Plan(tuple(cluster for run in runs for cluster in _clusters(run, bundle_starts, settings.cluster_target)))


def folds(roots: Sequence[Root], settings: CompactionSettings) -> tuple[tuple[Root, ...], ...]:
    """The runs of neighbours, each to become one summary. `roots` are the session's, oldest first."""
    excess = sum(root.tokens for root in roots) - settings.fold_tokens
    if settings.fold_tokens <= 0 or excess <= 0:
        return ()
    chosen: list[tuple[int, tuple[Root, ...]]] = []
    for start, run in sorted(_runs(roots[:-1], settings.fold_fan), key=_cheapest_first):
        if excess <= 0:
            break
        chosen.append((start, run))
        excess -= _expected_gain(run, settings)
    return tuple(run for _, run in sorted(chosen, key=lambda found: found[0]))


def _unbroken(places: Sequence[int], breaks: AbstractSet[int], bundle_starts: Sequence[int]) -> Iterable[Sequence[int]]:
    """A turn that was left out breaks a run too: its neighbours are not each other's, unless a bundle binds them."""
    run: list[int] = []
    for place in places:
        apart = run and bundle_starts[place] != bundle_starts[run[-1]]
        if apart and (place in breaks or place != run[-1] + 1):
            yield run
            run = []
        run.append(place)
    if run:
        yield run


def _clusters(places: Sequence[int], bundle_starts: Sequence[int], target: int) -> Iterable[Cluster]:
    count, total = -(-len(places) // target), len(places)
    indices: list[int] = []
    for position, place in enumerate(places):
        together = position > 0 and bundle_starts[place] == bundle_starts[places[position - 1]]
        indices.append(indices[-1] if together else position * count // total)
    for _, members in groupby(zip(indices, places, strict=True), key=lambda member: member[0]):
        yield Cluster(tuple(place for _, place in members))


def _runs(roots: Sequence[Root], fan: int) -> list[tuple[int, tuple[Root, ...]]]:
    """Neighbours of one level, at most `fan` of them, with the place of the first; where no two neighbours have the
    same level, the two oldest neighbours."""
    runs: list[tuple[int, tuple[Root, ...]]] = []
    stretches = list(_stretches(roots))
    for start, stretch in stretches:
        for _, group in groupby(stretch, key=lambda root: root.level):
            alike = tuple(group)
            runs += [(start + first, alike[first : first + fan]) for first in range(0, len(alike), fan)]
            start += len(alike)
    if several := [(first, run) for first, run in runs if len(run) >= LEAST_TURNS]:
        return several
    return [(start, stretch[:LEAST_TURNS]) for start, stretch in stretches if len(stretch) >= LEAST_TURNS][:1]


def _stretches(roots: Sequence[Root]) -> Iterable[tuple[int, tuple[Root, ...]]]:
    """Those with nothing between them, with the place of the first."""
    starts = [place for place, root in enumerate(roots) if place == 0 or root.apart]
    for start, end in pairwise((*starts, len(roots))):
        yield start, tuple(roots[start:end])


def _cheapest_first(found: tuple[int, tuple[Root, ...]]) -> tuple[int, int]:
    """The lowest level before all, the oldest run of it first: what was folded already is folded again last."""
    start, run = found
    return run[0].level, start


def _expected_gain(run: Sequence[Root], settings: CompactionSettings) -> int:
    """What they cost now, less the most that one summary of them will cost."""
    tokens = sum(root.tokens for root in run)
    words = min(settings.fold_words, share_of(tokens, settings.normal_density))
    pins = min(settings.fold_pins, share_of(tokens, settings.pin_share))
    return tokens - words - pins
