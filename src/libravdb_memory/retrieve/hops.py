"""Hops: documents that a recalled document points to.

    score(target) = eta · the best score among its parents,   eta = .5, cut below .15, depth 1

Laws: a hop never scores above its parent, targets are looked at once, and a cycle in the graph is no trap, because
nothing hops on from a target.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

HOP_SHARE = 0.5
LEAST_HOP = 0.15


def hop_scores(parents: Mapping[str, float], graph: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """Scores of the targets that score less by themselves than by the hop."""
    reached: dict[str, float] = {}
    for parent, score in parents.items():
        hop = HOP_SHARE * min(max(score, 0.0), 1.0)
        if hop < LEAST_HOP:
            continue
        for target in graph.get(parent, ()):
            if hop > parents.get(target, 0.0):
                reached[target] = max(reached.get(target, 0.0), hop)
    return reached
